//go:build !darwin && !linux

package args

import "os"

// columns returns 0: the width of a terminal is not asked for on this system.
func columns(*os.File) int { return 0 }
