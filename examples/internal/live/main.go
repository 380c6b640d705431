// Live answers the what-if questions of a live report. It is built for WASI, and the page runs
// it in the browser:
//
//	GOOS=wasip1 GOARCH=wasm go build -tags nocel,nohttp -ldflags='-s -w' -o fairlead.wasm ./examples/internal/live
//
// Without CEL and net/http (the tags) it is half as large. The page refuses to install a bundle
// that has a rule in CEL, and reports that.
//
// It reads a question from standard input and writes the answer to standard output, both in
// JSON, so it works the same on every platform.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/fairlead/fairlead/examples/internal/report"
	"github.com/fairlead/fairlead/internal/words"
)

// memory is how much is used before garbage is collected, in bytes: one answer seldom needs as much.
const memory = 1 << 30

func main() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memory)
	if err := report.Reply(context.Background(), os.Stdin, os.Stdout); err != nil {
		words.Fprintf(os.Stderr, "%v\n", err)
		os.Exit(1)
	}
}
