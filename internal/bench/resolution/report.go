package resolution

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// tasks is how many tasks the report judges, runs how often OLM's resolver
// resolves each.
const (
	tasks = 20_000
	runs  = 4
)

// Report judges random tasks, and writes the outcome as a Markdown table. An
// error says that an answer of ours is wrong, that the tasks were too easy, or
// that w failed.
func Report(ctx context.Context, w io.Writer) error {
	tally, err := Run(ctx, tasks, runs)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, tally)
	return err
}

// String is the tally as Markdown tables, with an example of each kind of wrong
// answer.
func (a *Tally) String() string {
	var b strings.Builder
	fmt.Fprintln(&b, "| random namespaces | number | of a hundred |")
	fmt.Fprintln(&b, "|---|---|---|")
	row := func(name string, n, of int) {
		fmt.Fprintf(&b, "| %s | %d | %.1f |\n", name, n, 100*float64(n)/float64(max(of, 1)))
	}
	row("all", a.Tasks, a.Tasks)
	row("have no answer", a.Unsatisfiable, a.Tasks)
	row("have one, and need a better-looking candidate rejected", a.Hard, a.Tasks)
	row("fairlead: keeps all rules, or is right that nothing does", a.Tasks, a.Tasks)
	row("fairlead: shown to be the best by trying all that is better", a.Proven, a.Tasks)
	row(fmt.Sprintf("OLM: another answer or verdict in some of %d runs", a.Runs/max(a.Tasks, 1)), a.Unstable, a.Tasks)
	fmt.Fprintf(&b, "\n| OLM's answers | runs | of a hundred | in namespaces |\n|---|---|---|---|\n")
	verdicts := []Verdict{Same, OtherOrder, Worse, Verdict(Unserved), Verdict(Unmet), Verdict(Duplicate), Verdict(Prohibited), Verdict(Unwanted), Refused, Failed}
	for _, v := range verdicts {
		fmt.Fprintf(&b, "| %s | %d | %.2f | %d |\n", v, a.Verdicts[v], 100*float64(a.Verdicts[v])/float64(max(a.Runs, 1)), a.Touched[v])
	}
	b.WriteString("\n")
	for _, v := range verdicts {
		if text := a.Examples[v]; text != "" && slices.Contains(verdicts, v) {
			fmt.Fprintf(&b, "- %s: %s\n", v, text)
		}
	}
	return b.String()
}
