// Command bench solves the same problems with fairlead and with its peers,
// judges the answers, and prints what they cost as Markdown tables: those named
// by the arguments, or those that take no real catalogs and little time.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/bench/cost"
	"github.com/fairlead/fairlead/internal/bench/duel"
	"github.com/fairlead/fairlead/internal/bench/registry"
	"github.com/fairlead/fairlead/internal/bench/resolution"
	"github.com/fairlead/fairlead/internal/bench/taints"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if child, err := cost.Child(ctx, append(registry.Tasks(), resolution.Tasks()...)...); child {
		exit(err)
	}
	out := bufio.NewWriter(os.Stdout)
	err := report(ctx, out, os.Args[1:])
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	exit(err)
}

// table is one that can be asked for.
type table struct {
	name  string
	write func(context.Context, io.Writer) error
	named bool // made only when it is named
}

func tables() []table {
	return []table{
		{"single", duel.ReportSingle, false},
		{"graphs", duel.ReportGraphs, false},
		{"whatif", duel.ReportWhatIf, false},
		{"cancel", duel.ReportCancel, false},
		{"catalog", registry.Report, true},
		{"resolve", resolution.Report, true},
		{"speed", resolution.ReportSpeed, true},
		{"scale", resolution.ReportScale, true},
		{"taints", taints.Report, true},
	}
}

// report writes the tables of the names given.
func report(ctx context.Context, w io.Writer, names []string) error {
	var known []string
	for _, t := range tables() {
		known = append(known, t.name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no table %q: there are %s", name, strings.Join(known, ", "))
		}
	}
	for _, t := range tables() {
		if slices.Contains(names, t.name) || len(names) == 0 && !t.named {
			if err := t.write(ctx, w); err != nil {
				return err
			}
		}
	}
	return nil
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
