package cvo_test

import (
	"fmt"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
)

// An operator and an alert speak against updates: the one against the next minor
// version, the other against all.
func ExampleAddRisks() {
	w := &cvo.World{
		Cluster: &cvo.ClusterVersion{Status: cvo.Status{Desired: cvo.Release{Version: "4.18.20"}}},
		Operators: []cvo.ClusterOperator{{
			ObjectMeta: cvo.ObjectMeta{Name: "network"},
			Status:     cvo.OperatorStatus{Conditions: []cvo.Condition{{Type: "Upgradeable", Status: cvo.False, Reason: "OldPlugin", Message: "replace the old plugin first"}}},
		}},
		Alerts: []cvo.Alert{{State: "firing", Labels: map[string]string{"alertname": "EtcdDiskSlow", "severity": "critical"}}},
	}
	offered := &graph.Updates{Current: graph.Release{Version: "4.18.20"}, Available: []graph.Update{
		{Release: graph.Release{Version: "4.18.21"}}, {Release: graph.Release{Version: "4.19.3"}},
	}}
	u, err := cvo.AddRisks(offered, cvo.ClusterRisks(w))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, to := range u.Conditional {
		r := graph.Evaluations{}.Recommend(to, []string{"EtcdDiskSlow"})
		fmt.Println(to.Version, r.Status, r.Reason)
		for _, risk := range to.Risks {
			fmt.Println("  risk:", risk.Name)
		}
	}
	// Output:
	// 4.18.21 True AllExposedRisksAccepted
	//   risk: EtcdDiskSlow
	// 4.19.3 False ExposedToRisks
	//   risk: ClusterOperatorUpgradeable-network
	//   risk: EtcdDiskSlow
}

// What an update service is to be asked for a cluster that is to change from one
// architecture to several.
func ExampleQuestion() {
	cv := &cvo.ClusterVersion{
		Spec: cvo.Spec{
			ClusterID: "b3f7a1de-5c0e-4b7e-9a52-0d4c6f1e2a90", Channel: "stable-4.18",
			DesiredUpdate: &cvo.Update{Architecture: graph.ArchitectureMulti, Version: "4.18.20"},
		},
		Status: cvo.Status{Desired: cvo.Release{Version: "4.18.20"}},
	}
	q := cvo.Question(cv, "amd64")
	where, err := q.URL()
	fmt.Println(where, err)
	fmt.Println("changes the architecture:", q.Migrates())
	// Output:
	// https://api.openshift.com/api/upgrades_info/v1/graph?arch=multi&channel=stable-4.18&id=b3f7a1de-5c0e-4b7e-9a52-0d4c6f1e2a90&version=4.18.20 <nil>
	// changes the architecture: true
}
