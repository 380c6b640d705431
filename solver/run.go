package solver

import "context"

// bounded returns ctx with the deadline that the options set.
func bounded(ctx context.Context, opts *Options) (context.Context, context.CancelFunc) {
	if opts.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, opts.Timeout)
}
