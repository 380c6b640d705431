package olm

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

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
	// None says what was tried without success, if there is no Advice.
	None string `json:"none,omitempty"`
}

// Finding is a fact, and the facts that it follows from.
type Finding struct {
	Text    string    `json:"text"`              // one line
	Because []Finding `json:"because,omitempty"` // in the order of preference of their subjects
}

// String returns what WriteText writes, without the last newline.
func (x *Explanation) String() string { return strings.Join(x.lines(ExplanationLines), "\n") }

// Within returns the text of String in at most the given number of bytes: the
// longest lines are cut short if necessary.
func (x *Explanation) Within(most int) string {
	lines := x.lines(ExplanationLines)
	text := strings.Join(lines, "\n")
	for width := len(text); len(text) > most && width > 0; width-- {
		short := make([]string, len(lines))
		for i, line := range lines {
			short[i] = words.Clip(line, width)
		}
		text = strings.Join(short, "\n")
	}
	return words.Clip(text, most-len("..."))
}

// WriteText writes the findings as an indented list, then the advice, in at
// most ExplanationLines lines; the JSON form of an Explanation is complete.
func (x *Explanation) WriteText(w io.Writer) error {
	_, err := io.WriteString(w, x.String()+"\n")
	return err
}

// WriteAll writes the same as WriteText, but without a limit on lines.
func (x *Explanation) WriteAll(w io.Writer) error {
	_, err := io.WriteString(w, strings.Join(x.lines(math.MaxInt32), "\n")+"\n")
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
	room := limit - len(advice)
	if x.None != "" {
		room--
	}
	if len(lines) > room {
		lines = append(lines[:room-1], fmt.Sprintf("  ... and %d more lines", len(lines)-room+1))
	}
	for _, a := range advice {
		lines = append(lines, "To do: "+a)
	}
	if x.None != "" {
		lines = append(lines, x.None)
	}
	return lines
}

// Explain works out the explanation: from minimal sets of facts that contradict
// each other, the closest alternatives in the catalogs and, by trial
// resolutions, what would help. All conflicts that have nothing in common are
// reported. The error is that of the context, or a *rule.BudgetError if rules
// used up Options.RuleBudget.
func (e *UnsatError) Explain(ctx context.Context) (*Explanation, error) {
	ctx, end := e.problem.q.budgeted(ctx)
	x, err := e.explain(ctx)
	return x, end(err)
}

func (e *UnsatError) explain(ctx context.Context) (*Explanation, error) {
	conflicts, err := e.conflict.Explain(ctx, &solver.ExplainOptions{MaxFixes: -1})
	if err != nil {
		return nil, err
	}
	out := &Explanation{}
	var cores [][]solver.Constraint
	for _, c := range conflicts.Conflicts {
		x := newExplainer(ctx, e.problem.q, c.Core)
		out.Findings = append(out.Findings, x.findings(c.Core)...)
		cores = append(cores, c.Core)
	}
	advice, none, err := e.advise(ctx, cores)
	if err != nil {
		return nil, err
	}
	out.Advice, out.None = advice, none
	return out, ctx.Err()
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
