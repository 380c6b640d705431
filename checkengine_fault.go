package fairlead

import (
	"context"
	"errors"
	"fmt"
)

// errInjected is the error of calls that fail on purpose.
var errInjected = errors.New("simulated fault")

// playBackend is the trial with faults, for one process.
type playBackend[S, W any, A Action] struct {
	*play[S, W, A]
	of *process[S, W, A]
}

// playStore is a store with faults, for one process.
type playStore[S, W any, A Action] struct {
	Store
	*play[S, W, A]
	of *process[S, W, A]
}

// What may happen to a call, for choose. Those that not every call has come last.
const (
	goesWell = iota
	fails    // before it takes effect
	dies     // the process, before it takes effect
	failsAfter
	diesAfter
	interleaves // a pass of the other process comes first
)

// fault notes and carries out what goes wrong in a call, before it or after.
func (p *play[S, W, A]) fault(one *process[S, W, A], what int, call string) error {
	switch what {
	case fails, failsAfter:
		p.note("%s: %s fails%s", one.name, call, map[bool]string{true: " after it took effect"}[what == failsAfter])
	case dies, diesAfter:
		one.dead = true
		p.note("%s dies %s %s", one.name, map[bool]string{true: "after", false: "before"}[what == diesAfter], call)
	}
	return errInjected
}

// Observe implements Backend.
func (b *playBackend[S, W, A]) Observe(ctx context.Context, name string) (w W, err error) {
	if b.of.dead {
		return w, errInjected
	}
	what := goesWell
	const changes, stale, older, between = 3, 4, 5, 6 // between: another process's pass comes after it
	if !b.healed {
		what = b.choose(inObserve, 24, 1, 1, 2, 2, 1, 2)
	}
	known := b.worlds[name]
	switch what {
	case fails, dies:
		return w, b.fault(b.of, what, "observe "+name)
	case stale, older:
		if at := max(b.of.seen[name], len(known)+3-what); at < len(known) && b.clock.Now().Sub(known[at].at).Abs() <= b.options.Late {
			b.note("%s observes %s as it was before", b.of.name, name)
			b.of.seen[name] = at
			b.due[name] = b.clock.Now() // the rest arrives
			return known[at].world, nil
		}
	}
	if w, err = b.trial.Observe(ctx, name); err != nil {
		return w, err
	}
	b.of.seen[name] = len(known)
	b.worlds[name] = append(known, seen[W]{w, b.clock.Now()})
	switch what {
	case changes:
		b.change()
	case between:
		b.within(ctx, b.of, name)
	}
	return w, nil
}

// Apply implements Backend.
func (b *playBackend[S, W, A]) Apply(ctx context.Context, name string, action A) error {
	if b.of.dead {
		return errInjected
	}
	what := goesWell
	const twice, late, pauses = interleaves + 1, interleaves + 2, interleaves + 3
	if !b.healed {
		what = b.choose(inApply, 20, 1, 1, 1, 1, 1, 2, 1, 3)
	}
	call := fmt.Sprintf("%s: %s", name, action)
	switch what {
	case fails, dies:
		return b.fault(b.of, what, call)
	case late:
		b.note("%s: %s: no answer", b.of.name, call)
		b.late = append(b.late, request[A]{name, action, b.clock.Now()})
		return errInjected
	case interleaves:
		b.within(ctx, b.of, name)
	case pauses:
		b.pause(ctx, b.of)
	}
	b.note("%s: %s", b.of.name, call)
	err := b.trial.Apply(ctx, name, action)
	b.sent = append(b.sent, request[A]{name, action, b.clock.Now()})
	b.due[name] = b.clock.Now() // its effect is an event
	b.look("after " + action.String())
	switch what {
	case failsAfter, diesAfter:
		return b.fault(b.of, what, call)
	case twice:
		b.note("%s: %s, again", b.of.name, call)
		_ = b.trial.Apply(ctx, name, action) // as the client of an API does that repeats requests
		b.look("after " + action.String() + ", twice")
	}
	return err
}

// call makes a call of the store with faults.
func (s *playStore[S, W, A]) call(ctx context.Context, key, call string, do func() error) error {
	if s.of.dead {
		return errInjected
	}
	what := goesWell
	if !s.healed {
		what = s.choose(inStore, 30, 1, 1, 1, 1, 1)
	}
	switch what {
	case fails, dies:
		return s.fault(s.of, what, call)
	case interleaves:
		for _, name := range s.options.Names {
			if StateKey(s.engine.Name, name) == key {
				s.within(ctx, s.of, name)
			}
		}
	}
	err := do()
	if what == failsAfter || what == diesAfter {
		return s.fault(s.of, what, call)
	}
	return err
}

// Get implements Store.
func (s *playStore[S, W, A]) Get(ctx context.Context, key string) (rec Record, err error) {
	err = s.call(ctx, key, "load", func() error { rec, err = s.Store.Get(ctx, key); return err })
	return rec, err
}

// Put implements Store.
func (s *playStore[S, W, A]) Put(ctx context.Context, key string, value []byte, prev Revision) (rev Revision, err error) {
	err = s.call(ctx, key, "save", func() error { rev, err = s.Store.Put(ctx, key, value, prev); return err })
	return rev, err
}

// Delete implements Store.
func (s *playStore[S, W, A]) Delete(ctx context.Context, key string, prev Revision) error {
	return s.call(ctx, key, "delete the state", func() error { return s.Store.Delete(ctx, key, prev) })
}
