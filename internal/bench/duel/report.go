package duel

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// workload is a row of the table of single problems.
type workload struct {
	name    string
	problem *Problem
}

func workloads() []workload {
	ws := []workload{
		{"upstream benchmark, n=256, seed 9", Upstream(256, 9)},
		{"upstream generator, n=1024, seed 10", Upstream(1024, 10)},
		{"upstream generator, n=1024, seed 9", Upstream(1024, 9)},
		{"upstream generator, n=2048, seed 17", Upstream(2048, 17)},
	}
	for _, n := range []int{30, 100, 300, 1000} {
		ws = append(ws, workload{fmt.Sprintf("one subscription, %d versions", n), Versions(n)})
	}
	return ws
}

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

// ReportSingle writes what single problems cost each solver, after judging its answers.
func ReportSingle(ctx context.Context, w io.Writer) error {
	fmt.Fprintln(w, "| workload | answer | fairlead | OLM | deppy | OLM takes | of OLM's bytes | stating ours first | with that, OLM takes | of OLM's bytes | peers' answers |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|")
	for _, work := range workloads() {
		d, err := Run(ctx, work.problem)
		if err != nil {
			return fmt.Errorf("%s: %w", work.name, err)
		}
		cells := []string{work.name, "none"}
		if d.Satisfiable {
			cells[1] = "found"
		}
		for _, c := range d.Costs {
			cells = append(cells, fmt.Sprintf("%s, %s, %d allocs", duration(c.Time), size(c.Bytes), c.Allocs))
		}
		ours, olm := d.Costs[0], d.Costs[1]
		whole := Cost{Time: ours.Time + d.Stating.Time, Bytes: ours.Bytes + d.Stating.Bytes}
		cells = append(cells, ratio(olm.Time, ours.Time)+" x", "1/"+ratio(olm.Bytes, ours.Bytes),
			duration(d.Stating.Time)+", "+size(d.Stating.Bytes),
			ratio(olm.Time, whole.Time)+" x", "1/"+ratio(olm.Bytes, whole.Bytes),
			verdicts(d.Verdicts))
		row(w, cells)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// ratio says how many times b is in a.
func ratio[N ~int64 | ~uint64](a, b N) string { return fmt.Sprintf("%.1f", float64(a)/float64(b)) }

func verdicts(vs []Verdict) string {
	words := map[Verdict]string{Optimal: "right", Worse: "not the best", Violates: "breaks a constraint", Disagree: "another verdict"}
	var all []string
	for _, v := range vs {
		all = append(all, words[v])
	}
	return strings.Join(all, ", ")
}

// ReportGraphs writes what random package graphs cost each solver, and how many of its
// answers are wrong.
func ReportGraphs(ctx context.Context, w io.Writer) error {
	fmt.Fprintln(w, "| graphs | problems | with an answer | fairlead mean, max | OLM mean, max | deppy mean, max | OLM takes | OLM breaks a constraint, misses the best, other verdict | deppy the same |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	for _, g := range graphs() {
		t, err := RunGraphs(ctx, g)
		if err != nil {
			return err
		}
		cells := []string{g.String(), fmt.Sprint(t.Problems), fmt.Sprint(t.Satisfiable)}
		for i := range t.Sum {
			cells = append(cells, duration(t.Sum[i]/time.Duration(t.Problems))+", "+duration(t.Max[i]))
		}
		cells = append(cells, fmt.Sprintf("%.1f x", float64(t.Sum[1])/float64(t.Sum[0])))
		for _, v := range t.Verdicts {
			cells = append(cells, fmt.Sprintf("%d, %d, %d", v[Violates], v[Worse], v[Disagree]))
		}
		row(w, cells)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// ReportWhatIf writes what asking again under a supposition costs ours, against solving
// anew.
func ReportWhatIf(ctx context.Context, w io.Writer) error {
	fmt.Fprintln(w, "| graphs, each pick forbidden in turn | suppositions | Solve, mean | Session.Solve, mean | Solve takes |")
	fmt.Fprintln(w, "|---|---|---|---|---|")
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
		row(w, []string{
			g.String(), fmt.Sprint(s.Count), duration(s.Cold / time.Duration(s.Count)), duration(s.Warm / time.Duration(s.Count)),
			fmt.Sprintf("%.1f x", float64(s.Cold)/float64(s.Warm)),
		})
	}
	_, err := fmt.Fprintln(w)
	return err
}

// ReportCancel writes how soon each solver returns when its context ends.
func ReportCancel(ctx context.Context, w io.Writer) error {
	const times = 200
	pigeons := Pigeonhole(10)
	fmt.Fprintln(w, "| ten pigeons, nine holes; the context ends after 1 to 50 ms | back after: median | 99th percentile | longest | in time of the processors: median | 99th percentile | longest |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	for i, s := range Solvers() {
		n := times
		if i > 0 {
			n = 1 // the peers do not look at it
		}
		late, err := Cancel(ctx, s, pigeons, n)
		if err != nil {
			return err
		}
		cells := []string{fmt.Sprintf("%s, %d times", s.Name, n)}
		for _, l := range [][]time.Duration{late.Clock, late.CPU} {
			cells = append(cells, duration(l[n/2]), duration(l[n*99/100]), duration(l[n-1]))
		}
		row(w, cells)
	}
	_, err := fmt.Fprintln(w)
	return err
}

func row(w io.Writer, cells []string) {
	fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
}

// duration writes three digits and a unit.
func duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.3g us", float64(d)/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.3g s", d.Seconds())
}

func size(bytes uint64) string {
	switch {
	case bytes < 1e6:
		return fmt.Sprintf("%.3g kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.3g MB", float64(bytes)/1e6)
}
