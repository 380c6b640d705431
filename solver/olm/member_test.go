package olm_test

import (
	"encoding/json"
	"testing"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// A CSV in the form that a cluster prints becomes a member of its group.
func TestMember(t *testing.T) {
	var csv olm.ClusterServiceVersion
	if err := json.Unmarshal([]byte(`{"metadata":{"name":"eagle.v1","namespace":"ops"},
		"spec":{"installModes":[{"type":"OwnNamespace","supported":true},{"type":"AllNamespaces","supported":false}],
			"customresourcedefinitions":{"owned":[{"name":"eagles.birds.com","version":"v1","kind":"Eagle"}]},
			"apiservicedefinitions":{"owned":[{"name":"nests","group":"birds.com","version":"v1","kind":"Nest"}]}},
		"status":{"phase":"Failed","reason":"UnsupportedOperatorGroup"}}`), &csv); err != nil {
		t.Fatal(err)
	}
	op, err := csv.Member()
	if err != nil || op.Provided().String() != "Eagle.v1.birds.com,Nest.v1.birds.com" || op.Owned[0].Plural != "eagles" || !op.Owned[1].Service {
		t.Errorf("%+v, %v", op, err)
	}
	groups := []group.OperatorGroup{{
		ObjectMeta: group.ObjectMeta{Name: "g", Namespace: "ops"},
		Status:     group.Status{Namespaces: []string{group.AllNamespaces}},
	}}
	if v := group.Evaluate(&op, groups); v.Reason != group.ReasonUnsupportedOperatorGroup {
		t.Errorf("all namespaces: %+v", v)
	}
	groups[0].Status.Namespaces = []string{"ops"}
	if v := group.Evaluate(&op, groups); v.Phase != "Pending" {
		t.Errorf("its own namespace: %+v", v)
	}
	csv.Spec.CustomResourceDefinitions.Owned[0].Name = "eagles"
	if _, err := csv.Member(); err == nil {
		t.Error("a CRD without a group is taken")
	}
}
