package cluster

import (
	"context"
	"math/rand/v2"
)

// Faults is how often each fault occurs, as once in this many calls. 0 means
// never.
type Faults struct {
	Stale    int // an observation is an earlier one; all of it is of one time
	Fail     int // a call fails and has no effect
	Lost     int // a call takes effect, but its answer is lost
	Conflict int // a call is refused, as if another client had written
	Twice    int // a call arrives twice
	Late     int // an event is delivered after later ones
	Again    int // an event is delivered again
}

// Backend is the part of a backend that a [Faulty] wraps.
type Backend[W, A any] interface {
	Observe(ctx context.Context, name string) (W, error)    // the world of an object
	Apply(ctx context.Context, name string, action A) error // carries out an action
}

// Faulty is a Backend with faults. It must be used by one goroutine only.
type Faulty[W, A any] struct {
	backend Backend[W, A]
	faults  Faults
	rand    *rand.Rand
	past    map[string][]W
	down    bool
	old     bool
	hits    map[string]int
}

// Through returns a backend with faults drawn from a seed. Observed worlds must not
// be changed.
func Through[W, A any](b Backend[W, A], seed uint64, f Faults) *Faulty[W, A] {
	return &Faulty[W, A]{backend: b, faults: f, rand: rand.New(rand.NewPCG(seed, 14)), past: map[string][]W{}, hits: map[string]int{}}
}

// Heal ends all faults.
func (x *Faulty[W, A]) Heal() { x.faults, x.down = Faults{}, false }

// Outage begins or ends a time in which no call succeeds.
func (x *Faulty[W, A]) Outage(is bool) { x.down = is }

// Restart forgets earlier observations: the next one is new.
func (x *Faulty[W, A]) Restart() { clear(x.past) }

// Old reports whether the last observation was an earlier one.
func (x *Faulty[W, A]) Old() bool { return x.old }

// Hits returns how often each fault occurred.
func (x *Faulty[W, A]) Hits() map[string]int { return x.hits }

func (x *Faulty[W, A]) hit(name string, n int) bool {
	is := n > 0 && x.rand.IntN(n) == 0
	if is {
		x.hits[name]++
	}
	return is
}

// kept is how many observations of an object are kept as possible old ones.
const kept = 4

// Observe returns the current or a recent world.
func (x *Faulty[W, A]) Observe(ctx context.Context, name string) (w W, err error) {
	if x.down || x.hit("fail", x.faults.Fail) {
		return w, refused(503, "ServiceUnavailable", "the API server cannot be reached")
	}
	if w, err = x.backend.Observe(ctx, name); err != nil {
		return w, err
	}
	past := append(x.past[name], w)
	past = past[max(0, len(past)-kept):]
	x.past[name] = past
	if x.old = x.hit("stale", x.faults.Stale); x.old {
		return past[x.rand.IntN(len(past))], nil
	}
	return w, nil
}

// Apply carries out an action, unless a fault occurs.
func (x *Faulty[W, A]) Apply(ctx context.Context, name string, action A) error {
	switch {
	case x.down || x.hit("fail", x.faults.Fail):
		return refused(503, "ServiceUnavailable", "the API server cannot be reached")
	case x.hit("conflict", x.faults.Conflict):
		return refused(409, "Conflict", "somebody else has changed it")
	}
	err := x.backend.Apply(ctx, name, action)
	if x.hit("twice", x.faults.Twice) {
		_ = x.backend.Apply(ctx, name, action) // the caller gets the first answer
	}
	if x.hit("lost", x.faults.Lost) {
		return refused(504, "Timeout", "the answer is lost")
	}
	return err
}

// Event says that an object was created, changed or deleted.
type Event struct {
	Kind string // as in Pod
	Name string // "namespace/name", or the name of a cluster-scoped object
}

// Watch delivers events. They may be delivered late, in another order, and again;
// none is lost. Its caller holds the cluster's lock.
type Watch struct {
	c      *Cluster
	faults Faults
	rand   *rand.Rand
	seen   int
	late   []Event
}

// Watch returns a watch of everything that happens from now on, with faults drawn
// from a seed.
func (c *Cluster) Watch(seed uint64, f Faults) *Watch {
	c.watched = true
	return &Watch{c: c, faults: f, rand: rand.New(rand.NewPCG(seed, 15)), seen: len(c.log)}
}

// Take returns the events that were not delivered yet, and some again.
func (w *Watch) Take() []Event {
	hit := func(n int) bool { return n > 0 && w.rand.IntN(n) == 0 }
	news := append(w.late, w.c.log[w.seen:]...)
	w.seen, w.late = len(w.c.log), nil
	var all []Event
	for _, e := range news {
		if hit(w.faults.Late) {
			w.late = append(w.late, e)
			continue
		}
		all = append(all, e)
		if hit(w.faults.Again) {
			all = append(all, e)
		}
	}
	return all
}

// Heal ends all faults.
func (w *Watch) Heal() { w.faults = Faults{} }
