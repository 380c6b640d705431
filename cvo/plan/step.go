package plan

import (
	"context"
	"errors"

	"reflect"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Step carries out a plan, one step at a time, over as many days as it takes. It is a
// pure function; a nil policy means the defaults. World must not be nil.
//
//  1. Steps that are observed to be done leave the plan.
//  2. The rest is followed as long as it leads from the current situation to the goal,
//     by the encoding of [Make], even if there now is a better plan. Otherwise, and
//     for another goal, a new plan is made.
//  3. The next step begins when it is in a window that is long enough, and depends on
//     nothing that was not observed, unless the policy says otherwise. Steps for
//     people, and those that others carry out by themselves, are reported.
//
// Nothing is started while the cluster is being updated.
func Step(state State, w *World, now time.Time, policy *Policy) Decision {
	if policy == nil {
		policy = &Policy{}
	}
	s := &stepper{Ledger: fairlead.NewLedger(state.Pending, w.Outcomes, now, fairlead.Backoff{Min: 10 * time.Second, Max: 5 * time.Minute}), w: w, now: now, policy: policy}
	s.state.Steps, s.state.Goal, s.state.Replans = state.Steps, state.Goal, state.Replans
	s.run()
	s.state.Pending = s.Pending()
	return Decision{State: s.state, Actions: s.actions, Blocked: s.Blocked(), Wake: s.Wake()}
}

// stepper makes a decision.
type stepper struct {
	fairlead.Ledger
	w       *World
	now     time.Time
	policy  *Policy
	state   State
	actions []Action
}

const subject = "plan"

func (s *stepper) run() {
	sit := s.w.Situation
	sit.At = s.now // what takes place takes place from now on
	question := newInput(&sit, &s.w.Goal, s.policy)
	if err := question.check(); err != nil {
		s.Block(fairlead.Block{Subject: subject, Reason: ReasonNotMade, Message: err.Error(), Owner: ownerAdmin, Unblock: "correct the goal, the policy or the situation"})
		return
	}
	if to, moving := onItsWay(&sit); moving {
		s.Block(fairlead.Block{Subject: subject, Reason: ReasonUnderWay, Message: "the cluster is being updated to " + to, Owner: "cluster-version operator", Unblock: "wait until the history of the ClusterVersion shows " + to + " as Completed"})
		return
	}
	if text := tooFew(&sit); text != "" && question.Goal.moves() {
		s.Block(fairlead.Block{Subject: subject, Reason: ReasonUnderWay, Message: text, Owner: "etcd operator", Unblock: "wait until every control plane node runs an etcd member; if no machine is being added, add one"})
		return
	}
	parts, m := s.follow(question)
	if m == nil {
		return
	}
	if len(s.state.Steps) == 0 {
		return
	}
	s.begin(s.fresh(parts, m))
}

// onItsWay returns the release that the cluster is being updated to.
func onItsWay(sit *Situation) (string, bool) {
	if h := sit.Cluster.UnderWay(); h != nil && len(sit.Cluster.Status.History) > 1 {
		return h.Version, true
	}
	return "", false
}

// follow drops the steps that are done, and makes a new plan if the rest does not lead
// to the goal. It returns a nil model if there is no plan.
func (s *stepper) follow(q *input) ([]*part, *model) {
	if target := goalOf(s.state.Steps); len(s.state.Steps) > 0 && reflect.DeepEqual(s.state.Goal, s.w.Goal) {
		if target == "" {
			target = q.Situation.Cluster.Runs()
		}
		if m, bad := newModel(q, target); bad == nil && m.tooMany() == nil {
			s.state.Steps = m.left(s.state.Steps)
			parts := m.parts()
			if leads(parts, s.state.Steps, s.policy) {
				return parts, m
			}
		}
		s.state.Replans++
	}
	p, no, err := q.plan(context.Background())
	if no != nil {
		err = q.refuse(context.Background(), no)
	}
	var none *NoPlanError
	switch {
	case errors.As(err, &none):
		b := fairlead.Block{Subject: subject, Reason: ReasonNoPlan, Message: none.Facts[0], Owner: ownerAdmin, Unblock: "fix what the message names, or change the goal or the policy"}
		if len(none.Fixes) > 0 {
			b.Unblock = none.Fixes[0].Do[0]
		}
		s.Block(b)
	case err != nil:
		s.Block(fairlead.Block{Subject: subject, Reason: ReasonNotMade, Message: err.Error(), Owner: ownerAdmin, Unblock: "raise the limit that the message names, or choose a closer goal"})
	}
	if err != nil {
		s.state.Steps, s.state.Goal = nil, Goal{}
		return nil, nil
	}
	s.state.Steps, s.state.Goal = p.Steps, s.w.Goal
	m, _ := newModel(q, p.To)
	return m.parts(), m
}

// goalOf returns the last release that steps lead to.
func goalOf(steps []PlanStep) (release string) {
	for _, s := range steps {
		if s.Kind == MoveCluster || s.Kind == Roll {
			release = s.To
		}
	}
	return release
}

// leads reports whether steps are a plan, not necessarily the best one.
func leads(parts []*part, steps []PlanStep, policy *Policy) bool {
	p := &Plan{Steps: steps}
	used := 0
	for _, x := range parts {
		n, err := x.follow(context.Background(), policy, p, nil)
		if err != nil {
			return false
		}
		used += n
	}
	return used == len(steps)
}

// fresh rebuilds the next step from the current observation.
func (s *stepper) fresh(parts []*part, m *model) PlanStep {
	next := s.state.Steps[0]
	w := &writer{m: m, p: &Plan{}, release: m.start, e: s.policy.Estimates.complete()}
	for _, x := range parts {
		for _, c := range x.choices {
			if c.is(&next) {
				w.add(c)
				return w.p.Steps[0]
			}
		}
	}
	return next
}

// left returns the steps that remain. Pools are paused and unpaused in turn, so only
// the next such step can be observed to be done; the same is true of nodes out of
// service, because a node is also empty when it restarts.
func (m *model) left(steps []PlanStep) (left []PlanStep) {
	for i := range steps {
		x := &steps[i]
		if len(left) > 0 && (x.Kind == Pause || x.Kind == Unpause || x.Kind == OutOfService) || !m.done(x) {
			left = append(left, *x)
		}
	}
	return left
}

// done reports whether a step is observed to be done.
func (m *model) done(x *PlanStep) bool {
	s := m.Situation
	switch x.Kind {
	case MoveCluster:
		return semverx.Tolerant(m.start).Compare(semverx.Tolerant(x.To)) >= 0
	case Roll, Pause, Unpause:
		for _, p := range m.pools {
			if p.name == x.Subject {
				return x.Kind == Roll && p.at == x.To || x.Kind == Pause && p.paused || x.Kind == Unpause && !p.paused
			}
		}
		return true
	case MoveOperator:
		for _, o := range s.Operators {
			if o.Package == x.Subject {
				return o.Installed == x.To
			}
		}
		return true
	case ChangeClients:
		a := m.removed[x.Subject]
		return a == nil || len(a.clients) == 0
	case Acknowledge:
		return s.Gates == nil || s.Gates.Acks[x.Subject] == "true"
	case FixBudget:
		return !slices.ContainsFunc(m.budgets, func(b budget) bool { return b.name == x.Subject })
	case FreeRoom:
		return !slices.ContainsFunc(m.pools, func(p pool) bool { return "pool "+p.name == x.Subject && p.need.room }) &&
			!slices.ContainsFunc(m.drains, func(d drained) bool { return "node "+d.node == x.Subject && d.need.room })
	case ReplaceMember:
		return !slices.Contains(m.members, x.Subject)
	case OutOfService:
		return empty(s, x.Subject, &m.Policy.Drain)
	}
	return true
}

// empty reports whether a node is out of service.
func empty(s *Situation, node string, policy *drain.Policy) bool {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Name == node {
			plan, err := drain.NewPlan(&drain.PlanRequest{Nodes: s.Nodes, Drain: []string{node}, Pods: s.Pods, Budgets: s.Budgets, Replicas: s.Replicas, IgnoreRoom: true}, s.At, policy)
			return err == nil && n.Spec.Unschedulable && !rollout.Away(n) && plan.Evicted == 0 && plan.Stuck == 0
		}
	}
	return true
}

// begin takes the next step, or says what it waits for.
func (s *stepper) begin(x PlanStep) {
	block := func(reason, message, owner, unblock string, under ...Action) {
		for _, a := range under {
			message = s.Because(message, a.Key())
		}
		s.Block(fairlead.Block{Subject: subject, Reason: reason, Message: message, Owner: owner, Unblock: unblock})
	}
	action := x.act(&s.w.Situation)
	switch at := s.policy.next(s.now, x.Takes); {
	case s.w.Paused:
		block(ReasonPaused, "the next step is to "+x.String()+", but the plan is paused", ownerAdmin, "resume the plan")
		return
	case len(x.Unseen) > 0 && !s.policy.GoUnseen && action != nil:
		block(ReasonUnseen, "the next step is to "+x.String()+", but this is unknown: "+x.Unseen[0].What, ownerAdmin, x.Unseen[0].Command)
		return
	case action == nil && x.Kind != Roll:
		block(ReasonPeople, "the next step is to "+x.String()+": "+x.Why, x.Owner, x.Command)
		return
	case at.IsZero() && action != nil:
		block(ReasonWindow, "the next step is to "+x.String()+", but no remaining window is long enough", ownerAdmin, "add a window of at least "+words.Span(x.Takes))
		return
	case at.After(s.now) && action != nil:
		s.At(at)
		block(ReasonWindow, "the next step is to "+x.String()+", in the window that starts at "+at.UTC().Format(time.RFC3339), "", "wait for the window")
		return
	}
	if action == nil {
		block(ReasonUnderWay, "the nodes of pool "+x.Subject+" are restarting into "+x.To, "machine-config operator", x.After)
		return
	}
	if s.Due(action.Key()) {
		s.actions = append(s.actions, action)
	}
	block(ReasonUnderWay, "under way: "+x.String(), "", x.After, action)
}

// act returns what the engine does for a step; nil if others do all of it.
func (s *PlanStep) act(sit *Situation) Action {
	switch s.Kind {
	case MoveCluster:
		return SetRelease{s.To}
	case Pause, Unpause:
		return SetPaused{s.Subject, s.Kind == Pause}
	case Acknowledge:
		return Acknowledged{s.Subject}
	case OutOfService:
		return DrainNode{s.Subject}
	case MoveOperator:
		for _, o := range sit.Operators {
			if o.Package == s.Subject {
				return Approve{o.Namespace, o.Package, s.To}
			}
		}
	}
	return nil
}
