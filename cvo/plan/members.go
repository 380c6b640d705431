package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
)

// enough is how many members etcd needs for a node of the control plane to restart.
const enough = 3

// readMembers finds the members of etcd that must be replaced before a node of the
// control plane restarts.
func (m *model) readMembers() {
	s := m.Situation
	if text := tooFew(s); text != "" {
		m.master = append(m.master, m.once(FactFewMembers, "", text, fix{"AddMembers", "", "run an etcd member on every control plane node", func(in *input) { in.Situation.Members = nil }, costWork}))
	}
	var sick []string
	for i := range s.Members {
		if x := &s.Members[i]; x.Healthy == fairlead.ConditionFalse && !restarts(s, nodeOf(x)) {
			sick = append(sick, x.Name)
		}
	}
	slices.Sort(sick)
	n := len(s.Members)
	if len(sick) == 0 {
		return
	}
	heal := func(in *input) {
		for i := range in.Situation.Members {
			in.Situation.Members[i].Healthy = fairlead.ConditionTrue
		}
	}
	if n-len(sick) < n/2+1 {
		m.master = append(m.master, m.once(FactQuorumLost, strings.Join(sick, ","), fmt.Sprintf("etcd has lost quorum: %d of %d members are unhealthy (%s)", len(sick), n, strings.Join(sick, ", ")), fix{"RecoverEtcd", "", "recover etcd: bring its members back, or restore a backup", heal, costWork}))
		return
	}
	m.members = sick
}

// nodeOf returns the node of a member, which mostly has the node's name.
func nodeOf(x *Member) string {
	if x.Node != "" {
		return x.Node
	}
	return x.Name
}

// restarts reports whether a node is being updated to another configuration, so that a
// member that does not answer there is expected back.
func restarts(s *Situation, node string) bool {
	return slices.ContainsFunc(s.Nodes, func(n fairlead.Node) bool { return n.Name == node && rollout.Away(&n) })
}

// tooFew says that too few members of etcd vote and stay for a node of the control plane
// to restart, such as while one is replaced, when the old node may also be gone. It is
// "" if there are enough, there is a single node, Pacemaker keeps one of two members alive, or
// it is unknown.
func tooFew(s *Situation) string {
	nodes := 0
	for i := range s.Nodes {
		if p, err := rollout.PrimaryPool(s.Pools, &s.Nodes[i]); err == nil && p != nil && p.Name == rollout.PoolMaster {
			nodes++
		}
	}
	var going []string
	for i := range s.Members {
		if m := machineOf(s, nodeOf(&s.Members[i])); m != nil && m.Deleting() {
			going = append(going, m.String())
		}
	}
	n := len(s.Members) - len(going)
	if len(s.Members) == 0 || n >= enough || n == 1 && nodes <= 1 || s.Topology == TopologyTwo && n == 2 {
		return ""
	}
	text := "etcd has only " + words.Count(n, "voting member", "voting members")
	if len(going) > 0 {
		text = fmt.Sprintf("etcd keeps only %s once %s %s deleted", words.Count(n, "voting member", "voting members"), words.List(going, "and", 3), words.Plural(len(going), "is", "are"))
	}
	return text + ": it would lose quorum while a control plane node restarts"
}

// machineOf returns the machine of a node, nil if none is known.
func machineOf(s *Situation, node string) *lifecycle.Machine {
	for i := range s.Machines {
		if ref := s.Machines[i].Status.NodeRef; ref != nil && ref.Name == node {
			return &s.Machines[i]
		}
	}
	return nil
}

// leaves reports whether a node is being removed, because its machine is being deleted.
func leaves(s *Situation, node string) bool {
	m := machineOf(s, node)
	return m != nil && m.Deleting()
}

// replaceCommand is how people replace a member.
func replaceCommand(s *Situation, member string) string {
	for i := range s.Members {
		if x := &s.Members[i]; x.Name == member {
			if m := machineOf(s, nodeOf(x)); m != nil {
				return shell.Command("oc -n %s delete machine %s", m.Namespace, m.Name)
			}
		}
	}
	return "oc -n openshift-machine-api get machines -l machine.openshift.io/cluster-api-machine-role=master -o wide"
}

// growCommand adds a node like those of a pool, or like a node, as "pool worker" or "node w-1".
func (m *model) growCommand(c choice) string {
	like := m.example(c.subject)
	const list = "oc -n openshift-machine-api get machinesets"
	if like == nil {
		return list
	}
	own := machineOf(m.Situation, like.Name)
	if own == nil {
		return list
	}
	set := func(x *lifecycle.Machine) string {
		for _, o := range x.OwnerReferences {
			if o.Kind == "MachineSet" {
				return x.Namespace + "/" + o.Name
			}
		}
		return ""
	}
	name, n := set(own), 0
	if name == "" {
		return list
	}
	for i := range m.Situation.Machines {
		if set(&m.Situation.Machines[i]) == name {
			n++
		}
	}
	namespace, short, _ := strings.Cut(name, "/")
	return shell.Command("oc -n %s scale machineset %s --replicas=%s", namespace, short, fmt.Sprint(n+1))
}
