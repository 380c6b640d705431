// Package sim drives engines through simulations: everything that can go wrong
// is drawn from a seed, so that failures can be reproduced.
//
// A test gives [Run] a function that builds a world, lets things happen, asks
// [Sim.Fault] at each point where something may go wrong, and notes what it
// does. When it returns an error, the seed and the last notes are printed, and
// the environment variable FAIRLEAD_SEED runs that seed alone.
//
// Only tests import this package.
package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// SeedVariable is the environment variable that names the one seed to run, or a
// range of seeds, as in 1000-1999.
const SeedVariable = "FAIRLEAD_SEED"

// Start returns the instant at which simulations begin.
func Start() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// ErrFault is the error of calls that a fault makes fail.
var ErrFault = errors.New("simulated fault")

// maxNotes is how many of the last notes are kept.
const maxNotes = 400

// Sim is one simulation. It must be used by one goroutine only.
type Sim struct {
	*rand.Rand
	Seed   uint64                // of everything that is drawn
	Clock  *fairlead.ManualClock // begins at Start
	notes  []string
	healed bool
	counts map[string]int
	waits  Waits
	jumps  []jump
}

// jump is a jump of the clock, ahead.
type jump struct {
	to time.Time // where it ended; at the latest where the clock was set back to since
	by time.Duration
}

// New returns the simulation of a seed.
func New(seed uint64) *Sim {
	s := &Sim{Rand: rand.New(rand.NewPCG(seed, 1)), Seed: seed, Clock: new(fairlead.ManualClock), counts: make(map[string]int)}
	s.Clock.Set(Start())
	return s
}

// Run runs the seeds from 1 to n, or those that SeedVariable names, until one fails.
// It returns how often each fault was injected and each name was reached, and logs the
// longest waits that were reported to [Waited].
func Run(t *testing.T, n int, f func(s *Sim) error) (counts map[string]int) {
	t.Helper()
	first, last := uint64(1), uint64(n)
	from, to, several := strings.Cut(os.Getenv(SeedVariable), "-")
	if one, err := strconv.ParseUint(from, 10, 64); err == nil {
		first, last = one, one
	}
	if end, err := strconv.ParseUint(to, 10, 64); several && err == nil {
		last = end
	}
	counts = make(map[string]int)
	var waits Waits
	for seed := first; seed <= last; seed++ {
		s := New(seed)
		if err := f(s); err != nil {
			t.Fatalf("seed %d (%s=%d): %v\n%s", seed, SeedVariable, seed, err, strings.Join(s.notes, "\n"))
		}
		for name, k := range s.counts {
			counts[name] += k
		}
		waits.add(&s.waits)
	}
	if len(waits.longest) > 0 {
		t.Logf("the longest waits:%s", &waits)
	}
	return counts
}

// Reached fails a test in which one of the names was never counted.
func Reached(t *testing.T, counts map[string]int, names ...string) {
	t.Helper()
	for _, name := range names {
		if counts[name] == 0 {
			t.Errorf("there was no %q: %v", name, counts)
		}
	}
}

// OneIn is true once in n times.
func (s *Sim) OneIn(n int) bool { return s.IntN(n) == 0 }

// Fault reports whether a fault happens now: once in n times, and never after
// Heal.
func (s *Sim) Fault(name string, n int) bool {
	if s.healed || !s.OneIn(n) {
		return false
	}
	s.counts[name]++
	s.Note("fault: %s", name)
	return true
}

// Reach counts something that simulations are supposed to reach.
func (s *Sim) Reach(name string) { s.counts[name]++ }

// Heal ends all faults.
func (s *Sim) Heal() {
	s.healed = true
	s.Note("healed")
}

// Note adds to what is printed when the simulation fails.
func (s *Sim) Note(format string, args ...any) {
	if len(s.notes) >= maxNotes {
		s.notes = append(s.notes[:0], s.notes[maxNotes/4:]...)
	}
	s.notes = append(s.notes, s.Clock.Now().Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

// Notes returns the last notes, in order.
func (s *Sim) Notes() []string { return s.notes }

// Pass lets time pass: up to five seconds, or, as a fault, up to an hour ahead
// or back.
func (s *Sim) Pass() {
	d := time.Duration(s.IntN(5000)) * time.Millisecond
	switch {
	case s.Fault("clock jumps ahead", 40):
		d = time.Duration(s.IntN(3600)) * time.Second
		s.jumps = append(s.jumps, jump{s.Clock.Now().Add(d), d})
	case s.Fault("clock jumps back", 40):
		d = -time.Duration(s.IntN(3600)) * time.Second
		for i := range s.jumps {
			s.jumps[i].to = fairlead.Past(s.jumps[i].to, s.Clock.Now().Add(d))
		}
	}
	s.Clock.Set(s.Clock.Now().Add(d))
}

// Store returns a view of a store whose calls sometimes fail, before or after
// they take effect.
func (s *Sim) Store(store fairlead.Store) fairlead.Store { return &faultyStore{store, s} }

type faultyStore struct {
	fairlead.Store
	sim *Sim
}

// Get implements fairlead.Store.
func (f *faultyStore) Get(ctx context.Context, key string) (fairlead.Record, error) {
	if f.sim.Fault("get fails", 60) {
		return fairlead.Record{}, ErrFault
	}
	return f.Store.Get(ctx, key)
}

// Put implements fairlead.Store.
func (f *faultyStore) Put(ctx context.Context, key string, value []byte, prev fairlead.Revision) (fairlead.Revision, error) {
	if f.sim.Fault("put fails", 60) {
		return "", ErrFault
	}
	rev, err := f.Store.Put(ctx, key, value, prev)
	if err == nil && f.sim.Fault("put is not confirmed", 60) {
		return "", ErrFault
	}
	return rev, err
}
