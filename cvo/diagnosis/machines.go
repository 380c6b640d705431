package diagnosis

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// machinesWait adds the machines that are being deleted, have failed, or do not become nodes.
func (b *builder) machinesWait() {
	for i := range b.machines {
		m := &b.machines[i]
		switch {
		case m.Deleting():
			b.machineEnds(m)
		case m.Status.Phase == lifecycle.PhaseFailed:
			b.machineFails(m)
		case lifecycle.NodeOf(m, b.nodes) == nil && b.nodes != nil:
			b.machineStarts(m)
		}
	}
	b.machinesJoin()
}

// machinesJoin lets machines that are slow to become nodes, and say nothing about it, wait for the
// requests of nodes that join, if there are enough of these.
func (b *builder) machinesJoin() {
	var slow []int
	for i := range b.g.Nodes {
		if x := &b.g.Nodes[i]; x.Reason == MachineSlow && x.Quote+x.Alike == "" {
			slow = append(slow, i)
		}
	}
	if len(slow) == 0 || len(slow) > b.joining {
		return
	}
	for _, i := range slow {
		x := &b.g.Nodes[i]
		x.State = Waiting
		b.wait(x.ID, b.joinID, "Certificate", Derived)
	}
}

// machineEnds adds a machine that is being deleted, and the waits of its engine.
func (b *builder) machineEnds(m *lifecycle.Machine) {
	name := m.ObjectMeta.String()
	id := ID("Machine", m.Namespace, m.Name)
	x := Node{Kind: "Machine", Namespace: m.Namespace, Name: m.Name, State: Waiting, Reason: MachineWaiting, Says: "machine " + name + " is being deleted", Since: *m.DeletionTimestamp, Sure: Seen, Owner: "machine controller"}
	if lifecycle.NodeUnseen(m, b.nodes) {
		b.machineSays(m, &x, x.Says)
		x.State, x.Owner = Waiting, "machine controller"
		b.add(x)
		return
	}
	node := lifecycle.NodeOf(m, b.nodes)
	view := drain.View{Node: node, Budgets: b.budgets, DaemonSets: b.daemonSets, DaemonSetsListed: b.listed}
	if node != nil {
		for _, i := range b.index.podsOn[node.Name] {
			view.Pods = append(view.Pods, b.pods[i])
		}
	}
	one := *m
	w := &lifecycle.World{Machine: &one, View: view, Instance: lifecycle.InstanceExists}
	if w.Check() != nil {
		b.add(x)
		return
	}
	d := settle(w, b.now)
	waits := false
	for _, block := range d.Blocks() {
		if block.Reason == drain.ReasonPodPending || block.Reason == drain.ReasonNotCordoned {
			continue
		}
		for _, to := range b.machineWait(m, &block) {
			b.wait(id, to, block.Reason, Derived)
			waits = true
		}
	}
	if !waits { // its controller goes on
		x.State = Going
	}
	b.add(x)
}

// settle steps a machine's engine until only others can go on.
func settle(w *lifecycle.World, now time.Time) (d lifecycle.Decision) {
	var state lifecycle.State
	for range 10 {
		d = lifecycle.Step(state, w, now, nil)
		state = d.State
		changed := false
		for _, a := range d.Actions {
			switch a := a.(type) {
			case lifecycle.UpdateStatus:
				w.Machine.Status.Phase, w.Machine.Status.Conditions = a.Phase, a.Conditions
				w.Machine.ResourceVersion += "+"
				changed = true
			case drain.Cordon:
				node := *w.Node
				node.Spec.Unschedulable = true
				w.Node = &node
				changed = true
			}
		}
		if !changed {
			break
		}
	}
	return d
}

// machineWait adds what a machine under deletion waits for, and returns its IDs.
func (b *builder) machineWait(m *lifecycle.Machine, block *fairlead.Block) []string {
	for _, id := range []string{"pod/" + block.Name, ID("Node", "", block.Name)} {
		if b.have[id] || slices.Contains(b.solved, id) {
			return []string{id}
		}
	}
	if namespace, name, ok := strings.Cut(block.Name, "/"); ok && strings.HasPrefix(block.Reason, "Budget") {
		if p := b.pod(namespace, name); p != nil {
			return b.guards(p)
		}
	}
	x := Node{
		ID: ID("Machine", m.Namespace, m.Name) + "#" + block.Reason + block.Name, Kind: "Machine", Namespace: m.Namespace, Name: m.Name, State: Faulty, Reason: block.Reason,
		Says: "machine " + m.ObjectMeta.String() + ": " + block.Message, Since: block.Since, Owner: block.Owner, Alike: block.Name,
		do: block.Unblock, command: shell.Command("kubectl -n %s get machine %s -o yaml", m.Namespace, m.Name),
	}
	if block.Reason == lifecycle.ReasonInstanceGoing {
		held := b.before.From(ID("Machine", m.Namespace, m.Name))
		switch {
		case b.age(*m.DeletionTimestamp) < instanceTime, len(held) > 0 && !slices.ContainsFunc(held, func(e Edge) bool { return e.To == x.ID }):
			x.State = Going // the cloud was asked now
		default:
			x.do = "look at the instance in the console of the cloud: spec.providerID names it"
			b.machineSays(m, &x, x.Says)
		}
	}
	return []string{b.add(x)}
}

// guards adds the budgets of a pod, and returns their IDs.
func (b *builder) guards(p *fairlead.Pod) (ids []string) {
	for _, k := range b.budgetsOf(p) {
		ids = append(ids, b.budgetWaits(b.budgets[k].Namespace, b.budgets[k].Name))
	}
	return ids
}

// machineFails adds a machine that has failed.
func (b *builder) machineFails(m *lifecycle.Machine) {
	name := m.ObjectMeta.String()
	x := Node{Kind: "Machine", Namespace: m.Namespace, Name: m.Name, State: Faulty, Reason: MachineFailed, Says: "machine " + name + " has failed", Sure: Seen, Owner: "administrator"}
	b.machineSays(m, &x, "machine "+name+" has failed")
	b.add(x)
	if n := lifecycle.NodeOf(m, b.nodes); n != nil && b.down[n.Name] {
		b.wait(ID("Node", "", n.Name), ID("Machine", m.Namespace, m.Name), "RunsOn", Derived)
	}
}

// machineStarts adds a machine without a node.
func (b *builder) machineStarts(m *lifecycle.Machine) {
	name := m.ObjectMeta.String()
	x := Node{Kind: "Machine", Namespace: m.Namespace, Name: m.Name, State: Going, Reason: MachineStarting, Says: "machine " + name + " is starting", Since: m.CreationTimestamp, Sure: Seen, Owner: "administrator"}
	if age := b.age(m.CreationTimestamp); age > machineTime {
		phase := cmp.Or(string(m.Status.Phase), "without a phase")
		x.State, x.Reason, x.Says = Faulty, MachineSlow, "machine "+name+" is still "+phase+" and has no node"
		b.machineSays(m, &x, x.Says)
	}
	b.add(x)
}

// machineSays adds why a machine does not run, as its status says it: a known failure first, then any
// message; its error before its conditions.
func (b *builder) machineSays(m *lifecycle.Machine, x *Node, says string) {
	signs := []failure.Sign{{Reason: m.Status.ErrorReason, Message: m.Status.ErrorMessage}}
	for _, c := range lifecycle.Reported(m) {
		signs = append(signs, failure.Sign{Type: c.Type, Reason: c.Reason, Message: c.Message})
	}
	for i := range signs {
		s := &signs[i]
		s.Kind, s.Namespace, s.Name = "Machine", m.Namespace, m.Name
		if f := failure.Recognise(s); f != nil {
			x.is(f, says+": ")
			x.Quote = s.Message
			if said := failure.Telling(s.Message, 120); f.Code == "MachineInvalid" && said != "" {
				x.Says += " (" + said + ")"
			}
			return
		}
	}
	for i := range signs {
		if said := failure.Telling(signs[i].Message, 140); said != "" {
			x.Says, x.Quote = says+": "+said, signs[i].Message
			return
		}
	}
	for i := range signs { // Ready only sums up the others
		if s := &signs[i]; s.Reason != "" && (s.Type != "Ready" || len(signs) == 2) {
			x.Says, x.Alike = says+": "+strings.TrimPrefix(s.Type+"=False "+s.Reason, "=False "), s.Reason
			return
		}
	}
}

// unknownSign adds a workload that cannot create pods for a reason that is not a known one.
func (b *builder) unknownSign(s *sign) {
	said := failure.Telling(s.Message, 140)
	if s.Type != "ReplicaFailure" || said == "" {
		return
	}
	x := Node{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name, State: Faulty, Reason: s.Reason, Quote: s.Message, Since: s.since, Sure: Seen, Owner: "owner of the pods"}
	x.Says = strings.ToLower(s.Kind) + " " + x.full() + " cannot create pods: " + said
	b.add(x)
}

// otherSigns adds known failures that other objects show.
func (b *builder) otherSigns() {
	for i := range b.signs {
		s := &b.signs[i]
		f := failure.Recognise(&s.Sign)
		if f == nil {
			b.unknownSign(s)
			continue
		}
		id := ID(s.Kind, s.Namespace, s.Name)
		x := Node{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name, State: Faulty, Quote: s.Message, Since: s.since, Sure: Seen, Alike: f.Of.Name}
		x.is(f, "")
		if !strings.Contains(x.Says, s.Name) {
			x.Says = strings.ToLower(s.Kind) + " " + strings.TrimPrefix(s.Namespace+"/"+s.Name, "/") + ": " + x.Says
		}
		if f.Link {
			x.State = Waiting
			b.link(id, &x, &s.Sign)
		}
		if f.Of.Kind == "Service" && f.Of.Name != s.Name {
			of := Node{Kind: f.Of.Kind, Namespace: f.Of.Namespace, Name: f.Of.Name, State: Faulty, Quote: s.Message, Sure: Seen, Since: s.since}
			of.is(f, "")
			x.State, x.Says = Waiting, strings.ToLower(s.Kind)+" "+strings.TrimPrefix(s.Namespace+"/"+s.Name, "/")+": "+f.Sentence
			b.wait(id, b.add(of), f.Code, Seen)
		}
		b.add(x)
	}
}
