// Package inspect lets another package look at bundles while a catalog is
// opened, when their text is at hand anyway: a second reading of all bundles
// costs as much as the first. It is a way between packages of this module, and
// no option, because what is passed is theirs.
package inspect

import (
	"context"

	"github.com/fairlead/fairlead/internal/doc"
)

// Func is called for each olm.bundle document without fault: document is the
// *catalog.Document, text is valid until the call returns.
type Func func(document any, text *doc.Document)

type key struct{}

// With returns a context in which catalogs are opened with a Func. Each worker
// calls start once and uses what it returns alone.
func With(ctx context.Context, start func() Func) context.Context {
	return context.WithValue(ctx, key{}, start)
}

// From returns the Func of one more worker, or nil.
func From(ctx context.Context) Func {
	if start, ok := ctx.Value(key{}).(func() Func); ok {
		return start()
	}
	return nil
}
