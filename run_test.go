package fairlead_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// A decision is not applied when another runner has saved since its state was
// read: neither one that changes the state, nor one that leaves it as it is.
func TestConflict(t *testing.T) {
	for _, climbing := range []bool{false, true} { // whether the rung was decided on before
		store := new(fairlead.MemStore)
		l := newLadders(t, store, 3)
		if climbing {
			l.fault = failing("apply")
			if _, err := runner(t, l.engine(), &fairlead.RunnerOptions{Store: store}).Reconcile(t.Context(), "a"); err == nil {
				t.Fatal("the first attempt did not fail")
			}
			l.fault = failing("")
		}
		other := runner(t, l.engine(), &fairlead.RunnerOptions{Store: store})
		first := true
		l.during = func(call, name string) {
			if call != "observe" || !first {
				return
			}
			first = false // now the other runner makes two whole passes
			for range 2 {
				if _, err := other.Reconcile(t.Context(), name); err != nil {
					t.Error(err)
				}
			}
		}
		var log []string
		mine := runner(t, l.engine(), &fairlead.RunnerOptions{Store: store, Trace: logTo(&log)})
		d, err := mine.Reconcile(t.Context(), "a")
		if err != nil || d.State.Rung != 3 || l.at("a") != 3 {
			t.Fatalf("climbing %v: decided on %+v, %v, on rung %d, want 3 after the other's 1 and 2", climbing, d.State, err, l.at("a"))
		}
		want := "begin a; conflict a; saved a; applied a climb to rung 3; end a"
		if got := strings.Join(log, "; "); got != want {
			t.Errorf("climbing %v:\n got %s\nwant %s", climbing, got, want)
		}
	}
}

// Who never gets to save fails in the end, instead of trying forever.
func TestConflictWithoutEnd(t *testing.T) {
	store := new(fairlead.MemStore)
	l := newLadders(t, store, 3)
	n := 0
	s := &faultyStore{store, func(call string) error {
		if call != "put" {
			return nil
		}
		n++
		return fairlead.ErrConflict
	}}
	_, err := runner(t, l.engine(), &fairlead.RunnerOptions{Store: s}).Reconcile(t.Context(), "a")
	if !errors.Is(err, fairlead.ErrConflict) || n != 10 || l.at("a") != 0 {
		t.Errorf("got %v after %d attempts, on rung %d; want a conflict after 10, on rung 0", err, n, l.at("a"))
	}
}

// A conflict that the backend speaks of is a failure like any other.
func TestConflictOfBackend(t *testing.T) {
	l := newLadders(t, new(fairlead.MemStore), 3)
	n := 0
	l.fault = func(call string) error {
		if n++; call == "apply" {
			return fairlead.ErrConflict
		}
		return nil
	}
	_, err := runner(t, l.engine(), &fairlead.RunnerOptions{Store: l.store}).Reconcile(t.Context(), "a")
	if want := "ladder a: apply: key changed since it was read"; err == nil || err.Error() != want || n != 3 {
		t.Errorf("got %v after %d calls, want %s after 3", err, n, want)
	}
}

func failing(call string) func(string) error {
	return func(c string) error {
		if c == call {
			return errors.New("no " + c)
		}
		return nil
	}
}

// logTo returns a trace that writes lines.
func logTo(log *[]string) *fairlead.Trace {
	line := func(format string, args ...any) { *log = append(*log, fmt.Sprintf(format, args...)) }
	return &fairlead.Trace{
		Begin:    func(name string) { line("begin %s", name) },
		Conflict: func(name string) { line("conflict %s", name) },
		Saved: func(name string, rev fairlead.Revision) {
			if rev == "" {
				line("deleted %s", name)
			} else {
				line("saved %s", name)
			}
		},
		Applied: func(name string, action fairlead.Action, err error) {
			line("applied %s %v", name, action)
			if err != nil {
				line("failed: %v", err)
			}
		},
		End: func(name string, p fairlead.Pass) {
			line("end %s", name)
			if p.Err != nil {
				line("failed: %v", p.Err)
			}
		},
	}
}

// The life of one object, as a trace tells it.
func TestTrace(t *testing.T) {
	l := newLadders(t, new(fairlead.MemStore), 2)
	var log []string
	r := runner(t, l.engine(), &fairlead.RunnerOptions{Store: l.store, Trace: logTo(&log)})
	for _, broken := range []string{"observe", "", "apply", "", "", ""} {
		l.fault = failing(broken)
		_, _ = r.Reconcile(t.Context(), "a")
	}
	want := `begin a
end a
failed: ladder a: observe: no observe
begin a
saved a
applied a climb to rung 1
end a
begin a
saved a
applied a climb to rung 2
failed: no apply
end a
failed: ladder a: apply: no apply
begin a
applied a climb to rung 2
end a
begin a
deleted a
end a
begin a
end a`
	if got := strings.Join(log, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A panic of the backend or of the step is an error, and the other actions are
// applied all the same.
func TestPanic(t *testing.T) {
	for _, call := range []string{"load", "observe", "step", "save", "apply"} {
		t.Run(call, func(t *testing.T) {
			var applied []climb
			cause := errors.New("boom")
			fail := func(at string) {
				if at == call {
					panic(cause)
				}
			}
			engine := funcs[state, world]{
				Name: "ladder", Version: 1,
				Observe: func(context.Context, string) (world, error) { fail("observe"); return world{}, nil },
				Step: func(s state, w world, now time.Time) fairlead.Decision[state, climb] {
					fail("step")
					return fairlead.Decision[state, climb]{State: state{1}, Actions: []climb{{1}, {2}, {3}}}
				},
				Apply: func(_ context.Context, _ string, a climb) error {
					if a.To == 2 {
						fail("apply")
					}
					applied = append(applied, a)
					return nil
				},
			}
			store := &faultyStore{new(fairlead.MemStore), func(c string) error {
				fail(map[string]string{"get": "load", "put": "save"}[c])
				return nil
			}}
			_, err := runner(t, engine, &fairlead.RunnerOptions{Store: store}).Reconcile(t.Context(), "a")
			var panicked *fairlead.PanicError
			if !errors.As(err, &panicked) || panicked.Call != call || !errors.Is(err, cause) || !bytes.Contains(panicked.Stack, []byte("run_test.go")) {
				t.Fatalf("got %#v, want a *PanicError of %s with its cause and stack", err, call)
			}
			if want := "ladder a: " + call + ": panic: boom"; err.Error() != want {
				t.Errorf("got %q, want %q", err, want)
			}
			want := "[]"
			if call == "apply" {
				want = "[climb to rung 1 climb to rung 3]"
			}
			if got := fmt.Sprint(applied); got != want {
				t.Errorf("applied %s, want %s", got, want)
			}
		})
	}
}

func TestApplyAll(t *testing.T) {
	l := newLadders(t, new(fairlead.MemStore), 3)
	engine := l.engine()
	engine.ApplyAll = func(ctx context.Context, name string, actions []climb) (errs []error) {
		for _, a := range actions {
			errs = append(errs, engine.Apply(ctx, name, a))
		}
		return errs
	}
	var log []string
	r := runner(t, engine, &fairlead.RunnerOptions{Store: l.store, Trace: logTo(&log)})
	if _, err := r.Reconcile(t.Context(), "a"); err != nil || l.at("a") != 1 {
		t.Errorf("rung %d, %v", l.at("a"), err)
	}
	if got, want := strings.Join(log, "; "), "begin a; saved a; applied a climb to rung 1; end a"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Newer code reads what older code has saved; older code refuses what newer
// code has, and neither acts nor saves.
func TestVersions(t *testing.T) {
	ctx := t.Context()
	store := new(fairlead.MemStore)
	l := newLadders(t, store, 9)
	key := fairlead.StateKey("ladder", "a")
	put := func(value string) {
		rec, _ := store.Get(ctx, key)
		if _, err := store.Put(ctx, key, []byte(value), rec.Revision); err != nil {
			t.Fatal(err)
		}
	}
	put(`{"version":1,"name":"a","state":"four"}`) // it was a word, once
	l.rung["a"] = 3
	newer := l.engine()
	newer.Version = 2
	newer.Upgrade = func(version int, data []byte) (state, error) {
		if version != 1 || string(data) != `"four"` {
			return state{}, fmt.Errorf("version %d: %s", version, data)
		}
		return state{4}, nil
	}
	d, err := runner(t, newer, &fairlead.RunnerOptions{Store: store}).Reconcile(ctx, "a")
	if err != nil || d.State.Rung != 4 || l.at("a") != 4 {
		t.Fatalf("upgraded to %+v, %v", d.State, err)
	}
	rec, err := store.Get(ctx, key)
	if want := `{"version":2,"name":"a","state":{"Rung":4}}`; err != nil || string(rec.Value) != want {
		t.Errorf("saved %s, %v, want %s", rec.Value, err, want)
	}

	_, err = runner(t, l.engine(), &fairlead.RunnerOptions{Store: store}).Reconcile(ctx, "a")
	var version *fairlead.VersionError
	if !errors.As(err, &version) || *version != (fairlead.VersionError{Engine: "ladder", Name: "a", Key: "ladder.a", Version: 2, Known: 1}) {
		t.Errorf("older code got %v, want a *VersionError", err)
	}
	if want := `ladder a: its state (key "ladder.a") has version 2, and this code knows versions up to 1: run the newer release again, or delete the key to start over`; err.Error() != want {
		t.Errorf("got %s\nwant %s", err, want)
	}
	if now, err := store.Get(ctx, key); err != nil || now.Revision != rec.Revision || l.at("a") != 4 {
		t.Errorf("older code touched the state or the world: %s, rung %d, %v", now.Value, l.at("a"), err)
	}

	for value, want := range map[string]string{
		`{"version":1,"name":"b","state":{}}`:          `ladder a: load: key "ladder.a" holds the state of "b": delete it to start over`,
		`{"version":1,"name":"a","state":[]}`:          `ladder a: load: state under key "ladder.a": json: cannot unmarshal array`,
		`{"version":1,"name":"a"}`:                     `ladder a: load: state under key "ladder.a": `,
		`{"name":"a"}`:                                 `ladder a: load: key "ladder.a" does not hold a state: version or name is missing`,
		`not JSON`:                                     `ladder a: load: key "ladder.a" does not hold a state: invalid character`,
		`{"version":3,"name":"a","state":{},"more":1}`: `ladder a: its state (key "ladder.a") has version 3`,
	} {
		put(value)
		if _, err := runner(t, l.engine(), &fairlead.RunnerOptions{Store: store}).Reconcile(ctx, "a"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", value, err, want)
		}
	}
}

// State that the store refuses is an error, and nothing is applied.
func TestStateTooLarge(t *testing.T) {
	engine := funcs[string, world]{
		Name: "large", Version: 1,
		Observe: func(context.Context, string) (world, error) { return world{}, nil },
		Step: func(string, world, time.Time) fairlead.Decision[string, climb] {
			return fairlead.Decision[string, climb]{State: dense(2 * fairlead.MaxValueSize), Actions: []climb{{1}}}
		},
		Apply: func(context.Context, string, climb) error { t.Error("applied"); return nil },
	}
	_, err := runner(t, engine, nil).Reconcile(t.Context(), "a")
	var limit *fairlead.LimitError
	if !errors.As(err, &limit) || !strings.HasPrefix(err.Error(), "large a: save: ") {
		t.Errorf("got %v, want a *LimitError", err)
	}
}

// Whatever keeps a decision from being saved, or being known to hold still,
// keeps it from being applied.
func TestNotSaved(t *testing.T) {
	base := func() funcs[any, world] {
		return funcs[any, world]{
			Name: "x", Version: 2,
			Upgrade: func(int, []byte) (any, error) { return nil, errors.New("too old") },
			Observe: func(context.Context, string) (world, error) { return world{}, nil },
			Step: func(s any, _ world, _ time.Time) fairlead.Decision[any, climb] {
				return fairlead.Decision[any, climb]{State: s, Actions: []climb{{1}}}
			},
			Apply: func(context.Context, string, climb) error { t.Error("applied"); return nil },
		}
	}
	for _, tt := range []struct {
		name   string
		saved  string
		change func(e *funcs[any, world])
		failAt int // the call of the store that fails
		want   string
	}{
		{"old", `{"version":1,"name":"a","state":0}`, nil, 0, `x a: load: state of version 1 under key "x.a": too old`},
		{"not JSON", "", func(e *funcs[any, world]) {
			e.Step = func(any, world, time.Time) fairlead.Decision[any, climb] {
				return fairlead.Decision[any, climb]{State: func() {}, Actions: []climb{{1}}}
			}
		}, 0, `x a: save: json: unsupported type: func()`},
		{"load", "", nil, 1, `x a: load: no get`},
		{"put", "", nil, 2, `x a: save: no put`},
		{"confirm what is saved", `{"version":2,"name":"a","state":7}`, nil, 2, `x a: save: no get`},
		{"confirm that nothing is saved", "", func(e *funcs[any, world]) {
			e.Done = func(any) bool { return true }
		}, 2, `x a: save: no get`},
		{"delete", `{"version":2,"name":"a","state":7}`, func(e *funcs[any, world]) {
			e.Done = func(any) bool { return true }
			e.Step = func(any, world, time.Time) fairlead.Decision[any, climb] {
				return fairlead.Decision[any, climb]{}
			}
		}, 2, `x a: save: no delete`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := new(fairlead.MemStore)
			if tt.saved != "" {
				if _, err := store.Put(t.Context(), "x.a", []byte(tt.saved), ""); err != nil {
					t.Fatal(err)
				}
			}
			engine, n := base(), 0
			if tt.change != nil {
				tt.change(&engine)
			}
			s := &faultyStore{store, func(call string) error {
				if n++; n == tt.failAt {
					return errors.New("no " + call)
				}
				return nil
			}}
			_, err := runner(t, engine, &fairlead.RunnerOptions{Store: s}).Reconcile(t.Context(), "a")
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

// The state is kept until the actions of its last decision went well.
func TestDoneAfterActions(t *testing.T) {
	store := new(fairlead.MemStore)
	fails := errors.New("not yet")
	gone := func() bool {
		_, err := store.Get(t.Context(), "x.a")
		return errors.Is(err, fairlead.ErrNotFound)
	}
	engine := funcs[int, world]{
		Name: "x", Version: 1, Done: func(s int) bool { return s == 2 },
		Observe: func(context.Context, string) (world, error) { return world{}, nil },
		Step: func(s int, _ world, _ time.Time) fairlead.Decision[int, climb] {
			return fairlead.Decision[int, climb]{State: min(s+1, 2), Actions: []climb{{1}}}
		},
		Apply: func(context.Context, string, climb) error {
			if gone() {
				t.Error("an action is applied, and no state is saved")
			}
			return fails
		},
	}
	r := runner(t, engine, &fairlead.RunnerOptions{Store: store})
	for range 3 {
		if _, err := r.Reconcile(t.Context(), "a"); !errors.Is(err, fails) || gone() {
			t.Fatalf("got %v, state gone %v", err, gone())
		}
	}
	fails = nil
	if _, err := r.Reconcile(t.Context(), "a"); err != nil || !gone() {
		t.Errorf("got %v, state gone %v", err, gone())
	}
}

// A preview decides like a pass, and touches nothing.
func TestPreview(t *testing.T) {
	l := newLadders(t, new(fairlead.MemStore), 3)
	r := runner(t, l.engine(), &fairlead.RunnerOptions{Store: l.store})
	d, err := r.Preview(t.Context(), "a")
	if err != nil || len(d.Actions) != 1 || d.Actions[0].To != 1 {
		t.Errorf("got %+v, %v", d, err)
	}
	if _, err := l.store.Get(t.Context(), fairlead.StateKey("ladder", "a")); !errors.Is(err, fairlead.ErrNotFound) || l.at("a") != 0 {
		t.Errorf("the preview left rung %d, state %v", l.at("a"), err)
	}
	l.fault = failing("observe")
	if _, err := r.Preview(t.Context(), "a"); err == nil || err.Error() != "ladder a: observe: no observe" {
		t.Errorf("got %v", err)
	}
}

// Step is told the time in UTC and without a monotonic reading, and a Wake
// that would make the object spin is put off.
func TestTimes(t *testing.T) {
	var clock fairlead.ManualClock
	clock.Set(noon.In(time.FixedZone("", 3600)))
	for _, tt := range []struct {
		name    string
		actions []climb
		wake    time.Time
		want    time.Time
	}{
		{"never", nil, time.Time{}, time.Time{}},
		{"later", nil, noon.Add(1), noon.Add(1)},
		{"now", nil, noon, noon.Add(time.Second)},
		{"past", nil, noon.Add(-time.Hour), noon.Add(time.Second)},
		{"actions and never", []climb{{1}}, time.Time{}, noon.Add(time.Second)},
		{"actions and later", []climb{{1}}, noon.Add(time.Hour), noon.Add(time.Hour)},
	} {
		engine := funcs[state, world]{
			Name: "times", Version: 1,
			Observe: func(context.Context, string) (world, error) { return world{}, nil },
			Apply:   func(context.Context, string, climb) error { return nil },
			Step: func(s state, _ world, now time.Time) fairlead.Decision[state, climb] {
				if now != noon {
					t.Errorf("Step was told %v, want %v", now, noon)
				}
				return fairlead.Decision[state, climb]{Actions: tt.actions, Wake: tt.wake}
			},
		}
		d, err := runner(t, engine, &fairlead.RunnerOptions{Clock: &clock}).Reconcile(t.Context(), "a")
		if err != nil || d.Wake != tt.want {
			t.Errorf("%s: wakes at %v, %v, want %v", tt.name, d.Wake, err, tt.want)
		}
	}
}

func TestKey(t *testing.T) {
	long := strings.Repeat("n", 253)
	for name, want := range map[string]string{
		"worker-1":           "x.worker-1",
		"ns/pod.1":           "x.ns_2fpod.1",
		"a_b":                "x.a_5fb",
		"..":                 "x...",
		"Ä":                  "x._c3_84",
		long:                 "x." + strings.Repeat("n", 253-2-34) + "__",
		"/" + long:           "x._2f" + strings.Repeat("n", 253-2-3-34) + "__",
		long[:251]:           "x." + long[:251],
		long[:250] + "/":     "x." + strings.Repeat("n", 253-2-34) + "__",
		"":                   "x.",
		"node\x00\xff space": "x.node_00_ff_20space",
	} {
		got := fairlead.StateKey("x", name)
		if !strings.HasPrefix(got, want) || !strings.HasSuffix(want, "__") && got != want {
			t.Errorf("Key(%q) is %q, want %q", name, got, want)
		}
		if err := fairlead.CheckLimits(got, nil); err != nil {
			t.Errorf("Key(%q): %v", name, err)
		}
	}
}

// Different names have different keys.
func FuzzKey(f *testing.F) {
	f.Add("a/b", "a_2fb")
	f.Add(strings.Repeat("n", 260), strings.Repeat("n", 261))
	f.Add("_", "__")
	f.Fuzz(func(t *testing.T, a, b string) {
		ka, kb := fairlead.StateKey("x", a), fairlead.StateKey("x", b)
		if (a == b) != (ka == kb) {
			t.Errorf("%q and %q have keys %q and %q", a, b, ka, kb)
		}
		if err := fairlead.CheckLimits(ka, nil); err != nil {
			t.Error(err)
		}
	})
}
