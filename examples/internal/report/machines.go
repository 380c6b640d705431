package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/internal/machines"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Machines are the machines that are being deleted.
type Machines struct {
	Deleting int       `json:"deleting"`          // how many there are
	Blocked  int       `json:"blocked,omitempty"` // how many of them wait for something
	List     []Machine `json:"list"`              // the first of them: those that wait, the longest deletion first
}

// Machine is a machine that is being deleted, and why it still exists.
type Machine struct {
	Name     string    `json:"name"`              // namespace/name
	Node     string    `json:"node,omitempty"`    // its name
	Deleting time.Time `json:"deleting"`          // since when
	Stage    string    `json:"stage,omitempty"`   // of its deletion
	Causes   []string  `json:"causes,omitempty"`  // why it is being deleted
	Waits    []Wait    `json:"waits,omitempty"`   // what it waits for, at most mostWaits
	More     int       `json:"more,omitempty"`    // further waits
	Next     []string  `json:"next,omitempty"`    // what its controller does next
	Unknown  []string  `json:"unknown,omitempty"` // what is not known
}

// Wait is what a machine waits for.
type Wait struct {
	Text    string    `json:"text"`            // in a sentence
	Also    []string  `json:"also,omitempty"`  // what else waits for the same
	Owner   string    `json:"owner,omitempty"` // who can end it
	Since   time.Time `json:"since,omitzero"`  // when it began
	Unblock string    `json:"unblock"`         // what would end it
}

// Limits of what is reported about machines.
const (
	mostMachines = 200
	mostWaits    = 10
	mostNames    = 20 // of what waits for the same, and of what is next
)

// normalWait is how long a deletion may wait before it is more than a note.
const normalWait = 10 * time.Minute

// machines explains the machines that are being deleted.
func (r *Report) machines(in *Input) ([]machines.Explanation, error) {
	s := in.Situation
	if s.Machines == nil {
		return nil, nil
	}
	all := &machines.Cluster{
		Machines: s.Machines, Nodes: s.Nodes, Pods: s.Pods, Budgets: s.Budgets, DaemonSets: in.DaemonSets, Listed: in.Listed, Around: in.Around,
	}
	policy := &lifecycle.Policy{Drain: *r.policy}
	policy.Drain.Rules = append(slices.Clip(policy.Drain.Rules), in.Around.Rules...)
	if err := policy.Check(); err != nil {
		return nil, err
	}
	var told []machines.Explanation
	for i := range s.Machines {
		m := &s.Machines[i]
		if !m.Deleting() {
			continue
		}
		x, err := all.Explain(m, r.At, policy)
		if err != nil {
			return nil, fmt.Errorf("machine %s: %w", m.ObjectMeta.String(), err)
		}
		told = append(told, *x)
	}
	if len(told) == 0 {
		return nil, nil
	}
	waits := func(x *machines.Explanation) int { return min(len(x.Blocked), 1) }
	slices.SortStableFunc(told, func(a, b machines.Explanation) int {
		return cmp.Or(cmp.Compare(waits(&b), waits(&a)), a.Deleting.Compare(b.Deleting), cmp.Compare(a.Machine, b.Machine))
	})
	r.Machines = &Machines{Deleting: len(told)}
	for i := range told {
		r.Machines.Blocked += waits(&told[i])
		if i < mostMachines {
			r.Machines.List = append(r.Machines.List, newMachine(&told[i]))
		}
	}
	return told, nil
}

// newMachine returns what a report contains about a machine.
func newMachine(x *machines.Explanation) Machine {
	m := Machine{Name: x.Machine, Node: x.Node, Deleting: x.Deleting.UTC(), Stage: string(x.Stage), Unknown: x.Unknown, Next: firstOf(x.Next, mostNames)}
	for _, c := range x.Causes {
		sure := "likely"
		if c.Sure {
			sure = "certain"
		}
		m.Causes = append(m.Causes, fmt.Sprintf("%s (%s)", c.Text, sure))
	}
	waits := x.Waits(false)
	m.More = max(0, len(waits)-mostWaits)
	for _, w := range waits[:len(waits)-m.More] {
		m.Waits = append(m.Waits, Wait{Text: w.Message, Also: firstOf(w.Also, mostNames), Owner: w.Owner, Since: w.Since.UTC(), Unblock: w.Unblock})
	}
	return m
}

// firstOf returns the first of many texts, and how many more there are.
func firstOf(list []string, most int) []string {
	if len(list) <= most {
		return list
	}
	return append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", len(list)-most))
}

// dependents are machines, by name, that wait for the same as drains which are findings.
type dependents struct {
	node   map[nodeCause][]string // for what blocks the drain of their node
	budget map[string][]string    // for a budget that never allows an eviction, as namespace/name
}

// nodeCause is a reason, in words, why a node cannot be drained.
type nodeCause struct{ node, text string }

// waitFor refers to machines in a finding about a drain.
func waitFor(machines []string) string {
	if len(machines) == 0 {
		return ""
	}
	return "; " + words.Plural(len(machines), "machine ", "machines ") + words.List(machines, "and", 3) + words.Plural(len(machines), ", which is being deleted, waits for this", ", which are being deleted, wait for this")
}

// dependents returns the machines whose wait [Report.blocked] reports, because it also blocks the
// drain of their node, and the explanations without these waits.
func (r *Report) dependents(told []machines.Explanation) (*dependents, []machines.Explanation) {
	known := &dependents{map[nodeCause][]string{}, map[string][]string{}}
	if r.Nodes == nil || r.Nodes.why == nil {
		return known, told
	}
	at := make(map[string]int, len(r.Nodes.Name))
	for i, name := range r.Nodes.Name {
		at[name] = i
	}
	never := map[string]bool{}
	if b := r.Budgets; b != nil {
		for i, is := range b.Never {
			never[b.Namespace[i]+"/"+b.Name[i]] = is
		}
	}
	rest := slices.Clone(told)
	for i := range rest {
		x := &rest[i]
		node, ok := at[x.Node]
		if !ok {
			continue
		}
		x.Blocked = slices.DeleteFunc(slices.Clone(x.Blocked), func(b fairlead.Block) (same bool) {
			for _, o := range r.Nodes.why[node] {
				if plainReason(o.why) != plainReason(b.Reason) {
					continue
				}
				if o.why != drain.ReasonBudgetNever {
					key := nodeCause{x.Node, plainReason(o.why)}
					known.node[key], same = once(known.node[key], x.Machine), true
					continue
				}
				for _, budget := range o.budgets {
					if never[budget] {
						known.budget[budget], same = once(known.budget[budget], x.Machine), true
					}
				}
			}
			return same
		})
	}
	return known, rest
}

// once adds a name that is not in a list.
func once(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// blockedMachines adds a finding for each cause why machines still exist.
func (r *Report) blockedMachines(told []machines.Explanation) {
	for _, c := range machines.Causes(told) {
		g := Group{Tone: Note, Owner: c.First.Owner, Next: c.First.Unblock}
		for _, i := range c.Machines {
			x := &told[i]
			for j := range x.Blocked {
				b := &x.Blocked[j]
				if b.Reason != c.First.Reason || b.Owner != c.First.Owner {
					continue
				}
				g.add(x.Machine, b.Message)
				if r.At.Sub(b.Since) > normalWait {
					g.Tone = Warning
				}
			}
		}
		why := plainReason(c.First.Reason)
		if why == c.First.Reason {
			why = c.First.Message
		}
		g.Title = fmt.Sprintf("%s: %s", words.Count(len(c.Machines), "machine being deleted is blocked", "machines being deleted are blocked"), why)
		r.Findings = append(r.Findings, g)
	}
}

// machinesGap reports that the dump has no machines.
func (r *Report) machinesGap(s *plan.Situation) {
	if s.Cluster != nil && s.Machines == nil {
		r.Gaps = append(slices.Clip(r.Gaps), cvo.Gap{What: "whether machines are being deleted, and what blocks them", How: "oc get machines.machine.openshift.io,machinesets.machine.openshift.io -A -o yaml"})
	}
}
