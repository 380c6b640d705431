package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
)

// NoPlanError says that no plan leads to the goal, and why.
type NoPlanError struct {
	From  string   `json:"from"`            // the current release
	To    string   `json:"to,omitempty"`    // the requested release
	Facts []string `json:"facts"`           // what together rules out every plan; without any one of them the rest would not
	Fixes []Fix    `json:"fixes,omitempty"` // what would help; each was tried
	// Reasons are the facts for programs, in the order of Facts.
	Reasons []Fact `json:"reasons,omitempty"`
}

// Fact is the reason of a fact, and what it is about.
type Fact struct {
	Reason  FactReason `json:"reason"`            // which kind of fact
	Subject string     `json:"subject,omitempty"` // the name of what it is about, as the reason says; may be empty
}

// Change is one change of the situation, the goal or the policy.
type Change struct {
	Kind    string `json:"kind"`              // what is done, such as AcceptRisk or RepairOperator
	Subject string `json:"subject,omitempty"` // the name of what it is done to; may be empty
}

// Fix is what would make a plan possible: changes, all of which are needed. It was tried:
// the changed situation has a plan.
type Fix struct {
	Do      []string `json:"do"`                // the changes, as text
	Changes []Change `json:"changes,omitempty"` // the same for programs, in the order of Do
	Steps   int      `json:"steps"`             // of the plan that is then possible
	Takes   string   `json:"takes"`             // how long that plan takes: "about 1h05m", or "under 1m"
}

// Result describes the plan that is then possible: "6 steps, about 3h", or "nothing else to
// do" if it has no steps.
func (f Fix) Result() string {
	if f.Steps == 0 {
		return "nothing else to do"
	}
	return count(f.Steps, "step") + ", " + f.Takes
}

// MaxLines is the maximum number of lines in the text of a NoPlanError.
const MaxLines = 12

// Error says why there is no plan, and what would help, in at most MaxLines lines.
func (e *NoPlanError) Error() string {
	var b strings.Builder
	if e.To == "" || e.To == e.From {
		fmt.Fprintf(&b, "there is no plan at %s:", e.From)
	} else {
		fmt.Fprintf(&b, "there is no plan from %s to %s:", e.From, e.To)
	}
	room := MaxLines - 1 - min(len(e.Fixes), maxFixes) - 1
	for i, f := range e.Facts {
		if i == room-1 && len(e.Facts) > room {
			fmt.Fprintf(&b, "\n- and %d more", len(e.Facts)-i)
			break
		}
		words.Fprintf(&b, "\n- %s", f)
	}
	if len(e.Fixes) == 0 && slices.ContainsFunc(e.Reasons, func(f Fact) bool {
		return f.Reason == FactNoUpdates || f.Reason == FactNoPath || f.Reason == FactUpdatesUnknown
	}) {
		return b.String() // what helps cannot be tried before the updates are known
	}
	if len(e.Fixes) == 0 {
		b.WriteString("\nNothing that was tried leads to a plan.")
		return b.String()
	}
	b.WriteString("\nEach of these was tried and leads to a plan:")
	for _, f := range e.Fixes {
		words.Fprintf(&b, "\n- %s (then %s)", strings.Join(f.Do, "; and "), f.Result())
	}
	return b.String()
}

const (
	maxFixes  = 4  // that are listed
	maxTries  = 12 // attempts for them
	maxChange = 6  // changes in one fix
)

// refuse explains why there is no plan, and tries what would help.
func (in *input) refuse(ctx context.Context, no *noPlan) error {
	e := &NoPlanError{From: in.Situation.Cluster.Runs(), To: no.target}
	if e.To == "" {
		e.To = e.From
	}
	for _, f := range no.facts {
		if !f.plain {
			e.Facts, e.Reasons = append(e.Facts, f.text), append(e.Reasons, Fact{f.reason, f.subject})
		}
	}
	if len(e.Facts) == 0 {
		e.Facts, e.Reasons = []string{no.facts[0].text}, []Fact{{no.facts[0].reason, no.facts[0].subject}}
	}
	tries := 0
	attempt := func(fixes []fix) (*Plan, *noPlan, error) {
		tries++
		other := in.variant()
		for _, f := range fixes {
			f.apply(other)
		}
		return other.plan(ctx)
	}
	for _, x := range fixesOf(no.facts) {
		if len(e.Fixes) == maxFixes || tries >= maxTries {
			break
		}
		changes := []fix{x}
		p, rest, err := attempt(changes)
		for err == nil && p == nil && len(changes) < maxChange && tries < maxTries {
			more := fixesOf(rest.facts)
			more = slices.DeleteFunc(more, func(y fix) bool {
				return slices.ContainsFunc(changes, func(x fix) bool { return x.text == y.text })
			})
			if len(more) == 0 {
				break
			}
			changes = append(changes, more[0])
			p, rest, err = attempt(changes)
		}
		if err != nil {
			return err
		}
		for i := 0; p != nil && i < len(changes) && len(changes) > 1; { // drop what is not needed
			fewer := slices.Delete(slices.Clone(changes), i, i+1)
			q, _, err := attempt(fewer)
			if err != nil {
				return err
			}
			if q == nil {
				i++
				continue
			}
			changes, p = fewer, q
		}
		if p != nil {
			e.add(changes, p)
		}
	}
	slices.SortStableFunc(e.Fixes, func(a, b Fix) int { return len(a.Do) - len(b.Do) })
	return e
}

// fixesOf returns what may help against facts, the least work for people first.
func fixesOf(facts []*fact) []fix {
	var list []fix
	for _, f := range facts {
		list = append(list, f.fixes...)
	}
	slices.SortStableFunc(list, func(a, b fix) int { return a.cost - b.cost })
	return list
}

func (e *NoPlanError) add(changes []fix, p *Plan) {
	x := Fix{Steps: len(p.Steps), Takes: words.About(p.Takes)}
	changes = slices.Clone(changes)
	slices.SortFunc(changes, func(a, b fix) int { return strings.Compare(a.text, b.text) })
	for _, c := range changes {
		x.Do, x.Changes = append(x.Do, c.text), append(x.Changes, Change{c.kind, c.subject})
	}
	for _, y := range e.Fixes {
		if slices.Equal(x.Do, y.Do) {
			return
		}
	}
	e.Fixes = append(e.Fixes, x)
}

// count writes a number of things.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
