package fairlead_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
)

// Calls that do not return hold up their own objects and nothing else: they are
// reported as stuck, others take their places, and a second pass over such an object
// begins only when the call has returned.
func TestStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(func(string, int) (time.Duration, error) { return 0, nil })
		engine := d.engine(t)
		observe, release := engine.Observe, make(chan struct{})
		engine.Observe = func(ctx context.Context, name string) (time.Duration, error) {
			wake, err := observe(ctx, name)
			if strings.HasPrefix(name, "hung") {
				<-release // whatever becomes of ctx
			}
			return wake, err
		}
		var mu sync.Mutex
		var stuck []string
		r := runner(t, engine, &fairlead.RunnerOptions{Workers: 2, CallTimeout: time.Minute, Trace: &fairlead.Trace{
			End: func(name string, p fairlead.Pass) {
				mu.Lock()
				defer mu.Unlock()
				if err := new(fairlead.StuckError); errors.As(p.Err, &err) {
					stuck = append(stuck, fmt.Sprint(time.Since(d.begin), " ", p.Err))
				}
			},
		}})
		stop := run(t, r)
		for i := range 2 {
			r.Trigger(fmt.Sprint("hung", i))
		}
		synctest.Wait()
		r.Trigger("well")
		after(30 * time.Second)
		slices.Sort(d.notes) // they run side by side
		d.want(t, "0s hung0", "0s hung1")
		after(31 * time.Second)
		d.want(t, "1m0s well")
		slices.Sort(stuck)
		const why = "diary hung%d: observe: the call has not returned within 1m0s, although its context has ended: the object waits until it does; make the backend return when its context ends"
		if want := []string{"1m0s " + fmt.Sprintf(why, 0), "1m0s " + fmt.Sprintf(why, 1)}; !slices.Equal(stuck, want) {
			t.Errorf("reported as stuck:\n%s\nwant\n%s", strings.Join(stuck, "\n"), strings.Join(want, "\n"))
		}
		if _, err := r.Reconcile(t.Context(), "hung0"); !errors.As(err, new(*fairlead.StuckError)) {
			t.Errorf("Reconcile of a stuck object returned %v, want a StuckError at once", err)
		}
		after(time.Hour)
		d.want(t) // no pass beside a hung one
		close(release)
		after(0)
		slices.Sort(d.notes)
		d.want(t, "1h1m1s hung0", "1h1m1s hung1")
		r.Trigger("well")
		after(0)
		d.want(t, "1h1m1s well")
		stop()
	})
}

// An action that returns too late is the last of its pass, and its result counts.
func TestStuckAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLadders(t, new(fairlead.MemStore), 3)
		var slow atomic.Bool
		slow.Store(true)
		l.during = func(call, _ string) {
			if call == "apply" && slow.Load() {
				time.Sleep(time.Hour)
			}
		}
		var log []string
		r := runner(t, l.engine(), &fairlead.RunnerOptions{Store: l.store, CallTimeout: time.Minute, Trace: logTo(&log)})
		stop := run(t, r)
		r.Trigger("a")
		after(2 * time.Hour)
		slow.Store(false)
		after(5 * time.Hour)
		if l.at("a") != 3 {
			t.Errorf("on rung %d, want the top, 3; it went\n%s", l.at("a"), strings.Join(log, "\n"))
		}
		stop()
	})
}

// A key that does not hold a state is reported and left as it is; the others go on.
func TestUnreadableKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLadders(t, new(fairlead.MemStore), 3)
		if _, err := l.store.Put(t.Context(), "ladder.x", []byte("?"), ""); err != nil {
			t.Fatal(err)
		}
		var skipped []string
		r := runner(t, l.engine(), &fairlead.RunnerOptions{Store: l.store, Trace: &fairlead.Trace{
			Skipped: func(key string, err error) { skipped = append(skipped, fmt.Sprint(key, ": ", err)) },
		}})
		r.Trigger("a")
		stop := run(t, r)
		after(time.Hour)
		stop()
		if len(skipped) != 1 || !strings.HasPrefix(skipped[0], `ladder.x: key "ladder.x" does not hold a state: `) {
			t.Errorf("skipped %q, want ladder.x", skipped)
		}
		if l.at("a") != 3 {
			t.Errorf("on rung %d, want the top, 3", l.at("a"))
		}
		if rec, err := l.store.Get(t.Context(), "ladder.x"); err != nil || string(rec.Value) != "?" {
			t.Errorf("the key holds %q, %v; want it as it was", rec.Value, err)
		}
	})
}

// A store that cannot be used any more ends Run, with its error.
func TestUnusableStore(t *testing.T) {
	store, err := fairlead.OpenFileStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := newLadders(t, store, 1)
	r := runner(t, l.engine(), &fairlead.RunnerOptions{Store: store})
	ended := make(chan error)
	go func() { ended <- r.Run(t.Context()) }()
	for r.Trigger("a"); l.at("a") < 1; {
		time.Sleep(time.Millisecond)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	r.Trigger("b")
	if err := <-ended; !errors.Is(err, fairlead.ErrUnusable) || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Run returned %v, want that the store cannot be used any more", err)
	}
}

// What is due comes before what was triggered, three times out of four.
func TestDueBeforeTriggered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(func(name string, n int) (time.Duration, error) {
			if strings.HasPrefix(name, "due") && n == 1 {
				return time.Minute, nil
			}
			return 0, nil
		})
		r := runner(t, d.engine(t), &fairlead.RunnerOptions{Workers: 1})
		stop := run(t, r)
		for i := range 5 {
			r.Trigger(fmt.Sprint("due", i))
		}
		r.Trigger("due-and-triggered")
		after(time.Second)
		d.take = 10 * time.Second
		d.notes = nil
		after(50 * time.Second)
		r.Trigger("first") // is in its pass at 1m
		after(0)
		r.Trigger("due-and-triggered") // and then due as well
		for i := range 4 {
			r.Trigger(fmt.Sprint("asked", i))
		}
		after(10 * time.Minute)
		d.want(t, "51s first", "1m1s due0", "1m11s due1", "1m21s due2", "1m31s asked0", "1m41s due3", "1m51s due4",
			"2m1s due-and-triggered", "2m11s asked1", "2m21s asked2", "2m31s asked3")
		stop()
	})
}

// The results of attempts are kept as long as the object needs state.
func TestOutcomesGoWithTheObject(t *testing.T) {
	gone := false
	var seen []int
	r := runner(t, funcs[int, int]{
		Name: "outcomes", Version: 1,
		Done:    func(s int) bool { return s == 0 },
		Observe: func(context.Context, string) (int, error) { return 0, nil },
		Apply:   func(context.Context, string, climb) error { return errors.New("no") },
		Outcomes: func(w int, all []fairlead.Outcome) int {
			seen = append(seen, len(all))
			return w
		},
		Step: func(_, _ int, _ time.Time) (d fairlead.Decision[int, climb]) {
			if !gone {
				d.State, d.Actions = 1, []climb{{1}, {2}}
			}
			return d
		},
	}, nil)
	for _, gone = range []bool{false, true, true} {
		_, _ = r.Reconcile(t.Context(), "a")
	}
	if want := []int{0, 2, 0}; !slices.Equal(seen, want) {
		t.Errorf("the passes saw %v outcomes, want %v", seen, want)
	}
}

// Sweep makes passes over objects that have state and are gone, no others.
func TestSweep(t *testing.T) {
	l := newLadders(t, new(fairlead.MemStore), 3)
	l.fault = failing("apply")
	r := runner(t, l.engine(), &fairlead.RunnerOptions{Store: l.store})
	for _, name := range []string{"a", "ns/b", "c"} {
		_, _ = r.Reconcile(t.Context(), name)
	}
	l.fault = failing("")
	n, err := r.Sweep(t.Context(), func(name string) bool { return name == "c" })
	if n != 2 || err != nil || l.at("a") != 1 || l.at("ns/b") != 1 || l.at("c") != 0 {
		t.Errorf("Sweep made %d passes, %v: on rungs %d, %d, %d; want passes over a and ns/b alone", n, err, l.at("a"), l.at("ns/b"), l.at("c"))
	}
}

// Waits are reported when they begin, change and end, and not at each pass.
func TestWaits(t *testing.T) {
	var now []fairlead.Block
	var log []string
	names := func(list []fairlead.Block) (all []string) {
		for _, b := range list {
			all = append(all, b.Reason+" "+b.Message)
		}
		return all
	}
	r := runner(t, funcs[int, int]{
		Name: "waits", Version: 1,
		Observe: func(context.Context, string) (int, error) { return 0, nil },
		Step: func(_, _ int, _ time.Time) (d fairlead.Decision[int, climb]) {
			d.Blocked = now
			return d
		},
	}, &fairlead.RunnerOptions{Trace: &fairlead.Trace{Waits: func(name string, w fairlead.Waits) {
		log = append(log, fmt.Sprintln(name, names(w.Begun), names(w.Changed), names(w.Ended)))
	}}})
	one, more, two := fairlead.Block{Reason: "One", Message: "1"}, fairlead.Block{Reason: "One", Message: "2"}, fairlead.Block{Reason: "Two"}
	for _, now = range [][]fairlead.Block{{one}, {one}, {more, two}, {two}, nil, nil, {two}} {
		if _, err := r.Reconcile(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	want := "a [One 1] [] []\na [Two ] [One 2] []\na [] [] [One 2]\na [] [] [Two ]\na [Two ] [] []\n"
	if got := strings.Join(log, ""); got != want {
		t.Errorf("reported\n%swant\n%s", got, want)
	}
}

// A state that no Store takes: nothing of the pass is applied, and it is a wait of
// the object.
func TestStateTooLargeIsAWait(t *testing.T) {
	applied := 0
	var passes []fairlead.Pass
	r := runner(t, funcs[string, int]{
		Name: "large", Version: 1,
		Observe: func(context.Context, string) (int, error) { return 0, nil },
		Apply:   func(context.Context, string, climb) error { applied++; return nil },
		Step: func(_ string, _ int, _ time.Time) (d fairlead.Decision[string, climb]) {
			d.State, d.Actions = dense(2*fairlead.MaxValueSize), []climb{{1}}
			return d
		},
	}, &fairlead.RunnerOptions{Trace: &fairlead.Trace{End: func(_ string, p fairlead.Pass) { passes = append(passes, p) }}})
	if _, err := r.Reconcile(t.Context(), "a"); !errors.As(err, new(*fairlead.LimitError)) {
		t.Errorf("Reconcile returned %v, want a LimitError", err)
	}
	if applied != 0 || len(passes) != 1 || len(passes[0].Blocked) != 1 || passes[0].Blocked[0].Reason != "StateTooLarge" {
		t.Errorf("%d actions were applied, and the pass was %+v; want none, and a Block", applied, passes)
	}
}

// The log has waits that begin and end, actions and errors, each once.
func TestLogTrace(t *testing.T) {
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	n := 0
	r := runner(t, funcs[int, int]{
		Name: "logged", Version: 1,
		Observe: func(context.Context, string) (int, error) { return 0, nil },
		Apply:   func(context.Context, string, climb) error { return errors.New("no ladder") },
		Step: func(_, _ int, _ time.Time) (d fairlead.Decision[int, climb]) {
			if n++; n < 3 {
				d.Blocked = []fairlead.Block{{Subject: "wall", Reason: "NoLadder", Message: "there is none", Owner: "mason"}}
			} else {
				d.Actions = []climb{{1}}
			}
			return d
		},
	}, &fairlead.RunnerOptions{Trace: fairlead.LogTrace("logged", log)})
	for range 3 {
		_, _ = r.Reconcile(t.Context(), "a")
	}
	const want = `level=INFO msg="waiting: there is none" engine=logged object=a subject=wall reason=NoLadder owner=mason
level=WARN msg="action failed" engine=logged object=a action="climb to rung 1" error="no ladder"
level=WARN msg="pass failed" engine=logged object=a error="logged a: apply: no ladder"
level=INFO msg="no longer waiting" engine=logged object=a subject=wall reason=NoLadder
`
	if out.String() != want {
		t.Errorf("logged\n%swant\n%s", &out, want)
	}
}
