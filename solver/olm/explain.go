package olm

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver"
)

// ExplanationLines is the maximum number of lines that String and WriteText
// use.
const ExplanationLines = 12

// Explanation says in the user's terms why a request cannot be satisfied and
// what would help.
type Explanation struct {
	// Findings are the obstacles, one for each subscription or installed operator
	// concerned.
	Findings []Finding `json:"findings"`
	// Advice is what users could do, the least intrusive first. Everything in it
	// was tried.
	Advice []string `json:"advice,omitempty"`
	// Steps are the changes of the first Advice, if each is one of an object of the namespace:
	// subscriptions as they are listed, then CSVs.
	Steps []Step `json:"-"`
	// None says what was tried without success, if there is no Advice.
	None string `json:"none,omitempty"`
	// NotMinimal reports that not all of the findings may matter: a smaller set of
	// facts that contradict each other was not found within the budget, or before
	// the context ended.
	NotMinimal bool `json:"notMinimal,omitempty"`
	// Ended says why the work on the explanation ended early, if it did: what is
	// said holds, but there may be more.
	Ended string `json:"ended,omitempty"`
}

// Finding is a fact, and the facts that it follows from.
type Finding struct {
	Text    string    `json:"text"`              // one line
	Because []Finding `json:"because,omitempty"` // in the order of preference of their subjects
}

// String returns what WriteText writes, without the last newline.
func (x *Explanation) String() string { return words.JoinLines(x.lines(ExplanationLines)) }

// Within returns the text of String in at most the given number of bytes: the
// longest lines are cut short if necessary.
func (x *Explanation) Within(most int) string {
	lines := x.lines(ExplanationLines)
	text := words.JoinLines(lines)
	for width := len(text); len(text) > most && width > 0; width-- {
		short := make([]string, len(lines))
		for i, line := range lines {
			short[i] = words.Clip(line, width)
		}
		text = words.JoinLines(short)
	}
	return words.Clip(text, most-len("..."))
}

// WriteText writes the findings as an indented list, then the advice, in at
// most ExplanationLines lines; the JSON form of an Explanation is complete.
func (x *Explanation) WriteText(w io.Writer) error {
	_, err := words.Fprintf(w, "%s\n", words.Text(x.String()))
	return err
}

// WriteAll writes the same as WriteText, but without a limit on lines.
func (x *Explanation) WriteAll(w io.Writer) error {
	_, err := words.Fprintf(w, "%s\n", words.Text(words.JoinLines(x.lines(math.MaxInt32))))
	return err
}

// Explain explains the answer: what serves each subscription, which preferred
// candidates could not be chosen, and what the operator requires in turn.
// Requirements that installed operators meet are left out.
func (res *Resolution) Explain() *Explanation {
	x := &Explanation{}
	told := make(map[string]bool)
	for _, o := range res.Subscriptions {
		if o.Blocked != nil {
			x.Findings = append(x.Findings, Finding{Text: "subscription " + o.Subscription + " is left out: it cannot be served together with the others"})
			continue
		}
		f := Finding{Text: fmt.Sprintf("subscription %s is served by %s", o.Subscription, o.Operator)}
		if !o.New {
			f.Text += ", which is installed"
		}
		if o.Operator == o.Head {
			f.Because = append(f.Because, Finding{Text: o.Operator + " is the head of its channel"})
		}
		for _, why := range o.Why {
			f.Because = append(f.Because, Finding{Text: why})
		}
		f.Because = append(f.Because, res.required(o.Operator, told)...)
		x.Findings = append(x.Findings, f)
	}
	for _, unsat := range res.Blocked {
		x.Findings = append(x.Findings, Finding{Text: "left out: " + unsat.Error()})
	}
	return x
}

// required returns what an operator requires and what was chosen for it, each
// operator once.
func (res *Resolution) required(by string, told map[string]bool) []Finding {
	if told[by] {
		return nil
	}
	told[by] = true
	var out []Finding
	for _, c := range res.Chosen {
		for _, r := range c.RequiredBy {
			if r.Operator == by {
				text := fmt.Sprintf("%s requires %s, which %s from channel %s of catalog %s meets", by, r.Text, c.Name, c.Channel, c.Source)
				out = append(out, Finding{Text: text, Because: res.required(c.Name, told)})
			}
		}
	}
	return out
}

// lines renders the explanation in at most limit lines: the advice gets at most
// a third of them, and findings that are left out are counted.
func (x *Explanation) lines(limit int) []string {
	advice := x.Advice[:min(len(x.Advice), limit/3)]
	var lines []string
	var walk func(f []Finding, indent string)
	walk = func(f []Finding, indent string) {
		for _, each := range f {
			lines = append(lines, indent+each.Text)
			walk(each.Because, indent+"  ")
		}
	}
	walk(x.Findings, "")
	var notes []string
	if x.NotMinimal {
		notes = append(notes, "These facts contradict each other; it was too hard to find out whether fewer do.")
	}
	if x.None != "" {
		notes = append(notes, x.None)
	}
	if x.Ended != "" {
		notes = append(notes, x.Ended)
	}
	room := limit - len(advice) - len(notes)
	if len(lines) > room {
		lines = append(lines[:room-1], fmt.Sprintf("  ... and %d more lines", len(lines)-room+1))
	}
	for _, a := range advice {
		lines = append(lines, "To do: "+a)
	}
	return append(lines, notes...)
}

// Explain works out the explanation: from minimal sets of facts that contradict
// each other, the closest alternatives in the catalogs and, by trial
// resolutions, what would help. All conflicts that have nothing in common are
// reported. The work is bounded, in units that are the same on every machine:
// what was not achieved is marked.
//
// If the context ends first, the error is of the context, and the explanation is
// what was found until then, which its Ended says. With a *rule.BudgetError,
// because rules used up Options.RuleBudget, there is no explanation.
func (e *UnsatError) Explain(ctx context.Context) (*Explanation, error) {
	own, end := e.problem.q.budgeted(ctx)
	x, err := e.explain(own)
	if err = end(err); err != nil && ctx.Err() != nil {
		if len(x.Findings) == 0 {
			x.Findings = []Finding{{Text: "nothing satisfies the request; why was not found out in time"}}
		}
		x.Ended = "The explanation is not complete: " + ctx.Err().Error() + "."
		return x, err
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

func (e *UnsatError) explain(ctx context.Context) (*Explanation, error) {
	out := &Explanation{}
	conflicts, err := e.conflict.Explain(ctx, &solver.ExplainOptions{MaxFixes: -1})
	var cores [][]solver.Constraint
	for _, c := range conflicts.Conflicts {
		if len(c.Core) > factsMax {
			out.Findings = append(out.Findings, Finding{Text: summary(c.Core)})
		}
		x := newExplainer(ctx, e.problem.q, c.Core)
		out.Findings = append(out.Findings, x.findings(c.Core)...)
		out.NotMinimal = out.NotMinimal || !c.Minimal
		cores = append(cores, c.Core)
	}
	if err != nil {
		return out, err
	}
	out.Advice, out.Steps, out.None, err = e.advise(ctx, cores)
	return out, cmp.Or(err, ctx.Err())
}

// factsMax is the number of facts up to which a conflict is told without a
// summary.
const factsMax = 50

// summary says which subscriptions a conflict of many facts is about.
func summary(core []solver.Constraint) string {
	var of []string
	for _, c := range core {
		switch why := c.Why.(type) {
		case *subNeeds:
			of = append(of, "subscription "+why.sub.Name)
		case *csvExists:
			of = append(of, "installed operator "+why.csv.name)
		}
	}
	return fmt.Sprintf("no choice of versions serves %s: %d facts contradict each other, among them these", listNames(of), len(core))
}

// findings reports first the operators that exclude each other and then, from
// each subscription and unsubscribed operator down, the other obstacles.
func (x *explainer) findings(core []solver.Constraint) []Finding {
	out := x.conflicts()
	x.brief = len(out) > 0
	for _, c := range core {
		switch why := c.Why.(type) {
		case *subInvalid:
			out = append(out, x.invalid(why.sub))
		case *subNeeds:
			if f := x.subscription(why); len(f.Because) > 0 || !x.brief {
				out = append(out, f)
			}
		case *csvExists:
			if f := x.describe(why.csv, why); len(f) > 0 {
				text := fmt.Sprintf("%s, which is installed and no subscription refers to, cannot stay", why.csv.name)
				out = append(out, Finding{Text: text, Because: f})
			}
		}
	}
	return out
}
