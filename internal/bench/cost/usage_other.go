//go:build !unix

package cost

import "time"

// CPU returns the time on the clock: this system is not asked for more.
func CPU() time.Duration { return time.Since(started) }

// Peak is not known here.
func Peak() int64 { return 0 }
