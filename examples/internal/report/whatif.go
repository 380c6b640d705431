package report

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/words"
)

// Change is what the reader of a page wants to try.
type Change struct {
	To     string   `json:"to,omitempty"`     // the release to plan for; empty for that of the page
	Accept []string `json:"accept,omitempty"` // risks, by name
	Drain  []string `json:"drain,omitempty"`  // nodes to take out of service, by name
	// Subscribe are packages to install, as in etcd or, with a channel, etcd/stable.
	Subscribe []string `json:"subscribe,omitempty"`
	// Suppose are other changes, one after the other.
	Suppose []Tried `json:"suppose,omitempty"`
}

// Tried is a change of one object, as a page names it.
type Tried struct {
	What diagnosis.What `json:"what"` // which change
	Name string         `json:"name"` // as in worker-0, shop/web or Deployment shop/web
}

// question is a question of a live page to its engines.
type question struct {
	Input  *embedded `json:"input"`  // the input of the page
	Before *Report   `json:"before"` // the report on that
	Change Change    `json:"change"` // to be tried
}

// Answer is the answer of the engines. The first screen of the changed cluster is there before the rest
// of its page: an answer may come twice, with First alone and then whole.
type Answer struct {
	First string `json:"first,omitempty"` // the first screens before and after, as HTML
	HTML  string `json:"html"`            // the page of the changed situation; its #answer compares the first screens
	Says  []Said `json:"says"`            // what is different there, the most important first
}

// Said is a sentence.
type Said struct {
	Tone Tone   `json:"tone"` // whether that is good or bad
	Text string `json:"text"` // the sentence
}

// Reply reads a question as JSON, as system.js builds it, and writes the [Answer], each on a line.
func Reply(ctx context.Context, from io.Reader, to io.Writer) error {
	q := &question{}
	if err := json.NewDecoder(from).Decode(q); err != nil {
		return fmt.Errorf("question: %w", err)
	}
	out := json.NewEncoder(to)
	a, err := q.answer(ctx, func(first string) error { return out.Encode(Answer{First: first}) })
	if err != nil {
		return err
	}
	return out.Encode(a)
}

// answer calls early with the first screens once they are known.
func (q *question) answer(ctx context.Context, early func(string) error) (*Answer, error) {
	if q.Input == nil || q.Input.Situation == nil || q.Before == nil {
		return nil, fmt.Errorf("question: it has no situation, or no report of it")
	}
	in, err := q.Input.input()
	if err != nil {
		return nil, fmt.Errorf("question: %w", err)
	}
	in, err = q.Change.apply(in)
	if err != nil {
		return nil, err
	}
	says, err := in.subscribe(ctx, q.Change.Subscribe)
	if err != nil {
		return nil, err
	}
	l := &live{}
	what := q.Change.String()
	if what != "" && in.Diagnosis != nil && q.Before.Diagnosis != nil {
		first := &Report{}
		first.verdict(in.Diagnosis)
		l.Compared = compare(what, q.Before.Diagnosis, first.Diagnosis)
		html, err := l.Compared.html()
		if err == nil {
			err = early(html)
		}
		if err != nil {
			return nil, err
		}
	}
	after, err := Make(ctx, in)
	if err != nil {
		return nil, err
	}
	if l.Compared != nil {
		after.If = what
	}
	var page strings.Builder
	if err := after.write(&page, l); err != nil {
		return nil, err
	}
	return &Answer{HTML: page.String(), Says: slices.Concat(says, after.since(q.Before), after.drained(q.Change.Drain))}, nil
}

// apply returns the changed input, which shares unchanged parts with the old one.
func (c *Change) apply(old *Input) (*Input, error) {
	in := *old
	for _, name := range c.Drain {
		if !slices.ContainsFunc(in.Situation.Nodes, func(n fairlead.Node) bool { return n.Name == name }) {
			return nil, fmt.Errorf("node %s: there is no such node", name)
		}
	}
	if err := c.suppose(&in); err != nil {
		return nil, err
	}
	policy := plan.Policy{}
	if in.Policy != nil {
		policy = *in.Policy
	}
	policy.Accept = append(slices.Clip(policy.Accept), c.Accept...)
	in.Policy = &policy
	if c.To == "" && len(c.Drain) == 0 {
		return &in, nil
	}
	goal := plan.Goal{}
	if in.Goal != nil {
		goal = *in.Goal
	}
	if c.To != "" {
		goal.Release, goal.Minor, goal.Newest = c.To, "", false
	}
	goal.Nodes = append(slices.Clip(goal.Nodes), c.Drain...)
	in.Goal = &goal
	return &in, nil
}

// since returns the differences from an earlier report.
func (r *Report) since(before *Report) (says []Said) {
	say := func(tone Tone, format string, args ...any) {
		says = append(says, Said{tone, fmt.Sprintf(format, args...)})
	}
	was, is := before.Plan, r.Plan
	if a, b := was.summary(), is.summary(); a != b {
		tone := Note
		switch {
		case is.none():
			tone = Bad
		case is.undecided():
			tone = Warning
		case was.none() && is != nil:
			tone = Good
		}
		say(tone, "Before: %s. Now: %s.", a, b)
	}
	switch {
	case is.none():
		gone, came := difference(was.facts(), is.facts())
		for _, s := range came {
			say(Bad, "Why there is no plan: %s", s)
		}
		for _, s := range gone {
			say(Note, "No longer a reason: %s", s)
		}
	case was.found() && is.found(): // else the page shows all steps
		gone, came := difference(was.steps(), is.steps())
		for _, s := range came {
			say(Note, "New in the plan: %s", s)
		}
		for _, s := range gone {
			say(Note, "No longer in the plan: %s", s)
		}
	}
	gone, came := difference(before.titles(), r.titles())
	for _, s := range came {
		say(Warning, "New finding: %s", s)
	}
	for _, s := range gone {
		say(Good, "Resolved: %s", s)
	}
	return says
}

// drained reports the results of the drains of nodes.
func (r *Report) drained(nodes []string) (says []Said) {
	if r.Nodes == nil || len(r.Nodes.Stuck) == 0 {
		return nil
	}
	for _, name := range nodes {
		switch i := slices.Index(r.Nodes.Name, name); {
		case r.Nodes.Stuck[i] > 0:
			says = append(says, Said{Bad, fmt.Sprintf("The drain of %s does not complete: %s", name, r.Nodes.Stucks[r.Nodes.Stuck[i]])})
		case r.Nodes.Rounds[i] > 0:
			says = append(says, Said{Good, fmt.Sprintf("The drain of %s completes after %s of evictions", name, words.Count(r.Nodes.Rounds[i], "round", "rounds"))})
		default:
			says = append(says, Said{Good, fmt.Sprintf("The drain of %s evicts nothing", name)})
		}
	}
	return says
}

// none reports whether there is no plan.
func (p *Plan) none() bool { return p != nil && p.None != nil }

// undecided reports whether it is unknown if there is a plan.
func (p *Plan) undecided() bool { return p != nil && p.Undecided != "" }

// found reports whether there is a plan.
func (p *Plan) found() bool { return p != nil && !p.none() && !p.undecided() }

// Stays reports whether the goal is not another release.
func (p *Plan) Stays() bool { return p.To == "" || p.To == p.From }

// summary describes the result of planning.
func (p *Plan) summary() string {
	switch {
	case p == nil:
		return "nothing is planned"
	case p.none() && p.Stays():
		return "there is no plan"
	case p.none():
		return "there is no plan to " + p.To
	case p.undecided():
		return "whether there is a plan could not be decided: " + p.Undecided
	case len(p.Steps) == 0:
		return "nothing needs to be done"
	}
	return fmt.Sprintf("%s to %s, %s, %s", words.Count(len(p.Steps), "step", "steps"), p.To, p.Takes, words.Count(p.Cost.Restarts, "node restart", "node restarts"))
}

// steps are the steps of a plan.
func (p *Plan) steps() (list []string) {
	for i := range p.Steps {
		list = append(list, p.Steps[i].String())
	}
	return list
}

// facts are what rules out a plan; none if there is one.
func (p *Plan) facts() []string {
	if !p.none() {
		return nil
	}
	return p.None.Facts
}

func (r *Report) titles() (list []string) {
	for i := range r.Findings {
		list = append(list, r.Findings[i].Title)
	}
	return list
}

// difference returns the elements that only the one list has, and those that only the other has.
func difference(before, after []string) (gone, came []string) {
	missing := func(from, in []string) (list []string) {
		have := map[string]bool{}
		for _, s := range in {
			have[s] = true
		}
		for _, s := range from {
			if !have[s] {
				list = append(list, s)
			}
		}
		return list
	}
	return missing(before, after), missing(after, before)
}
