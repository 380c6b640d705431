package whatif_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
	"github.com/fairlead/fairlead/taints/whatif"
)

// beat is how often the agents of nodes report, and how often a played story is
// looked at: all instants of the scripts are multiples of it.
const beat = 10 * time.Second

// played is a story that happens to a cluster in memory, whose nodes and zones a
// [eviction.Runner] looks after.
type played struct {
	t         *testing.T
	q         *whatif.Question
	clock     *fairlead.ManualClock
	backend   *eviction.MemBackend
	runner    *eviction.Runner
	nodes     []string
	elsewhere map[string]bool // pods that are made again, by the prediction
	ready     map[string]fairlead.Pod
	tainted   map[string]bool
	again     map[time.Time][]fairlead.Pod // pods that come in the place of others
	changes   int                          // of all kinds
	log       []string                     // of taints and evictions
}

// play lets what a prediction reports happen, and checks that the same taints come and
// go and the same pods leave at the same instants.
func play(t *testing.T, c *taints.Cluster, q *whatif.Question, policy *eviction.Policy, want *whatif.Prediction) {
	t.Helper()
	p := &played{t: t, q: q, clock: new(fairlead.ManualClock), elsewhere: map[string]bool{}, ready: map[string]fairlead.Pod{}, tainted: map[string]bool{}, again: map[time.Time][]fairlead.Pod{}}
	p.clock.Set(want.Start)
	p.backend = &eviction.MemBackend{Clock: p.clock, Changed: p.changed}
	for _, n := range c.Nodes {
		p.backend.PutNode(n)
		p.nodes = append(p.nodes, n.Name)
	}
	for _, x := range c.Pods {
		p.backend.PutPod(x)
		p.ready[x.ObjectMeta.String()] = x
	}
	for _, b := range c.Budgets {
		p.backend.PutBudget(b)
	}
	var lines []string
	for _, e := range want.Entries {
		switch e.Kind {
		case whatif.EntryTaint:
			lines = append(lines, line(e.At, e.Node, "+", e.Taint))
		case whatif.EntryUntaint:
			lines = append(lines, line(e.At, e.Node, "-", e.Taint))
		case whatif.EntryEvict:
			lines = append(lines, fmt.Sprintf("%s evict %s", e.At.Format(time.TimeOnly), e.Pod))
			p.elsewhere[e.Pod.String()] = e.Fate == whatif.FateElsewhere
		}
	}
	with := eviction.Policy{NodeLifecycle: new(eviction.NodeLifecycle)}
	if policy != nil {
		with = *policy
		with.NodeLifecycle = cmp.Or(policy.NodeLifecycle, with.NodeLifecycle, new(eviction.NodeLifecycle))
	}
	var err error
	if p.runner, err = eviction.NewRunner(p.backend, &with, &fairlead.RunnerOptions{Clock: p.clock}); err != nil {
		t.Fatal(err)
	}
	for at := want.Start; !at.After(want.End); at = at.Add(beat) {
		p.clock.Set(at)
		p.happen(at.Sub(want.Start))
		p.look()
	}
	slices.Sort(lines)
	slices.Sort(p.log)
	if !slices.Equal(lines, p.log) {
		t.Errorf("predicted:\n%s\nplayed:\n%s", strings.Join(lines, "\n"), strings.Join(p.log, "\n"))
	}
}

func line(at time.Time, node, sign string, taint *fairlead.Taint) string {
	return fmt.Sprintf("%s %s %s%s=%s:%s", at.Format(time.TimeOnly), node, sign, taint.Key, taint.Value, taint.Effect)
}

// changed writes down what an action has done.
func (p *played) changed(action eviction.Action) {
	p.changes++
	now := p.clock.Now()
	switch a := action.(type) {
	case eviction.EditTaints:
		for _, t := range a.Remove {
			if is := a.Node + " " + t.Key + string(t.Effect); p.tainted[is] { // what is not there goes without a trace
				p.log = append(p.log, line(now, a.Node, "-", &t))
				delete(p.tainted, is)
			}
		}
		for _, t := range a.Add {
			p.tainted[a.Node+" "+t.Key+string(t.Effect)] = true
			p.log = append(p.log, line(now, a.Node, "+", &t))
		}
	case eviction.Evict:
		p.log = append(p.log, fmt.Sprintf("%s evict %s", now.Format(time.TimeOnly), a.Pod))
		if at := now.Add(p.q.Replacement); at.After(now) && p.elsewhere[a.Pod.String()] {
			next := p.ready[a.Pod.Namespace+"/"+a.Pod.Name]
			next.Name, next.UID, next.Spec.NodeName = next.Name+"-next", next.UID+"-next", ""
			p.again[at] = append(p.again[at], next)
		}
	}
}

// happen lets the events of an instant happen, pods come, and agents report.
func (p *played) happen(after time.Duration) {
	for _, x := range p.again[p.clock.Now()] {
		p.backend.PutPod(x)
	}
	dark := map[string]bool{}
	for _, e := range p.q.Events {
		for _, name := range p.of(&e) {
			if e.After == after {
				p.taint(name, &e)
			}
			over := e.Dark > 0 && after >= e.After+e.Dark
			dark[name] = dark[name] || e.Dark != 0 && after > e.After && !over
		}
	}
	for _, name := range p.nodes {
		if dark[name] {
			continue
		}
		p.backend.Report(name, true)
		for _, x := range p.backend.Pods(name) {
			if was, known := p.ready[x.ObjectMeta.String()]; known && was.Ready() && !x.Ready() && x.DeletionTimestamp == nil {
				p.backend.PutPod(was)
			}
		}
	}
}

// of returns the nodes of an event.
func (p *played) of(e *whatif.Event) []string {
	names := map[string]bool{}
	for _, name := range p.nodes {
		n, _ := p.backend.Node(name)
		if slices.Contains(e.Nodes, name) || e.Zone != "" && n.Labels[eviction.LabelZone] == e.Zone {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// taint edits the taints of a node as an event says.
func (p *played) taint(name string, e *whatif.Event) {
	n, _ := p.backend.Node(name)
	edit := eviction.EditTaints{Node: name, UID: n.UID}
	if e.Taint != nil {
		edit.Add = []fairlead.Taint{*e.Taint}
	}
	for _, t := range n.Spec.Taints {
		if e.Untaint != nil && t.Key == e.Untaint.Key && (e.Untaint.Effect == "" || t.Effect == e.Untaint.Effect) {
			edit.Remove = append(edit.Remove, t)
		}
	}
	if err := p.backend.Apply(p.t.Context(), name, edit); err != nil {
		p.t.Fatal(err)
	}
}

// look has the Runner look at all nodes and zones until nothing more is done.
func (p *played) look() {
	for range 20 {
		before := p.changes
		for _, name := range p.nodes {
			if _, err := p.runner.Reconcile(p.t.Context(), name); err != nil && !strings.Contains(err.Error(), "budget") {
				p.t.Fatal(err)
			}
		}
		if _, err := p.runner.ReconcileZones(p.t.Context()); err != nil {
			p.t.Fatal(err)
		}
		if p.changes == before {
			return
		}
	}
	p.t.Fatal("it does not come to rest")
}
