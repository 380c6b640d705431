package lifecycle_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// A decision survives JSON, with one action of each kind.
func TestDecisionJSON(t *testing.T) {
	now := start
	d := lifecycle.Decision{
		State: lifecycle.State{
			UID: "u", Stage: lifecycle.StageDrain, Began: []lifecycle.Beginning{{Stage: lifecycle.StageDrain, At: now}},
			Drain: drain.Progress{Cordoned: "nu"},
			Pending: fairlead.Pending{
				Waits:   []fairlead.Block{{Subject: "machine m", Reason: "PodPending", Name: "d/a", Since: now}},
				Retries: []fairlead.Retry{{Key: fairlead.Key{Kind: "Evict", ID: "pu"}, Attempts: 2, Since: now, Last: now}},
			},
		},
		Actions: lifecycle.State{}.Kinds(), Wake: now,
		Blocked: []fairlead.Block{{Subject: "machine m", Reason: "HookPending", Point: string(lifecycle.PreDrain), Name: "Hook", Since: now}},
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var got lifecycle.Decision
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(d, got) {
		t.Errorf("read back as\n%+v, written\n%+v", got, d)
	}
	for _, a := range got.Actions {
		if a.String() == "" || a.Key().Kind != reflect.TypeOf(a).Name() {
			t.Errorf("%T: %q, %v", a, a, a.Key())
		}
	}
}

// A policy is written with durations as people write them, and read back.
func TestPolicyJSON(t *testing.T) {
	p := lifecycle.Policy{
		DrainTimeout: 90 * time.Minute, Drain: drain.Policy{MinBackoff: 5 * time.Second, ForceStopped: true},
		Deadlines: []lifecycle.Deadline{{Point: lifecycle.PreDrain, Soft: time.Minute, Hard: time.Hour, Then: lifecycle.EscalateAsk}},
		Order:     []lifecycle.HookOrder{{Point: lifecycle.PreTerminate, Name: "b", After: []string{"a"}}},
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"drain":{"forceStopped":true,"minBackoff":"5s"},"deadlines":[{"point":"preDrain","soft":"1m0s","hard":"1h0m0s","then":"Ask"}],"order":[{"point":"preTerminate","name":"b","after":["a"]}],"drainTimeout":"1h30m0s"}`
	if string(text) != want {
		t.Errorf("written as\n%s, want\n%s", text, want)
	}
	var got lifecycle.Policy
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(p, got) {
		t.Errorf("%v: read back as %+v", err, got)
	}
}

// A state of version 1 is read: a deletion goes on where it stood.
func TestOldState(t *testing.T) {
	const old = `{"engine":"lifecycle","version":1,"name":"m","state":{"uid":"u","stage":"PreTerminate","began":[{"stage":"PreDrain","at":"2026-03-01T12:00:00Z"},{"stage":"Drain","at":"2026-03-01T12:00:00Z"},
		{"stage":"DetachVolumes","at":"2026-03-01T12:00:01Z"},{"stage":"PreTerminate","at":"2026-03-01T12:00:01Z"}],"node":{"kind":"Node","name":"n","uid":"nu"},
		"hooks":[{"point":"preTerminate","name":"Hook","owner":"owner","since":"2026-03-01T12:00:01Z"}],"drain":{"cordoned":"nu"},"drained":"Drain finished successfully",
		"waits":[{"reason":"HookPending","point":"preTerminate","name":"Hook","owner":"owner","since":"2026-03-01T12:00:01Z"}],
		"retries":[{"key":{"verb":"update status","object":"7"},"attempts":1,"last":"2026-03-01T12:00:01Z"}]}}`
	w := draining()
	w.Machine.Spec.LifecycleHooks.PreTerminate = []lifecycle.Hook{{Name: "Hook", Owner: "owner"}}
	clock := new(fairlead.ManualClock)
	clock.Set(start.Add(time.Hour))
	store := new(fairlead.MemStore)
	runner, err := lifecycle.NewRunner(fixed{w}, nil, &fairlead.RunnerOptions{Store: store, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runner.Reconcile(t.Context(), "m"); err != nil { // to learn the key
		t.Fatal(err)
	}
	n := 0
	for r, err := range store.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Put(t.Context(), r.Key, []byte(old), r.Revision); err != nil {
			t.Fatal(err)
		}
		n++
	}
	d, err := runner.Reconcile(t.Context(), "m")
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if d.State.Stage != lifecycle.StagePreTerminate || d.State.DrainedNode != "nu" {
		t.Errorf("it stands at %s, drained %q", d.State.Stage, d.State.DrainedNode)
	}
	if since, _ := d.State.HookSince(lifecycle.PreTerminate, "Hook"); !since.Equal(start.Add(time.Second)) {
		t.Errorf("the hook is waited for since %v", since)
	}
}

// fixed is a backend whose world stays as it is.
type fixed struct{ w *lifecycle.World }

func (f fixed) Observe(context.Context, string) (*lifecycle.World, error) {
	w := *f.w
	return &w, nil
}

func (fixed) Apply(context.Context, string, lifecycle.Action) error { return nil }
