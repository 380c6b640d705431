//go:build unix

package registry

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

var started = time.Now()

// used is what a process has used so far.
type used struct {
	cpu   time.Duration // of all processors, user and system
	clock time.Duration
}

func usage() used {
	u := used{clock: time.Since(started)}
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err == nil {
		u.cpu = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return u
}

// peak returns the most memory that this process held so far, in bytes.
func peak() int64 {
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
