package operators_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// TestUnsafeCRD does not update a CRD if that would make an existing object
// invalid: the objects are read while the plan is under way.
func TestUnsafeCRD(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Automatic", onlyPipes())
	w.run(60)
	pipe := object(kind(shelf.Group, "v1alpha1", "Pipe"), ns, "drain")
	pipe.Object["spec"] = map[string]any{"length": "3 m"}
	w.create(pipe)
	next := onlyPipes()
	next.Number, next.Replaces, next.Fields = "1.1.0", "1.0.0", []string{"length", "material!"}
	m := w.get(kind("", "v1", "ConfigMap"), ns, "plumbing")
	m.Object["data"] = map[string]any{"catalog.json": shelf.Catalog(onlyPipes(), next)}
	w.must(w.client.Update(t.Context(), m))
	var d install.Decision
	for range 20 {
		d, _ = w.pass()
	}
	if !slices.Contains(reasons(d.Blocked), install.ReasonUnsafeCRD) {
		t.Fatalf("reasons %v, want %s", reasons(d.Blocked), install.ReasonUnsafeCRD)
	}
	if !strings.Contains(d.Blocked[0].Message, "drain") {
		t.Errorf("block %q does not name the object", d.Blocked[0].Message)
	}
	w.must(w.client.Delete(t.Context(), pipe))
	w.run(100)
	w.wantPhases(map[string]string{"pipes.v1.1.0": "Succeeded"})
}
