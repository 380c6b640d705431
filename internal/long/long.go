// Package long is the one switch between tests of seconds and runs of hours.
//
// Without it, go test ./... is quick and every test runs at the size that
// finds mistakes while one works. With the environment variable FAIRLEAD_LONG
// set, the same tests run at the size that one trusts a release to:
//
//	FAIRLEAD_LONG=1 go test -timeout 0 ./...
//
// A test does not skip itself in a short run. It asks for a size:
//
//	for seed := range long.N(2_000, 1_000_000) {
//
// Only tests import this package.
package long

import (
	"os"
	"strings"
)

// Variable is the name of the environment variable that asks for long runs.
const Variable = "FAIRLEAD_LONG"

// Enabled reports whether long runs were asked for: whether [Variable] is set
// to anything but "", "0", "no", "off" and "false", in any case.
func Enabled() bool {
	switch strings.ToLower(os.Getenv(Variable)) {
	case "", "0", "no", "off", "false":
		return false
	}
	return true
}

// N returns long where long runs were asked for, else short.
func N(short, long int) int {
	if Enabled() {
		return long
	}
	return short
}
