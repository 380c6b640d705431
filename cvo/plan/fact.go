package plan

import (
	"encoding/json"
	"slices"

	"github.com/fairlead/fairlead"
)

// input is a whole question, on which fixes are tried.
type input struct {
	Situation *Situation
	Goal      *Goal
	Policy    *Policy

	noRoom map[string]bool // results, here and of variants; see drains.lacksRoom
}

func newInput(s *Situation, goal *Goal, policy *Policy) *input {
	return &input{withUnderWay(s, goal), goal, policy, map[string]bool{}}
}

// withUnderWay returns a situation whose only update from the current release is the one in
// progress. If the other updates are unknown they stay so, unless the goal is that one.
func withUnderWay(s *Situation, goal *Goal) *Situation {
	if s == nil || s.Cluster == nil {
		return s
	}
	to, moving := onItsWay(s)
	from := s.Cluster.Runs()
	if !moving || to == from || s.Moves == nil && goal.Release != to {
		return s
	}
	own := *s
	own.Moves = []Move{{From: from, To: to}}
	for _, x := range s.Moves {
		if x.From != from {
			own.Moves = append(own.Moves, x)
		}
	}
	return &own
}

// clone returns a copy that shares nothing.
func (in *input) clone() *input {
	text, err := json.Marshal(in)
	if err != nil {
		panic(err) // unreachable: plain data
	}
	out := newInput(nil, nil, nil)
	if err := json.Unmarshal(text, out); err != nil {
		panic(err) // unreachable: it was written so
	}
	return out
}

// variant returns a copy to try fixes on. It shares nodes, pods, budgets and replicas,
// which may be many: a fix that changes one of these lists puts its own in their place.
func (in *input) variant() *input {
	s := *in.Situation
	s.Nodes, s.Pods, s.Budgets, s.Replicas = nil, nil, nil, nil
	out := newInput(&s, in.Goal, in.Policy).clone()
	own := out.Situation
	own.Nodes, own.Pods, own.Budgets, own.Replicas = in.Situation.Nodes, in.Situation.Pods, in.Situation.Budgets, in.Situation.Replicas
	out.noRoom = in.noRoom
	return out
}

// ownNodes returns the nodes of a variant for a fix to change. Earlier results about room no
// longer hold.
func (in *input) ownNodes() []fairlead.Node {
	in.Situation.Nodes, in.noRoom = slices.Clone(in.Situation.Nodes), map[string]bool{}
	return in.Situation.Nodes
}

// ownPods is as ownNodes, for pods.
func (in *input) ownPods() []fairlead.Pod {
	in.Situation.Pods, in.noRoom = slices.Clone(in.Situation.Pods), map[string]bool{}
	return in.Situation.Pods
}

// fact is something in the situation, the goal or the policy that a plan must respect. It is the
// reason of constraints, and explains conflicts.
type fact struct {
	reason  FactReason
	subject string // what it is about: a name, or ""
	text    string
	fixes   []fix
	plain   bool // it is stated anyway, like the goal
}

// String implements fmt.Stringer.
func (f *fact) String() string { return f.text }

// fix is a change of the question that may make a plan possible.
type fix struct {
	kind, subject string
	text          string
	apply         func(*input)
	cost          int // how much work it is for people; those with the least are tried first
}

// What fixes cost: permission of the administrator, work, and giving something up.
const (
	costLeave = iota
	costWork
	costLoss
)

// Fixes that several facts name.

func acceptRisk(name string) fix {
	return fix{"AcceptRisk", name, "accept the risk " + name + ", if this cluster can tolerate it", func(in *input) { in.Policy.Accept = append(in.Policy.Accept, name) }, costWork}
}

func allowBudgets() fix {
	return fix{"AllowBudgets", "", "allow changes to disruption budgets", func(in *input) { in.Policy.KeepBudgets = false }, costLeave}
}

func moveOperator(name string) fix {
	return fix{"AllowOperator", name, "allow the operator " + name + " to be updated", func(in *input) {
		in.Policy.KeepOperators = slices.DeleteFunc(in.Policy.KeepOperators, func(x string) bool { return x == name })
	}, costLeave}
}
