package cluster

import (
	"errors"
	"net"
	"testing"
)

// ForTest starts a cluster for a test and stops it when the test and all its
// subtests are done. If the servers are not built, it skips the test and says
// how to build them. If the test failed, the ends of the servers' logs are
// shown; a server that ended unexpectedly fails the test. opts may be nil.
func ForTest(t testing.TB, opts *Options) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), opts)
	if missing := (*MissingServersError)(nil); errors.As(err, &missing) {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Err(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(c.Logs())
		}
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// ProgramForTest is [Program] for a test. If the program is not built, it skips
// the test and says how to build it.
func ProgramForTest(t testing.TB, name string) string {
	t.Helper()
	path, err := Program(name)
	if missing := (*MissingServersError)(nil); errors.As(err, &missing) {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// FreeAddresses returns n different loopback addresses on which nothing listens.
func FreeAddresses(t testing.TB, n int) []string {
	t.Helper()
	addresses := make([]string, n)
	for i := range addresses {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		// It listens until all are chosen: a port that is closed may be the next one.
		defer l.Close()
		addresses[i] = l.Addr().String()
	}
	return addresses
}
