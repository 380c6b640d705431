package catalog_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
)

// endsAfter is a context that ends when it was asked a number of times whether it has.
type endsAfter struct {
	context.Context
	end  context.CancelCauseFunc
	left atomic.Int64
}

var errEnded = errors.New("ended by the test")

func newEndsAfter(ctx context.Context, asked int64) *endsAfter {
	c := &endsAfter{}
	c.Context, c.end = context.WithCancelCause(ctx)
	c.left.Store(asked)
	return c
}

func (c *endsAfter) Err() error {
	if c.left.Add(-1) < 0 {
		c.end(errEnded)
	}
	return c.Context.Err()
}

// TestEndedContext: whatever is done with a large catalog ends with the cause when its context
// does, wherever it is by then.
func TestEndedContext(t *testing.T) {
	for _, shape := range slices.Sorted(maps.Keys(hardCatalogs)) {
		text := hardCatalogs[shape](130)
		before, after := openText(t, text.before), openText(t, text.after)
		for _, work := range slices.Sorted(maps.Keys(hardWork)) {
			all := newEndsAfter(t.Context(), 1<<40)
			if err := hardWork[work](all, catalogAgain(t, before), catalogAgain(t, after), text); err != nil {
				t.Fatal(work, err)
			}
			asked := 1<<40 - all.left.Load()
			if asked == 0 {
				t.Errorf("%s of %s never looks whether its context has ended", work, shape)
			}
			for at := range 8 {
				ends := newEndsAfter(t.Context(), asked*int64(at)/8)
				err := hardWork[work](ends, catalogAgain(t, before), catalogAgain(t, after), text)
				if !errors.Is(err, errEnded) {
					t.Errorf("%s of %s, context ended at %d/8: %v", work, shape, at, err)
				}
				if late := -ends.left.Load(); late > 40 {
					t.Errorf("%s of %s went on when its context had ended: it looked %d times more", work, shape, late)
				}
			}
		}
	}
}
