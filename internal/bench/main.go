// Command bench solves the same problems with fairlead and with its peers,
// judges the answers, and prints what they cost as Markdown tables: those named
// by the arguments, or those that need no real catalogs and little time. With
// "update" and files that contain the output of benchmarks, it updates the tables
// of both READMEs.
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
	"github.com/fairlead/fairlead/internal/bench/hard"
	"github.com/fairlead/fairlead/internal/bench/registry"
	"github.com/fairlead/fairlead/internal/bench/resolution"
	"github.com/fairlead/fairlead/internal/bench/table"
	"github.com/fairlead/fairlead/internal/bench/taints"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if child, err := cost.Child(ctx, append(registry.Tasks(), resolution.Tasks()...)...); child {
		exit(err)
	}
	if len(os.Args) > 1 && os.Args[1] == "update" {
		exit(update(os.Args[2:]))
	}
	out := bufio.NewWriter(os.Stdout)
	err := report(ctx, out, os.Args[1:])
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	exit(err)
}

// update writes the tables of both READMEs from the output of benchmarks.
func update(files []string) error {
	var output []io.Reader
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		output = append(output, f)
	}
	results, err := table.Read(io.MultiReader(output...))
	if err != nil {
		return err
	}
	for _, name := range []string{"README.md", "../../README.md"} {
		old, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		doc, err := results.Update(string(old))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(name, []byte(doc), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// A reporter writes a table that can be requested.
type reporter struct {
	name  string
	write func(context.Context, io.Writer) error
	named bool // written only if it is named
}

func reporters() []reporter {
	return []reporter{
		{"whatif", duel.ReportWhatIf, false},
		{"cancel", duel.ReportCancel, false},
		{"hard", hard.Report, true},
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
	for _, t := range reporters() {
		known = append(known, t.name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no table %q: there are %s", name, strings.Join(known, ", "))
		}
	}
	for _, t := range reporters() {
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
