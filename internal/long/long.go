// Package long is the switch between tests that take seconds and runs that take
// hours.
//
// By default, go test ./... is quick, and every test runs at a size that finds
// mistakes during development. With the environment variable FAIRLEAD_LONG set,
// the same tests run at the size that is required for a release:
//
//	FAIRLEAD_LONG=1 go test -timeout 0 ./...
//
// Tests do not skip themselves in a short run, but request a size:
//
//	for seed := range long.N(2_000, 1_000_000) {
//
// Only tests import this package.
package long

import (
	"os"
	"strings"
)

// Variable is the name of the environment variable that requests long runs.
const Variable = "FAIRLEAD_LONG"

// Enabled reports whether long runs were requested: whether [Variable] is set
// to anything but "", "0", "no", "off" and "false", in upper or lower case.
func Enabled() bool {
	switch strings.ToLower(os.Getenv(Variable)) {
	case "", "0", "no", "off", "false":
		return false
	}
	return true
}

// N returns long if long runs were requested, otherwise short.
func N(short, long int) int {
	if Enabled() {
		return long
	}
	return short
}
