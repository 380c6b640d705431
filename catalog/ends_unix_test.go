//go:build unix

package catalog_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"
)

// processorTime returns how long the process has computed.
func processorTime(t *testing.T) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Skip(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// Whatever is done with a hard catalog ends soon after its context.
func TestHardEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for shape, n := range map[string]int{"chain without its middle third": 10_000, "channels over 60 bundles": 750} {
		text := hardCatalogs[shape](n)
		before, after := openText(t, text.before), openText(t, text.after)
		for _, name := range []string{"diff", "release", "lint", "check"} {
			t.Run(fmt.Sprintf("%s/%s", name, shape), func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan time.Duration, 1)
				timer := time.AfterFunc(20*time.Millisecond, func() { cancel(); ended <- processorTime(t) })
				defer timer.Stop()
				err := hardWork[name](ctx, catalogAgain(t, before), catalogAgain(t, after), text)
				now := processorTime(t)
				if err == nil {
					t.Skip("done before the context ended")
				}
				if late := now - <-ended; late > 500*time.Millisecond { // 100 ms; a loaded machine collects garbage meanwhile
					t.Errorf("it returns %v of processor time after the end of its context", late)
				} else {
					t.Logf("%v after", late)
				}
			})
		}
	}
}
