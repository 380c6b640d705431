//go:build unix

package duel

import (
	"syscall"
	"time"
)

// cpuTime returns what the process has used of the processors so far. Other
// than the time on the clock it says something on a busy machine, too.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return time.Since(started)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
