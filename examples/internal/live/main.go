// Live answers the what-if questions of a live report. It is built for WASI, and the page runs
// it in the browser:
//
//	GOOS=wasip1 GOARCH=wasm go build -tags nocel -ldflags='-s -w' -o fairlead.wasm ./examples/internal/live
//
// Without CEL (the tag nocel) it is half as large; a bundle with a rule in CEL cannot be
// installed in the page then, and that is what the page says.
//
// It reads a question from standard input and writes the answer to standard output, both in
// JSON; so it works the same wherever it is built for.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/fairlead/fairlead/examples/internal/report"
)

func main() {
	if err := report.Reply(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
