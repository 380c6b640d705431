package solver

import "context"

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

// spend counts steps.
func (p *poll) spend(steps int) bool {
	if p.steps += steps; p.steps >= pollSteps {
		p.steps = 0
		p.ended = p.ended || p.ctx.Err() != nil
	}
	return p.ended
}
