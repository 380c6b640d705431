package plan_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
)

// Each part of the question counts: where it is left out, the answer to some small
// world is another one than that of a search over all orders, in verdict or price.
func TestNothingIsLeftOut(t *testing.T) {
	type answer struct {
		price
		ok bool
	}
	known := map[uint64]answer{}
	for name, leaveOut := range map[string]func(*plan.Situation, *plan.Goal, *plan.Policy){
		"risks of updates": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			each(s.Moves, func(m *plan.Move) { m.Risks = nil })
		},
		"what risks apply":     func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) { s.Risks = nil },
		"accepted risks":       func(_ *plan.Situation, _ *plan.Goal, p *plan.Policy) { p.Accept = nil },
		"gates":                func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) { s.Gates = &cvo.AdminGates{} },
		"operators of release": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) { s.ClusterOperators = []cvo.ClusterOperator{} },
		"pools":                func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) { s.Pools = []cvo.Pool{} },
		"paused pools": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			each(s.Pools, func(p *cvo.Pool) { p.Spec.Paused = false })
		},
		"what pools run": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			for k := range s.Configs {
				s.Configs[k] = "4.18.1"
			}
		},
		"budgets": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) { s.Budgets = []fairlead.PodDisruptionBudget{} },
		"pods":    func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) { s.Pods = []fairlead.Pod{} },
		"room": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			each(s.Nodes, func(n *fairlead.Node) {
				n.Status.Allocatable = map[string]string{"cpu": "99", "memory": "99Gi", "pods": "99"}
			})
		},
		"cordoned nodes": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			each(s.Nodes, func(n *fairlead.Node) { n.Spec.Unschedulable = false })
		},
		"members": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) { s.Members = []plan.Member{} },
		"what operators support": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			versions(s, func(v *plan.OperatorVersion) { v.MaxOpenShift = "" })
		},
		"what operators need": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			versions(s, func(v *plan.OperatorVersion) { v.MinKube = "" })
		},
		"what operators require": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			versions(s, func(v *plan.OperatorVersion) { v.Requires = nil })
		},
		"ranges of packages": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			versions(s, func(v *plan.OperatorVersion) {
				each(v.Requires, func(r *plan.Requirement) { r.Range = "" })
			})
		},
		"APIs that operators provide": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			versions(s, func(v *plan.OperatorVersion) { v.Provides = nil })
		},
		"namespaces of operators": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			for i := range s.Operators {
				s.Operators[i].Namespace += s.Operators[i].Package
			}
		},
		"APIs that operators use": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			versions(s, func(v *plan.OperatorVersion) { v.Uses = nil })
		},
		"clients of removed APIs": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			each(s.Removed, func(a *plan.RemovedAPI) { a.Users = nil })
		},
		"when APIs go away": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			each(s.Removed, func(a *plan.RemovedAPI) { a.In = "1.99" })
		},
		"catalogs of minor versions": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			each(s.Operators, func(o *plan.Operator) { each(o.Updates, func(u *plan.OperatorUpdate) { u.Minors = nil }) })
		},
		"updates of operators": func(s *plan.Situation, _ *plan.Goal, _ *plan.Policy) {
			each(s.Operators, func(o *plan.Operator) { o.Updates = nil })
		},
		"goals of operators": func(_ *plan.Situation, g *plan.Goal, _ *plan.Policy) { g.Operators = nil },
		"nodes to go":        func(_ *plan.Situation, g *plan.Goal, _ *plan.Policy) { g.Nodes = nil },
		"pausing workers":    func(_ *plan.Situation, g *plan.Goal, _ *plan.Policy) { g.PauseWorkers = false },
		"kept operators":     func(_ *plan.Situation, _ *plan.Goal, p *plan.Policy) { p.KeepOperators = nil },
		"kept budgets":       func(_ *plan.Situation, _ *plan.Goal, p *plan.Policy) { p.KeepBudgets = false },
		"kept nodes":         func(_ *plan.Situation, _ *plan.Goal, p *plan.Policy) { p.KeepNodes = false },
		"kept members":       func(_ *plan.Situation, _ *plan.Goal, p *plan.Policy) { p.KeepMembers = false },
		"no pause":           func(_ *plan.Situation, _ *plan.Goal, p *plan.Policy) { p.NoPause = false },
		"preference":         func(_ *plan.Situation, _ *plan.Goal, p *plan.Policy) { p.Prefer = plan.FewestSteps },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(4000) {
				w := draw(rand.New(rand.NewPCG(20, seed)))
				s, goal, policy := w.situation()
				before, _ := json.Marshal([]any{s, goal, policy})
				leaveOut(s, goal, policy)
				if after, _ := json.Marshal([]any{s, goal, policy}); bytes.Equal(before, after) {
					continue
				}
				p, err := plan.Make(t.Context(), s, goal, policy)
				if _, there := known[seed]; !there {
					best, ok := w.brute()
					known[seed] = answer{best, ok}
				}
				want, ok := known[seed].price, known[seed].ok
				if ok != (err == nil) || ok && (price{p.Cost.Unknown, p.Cost.Steps, p.Cost.Restarts}) != want {
					return // noticed
				}
			}
			t.Error("nothing notices that it is left out")
		})
	}
}

func each[T any](list []T, change func(*T)) {
	for i := range list {
		change(&list[i])
	}
}

func versions(s *plan.Situation, change func(*plan.OperatorVersion)) {
	each(s.Operators, func(o *plan.Operator) { each(o.Versions, change) })
}
