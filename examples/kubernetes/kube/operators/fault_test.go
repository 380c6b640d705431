package operators_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	"github.com/fairlead/fairlead/solver/olm/install"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// onlyPipes returns pipes without its requirements.
func onlyPipes() shelf.Version {
	v := shelf.Plumbing()[0]
	v.Packages, v.Kinds = nil, nil
	return v
}

func resource(o client.Object) schema.GroupResource {
	k := o.GetObjectKind().GroupVersionKind()
	return schema.GroupResource{Group: k.Group, Resource: strings.ToLower(k.Kind) + "s"}
}

// TestUnclearAnswers makes the first attempt of every write time out, both
// when it was carried out and when it was not. Nothing is created twice.
func TestUnclearAnswers(t *testing.T) {
	for _, carriedOut := range []bool{true, false} {
		w := newWorld(t, nil)
		w.stock("Automatic", onlyPipes())
		seen := map[string]bool{}
		w.fail = func(verb string, o client.Object) (error, bool) {
			key := verb + " " + o.GetObjectKind().GroupVersionKind().Kind + " " + o.GetName()
			if seen[key] {
				return nil, false
			}
			seen[key] = true
			if verb == "create" {
				return context.DeadlineExceeded, carriedOut
			}
			return apierrors.NewTimeoutError("the answer got lost", 1), carriedOut
		}
		_, errs := w.run(80)
		w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})
		var unclear *kube.UnclearError
		if len(errs) == 0 || !errors.As(errs[0], &unclear) {
			t.Errorf("errors %v, want an UnclearError", errs)
		}
		want := 1
		if !carriedOut {
			want = 2
		}
		for _, write := range []string{
			"apply ClusterServiceVersion pipes.v1.0.0", "apply CustomResourceDefinition pipes." + shelf.Group, "apply ServiceAccount pipes",
			"apply Service pipes-metrics", "apply Deployment pipes", "create OperatorCondition pipes.v1.0.0",
		} {
			if got := w.count(write); got != want {
				t.Errorf("carried out %t: %s: %d times, want %d", carriedOut, write, got, want)
			}
		}
		if plans := w.all(planKind); len(plans) != 1 {
			t.Errorf("carried out %t: %d plans", carriedOut, len(plans))
		}
	}
}

// TestConflicts makes every write conflict once.
func TestConflicts(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Automatic", onlyPipes())
	seen := map[string]bool{}
	w.fail = func(verb string, o client.Object) (error, bool) {
		key := verb + " " + o.GetObjectKind().GroupVersionKind().Kind + " " + o.GetName()
		if seen[key] || verb == "create" {
			return nil, false
		}
		seen[key] = true
		return apierrors.NewConflict(resource(o), o.GetName(), errors.New("changed")), false
	}
	_, errs := w.run(80)
	w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})
	var changed *kube.ChangedError
	if len(errs) == 0 || !errors.As(errs[0], &changed) {
		t.Errorf("errors %v, want a ChangedError", errs)
	}
}

// TestForbidden reports what is forbidden, and continues when it is allowed.
func TestForbidden(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Automatic", onlyPipes())
	w.fail = func(verb string, o client.Object) (error, bool) {
		if o.GetObjectKind().GroupVersionKind().Kind == "ServiceAccount" {
			return apierrors.NewForbidden(resource(o), o.GetName(), errors.New("no such right")), false
		}
		return nil, false
	}
	for range 12 {
		w.pass()
	}
	d, _ := w.pass()
	told := false
	for _, b := range d.Blocked {
		told = told || b.Reason == install.ReasonStepPending && strings.Contains(b.Message, "is not allowed to do this") && strings.Contains(b.Message, "ServiceAccount plumbing/pipes")
	}
	if !told {
		t.Errorf("blocks %v do not report what is forbidden", d.Blocked)
	}
	w.fail = nil
	w.run(100)
	w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})
}

// TestTakenFields does not take over fields of another manager, and reports
// their owner.
func TestTakenFields(t *testing.T) {
	w := newWorld(t, nil)
	other := object(kind("", "v1", "Service"), ns, "pipes-metrics")
	other.Object["spec"] = map[string]any{"selector": map[string]any{"app": "something-else"}}
	w.must(w.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(other), client.FieldOwner("somebody")))
	w.stock("Automatic", onlyPipes())
	var taken *kube.TakenError
	for range 20 {
		if _, err := w.pass(); errors.As(err, &taken) {
			break
		}
	}
	if taken == nil || taken.Object.Name != "pipes-metrics" || !strings.Contains(taken.Error(), "somebody") {
		t.Fatalf("error %v, want a TakenError that names another manager", taken)
	}
	if app, _, _ := unstructured.NestedString(w.get(kind("", "v1", "Service"), ns, "pipes-metrics").Object, "spec", "selector", "app"); app != "something-else" {
		t.Errorf("the selector became %q", app)
	}
}

// TestLateActions refuses late actions, which change nothing.
func TestLateActions(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Automatic", onlyPipes())
	w.run(60)
	seen, err := w.backend.Observe(t.Context(), ns)
	if err != nil {
		t.Fatal(err)
	}
	const old = "77"
	ref := func(k schema.GroupVersionKind, name string) install.Ref {
		return install.Ref{Group: k.Group, Kind: k.Kind, Namespace: ns, Name: name}
	}
	account := []byte(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"pipes","namespace":"plumbing"}}`)
	step := install.ApplyStep{Plan: "install-1", Generation: 1, Resolving: "pipes.v1.0.0", Ref: ref(kind("", "v1", "ServiceAccount"), "pipes"), Manifest: account, Digest: "other"}
	extra := step
	extra.Ref.Name, extra.Manifest = "extra", []byte(strings.ReplaceAll(string(account), `"pipes"`, `"extra"`))
	gone, older := extra, extra
	gone.Plan = "install-7"
	older.Generation = 0
	done := step
	done.Revision = old
	for _, o := range seen.Objects {
		if o.Ref == done.Ref {
			done.Digest = o.Digest
		}
	}
	plan := seen.Plans[0]
	plan.Revision = ""
	behind := plan
	behind.Name, behind.Spec.Generation = "install-0", 0
	before := w.dump()
	for _, a := range []install.Action{
		install.SetPhase{CSV: "pipes.v1.0.0", Revision: old, Phase: "Failed"},
		install.Annotate{CSV: "pipes.v1.0.0", Revision: old, Annotations: map[string]string{"olm.operatorGroup": "x"}},
		install.Deploy{CSV: "pipes.v1.0.0", Revision: old, Digest: "x"},
		install.Deploy{CSV: "pipes.v1.0.0", Revision: old, Digest: seen.CSVs[0].DeployedDigest},
		install.Undeploy{CSV: "pipes.v1.0.0", Revision: old},
		install.DeleteCSV{CSV: "pipes.v1.0.0", Revision: old},
		install.UpdateSubscription{Name: "pipes", Revision: old},
		install.DeleteSubscription{Name: "pipes", Revision: old},
		install.CreateSubscription{Subscription: seen.Subscriptions[0].Subscription},
		install.DeletePlan{Name: "install-1", Revision: old},
		install.WritePlan{Plan: plan},
		install.WritePlan{Plan: behind},
		install.UpdateGroup{Name: "plumbing", Revision: old},
		install.WriteCondition{Name: "pipes.v1.0.0", Revision: old},
		install.WriteCondition{Name: "pipes.v1.0.0"},
		install.WriteCondition{Name: "absent.v1.0.0"},
		install.ServeCatalog{Name: "plumbing", Revision: old, Image: "x"},
		install.UpdateCatalog{Name: "plumbing", Revision: old},
		install.DeleteObject{Ref: step.Ref, Owner: "pipes.v1.0.0", Revision: old},
		install.DeleteObject{Ref: step.Ref, Owner: "another.v1.0.0", Revision: seen.Objects[0].Revision},
		step, gone, older,
		install.ApplyStep{Plan: "install-1", Generation: 1, Resolving: "absent.v1.0.0", Ref: step.Ref, Manifest: account, Digest: "other"},
	} {
		var changed *kube.ChangedError
		if err := w.backend.Apply(t.Context(), ns, a); !errors.As(err, &changed) {
			t.Errorf("%s: %v, want a ChangedError", a, err)
		}
	}
	if after := w.dump(); after != before {
		t.Errorf("something has changed:\n%s\nwas:\n%s", after, before)
	}
	for _, a := range []install.Action{ // already done
		done,
		install.DeletePlan{Name: "absent", Revision: old},
		install.DeleteCSV{CSV: "absent", Revision: old},
		install.DeleteObject{Ref: ref(kind("", "v1", "ServiceAccount"), "absent"), Owner: "x", Revision: old},
	} {
		if err := w.backend.Apply(t.Context(), ns, a); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
}

// TestFailedPlan applies no step of a plan that has failed.
func TestFailedPlan(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Automatic", onlyPipes())
	w.run(60)
	plan := w.get(planKind, ns, "install-1")
	w.must(unstructured.SetNestedField(plan.Object, "Failed", "status", "phase"))
	w.must(w.client.Status().Update(t.Context(), plan))
	err := w.backend.Apply(t.Context(), ns, install.ApplyStep{
		Plan: "install-1", Generation: 1, Resolving: "pipes.v1.0.0", Ref: install.Ref{Kind: "ServiceAccount", Namespace: ns, Name: "extra"},
		Manifest: []byte(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"extra","namespace":"plumbing"}}`), Digest: "x",
	})
	var changed *kube.ChangedError
	if !errors.As(err, &changed) {
		t.Errorf("%v, want a ChangedError", err)
	}
}

// dump returns all objects, with revisions.
func (w *world) dump() string {
	w.t.Helper()
	var b strings.Builder
	for _, k := range []schema.GroupVersionKind{
		subscriptionKind, planKind, csvKind, catalogKind, groupKind, conditionKind, crdKind,
		kind("apps", "v1", "Deployment"), kind("", "v1", "ServiceAccount"), kind("", "v1", "Service"), kind("rbac.authorization.k8s.io", "v1", "Role"),
	} {
		for _, o := range w.all(k) {
			b.WriteString(k.Kind + " " + o.GetName() + " " + o.GetResourceVersion() + "\n")
		}
	}
	return b.String()
}

// TestBarePlan rewrites a plan whose creation was interrupted.
func TestBarePlan(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Automatic", onlyPipes())
	cut := false
	w.fail = func(verb string, o client.Object) (error, bool) {
		if !cut && verb == "patch status" && o.GetObjectKind().GroupVersionKind() == planKind {
			cut = true
			return errors.New("the manager was killed"), false
		}
		return nil, false
	}
	w.run(80)
	w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})
	if n := len(w.all(planKind)); !cut || n != 1 {
		t.Errorf("cut %t, %d plans", cut, n)
	}
}

// TestBadObjects skips the unreadable objects that can be skipped, stops for the
// others, and continues when they are corrected.
func TestBadObjects(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Automatic", onlyPipes())
	bad := object(subscriptionKind, ns, "bad")
	bad.Object["spec"] = map[string]any{"name": "pipes", "config": map[string]any{"env": "no list"}}
	w.create(bad)
	foreign := object(groupKind, "elsewhere", "bad")
	foreign.Object["spec"] = map[string]any{"targetNamespaces": "no list"}
	w.create(foreign)
	w.run(60)
	w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})
	faults := w.backend.Faults(ns)
	if len(faults) != 2 || faults[0].Subject != "subscription bad" || faults[1].Subject != "operatorgroup elsewhere/bad" {
		t.Errorf("faults %v", faults)
	}

	broken := object(csvKind, ns, "broken.v1.0.0")
	broken.Object["spec"] = map[string]any{"installModes": "no list"}
	w.create(broken)
	_, err := w.pass()
	var invalid *kube.ObjectError
	if !errors.As(err, &invalid) || invalid.Object.Name != "broken.v1.0.0" {
		t.Errorf("error %v, want an ObjectError", err)
	}
	w.must(w.client.Delete(t.Context(), object(csvKind, ns, "broken.v1.0.0")))
	if _, errs := w.run(20); errs != nil {
		t.Error(errs)
	}
}

// TestBadCatalogs reports why a catalog cannot be used, on the catalog and on
// the subscription, and uses it once it can be.
func TestBadCatalogs(t *testing.T) {
	for _, c := range []struct {
		what string
		data map[string]string // nil means no config map
		want string
	}{
		{"there is no config map", nil, "does not exist"},
		{"it is empty", map[string]string{}, "is empty"},
		{"it is not a catalog", map[string]string{"catalog.json": `{"schema": "olm.package", "name": 7}`}, "catalog.json:1:"},
		{"it is not JSON", map[string]string{"catalog.json": `{"schema": `}, "catalog.json:1:"},
	} {
		w := newWorld(t, nil)
		w.stock("Automatic", onlyPipes())
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "plumbing"}}
		w.must(w.client.Delete(t.Context(), m))
		if c.data != nil {
			m.Data = c.data
			m.ResourceVersion = ""
			w.create(m)
		}
		w.run(40)
		source := w.get(catalogKind, ns, "plumbing")
		state, _, _ := unstructured.NestedString(source.Object, "status", "connectionState", "lastObservedState")
		message, _, _ := unstructured.NestedString(source.Object, "status", "message")
		if state != "TRANSIENT_FAILURE" || !strings.Contains(message, c.want) {
			t.Errorf("%s: state %q, message %q", c.what, state, message)
		}
		sub := w.get(subscriptionKind, ns, "pipes")
		all, _, _ := unstructured.NestedSlice(sub.Object, "status", "conditions")
		told := false
		for _, x := range all {
			told = told || x.(map[string]any)["type"] == "ResolutionFailed" && x.(map[string]any)["status"] == "True"
		}
		if !told {
			t.Errorf("%s: the subscription's conditions %v do not tell", c.what, all)
		}
		if c.data != nil {
			w.must(w.client.Delete(t.Context(), m))
		}
		w.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "plumbing", ResourceVersion: ""}, Data: map[string]string{"catalog.json": shelf.Catalog(onlyPipes())}})
		w.clock.Advance(operators.RetryCatalog)
		w.run(80)
		w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})
	}
}
