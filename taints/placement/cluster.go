package placement

import (
	"cmp"
	"maps"
	"slices"

	"github.com/fairlead/fairlead"
)

// Options are the properties of a cluster. Nil means the zero value.
type Options struct {
	// Namespaces has the labels of namespaces, for terms of affinity that select
	// by them. A namespace that is not listed has only the label
	// kubernetes.io/metadata.name, which every namespace has.
	Namespaces map[string]map[string]string
	// RoomUntold assumes that a node that reports no allocatable resources has
	// room for everything. Otherwise nothing fits there, as with the scheduler.
	RoomUntold bool
	// Storage is what is known of volumes; nil if nothing is: then volumes do not matter, and
	// Cluster.Unknown names them.
	Storage *Storage
	// ComparisonOperators lets tolerations use Lt and Gt.
	ComparisonOperators bool
}

// Cluster is a set of nodes and the pods on them. It refers to the nodes and
// pods that were added, which must not be changed while they are in it. It must
// be used by one goroutine only.
type Cluster struct {
	options   Options
	nodes     []*node        // in the order in which they were added; nil where one was removed
	byName    map[string]int // positions in nodes
	classes   map[string]*class
	order     []*class // in the order in which they were added
	apart     []*class // those of order with anti-affinity
	judged    []*class // those of order whose static is not nil
	pods      map[podKey]*placed
	bound     map[string]map[*placed]struct{} // pods by the name of their node, even if it does not exist
	resources []string                        // names of resources, by number
	held      map[string]int                  // claims that only one pod may use, and how many use them
	guests    map[*fairlead.Pod]*placed       // pods that are there for the time of a question
	nominated map[string][]*fairlead.Pod      // pods without a node, by the node on which room is made for them

	// The counts of classes are updated on demand, from the changes of other classes.
	// In a new epoch, which begins after nodes have changed, they are computed again.
	epoch   int
	changes int // how many changes there are in this epoch
	key     key // of the pod of the current query; kept to reuse its memory

	// Nodes, by position, on which more may fit than before; see First. If there
	// are too many, they are dropped and freedOf is changed.
	freed     []int
	freedSeen int // how many of them some class has taken into account
	freedOf   int
}

type podKey struct{ namespace, name string }

// node is a node with its free resources.
type node struct {
	*fairlead.Node
	at    int
	free  []int64 // by resource; nil if it reports none and has room for everything
	slots int64   // free slots for pods
	ports map[port]int
	err   error // the first quantity that cannot be parsed

	mounted  map[attachable]int      // volumes of its pods, with how many use them
	attached map[attachable]struct{} // volumes that are attached to it, of pods or not
}

// placed is a pod on a node.
type placed struct {
	pod    *fairlead.Pod
	class  *class
	node   string
	ending bool
}

// change is a pod that was added or removed.
type change struct {
	pod *placed
	by  int // +1 or -1
}

// New returns an empty cluster.
func New(o *Options) *Cluster {
	c := &Cluster{byName: map[string]int{}, classes: map[string]*class{}, pods: map[podKey]*placed{}, bound: map[string]map[*placed]struct{}{}, held: map[string]int{}, nominated: map[string][]*fairlead.Pod{}}
	if o != nil {
		c.options = *o
	}
	return c
}

// resource returns the number of a resource.
func (c *Cluster) resource(name string) int {
	if i := slices.Index(c.resources, name); i >= 0 {
		return i
	}
	c.resources = append(c.resources, name)
	return len(c.resources) - 1
}

// SetNode adds a node, or replaces the one with its name. Pods that are bound to
// the name are on it. A quantity that cannot be parsed counts as none; the error
// names the first one, in the order of resources.
func (c *Cluster) SetNode(n *fairlead.Node) error {
	at, known := c.byName[n.Name]
	if !known {
		at = len(c.nodes)
		c.byName[n.Name] = at
		c.nodes = append(c.nodes, nil)
	}
	old := c.nodes[at]
	counts := old != nil && maps.Equal(old.Labels, n.Labels) && // the counts do not change
		slices.EqualFunc(old.Spec.Taints, n.Spec.Taints, func(a, b fairlead.Taint) bool { return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect })
	if old != nil && (old.Status.Allocatable == nil) == (n.Status.Allocatable == nil) && maps.Equal(old.Status.Allocatable, n.Status.Allocatable) {
		old.Node = n // what is free does not change either
	} else {
		c.nodes[at] = c.newNode(n, at)
	}
	c.frees(at)
	if !counts {
		c.renew()
		return c.nodes[at].err
	}
	for _, k := range c.judged {
		if at < len(k.static) {
			k.static[at] = 0
		}
	}
	return c.nodes[at].err
}

// newNode reads the resources of a node.
func (c *Cluster) newNode(n *fairlead.Node, at int) *node {
	x := &node{Node: n, at: at, ports: map[port]int{}, attached: c.attachments(n.Name)}
	all, err := amounts("node "+n.Name+": status.allocatable", n.Status.Allocatable)
	x.err = err
	if err != nil {
		all = map[string]Amount{}
		for name, text := range n.Status.Allocatable {
			if a, err := ParseAmount(text); err == nil {
				all[name] = a
			}
		}
	}
	if n.Status.Allocatable != nil || !c.options.RoomUntold {
		x.free = []int64{}
		for name, a := range all {
			if name == "pods" {
				x.slots = a.Ceil()
				continue
			}
			x.set(c.resource(name), counted(name, a))
		}
	}
	for p := range c.bound[n.Name] {
		x.take(p, 1)
	}
	return x
}

// set sets how much of a resource is free.
func (n *node) set(resource int, amount int64) {
	for len(n.free) <= resource {
		n.free = append(n.free, 0)
	}
	n.free[resource] = amount
}

// take takes what a pod requests, or, if by is negative, gives it back.
func (n *node) take(p *placed, by int64) {
	n.slots -= by
	if n.free != nil {
		for _, a := range p.class.asks {
			have := int64(0)
			if a.resource < len(n.free) {
				have = n.free[a.resource]
			}
			n.set(a.resource, plus(have, -by*a.amount))
		}
	}
	n.mount(p.class.claims.attach, int(by))
	for _, t := range p.class.ports {
		if n.ports[t] += int(by); n.ports[t] == 0 {
			delete(n.ports, t)
		}
	}
}

// RemoveNode removes a node. The pods that are bound to it are kept, but are on
// no node.
func (c *Cluster) RemoveNode(name string) {
	if at, ok := c.byName[name]; ok {
		c.nodes[at] = nil
		delete(c.byName, name)
		c.renew()
	}
}

// renew makes everything be computed again.
func (c *Cluster) renew() {
	for _, k := range c.judged {
		k.static = nil
	}
	c.judged = c.judged[:0]
	c.recount()
}

// recount begins a new epoch.
func (c *Cluster) recount() {
	c.epoch++
	c.changes = 0
	for _, k := range c.order {
		k.changes = nil
	}
}

// Add adds a pod to the node that it is bound to, and replaces the one with its
// namespace and name. Pods without a node and finished pods take no resources; but for
// one with a NominatedNodeName, room is kept there from pods of no higher priority.
// The error names a quantity or selector of the pod that is invalid; the pod is
// added anyway, and what it requests counts as nothing.
func (c *Cluster) Add(p *fairlead.Pod) error {
	key := podKey{p.Namespace, p.Name}
	if p.Spec.NodeName == "" || p.Finished() {
		c.Remove(p)
		if name := p.Status.NominatedNodeName; name != "" && !p.Finished() {
			c.nominated[name] = append(c.nominated[name], p)
		}
		return nil
	}
	c.unnominate(p)
	x := &placed{pod: p, class: c.classOf(p), node: p.Spec.NodeName, ending: p.DeletionTimestamp != nil}
	if old := c.pods[key]; old != nil {
		if old.class == x.class && old.node == x.node && old.ending == x.ending {
			old.pod = p // the counts do not change
			return x.class.err
		}
		c.Remove(p)
	}
	c.pods[key] = x
	if c.bound[x.node] == nil {
		c.bound[x.node] = map[*placed]struct{}{}
	}
	c.bound[x.node][x] = struct{}{}
	c.move(x, 1)
	return x.class.err
}

// unnominate forgets that room is made for a pod.
func (c *Cluster) unnominate(p *fairlead.Pod) {
	if len(c.nominated) == 0 {
		return
	}
	for name, all := range c.nominated {
		if all = slices.DeleteFunc(all, func(q *fairlead.Pod) bool { return q.Namespace == p.Namespace && q.Name == p.Name }); len(all) == 0 {
			delete(c.nominated, name)
		} else {
			c.nominated[name] = all
		}
	}
}

// Remove removes the pod with the namespace and name of p, if there is one.
func (c *Cluster) Remove(p *fairlead.Pod) {
	c.unnominate(p)
	key := podKey{p.Namespace, p.Name}
	if x, ok := c.pods[key]; ok {
		delete(c.pods, key)
		delete(c.bound[x.node], x)
		c.move(x, -1)
	}
}

func (c *Cluster) move(p *placed, by int) {
	c.hold(p.class, by)
	if at, ok := c.byName[p.node]; ok {
		c.nodes[at].take(p, int64(by))
		if by < 0 {
			c.frees(at)
		}
	}
	if by > 0 {
		p.class.members[p] = struct{}{}
	} else {
		delete(p.class.members, p)
	}
	if c.changes > 2*len(c.pods)+1000 {
		c.recount() // so that the changes do not grow forever
		return
	}
	c.changes++
	p.class.changes = append(p.class.changes, change{p, by})
}

// classOf returns the class of a pod.
func (c *Cluster) classOf(p *fairlead.Pod) *class {
	c.key = c.key[:0]
	c.key.of(p, c.options.Storage != nil)
	k := c.classes[string(c.key)]
	if k == nil {
		k = c.newClass(p)
		c.classes[string(c.key)] = k
		c.order = append(c.order, k)
		if len(k.away) > 0 {
			c.apart = append(c.apart, k)
		}
	}
	return k
}

// Node returns the node with a name, or nil if there is none.
func (c *Cluster) Node(name string) *fairlead.Node {
	if at, ok := c.byName[name]; ok {
		return c.nodes[at].Node
	}
	return nil
}

// Pods returns the pods that are bound to a node, by namespace and name. The
// caller owns the slice.
func (c *Cluster) Pods(name string) []*fairlead.Pod {
	var all []*fairlead.Pod
	for p := range c.bound[name] {
		all = append(all, p.pod)
	}
	slices.SortFunc(all, func(a, b *fairlead.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// namespaceLabels returns the labels of a namespace.
func (c *Cluster) namespaceLabels(name string) map[string]string {
	if labels, ok := c.options.Namespaces[name]; ok {
		return labels
	}
	return map[string]string{"kubernetes.io/metadata.name": name}
}
