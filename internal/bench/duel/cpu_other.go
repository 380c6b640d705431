//go:build !unix

package duel

import "time"

// cpuTime returns the time on the clock: this system is not asked for more.
func cpuTime() time.Duration { return time.Since(started) }
