package fairlead_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
)

// What is due by its timer is not late, although most triggers have nothing to do: 10,000
// objects of which each is due twice a minute and saves a state then, in a FileStore, with
// 4 workers and 2,000 triggers a second.
func TestLateness(t *testing.T) {
	const objects, triggers, every = 10_000, 2_000, 30 * time.Second
	lasts := time.Duration(long.N(6, 60)) * time.Second
	store, err := fairlead.OpenFileStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var mu sync.Mutex
	var late []time.Duration
	began := time.Now()
	due := make(map[string]time.Time, objects)
	names := make([]string, objects)
	for i := range names {
		names[i] = fmt.Sprintf("object-%05d", i)
		due[names[i]] = began.Add(time.Duration(i) * every / objects)
	}
	passes := 0
	r := runner(t, funcs[state, string]{
		Name: "late", Version: 1,
		Observe: func(_ context.Context, name string) (string, error) { return name, nil },
		Apply:   func(context.Context, string, climb) error { return nil },
		Step: func(s state, name string, now time.Time) (d fairlead.Decision[state, climb]) {
			mu.Lock()
			defer mu.Unlock()
			passes++
			at := due[name]
			d.State = s
			if behind := time.Since(at); behind >= 0 {
				late = append(late, behind)
				d.State.Rung++
				at = at.Add(max(every, behind.Truncate(every)))
				due[name] = at
			}
			d.Wake = at.UTC().Round(0)
			return d
		},
	}, &fairlead.RunnerOptions{Store: store})
	ctx, stop := context.WithTimeout(t.Context(), lasts)
	defer stop()
	for _, name := range names {
		r.Trigger(name)
	}
	go func() {
		for tick := time.NewTicker(time.Second / 100); ctx.Err() == nil; <-tick.C {
			for range triggers / 100 {
				r.Trigger(names[rand.IntN(objects)])
			}
		}
	}()
	if err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
	slices.Sort(late)
	if len(late) == 0 {
		t.Fatal("nothing was due")
	}
	at := func(percent int) time.Duration { return late[(len(late)-1)*percent/100].Round(time.Millisecond) }
	t.Logf("%d passes, %d of them due: late by %v (median), %v (99th percentile), %v (most)", passes, len(late), at(50), at(99), at(100))
	most := 5 * time.Second // other packages are tested beside this one
	if long.Enabled() {
		most = time.Second
	}
	if at(99) >= most {
		t.Errorf("late by %v at the 99th percentile, more than %v", at(99), most)
	}
}
