package install_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// Equal arguments give equal decisions, at each step of an installation; the
// arguments stay as they were, in whatever order their lists are, and the state
// survives JSON.
func TestStepIsPure(t *testing.T) {
	sources := parseShelf(`
a/stable a.v2 replaces=a.v1
a/stable a.v1
b/stable b.v1
bundle a.v1 requires=(B/v1)
bundle a.v2 requires=(B/v1) provides=(A/v1)
bundle b.v1 provides=(B/v1)`).sources(t)
	resolver, err := olm.NewResolver(sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	cluster := &install.MemBackend{Sources: sources}
	err = cluster.Edit(ns, func(w *install.World) error {
		w.Groups = make([]install.OperatorGroup, 1)
		w.Subscriptions = make([]install.Subscription, 1)
		w.Subscriptions[0].Name, w.Subscriptions[0].Spec = "a", olm.SubscriptionSpec{Package: "a", StartingCSV: "a.v1"}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	shuffle := rand.New(rand.NewPCG(1, 1))
	var state install.State
	for pass := 0; ; pass++ {
		w := cluster.World(ns)
		if w.Resolution, err = resolver.Resolve(t.Context(), w.Request()); err != nil {
			t.Fatal(err)
		}
		before, _ := json.Marshal(w)
		d := install.Step(state, w, start, nil)
		if after, _ := json.Marshal(w); string(after) != string(before) {
			t.Fatalf("pass %d: the world was changed", pass)
		}
		shuffle.Shuffle(len(w.CSVs), reflect.Swapper(w.CSVs))
		shuffle.Shuffle(len(w.CRDs), reflect.Swapper(w.CRDs))
		shuffle.Shuffle(len(w.Plans), reflect.Swapper(w.Plans))
		shuffle.Shuffle(len(w.Subscriptions), reflect.Swapper(w.Subscriptions))
		read := new(install.World)
		if err := json.Unmarshal(before, read); err != nil {
			t.Fatal(err)
		}
		if again := install.Step(state, read, start, nil); describeAll(again) != describeAll(d) {
			t.Fatalf("pass %d: from JSON the world gives %s\nand not %s", pass, describeAll(again), describeAll(d))
		}
		if again := install.Step(state, w, start, nil); describeAll(again) != describeAll(d) {
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
	if _, err := store.Put(t.Context(), "install.ns", []byte(`{"version":3,"name":"ns","state":{}}`), ""); err != nil {
		t.Fatal(err)
	}
	cluster := new(install.MemBackend)
	cluster.Changed = func(string, install.Action) { t.Error("something was applied") }
	resolver, err := olm.NewResolver(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	runner, err := install.NewRunner(cluster, resolver.Resolve, nil, &fairlead.RunnerOptions{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	_, err = runner.Reconcile(t.Context(), ns)
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
			t.Errorf("%s: got %v, want refused %v", tt.action, err, tt.refuse)
		}
	}
}

// A Decision comes back from JSON as it was, with the actions of every kind.
func TestDecisionJSON(t *testing.T) {
	d := install.Decision{
		State:   install.State{Generation: 3, Plan: &install.Plan{Name: "install-3", Generation: 3, Since: start, Current: []install.Current{{Subscription: "a", CSV: "a.v1"}}}},
		Blocked: []fairlead.Block{{Subject: "csv a.v1", Reason: install.ReasonFailed, Message: "it failed", Since: start}},
		Wake:    start.Add(time.Minute),
	}
	d.State.Retries = []fairlead.Retry{{Key: install.Deploy{CSV: "a.v1"}.Key(), Attempts: 2, Since: start, Last: start}}
	kinds := map[string]bool{}
	for _, a := range install.State.Kinds(install.State{}) {
		if kinds[a.Key().Kind] {
			t.Errorf("two actions are of kind %s", a.Key().Kind)
		}
		kinds[a.Key().Kind] = true
		d.Actions = append(d.Actions, a)
	}
	d.Actions = append(d.Actions, install.ApplyStep{Plan: "install-3", Generation: 3, Resolving: "a.v1", Ref: install.Ref{Kind: "ConfigMap", Name: "c"}, Manifest: []byte(`{"a":1}`), Digest: "d"})
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var back install.Decision
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != string(text) {
		t.Errorf("%v, got %s\nwant %s", err, again, text)
	}
	for i := range d.Actions {
		if reflect.TypeOf(d.Actions[i]) != reflect.TypeOf(back.Actions[i]) {
			t.Errorf("%T came back as %T", d.Actions[i], back.Actions[i])
		}
	}
}

// State that version 1 has saved is read: the plan and the waits, not what had
// been tried.
func TestOlderState(t *testing.T) {
	const saved = `{"version":1,"name":"ns","state":{"generation":4,
		"plan":{"name":"install-4","generation":4,"approval":"Manual","current":[{"subscription":"a","csv":"a.v2"}],"steps":[{"resolving":"a.v2","ref":{"kind":"ConfigMap","namespace":"ns","name":"c"},"digest":"d"}],"since":"2026-03-01T12:00:00Z"},
		"waits":[{"subject":"installplan install-4","reason":"RequiresApproval","since":"2026-03-01T12:00:00Z"}],
		"retries":[{"key":"write plan install-4 RequiresApproval","attempts":2,"next":"2026-03-01T12:00:03Z"}]}}`
	store := new(fairlead.MemStore)
	if _, err := store.Put(t.Context(), "install.ns", []byte(saved), ""); err != nil {
		t.Fatal(err)
	}
	resolver, err := olm.NewResolver(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	runner, err := install.NewRunner(new(install.MemBackend), resolver.Resolve, nil, &fairlead.RunnerOptions{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	s, err := runner.State(t.Context(), ns)
	if err != nil {
		t.Fatal(err)
	}
	if s.Generation != 4 || s.Plan == nil || s.Plan.Steps[0].Digest != "d" || len(s.Waits) != 1 || !s.Waits[0].Since.Equal(start) || s.Retries != nil {
		t.Errorf("read %+v", s)
	}
	if _, err := install.UpgradeState(0, []byte(`{}`)); err == nil {
		t.Error("version 0 was read")
	}
}

// Policies come back from JSON, where durations are read by people, and say what
// is wrong with them.
func TestPolicy(t *testing.T) {
	p := install.Policy{MinBackoff: time.Second, PlanTimeout: -1, InstallTimeout: 5 * time.Minute, KeepPlans: 3}
	text, err := json.Marshal(p)
	if want := `{"minBackoff":"1s","installTimeout":"5m0s","planTimeout":"-1ns","keepPlans":3}`; err != nil || string(text) != want {
		t.Errorf("%v, got %s, want %s", err, text, want)
	}
	var back install.Policy
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, p) || back.Check() != nil {
		t.Errorf("got %+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"planTimeout":"5"}`), &back); err == nil || err.Error() != `planTimeout: "5" is not a duration: write it as in 1h30m or 10s` {
		t.Errorf("got %v", err)
	}
	bad := install.Policy{MinBackoff: time.Hour, MaxBackoff: time.Minute, InstallTimeout: -1, StepAttempts: -2}
	const want = "installTimeout: -1ns is negative: write a duration of zero or more; zero means the default\nmaxBackoff: 1m0s is less than minBackoff, 1h0m0s\nstepAttempts: -2 is negative: zero means the default"
	if _, err := install.NewRunner(new(install.MemBackend), new(olm.Resolver).Resolve, &bad, nil); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// A resolver that takes too long is an answer, and is asked again.
func TestResolveTimeout(t *testing.T) {
	cluster := new(install.MemBackend)
	err := cluster.Edit(ns, func(w *install.World) error {
		w.Subscriptions = make([]install.Subscription, 1)
		w.Subscriptions[0].Name, w.Subscriptions[0].Spec.Package = "a", "a"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	clock := new(fairlead.ManualClock)
	clock.Set(start)
	runner, err := install.NewRunner(cluster, func(ctx context.Context, _ *olm.Request) (*olm.Resolution, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}, &install.Policy{ResolveTimeout: time.Millisecond}, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	var d install.Decision
	for range 3 {
		if d, err = runner.Reconcile(t.Context(), ns); err != nil {
			t.Fatal(err)
		}
	}
	told := func(b fairlead.Block) bool {
		return b.Reason == install.ReasonResolutionError && b.Message == "the resolver did not finish within 1ms; it is asked again"
	}
	if !slices.ContainsFunc(d.Blocked, told) || !d.Wake.Equal(start.Add(time.Minute)) {
		t.Errorf("blocked %v, wake %v", d.Blocked, d.Wake)
	}
}

// A copy of a CSV from another namespace is not what a step of a plan makes: nothing is written
// over it, and that is told.
func TestCopyIsNoStep(t *testing.T) {
	sources := parseShelf("a/stable a.v1\nbundle a.v1 provides=(A/v1)").sources(t)
	resolver, err := olm.NewResolver(sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	cluster := &install.MemBackend{Sources: sources}
	err = cluster.Edit(ns, func(w *install.World) error {
		w.Groups = make([]install.OperatorGroup, 1)
		w.Subscriptions = make([]install.Subscription, 1)
		w.Subscriptions[0].Name, w.Subscriptions[0].Spec = "a", olm.SubscriptionSpec{Package: "a"}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var state install.State
	for range 20 {
		w := cluster.World(ns)
		if w.Resolution, err = resolver.Resolve(t.Context(), w.Request()); err != nil {
			t.Fatal(err)
		}
		step := func() *install.ApplyStep {
			for _, a := range install.Step(state, w, start, nil).Actions {
				if a, ok := a.(install.ApplyStep); ok && a.Ref.Kind == "ClusterServiceVersion" {
					return &a
				}
			}
			return nil
		}
		d := install.Step(state, w, start, nil)
		if a := step(); a != nil {
			elsewhere := install.CSV{Mark: install.Mark{Revision: "7", Digest: a.Digest}}
			elsewhere.Name, elsewhere.Status.Reason = "a.v1", olm.ReasonCopied
			w.CSVs = append(w.CSVs, elsewhere)
			d := install.Step(state, w, start, nil)
			told := slices.ContainsFunc(d.Blocked, func(b fairlead.Block) bool { return b.Subject == "csv a.v1" && b.Reason == install.ReasonNameTaken })
			if b := step(); b != nil || !told {
				t.Errorf("beside a copy the step is %+v, and %v", b, d.Blocked)
			}
			return
		}
		state = d.State
		for _, a := range d.Actions {
			if err := cluster.Apply(t.Context(), ns, a); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Error("the plan has come to no step")
}
