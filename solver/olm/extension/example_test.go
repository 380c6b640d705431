package extension_test

import (
	"encoding/json"
	"fmt"

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
