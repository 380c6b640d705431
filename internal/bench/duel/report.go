package duel

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/bench/cost"
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
	cost.Head(w, "workload", "answer", "fairlead", "OLM", "deppy", "OLM takes", "of OLM's bytes", "stating ours first", "with that, OLM takes", "of OLM's bytes", "peers' answers")
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
			cells = append(cells, fmt.Sprintf("%s, %s, %d allocs", cost.Duration(c.Time), cost.Size(c.Bytes), c.Allocs))
		}
		ours, olm := d.Costs[0], d.Costs[1]
		whole := cost.Cost{Time: ours.Time + d.Stating.Time, Bytes: ours.Bytes + d.Stating.Bytes}
		cells = append(cells, cost.Ratio(olm.Time, ours.Time)+" x", "1/"+cost.Ratio(olm.Bytes, ours.Bytes),
			cost.Duration(d.Stating.Time)+", "+cost.Size(d.Stating.Bytes),
			cost.Ratio(olm.Time, whole.Time)+" x", "1/"+cost.Ratio(olm.Bytes, whole.Bytes),
			verdicts(d.Verdicts))
		cost.Row(w, cells...)
	}
	_, err := fmt.Fprintln(w)
	return err
}

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
	cost.Head(w, "graphs", "problems", "with an answer", "fairlead mean, max", "OLM mean, max", "deppy mean, max", "OLM takes", "OLM breaks a constraint, misses the best, other verdict", "deppy the same")
	for _, g := range graphs() {
		t, err := RunGraphs(ctx, g)
		if err != nil {
			return err
		}
		cells := []string{g.String(), fmt.Sprint(t.Problems), fmt.Sprint(t.Satisfiable)}
		for i := range t.Sum {
			cells = append(cells, cost.Duration(t.Sum[i]/time.Duration(t.Problems))+", "+cost.Duration(t.Max[i]))
		}
		cells = append(cells, fmt.Sprintf("%.1f x", float64(t.Sum[1])/float64(t.Sum[0])))
		for _, v := range t.Verdicts {
			cells = append(cells, fmt.Sprintf("%d, %d, %d", v[Violates], v[Worse], v[Disagree]))
		}
		cost.Row(w, cells...)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// ReportWhatIf writes what asking again under a supposition costs ours, against solving
// anew.
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
	cost.Head(w, "ten pigeons, nine holes; the context ends after 1 to 50 ms", "back after: median", "99th percentile", "longest", "in time of the processors: median", "99th percentile", "longest")
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
			cells = append(cells, cost.Duration(l[n/2]), cost.Duration(l[n*99/100]), cost.Duration(l[n-1]))
		}
		cost.Row(w, cells...)
	}
	_, err := fmt.Fprintln(w)
	return err
}
