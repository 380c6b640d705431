// Package machines explains why machines that are being deleted still exist: it asks the
// engine what it would do next, and why not more.
package machines

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/fleet"
)

// Explanation explains the state of a machine.
type Explanation struct {
	Machine  string           `json:"machine"`            // namespace/name
	Node     string           `json:"node,omitempty"`     // its name
	Deleting time.Time        `json:"deleting,omitzero"`  // since when
	Causes   []fleet.Cause    `json:"causes,omitempty"`   // why it is being deleted
	Stage    lifecycle.Stage  `json:"stage,omitempty"`    // of its deletion
	Reported []string         `json:"reported,omitempty"` // what its own controller reports as not done
	Drained  string           `json:"drained,omitempty"`  // how its drain ended
	Blocked  []fairlead.Block `json:"blocked,omitempty"`  // why nothing more happens
	Hooks    []string         `json:"hooks,omitempty"`    // that would block a deletion, for a machine that is not being deleted
	Next     []string         `json:"next,omitempty"`     // what a controller does next
	Unknown  []string         `json:"unknown,omitempty"`  // what the dump does not contain
	Names    []string         `json:"-"`                  // what each of Blocked is about
	Evict    []string         `json:"-"`                  // the pods that Next evicts

	details []string // of each of Blocked, what it says besides its name
}

// Explain asks the engine what it would do about a machine, and why not more. Writes of the
// engine that it would observe at once are assumed to be done. The error says what about the
// machine is invalid.
func (c *Cluster) Explain(machine *lifecycle.Machine, now time.Time, policy *lifecycle.Policy) (*Explanation, error) {
	m := *machine
	node := c.Node(&m)
	x := &Explanation{Machine: m.ObjectMeta.String()}
	w := &lifecycle.World{Machine: &m, View: c.view(node), Instance: instance(&m), Attachments: c.Attachments, PersistentVolumes: c.Volumes, Cluster: c.clusterOf(&m)}
	for _, r := range lifecycle.Reported(&m) {
		x.Reported = append(x.Reported, reported(&r))
	}
	if lifecycle.DrainReported(&m) && lifecycle.FindCondition(m.Status.Conditions, lifecycle.ConditionDrained) == nil {
		m.Status.Conditions = append(slices.Clone(m.Status.Conditions), lifecycle.Condition{Type: lifecycle.ConditionDrained, Status: "True", LastTransitionTime: drainedAt(&m)})
	}
	if node != nil {
		x.Node = node.Name
		copied := *node
		w.Node = &copied
	} else if m.Status.NodeRef != nil {
		x.Node = m.Status.NodeRef.Name
		if len(c.Nodes) == 0 {
			x.Unknown = append(x.Unknown, "not known: the nodes: kubectl get nodes -o yaml")
		} else {
			x.Unknown = append(x.Unknown, "node "+x.Node+" is not in the dump: it is assumed to be gone; dump it with: kubectl get nodes -o yaml")
		}
	}
	if m.Deleting() {
		x.Deleting = *m.DeletionTimestamp
	}
	if node != nil {
		for _, unseen := range c.Unseen {
			x.Unknown = append(x.Unknown, "not known: "+unseen)
		}
	}
	x.Causes = fleet.Why(&fleet.Scene{Machine: &m, Node: node, Set: c.set(&m), Checks: c.Checks, Cluster: w.Cluster}, now)
	if err := w.Check(); err != nil {
		return nil, err
	}
	if b, is := pausedBy(machine); is {
		x.Blocked, x.Names = []fairlead.Block{b}, []string{""}
		return x, nil
	}
	var state lifecycle.State
	if m.Deleting() {
		state = started(machine)
	}
	if lifecycle.NodeUnseen(machine, c.Nodes) && !waitsBefore(state, w, now, policy) {
		x.Stage = lifecycle.StageDrain
		x.Blocked, x.Names, x.details = []fairlead.Block{unseen(machine)}, []string{""}, []string{""}
		return x, nil
	}
	var decision lifecycle.Decision
	for range 10 { // more than it takes to write conditions and to cordon
		decision = lifecycle.Step(state, w, now, policy)
		state = decision.State
		if !x.suppose(w, decision.Actions) {
			break
		}
	}
	if !m.Deleting() {
		for _, p := range [...]lifecycle.Point{lifecycle.PreDrain, lifecycle.PreTerminate} {
			for _, h := range m.Spec.LifecycleHooks.At(p) {
				x.Hooks = append(x.Hooks, string(p)+" "+h.Name+", owner "+h.Owner)
			}
		}
	}
	x.Stage, x.Drained = state.Stage, state.Drained
	c.reasons(x, machine, w, &decision, now)
	return x, nil
}

// waitsBefore reports whether a machine is held before its drain, for which its node does not matter.
func waitsBefore(state lifecycle.State, w *lifecycle.World, now time.Time, policy *lifecycle.Policy) bool {
	d := lifecycle.Step(state, w, now, policy)
	return len(d.Blocked) > 0 && !d.State.Stage.Past(lifecycle.StagePreDrain)
}

// unseen says that what a drain waits for is not known without the node.
func unseen(m *lifecycle.Machine) fairlead.Block {
	b := fairlead.Block{
		Subject: "machine " + m.ObjectMeta.String(), Reason: "NodeUnknown", Owner: "the machine's controller", Since: *m.DeletionTimestamp,
		Message: "its node " + m.Status.NodeRef.Name + " is not known, and so not what its drain waits for", Unblock: "look at its node and the pods there: kubectl get nodes,pods,poddisruptionbudgets -A -o yaml",
	}
	return b
}

// reasons says why nothing more happens to a machine: what its own controller reports as
// failed, what the engine waits for, and why it does not run.
func (c *Cluster) reasons(x *Explanation, machine *lifecycle.Machine, w *lifecycle.World, decision *lifecycle.Decision, now time.Time) {
	add := func(b fairlead.Block, name, detail string) {
		x.Blocked, x.Names, x.details = append(x.Blocked, b), append(x.Names, name), append(x.details, detail)
	}
	if b, is := stuckBy(machine, now); is && machine.Deleting() {
		add(b, "", "")
	}
	for i, b := range decision.Blocks() {
		if b.Reason == drain.ReasonPodPending {
			continue // it was decided on just now, see Next
		}
		b.Since = began(machine, w, &decision.Blocked[i])
		before := b.Message
		c.sharpen(&b, w.Machine, w, &decision.Blocked[i], now)
		add(b, decision.Blocked[i].Name, decision.Blocked[i].Detail+strings.TrimPrefix(b.Message, before))
	}
	if b, ok := lifecycle.NotRunning(machine, c.Nodes, now); ok {
		if b.Reason == lifecycle.ReasonNoNode {
			c.requests(&b)
		}
		add(b, "", "")
	}
	c.remediation(x, machine, now)
}

// suppose applies status updates and cordons, records all actions but status updates in
// Next, and reports whether anything changed.
func (x *Explanation) suppose(w *lifecycle.World, actions []lifecycle.Action) (changed bool) {
	for _, a := range actions {
		switch a := a.(type) {
		case lifecycle.UpdateStatus:
			w.Machine.Status.Phase, w.Machine.Status.Conditions = a.Phase, a.Conditions
			w.Machine.ResourceVersion += "+"
			changed = true
		case drain.Evict:
			x.Evict = append(x.Evict, a.Namespace+"/"+a.Name)
			x.Next = append(x.Next, told(a))
		case drain.Cordon:
			w.Node.Spec.Unschedulable = true
			x.Next = append(x.Next, "cordon node "+a.Node)
			changed = true
		default:
			if text := told(a); text != "" {
				x.Next = append(x.Next, text)
			}
		}
	}
	return changed
}

// instance returns what the machine's conditions report about its instance.
func instance(m *lifecycle.Machine) lifecycle.Instance {
	if c := lifecycle.FindCondition(m.Status.Conditions, lifecycle.ConditionInstance); c != nil && c.Status == "False" {
		return lifecycle.InstanceGone
	}
	return lifecycle.InstanceExists
}

// began returns since when a machine waits according to the dump.
func began(m *lifecycle.Machine, w *lifecycle.World, wait *fairlead.Block) time.Time {
	if !m.Deleting() {
		return time.Time{}
	}
	for i := range w.Pods {
		if p := &w.Pods[i]; wait.Name == p.ObjectMeta.String() && p.DeletionTimestamp != nil {
			grace := p.DeletionGracePeriodSeconds
			if grace == nil || *grace < 0 || *grace > 1<<31 {
				grace = new(int64)
			}
			return p.DeletionTimestamp.Add(-time.Duration(*grace) * time.Second)
		}
	}
	before := map[lifecycle.Point]string{lifecycle.PreTerminate: lifecycle.ConditionDrained}[lifecycle.Point(wait.Point)]
	if wait.Point == "" {
		before = lifecycle.ConditionDrainable
	}
	if c := lifecycle.FindCondition(m.Status.Conditions, before); c != nil && c.Status == "True" && c.LastTransitionTime.After(*m.DeletionTimestamp) {
		return c.LastTransitionTime
	}
	return *m.DeletionTimestamp
}

// told describes an action; events and conditions are not mentioned.
func told(a lifecycle.Action) string {
	switch a := a.(type) {
	case drain.Evict:
		return "evict pod " + a.Namespace + "/" + a.Name
	case drain.DeletePod:
		return "delete pod " + a.Namespace + "/" + a.Name + ": " + a.Why
	case lifecycle.RemoveHook:
		return "remove " + string(a.Point) + " hook " + a.Name
	case lifecycle.DeleteInstance:
		return strings.TrimSpace("delete the instance " + a.ProviderID)
	case lifecycle.DeleteNode:
		return "delete node " + a.Name
	case lifecycle.RemoveFinalizer:
		return "remove finalizer " + a.Finalizer
	}
	return ""
}
