package resolution

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/internal/bench/cost"
)

// tasks is how many tasks the report judges, runs how often OLM's resolver
// resolves each.
const (
	tasks = 20_000
	runs  = 3

	deepRuns = 1000 // of one task on which OLM's resolver is known to go astray
)

// Report judges random tasks, and writes the outcome as a Markdown table. An
// error says that an answer of ours is wrong, that the tasks were too easy, or
// that w failed.
func Report(ctx context.Context, w io.Writer) error {
	tally, err := Run(ctx, tasks, runs)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, tally)
	deep, err := DeepConflict(ctx)
	if err != nil {
		return err
	}
	j, err := Judge(ctx, deep, deepRuns)
	if err != nil {
		return fmt.Errorf("deep conflict: %w", err)
	}
	tally = newTally()
	tally.add("deep conflict", j)
	fmt.Fprintf(w, "One namespace, the same %d times: four subscriptions, a conflict that shows late.\n\n", deepRuns)
	tally.peers(w)
	_, err = fmt.Fprintln(w)
	return err
}

// String returns the tally as Markdown tables, with an example of each kind of wrong
// answer.
func (a *Tally) String() string {
	var b strings.Builder
	cost.Head(&b, "random namespaces", "number", "of a hundred")
	row := func(name string, n, of int) {
		cost.Row(&b, name, fmt.Sprint(n), fmt.Sprintf("%.1f", 100*float64(n)/float64(max(of, 1))))
	}
	row("all", a.Tasks, a.Tasks)
	row("have no answer", a.Unsatisfiable, a.Tasks)
	row("have one, and need a better-looking candidate rejected", a.Hard, a.Tasks)
	row("fairlead: keeps all rules, or is right that nothing does", a.Tasks, a.Tasks)
	row("fairlead: shown to be the best by trying all that is better", a.Proven, a.Tasks)
	row(fmt.Sprintf("OLM: another answer or verdict in some of %d runs", a.Runs/max(a.Tasks, 1)), a.Unstable, a.Tasks)
	b.WriteString("\n")
	a.peers(&b)
	return b.String()
}

// peers writes how good OLM's answers are, with an example of each kind.
func (a *Tally) peers(w io.Writer) {
	cost.Head(w, "OLM's answers", "runs", "of a hundred", "in namespaces")
	verdicts := []Verdict{Same, OtherOrder, Worse, Verdict(Unserved), Verdict(Unmet), Verdict(Duplicate), Verdict(Prohibited), Verdict(Unwanted), Refused, Failed}
	for _, v := range verdicts {
		cost.Row(w, string(v), fmt.Sprint(a.Verdicts[v]), fmt.Sprintf("%.2f", 100*float64(a.Verdicts[v])/float64(max(a.Runs, 1))), fmt.Sprint(a.Touched[v]))
	}
	fmt.Fprintln(w)
	for _, v := range verdicts {
		if text := a.Examples[v]; text != "" {
			fmt.Fprintf(w, "- %s: %s\n", v, text)
		}
	}
}
