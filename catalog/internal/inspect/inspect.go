// Package inspect lets another package inspect bundles while a catalog is
// opened, when their text is in memory anyway: reading all bundles again costs
// as much as the first time. It is internal to this module, and not an option,
// because what is passed is internal, too.
package inspect

import (
	"context"

	"github.com/fairlead/fairlead/internal/doc"
)

// Func is called for each olm.bundle document without faults: document is the
// *catalog.Document, text is valid until the call returns.
type Func func(document any, text *doc.Document)

type key struct{}

// With returns a context in which catalogs are opened with a Func. Each worker
// calls start once and uses its own result.
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
