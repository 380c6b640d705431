package solver

import (
	"context"
	"slices"
)

// A poll looks at the context after some thousand steps: often enough where a
// step is short, and at no cost that shows.
type poll struct {
	ctx   context.Context
	steps int
	ended bool
}

// pollSteps is after how many steps a poll looks: what takes tens of
// microseconds.
const pollSteps = 4096

// over counts one step, and reports whether the context has ended, as far as it
// was looked at.
func (p *poll) over() bool { return p.spend(4) }

// spend counts steps. It is short enough to be put where it is called.
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

// asideFrom is from how many elements on a list is made aside.
const asideFrom = 1 << 16

// list makes a slice, or returns nil when the context has ended. A large one takes
// long, with what the garbage collector asks for it, and cannot be stopped: so it
// is made aside, and nobody waits for it when the context ends.
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

// cloned returns a copy of all, with room for that many more: not all of it when
// the context has ended.
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
