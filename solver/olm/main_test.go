package olm_test

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage pile up higher: thousands of small catalogs are made and
// left, and collecting them took two fifths of the time. Benchmarks are measured
// as programs run.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
