package plan

import (
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
)

// show completes what is seen of the cluster by what people keep.
func (y *player) show(s *Situation) {
	own := y.input.Situation
	if len(s.Cluster.Status.History) == 0 {
		s.Cluster.Status.Desired.Version = y.start
	}
	s.Gates, s.Moves, s.Risks, s.Configs, s.Replicas, s.Members, s.Operators, s.Removed = own.Gates, own.Moves, own.Risks, own.Configs, own.Replicas, own.Members, own.Operators, own.Removed
	s.Machines = own.Machines
	if own.Pods == nil {
		s.Pods = nil
	}
	if own.Budgets == nil {
		s.Budgets = nil
	}
	if own.Nodes == nil {
		s.Nodes = nil
	}
	if own.Pools == nil {
		s.Pools = nil
	}
}

// others carries out what no engine in memory does.
func (y *player) others(action Action) error {
	s := y.input.Situation
	switch a := action.(type) {
	case Acknowledged:
		if s.Gates.Acks == nil {
			s.Gates.Acks = map[string]string{}
		}
		s.Gates.Acks[a.Gate] = "true"
		y.changes++
	case Approve:
		if y.operators.actsIn(a.Namespace) {
			return y.operators.approve(a)
		}
		csvs := []string{a.CSV}
		for _, step := range y.saved.Steps {
			if step.Kind == MoveOperator && step.To == a.CSV {
				csvs = append(csvs, step.With...)
				break
			}
		}
		y.later(a.String(), y.policy.Estimates.Operator, func() {
			for i := range s.Operators {
				o := &s.Operators[i]
				for _, csv := range csvs {
					if o.Namespace == a.Namespace && slices.ContainsFunc(o.Versions, func(v OperatorVersion) bool { return v.Name == csv }) {
						o.Installed = csv
					}
				}
			}
		})
	}
	return nil
}

// later has something be done in time, unless it is under way.
func (y *player) later(what string, takes time.Duration, do func()) {
	if _, there := y.due[what]; !there {
		y.due[what] = duty{y.clock.Now().Add(takes), do}
	}
}

// duties does what is due.
func (y *player) duties() {
	for _, what := range slices.Sorted(maps.Keys(y.due)) {
		if d := y.due[what]; !d.at.After(y.clock.Now()) {
			d.do()
			delete(y.due, what)
			y.changes++
		}
	}
}

// people do what a step asks of them.
func (y *player) people(step *PlanStep) {
	s := y.input.Situation
	switch step.Kind {
	case FixBudget:
		if b, there := cluster.Get(y.all, cluster.Budgets(), step.Subject); there {
			one := &Situation{Budgets: []fairlead.PodDisruptionBudget{b}}
			loosen(one, step.Subject)
			_, _ = cluster.Update(y.all, cluster.Budgets(), one.Budgets[0]) // they try again
		}
	case FreeRoom:
		y.join(y.model.example(step.Subject), "")
	case ReplaceMember:
		if y.machines.replace(step.Subject) {
			return
		}
		for i := range s.Members {
			if s.Members[i].Name == step.Subject {
				s.Members[i].Healthy = fairlead.ConditionTrue
			}
		}
	case ChangeClients:
		for i := range s.Removed {
			if s.Removed[i].API == step.Subject {
				s.Removed[i].Users = nil
			}
		}
	}
}
