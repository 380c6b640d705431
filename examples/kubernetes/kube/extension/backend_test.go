package extension_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/extension"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/worlds"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	engine "github.com/fairlead/fairlead/solver/olm/extension"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pipes returns three versions of a package: the second adds a field to its CRD,
// the third requires it.
func pipes() []shelf.Version {
	return []shelf.Version{
		{Package: "pipes", Number: "1.0.0", Kind: "Pipe", Served: []string{"v1"}, Fields: []string{"length"}},
		{Package: "pipes", Number: "1.1.0", Replaces: "1.0.0", Kind: "Pipe", Served: []string{"v1"}, Fields: []string{"length", "material"}},
		{Package: "pipes", Number: "2.0.0", Replaces: "1.1.0", Kind: "Pipe", Served: []string{"v1"}, Fields: []string{"length", "material!"}},
	}
}

// story runs the life of an extension: installed within a range, updated, kept
// from an update that would break an object, rolled back, and deleted as soon
// as that loses no object. After each pass something may happen.
func story(w *world, each func()) {
	w.Helper()
	all := pipes()
	w.publish(all[0])
	w.ask(">=1.0.0 <2.0.0")
	w.run(each)
	w.wantStatus("pipes.v1.0.0 Installed True Succeeded Progressing True Succeeded")

	w.publish(all[:2]...)
	w.run(each)
	w.wantStatus("pipes.v1.1.0 Installed True Succeeded Progressing True Succeeded")
	pipe := object(kind(shelf.Group, "v1", "Pipe"), "drain")
	pipe.Object["spec"] = map[string]any{"length": "3 m"}
	w.must(w.client.Create(w.Context(), pipe))

	w.publish(all...)
	w.run(each)
	w.wantStatus("pipes.v1.1.0 Installed True Succeeded Progressing True Succeeded")
	w.ask("")
	d := w.run(each)
	w.wantStatus("pipes.v1.1.0 Installed True Succeeded Progressing True Retrying")
	if got := messages(d.Blocked); !strings.Contains(got, "material") {
		w.Errorf("the block of the update: %s", got)
	}

	w.annotate(engine.RollbackAnnotation, "1")
	w.run(each)
	w.wantStatus("pipes.v1.0.0 Installed True Succeeded Progressing True Succeeded")
	w.annotate(engine.RollbackAnnotation, "")
	w.ask("<2.0.0")
	w.run(each)
	w.wantStatus("pipes.v1.1.0 Installed True Succeeded Progressing True Succeeded")

	u := w.get(extensionKind, "", "pipes")
	w.must(w.client.Delete(w.Context(), u))
	d = w.run(each)
	if got := messages(d.Blocked); !strings.Contains(got, "1 object of it exists") {
		w.Errorf("the block of the removal: %s", got)
	}
	w.must(w.client.Delete(w.Context(), pipe))
	w.run(each)
	if got := w.made(); got != nil {
		w.Errorf("it has left %q", got)
	}
	if n := len(w.all(extensionKind)); n > 0 {
		w.Error("the extension is still there")
	}
}

func messages(blocked []fairlead.Block) string {
	var all []string
	for _, b := range blocked {
		all = append(all, b.Message)
	}
	return strings.Join(all, "; ")
}

// The whole life of an extension, with a limit on its writes.
func TestStory(t *testing.T) {
	w := newWorld(t)
	story(w, nil)
	for write, want := range map[string]int{
		"create ClusterObjectSet": 4, "delete ClusterObjectSet": 4, "apply ServiceAccount pipes": 4, "delete ServiceAccount pipes": 1,
		"apply Deployment pipes": 4, "delete Deployment pipes": 1, "delete CustomResourceDefinition": 1, "patch ClusterExtension pipes": 2,
	} {
		if got := w.count(write); got != want {
			t.Errorf("%s: %d times, want %d", write, got, want)
		}
	}
	// The fake server assigns UIDs only after it has answered, so each new object
	// needs one.
	if n := w.count("apply"); w.dry > n {
		t.Errorf("%d dry runs without a restart, and %d objects applied", w.dry, n)
	}
}

// The same with a process that ends after every sixth pass: nothing is written more
// often, and dry runs show whether objects are as applied.
func TestRestarts(t *testing.T) {
	w := newWorld(t)
	passes := 0
	story(w, func() {
		if passes++; passes%6 == 0 {
			w.restart()
		}
	})
	if got := w.count("apply Deployment pipes"); got != 4 {
		t.Errorf("a deployment was applied %d times, want 4", got)
	}
	if w.dry == 0 {
		t.Error("there was no dry run")
	}
}

// The same if the answer to each write is lost the first time, and if every
// second write fails before it is carried out.
func TestLostAnswers(t *testing.T) {
	for _, carriedOut := range []bool{true, false} {
		w := newWorld(t)
		seen := map[string]int{}
		w.fail = func(write string) (error, bool) {
			if seen[write]++; seen[write]%2 == 1 {
				return apierrors.NewTimeoutError("the answer is lost", 1), carriedOut
			}
			return nil, false
		}
		story(w, nil)
	}
}

// Manual changes of applied fields are reverted, even after a restart; added
// fields stay.
func TestChangedByHand(t *testing.T) {
	w := newWorld(t)
	w.publish(pipes()[0])
	w.ask("")
	w.run(nil)
	w.writes = nil
	edit := func(change func(u *unstructured.Unstructured)) {
		t.Helper()
		u := w.get(deploymentKind, ns, "pipes")
		change(u)
		w.must(w.client.Update(t.Context(), u, client.FieldOwner("jane")))
	}
	for _, restart := range []bool{false, true} {
		edit(func(u *unstructured.Unstructured) { u.SetLabels(merged(u.GetLabels(), "team", "pipes")) })
		if restart {
			w.restart()
		}
		w.run(nil)
		if len(w.writes) > 0 {
			t.Errorf("what is added (restart %v): it writes %q", restart, w.writes)
		}
		edit(func(u *unstructured.Unstructured) {
			w.must(unstructured.SetNestedField(u.Object, int64(7), "spec", "replicas"))
		})
		if restart {
			w.restart()
		}
		w.run(nil)
		if n, _, _ := unstructured.NestedInt64(w.get(deploymentKind, ns, "pipes").Object, "spec", "replicas"); n != 1 || w.count("apply Deployment") != 1 {
			t.Errorf("what is changed (restart %v): %d replicas, writes %q", restart, n, w.writes)
		}
		w.writes = nil
	}
	w.must(w.client.Delete(t.Context(), w.get(kind("", "v1", "Service"), ns, "pipes-metrics")))
	w.run(nil)
	if w.count("apply Service pipes-metrics") != 1 {
		t.Errorf("what is deleted: it writes %q", w.writes)
	}
}

func merged(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// An object of another owner is in the way, and is not touched, even if the cache
// does not have it yet. An unavailable bundle is reported.
func TestInTheWay(t *testing.T) {
	w := newWorld(t)
	w.cache = w.snapshot()
	w.must(w.client.Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "pipes-metrics", UID: "uid-s"}}))
	w.publish(pipes()[0])
	w.ask("")
	d := w.run(nil)
	if got := messages(d.Blocked); !strings.Contains(got, "Service plumbing/pipes-metrics already exists and belongs to nobody in particular") {
		t.Errorf("it says %s", got)
	}
	if got := w.made(); !slices.Equal(got, []string{"Service pipes-metrics"}) {
		t.Errorf("it has made %q", got)
	}
	w.ask("7.0.0")
	d = w.run(nil)
	if got := messages(d.Blocked); !strings.Contains(got, "7.0.0") {
		t.Errorf("it says %s", got)
	}
}

// An unreadable catalog is reported, and read again later.
func TestCatalogUnread(t *testing.T) {
	w := newWorld(t)
	w.publish(pipes()[0])
	text := w.images["example.com/plumbing:0"]
	delete(w.images, "example.com/plumbing:0")
	w.ask("")
	d, err := w.runner.Reconcile(t.Context(), "pipes")
	w.must(err)
	w.backend.Read()
	if d, err = w.runner.Reconcile(t.Context(), "pipes"); err != nil || !strings.Contains(messages(d.Blocked), "image example.com/plumbing:0") || d.Wake.IsZero() {
		t.Fatalf("it says %s, %v", messages(d.Blocked), err)
	}
	w.images["example.com/plumbing:0"] = text
	w.clock.Advance(retry)
	w.run(nil)
	w.wantStatus("pipes.v1.0.0 Installed True Succeeded Progressing True Succeeded")
}

const retry = 31e9

// Actions based on stale data change nothing.
func TestRefused(t *testing.T) {
	w := newWorld(t)
	w.publish(pipes()[0])
	w.ask("")
	w.run(nil)
	seen, err := w.backend.Observe(t.Context(), "pipes")
	w.must(err)
	r := seen.Revisions[0]
	r.ResourceVersion = ""
	other := r
	other.Spec.Phases = nil
	late := r
	late.Name, late.OwnerReferences = "pipes-9", []fairlead.OwnerReference{{UID: "another"}}
	service := engine.Ref{Kind: "Service", Namespace: ns, Name: "pipes-metrics"}
	manifest := []byte(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"pipes-metrics","namespace":"plumbing"},"spec":{"type":"NodePort"}}`)
	const old = "999"
	before := fmt.Sprint(w.all(kind("", "v1", "Service")), w.all(revisionKind), w.all(extensionKind))
	for _, a := range []engine.Action{
		engine.SetFinalizer{ResourceVersion: old}, engine.UpdateStatus{ResourceVersion: old}, engine.CreateRevision{Revision: other}, engine.CreateRevision{Revision: late},
		engine.ArchiveRevision{Name: r.Name, ResourceVersion: old}, engine.ReportRevision{Name: r.Name, ResourceVersion: old}, engine.DeleteRevision{Name: r.Name, ResourceVersion: old},
		engine.ApplyObject{Ref: service, Revision: r.Name, Manifest: manifest, Digest: "d"},
		engine.ApplyObject{Ref: service, Revision: r.Name, Manifest: manifest, Digest: "d", ResourceVersion: old},
		engine.ApplyObject{Ref: service, Revision: "pipes-9", Manifest: manifest, Digest: "d"},
		engine.DeleteObject{Ref: service, UID: "uid", ResourceVersion: old},
	} {
		var changed *kube.ChangedError
		if err := w.backend.Apply(t.Context(), "pipes", a); !errors.As(err, &changed) {
			t.Errorf("%s: %v, want a ChangedError", a, err)
		}
	}
	if after := fmt.Sprint(w.all(kind("", "v1", "Service")), w.all(revisionKind), w.all(extensionKind)); after != before {
		t.Errorf("something was changed:\n%s\n%s", before, after)
	}
	w.must(w.backend.Apply(t.Context(), "pipes", engine.CreateRevision{Revision: r}))
	w.must(w.backend.Apply(t.Context(), "pipes", engine.DeleteRevision{Name: "pipes-9", ResourceVersion: old}))
	archived := w.get(revisionKind, "", r.Name)
	w.must(unstructured.SetNestedField(archived.Object, "Archived", "spec", "lifecycleState"))
	w.must(w.client.Update(t.Context(), archived))
	err = w.backend.Apply(t.Context(), "pipes", engine.ApplyObject{Ref: engine.Ref{Kind: "Service", Namespace: ns, Name: "new"}, Revision: r.Name, Manifest: manifest, Digest: "d"})
	if err == nil || !strings.Contains(err.Error(), "archived") {
		t.Errorf("an archived revision: %v", err)
	}
	huge := r
	huge.Name, huge.Annotations = "pipes-10", map[string]string{"a": strings.Repeat("a", 1<<20)}
	if err := w.backend.Apply(t.Context(), "pipes", engine.CreateRevision{Revision: huge}); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a revision of a megabyte: %v", err)
	}
}

// TestFacts checks that every field of the engine's World is filled in.
func TestFacts(t *testing.T) {
	w := newWorld(t)
	w.publish(pipes()[0])
	w.ask("")
	w.run(nil)
	u := w.get(extensionKind, "", "pipes")
	w.must(unstructured.SetNestedField(u.Object, "installer", "spec", "serviceAccount", "name"))
	w.must(w.client.Update(t.Context(), u))
	w.must(w.client.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "installer"}}))
	w.must(w.client.Create(t.Context(), object(kind(shelf.Group, "v1", "Pipe"), "p")))
	w.must(w.client.Delete(t.Context(), u))
	got, err := w.backend.Observe(t.Context(), "pipes")
	w.must(err)
	// The Runner sets the rest.
	if unset := worlds.Unset(got); !slices.Equal(unset, []string{"Answer", "Outcomes"}) {
		t.Errorf("unset fields: %q", unset)
	}
	if unset := worlds.Unset(&got.Cluster); !slices.Equal(unset, []string{"Existing"}) {
		t.Errorf("of the cluster: unset fields: %q", unset)
	}
	for _, o := range got.Objects {
		if o.Digest == "" || o.Owner != "pipes" || o.Controller != "pipes-1" || !o.Ready || o.UID == "" {
			t.Errorf("observed: %+v", o)
		}
	}
	gone, err := w.backend.Observe(t.Context(), "valves")
	if err != nil || gone.Extension != nil {
		t.Errorf("of nothing: %+v, %v", gone, err)
	}
}

// With Together, another extension meets the requirements of a bundle.
func TestTogether(t *testing.T) {
	w := newWorld(t)
	needs := pipes()[0]
	needs.Packages = []string{"valves >=1.0.0"}
	w.publish(needs, shelf.Version{Package: "valves", Number: "1.2.0", Kind: "Valve", Served: []string{"v1"}})
	w.ask("")
	d := w.run(nil)
	if got := messages(d.Blocked); !strings.Contains(got, "requires other bundles") {
		t.Fatalf("alone it says %s", got)
	}
	w.backend = extension.New(w.client, &extension.BackendOptions{Images: w.images, Clock: w.clock, Together: true, Cache: w.client, Cached: extension.WatchedKinds(nil)})
	ask := func() string {
		seen, err := w.backend.Observe(t.Context(), "pipes")
		w.must(err)
		a, err := w.backend.Resolve(t.Context(), seen.Extension)
		w.must(err)
		if a.Choice != nil {
			return a.Choice.Name
		}
		return a.Refusal
	}
	if got := ask(); !strings.Contains(got, "create extensions for valves") {
		t.Errorf("together: %s", got)
	}
	other := w.get(extensionKind, "", "pipes")
	other.SetName("valves")
	other.SetUID("uid-valves")
	other.SetResourceVersion("")
	w.must(unstructured.SetNestedField(other.Object, "valves", "spec", "source", "catalog", "packageName"))
	w.must(w.client.Create(t.Context(), other))
	if got := ask(); got != "pipes.v1.0.0" {
		t.Errorf("together with valves: %s", got)
	}
}
