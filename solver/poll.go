package solver

import "context"

// A poll looks at the context once in a thousand times: often enough for loops
// whose rounds are short, and at no cost that shows.
type poll struct {
	ctx   context.Context
	n     int
	ended bool
}

// over reports whether the context has ended, as far as it was looked at.
func (p *poll) over() bool {
	if p.n++; p.n%1024 == 0 && p.ctx.Err() != nil {
		p.ended = true
	}
	return p.ended
}
