package fairlead_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
)

// diary is an engine that does what the test says, and notes when.
type diary struct {
	begin time.Time
	// plan says what the nth pass over the object, from 1, decides: when to look
	// again, and whether it fails.
	plan func(name string, n int) (wake time.Duration, err error)
	// take is how long each pass takes.
	take time.Duration

	mu     sync.Mutex
	passes map[string]int
	now    map[string]bool // in a pass
	notes  []string
}

func newDiary(plan func(name string, n int) (time.Duration, error)) *diary {
	return &diary{begin: time.Now(), plan: plan, passes: map[string]int{}, now: map[string]bool{}}
}

// engine observes the wake that is planned, decides on it, and has no state.
func (d *diary) engine(t *testing.T) funcs[struct{}, time.Duration] {
	return funcs[struct{}, time.Duration]{
		Name: "diary", Version: 1,
		Done: func(struct{}) bool { return true },
		Observe: func(ctx context.Context, name string) (time.Duration, error) {
			d.mu.Lock()
			if d.now[name] {
				t.Errorf("%s is in two passes at a time", name)
			}
			d.now[name] = true
			d.passes[name]++
			n := d.passes[name]
			d.notes = append(d.notes, fmt.Sprintf("%v %s", time.Since(d.begin), name))
			d.mu.Unlock()
			time.Sleep(d.take)
			d.mu.Lock()
			d.now[name] = false
			d.mu.Unlock()
			return d.plan(name, n)
		},
		Step: func(_ struct{}, wake time.Duration, now time.Time) (dec fairlead.Decision[struct{}, climb]) {
			if wake != 0 {
				dec.Wake = now.Add(wake)
			}
			return dec
		},
	}
}

func (d *diary) want(t *testing.T, want ...string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.notes, want) {
		t.Errorf("passes at\n%s\nwant\n%s", strings.Join(d.notes, "\n"), strings.Join(want, "\n"))
	}
	d.notes = nil
}

// run starts r and returns what ends it and waits for that.
func run[S, W any](t *testing.T, r *fairlead.Runner[S, W, climb]) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v", err)
		}
	}
}

// after lets time pass, and everything that falls due in it.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(func(name string, n int) (time.Duration, error) {
			return map[string]time.Duration{"a1": time.Hour, "a2": 7, "b1": time.Minute}[fmt.Sprint(name, n)], nil
		})
		r := runner(t, d.engine(t), &fairlead.RunnerOptions{Workers: 1})
		r.Trigger("a")
		r.Trigger("b")
		r.Trigger("a")
		stop := run(t, r)
		after(2 * time.Hour)
		d.want(t, "0s a", "0s b", "1m0s b", "1h0m0s a", "1h0m0.000000007s a")
		r.Trigger("b")
		after(time.Hour)
		d.want(t, "2h0m0s b")
		stop()
	})
}

// A trigger comes before a Wake, and the Wake of the pass before is forgotten.
func TestTriggerBeforeWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(func(string, int) (time.Duration, error) { return time.Minute, nil })
		r := runner(t, d.engine(t), nil)
		stop := run(t, r)
		r.Trigger("a")
		after(40 * time.Second)
		r.Trigger("a")
		after(61 * time.Second)
		d.want(t, "0s a", "40s a", "1m40s a")
		stop()
	})
}

// Any number of triggers during a pass become one pass after it.
func TestTriggersCoalesce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(func(string, int) (time.Duration, error) { return 0, nil })
		d.take = 10 * time.Second
		r := runner(t, d.engine(t), nil)
		stop := run(t, r)
		r.Trigger("a")
		after(time.Second)
		for range 100 {
			r.Trigger("a")
		}
		r.Trigger("b")
		after(time.Minute)
		d.want(t, "0s a", "1s b", "10s a")
		stop()
	})
}

// Passes over different objects run at a time, but no more than workers.
func TestWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(func(string, int) (time.Duration, error) { return 0, nil })
		d.take = 10 * time.Second
		r := runner(t, d.engine(t), &fairlead.RunnerOptions{Workers: 2, Clock: fairlead.SystemClock{}})
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			r.Trigger(name)
		}
		stop := run(t, r)
		after(time.Minute)
		d.mu.Lock()
		var times []string
		for _, note := range d.notes {
			times = append(times, note[:strings.Index(note, " ")])
		}
		d.mu.Unlock()
		if got, want := strings.Join(times, " "), "0s 0s 10s 10s 20s"; got != want {
			t.Errorf("passes at %s, want %s", got, want)
		}
		stop()
	})
}

func TestRetryBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(func(name string, n int) (time.Duration, error) {
			if n == 6 || n == 9 {
				return 0, nil
			}
			return 0, errors.New("not now")
		})
		r := runner(t, d.engine(t), &fairlead.RunnerOptions{MinRetry: time.Second, MaxRetry: 5 * time.Second})
		stop := run(t, r)
		r.Trigger("a")
		after(time.Minute)
		d.want(t, "0s a", "1s a", "3s a", "7s a", "12s a", "17s a") // then it went well
		r.Trigger("a")
		after(1500 * time.Millisecond) // it failed at 60 s and at 61 s, and would be repeated at 63 s
		r.Trigger("a")
		r.Trigger("a")
		after(time.Minute)
		d.want(t, "1m0s a", "1m1s a", "1m2s a") // brought forward to a second later
		stop()
	})
}

// Actions that fail do not keep an object from its Wake: what is due then may
// be something else.
func TestWakeWhileFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(func(string, int) (time.Duration, error) { return 10 * time.Second, nil })
		engine := d.engine(t)
		decide := engine.Step
		engine.Step = func(s struct{}, wake time.Duration, now time.Time) fairlead.Decision[struct{}, climb] {
			dec := decide(s, wake, now)
			dec.Actions = []climb{{1}}
			return dec
		}
		engine.Apply = func(context.Context, string, climb) error { return errors.New("never") }
		r := runner(t, engine, nil)
		stop := run(t, r)
		r.Trigger("a")
		after(40 * time.Second)
		d.want(t, "0s a", "1s a", "3s a", "7s a", "15s a", "25s a", "35s a")
		stop()
	})
}

func TestInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(func(string, int) (time.Duration, error) { return 0, nil })
		r := runner(t, d.engine(t), &fairlead.RunnerOptions{Workers: 1, Interval: time.Second, Burst: 3})
		stop := run(t, r)
		triggerAll := func() {
			for i := range 5 {
				r.Trigger(fmt.Sprint("n", i))
			}
		}
		triggerAll()
		synctest.Wait()
		r.Trigger("n3") // waits for its turn already
		r.Trigger("n4")
		after(time.Minute)
		d.want(t, "0s n0", "0s n1", "0s n2", "1s n3", "2s n4")
		triggerAll()
		after(time.Minute)
		d.want(t, "1m0s n0", "1m0s n1", "1m0s n2", "1m1s n3", "1m2s n4")
		stop()
	})
}

// In a manual clock's time everything happens at the instant it is due.
func TestRunManualClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock fairlead.ManualClock
		clock.Set(noon)
		l := newLadders(t, new(fairlead.MemStore), 5)
		var log []string
		r := runner(t, l.engine(), &fairlead.RunnerOptions{Store: l.store, Clock: &clock, Trace: &fairlead.Trace{
			End: func(name string, p fairlead.Pass) {
				log = append(log, fmt.Sprintf("%s %d %v", clock.Now().Format(time.TimeOnly), p.Actions, !p.Wake.IsZero()))
			},
		}})
		stop := run(t, r)
		r.Trigger("a")
		for range 10 {
			synctest.Wait()
			if next, ok := clock.Next(); ok {
				clock.Set(next)
			}
		}
		want := "12:00:00 1 true; 12:01:00 1 true; 12:02:00 1 true; 12:03:00 1 true; 12:04:00 1 true; 12:05:00 0 false"
		if got := strings.Join(log, "; "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) != 0 {
			t.Error("it waited in the runtime's time")
		}
		stop()
	})
}

// What has state in the Store gets a pass when Run begins.
func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLadders(t, new(fairlead.MemStore), 3)
		for _, name := range []string{"a", "ns/b"} {
			if _, err := runner(t, l.engine(), &fairlead.RunnerOptions{Store: l.store}).Reconcile(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := l.store.Put(t.Context(), "ladders.other", []byte("of another engine"), ""); err != nil {
			t.Fatal(err)
		}
		r := runner(t, l.engine(), &fairlead.RunnerOptions{Store: l.store})
		stop := run(t, r)
		after(time.Hour)
		if l.at("a") != 3 || l.at("ns/b") != 3 {
			t.Errorf("resumed to rungs %d and %d, want the top, 3", l.at("a"), l.at("ns/b"))
		}
		stop()
	})
}

func TestRunErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLadders(t, new(fairlead.MemStore), 3)
		r := runner(t, l.engine(), &fairlead.RunnerOptions{Store: l.store})
		stop := run(t, r)
		synctest.Wait()
		if err := r.Run(t.Context()); err == nil || err.Error() != "ladder: Run is already in progress: call it once" {
			t.Errorf("the second Run returned %v", err)
		}
		stop()
		stop = run(t, r) // but one after the other is well
		stop()

		l = newLadders(t, new(fairlead.MemStore), 3)
		r = runner(t, l.engine(), &fairlead.RunnerOptions{Store: l.store, Clock: brokenClock{}})
		r.Trigger("a")
		if err := r.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "ladder: the clock cannot be waited on") {
			t.Errorf("Run on a broken clock returned %v", err)
		}
	})
}

type brokenClock struct{ fairlead.SystemClock }

func (brokenClock) SleepUntil(context.Context, time.Time) error { return errors.New("no alarm") }

// When Run is to end the action under way ends in peace, and the next one is
// not begun; what takes longer than Grace has its context ended.
func TestShutdown(t *testing.T) {
	for _, tt := range []struct {
		grace, takes, want time.Duration
		err                error
	}{
		{0, 10 * time.Second, 10 * time.Second, nil},
		{5 * time.Second, 10 * time.Second, 6 * time.Second, context.Canceled},
		{-1, 10 * time.Second, time.Second, context.Canceled},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log []string
			engine := funcs[state, world]{
				Name: "slow", Version: 1,
				Observe: func(context.Context, string) (world, error) { return world{}, nil },
				Step: func(state, world, time.Time) fairlead.Decision[state, climb] {
					return fairlead.Decision[state, climb]{State: state{1}, Actions: []climb{{1}, {2}}}
				},
				Apply: func(ctx context.Context, _ string, a climb) error {
					select {
					case <-time.After(tt.takes):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				},
			}
			r := runner(t, engine, &fairlead.RunnerOptions{Grace: tt.grace, Trace: &fairlead.Trace{
				Applied: func(_ string, action fairlead.Action, err error) { log = append(log, fmt.Sprint(action, " ", err)) },
			}})
			begin := time.Now()
			stop := run(t, r)
			r.Trigger("a")
			after(time.Second)
			stop()
			if took := time.Since(begin); took != tt.want {
				t.Errorf("Run ended after %v, want %v", took, tt.want)
			}
			if want := fmt.Sprint(climb{1}, " ", tt.err); len(log) != 1 || log[0] != want {
				t.Errorf("applied %q, want only %q", log, want)
			}
		})
	}
}

// Reconcile is for embedding, and goes together with Run: never two passes over
// one object at a time, and its Wake is kept.
func TestReconcileWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary(func(_ string, n int) (time.Duration, error) { return time.Duration(2-n) * time.Minute, nil })
		d.take = time.Second
		r := runner(t, d.engine(t), nil)
		stop := run(t, r)
		synctest.Wait()
		go func() {
			if _, err := r.Reconcile(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if _, err := r.Reconcile(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Reconcile did not wait for the other: %v", err)
		}
		after(5 * time.Minute)
		d.want(t, "0s a", "1m1s a")
		stop()
	})
}

// Two runners on one Store, objects of which each is triggered at both, and a
// world in which every call takes time and may fail, panic or succeed without
// saying so: in the end every object is at the top, and on the way nothing was
// left out or applied unsaved.
func TestSimulation(t *testing.T) {
	conflicts := 0
	for seed := range uint64(long.N(30, 10_000)) {
		synctest.Test(t, func(t *testing.T) { conflicts += simulate(t, seed) })
	}
	if conflicts == 0 {
		t.Error("the runners never met")
	}
}

// simulate plays one seed and returns how often the runners met.
func simulate(t *testing.T, seed uint64) (conflicts int) {
	const objects, top = 8, 4
	var mu sync.Mutex
	rnd := rand.New(rand.NewPCG(seed, 3))
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return rnd.IntN(n)
	}
	fault := func(call string) error {
		time.Sleep(time.Duration(draw(500)) * time.Millisecond)
		switch draw(20) {
		case 0:
			panic("chance")
		case 1:
			return errors.New("chance")
		case 2:
			return fairlead.ErrConflict
		}
		return nil
	}
	store := new(fairlead.MemStore)
	l := newLadders(t, store, top)
	l.fault = fault
	var stops []func()
	for range 2 {
		var busy sync.Map
		engine := l.engine()
		observe := engine.Observe
		engine.Observe = func(ctx context.Context, name string) (world, error) {
			if _, twice := busy.LoadOrStore(name, true); twice {
				t.Errorf("seed %d: %s is in two passes at a time", seed, name)
			}
			defer busy.Delete(name)
			return observe(ctx, name)
		}
		r := runner(t, engine, &fairlead.RunnerOptions{
			Store: &faultyStore{store, fault}, Workers: 3, Interval: 10 * time.Millisecond,
			Trace: &fairlead.Trace{Conflict: func(string) { mu.Lock(); conflicts++; mu.Unlock() }},
		})
		for i := range objects {
			r.Trigger(fmt.Sprint("o", i))
		}
		stops = append(stops, run(t, r))
	}
	after(6 * time.Hour)
	for i := range objects {
		if at := l.at(fmt.Sprint("o", i)); at != top {
			t.Errorf("seed %d: object %d is on rung %d after hours", seed, i, at)
		}
	}
	for rec, err := range store.List(t.Context(), "") {
		t.Errorf("seed %d: state is left: %s, %v", seed, rec.Value, err)
	}
	for _, stop := range stops {
		stop()
	}
	return conflicts
}
