package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/internal/machines"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
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

// machines explains the machines that are being deleted, and adds findings about what they
// wait for.
func (r *Report) machines(in *Input) error {
	s := in.Situation
	if s.Machines == nil {
		return nil
	}
	all := &machines.Cluster{
		Machines: s.Machines, Nodes: s.Nodes, Pods: s.Pods, Budgets: s.Budgets, DaemonSets: in.DaemonSets, Listed: in.Listed, Around: in.Around,
	}
	policy := &lifecycle.Policy{Drain: *r.policy}
	policy.Drain.Rules = append(slices.Clip(policy.Drain.Rules), in.Around.Rules...)
	if err := policy.Check(); err != nil {
		return err
	}
	var told []machines.Explanation
	for i := range s.Machines {
		m := &s.Machines[i]
		if !m.Deleting() {
			continue
		}
		x, err := all.Explain(m, r.At, policy)
		if err != nil {
			return fmt.Errorf("machine %s: %w", m.ObjectMeta.String(), err)
		}
		told = append(told, *x)
	}
	if len(told) == 0 {
		return nil
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
	r.stillThere(told)
	return nil
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

// stillThere adds a finding for each cause why machines still exist.
func (r *Report) stillThere(told []machines.Explanation) {
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
		g.Title = fmt.Sprintf("%s: %s", words.Count(len(c.Machines), "machine that is being deleted is still there", "machines that are being deleted are still there"), why)
		r.Findings = append(r.Findings, g)
	}
}

// machinesGap reports that the dump has no machines.
func (r *Report) machinesGap(s *plan.Situation) {
	if s.Cluster != nil && s.Machines == nil {
		r.Gaps = append(slices.Clip(r.Gaps), cvo.Gap{What: "whether machines are being deleted, and why they are still there", How: "oc get machines.machine.openshift.io,machinesets.machine.openshift.io -A -o yaml"})
	}
}
