package solver

import "context"

// bounded gives ctx the deadline that the options ask for.
func bounded(ctx context.Context, opts *Options) (context.Context, context.CancelFunc) {
	if opts.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, opts.Timeout)
}
