package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Pool is a pool of nodes with their number in each state.
type Pool struct {
	Name   string         `json:"name"` // empty: the nodes that are in none
	State  string         `json:"state,omitempty"`
	Paused bool           `json:"paused,omitempty"`         // no further node is updated
	Most   string         `json:"maxUnavailable,omitempty"` // how many may be down at once
	Nodes  int            `json:"nodes"`
	States map[string]int `json:"states,omitempty"` // nodes by state
	Stuck  int            `json:"stuck,omitempty"`  // nodes that must be drained, and cannot be
}

// Nodes are the nodes, by pool and name: one list for each property, with an element for each
// node. Numbers are indexes of the lists of repeated values.
type Nodes struct {
	States   []string `json:"states"`   // of nodes
	Versions []string `json:"versions"` // that nodes run; "" for one that is not known
	Messages []string `json:"messages"` // "" first
	Stucks   []string `json:"stucks"`   // why drains do not complete; "" first

	Name    []string `json:"name"`
	Pool    []int    `json:"pool"`    // of Report.Pools
	State   []int    `json:"state"`   // of States
	Version []int    `json:"version"` // of Versions
	Message []int    `json:"message"` // why it is down or cannot go on
	Stuck   []int    `json:"stuck"`   // of Stucks
	Rounds  []int    `json:"rounds"`  // of its drain, if it were drained alone
	Taints  []int    `json:"taints"`  // of Report.Taints; -1 for none
	// Cordoned are the numbers of the nodes that take no new pods, and Blocked of those that must
	// be drained, for an update or because their machine is deleted, and whose drain does not complete.
	Cordoned []int `json:"cordoned,omitempty"`
	Blocked  []int `json:"blocked,omitempty"` // see Cordoned
	// Pods are the workloads of a node and how many pods of each: pairs, as in "3 12:2 40", of
	// numbers of workloads, each less the one before it, with a count where that is not 1.
	Pods []string `json:"pods"`

	why [][]obstacle // the reasons of Stuck; empty where the drain completes
}

// Workloads are the owners of pods, by namespace, name and kind.
type Workloads struct {
	Namespaces []string `json:"namespaces"` // of workloads
	Kinds      []string `json:"kinds"`      // of workloads
	Name       []string `json:"name"`
	Namespace  []int    `json:"namespace"`
	Kind       []int    `json:"kind"`
	Pods       []int    `json:"pods"`   // how many
	Ready      []int    `json:"ready"`  // how many of them are
	Budget     []int    `json:"budget"` // of Report.Budgets; -1 for none
	// Waiting counts the pods without a node, except those that have ended, and Elsewhere those
	// whose node is not in the dump; nil if there are none.
	Waiting   []int `json:"waiting,omitempty"`
	Elsewhere []int `json:"elsewhere,omitempty"` // see Waiting

	pods int
}

// Budgets are disruption budgets, with what drains require of them, worst first.
type Budgets struct {
	Texts     []string `json:"texts"`     // indexed by Says
	Namespace []string `json:"namespace"` // of each budget, as in all of the following
	Name      []string `json:"name"`      // the budget's
	Expected  []int    `json:"expected"`  // its numbers of pods: all of them
	Desired   []int    `json:"desired"`   // those that must be healthy
	Healthy   []int    `json:"healthy"`   // those that are
	Allowed   []int    `json:"allowed"`   // how many may go
	Computed  []bool   `json:"computed"`  // whether the numbers were computed from the pods
	Never     []bool   `json:"never"`     // whether it never allows the eviction of a healthy pod
	Pods      []int    `json:"pods"`      // of its pods, those to be evicted
	Evicted   []int    `json:"evicted"`   // of those, the ones that are evicted
	Rounds    []int    `json:"rounds"`    // in which it allows evictions
	Unmanaged []int    `json:"unmanaged"` // of the evicted, those that no controller replaces
	Says      []int    `json:"says"`      // what it means for drains, if they must wait
	Tone      []Tone   `json:"tone"`      // how bad that is; empty if it is fine
}

// numbers assigns numbers to texts, from 0, in order of first occurrence.
type numbers struct {
	of   map[string]int
	list []string
}

func (n *numbers) number(text string) int {
	if i, ok := n.of[text]; ok {
		return i
	}
	if n.of == nil {
		n.of = map[string]int{}
	}
	n.of[text] = len(n.list)
	n.list = append(n.list, text)
	return len(n.list) - 1
}

// nodes fills in pools, nodes, workloads and budgets.
func (r *Report) nodes(in *Input, status *cvo.Report) error {
	s := in.Situation
	if s.Nodes == nil {
		return nil
	}
	drains, err := r.drains(in)
	if err != nil {
		return err
	}
	told := map[string]*cvo.NodeReport{}
	for i := range status.Nodes {
		told[status.Nodes[i].Name] = &status.Nodes[i]
	}
	r.pools(s, status)
	order := make([]int, len(s.Nodes))
	pool := make([]int, len(s.Nodes))
	for i := range s.Nodes {
		order[i], pool[i] = i, r.poolOf(s, &s.Nodes[i])
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(pool[a], pool[b]), cmp.Compare(s.Nodes[a].Name, s.Nodes[b].Name))
	})
	byNode := r.workloads(s)
	leaving := r.leaving(s)
	var states, versions, messages, stucks numbers
	messages.number("")
	stucks.number("")
	n := &Nodes{Name: []string{}, Pool: []int{}, State: []int{}, Version: []int{}, Message: []int{}, Taints: []int{}}
	for _, i := range order {
		node := &s.Nodes[i]
		p := &r.Pools[pool[i]]
		state, version, message := condition(node)
		if t := told[node.Name]; t != nil && len(s.Pools) > 0 {
			state, version, message = t.State, t.Version, cmp.Or(t.Message, message)
			if t.Down && (state == "updated" || state == "pending") {
				state = "down"
			}
		}
		if s.Pods != nil {
			d := drains[node.Name]
			why := obstacles(d)
			n.Stuck = append(n.Stuck, stucks.number(stuck(why)))
			n.why = append(n.why, why)
			rounds := 0
			if d.First > 0 {
				rounds = d.Last - d.First + 1
			}
			n.Rounds = append(n.Rounds, rounds)
			if d.Stuck > 0 && r.needed(state, p, leaving[node.Name]) {
				p.Stuck++
				n.Blocked = append(n.Blocked, len(n.Name))
			}
			n.Pods = append(n.Pods, byNode[node.Name])
		}
		if node.Spec.Unschedulable {
			n.Cordoned = append(n.Cordoned, len(n.Name))
		}
		n.Name = append(n.Name, node.Name)
		n.Pool = append(n.Pool, pool[i])
		n.State = append(n.State, states.number(state))
		n.Version = append(n.Version, versions.number(version))
		n.Message = append(n.Message, messages.number(message))
		p.Nodes++
		p.States[state]++
	}
	n.States, n.Versions, n.Messages, n.Stucks = states.list, versions.list, messages.list, stucks.list
	r.Nodes = n
	r.classes(s, order)
	return nil
}

// leaving returns the nodes whose machine is being deleted, or that the plan takes out of service.
func (r *Report) leaving(s *plan.Situation) map[string]bool {
	all := map[string]bool{}
	for i := range s.Machines {
		if m := &s.Machines[i]; m.Deleting() {
			if n := lifecycle.NodeOf(m, s.Nodes); n != nil {
				all[n.Name] = true
			}
		}
	}
	if r.Plan != nil {
		for i := range r.Plan.Steps {
			if step := &r.Plan.Steps[i]; step.Kind == plan.OutOfService {
				all[step.Subject] = true
			}
		}
	}
	return all
}

// needed reports whether a node in a state must be drained.
func (r *Report) needed(state string, p *Pool, leaving bool) bool {
	return leaving || !p.Paused && (state == "draining" || state == "updating" || state == "pending")
}

// condition returns the state of a node that no pool reports.
func condition(n *fairlead.Node) (state, version, message string) {
	state, version = "ready", n.Status.NodeInfo.KubeletVersion
	if n.Spec.Unschedulable {
		state = "cordoned"
	}
	c := n.Condition("Ready")
	switch {
	case c == nil:
		state, message = "unknown", "the Ready condition is missing"
	case c.Status != fairlead.ConditionTrue:
		state, message = "down", c.Message
	}
	return state, version, message
}

// pools lists the pools, and one for the nodes that are in none.
func (r *Report) pools(s *plan.Situation, status *cvo.Report) {
	told := map[string]string{}
	for _, p := range status.Pools {
		told[p.Name] = p.State
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		most := "1"
		if m := p.Spec.MaxUnavailable; m != nil {
			most = m.Text
			if most == "" {
				most = strconv.Itoa(int(m.Int))
			}
		}
		r.Pools = append(r.Pools, Pool{Name: p.Name, State: told[p.Name], Paused: p.Spec.Paused, Most: most, States: map[string]int{}})
	}
	slices.SortStableFunc(r.Pools, func(a, b Pool) int {
		return cmp.Or(cmp.Compare(rank(a.Name), rank(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	for i := range s.Nodes {
		if r.poolOf(s, &s.Nodes[i]) == len(r.Pools) {
			r.Pools = append(r.Pools, Pool{States: map[string]int{}})
			break
		}
	}
}

// rank puts the control plane first.
func rank(pool string) int {
	if pool == "master" {
		return 0
	}
	return 1
}

// poolOf returns the number of the pool of a node; the number of pools for none.
func (r *Report) poolOf(s *plan.Situation, n *fairlead.Node) int {
	p, err := rollout.PrimaryPool(s.Pools, n)
	if err == nil && p != nil {
		return slices.IndexFunc(r.Pools, func(q Pool) bool { return q.Name == p.Name })
	}
	return len(s.Pools)
}

// drains plans the drain of each node, one after the other.
func (r *Report) drains(in *Input) (map[string]*drain.NodePlan, error) {
	s := in.Situation
	if s.Pods == nil {
		return nil, nil
	}
	p, err := drain.NewPlan(&drain.PlanRequest{
		Nodes: s.Nodes, Pods: s.Pods, Budgets: s.Budgets, Replicas: s.Replicas, DaemonSets: in.DaemonSets, DaemonSetsListed: in.Listed, Returns: true,
	}, r.At, r.policy)
	if err != nil {
		return nil, err
	}
	of := make(map[string]*drain.NodePlan, len(p.Nodes))
	for i := range p.Nodes {
		of[p.Nodes[i].Node] = &p.Nodes[i]
	}
	r.Budgets = newBudgets(p.Budgets)
	return of, nil
}

// newBudgets returns nil for no budgets.
func newBudgets(all []drain.BudgetPlan) *Budgets {
	if len(all) == 0 {
		return nil
	}
	type judged struct {
		*drain.BudgetPlan
		tone Tone
		says string
	}
	list := make([]judged, len(all))
	for i := range all {
		tone, says := judge(&all[i])
		list[i] = judged{&all[i], tone, says}
	}
	slices.SortStableFunc(list, func(a, b judged) int { return cmp.Compare(severity(b.tone), severity(a.tone)) })
	out := &Budgets{}
	var texts numbers
	texts.number("")
	for _, b := range list {
		out.Namespace, out.Name = append(out.Namespace, b.Namespace), append(out.Name, b.Name)
		out.Expected, out.Desired = append(out.Expected, b.Expected), append(out.Desired, b.Desired)
		out.Healthy, out.Allowed = append(out.Healthy, b.Healthy), append(out.Allowed, b.Allowed)
		out.Computed, out.Never = append(out.Computed, b.Computed), append(out.Never, b.Never)
		out.Pods, out.Evicted = append(out.Pods, b.Pods), append(out.Evicted, b.Evicted)
		out.Rounds, out.Unmanaged = append(out.Rounds, b.Rounds), append(out.Unmanaged, b.Unmanaged)
		out.Says, out.Tone = append(out.Says, texts.number(b.says)), append(out.Tone, b.tone)
	}
	out.Texts = texts.list
	return out
}

// judge returns what a budget means for drains.
func judge(b *drain.BudgetPlan) (Tone, string) {
	switch {
	case b.Never:
		return Bad, "never allows an eviction: run more replicas, or allow more disruptions"
	case b.Allowed == 0 && b.Healthy < b.Expected:
		return Warning, "allows no eviction until " + words.Count(max(1, b.Desired+1-b.Healthy), "more pod is healthy", "more pods are healthy")
	case b.Allowed == 0:
		return Warning, "allows no eviction at present"
	case b.Unmanaged > 0:
		return Warning, words.Count(b.Unmanaged, "of its pods has no controller that replaces it", "of its pods have no controller that replaces them")
	}
	return "", ""
}

func severity(t Tone) int { return slices.Index([]Tone{"", Good, Note, Warning, Bad}, t) }

// obstacle is a reason why pods of a node cannot be evicted.
type obstacle struct {
	why     string   // the reason of the first pod, from package drain
	text    string   // the reason in words, with the budgets
	budgets []string // as namespace/name
	pods    int
	names   []string // of the first pods, where they matter more than their budgets
}

// obstacles returns why a drain does not complete, by reason and budgets, in the order of the
// pods.
func obstacles(d *drain.NodePlan) (list []obstacle) {
	if d == nil {
		return nil
	}
	var of numbers
	for i := range d.Pods {
		p := &d.Pods[i]
		why := p.Why
		if why == "" && p.NoRoom != nil {
			why = drain.ReasonNoRoom
		}
		if why == "" {
			continue
		}
		text := plainReason(why)
		if len(p.Budgets) > 0 {
			text += " (" + strings.Join(p.Budgets, ", ") + ")"
		}
		k := of.number(text)
		if k == len(list) {
			list = append(list, obstacle{why: why, text: text, budgets: p.Budgets})
		}
		if list[k].pods++; len(p.Budgets) == 0 && list[k].pods <= 2 {
			list[k].names = append(list[k].names, p.Namespace+"/"+p.Name)
		}
	}
	return list
}

// stuck says in a few words why a drain does not complete; "" if it does.
func stuck(why []obstacle) string {
	var list []string
	for k, o := range why {
		if k == 4 {
			list = append(list, fmt.Sprintf("and %d more reasons", len(why)-k))
			break
		}
		text := words.Count(o.pods, "pod", "pods")
		if len(o.names) > 0 {
			text += " (" + strings.Join(o.names, ", ")
			if more := o.pods - len(o.names); more > 0 {
				text += fmt.Sprintf(" and %d more", more)
			}
			text += ")"
		}
		list = append(list, text+": "+o.text)
	}
	return strings.Join(list, "; ")
}
