package operators

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/reading"
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
func (b *Backend) service(namespace, address string) func(context.Context, reading.Result[content]) (content, int64, error) {
	return func(ctx context.Context, last reading.Result[content]) (content, int64, error) {
		if err := b.mayAsk(ctx, namespace, address); err != nil {
			return content{}, 0, err
		}
		var next content
		var err error
		before := content{}
		if last.Has && last.Form == address {
			before = last.Value
		}
		if next.catalog, next.tag, err = b.services(namespace).Catalog(ctx, address, before.tag); err != nil {
			return content{}, 0, err
		}
		if next.catalog == nil {
			if before.catalog == nil {
				return content{}, 0, errUnreachable
			}
			return before, last.Size, nil
		}
		return next, sizeOf(next.catalog), nil
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
