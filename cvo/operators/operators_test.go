package operators_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/operators"
	"github.com/fairlead/fairlead/cvo/snapshot"
)

func read(t *testing.T, text string) *snapshot.Snapshot {
	t.Helper()
	var r snapshot.Reader
	if err := r.Stream(strings.NewReader(text), "dump"); err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const world = `
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: shop, namespace: shops}
spec: {name: shop, source: c, sourceNamespace: market}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: c, namespace: market}
spec: {sourceType: grpc, image: i}
status: {connectionState: {lastObservedState: READY}}
`

// What was looked at and is not there is told apart from what nobody looked at.
func TestLooked(t *testing.T) {
	for _, c := range []struct {
		more    string
		unknown bool
	}{
		{"", true},
		{"---\napiVersion: operators.coreos.com/v1\nkind: OperatorGroupList\nmetadata: {}\nitems: []\n", false},
		{"---\napiVersion: operators.coreos.com/v1\nkind: OperatorGroup\nmetadata: {name: g, namespace: other}\n", false},
	} {
		v := operators.Of(read(t, world+c.more)).Subscription("shops", "shop")
		if len(v.Waits) != 1 || v.Waits[0].Reason != "NoOperatorGroup" || v.Waits[0].Unknown != c.unknown {
			t.Errorf("%q: %+v", c.more, v.Waits)
		}
	}
}

// Every kind arrives.
func TestKinds(t *testing.T) {
	c := operators.Of(read(t, world+`
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: g, namespace: shops}
spec: {targetNamespaces: [shops]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: InstallPlan
metadata: {name: install-1, namespace: shops}
spec: {clusterServiceVersionNames: [shop.v1]}
status: {phase: RequiresApproval, plan: [{resolving: shop.v1, resource: {kind: CustomResourceDefinition, name: a.b, manifest: '{"metadata":{"name":"a.b"},"spec":{"versions":[{"name":"v2"}]}}'}}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: a.b}
status: {storedVersions: [v1]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: market, labels: {operatorframework.io/bundle-unpack-ref: j}}
status: {conditions: [{type: Failed, status: "True"}]}
---
apiVersion: operators.coreos.com/v1
kind: OLMConfig
metadata: {name: cluster}
spec: {features: {disableCopiedCSVs: true}}
---
apiVersion: config.openshift.io/v1
kind: OperatorHub
metadata: {name: cluster}
spec: {disableAllDefaultSources: true}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: shop.v1, namespace: shops}
spec: {}
status: {phase: Pending, reason: RequirementsNotMet, requirementStatus: [{kind: CustomResourceDefinition, name: c.d, version: v1, status: NotPresent}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: shops}
---
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: x}
spec: {namespace: shops, source: {sourceType: Catalog, catalog: {packageName: x}}}
---
apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {name: c}
status: {conditions: [{type: Serving, status: "False", reason: Unavailable}]}
`))
	var got []string
	for _, v := range c.Operators() {
		for _, w := range v.Waits {
			got = append(got, v.Subject()+" "+w.Reason)
		}
	}
	for _, w := range c.InstallPlan("shops", "install-1").Waits {
		got = append(got, w.Reason)
	}
	if v := c.CSV("other", "shop.v1"); v != nil {
		got = append(got, v.Phase)
	}
	got = append(got, fmt.Sprint(c.Hub != nil, len(c.Jobs), len(c.Namespaces)))
	want := "clusterextension x CatalogNotServing, clusterserviceversion shops/shop.v1 RequirementsNotMet, subscription shops/shop CauseNotKnown, RequiresApproval, CustomResourceStoredVersion, not copied, true 1 1"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}
