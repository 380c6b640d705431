package dump_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/dump"
)

// A kind of another API that has the same name is skipped, single, in a list and
// as its own list; an object without an apiVersion is not.
func TestReadForeign(t *testing.T) {
	text := `{"apiVersion": "longhorn.io/v1beta2", "kind": "Node", "metadata": {"name": "foreign"}}
---
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
---
apiVersion: v1
kind: List
items:
- {apiVersion: apps.open-cluster-management.io/v1, kind: Subscription, metadata: {name: foreign}}
- {apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: s}}
- {apiVersion: postgresql.cnpg.io/v1, kind: Cluster, metadata: {name: foreign}}
- {kind: Cluster, metadata: {name: c}}
- {apiVersion: machine.openshift.io/v1beta1, kind: MachineSet, metadata: {name: m}}
- {apiVersion: example.com/v1, kind: Anything, metadata: {name: x}}
---
{apiVersion: messaging.knative.dev/v1, kind: SubscriptionList, items: [{metadata: {name: foreign}}]}
---
{apiVersion: v1, kind: ClusterVersionList, items: [{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version}}, {apiVersion: example.com/v1, kind: ClusterVersion, metadata: {name: foreign}}]}
`
	var got []string
	if err := dump.Read(strings.NewReader(text), "f", func(o dump.Object) error {
		got = append(got, o.Kind+" "+o.Meta.Name)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"Node n", "Subscription s", "Cluster c", "MachineSet m", "Anything x", "List ", "ClusterVersion version", "ClusterVersionList "}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
