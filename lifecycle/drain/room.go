package drain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints/placement"
)

// Room is whether the pods that drains evict fit elsewhere.
type Room struct {
	// Together are the nodes that can be out of service at the same time, in the
	// order in which they were tried: each of their pods fits on one of the others.
	// None of the nodes left out could also go.
	Together []string `json:"together,omitempty"`
	// AtMost is an upper bound of how many could go together: with more of them
	// gone, the others would have less of some resource than the pods request.
	AtMost int `json:"atMost"`
	// Largest is whether it is certain that no more can go together: there are
	// AtMost of them, or everything was tried, which is done if few nodes are
	// drained.
	Largest bool `json:"largest"`
	// Kept are the other nodes, with what prevents their drain.
	Kept []KeptNode `json:"kept,omitempty"`
	// Moved is how many pods found a node.
	Moved int `json:"moved"`
	// Unreadable lists quantities and selectors that cannot be read, and count as
	// nothing.
	Unreadable []string `json:"unreadable,omitempty"`
}

// KeptNode is a node that cannot go together with those before it.
type KeptNode struct {
	Node string `json:"node"` // its name
	// Namespace and Pod name the first of its pods that fits nowhere. They are empty
	// if AtMost nodes already go, and more than twenty are kept.
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod,omitempty"` // see Namespace
	// Why counts the nodes that the pod does not fit on, by the first filter that
	// fails, as in "NodeResourcesFit: 3 nodes", the most frequent first. It is set
	// for the first twenty nodes that are kept.
	Why []string `json:"why,omitempty"`
}

// maxWhy is for how many nodes Why is computed.
const maxWhy = 20

// FindRoom finds which of the nodes of a request can be out of service at the same
// time, by room: whether the scheduler's filters allow each of their pods on another
// node (requests, allocatable, taints, affinity, spread, ports). Pods that a drain
// leaves alone, and those that nothing replaces, need no room.
//
//  1. Nodes are tried in the order of req.Drain, or else those with the fewest pods
//     to move first, then by name. A node goes if all of its pods fit elsewhere,
//     beside those moved before.
//  2. Pods are put on nodes that stay, or else on those that are tried last.
//  3. For up to twelve nodes, all larger sets than the one found so are tried, and
//     every way to place their pods one after the other by namespace and name,
//     within 20,000 placements. Largest says whether that was enough. For
//     more nodes, AtMost is the bound.
//
// It is a plan: the scheduler may place pods differently. The request must have all
// nodes and pods of the cluster. The error is that of [NewPlan]. Equal requests have
// equal answers.
func FindRoom(req *PlanRequest, now time.Time, policy *Policy) (*Room, error) {
	if policy == nil {
		policy = &zeroPolicy
	}
	order, err := req.check(policy)
	if err != nil {
		return nil, err
	}
	f := newFinder(req, now, policy, order)
	f.bound()
	for _, n := range f.order {
		if len(f.room.Together) >= f.room.AtMost && len(f.room.Kept) >= maxWhy {
			f.room.Kept = append(f.room.Kept, KeptNode{Node: n.Name})
			continue
		}
		f.try(n)
	}
	if better := f.larger(); better != nil {
		f = better
	}
	f.room.Largest = f.room.Largest || len(f.room.Together) == f.room.AtMost
	return f.room, nil
}

// finder is one call of FindRoom.
type finder struct {
	req     *PlanRequest
	policy  *Policy
	now     time.Time
	cluster *placement.Cluster
	order   []*Node           // to be drained, in the order in which they are tried
	pods    map[string][]*Pod // by node, by namespace, name and UID
	gone    map[string]bool   // the nodes that are out of service
	room    *Room
}

// newFinder fills the cluster: first the nodes that stay, then those that are tried
// last.
func newFinder(req *PlanRequest, now time.Time, policy *Policy, order []int) *finder {
	f := &finder{req: req, policy: policy, now: now, cluster: placement.New(nil), gone: map[string]bool{}, room: &Room{}, pods: make(map[string][]*Pod, len(req.Nodes))}
	for i := range req.Pods {
		p := &req.Pods[i]
		f.pods[p.Spec.NodeName] = append(f.pods[p.Spec.NodeName], p)
	}
	goes := make(map[int]bool, len(order))
	for _, at := range order {
		goes[at] = true
		f.order = append(f.order, &req.Nodes[at])
	}
	if len(req.Drain) == 0 {
		moves := make(map[string]int, len(f.order))
		for _, n := range f.order {
			judge := f.judge(n)
			for _, p := range f.pods[n.Name] {
				if leaves(&judge, p) && replaced(p) {
					moves[n.Name]++
				}
			}
		}
		slices.SortFunc(f.order, func(a, b *Node) int {
			return cmp.Or(cmp.Compare(moves[a.Name], moves[b.Name]), strings.Compare(a.Name, b.Name))
		})
	}
	var stay []*Node
	for i := range req.Nodes {
		if !goes[i] {
			stay = append(stay, &req.Nodes[i])
		}
	}
	slices.SortFunc(stay, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
	for _, n := range stay {
		f.noted(f.cluster.SetNode(n))
	}
	for _, n := range slices.Backward(f.order) {
		f.noted(f.cluster.SetNode(n))
	}
	for i := range req.Pods {
		f.noted(f.cluster.Add(&req.Pods[i]))
	}
	for _, pods := range f.pods {
		slices.SortFunc(pods, comparePods)
	}
	return f
}

// judge returns the filter that says which pods of a node are evicted.
func (f *finder) judge(n *Node) filter {
	view := View{
		Node: n, DaemonSets: f.req.DaemonSets, DaemonSetsListed: f.req.DaemonSetsListed,
		Namespaces: f.req.Namespaces, ClusterLabels: f.req.ClusterLabels,
	}
	return newFilter(f.policy, &view, f.req.Labels[n.Name], f.now)
}

// leaves reports whether a drain of its node removes a pod.
func leaves(judge *filter, p *Pod) bool {
	s := judge.judge(p)
	return !s.gone() && !p.Finished()
}

// noted records what cannot be read.
func (f *finder) noted(err error) {
	if err != nil && !slices.Contains(f.room.Unreadable, err.Error()) {
		f.room.Unreadable = append(f.room.Unreadable, err.Error())
	}
}

// try takes a node out of service, if its pods fit elsewhere.
func (f *finder) try(n *Node) {
	judge := f.judge(n)
	f.close(n)
	var moved, left []*Pod
	var homeless *Pod
	for _, p := range f.pods[n.Name] {
		if !leaves(&judge, p) {
			continue
		}
		f.cluster.Remove(p)
		left = append(left, p)
		if !replaced(p) {
			continue
		}
		to, ok := f.cluster.First(p, func(o *Node) bool { return !f.gone[o.Name] })
		if !ok {
			homeless = p
			break
		}
		moved = append(moved, f.put(p, to.Name))
	}
	if homeless == nil {
		f.room.Together = append(f.room.Together, n.Name)
		f.room.Moved += len(moved)
		for _, p := range moved { // they move on if their new node also goes
			f.pods[p.Spec.NodeName] = append(f.pods[p.Spec.NodeName], p)
		}
		return
	}
	k := KeptNode{Node: n.Name, Namespace: homeless.Namespace, Pod: homeless.Name}
	if len(f.room.Kept) < maxWhy {
		k.Why, _ = why(f.cluster, homeless, n.Name)
	}
	for _, p := range moved {
		f.cluster.Remove(p)
	}
	f.restore([]*Node{n}, left)
	f.room.Kept = append(f.room.Kept, k)
}

// put places the replacement of a pod on a node.
func (f *finder) put(p *Pod, node string) *Pod {
	c := *p
	c.Spec.NodeName, c.DeletionTimestamp = node, nil
	_ = f.cluster.Add(&c) // what cannot be read was noted
	return &c
}

// close cordons a node in the cluster and allows no pod on it, not even one that
// tolerates that.
func (f *finder) close(n *Node) {
	closed := *n
	closed.Spec.Unschedulable = true
	_ = f.cluster.SetNode(&closed)
	f.gone[n.Name] = true
}

// open undoes close.
func (f *finder) open(n *Node) {
	_ = f.cluster.SetNode(n)
	delete(f.gone, n.Name)
}

// replaced reports whether a controller creates another pod somewhere in its place.
func replaced(p *Pod) bool {
	c := p.ControllerOf()
	return c != nil && c.Kind != "DaemonSet"
}

// why says what keeps a pod off the other nodes: how many each filter rejects, and why the
// first of them. It also returns the filter of the first line.
func why(c *placement.Cluster, p *Pod, from string) (all []string, first placement.Filter) {
	for _, r := range c.Where(p, func(n *Node) bool { return n.Name != from }).Rejections {
		if all == nil {
			first = r.Filter
		}
		all = append(all, fmt.Sprintf("%s: %s, as %s: %s", r.Filter, words.Count(r.Nodes, "node", "nodes"), r.Node, r.Message))
	}
	return all, first
}

// Blocks says, for each kept node, what prevents its drain.
func (r *Room) Blocks() []fairlead.Block {
	var all []fairlead.Block
	for _, k := range r.Kept {
		message := "there is no room elsewhere for pod " + k.Namespace + "/" + k.Pod
		if k.Pod == "" {
			message = fmt.Sprintf("at most %d nodes can go: with one more, the others would have less than the pods request", r.AtMost)
		}
		if len(k.Why) > 0 {
			message += " (" + strings.Join(k.Why, ", ") + ")"
		}
		all = append(all, fairlead.Block{
			Subject: "node " + k.Node, Reason: ReasonNoRoom, Message: message,
			Unblock: "add a node on which they fit, drain fewer nodes at a time, or lower the pods' requests",
		})
	}
	return all
}
