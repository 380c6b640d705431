package diagnose

import (
	"bytes"
	"strings"
	"testing"
)

// Objects of OLM are explained by their own views; the namespace may be left out
// where only one has the name.
func TestExplainOperators(t *testing.T) {
	const dump = `
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: shop, namespace: shops}
spec: {name: shop, source: c, sourceNamespace: market}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: c, namespace: market}
spec: {sourceType: grpc, image: i}
status: {connectionState: {lastObservedState: TRANSIENT_FAILURE}}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: other.v1, namespace: one}
spec: {}
status: {phase: Succeeded}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: other.v1, namespace: two}
spec: {}
status: {phase: Succeeded}
`
	for _, c := range []struct {
		args   []string
		status int
		has    string
	}{
		{[]string{"subscription/shop"}, 1, "CatalogSourcesUnhealthy"},
		{[]string{"sub/shop", "-n", "shops", "-o", "json"}, 1, `"reason": "NoOperatorGroup"`},
		{[]string{"catalogsource/c"}, 1, "TRANSIENT_FAILURE"},
		{[]string{"csv/other.v1"}, 2, "namespaces one, two"},
		{[]string{"csv/other.v1", "-n", "two"}, 0, "Succeeded"},
		{[]string{"csv/none"}, 2, "no object"},
		{[]string{"installplan/install-1", "-n", "shops"}, 2, "no such object"},
		{[]string{"extension/x"}, 2, "no such object"},
	} {
		var out, errs bytes.Buffer
		status := Explain(Operators()...).Program("fairlead explain")(t.Context(), append([]string{"-"}, c.args...), strings.NewReader(dump), &out, &errs)
		if text := out.String() + errs.String(); status != c.status || !strings.Contains(text, c.has) {
			t.Errorf("%q: status %d, want %d with %q\n%s", c.args, status, c.status, c.has, text)
		}
	}
}
