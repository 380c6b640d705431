package solver

import "sync/atomic"

// Units is how much work was done: turns of loops, and calls of functions, all of
// the package. It is nil but where TestStretch has the package counted.
func Units() *atomic.Int64 { return nil }
