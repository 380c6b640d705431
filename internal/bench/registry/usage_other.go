//go:build !unix

package registry

import "time"

var started = time.Now()

// used is what a process has used so far.
type used struct{ cpu, clock time.Duration }

// usage has no better measure here than the clock.
func usage() used { return used{time.Since(started), time.Since(started)} }

// peak is not known here.
func peak() int64 { return 0 }
