//go:build !unix

package cost

import "time"

// CPU returns wall-clock time, since processor time is not measured on this system.
func CPU() time.Duration { return time.Since(started) }

// Peak returns 0, since peak memory is not measured on this system.
func Peak() int64 { return 0 }
