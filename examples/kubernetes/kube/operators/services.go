package operators

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm/source"
)

// Services provides the catalogs of services: of catalog sources of sourceType
// grpc with an address and without an image. The Client of package served
// implements it.
type Services interface {
	// Catalog returns the catalog that is served at an address, and its revision.
	// The argument revision is that of the previous call, "" for the first one: if
	// the service still has the same, the result is a nil catalog and the same
	// revision. Catalog is called from several goroutines.
	Catalog(ctx context.Context, address, revision string) (*catalog.Catalog, string, error)
}

// service reads the catalog of a service. If it has not changed, the earlier one
// is kept.
func (b *Backend) service(c *seen) func(context.Context, *loaded) *loaded {
	return func(ctx context.Context, old *loaded) *loaded {
		var before loaded
		if old != nil && old.revision == c.from() && old.err == nil {
			before = *old
		}
		l := &loaded{again: b.now().Add(interval(c.Spec.UpdateStrategy))}
		l.catalog, l.tag, l.err = b.opts.Services.Catalog(ctx, c.Spec.Address, before.tag)
		if l.err == nil && l.catalog == nil {
			l.catalog = before.catalog
		}
		return l
	}
}

// interval returns how often a service is polled.
func interval(u *source.UpdateStrategy) time.Duration {
	if u != nil && u.RegistryPoll != nil {
		if d, err := time.ParseDuration(u.RegistryPoll.Interval); err == nil && d > 0 {
			return d
		}
	}
	return source.DefaultPoll
}
