package duel

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/fairlead/fairlead/internal/bench/cost"
)

func graphs() []Graph {
	return []Graph{
		{Packages: 20, Versions: 4, Needs: 2, Subscriptions: 4, Window: 2, Seeds: 1000},
		{Packages: 30, Versions: 5, Needs: 2, Subscriptions: 10, Window: 3, Seeds: 1000},
		{Packages: 60, Versions: 8, Needs: 2, Subscriptions: 10, Window: 3, Seeds: 200},
		{Packages: 60, Versions: 8, Needs: 2, Subscriptions: 10, Window: 4, Seeds: 200},
		{Packages: 100, Versions: 10, Needs: 2, Subscriptions: 20, Window: 4, Seeds: 40},
		{Packages: 100, Versions: 10, Needs: 2, Subscriptions: 20, Window: 6, Seeds: 40},
		{Packages: 300, Versions: 20, Needs: 2, Subscriptions: 40, Window: 15, Seeds: 10},
	}
}

// ReportWhatIf writes what it costs our solver to answer again under a supposition,
// compared with solving from scratch.
func ReportWhatIf(ctx context.Context, w io.Writer) error {
	cost.Head(w, "graphs, each pick forbidden in turn", "suppositions", "Solve, mean", "Session.Solve, mean", "Solve takes")
	for _, g := range graphs() {
		g.Seeds = min(g.Seeds, 40)
		if g.Versions > 10 {
			continue // one of them has hundreds of picks
		}
		s, err := RunWhatIf(ctx, g)
		if err != nil {
			return err
		}
		if s.Count == 0 {
			continue // too few graphs of this kind have an answer
		}
		cost.Row(w,
			g.String(), fmt.Sprint(s.Count), cost.Duration(s.Cold/time.Duration(s.Count)), cost.Duration(s.Warm/time.Duration(s.Count)),
			fmt.Sprintf("%.1f x", float64(s.Cold)/float64(s.Warm)),
		)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// ReportCancel writes how soon each solver returns when its context ends.
func ReportCancel(ctx context.Context, w io.Writer) error {
	const times = 200
	pigeons := Pigeonhole(10)
	cost.Head(w, "ten pigeons, nine holes; the context ends after 1 to 50 ms", "back after: median", "99th percentile", "longest", "in processor time: median", "99th percentile", "longest")
	for i, s := range Solvers() {
		n := times
		if i > 0 {
			n = 1 // the peers do not check it
		}
		late, err := Cancel(ctx, s, pigeons, n)
		if err != nil {
			return err
		}
		cells := []string{fmt.Sprintf("%s, %d times", s.Name, n)}
		for _, l := range [][]time.Duration{late.Clock, late.CPU} {
			cells = append(cells, cost.Duration(l[n/2]), cost.Duration(l[n*99/100]), cost.Duration(l[n-1]))
		}
		cost.Row(w, cells...)
	}
	_, err := fmt.Fprintln(w)
	return err
}
