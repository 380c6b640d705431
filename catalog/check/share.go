package check

import (
	"context"
	"sync"
	"sync/atomic"
)

// share does n pieces of work with several workers; start makes the function of each. The error
// is that of a piece that failed, after which no more are begun, or of ctx.
func share(ctx context.Context, workers, n int, start func() func(piece int) error) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			work := start()
			for i := int(next.Add(1)) - 1; i < n && failed.Load() == nil && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := work(i); err != nil {
					failed.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return context.Cause(ctx)
}
