package drain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints/placement"
)

// PlanRequest is the input of [NewPlan]. Lists may be in any order, except Drain.
type PlanRequest struct {
	// Nodes are those that are drained, and any others.
	Nodes []Node `json:"nodes"`
	// Drain names the nodes to drain, in order. Empty means all of Nodes, by name.
	Drain []string `json:"drain,omitempty"`
	// AtOnce is how many nodes are drained at the same time. 0 means 1.
	AtOnce int `json:"atOnce,omitempty"`
	// Returns is whether drained nodes are in service again before the next ones are
	// drained, as in an update; otherwise they stay out of service.
	Returns bool `json:"returns,omitempty"`
	// IgnoreRoom assumes that every evicted pod finds a node. Set it if Nodes or Pods
	// are not all of the cluster.
	IgnoreRoom bool `json:"ignoreRoom,omitempty"`
	// Pods are all of the cluster. If only those of the drained nodes are known, the
	// budgets need their status.
	Pods []Pod `json:"pods"`
	// Budgets are all of the cluster. Their numbers are those of their status; if
	// the status is missing, or is of an older generation, they are computed from
	// Pods.
	Budgets []PodDisruptionBudget `json:"budgets,omitempty"`
	// Replicas are the desired numbers of pods of controllers, for these
	// computations. For a controller that is not listed, its pods are counted.
	Replicas []Replicas `json:"replicas,omitempty"`
	// Storage is what is known of volumes, which may bind pods to nodes; nil if nothing is.
	Storage *placement.Storage `json:"-"`
	// Labels are those of the nodes' machines, by the node's name, for rules that
	// use them.
	Labels map[string]map[string]string `json:"labels,omitempty"`
	// DaemonSets, DaemonSetsListed, Namespaces and ClusterLabels are as in
	// View.
	DaemonSets       []ObjectMeta      `json:"daemonSets,omitempty"`
	DaemonSetsListed bool              `json:"daemonSetsListed,omitempty"` // see DaemonSets
	Namespaces       []ObjectMeta      `json:"namespaces,omitempty"`       // see DaemonSets
	ClusterLabels    map[string]string `json:"clusterLabels,omitempty"`    // see DaemonSets
	// Cluster, unless it is nil, holds Nodes, by name, and Pods already, so that one
	// cluster serves many plans. It must not be used meanwhile, and is the same afterwards.
	Cluster *placement.Cluster `json:"-"`
}

// Replicas is how many pods a controller should have.
type Replicas struct {
	Namespace string `json:"namespace"` // the controller's
	Kind      string `json:"kind"`      // ReplicaSet, StatefulSet, ...
	Name      string `json:"name"`      // the controller's
	Count     int    `json:"count"`     // its spec.replicas
}

// Plan is how drains would go.
type Plan struct {
	Nodes   []NodePlan   `json:"nodes"`             // in the order of the drain
	Budgets []BudgetPlan `json:"budgets,omitempty"` // those that select a pod to be evicted, by namespace and name
	Rounds  int          `json:"rounds"`            // of all nodes, see NewPlan
	Evicted int          `json:"evicted"`           // pods that are evicted
	Stuck   int          `json:"stuck"`             // pods that prevent a drain from completing
	// Homeless is how many pods go, and their replacements have no node while theirs
	// is out of service.
	Homeless int `json:"homeless,omitempty"`
	// Unknown is what the prediction rests on and is not known, in order of discovery.
	// Without it the plan holds; with it, it holds as far as that is as assumed.
	Unknown []string `json:"unknown,omitempty"`
}

// Completes reports whether every drain completes, every pod finds another node, and
// nothing of that rests on what is unknown.
func (p *Plan) Completes() bool { return p.Stuck+p.Homeless+len(p.Unknown) == 0 }

// NodePlan is how the drain of one node would go.
type NodePlan struct {
	Node        string `json:"node"`                  // its name
	Cordoned    bool   `json:"cordoned,omitempty"`    // it is already cordoned
	Unreachable bool   `json:"unreachable,omitempty"` // it has stopped reporting
	First       int    `json:"first,omitempty"`       // the first round in which something is done; 0 if nothing is
	Last        int    `json:"last,omitempty"`        // the last such round
	Stuck       int    `json:"stuck,omitempty"`       // pods that prevent the drain from completing
	Homeless    int    `json:"homeless,omitempty"`    // pods whose replacements have no node, see Plan
	Marks       []Mark `json:"marks,omitempty"`       // what tells autoscalers to leave the node alone
	Flags       Flags  `json:"flags,omitzero"`        // those that kubectl drain needs
	// Pods are those of the node: by order, namespace and name; those that are left
	// alone come last.
	Pods []PodPlan `json:"pods,omitempty"`
}

// PodPlan is what would happen to a pod.
type PodPlan struct {
	Namespace string `json:"namespace"`       // the pod's
	Name      string `json:"name"`            // the pod's
	UID       string `json:"uid,omitempty"`   // the pod's
	Fate      Fate   `json:"fate"`            // the result of the filters
	Order     int32  `json:"order,omitempty"` // its order: lower ones go first
	// Round is when it goes: when it is evicted, ends by itself, or completes. 0 if
	// it is left alone or stuck.
	Round int `json:"round,omitempty"`
	// Why is the reason why it is stuck, one of the Reason constants; else empty.
	Why string `json:"why,omitempty"`
	// Budgets are those that keep a stuck pod, as namespace/name.
	Budgets []string `json:"budgets,omitempty"`
	// Needs is how many more healthy pods its budget needs to allow the eviction of a
	// stuck pod; for BudgetNever, how many more replicas. 0 if more do not help.
	Needs int `json:"needs,omitempty"`
	// Detail says more about Why, for people.
	Detail string `json:"detail,omitempty"`
	// Owner is who can end what keeps a stuck pod: a budget, the kubelet, whoever owns a
	// finalizer.
	Owner string `json:"owner,omitempty"`
	// Controller is the kind and name of what controls a stuck pod, if that is neither a
	// set with a number of replicas nor a Job: it decides itself how many pods there are,
	// and often owns their budget.
	Controller string `json:"controller,omitempty"`
	// Until is when a pod that is being deleted must have ended, by its grace period.
	Until time.Time `json:"until,omitzero"`
	// To is a node on which its replacement fits; empty if there is none, or none is
	// needed. The scheduler may choose another one that fits.
	To string `json:"to,omitempty"`
	// Preempts are pods of lower priority that are evicted on To to make room, as
	// namespace/name.
	Preempts []string `json:"preempts,omitempty"`
	// NoRoom is why its replacement has no node while its own is out of service: how
	// many nodes each filter of the scheduler rejects, as in KeptNode.Why.
	NoRoom []string `json:"noRoom,omitempty"`

	rejects placement.Filter // that of the first of NoRoom

	// Marks are what tells autoscalers to leave the pod alone.
	Marks []Mark `json:"marks,omitempty"`
	// Reasons are all results of the filters, in their order. They may be shared
	// with other pods.
	Reasons []PodReason `json:"reasons,omitempty"`
}

// BudgetPlan is what drains need from a budget.
type BudgetPlan struct {
	Namespace string `json:"namespace"` // the budget's
	Name      string `json:"name"`      // the budget's
	// Expected, Desired, Healthy and Allowed are its numbers of pods before the
	// first round. Computed is whether they were computed from the pods.
	Expected int  `json:"expected"`
	Desired  int  `json:"desired"`            // see Expected
	Healthy  int  `json:"healthy"`            // see Expected
	Allowed  int  `json:"allowed"`            // see Expected
	Computed bool `json:"computed,omitempty"` // see Expected
	// Never is whether it allows no eviction of a ready pod even while all its pods
	// are healthy.
	Never bool `json:"never,omitempty"`
	// MoreReplicas is how many more pods it would need to allow one disruption while all
	// are healthy, if it never does; 0 if more do not help.
	MoreReplicas int `json:"moreReplicas,omitempty"`
	// SyncFailed is why the disruption controller cannot compute its numbers; it then
	// allows no disruption.
	SyncFailed string `json:"syncFailed,omitempty"`

	Pods    int `json:"pods"`              // of its pods, those to be evicted
	Evicted int `json:"evicted,omitempty"` // of those, the ones that go
	Rounds  int `json:"rounds,omitempty"`  // in which it allows evictions
	// Unmanaged are its pods among the evicted that nothing replaces: it has that
	// many fewer healthy pods from then on.
	Unmanaged int `json:"unmanaged,omitempty"`
}

// NewPlan predicts how drains would go, without doing anything. It uses the code by
// which [Pods] drains, and these assumptions:
//
//  1. Nodes are drained in order, AtOnce at a time; the next ones begin when
//     these are empty or stuck. Those that are empty are back by then if
//     Returns is set; otherwise they stay out of service.
//  2. In a round, each pod in turn is evicted if its budgets allow it. Before the
//     next round, all evicted pods have ended, and their replacements are ready on
//     a node that the scheduler's filters allow, if need be after preemption
//     ([placement.Cluster.Preempt]). Nothing replaces a pod without a controller,
//     and a pod of a Job does not serve.
//  3. A replacement without a node does not serve: the budgets of its pod allow
//     less from then on.
//  4. A pod that is allowed to complete does so in its round. One that is being
//     deleted ends in its round, unless its node is silent, a finalizer keeps it, or
//     its grace period is over for more than a minute. Finalizers of other pods are
//     removed by their owners.
//  5. Pods end on a silent node only if it is tainted out-of-service. Those that do not
//     tolerate that taint with NoExecute go without an eviction, whatever their budgets say.
//  6. Problems of other pods of a budget remain, but that pods of a StatefulSet which are
//     being deleted on other nodes end in the first round as well, and others replace them.
//
// [FindRoom] says how many nodes can go at the same time. Except for strings, the result
// does not share memory with the request. Equal requests have equal plans. The error
// is of type fairlead.FieldErrors; then there is no plan. Cost: linear in pods, for
// each round in the pods left on the nodes drained in it.
func NewPlan(req *PlanRequest, now time.Time, policy *Policy) (*Plan, error) {
	if policy == nil {
		policy = &Policy{}
	}
	order, err := req.check(policy)
	if err != nil {
		return nil, err
	}
	p := planner{req: req, policy: policy, now: now, plan: &Plan{Nodes: make([]NodePlan, len(order))}, told: map[finding][]PodReason{}}
	p.prepare()
	if !req.IgnoreRoom {
		p.newPlaces(order)
	}
	p.later = make(map[string]int, len(order))
	for _, at := range order {
		p.later[req.Nodes[at].Name] = at
	}
	p.endElsewhere()
	atOnce := max(1, req.AtOnce)
	for from := 0; from < len(order); from += atOnce {
		batch := order[from:min(len(order), from+atOnce)]
		p.batch(batch, from)
		p.goBack(batch)
	}
	p.giveBack()
	p.finish()
	return p.plan, nil
}

// check returns the positions of the nodes to be drained, in order, or all that
// is wrong with the request.
func (r *PlanRequest) check(policy *Policy) ([]int, error) {
	var errs fairlead.FieldErrors
	policy.check("policy.", &errs)
	at := make(map[string]int, len(r.Nodes))
	known := make([]string, 0, len(r.Nodes))
	for i := range r.Nodes {
		name := r.Nodes[i].Name
		if _, twice := at[name]; twice {
			errs.Add(fmt.Sprintf("nodes[%d].metadata.name", i), "%q is also the name of another node", name)
		}
		if name == "" {
			errs.Add(fmt.Sprintf("nodes[%d].metadata.name", i), "is empty; give the node's name")
		}
		at[name] = i
		known = append(known, name)
	}
	slices.Sort(known)
	drain, given := r.Drain, len(r.Drain) > 0
	if !given {
		drain = known
	}
	var order []int
	seen := make(map[string]bool, len(drain))
	for i, name := range drain {
		j, is := at[name]
		switch {
		case !is && words.Nearest(name, known) != "":
			errs.Add(fmt.Sprintf("drain[%d]", i), "there is no node %q; did you mean %q?", name, words.Nearest(name, known))
		case !is:
			errs.Add(fmt.Sprintf("drain[%d]", i), "there is no node %q", name)
		case given && seen[name]:
			errs.Add(fmt.Sprintf("drain[%d]", i), "node %q is listed twice", name)
		}
		seen[name] = true
		order = append(order, j)
	}
	if r.AtOnce < 0 {
		errs.Add("atOnce", "%d is negative; give how many nodes are drained at the same time", r.AtOnce)
	}
	for i := range r.Budgets {
		if err, bad := r.Budgets[i].Check().(*fairlead.BudgetError); bad {
			errs.Add(fmt.Sprintf("budgets[%d].%s", i, err.Field), "%v", err.Err)
		}
	}
	for i, c := range r.Replicas {
		if c.Count < 0 {
			errs.Add(fmt.Sprintf("replicas[%d].count", i), "%d is negative", c.Count)
		}
	}
	return order, errs.Err()
}

// planner is one call of NewPlan.
type planner struct {
	req         *PlanRequest
	policy      *Policy
	now         time.Time
	plan        *Plan
	pods        [][]int32 // by node, positions of its pods
	disruptions disruptions
	tally       []BudgetPlan // by budget
	told        map[finding][]PodReason
	round       int
	seen        []entry        // memory of look
	space       []draining     // memory of batch
	spent       []int32        // budgets used in this round
	delta       []int          // by budget, how many more healthy pods it has after this round
	rooms       *places        // nil if everything has room
	later       map[string]int // positions of the nodes that are still to be drained, by name
	left        []*leaver      // pods that go in this round
	elsewhere   bool           // pods of nodes that are not drained go, too
}

// prepare indexes the request.
func (p *planner) prepare() {
	p.disruptions.budgets = slices.Clone(p.req.Budgets)
	p.disruptions.used = make([]int, len(p.req.Budgets))
	p.delta = make([]int, len(p.req.Budgets))
	p.disruptions.index, _ = object.NewBudgets(p.disruptions.budgets) // check has found no error
	p.tally = make([]BudgetPlan, len(p.req.Budgets))
	p.place()
	p.measure()
}

// place assigns pods to their nodes.
func (p *planner) place() {
	at := make(map[string]int32, len(p.req.Nodes))
	for i := range p.req.Nodes {
		at[p.req.Nodes[i].Name] = int32(i)
	}
	where := make([]int32, len(p.req.Pods))
	count := make([]int, len(p.req.Nodes))
	for i := range p.req.Pods {
		node, known := at[p.req.Pods[i].Spec.NodeName]
		if where[i] = -1; known {
			where[i] = node
			count[node]++
		}
	}
	p.pods = make([][]int32, len(p.req.Nodes))
	for i := range p.pods {
		p.pods[i] = make([]int32, 0, count[i])
	}
	for i, node := range where {
		if node >= 0 {
			p.pods[node] = append(p.pods[node], int32(i))
		}
	}
}

// budgets returns the positions of a pod's budgets.
func (p *planner) budgets(pod int32) []int32 {
	if n := len(p.req.Pods); int(pod) >= n {
		pod = p.rooms.origins[int(pod)-n]
	}
	return p.disruptions.of(&p.req.Pods[pod], nil)
}

// measure fills in the numbers of budgets without a current status.
func (p *planner) measure() {
	unknown := make([]bool, len(p.disruptions.budgets))
	for i := range p.disruptions.budgets {
		b := &p.disruptions.budgets[i]
		s := &b.Status
		unknown[i] = s.ObservedGeneration < b.Generation || s.ObservedGeneration == 0 && s.ExpectedPods == 0 && s.DesiredHealthy == 0
	}
	selected := make([][]*Pod, len(unknown))
	if slices.Contains(unknown, true) {
		for i := range p.req.Pods {
			for _, at := range p.budgets(int32(i)) {
				if unknown[at] {
					selected[at] = append(selected[at], &p.req.Pods[i])
				}
			}
		}
	}
	type key struct{ namespace, kind, name string }
	replicas := make(map[key]int, len(p.req.Replicas))
	for _, r := range p.req.Replicas {
		replicas[key{r.Namespace, r.Kind, r.Name}] = r.Count
	}
	scale := func(namespace string, c *OwnerReference) (int, bool) {
		n, known := replicas[key{namespace, c.Kind, c.Name}]
		return n, known
	}
	for i := range p.disruptions.budgets {
		b := &p.disruptions.budgets[i]
		if unknown[i] {
			b.Status = b.MeasureSelected(selected[i], scale, p.now)
		}
		s := &b.Status
		p.tally[i] = BudgetPlan{
			Namespace: b.Namespace, Name: b.Name, Computed: unknown[i], Never: s.Never(),
			Expected: s.ExpectedPods, Desired: s.DesiredHealthy, Healthy: s.CurrentHealthy, Allowed: s.DisruptionsAllowed, SyncFailed: s.SyncFailed(),
		}
		if s.Never() {
			p.tally[i].MoreReplicas = b.MoreReplicas(s.ExpectedPods)
		}
	}
}

// finish adds up.
func (p *planner) finish() {
	p.doubts()
	for i := range p.plan.Nodes {
		p.plan.Stuck += p.plan.Nodes[i].Stuck
		p.plan.Homeless += p.plan.Nodes[i].Homeless
	}
	p.plan.Rounds = p.round
	for _, b := range p.tally {
		if b.Pods > 0 {
			p.plan.Budgets = append(p.plan.Budgets, b)
		}
	}
	slices.SortStableFunc(p.plan.Budgets, func(a, b BudgetPlan) int {
		if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
}
