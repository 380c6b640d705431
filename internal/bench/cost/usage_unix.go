//go:build unix

package cost

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// CPU returns what the process has used of all processors so far, user and
// system. Other than the time on the clock it says something on a busy machine,
// too.
func CPU() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return time.Since(started)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// Peak returns the most memory that this process held so far, in bytes; 0 if
// the system does not tell.
func Peak() int64 {
	// Linux counts for the resources of a process what its parent held when it
	// was started, but not here.
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range strings.Lines(string(status)) {
			var kilobytes int64
			if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kilobytes); err == nil {
				return kilobytes * 1024
			}
		}
	}
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(r.Maxrss)
	}
	return int64(r.Maxrss) * 1024
}
