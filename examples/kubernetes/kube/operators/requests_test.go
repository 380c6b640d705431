package operators_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	"github.com/fairlead/fairlead/solver/olm/install"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// byKind formats the counts of requests by verb and kind.
func byKind(all []string) string {
	count := map[string]int{}
	for _, r := range all {
		words := strings.Fields(r)
		if words = words[:2]; words[1] == "status" {
			words = strings.Fields(r)[:3]
		}
		count[strings.Join(words, " ")]++
	}
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(&b, "%4d %s\n", count[what], what)
	}
	return b.String()
}

// TestRequests limits the requests for installing three operators, and updating one
// of them twice. Passes without any change read only the objects that decide.
func TestRequests(t *testing.T) {
	w := newWorld(t, nil)
	all := shelf.Plumbing()
	w.stock("Manual", slices.Concat(all[:1], all[3:])...)
	settle := func() {
		t.Helper()
		if _, errs := w.run(60); errs != nil {
			t.Fatal(errs)
		}
	}
	within := func(what string, reads, writes int) {
		t.Helper()
		t.Logf("%s: %d reads, %d writes:\n%s%s", what, len(w.reads), len(w.writes), byKind(w.reads), byKind(w.writes))
		if len(w.reads) > reads || len(w.writes) > writes {
			t.Errorf("%s: %d reads and %d writes, at most %d and %d are meant", what, len(w.reads), len(w.writes), reads, writes)
		}
	}
	settle()
	w.approve()
	settle()
	within("installed", 175, 88)
	m := &corev1.ConfigMap{}
	w.must(w.client.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "plumbing"}, m))
	m.Data["catalog.json"] = shelf.Catalog(all...)
	w.must(w.client.Update(t.Context(), m))
	for range 2 {
		settle()
		w.approve()
	}
	settle()
	w.wantPhases(map[string]string{"pipes.v2.0.0": "Succeeded", "valves.v1.2.0": "Succeeded", "gauges.v0.9.0": "Succeeded"})
	within("installed and updated", 390, 171)
	w.reads, w.writes = nil, nil
	for range 10 {
		_, _ = w.pass()
	}
	within("at rest", 40, 0)
}

// snapshot returns a cache with the current objects of the server that gets no
// more updates.
func (w *world) snapshot() client.Reader {
	w.t.Helper()
	b := fake.NewClientBuilder().WithScheme(w.client.Scheme()).WithRESTMapper(w.client.RESTMapper())
	for _, k := range operators.WatchedKinds(nil) {
		for _, o := range w.all(k) {
			b = b.WithObjects(&o)
		}
	}
	return b.Build()
}

// TestLaggingCache stops updates of the cache before a plan begins, and continues
// them later: nothing is done twice.
func TestLaggingCache(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Manual", onlyPipes())
	w.run(40)
	w.cache = w.snapshot()
	w.approve()
	for range 15 {
		if _, err := w.pass(); err != nil {
			t.Fatal(err)
		}
	}
	w.cache = w.client
	w.run(60)
	w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})
	for _, write := range slices.Compact(slices.Sorted(slices.Values(w.writes))) {
		if n := w.count(write); n > 1 && (strings.HasPrefix(write, "apply") || strings.HasPrefix(write, "create")) && !strings.Contains(write, "olm.og.") {
			t.Errorf("%s: %d times", write, n)
		}
	}
}

// TestLostNotByLag plans nothing because of a cache that is behind: objects missing
// in it are not lost.
func TestLostNotByLag(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Automatic", onlyPipes())
	before := w.snapshot()
	w.run(80)
	w.cache = before
	for range 10 {
		d, err := w.pass()
		if err != nil || slices.ContainsFunc(d.Actions, func(a install.Action) bool { _, is := a.(install.WritePlan); return is }) {
			t.Fatalf("%q, %v", keys(d.Actions), err)
		}
	}
	account := w.get(kind("", "v1", "ServiceAccount"), ns, "pipes")
	account.SetLabels(nil) // it is found only by its name
	w.must(w.client.Update(t.Context(), account))
	w.cache = w.client
	_, err := w.backend.Observe(t.Context(), ns) // the cache shows that
	w.must(err)
	w.cache = before
	seen, err := w.backend.Observe(t.Context(), ns)
	w.must(err)
	if !slices.ContainsFunc(seen.Objects, func(o install.Object) bool { return o.Kind == "ServiceAccount" }) {
		t.Error("an object of an operator is not there because the cache does not have it")
	}
	w.cache = w.client
	w.must(w.client.Delete(t.Context(), account))
	w.run(60)
	w.get(account.GroupVersionKind(), ns, "pipes") // it was created again
}
