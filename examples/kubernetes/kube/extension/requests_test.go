package extension_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/extension"
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

// TestRequests limits the requests for installing, updating and removing an extension.
// Passes without any change read only the objects that decide.
func TestRequests(t *testing.T) {
	w := newWorld(t)
	within := func(what string, reads, writes int) {
		t.Helper()
		t.Logf("%s: %d reads, %d writes:\n%s%s", what, len(w.reads), len(w.writes), byKind(w.reads), byKind(w.writes))
		if len(w.reads) > reads || len(w.writes) > writes {
			t.Errorf("%s: %d reads and %d writes, at most %d and %d are meant", what, len(w.reads), len(w.writes), reads, writes)
		}
		w.reads, w.writes = nil, nil
	}
	w.publish(pipes()...)
	w.ask("1.0.0")
	w.run(nil)
	w.wantStatus("pipes.v1.0.0 Installed True Succeeded Progressing True Succeeded")
	within("installed", 63, 17)
	w.ask("<3.0.0")
	w.run(nil)
	within("updated", 134, 43)
	for range 10 {
		_, err := w.runner.Reconcile(t.Context(), "pipes")
		w.must(err)
	}
	within("at rest", 30, 0)
	w.must(w.client.Delete(t.Context(), w.get(extensionKind, "", "pipes")))
	w.run(nil)
	within("removed", 53, 13)
}

// snapshot returns a cache with the current objects of the server that gets no
// more updates.
func (w *world) snapshot() client.Reader {
	w.Helper()
	b := fake.NewClientBuilder().WithScheme(w.client.Scheme()).WithRESTMapper(w.client.RESTMapper())
	for _, k := range extension.WatchedKinds(nil) {
		if _, err := w.client.RESTMapper().RESTMapping(k.GroupKind()); err != nil {
			continue
		}
		for _, o := range w.all(k) {
			b = b.WithObjects(&o)
		}
	}
	return b.Build()
}

// TestLaggingCache runs the whole life of an extension with a cache that is repeatedly
// behind by two passes: nothing is written more often than with a current one.
func TestLaggingCache(t *testing.T) {
	w := newWorld(t)
	passes := 0
	story(w, func() {
		switch passes++; passes % 4 {
		case 0:
			w.cache = w.client
		case 2:
			w.cache = w.snapshot()
		}
	})
	for write, want := range map[string]int{
		"create ClusterObjectSet": 4, "delete ClusterObjectSet": 4, "apply ServiceAccount pipes": 4, "delete ServiceAccount pipes": 1,
		"apply Deployment pipes": 4, "delete Deployment pipes": 1, "delete CustomResourceDefinition": 1, "patch ClusterExtension pipes": 2,
	} {
		if got := w.count(write); got != want {
			t.Errorf("%s: %d times, want %d", write, got, want)
		}
	}
}
