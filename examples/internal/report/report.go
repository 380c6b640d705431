// Package report makes one page from what is known about a cluster: what to do first, the plan,
// the updates that are offered, operators, nodes, drains, taints, and findings by
// cause. The page is one file, which links to nothing and contains its data as JSON.
package report

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/machines"
	"github.com/fairlead/fairlead/internal/diagram"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/solver/olm"
)

// Input is the input of a report. Live pages contain it as JSON.
type Input struct {
	Source     string                `json:"source"`               // where it was read, for the page
	Name       string                `json:"name,omitempty"`       // what the cluster calls itself; may be empty
	Situation  *plan.Situation       `json:"situation"`            // the cluster; Cluster may be nil: it is not OpenShift, or it was not read
	Goal       *plan.Goal            `json:"goal,omitempty"`       // what is planned; nil plans nothing
	Policy     *plan.Policy          `json:"policy,omitempty"`     // how to plan it
	Alerts     []cvo.Alert           `json:"alerts"`               // of the cluster's monitoring; nil: not read
	DaemonSets []fairlead.ObjectMeta `json:"daemonSets,omitempty"` // see Listed
	Listed     bool                  `json:"listed,omitempty"`     // whether DaemonSets are known
	Around     machines.Around       `json:"around,omitzero"`      // what explains the machines of the situation
	// Catalog contains what can be subscribed to, see [Slim]; it may be empty. Installed are
	// the CSVs of the cluster. Only what-if questions need them.
	Catalog   string                      `json:"catalog,omitempty"`
	Installed []olm.ClusterServiceVersion `json:"installed,omitempty"` // see Catalog
	// Diagnosis is what the cluster waits for, and what to do next; nil if nobody asked.
	Diagnosis *diagnosis.Diagnosis `json:"-"`
	// Snapshot is what is known of the cluster, and Looked when it was looked at: answers to what-if
	// questions have a diagnosis of it; nil: they have none. Its lists and those of the situation are the same.
	Snapshot *snapshot.Snapshot `json:"snapshot,omitempty"`
	Looked   time.Time          `json:"looked,omitzero"` // see Snapshot
}

// Report is what is known about a cluster. Its JSON is the data of the page.
type Report struct {
	Format    int          `json:"format"`              // of this document: 1
	Source    string       `json:"source"`              // where it was read
	Name      string       `json:"name,omitempty"`      // the cluster's identity
	Called    string       `json:"called,omitempty"`    // what the cluster calls itself
	At        time.Time    `json:"at,omitzero"`         // when the cluster was dumped
	Headline  string       `json:"headline"`            // the most important fact, in a sentence
	If        string       `json:"if,omitempty"`        // what is supposed; empty for the cluster as it is
	Tone      Tone         `json:"tone"`                // of the headline
	First     []Advice     `json:"first,omitempty"`     // what to do first, at most five
	Diagnosis *Verdict     `json:"diagnosis,omitempty"` // the first screen; nil if nobody asked
	Facts     []Fact       `json:"facts"`               // the cluster in figures
	Plan      *Plan        `json:"plan,omitempty"`      // nil: no goal was given
	Update    *Update      `json:"update,omitempty"`    // nil: no ClusterVersion
	Operators []Operator   `json:"operators,omitempty"` // those that are not part of the release
	Pools     []Pool       `json:"pools,omitempty"`     // the control plane first
	Nodes     *Nodes       `json:"nodes,omitempty"`     // nil: not read
	Workloads *Workloads   `json:"workloads,omitempty"` // likewise
	Budgets   *Budgets     `json:"budgets,omitempty"`   // likewise; those that concern drains
	Machines  *Machines    `json:"machines,omitempty"`  // nil: none is being deleted, or not read
	Taints    []TaintClass `json:"taints,omitempty"`    // the sets of taints that nodes have
	Findings  []Group      `json:"findings,omitempty"`  // by cause, worst first
	Gaps      []cvo.Gap    `json:"gaps,omitempty"`      // what is not known, and how to find out
	policy    *drain.Policy
	timeline  string // pictures
	releases  string
	operators string
	strips    string
	gauges    string
	waits     string
	sofar     string
	history   *diagram.Gantt // of the update under way; nil for none
}

// Tone is how good or bad something is.
type Tone string

// The tones.
const (
	Good    Tone = "good"
	Note    Tone = "note"
	Warning Tone = "warning"
	Bad     Tone = "bad"
)

// Advice is something to do.
type Advice struct {
	Text    string `json:"text"`              // what to do
	Why     string `json:"why,omitempty"`     // why
	Command string `json:"command,omitempty"` // by which command
	Section string `json:"section"`           // of the page, with the details
}

// Fact is a figure.
type Fact struct {
	Label   string `json:"label"`             // of what
	Value   string `json:"value"`             // how many, or which
	Section string `json:"section,omitempty"` // of the page, with the details
}

// Plan contains the steps to the goal, or why there are none.
type Plan struct {
	From      string            `json:"from"` // the release that runs
	To        string            `json:"to"`
	Steps     []plan.PlanStep   `json:"steps,omitempty"`     // in their order
	Cost      plan.Cost         `json:"cost"`                // what was minimised
	Takes     string            `json:"takes,omitempty"`     // "about 1h05m", or "under 1m"
	Unseen    []plan.Unseen     `json:"unseen,omitempty"`    // facts that steps depend on and that were not read
	None      *plan.NoPlanError `json:"none,omitempty"`      // there is no plan
	Undecided string            `json:"undecided,omitempty"` // the search was given up: why
}

// Make makes a report. Equal inputs give equal reports. The error is that of ctx, or says
// what is invalid in the input.
func Make(ctx context.Context, in *Input) (*Report, error) {
	s := in.Situation
	r := &Report{Format: 1, Source: in.Source, Called: in.Name, At: s.At, policy: &drain.Policy{}}
	if in.Policy != nil {
		r.policy = &in.Policy.Drain
	}
	if r.At.IsZero() {
		r.At = latest(s)
	}
	status := cvo.Inspect(&cvo.Dump{Version: s.Cluster, Operators: s.ClusterOperators, Pools: s.Pools, Nodes: s.Nodes, Configs: s.Configs, Alerts: in.Alerts, Pods: s.Pods, Budgets: s.Budgets, Gates: s.Gates, Partly: partly(s)}, r.At)
	if err := r.plan(ctx, in); err != nil {
		return nil, err
	}
	r.update(s, status)
	if err := r.nodes(in, status); err != nil {
		return nil, err
	}
	r.operatorsOf(s)
	r.taintsOf(s)
	if err := r.findings(in, status); err != nil {
		return nil, err
	}
	r.verdict(in.Diagnosis)
	r.offer(in)
	r.soFar(s, status, in.Diagnosis)
	r.head(s, status)
	return r, r.draw()
}

// partly is what is not known of lists that are known in part.
func partly(s *plan.Situation) (gaps []cvo.Gap) {
	for _, kind := range slices.Sorted(maps.Keys(s.Partly)) {
		gaps = append(gaps, s.Partly[kind])
	}
	return gaps
}

// plan makes the plan for the goal.
func (r *Report) plan(ctx context.Context, in *Input) error {
	if in.Goal == nil || in.Situation.Cluster == nil {
		return nil
	}
	p, err := plan.Make(ctx, in.Situation, in.Goal, in.Policy)
	var none *plan.NoPlanError
	var fields fairlead.FieldErrors
	switch {
	case errors.As(err, &none):
		r.Plan = &Plan{From: none.From, To: none.To, None: none}
	case err != nil && (ctx.Err() != nil || errors.As(err, &fields)):
		return err
	case err != nil:
		r.Plan = &Plan{From: in.Situation.Cluster.Status.Desired.Version, Undecided: err.Error()}
	default:
		r.Plan = &Plan{From: p.From, To: p.To, Steps: p.Steps, Cost: p.Cost, Takes: words.About(p.Takes), Unseen: p.Unseen}
	}
	return nil
}

// latest returns the latest instant in a situation.
func latest(s *plan.Situation) (at time.Time) {
	see := func(t time.Time) {
		if t.After(at) {
			at = t
		}
	}
	for i := range s.Nodes {
		for _, c := range s.Nodes[i].Status.Conditions {
			see(c.LastTransitionTime)
			see(c.LastHeartbeatTime)
		}
	}
	for i := range s.Pods {
		see(s.Pods[i].CreationTimestamp)
	}
	for i := range s.Machines {
		if m := &s.Machines[i]; m.Deleting() {
			see(*m.DeletionTimestamp)
		}
	}
	for i := range s.ClusterOperators {
		for _, c := range s.ClusterOperators[i].Status.Conditions {
			see(c.LastTransitionTime)
		}
	}
	if s.Cluster != nil {
		for _, h := range s.Cluster.Status.History {
			see(h.StartedTime)
			if h.CompletionTime != nil {
				see(*h.CompletionTime)
			}
		}
	}
	return at.UTC()
}

// head writes the headline, what to do first, and the figures.
func (r *Report) head(s *plan.Situation, status *cvo.Report) {
	if s.Cluster != nil {
		r.Name = string(s.Cluster.Spec.ClusterID)
	}
	r.headline(s, status)
	if r.Diagnosis != nil {
		r.Tone = r.Diagnosis.tone
	}
	if first, size := utf8.DecodeRuneInString(r.Headline); size > 0 {
		r.Headline = string(unicode.ToUpper(first)) + r.Headline[size:]
	}
	r.first()
	fact := func(label, value, section string) {
		r.Facts = append(r.Facts, Fact{label, value, section})
	}
	counted := func(n int, one, many, section string) { fact(words.Plural(n, one, many), number(n), section) }
	if r.Update != nil {
		fact("release", r.Update.Current, "update")
	}
	if p := r.Plan; p != nil {
		switch {
		case p.none():
			fact("plan", "none", "plan")
		case p.found() && len(p.Steps) == 0:
			fact("plan", "nothing to do", "plan")
		case p.found():
			fact("plan", words.Count(len(p.Steps), "step", "steps")+", "+p.Takes, "plan")
			counted(p.Cost.Restarts, "node restart", "node restarts", "plan")
		}
	}
	if r.Nodes != nil {
		counted(len(r.Nodes.Name), "node", "nodes", "nodes")
	}
	if r.Workloads != nil {
		counted(r.Workloads.pods, "pod", "pods", "workloads")
		counted(len(r.Workloads.Name), "workload", "workloads", "workloads")
	}
	if r.Machines != nil {
		counted(r.Machines.Deleting, "machine being deleted", "machines being deleted", "machines")
	}
	if s.Operators != nil {
		counted(len(r.Operators), "operator", "operators", "operators")
	}
	n := 0
	for _, g := range r.Findings {
		n += g.Count
	}
	if len(r.Findings) > 0 {
		fact(words.Plural(n, "finding", "findings")+" from "+words.Count(len(r.Findings), "cause", "causes"), number(n), "findings")
	}
}

// number writes a number with separated thousands.
func number(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", number(n/1000), n%1000)
}

// headline returns the most important fact in a sentence: what is wrong, or else the plan.
func (r *Report) headline(s *plan.Situation, status *cvo.Report) {
	r.Tone = Good
	if len(r.Findings) > 0 {
		r.Tone = r.Findings[0].Tone
	}
	switch p := r.Plan; {
	case s.Cluster != nil && !status.Well() && len(status.Findings) > 0:
		r.Headline = brief(status.Headline)
	case p.none():
		head := fmt.Sprintf("No plan leads from %s to %s", p.From, p.To)
		if p.Stays() {
			head = "There is no plan at " + p.From
		}
		r.Headline, r.Tone = head+": "+words.Count(len(p.None.Facts), "fact rules it out", "facts rule it out"), Bad
	case p.undecided():
		r.Headline, r.Tone = "Whether there is a plan could not be decided: "+p.Undecided, Warning
	case p != nil && len(p.Steps) == 0:
		r.Headline = "Nothing needs to be done at " + p.From
	case p != nil && !p.Stays():
		r.Headline = fmt.Sprintf("%s to %s: %s, %s, %s", p.From, p.To, words.Count(len(p.Steps), "step", "steps"), p.Takes, words.Count(p.Cost.Restarts, "node restart", "node restarts"))
	case p != nil:
		r.Headline = fmt.Sprintf("%s at %s, %s", words.Count(len(p.Steps), "step", "steps"), p.From, p.Takes)
	case s.Cluster != nil:
		r.Headline = status.Headline
	default:
		n := 0
		if r.Nodes != nil {
			n = len(r.Nodes.Name)
		}
		switch more := len(r.Findings) - 1; {
		case more < 0:
			r.Headline = words.Count(n, "node", "nodes") + ", no problems found"
			if s.Nodes == nil || s.Pods == nil || s.Budgets == nil || len(s.Partly) > 0 {
				r.Headline += " in what is known"
			}
		case more == 0:
			r.Headline = r.Findings[0].Title
		default:
			r.Headline = r.Findings[0].Title + "; and " + words.Count(more, "other cause", "other causes")
		}
	}
}

// brief removes parentheses from a long headline, such as lists of names: the findings
// contain them.
func brief(text string) string {
	const most = 180
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	var b strings.Builder
	depth := 0
	for _, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return words.Shorten(strings.Join(strings.Fields(b.String()), " "), most)
}

// first selects what to do first: repairs, then whatever excludes a plan, and then the
// steps of the plan that people take.
func (r *Report) first() {
	add := func(a Advice) {
		if len(r.First) < 5 && !slices.Contains(r.First, a) {
			r.First = append(r.First, a)
		}
	}
	fixed := r.Plan != nil && slices.ContainsFunc(r.Plan.Steps, func(s plan.PlanStep) bool { return s.Kind == plan.FixBudget })
	for _, g := range r.Findings {
		if r.Diagnosis == nil && g.Tone == Bad && g.Next != "" && !(g.planned && fixed) {
			add(Advice{Text: g.Next, Why: g.Title, Command: g.Command, Section: "findings"})
		}
	}
	p := r.Plan
	if p == nil {
		return
	}
	if p.None != nil {
		for _, f := range p.None.Fixes {
			add(Advice{Text: words.List(f.Do, "and", 4), Why: "then the plan is: " + f.Result(), Section: "plan"})
		}
		return
	}
	for i, next := 0, 0; i < len(p.Steps); i = next {
		s := &p.Steps[i]
		next = i + 1
		for next < len(p.Steps) && p.Steps[next].Kind == s.Kind {
			next++
		}
		text := s.String()
		switch more := next - i - 1; {
		case more > 2:
			text += fmt.Sprintf(", and %d more like it", more)
		case more > 0:
			next = i + 1 // each of a few
		}
		for _, u := range s.Unseen {
			add(Advice{Text: "find out " + u.What, Why: "the next step depends on it", Command: u.Command, Section: "plan"})
		}
		add(Advice{Text: text, Why: s.Why, Command: s.Command, Section: "plan"})
	}
}
