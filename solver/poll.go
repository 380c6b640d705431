package solver

import (
	"context"
	"slices"
)

// A poll checks the context every few thousand steps: often enough if a step is
// short, and at a negligible cost.
type poll struct {
	ctx   context.Context
	steps int
	ended bool
}

// pollSteps is the number of steps between two checks of the context, which
// take tens of microseconds.
const pollSteps = 4096

// over counts four steps, and reports whether the context has ended, as of the
// last check.
func (p *poll) over() bool { return p.spend(4) }

// spend counts steps, and reports the same as over. It is short enough to be
// inlined.
func (p *poll) spend(steps int) bool {
	if p.steps += steps; p.steps < pollSteps {
		return p.ended
	}
	return p.look()
}

//go:noinline
func (p *poll) look() bool {
	p.steps = 0
	p.ended = p.ended || p.ctx.Err() != nil
	return p.ended
}

// asideFrom is the number of elements from which list allocates in a goroutine
// of its own.
const asideFrom = 1 << 16

// list makes a slice, or returns nil if the context has ended. Allocating a
// large one takes long, with the work that the garbage collector adds, and
// cannot be stopped: so it happens in a goroutine, for which nothing waits when
// the context ends.
func list[T any](p *poll, n int) []T {
	if p.spend(n / 8) {
		return nil
	}
	if n < asideFrom || p.ctx.Done() == nil {
		return make([]T, n)
	}
	made := make(chan []T, 1)
	go func() { made <- make([]T, n) }()
	select {
	case own := <-made:
		return own
	case <-p.ctx.Done():
		p.look()
		return nil
	}
}

// cloned returns a copy of all, with room for more further elements. The copy
// is incomplete if the context has ended.
func cloned[T any](p *poll, all []T, more int) []T {
	own := list[T](p, len(all)+more)[:0]
	for part := range slices.Chunk(all, pollSteps) {
		if p.spend(pollSteps) {
			break
		}
		own = append(own, part...)
	}
	return own
}
