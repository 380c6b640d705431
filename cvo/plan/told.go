package plan

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
)

// The facts about operators, members and room. Each is made once, so
// that constraints of one reason share it.

func (m *model) once(reason FactReason, subject, text string, fixes ...fix) *fact {
	if m.facts == nil {
		m.facts = map[string]*fact{}
	}
	f := m.facts[text]
	if f == nil {
		f = &fact{reason: reason, subject: subject, text: text, fixes: fixes}
		m.facts[text] = f
	}
	return f
}

func (m *model) supports(o *operator, k, stage int) *fact {
	text := fmt.Sprintf("%s supports OpenShift up to %s, and the cluster will be at %s", o.Versions[k].Name, o.Versions[k].MaxOpenShift, m.stages[stage])
	if o.UpdatesUnknown { // removing what may have an update is no advice
		return m.once(FactUnsupported, o.Versions[k].Name, text)
	}
	return m.once(FactUnsupported, o.Versions[k].Name, text, m.removal(o.Operator))
}

func (m *model) keptOperator(o *operator) *fact {
	return m.once(FactKeptOperator, o.Package, "the policy forbids updating the operator "+o.Package, moveOperator(o.Package), m.removal(o.Operator))
}

// heldOperator is why OLM does not replace an operator.
func (m *model) heldOperator(o *operator) *fact {
	override := shell.Command("oc -n %s patch operatorcondition %s --type merge -p %s", o.Namespace, o.Installed, shell.JSON(map[string]any{"spec": map[string]any{"overrides": []any{map[string]any{"type": "Upgradeable", "status": "True", "reason": "Overridden", "message": "by the administrator"}}}}))
	return m.once(FactHeld, o.Package, fmt.Sprintf("OLM does not replace %s: its OperatorCondition has Upgradeable=False: %s", o.Installed, clip(o.Held, 140)),
		fix{"WaitForOperator", o.Package, "wait until the operator " + o.Package + " reports that it is upgradeable, or override it: " + override, func(in *input) { own(in, o.Package).Held = "" }, costWork})
}

// trouble is why OLM cannot update an operator.
func (m *model) trouble(o *operator) *fact {
	return m.once(FactTrouble, o.Package, fmt.Sprintf("OLM cannot update the operator %s: %s", o.Package, clip(o.Trouble, 160)),
		fix{"RepairSubscription", o.Package, "fix what the Subscription " + o.Namespace + "/" + o.Subscription + " reports", func(in *input) { own(in, o.Package).Trouble = "" }, costWork})
}

// own is an operator of a question, by its package.
func own(in *input, name string) *Operator {
	for i := range in.Situation.Operators {
		if o := &in.Situation.Operators[i]; o.Package == name {
			return o
		}
	}
	return &Operator{}
}

func (m *model) offers(o *operator) *fact {
	if o.UpdatesUnknown {
		return m.once(FactCatalogUnknown, o.Package, fmt.Sprintf("which updates the operator %s has is unknown: give the catalog of each minor version, as in -catalog %s=PATH", o.Package, m.stages[0]))
	}
	if o.Subscription == "" && len(o.Updates) == 0 {
		return m.once(FactNoHop, o.Package, fmt.Sprintf("no Subscription updates the CSV %s/%s", o.Namespace, o.Installed), m.removal(o.Operator))
	}
	channel := "the channel"
	if o.Channel != "" {
		channel = "the channel " + o.Channel
	}
	between := "catalog of " + m.stages[0].String()
	if n := len(m.stages); n > 1 {
		between = fmt.Sprintf("catalogs of %s to %s", m.stages[0], m.stages[n-1])
	}
	return m.once(FactNoHop, o.Package, fmt.Sprintf("%s of the operator %s has no other update path from %s in the %s", channel, o.Package, o.Installed, between), m.removal(o.Operator))
}

func (m *model) wanted(o *operator) *fact {
	return m.once(FactOperatorGoal, o.Package, "the goal requires the operator "+o.Package+" to be at "+o.goal, fix{"LeaveOperator", o.Package, "leave the operator " + o.Package + " at its current version", func(in *input) {
		in.Goal.Operators = slices.DeleteFunc(in.Goal.Operators, func(x OperatorGoal) bool { return x.Package == o.Package })
	}, costLoss})
}

func (m *model) runs(o *operator) *fact {
	f := m.once(FactInstalled, o.Package, fmt.Sprintf("the operator %s is installed at %s", o.Package, o.Installed))
	if f.fixes == nil && !o.UpdatesUnknown {
		f.fixes = []fix{m.removal(o.Operator)}
	}
	f.plain = true
	return f
}

func (m *model) keptMember(name string) *fact {
	return m.once(FactKeptMember, name, "the etcd member "+name+" is unhealthy, and the policy forbids replacing members",
		fix{"HealMember", name, "make the etcd member " + name + " healthy again", func(in *input) {
			for i := range in.Situation.Members {
				if in.Situation.Members[i].Name == name {
					in.Situation.Members[i].Healthy = fairlead.ConditionTrue
				}
			}
		}, costWork},
		fix{"AllowMembers", "", "allow etcd members to be replaced", func(in *input) { in.Policy.KeepMembers = false }, costLeave})
}

// lacksRoom is why a pool, or a node, cannot be drained. Fixes add a node like the
// largest one.
func (m *model) lacksRoom(what string) *fact {
	f := m.once(FactNoRoom, what, "the pods of "+what+" do not fit on the other nodes during the drain, and the policy forbids adding nodes")
	if f.fixes != nil {
		return f
	}
	if n := m.example(what); n != nil {
		f.fixes = append(f.fixes, fix{"AddNode", n.Name, fmt.Sprintf("add one node like %s (%s cpu, %s memory)", n.Name, n.Status.Allocatable["cpu"], n.Status.Allocatable["memory"]), func(in *input) {
			in.ownNodes()
			addNode(in.Situation, n, 1)
		}, costWork})
	}
	f.fixes = append(f.fixes, fix{"AllowNodes", "", "allow nodes to be added", func(in *input) { in.Policy.KeepNodes = false }, costLeave})
	return f
}

// example returns a node of a pool, or the node itself.
func (m *model) example(what string) *fairlead.Node {
	for i := range m.Situation.Nodes {
		n := &m.Situation.Nodes[i]
		if "node "+n.Name == what {
			return n
		}
		for k := range m.pools {
			if "pool "+m.pools[k].name == what && slices.Contains(m.pools[k].nodes, n.Name) {
				return n
			}
		}
	}
	return nil
}

// addNode adds empty nodes like an existing one.
func addNode(s *Situation, like *fairlead.Node, count int) {
	for i := range count {
		n := *like
		n.Name = fmt.Sprintf("%s-new-%d", like.Name, i+1)
		n.UID, n.Spec.Unschedulable = n.Name, false
		s.Nodes = append(s.Nodes, n)
	}
}
