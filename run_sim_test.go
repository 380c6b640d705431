package fairlead_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// The engine of these tests climbs a ladder: it decides on one rung after the
// other, saves that, climbs, and goes on once it is seen there. At the top it is
// done, and its state is forgotten.
type (
	state struct{ Rung int }
	world struct{ Rung, Top int }
	climb struct{ To int }
)

// Key implements fairlead.Action.
func (c climb) Key() fairlead.Key { return fairlead.Key{Kind: "Climb", ID: strconv.Itoa(c.To)} }

// String implements fairlead.Action.
func (c climb) String() string { return fmt.Sprintf("climb to rung %d", c.To) }

// funcs is an engine of functions, for tests.
type funcs[S, W any] struct {
	Name     string
	Version  int
	Upgrade  func(version int, state []byte) (S, error)
	Step     func(S, W, time.Time) fairlead.Decision[S, climb]
	Done     func(S) bool
	Observe  func(ctx context.Context, name string) (W, error)
	Apply    func(ctx context.Context, name string, action climb) error
	ApplyAll func(ctx context.Context, name string, actions []climb) []error
	Outcomes func(W, []fairlead.Outcome) W
}

// runner returns a Runner of the engine.
func runner[S, W any](t testing.TB, f funcs[S, W], o *fairlead.RunnerOptions) *fairlead.Runner[S, W, climb] {
	t.Helper()
	engine := fairlead.Engine[S, W, climb]{
		Name: f.Name, Version: f.Version, Upgrade: f.Upgrade, Step: f.Step, Done: f.Done, Outcomes: f.Outcomes,
	}
	engine.Backend = backend[S, W]{f}
	if f.ApplyAll != nil {
		engine.Backend = batchBackend[S, W]{backend[S, W]{f}}
	}
	r, err := fairlead.NewRunner(engine, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

type backend[S, W any] struct{ f funcs[S, W] }

func (b backend[S, W]) Observe(ctx context.Context, name string) (W, error) {
	return b.f.Observe(ctx, name)
}

func (b backend[S, W]) Apply(ctx context.Context, name string, a climb) error {
	return b.f.Apply(ctx, name, a)
}

type batchBackend[S, W any] struct{ backend[S, W] }

func (b batchBackend[S, W]) ApplyAll(ctx context.Context, name string, actions []climb) []error {
	return b.f.ApplyAll(ctx, name, actions)
}

func step(s state, w world, now time.Time) fairlead.Decision[state, climb] {
	d := fairlead.Decision[state, climb]{State: s}
	switch {
	case w.Rung >= w.Top:
		d.State = state{}
		return d
	case w.Rung >= s.Rung:
		d.State.Rung = w.Rung + 1
	}
	d.Actions = []climb{{d.State.Rung}}
	d.Wake = now.Add(time.Minute)
	return d
}

// ladders is the world of these tests, and its backend. It checks what must
// hold whatever fails: nothing is applied that is not saved, and nothing is
// left out.
type ladders struct {
	t     *testing.T
	store fairlead.Store // read past all faults
	top   int

	mu   sync.Mutex
	rung map[string]int

	// fault is called around every call; an error of it replaces the call's.
	fault func(call string) error
	// during is called inside of Observe and Apply.
	during func(call, name string)
}

func newLadders(t *testing.T, store fairlead.Store, top int) *ladders {
	return &ladders{t: t, store: store, top: top, rung: map[string]int{},

		fault: func(string) error { return nil }, during: func(string, string) {}}
}

func (l *ladders) at(name string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rung[name]
}

func (l *ladders) observe(ctx context.Context, name string) (world, error) {
	if err := l.fault("observe"); err != nil {
		return world{}, err
	}
	w := world{l.at(name), l.top}
	l.during("observe", name) // what was seen may have passed by now
	return w, l.fault("observed")
}

func (l *ladders) apply(ctx context.Context, name string, a climb) error {
	if err := l.fault("apply"); err != nil {
		return err
	}
	rec, err := l.store.Get(context.Background(), fairlead.StateKey("ladder", name))
	var saved struct{ State state }
	if err == nil {
		err = json.Unmarshal(rec.Value, &saved)
	}
	at := l.at(name)
	switch {
	case err != nil && at < l.top:
		l.t.Errorf("%s: rung %d is climbed, and no state is saved: %v", name, a.To, err)
	case err == nil && saved.State.Rung < a.To:
		l.t.Errorf("%s: rung %d is climbed, and the saved state has only %d", name, a.To, saved.State.Rung)
	case a.To > at+1:
		l.t.Errorf("%s: rung %d is climbed from %d: one was left out", name, a.To, at)
	}
	l.during("apply", name)
	l.mu.Lock()
	l.rung[name] = max(l.rung[name], a.To)
	l.mu.Unlock()
	return l.fault("applied")
}

func (l *ladders) engine() funcs[state, world] {
	return funcs[state, world]{
		Name: "ladder", Version: 1, Step: step, Observe: l.observe, Apply: l.apply,
		Done: func(s state) bool { return s == state{} },
	}
}

// faultyStore is a Store whose calls fail before or after they took effect.
type faultyStore struct {
	fairlead.Store
	fault func(call string) error
}

func (s *faultyStore) Get(ctx context.Context, key string) (fairlead.Record, error) {
	if err := s.fault("get"); err != nil {
		return fairlead.Record{}, err
	}
	return s.Store.Get(ctx, key)
}

func (s *faultyStore) Put(ctx context.Context, key string, value []byte, prev fairlead.Revision) (fairlead.Revision, error) {
	if err := s.fault("put"); err != nil {
		return "", err
	}
	rev, err := s.Store.Put(ctx, key, value, prev)
	if err == nil {
		err = s.fault("was put")
	}
	return rev, err
}

func (s *faultyStore) Delete(ctx context.Context, key string, prev fairlead.Revision) error {
	if err := s.fault("delete"); err != nil {
		return err
	}
	if err := s.Store.Delete(ctx, key, prev); err != nil {
		return err
	}
	return s.fault("deleted")
}

var errCrash = errors.New("the process is gone")

// The process is killed before and after each of its calls, in turn, and
// another takes over: it ends at the top, with nothing left out, and nothing
// applied that was not saved.
func TestCrashAnywhere(t *testing.T) {
	const top, longest = 3, 200
	for crash := 1; ; crash++ {
		store := new(fairlead.MemStore)
		l := newLadders(t, store, top)
		calls := 0
		fault := func(call string) error {
			if calls++; calls >= crash {
				return fmt.Errorf("%w at call %d, %s", errCrash, crash, call)
			}
			return nil
		}
		l.fault = fault
		climbUp(t, l, &faultyStore{store, fault})
		crashed := calls >= crash
		before := l.at("a")
		l.fault = func(string) error { return nil }
		if err := climbUp(t, l, store); err != nil || l.at("a") != top || l.at("a") < before {
			t.Fatalf("crash at call %d, on rung %d: the next process came to rung %d, %v", crash, before, l.at("a"), err)
		}
		if _, err := store.Get(t.Context(), fairlead.StateKey("ladder", "a")); !errors.Is(err, fairlead.ErrNotFound) {
			t.Fatalf("crash at call %d: the state is still there: %v", crash, err)
		}
		if !crashed {
			if crash < 20 {
				t.Errorf("there were only %d calls to crash at", crash)
			}
			return
		}
		if crash > longest {
			t.Fatal("it never came through")
		}
	}
}

// climbUp makes passes until nothing is left to do, or one fails.
func climbUp(t *testing.T, l *ladders, store fairlead.Store) error {
	r := runner(t, l.engine(), &fairlead.RunnerOptions{Store: store})
	for range 20 {
		d, err := r.Reconcile(t.Context(), "a")
		if err != nil || len(d.Actions) == 0 {
			return err
		}
	}
	return errors.New("there is no end to it")
}
