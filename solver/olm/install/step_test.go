package install_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// Equal arguments give equal decisions, at each step of an installation; the
// arguments stay as they were, in whatever order their lists are, and the state
// survives JSON.
func TestStepIsPure(t *testing.T) {
	resolver, err := olm.NewResolver(parseShelf(`
a/stable a.v2 replaces=a.v1
a/stable a.v1
b/stable b.v1
bundle a.v1 requires=(B/v1)
bundle a.v2 requires=(B/v1) provides=(A/v1)
bundle b.v1 provides=(B/v1)`).sources(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	cluster := new(install.MemBackend)
	err = cluster.Edit(ns, func(w *install.World) error {
		w.Groups = make([]install.OperatorGroup, 1)
		w.Subscriptions = make([]install.Subscription, 1)
		w.Subscriptions[0].Name, w.Subscriptions[0].Spec = "a", olm.SubscriptionSpec{Package: "a", StartingCSV: "a.v1"}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	shuffle := sim.New(1)
	var state install.State
	for pass := 0; ; pass++ {
		w := cluster.World(ns)
		if w.Resolution, err = resolver.Resolve(t.Context(), w.Request()); err != nil {
			t.Fatal(err)
		}
		before, _ := json.Marshal(w)
		d := install.Step(state, w, sim.Start(), nil)
		if after, _ := json.Marshal(w); string(after) != string(before) {
			t.Fatalf("pass %d: the world was changed", pass)
		}
		shuffle.Shuffle(len(w.CSVs), reflect.Swapper(w.CSVs))
		shuffle.Shuffle(len(w.CRDs), reflect.Swapper(w.CRDs))
		shuffle.Shuffle(len(w.Plans), reflect.Swapper(w.Plans))
		shuffle.Shuffle(len(w.Subscriptions), reflect.Swapper(w.Subscriptions))
		if again := install.Step(state, w, sim.Start(), nil); describeAll(again) != describeAll(d) {
			t.Fatalf("pass %d: got %s\nthen %s", pass, describeAll(d), describeAll(again))
		}
		text, err := json.Marshal(d.State)
		if err != nil {
			t.Fatal(err)
		}
		state = install.State{}
		if err := json.Unmarshal(text, &state); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d.State, state); diff != "" {
			t.Fatalf("pass %d: the state has changed in JSON: %s", pass, diff)
		}
		if len(d.Actions) == 0 {
			if pass < 10 || len(w.CSVs) != 2 {
				t.Errorf("it ended after %d passes with %d CSVs", pass, len(w.CSVs))
			}
			return
		}
		for _, a := range d.Actions {
			if err := cluster.Apply(t.Context(), ns, a); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func describeAll(d install.Decision) string {
	text, err := json.Marshal(d)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// State of newer code is refused, and nothing is applied.
func TestNewerState(t *testing.T) {
	store := new(fairlead.MemStore)
	if _, err := store.Put(t.Context(), "install.ns", []byte(`{"version":2,"name":"ns","state":{}}`), ""); err != nil {
		t.Fatal(err)
	}
	cluster := new(install.MemBackend)
	cluster.Changed = func(string, install.Action) { t.Error("something was applied") }
	_, err := install.NewRunner(cluster, nil, nil, &fairlead.RunnerOptions{Store: store}).Reconcile(t.Context(), ns)
	var version *fairlead.VersionError
	if !errors.As(err, &version) || version.Known != install.StateVersion {
		t.Errorf("got %v", err)
	}
}

// What comes too late is refused: a step of a plan that is not the newest, is
// gone or has failed, and whatever was decided on another revision.
func TestTooLate(t *testing.T) {
	cluster := new(install.MemBackend)
	plan := func(generation int) install.WritePlan {
		var p install.InstallPlan
		p.Name, p.Spec.Generation = "install", generation
		p.Name += string(rune('0' + generation))
		return install.WritePlan{Plan: p}
	}
	step := install.ApplyStep{
		Plan: "install1", Generation: 1, Resolving: "a.v1", Digest: "d",
		Ref:      install.Ref{Group: "operators.coreos.com", Kind: "ClusterServiceVersion", Namespace: ns, Name: "a.v1"},
		Manifest: json.RawMessage(`{"metadata":{"name":"a.v1"}}`),
	}
	late, failed := step, plan(1)
	late.Ref.Name = "b.v1"
	failed.Plan.Revision, failed.Plan.Status.Phase = "1", install.PlanFailed
	for _, tt := range []struct {
		action install.Action
		refuse bool
	}{
		{step, true}, // there is no such plan
		{plan(1), false},
		{plan(1), true},
		{step, false},
		{step, false}, // it is there as wanted
		{install.SetPhase{CSV: "a.v1", Revision: "0", Phase: "Pending"}, true},
		{install.SetPhase{CSV: "a.v1", Revision: "2", Phase: "Pending"}, false},
		{install.SetPhase{CSV: "a.v1", Revision: "2", Phase: "Pending"}, true},
		{failed, false},
		{late, true},
		{plan(3), false},
		{plan(2), true},
		{install.DeleteCSV{CSV: "a.v1", Revision: "3"}, false},
		{step, true}, // it would bring back what was replaced
	} {
		err := cluster.Apply(t.Context(), ns, tt.action)
		if (err != nil) != tt.refuse {
			t.Errorf("%s: got %v, want refused %v", install.Key(tt.action), err, tt.refuse)
		}
	}
}
