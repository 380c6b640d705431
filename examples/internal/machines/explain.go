package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/fleet"
)

// explanation is what is said about a machine.
type explanation struct {
	Machine  string           `json:"machine"`
	Node     string           `json:"node,omitempty"`
	Deleting time.Time        `json:"deleting,omitzero"` // since when
	Causes   []fleet.Cause    `json:"causes,omitempty"`
	Stage    lifecycle.Stage  `json:"stage,omitempty"`
	Drained  string           `json:"drained,omitempty"`
	Blocked  []fairlead.Block `json:"blocked,omitempty"`
	Hooks    []string         `json:"hooks,omitempty"`   // that would hold a deletion up, of a machine that is not being deleted
	Next     []string         `json:"next,omitempty"`    // what a controller does next
	Unknown  []string         `json:"unknown,omitempty"` // what the dump does not tell
	names    []string         // what each of Blocked is about
	evict    []string         // the pods that Next evicts
}

// explain is the command of that name.
func explain(c *args.Call) error {
	d, o, err := readArguments(c, "machine")
	if err != nil {
		return err
	}
	policy := &lifecycle.Policy{Drain: drain.Policy{Rules: d.rules}}
	if err := policy.Check(); err != nil {
		return err
	}
	all, stuck := []explanation{}, false
	for _, m := range d.machines {
		if !o.named(m.Machine.Name) || o.order == nil && !m.Machine.Deleting() && d.deleting() {
			continue
		}
		x, err := d.explain(m, o.at, policy)
		if err != nil {
			return fmt.Errorf("machine %s: %w", m.Machine.ObjectMeta.String(), err)
		}
		all = append(all, *x)
		stuck = stuck || len(x.Blocked) > 0
	}
	switch {
	case len(all) == 0:
		return fmt.Errorf("%s; dump it with: %s", absent(o.order), dumpCommand)
	case o.json:
		err = c.JSON(all)
	default:
		explanations(c.Stdout, all, o)
	}
	return findings(err, stuck)
}

// dumpCommand prints what explain and plan look at. Where machines are of the
// Cluster API, their group is another one.
const dumpCommand = "kubectl get machines.machine.openshift.io,nodes,pods,poddisruptionbudgets -A -o yaml (machines.cluster.x-k8s.io for the Cluster API)"

// absent says which machines are not in the dump.
func absent(names []string) string {
	if len(names) == 0 {
		return "there is no Machine in the dump"
	}
	return "there is no Machine " + strings.Join(names, " or ") + " in the dump"
}

// options are the arguments that explain and plan share.
type options struct {
	json  bool
	all   bool // leave nothing out of the text
	at    time.Time
	order []string // names of machines or nodes, as they were given; nil means all
}

// named reports whether a machine or node is asked about.
func (o *options) named(name string) bool { return o.order == nil || slices.Contains(o.order, name) }

// readArguments reads arguments, and the file that they name; names is the flag
// that names machines or nodes.
func readArguments(c *args.Call, names string) (*dumped, *options, error) {
	o := &options{at: time.Now().UTC().Truncate(time.Second)}
	form := c.Choice("o", "text", "json")
	c.Flags.Func("at", "", func(text string) (err error) {
		o.at, err = time.Parse(time.RFC3339, text)
		return err
	})
	c.Flags.BoolVar(&o.all, "v", false, "")
	order := c.Words(names)
	if err := c.Parse(1, 1); err != nil {
		return nil, nil, err
	}
	o.json, o.order = *form == "json", *order
	d, err := readDump(c.Open, c.Arg(0))
	return d, o, err
}

// deleting reports whether any machine is being deleted.
func (d *dumped) deleting() bool {
	for _, m := range d.machines {
		if m.Machine.Deleting() {
			return true
		}
	}
	return false
}

// explain asks the engine what it would do about a machine, and why not more.
// What the engine would write and see at once is supposed to be done.
func (d *dumped) explain(document *lifecycle.Document, now time.Time, policy *lifecycle.Policy) (*explanation, error) {
	m := document.Machine
	node := d.node(&m)
	x := &explanation{Machine: m.ObjectMeta.String()}
	w := &lifecycle.World{Machine: &m, View: d.drainWorld(node), Instance: instance(&m)}
	if node != nil {
		x.Node = node.Name
		copied := *node
		w.Node = &copied
	} else if m.Status.NodeRef != nil {
		x.Node = m.Status.NodeRef.Name
		x.Unknown = append(x.Unknown, "node "+x.Node+" is not in the dump: it is taken to be gone; dump it with: kubectl get nodes -o yaml")
	}
	if m.Deleting() {
		x.Deleting = *m.DeletionTimestamp
	}
	if len(d.pods) == 0 && node != nil {
		x.Unknown = append(x.Unknown, "no pods are in the dump: the node is taken to be empty; dump them with: kubectl get pods -A -o yaml --field-selector spec.nodeName="+node.Name)
	}
	if len(d.budgets) == 0 && len(w.Pods) > 0 {
		x.Unknown = append(x.Unknown, "no PodDisruptionBudgets are in the dump: pods are taken to have none; dump them with: kubectl get poddisruptionbudgets -A -o yaml")
	}
	x.Causes = fleet.Why(&fleet.Scene{Machine: &m, Node: node, Set: d.set(&m), Checks: d.checks}, now)
	if err := w.Check(); err != nil {
		return nil, err
	}
	var state lifecycle.State
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
	for i, b := range decision.Blocks() {
		if b.Reason == drain.ReasonPodPending {
			continue // it was decided on just now, see Next
		}
		b.Since = began(&document.Machine, w, &decision.Blocked[i])
		x.Blocked, x.names = append(x.Blocked, b), append(x.names, decision.Blocked[i].Name)
	}
	return x, nil
}

// suppose does what has no effect on pods or instance, notes the rest as what is
// next, and reports whether that changed anything.
func (x *explanation) suppose(w *lifecycle.World, actions []lifecycle.Action) (changed bool) {
	for _, a := range actions {
		switch a := a.(type) {
		case lifecycle.UpdateStatus:
			w.Machine.Status.Phase, w.Machine.Status.Conditions = a.Phase, a.Conditions
			w.Machine.ResourceVersion += "+"
			changed = true
		case drain.Evict:
			x.evict = append(x.evict, a.Namespace+"/"+a.Name)
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

// instance returns what the machine's conditions tell of its instance.
func instance(m *lifecycle.Machine) lifecycle.Instance {
	if c := lifecycle.FindCondition(m.Status.Conditions, "InstanceExists"); c != nil && c.Status == "False" {
		return lifecycle.InstanceGone
	}
	return lifecycle.InstanceExists
}

// began returns since when a machine waits, as the dump tells it.
func began(m *lifecycle.Machine, w *lifecycle.World, wait *lifecycle.Wait) time.Time {
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
	before := map[lifecycle.Point]string{lifecycle.PreTerminate: lifecycle.ConditionDrained}[wait.Point]
	if wait.Point == "" {
		before = lifecycle.ConditionDrainable
	}
	if c := lifecycle.FindCondition(m.Status.Conditions, before); c != nil && c.Status == "True" && c.LastTransitionTime.After(*m.DeletionTimestamp) {
		return c.LastTransitionTime
	}
	return *m.DeletionTimestamp
}

// told puts an action into words; events and conditions are not worth any.
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
