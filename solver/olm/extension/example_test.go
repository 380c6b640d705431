package extension_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/extension"
)

const csv = `{"kind":"ClusterServiceVersion","metadata":{"name":"etcd.v1"},"spec":{
	"installModes":[{"type":"OwnNamespace","supported":true},{"type":"SingleNamespace","supported":true}],
	"install":{"spec":{
		"permissions":[{"serviceAccountName":"etcd","rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}],
		"deployments":[{"name":"etcd","spec":{"template":{"spec":{"containers":[{"name":"etcd"}]}}}}]}}}}`

// The objects of a bundle that watches another namespace than its own.
func ExampleBundle_Render() {
	b, err := extension.ReadBundle([]json.RawMessage{json.RawMessage(csv)})
	if err != nil {
		fmt.Println(err)
		return
	}
	watch := "apps"
	objects, err := b.Render("operators", extension.Settings{Watch: &watch})
	for _, o := range objects {
		fmt.Println(o)
	}
	fmt.Println(err)
	// Output:
	// ServiceAccount operators/etcd
	// Role apps/etcd.v1-etcd-957183ee38
	// RoleBinding apps/etcd.v1-etcd-957183ee38
	// Deployment operators/etcd
	// <nil>
}

// An operator that cannot watch all namespaces has to be told which.
func ExampleBundle_Targets() {
	b, err := extension.ReadBundle([]json.RawMessage{json.RawMessage(csv)})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = b.Targets("operators", nil)
	fmt.Println(err)
	// Output: watchNamespace is missing: it supports OwnNamespace, SingleNamespace
}

// An extension is installed on a cluster in memory. What Resolve answers is written
// here; extension.Alone asks a resolver.
func ExampleRunner() {
	backend := &extension.MemBackend{
		Bundles: map[string][]json.RawMessage{"etcd.v1": {json.RawMessage(csv)}},
		Changed: func(_ string, a extension.Action) { fmt.Println(a) },
	}
	x := extension.ClusterExtension{ObjectMeta: fairlead.ObjectMeta{Name: "etcd"}}
	x.Spec.Namespace = "operators"
	x.Spec.Source = extension.SourceConfig{SourceType: "Catalog", Catalog: &extension.CatalogFilter{Package: "etcd"}}
	x.Spec.Config = &extension.BundleConfig{ConfigType: "Inline", Inline: json.RawMessage(`{"watchNamespace":"apps"}`)}
	backend.PutExtension(x)
	resolve := func(context.Context, *extension.ClusterExtension) (*extension.Answer, error) {
		return &extension.Answer{Catalogs: 1, Choice: &extension.Choice{BundleName: extension.BundleName{Name: "etcd.v1", Version: "1.0.0"}, Package: "etcd", Catalog: "c"}}, nil
	}
	clock := new(fairlead.ManualClock)
	runner, err := extension.NewRunner(backend, resolve, nil, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		d, err := runner.Reconcile(context.Background(), "etcd")
		if err != nil || len(d.Actions) == 0 && d.Wake.IsZero() {
			fmt.Println(d.Blocks(), err)
			return
		}
		clock.Set(d.Wake) // do not wait in real time
	}
	// Output:
	// add finalizer olm.operatorframework.io/teardown
	// write the status of the extension
	// unpack bundle etcd.v1
	// create revision etcd-1 of bundle etcd.v1
	// write the status of the extension
	// apply ServiceAccount operators/etcd of etcd-1
	// report on revision etcd-1
	// apply Role apps/etcd.v1-etcd-957183ee38 of etcd-1
	// write the status of the extension
	// apply RoleBinding apps/etcd.v1-etcd-957183ee38 of etcd-1
	// apply Deployment operators/etcd of etcd-1
	// report on revision etcd-1
	// write the status of the extension
	// [] <nil>
}
