package extension

import "context"

// Look returns a world with the resolver's answer, as a Runner's Step is given it.
func Look(ctx context.Context, b Backend, resolve Resolve, name string) (*World, error) {
	return asking{b, resolve}.Observe(ctx, name)
}
