package gate_test

import (
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/gate"
)

// An operator is not ready to be replaced, and an administrator overrides that.
func ExampleUpgradeable() {
	var c gate.OperatorCondition
	err := json.Unmarshal([]byte(`{
		"metadata": {"name": "my-operator", "namespace": "operators"},
		"status": {"conditions": [{"type": "Upgradeable", "status": "False", "reason": "migration", "message": "rows are being moved"}]}
	}`), &c)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gate.Upgradeable(&c).Message)
	c.Spec.Overrides = []gate.Condition{{Type: gate.UpgradeableCondition, Status: "True"}}
	fmt.Println(gate.Upgradeable(&c).Open)
	// Output:
	// operator condition operators/my-operator: the operator may not be replaced: the operator is not ready for it (migration: rows are being moved); wait for it, or override Upgradeable in spec.overrides
	// true
}

// An operator must be updated before the cluster.
func ExampleClusterUpdate() {
	csvs := []olm.ClusterServiceVersion{{ObjectMeta: olm.ObjectMeta{
		Name: "shop.v1.0.0", Namespace: "shop",
		Annotations: map[string]string{olm.PropertiesAnnotation: `{"properties":[{"type":"olm.maxOpenShiftVersion","value":"4.19"}]}`},
	}}}
	v, _, err := gate.ClusterUpdate("4.19.3", "4.20.0", csvs)
	fmt.Println(v.Message, err)
	// Output:
	// the cluster may not be updated to 4.20: shop/shop.v1.0.0: works up to 4.19; update the operator first, or remove it <nil>
}
