package plan_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
)

// world is a small cluster, in terms that need no engine: what a search over all
// orders knows of it.
type world struct {
	Releases []string // in order; the first one runs, the last is the goal unless Nodes or Operators alone are asked for
	Stay     bool     // the release is not to change
	Edges    []worldEdge
	Gates    []string // of the first minor version, not acknowledged
	Upgrade  bool     // an operator of the release keeps the minor version
	Pools    []worldPool
	Sick     int // members of etcd, of three, that do not answer
	Ops      []worldOperator
	Nodes    []string // to be out of service
	Gone     int      // the minor version without the API "old"; 0 for none
	Clients  bool     // somebody besides operators asks for it

	Accept                                     []string
	PauseWorkers, NoPause                      bool
	KeepBudgets, KeepNodes, KeepMembers, Least bool
}

type worldEdge struct {
	From, To int
	Risk     string // "", applies, maybe, not
}

type worldPool struct {
	Name           string
	Nodes          int
	Paused         bool
	At             int // release that its nodes run; -1 for one before all
	Budget, NoRoom bool
	Cordoned       bool // its first node is
}

type worldOperator struct {
	Name string
	Max  []int // by version: the last minor, 0 for none
	Min  []int // by version: the first minor that it runs on, 0 for any
	Hops []worldHop
	Keep bool
	Goal int // version; -1 for none

	Needs [][]worldNeed // by version
	Gives [][]string    // by version: APIs
	Uses  []bool        // by version: the API "old"
}

// worldNeed is an API, or versions of another operator; -1 is one that is not
// installed.
type worldNeed struct {
	API         string
	Op, Lo, Top int
}

type worldHop struct {
	From, To int
	Minor    int // of the catalog that has it; 0 for all
}

func minorOf(release string) int {
	var major, minor, patch int
	fmt.Sscanf(release, "%d.%d.%d", &major, &minor, &patch)
	return minor
}

// draw makes a small world.
func draw(r *rand.Rand) *world {
	w := &world{Releases: []string{"4.18.1"}}
	minors := 1 + r.IntN(3)
	for m := range minors {
		for p := range 1 + r.IntN(2) {
			if m > 0 || p > 0 {
				w.Releases = append(w.Releases, fmt.Sprintf("4.%d.%d", 18+m, 1+p))
			}
		}
	}
	w.Stay = r.IntN(8) == 0
	for a := range w.Releases {
		for b := a + 1; b < len(w.Releases); b++ {
			if d := minorOf(w.Releases[b]) - minorOf(w.Releases[a]); d > 1 || r.IntN(5) == 0 {
				continue
			}
			e := worldEdge{From: a, To: b}
			if r.IntN(3) == 0 {
				e.Risk = []string{"Applies", "Maybe", "Not", "Other"}[r.IntN(4)]
			}
			w.Edges = append(w.Edges, e)
		}
	}
	alone := r.IntN(2) == 0 // operators, and little else
	for range r.IntN(3) {
		if alone {
			break
		}
		w.Gates = append(w.Gates, fmt.Sprintf("ack-4.18-x%d-in-4.19", len(w.Gates)))
	}
	w.Upgrade = r.IntN(12) == 0
	for i, name := range []string{"master", "worker", "infra"}[:r.IntN(4)] {
		if alone {
			break
		}
		p := worldPool{Name: name, Nodes: 1 + r.IntN(2), Budget: r.IntN(4) == 0, NoRoom: r.IntN(6) == 0}
		if i > 0 {
			p.Paused = r.IntN(4) == 0
			if r.IntN(4) == 0 {
				p.At = -1
			}
			p.Cordoned = r.IntN(12) == 0
		}
		w.Pools = append(w.Pools, p)
	}
	if r.IntN(4) == 0 && !alone {
		w.Sick = 1 + r.IntN(2)
	}
	operators := r.IntN(3)
	if alone {
		operators = 2 + r.IntN(2)
	}
	for i := range operators {
		o := worldOperator{Name: fmt.Sprint("op", i), Keep: r.IntN(8) == 0, Goal: -1}
		n := 1 + r.IntN(4)
		for k := range n {
			limit, least := 0, 0
			if r.IntN(2) == 0 {
				limit = 18 + r.IntN(3)
			}
			if k > 0 && r.IntN(4) == 0 {
				least = 18 + r.IntN(3)
			}
			o.Max, o.Min = append(o.Max, limit), append(o.Min, least)
			for j := range k {
				if r.IntN(3) > 0 {
					o.Hops = append(o.Hops, worldHop{j, k, []int{0, 0, 18, 19, 20}[r.IntN(5)]})
				}
			}
		}
		if r.IntN(4) == 0 || alone && r.IntN(2) == 0 {
			o.Goal = r.IntN(n)
		}
		w.Ops = append(w.Ops, o)
	}
	w.dependencies(r)
	if len(w.Pools) > 1 && r.IntN(5) == 0 {
		w.Nodes = []string{"worker-0"}
	}
	if r.IntN(3) == 0 {
		w.Accept = []string{"Applies"}
	}
	yes := func(n int) bool { return r.IntN(n) == 0 }
	w.PauseWorkers, w.NoPause = yes(5), yes(6)
	w.KeepBudgets, w.KeepNodes, w.KeepMembers, w.Least = yes(6), yes(6), yes(6), yes(2)
	return w
}

// dependencies has operators require something of each other, and use an API that goes
// away.
func (w *world) dependencies(r *rand.Rand) {
	if r.IntN(4) == 0 {
		w.Gone, w.Clients = 18+r.IntN(3), r.IntN(2) == 0
	}
	for i := range w.Ops {
		o := &w.Ops[i]
		for range o.Max {
			var needs []worldNeed
			var gives []string
			switch r.IntN(8) {
			case 0:
				needs = append(needs, worldNeed{API: []string{"x", "y"}[r.IntN(2)]})
			case 1, 2:
				k := r.IntN(len(w.Ops)+1) - 1
				if r.IntN(3) > 0 {
					k = (i + 1) % len(w.Ops)
				}
				lo := r.IntN(4)
				if k != i {
					needs = append(needs, worldNeed{Op: k, Lo: lo, Top: lo + r.IntN(3)})
				}
			}
			for _, api := range []string{"x", "y"} {
				if r.IntN(2) == 0 {
					gives = append(gives, api)
				}
			}
			o.Needs, o.Gives, o.Uses = append(o.Needs, needs), append(o.Gives, gives), append(o.Uses, w.Gone > 0 && r.IntN(3) == 0)
		}
	}
}

// situation writes a world down as objects of the API.
func (w *world) situation() (*plan.Situation, *plan.Goal, *plan.Policy) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	cv := &cvo.ClusterVersion{}
	cv.Name = "version"
	cv.Status.Desired.Version = w.Releases[0]
	done := now.Add(-time.Hour)
	cv.Status.History = []cvo.History{{State: cvo.Completed, Version: w.Releases[0], StartedTime: now.Add(-2 * time.Hour), CompletionTime: &done}}
	s := &plan.Situation{
		At: now, Cluster: cv, ClusterOperators: []cvo.ClusterOperator{}, Gates: &cvo.AdminGates{Gates: map[string]string{}},
		Moves: []plan.Move{}, Pools: []cvo.Pool{}, Nodes: []fairlead.Node{}, Pods: []fairlead.Pod{}, Budgets: []fairlead.PodDisruptionBudget{},
		Members: []plan.Member{}, Operators: []plan.Operator{}, Configs: map[string]string{},
		Risks: []plan.Risk{{Name: "Applies", Applies: fairlead.ConditionTrue}, {Name: "Maybe", Applies: fairlead.ConditionUnknown}, {Name: "Not", Applies: fairlead.ConditionFalse}},
	}
	for _, e := range w.Edges {
		m := plan.Move{From: w.Releases[e.From], To: w.Releases[e.To]}
		if e.Risk != "" {
			m.Risks = []string{e.Risk}
		}
		s.Moves = append(s.Moves, m)
	}
	for _, g := range w.Gates {
		s.Gates.Gates[g] = "something goes away"
	}
	if w.Upgrade {
		o := cvo.ClusterOperator{ObjectMeta: cvo.ObjectMeta{Name: "storage"}}
		o.Status.Conditions = []fairlead.Condition{{Type: "Upgradeable", Status: fairlead.ConditionFalse, Reason: "OldDriver", Message: "a driver is too old"}}
		s.ClusterOperators = append(s.ClusterOperators, o)
	}
	spare := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "spare", UID: "spare"}} // of no pool
	spare.Status.Allocatable = map[string]string{"cpu": "4", "memory": "16Gi", "pods": "100"}
	s.Nodes = append(s.Nodes, spare)
	for _, p := range w.Pools {
		w.poolObjects(s, p)
	}
	for i := range 3 {
		m := plan.Member{Name: fmt.Sprint("m", i), Healthy: fairlead.ConditionTrue}
		if i < w.Sick {
			m.Healthy = fairlead.ConditionFalse
		}
		s.Members = append(s.Members, m)
	}
	for _, o := range w.Ops {
		s.Operators = append(s.Operators, o.object())
	}
	s.Removed = []plan.RemovedAPI{}
	if w.Gone > 0 {
		a := plan.RemovedAPI{API: "olds.v1.example.com", In: fmt.Sprintf("1.%d", w.Gone+13)}
		if w.Clients {
			a.Users = []string{"system:serviceaccount:shop:web"}
		}
		s.Removed = append(s.Removed, a)
	}
	goal := &plan.Goal{Release: w.Releases[len(w.Releases)-1], PauseWorkers: w.PauseWorkers, Nodes: w.Nodes}
	if w.Stay {
		goal.Release = ""
	}
	policy := &plan.Policy{Accept: w.Accept, NoPause: w.NoPause, KeepBudgets: w.KeepBudgets, KeepNodes: w.KeepNodes, KeepMembers: w.KeepMembers}
	if w.Least {
		policy.Prefer = plan.LeastDisruption
	}
	for _, o := range w.Ops {
		if o.Goal >= 0 {
			goal.Operators = append(goal.Operators, plan.OperatorGoal{Package: o.Name, Version: fmt.Sprintf("%d.0.0", o.Goal+1)})
		}
		if o.Keep {
			policy.KeepOperators = append(policy.KeepOperators, o.Name)
		}
	}
	return s, goal, policy
}

func (o worldOperator) object() plan.Operator {
	x := plan.Operator{Package: o.Name, Namespace: "ops", Subscription: o.Name, Channel: "stable", Installed: o.Name + ".v1"}
	for k := range o.Max {
		v := plan.OperatorVersion{Name: fmt.Sprintf("%s.v%d", o.Name, k+1), Version: fmt.Sprintf("%d.0.0", k+1)}
		if o.Max[k] > 0 {
			v.MaxOpenShift = fmt.Sprintf("4.%d", o.Max[k])
		}
		if o.Min[k] > 0 {
			v.MinKube = fmt.Sprintf("1.%d.0", o.Min[k]+13)
		}
		for _, n := range o.Needs[k] {
			q := plan.Requirement{API: n.API}
			if n.API == "" {
				q = plan.Requirement{Package: fmt.Sprint("op", n.Op), Range: fmt.Sprintf(">=%d.0.0 <=%d.0.0", n.Lo+1, n.Top+1)}
			}
			v.Requires = append(v.Requires, q)
		}
		v.Provides = o.Gives[k]
		if o.Uses[k] {
			v.Uses = []string{"olds.v1.example.com"}
		}
		x.Versions = append(x.Versions, v)
	}
	for _, h := range o.Hops {
		u := plan.OperatorUpdate{From: fmt.Sprintf("%s.v%d", o.Name, h.From+1), To: fmt.Sprintf("%s.v%d", o.Name, h.To+1)}
		if h.Minor > 0 {
			u.Minors = []string{fmt.Sprintf("4.%d", h.Minor)}
		}
		x.Updates = append(x.Updates, u)
	}
	return x
}

// poolObjects writes a pool, its nodes and their pods. A budget is one that asks for
// all of its pods; without room a pod is greater than any other node.
func (w *world) poolObjects(s *plan.Situation, p worldPool) {
	pool := cvo.Pool{ObjectMeta: cvo.ObjectMeta{Name: p.Name}}
	pool.Spec.NodeSelector = &fairlead.LabelSelector{MatchLabels: map[string]string{"pool": p.Name}}
	pool.Spec.Paused = p.Paused
	at := "4.18.0"
	if p.At >= 0 {
		at = w.Releases[0]
	}
	pool.Status.Configuration.Name, pool.Spec.Configuration.Name = "rendered-"+p.Name, "rendered-"+p.Name
	s.Configs["rendered-"+p.Name] = at
	s.Pools = append(s.Pools, pool)
	yes := true
	owner := []fairlead.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: p.Name, UID: p.Name, Controller: &yes}}
	add := func(name, node, cpu string, labels map[string]string) {
		pod := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: name, UID: name, Labels: labels, OwnerReferences: owner}}
		pod.Spec.NodeName = node
		pod.Spec.Containers = []fairlead.Container{{Name: "c", Resources: fairlead.Resources{Requests: map[string]string{"cpu": cpu}}}}
		pod.Status.Phase = fairlead.PodRunning
		pod.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
		s.Pods = append(s.Pods, pod)
	}
	for k := range p.Nodes {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("%s-%d", p.Name, k), UID: fmt.Sprintf("%s-%d", p.Name, k), Labels: map[string]string{"pool": p.Name}}}
		n.Status.Allocatable = map[string]string{"cpu": "4", "memory": "16Gi", "pods": "100"}
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue}}
		n.Spec.Unschedulable = p.Cordoned && k == 0
		if p.NoRoom && k == 0 {
			n.Status.Allocatable["cpu"] = "10"
			add("big-"+p.Name, n.Name, "9", map[string]string{"app": "big"})
		} else {
			add("small-"+n.Name, n.Name, "10m", map[string]string{"app": "small"})
		}
		s.Nodes = append(s.Nodes, n)
	}
	if p.Budget {
		add("kept-"+p.Name, p.Name+"-0", "10m", map[string]string{"app": "kept-" + p.Name})
		b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: p.Name}}
		one := fairlead.IntOrString{Int: 1}
		b.Spec.MinAvailable, b.Spec.Selector = &one, &fairlead.LabelSelector{MatchLabels: map[string]string{"app": "kept-" + p.Name}}
		s.Budgets = append(s.Budgets, b)
	}
}
