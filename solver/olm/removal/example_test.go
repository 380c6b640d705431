package removal_test

import (
	"fmt"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/removal"
)

// What is removed with a database, and which operator still requires it.
func ExampleUninstall() {
	csv := func(name string, properties string) olm.ClusterServiceVersion {
		return olm.ClusterServiceVersion{ObjectMeta: olm.ObjectMeta{Name: name, Namespace: "shops",
			Annotations: map[string]string{olm.PropertiesAnnotation: `{"properties":[` + properties + `]}`}}}
	}
	plan, err := removal.Uninstall(&removal.World{
		Subscriptions: []olm.Subscription{{
			ObjectMeta: olm.ObjectMeta{Name: "database", Namespace: "shops"},
			Status:     olm.SubscriptionStatus{CurrentCSV: "database.v1", InstalledCSV: "database.v1"},
		}},
		CSVs: []olm.ClusterServiceVersion{
			csv("database.v1", `{"type":"olm.gvk","value":{"group":"example.com","version":"v1","kind":"Database"}}`),
			csv("shop.v1", `{"type":"olm.gvk.required","value":{"group":"example.com","version":"v1","kind":"Database"}}`),
		},
	}, "database")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range plan.Steps {
		fmt.Println(s.Verb, s.Object)
	}
	for _, d := range plan.Dependents {
		fmt.Println(d.Operator, "requires", d.Requires)
	}
	// Output:
	// delete Subscription shops/database
	// delete ClusterServiceVersion shops/database.v1
	// shop.v1 requires [Database.v1.example.com]
}

// The optional objects of two versions of a bundle.
func ExampleReplace() {
	rule := func(name string) removal.Object {
		return removal.Object{Kind: "ConfigMap", Namespace: "shops", Name: name}
	}
	for _, s := range removal.Replace([]removal.Object{rule("colours"), rule("sizes-v1")}, []removal.Object{rule("colours"), rule("sizes-v2")}) {
		fmt.Println(s.Verb, s.Object)
	}
	// Output:
	// update ConfigMap shops/colours
	// create ConfigMap shops/sizes-v2
	// delete ConfigMap shops/sizes-v1
}
