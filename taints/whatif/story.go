package whatif

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
)

// story is one run of Predict: a cluster in which every action succeeds at once.
type story struct {
	policy   eviction.Policy // with NodeLifecycle
	alive    eviction.Policy // the same for nodes that report all the time
	fleet    eviction.ZoneWorld
	nodes    []storyNode // in the order of fleet
	zones    eviction.ZoneState
	agenda   agenda // nodes by index, and the numbers below
	events   []func()
	now, end time.Time
	replaced time.Duration
	budgets  storyBudgets
	places   places
	levels   levels
	out      Prediction
}

// On the agenda events have numbers from firstEvent on, nodes their index, and
// zones the last number: at the same time, events come first, then nodes, and
// zones when all nodes are up to date.
const (
	firstEvent  = math.MinInt32
	agendaZones = math.MaxInt32
)

// storyNode is a node of a story.
type storyNode struct {
	index      int
	node       *fairlead.Node // in the fleet, with its own lists
	pods       []fairlead.Pod
	state      eviction.State
	dark       int // how many events make it dark
	heard      time.Time
	before     []fairlead.NodeCondition // what it reported before it was dark
	marked     map[eviction.PodRef]bool // pods that were marked as not ready
	overBudget bool                     // pods wait for their budgets
}

// forGood is a grace period that does not end.
const forGood = 200 * 365 * 24 * time.Hour

func newStory(c *taints.Cluster, q *Question, policy *eviction.Policy) *story {
	s := &story{now: q.Start, replaced: q.Replacement}
	if policy != nil {
		s.policy = *policy
	}
	if s.policy.NodeLifecycle == nil {
		s.policy.NodeLifecycle = new(eviction.NodeLifecycle)
	}
	s.alive = s.policy
	lifecycle := *s.policy.NodeLifecycle
	lifecycle.GracePeriod, lifecycle.StartupGracePeriod = forGood, forGood
	s.alive.NodeLifecycle = &lifecycle
	if s.now.IsZero() {
		s.now = latest(c)
	}
	horizon := q.Horizon
	if horizon == 0 {
		horizon = 24 * time.Hour
	}
	s.end = s.now.Add(horizon)
	s.out.Start, s.out.End = s.now, s.now

	at := make(map[string]int, len(c.Nodes))
	s.fleet.Nodes = make([]fairlead.Node, 0, len(c.Nodes))
	for i := range c.Nodes {
		if _, twice := at[c.Nodes[i].Name]; !twice {
			at[c.Nodes[i].Name] = len(s.fleet.Nodes)
			s.fleet.Nodes = append(s.fleet.Nodes, copyNode(&c.Nodes[i]))
		}
	}
	s.nodes = make([]storyNode, len(s.fleet.Nodes))
	for i := range s.nodes {
		s.nodes[i].index, s.nodes[i].node = i, &s.fleet.Nodes[i]
		s.wakeNode(i, s.now)
	}
	counts, bound := make([]int, len(s.nodes)), 0
	for i := range c.Pods {
		if n, ok := at[c.Pods[i].Spec.NodeName]; ok {
			counts[n]++
			bound++
		}
	}
	pods := make([]fairlead.Pod, bound) // of all nodes, grouped by node
	for i, n := range counts {
		s.nodes[i].pods, pods = pods[:0:n], pods[n:]
	}
	for i := range c.Pods {
		n, ok := at[c.Pods[i].Spec.NodeName]
		if !ok {
			continue
		}
		p := c.Pods[i]
		if p.UID == "" { // the story has no later pod of the same name
			p.UID = p.ObjectMeta.String()
		}
		s.nodes[n].pods = append(s.nodes[n].pods, p)
	}
	s.budgets.init(c, s.now)
	s.levels.init(s.nodes, &s.budgets)
	s.places.nodes = s.nodes
	s.places.numbers = s.policy.Options != nil && s.policy.Options.ComparisonOperators
	s.wakeZones(s.now)
	return s
}

// latest returns the latest time in the cluster's objects.
func latest(c *taints.Cluster) time.Time {
	last := time.Unix(0, 0).UTC()
	see := func(t time.Time) {
		if t.After(last) {
			last = t.UTC()
		}
	}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		see(n.CreationTimestamp)
		for _, c := range n.Status.Conditions {
			see(c.LastHeartbeatTime)
			see(c.LastTransitionTime)
		}
		for _, t := range n.Spec.Taints {
			if t.TimeAdded != nil {
				see(*t.TimeAdded)
			}
		}
	}
	for i := range c.Pods {
		p := &c.Pods[i]
		see(eviction.BoundSince(p))
		for _, c := range p.Status.Conditions {
			see(c.LastTransitionTime)
		}
	}
	return last
}

// happen puts an event on the agenda.
func (s *story) happen(after time.Duration, f func()) {
	s.agenda.set(firstEvent+int32(len(s.events)), s.now.Add(after))
	s.events = append(s.events, f)
}

func (s *story) wakeNode(i int, at time.Time) {
	s.agenda.set(int32(i), at)
}

func (s *story) wakeZones(at time.Time) { s.agenda.set(agendaZones, at) }

// run processes events until the end.
func (s *story) run() {
	for {
		id, next, ok := s.agenda.next()
		if !ok {
			return
		}
		if next.After(s.end) {
			s.out.Open, s.out.End = true, s.end
			return
		}
		s.now = next
		s.out.End = next
		switch {
		case id < 0:
			s.events[id-firstEvent]()
		case id == agendaZones:
			s.passZones()
		default:
			s.pass(int(id))
		}
	}
}

func (s *story) tell(e Entry) {
	e.At = s.now
	s.out.Entries = append(s.out.Entries, e)
}

// begin carries out an event.
func (s *story) begin(e *Event, nodes []int) {
	s.tell(Entry{Kind: EntryEvent, Text: s.describe(e, nodes)})
	for _, i := range nodes {
		n := &s.nodes[i]
		edit := eviction.EditTaints{Node: n.node.Name}
		if e.Taint != nil {
			edit.Add = []fairlead.Taint{*e.Taint}
		}
		for _, t := range n.node.Spec.Taints {
			if e.Untaint != nil && t.Key == e.Untaint.Key && (e.Untaint.Effect == "" || t.Effect == e.Untaint.Effect) {
				edit.Remove = append(edit.Remove, t)
			}
		}
		s.editTaints(n, &edit)
		if e.Dark != 0 {
			if n.dark == 0 {
				n.heard, n.before = s.now, slices.Clone(n.node.Status.Conditions)
			}
			n.dark++
		}
		s.wakeNode(i, s.now)
	}
	s.wakeZones(s.now)
}

func (s *story) describe(e *Event, nodes []int) string {
	who := "node " + s.nodes[nodes[0]].node.Name
	if len(nodes) > 1 {
		who = fmt.Sprintf("%d nodes", len(nodes))
	}
	if e.Zone != "" {
		who = fmt.Sprintf("zone %s (%s)", e.Zone, words.Count(len(nodes), "node", "nodes"))
	}
	var what []string
	if e.Taint != nil {
		what = append(what, "taint "+taintText(e.Taint)+" is added")
	}
	if e.Untaint != nil {
		what = append(what, "taint "+taintText(e.Untaint)+" is removed")
	}
	switch {
	case e.Dark > 0:
		what = append(what, "dark for "+e.Dark.String())
	case e.Dark < 0:
		what = append(what, "dark forever")
	}
	return who + ": " + strings.Join(what, ", ")
}

// taintText writes a taint as commands do.
func taintText(t *fairlead.Taint) string {
	text := t.Key
	if t.Value != "" {
		text += "=" + t.Value
	}
	if t.Effect != "" {
		text += ":" + string(t.Effect)
	}
	return text
}

// endDark lets nodes report again as they did before.
func (s *story) endDark(nodes []int) {
	for _, i := range nodes {
		n := &s.nodes[i]
		if n.dark--; n.dark > 0 {
			continue
		}
		for j, c := range n.before {
			if now := n.node.Condition(c.Type); now == nil || now.Status != c.Status {
				n.before[j].LastTransitionTime = s.now
				if c.Type == "Ready" {
					s.tell(Entry{Kind: EntryCondition, Node: n.node.Name, Text: string(c.Status)})
				}
			}
			n.before[j].LastHeartbeatTime = s.now
		}
		n.node.Status.Conditions, n.before = n.before, nil
		s.places.change(i)
		for j := range n.pods {
			if ref := eviction.RefOf(&n.pods[j]); n.marked[ref] {
				s.setReady(&n.pods[j], true)
			}
		}
		n.marked = nil
		s.wakeNode(i, s.now)
	}
	s.wakeZones(s.now)
}

// setReady changes the condition Ready of a pod.
func (s *story) setReady(p *fairlead.Pod, ready bool) {
	status, change := fairlead.ConditionFalse, -1
	if ready {
		status, change = fairlead.ConditionTrue, 1
	}
	p.Status.Conditions = fairlead.SetCondition(p.Status.Conditions, fairlead.Condition{Type: "Ready", Status: status, LastTransitionTime: s.now})
	s.budgets.add(p, change)
	s.change(p, change, 0, 0)
}

// pass makes passes over a node until it decides on nothing more.
func (s *story) pass(i int) {
	n := &s.nodes[i]
	const rounds = 20
	for range rounds {
		w := &eviction.World{Name: n.node.Name, Node: n.node, Pods: n.pods, LeaseRenewed: s.out.Start, Zones: s.zones.Disruption}
		policy := &s.alive
		if n.dark > 0 {
			w.Heard = n.heard
			policy = &s.policy
		}
		if s.policy.RespectBudgets {
			w.Budgets = s.budgets.list
		}
		d := eviction.Step(n.state, w, s.now, policy)
		n.state = d.State
		for _, a := range d.Actions {
			s.apply(n, a)
		}
		if len(d.Actions) > 0 {
			continue
		}
		n.overBudget = slices.ContainsFunc(d.Blocked, func(b fairlead.Block) bool { return b.Reason == eviction.ReasonBudget })
		if !d.Wake.IsZero() && d.Wake.Before(s.now.Add(forGood/4)) {
			s.wakeNode(i, d.Wake)
		}
		return
	}
	s.wakeNode(i, s.now.Add(time.Second))
}

func (s *story) passZones() {
	d := eviction.ZoneStep(s.zones, &s.fleet, s.now, &s.policy)
	for _, z := range d.State.Zones {
		i := slices.IndexFunc(s.zones.Zones, func(o eviction.Zone) bool { return o.Name == z.Name })
		if i >= 0 && s.zones.Zones[i].Mode != z.Mode || i < 0 && z.Mode != eviction.ZoneNormal {
			s.tell(Entry{Kind: EntryZone, Zone: z.Name, Mode: z.Mode})
		}
	}
	if d.State.Disrupted != s.zones.Disrupted {
		for i := range s.nodes {
			s.wakeNode(i, s.now)
		}
	}
	s.zones = d.State
	for _, a := range d.Actions {
		e := a.(eviction.EditTaints)
		i := slices.IndexFunc(s.fleet.Nodes, func(n fairlead.Node) bool { return n.Name == e.Node })
		s.editTaints(&s.nodes[i], &e)
		s.wakeNode(i, s.now)
	}
	switch {
	case len(d.Actions) > 0:
		s.wakeZones(s.now)
	case !d.Wake.IsZero() && d.Wake.Before(s.now.Add(forGood/4)):
		s.wakeZones(d.Wake)
	}
}

// apply carries out an action on a node.
func (s *story) apply(n *storyNode, a eviction.Action) {
	switch a := a.(type) {
	case eviction.EditTaints:
		s.editTaints(n, &a)
	case eviction.SetConditions:
		for _, c := range a.Conditions {
			if old := n.node.Condition(c.Type); old != nil {
				*old = c
			} else {
				n.node.Status.Conditions = append(n.node.Status.Conditions, c)
			}
			if c.Type == "Ready" {
				s.tell(Entry{Kind: EntryCondition, Node: n.node.Name, Text: string(c.Status)})
			}
		}
		s.places.change(n.index)
		s.wakeZones(s.now)
	case eviction.MarkNotReady:
		for i := range n.pods {
			if eviction.RefOf(&n.pods[i]) == a.Pod {
				s.setReady(&n.pods[i], false)
				if n.marked == nil {
					n.marked = make(map[eviction.PodRef]bool)
				}
				n.marked[a.Pod] = true
			}
		}
	case eviction.Evict:
		i := slices.IndexFunc(n.pods, func(p fairlead.Pod) bool { return eviction.RefOf(&p) == a.Pod })
		if i >= 0 {
			p := n.pods[i]
			s.places.leave(&p)
			n.pods = slices.Concat(n.pods[:i], n.pods[i+1:]) // places still uses the old list
			s.evict(n, &p, &a)
		}
	}
}

func (s *story) editTaints(n *storyNode, a *eviction.EditTaints) {
	is := func(t fairlead.Taint) func(fairlead.Taint) bool {
		return func(o fairlead.Taint) bool { return o.Key == t.Key && o.Effect == t.Effect }
	}
	for _, t := range a.Remove {
		if i := slices.IndexFunc(n.node.Spec.Taints, is(t)); i >= 0 {
			n.node.Spec.Taints = slices.Delete(n.node.Spec.Taints, i, i+1)
			s.tell(Entry{Kind: EntryUntaint, Node: n.node.Name, Taint: &fairlead.Taint{Key: t.Key, Effect: t.Effect}})
		}
	}
	for _, t := range a.Add {
		if i := slices.IndexFunc(n.node.Spec.Taints, is(t)); i >= 0 {
			n.node.Spec.Taints[i] = t
		} else {
			n.node.Spec.Taints = append(n.node.Spec.Taints, t)
		}
		s.tell(Entry{Kind: EntryTaint, Node: n.node.Name, Taint: &fairlead.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect}})
	}
	s.places.change(n.index)
}

// evict reports an eviction and what becomes of it.
func (s *story) evict(n *storyNode, p *fairlead.Pod, a *eviction.Evict) {
	ref := eviction.RefOf(p)
	e := Entry{Kind: EntryEvict, Node: n.node.Name, Pod: &ref, Toleration: a.Toleration, Taint: &fairlead.Taint{Key: a.Taint.Key, Value: a.Taint.Value, Effect: a.Taint.Effect}}
	ready := p.Ready()
	e.Violates = s.budgets.refuse(p)
	gone := 0
	if ready {
		s.budgets.add(p, -1)
		gone = 1
	}
	switch c := p.ControllerOf(); {
	case c == nil:
		e.Fate = FateLost
		s.out.Lost = append(s.out.Lost, ref)
	case c.Kind == "DaemonSet" || c.Kind == "Node":
		e.Fate = FateBound
	case c.Kind == "StatefulSet" && silent(n.node):
		e.Fate = FateHeld
		s.out.Held = append(s.out.Held, ref)
	case !s.places.move(p):
		e.Fate = FateStranded
		s.out.Stranded = append(s.out.Stranded, ref)
	default:
		e.Fate = FateElsewhere
		if ready && s.replaced > 0 {
			s.happen(s.replaced, func() {
				s.budgets.add(p, 1)
				s.change(p, 1, -1, 0)
				for i := range s.nodes {
					if s.nodes[i].overBudget {
						s.wakeNode(i, s.now)
					}
				}
			})
		}
	}
	switch e.Fate {
	case FateElsewhere:
		s.change(p, -gone, gone, 0)
	case FateBound:
		s.change(p, -gone, 0, 0)
	default:
		s.change(p, -gone, 0, 1)
	}
	s.out.Evicted++
	s.out.Last = s.now
	s.out.Violations += len(e.Violates)
	s.tell(e)
}

// silent reports whether a node has stopped reporting, and is not known to be off.
func silent(n *fairlead.Node) bool {
	c := n.NotReady()
	return c != nil && c.Status == fairlead.ConditionUnknown && !slices.ContainsFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == taints.KeyOutOfService })
}

// copyNode returns a node whose taints and conditions are its own.
func copyNode(n *fairlead.Node) fairlead.Node {
	next := *n
	next.Spec.Taints = slices.Clone(n.Spec.Taints)
	next.Status.Conditions = slices.Clone(n.Status.Conditions)
	return next
}
