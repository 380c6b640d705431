//go:build !race

package long

// race reports whether the race detector is on.
const race = false
