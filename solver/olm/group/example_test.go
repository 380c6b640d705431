package group_test

import (
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead/solver/olm/group"
)

// A group as the cluster prints it, and the namespaces that it selects.
func ExampleOperatorGroup_Targets() {
	var g group.OperatorGroup
	err := json.Unmarshal([]byte(`{
		"metadata": {"name": "shops", "namespace": "operators"},
		"spec": {"selector": {"matchLabels": {"team": "shop"}}}
	}`), &g)
	if err != nil {
		fmt.Println(err)
		return
	}
	targets, err := g.Targets([]group.ObjectMeta{
		{Name: "shop-test", Labels: map[string]string{"team": "shop"}},
		{Name: "shop", Labels: map[string]string{"team": "shop"}},
		{Name: "bank", Labels: map[string]string{"team": "bank"}},
	})
	fmt.Println(targets, err)
	// Output:
	// shop,shop-test <nil>
}

// Two groups watch the same namespace. The second operator fails, and the message
// says how to fix it.
func ExampleEvaluate() {
	groups := []group.OperatorGroup{
		{
			ObjectMeta: group.ObjectMeta{Name: "global", Namespace: "operators", Annotations: map[string]string{
				group.ProvidedAPIsAnnotation: "Prometheus.v1.monitoring.coreos.com"}},
			Status: group.Status{Namespaces: []string{group.AllNamespaces}},
		},
		{
			ObjectMeta: group.ObjectMeta{Name: "team", Namespace: "team"},
			Status:     group.Status{Namespaces: []string{"team"}},
		},
	}
	prometheus := group.Operator{
		ObjectMeta:   group.ObjectMeta{Name: "prometheus.v1.2.0", Namespace: "team"},
		InstallModes: group.InstallModes{{Type: group.ModeOwnNamespace, Supported: true}},
		Owned: []group.Owned{{
			API:    group.API{Group: "monitoring.coreos.com", Version: "v1", Kind: "Prometheus"},
			Plural: "prometheuses",
		}},
	}
	v := group.Evaluate(&prometheus, groups)
	fmt.Println(v.Phase, v.Reason)
	fmt.Println(v.Message)
	// Output:
	// Failed InterOperatorGroupOwnerConflict
	// operator group operators/global provides Prometheus.v1.monitoring.coreos.com in team; delete the operator there, or make the groups select namespaces that do not overlap (a group's own namespace counts)
}
