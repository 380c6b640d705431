// Command bench solves the same problems with fairlead's solver and with its
// peers, judges the answers, and prints what they cost as Markdown tables: all
// of them, or those named by the arguments. The table catalog, which takes real
// catalogs, is made only when it is named.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"github.com/fairlead/fairlead/internal/bench/duel"
	"github.com/fairlead/fairlead/internal/bench/registry"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if child, err := registry.Child(ctx); child {
		exit(err)
	}
	out := bufio.NewWriter(os.Stdout)
	err := report(ctx, out, os.Args[1:])
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	exit(err)
}

// report writes the tables.
func report(ctx context.Context, w io.Writer, names []string) error {
	const catalogs = "catalog"
	i := slices.Index(names, catalogs)
	if i < 0 {
		return duel.Report(ctx, w, names...)
	}
	if names = slices.Delete(slices.Clone(names), i, i+1); len(names) > 0 {
		if err := duel.Report(ctx, w, names...); err != nil {
			return err
		}
	}
	return registry.Report(ctx, w)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
