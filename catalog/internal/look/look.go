// Package look looks at a context now and then in work that consists of very many small parts.
package look

import "context"

// every is how many units of work are done between two looks: a few milliseconds of them.
const every = 1 << 14

// Look counts work. It must not be used by several goroutines at once.
type Look struct {
	ctx  context.Context
	done int
}

// At returns a count of work that ends with a context.
func At(ctx context.Context) *Look { return &Look{ctx: ctx} }

// After adds units of work, and returns the cause of the end of the context, if it has ended
// and enough was done to look.
func (l *Look) After(units int) error {
	if l.done += units; l.done < every {
		return nil
	}
	l.done = 0
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	return nil
}
