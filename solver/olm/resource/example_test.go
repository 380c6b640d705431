package resource_test

import (
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead/solver/olm/resource"
)

func ExampleSubscription() {
	var s resource.Subscription
	err := json.Unmarshal([]byte(`{
	  "metadata": {"name": "etcd", "namespace": "db"},
	  "spec": {"name": "etcd", "channel": "stable", "source": "community", "sourceNamespace": "olm"},
	  "status": {"installedCSV": "etcd.v1.2.0", "state": "AtLatestKnown"}
	}`), &s)
	fmt.Println(s.Spec.Package, s.Source(), s.Status.InstalledCSV, s.Status.State, err)
	// Output: etcd olm/community etcd.v1.2.0 AtLatestKnown <nil>
}

func ExampleClusterServiceVersion_Member() {
	var c resource.ClusterServiceVersion
	err := json.Unmarshal([]byte(`{
	  "metadata": {"name": "etcd.v1.2.0", "namespace": "db"},
	  "spec": {"customresourcedefinitions": {"owned": [{"name": "clusters.etcd.example.com", "version": "v1", "kind": "Cluster"}]}},
	  "status": {"phase": "Succeeded"}
	}`), &c)
	if err != nil {
		panic(err)
	}
	m, err := c.Member()
	fmt.Println(m.Phase, m.Owned[0].API, m.Owned[0].Plural, err)
	// Output: Succeeded Cluster.v1.etcd.example.com clusters <nil>
}
