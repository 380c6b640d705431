package operators

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm/source"
)

// Services gives the catalogs of services: of catalog sources of sourceType grpc
// that have an address and no image. The Client of package served is one.
type Services interface {
	// Catalog returns the catalog that is served at an address, and what names it.
	// revision is what the call before has returned, "" for the first: where the
	// service still has the same, there is no catalog, and the revision stays. It
	// is called from several goroutines.
	Catalog(ctx context.Context, address, revision string) (*catalog.Catalog, string, error)
}

// service reads the catalog of a service. What has not changed stays the catalog
// that it is.
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

// interval is how often a service is asked.
func interval(u *source.UpdateStrategy) time.Duration {
	if u != nil && u.RegistryPoll != nil {
		if d, err := time.ParseDuration(u.RegistryPoll.Interval); err == nil && d > 0 {
			return d
		}
	}
	return source.DefaultPoll
}
