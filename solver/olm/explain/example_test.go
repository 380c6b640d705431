package explain_test

import (
	"fmt"

	"github.com/fairlead/fairlead/solver/olm/explain"
)

// An operator that is not installed, because its namespace has no operator group.
func ExampleCluster_Subscription() {
	c := &explain.Cluster{Kinds: []explain.Kind{explain.KindOperatorGroup}}
	_, err := c.Add("Subscription", []byte(`{"metadata": {"name": "shop", "namespace": "shops"}, "spec": {"name": "shop"}}`))
	v := c.Subscription("shops", "shop")
	fmt.Println(v.Blocked(), v.Waits[0].Reason, err)
	fmt.Println(v.Waits[0].Commands[0])
	// Output:
	// true NoOperatorGroup <nil>
	// printf '%s\n' '{"apiVersion":"operators.coreos.com/v1","kind":"OperatorGroup","metadata":{"name":"shops","namespace":"shops"},"spec":{"targetNamespaces":["shops"]}}' | kubectl create -f -
}

// All operators, the blocked first.
func ExampleCluster_Operators() {
	c := &explain.Cluster{}
	for _, text := range []string{
		`{"metadata": {"name": "fine.v1", "namespace": "a"}, "status": {"phase": "Succeeded"}}`,
		`{"metadata": {"name": "lost.v1", "namespace": "b"}, "status": {"phase": "Failed", "reason": "InstallCheckFailed", "message": "install timeout"}}`,
	} {
		if _, err := c.Add("ClusterServiceVersion", []byte(text)); err != nil {
			fmt.Println(err)
		}
	}
	for _, v := range c.Operators() {
		fmt.Println(v.Subject(), v.Blocked())
	}
	// Output:
	// clusterserviceversion b/lost.v1 true
	// clusterserviceversion a/fine.v1 false
}
