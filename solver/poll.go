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

// list makes a slice. A large one takes as long as many steps, with what the
// garbage collector asks for it.
func list[T any](p *poll, n int) []T {
	p.spend(n / 8)
	return make([]T, n)
}

// cloned returns a copy of all, with room for that many more: not all of it when
// the context has ended.
func cloned[T any](p *poll, all []T, more int) []T {
	own := make([]T, 0, len(all)+more)
	for part := range slices.Chunk(all, pollSteps) {
		if p.spend(pollSteps) {
			break
		}
		own = append(own, part...)
	}
	return own
}
