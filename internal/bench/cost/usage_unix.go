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

// CPU returns the processor time that the process has used so far, user and
// system. Unlike wall-clock time it is meaningful on a busy machine, too.
func CPU() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return time.Since(started)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// Peak returns the peak memory of this process so far, in bytes, or 0 if the
// system does not report it.
func Peak() int64 {
	// In the resource usage of a process, Linux includes the memory that its parent
	// had when it was started, but not in this file.
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
