package placement

import (
	"fmt"
	"math"

	"github.com/fairlead/fairlead"
)

// Filter is a filter of the scheduler, by the name of its plugin.
type Filter string

// The filters, in order of evaluation.
const (
	NodeUnschedulable Filter = "NodeUnschedulable"  // is the node cordoned?
	TaintToleration   Filter = "TaintToleration"    // does the pod tolerate its taints?
	NodeAffinity      Filter = "NodeAffinity"       // does the pod select such a node?
	NodePorts         Filter = "NodePorts"          // are the node ports that the pod uses free?
	NodeResources     Filter = "NodeResourcesFit"   // is there room?
	VolumeRestriction Filter = "VolumeRestrictions" // does another pod use a volume that only one may?
	VolumeLimits      Filter = "NodeVolumeLimits"   // can more volumes be attached to the node?
	VolumeBinding     Filter = "VolumeBinding"      // do its volumes exist, and can the node use them?
	VolumeZone        Filter = "VolumeZone"         // are its volumes in the node's zone?
	TopologySpread    Filter = "PodTopologySpread"  // would the pods be spread evenly enough?
	InterPodAffinity  Filter = "InterPodAffinity"   // are the right pods near, and no wrong ones?
	Invalid           Filter = "Invalid"            // the pod's requests are invalid, so it fits nowhere
)

// Reason is one reason why a pod does not fit on a node.
type Reason struct {
	Filter  Filter `json:"filter"`  // which filter rejects the node
	Message string `json:"message"` // why, for people
}

// Evaluate returns why a pod like this one does not fit on a node now: the first
// reason of each filter that rejects the node, in the order of the filters. It is
// empty if the pod fits. If the pod itself is in the cluster it counts as present,
// so remove it first. A node that does not exist accepts no pods.
//
// The cost is that of Fits, plus that of the texts.
func (c *Cluster) Evaluate(p *fairlead.Pod, name string) []Reason {
	at, ok := c.byName[name]
	if !ok {
		return []Reason{{Invalid, "there is no node " + name}}
	}
	k, n := c.classOf(p), c.nodes[at]
	if k.err != nil {
		return []Reason{{Invalid, k.err.Error()}}
	}
	var all []Reason
	no := func(f Filter, format string, args ...any) { all = append(all, Reason{f, fmt.Sprintf(format, args...)}) }
	if closed(k.spec, n.Node, c.options.ComparisonOperators) {
		no(NodeUnschedulable, "the node is cordoned")
	}
	if t := untolerated(k.spec.Tolerations, n.Spec.Taints, c.options.ComparisonOperators); t != nil {
		no(TaintToleration, "it does not tolerate the taint %s", t)
	}
	if !selected(k.spec, n.Node) {
		no(NodeAffinity, "%s", selectedWords(k.spec, n.Node))
	}
	if t := n.taken(k); t != nil {
		no(NodePorts, "port %d/%s of the node is taken", t.number, t.protocol)
	}
	if message := c.room(k, n); message != "" {
		no(NodeResources, "%s", message)
	}
	if claim := c.occupied(k); claim != "" {
		no(VolumeRestriction, "another pod uses the claim %s, which allows one pod (ReadWriteOncePod)", claim)
	}
	if driver, limit, has := c.full(k, n); driver != "" {
		no(VolumeLimits, "the node's limit of volumes of %s is %d, and it has %d", driver, limit, has)
	}
	if filter, why := k.claims.apart(n.Node); filter != "" {
		no(filter, "%s", why)
	}
	c.update(k)
	if i := k.uneven(n); i >= 0 {
		no(TopologySpread, "%s", k.unevenWords(i, n))
	}
	if judged, key := c.company(k, n); judged != suitable {
		no(InterPodAffinity, "%s", companyWords(judged, key))
	}
	if len(all) == 0 && !c.spares(p, k, n) {
		no(NodeResources, "it would take the room that is made for %s", c.nominatedWords(p, n))
	}
	return all
}

// Fits reports whether a pod like this one fits on a node now: whether Evaluate
// returns nothing. The first query for pods with the same requirements, after
// nodes have changed, visits all pods if they have requirements on each other;
// later ones cost time in proportion to the changes.
func (c *Cluster) Fits(p *fairlead.Pod, name string) bool {
	at, ok := c.byName[name]
	if !ok {
		return false
	}
	k, n := c.classOf(p), c.nodes[at]
	return c.fits(k, n) && c.spares(p, k, n)
}

// First returns the first node, in the order of addition, on which a pod like this
// one fits and which may accepts, and false if there is none. A nil may accepts
// all. First skips nodes at the beginning that were full for such pods last time
// and from which nothing has been removed since.
func (c *Cluster) First(p *fairlead.Pod, may func(*fairlead.Node) bool) (*fairlead.Node, bool) {
	k := c.classOf(p)
	begin := c.begin(k)
	full := true // so far
	for at, n := range c.nodes[begin:] {
		if n == nil || k.err != nil || !c.takes(k, n) {
			continue
		}
		if full {
			k.begin, full = begin+at, false
		}
		if c.welcomes(k, n) && c.spares(p, k, n) && (may == nil || may(n.Node)) {
			return n.Node, true
		}
	}
	if full {
		k.begin = len(c.nodes)
	}
	return nil, false
}

// begin returns the first node that pods of a class may fit on.
func (c *Cluster) begin(k *class) int {
	if k.freedOf != c.freedOf {
		k.begin, k.freed, k.freedOf = 0, len(c.freed), c.freedOf
	}
	for _, at := range c.freed[k.freed:] {
		k.begin = min(k.begin, at)
	}
	k.freed = len(c.freed)
	c.freedSeen = k.freed
	return min(k.begin, len(c.nodes))
}

// frees records that more may fit on a node than before.
func (c *Cluster) frees(at int) {
	if n := len(c.freed); n > c.freedSeen && c.freed[n-1] == at {
		return // no class has taken the last one into account yet
	}
	if len(c.freed) > 4*len(c.nodes)+1000 {
		c.freed, c.freedSeen = c.freed[:0], 0
		c.freedOf++
	}
	c.freed = append(c.freed, at)
}

func (c *Cluster) fits(k *class, n *node) bool {
	return k.err == nil && c.takes(k, n) && c.welcomes(k, n)
}

// takes reports whether the node itself suits a class and has room for it.
func (c *Cluster) takes(k *class, n *node) bool {
	if !c.suits(k, n) || n.taken(k) != nil || !n.holds(k) {
		return false
	}
	if len(k.claims.attach) > 0 {
		if driver, _, _ := c.full(k, n); driver != "" {
			return false
		}
	}
	return len(k.claims.once) == 0 || c.occupied(k) == ""
}

// welcomes reports whether the pods around suit a class.
func (c *Cluster) welcomes(k *class, n *node) bool {
	c.update(k)
	judged, _ := c.company(k, n)
	return judged == suitable && k.uneven(n) < 0
}

// suits reports whether a node's labels and taints, and the volumes of a class, suit it.
func (c *Cluster) suits(k *class, n *node) bool { return c.barred(k, n) == 0 }

// taken returns the first port that the class uses and that is not free on the
// node, or nil.
func (n *node) taken(k *class) *port {
	for i := range k.ports {
		for other := range n.ports {
			if k.ports[i].clash(other) {
				return &k.ports[i]
			}
		}
	}
	return nil
}

// holds reports whether the node has room for the class.
func (n *node) holds(k *class) bool {
	if n.free == nil {
		return true
	}
	if n.slots < 1 {
		return false
	}
	for _, a := range k.asks {
		if a.resource >= len(n.free) || n.free[a.resource] < a.amount {
			return false
		}
	}
	return true
}

// room returns why there is no room, or "".
func (c *Cluster) room(k *class, n *node) string {
	switch {
	case n.holds(k):
		return ""
	case n.Status.Allocatable == nil:
		return "the node does not report its capacity"
	case n.slots < 1:
		return fmt.Sprintf("the node has room for %s pods, and %d are there", n.Status.Allocatable["pods"], len(c.bound[n.Name]))
	}
	for _, a := range k.asks {
		free := int64(0)
		if a.resource < len(n.free) {
			free = n.free[a.resource]
		}
		if free >= a.amount {
			continue
		}
		name := c.resources[a.resource]
		has := n.Status.Allocatable[name]
		if has == "" || has == "0" {
			return fmt.Sprintf("it requests %s of %s, and the node has none", shown(name, a.amount), name)
		}
		return fmt.Sprintf("it requests %s of %s; %s of %s are free", shown(name, a.amount), name, shown(name, free), has)
	}
	return ""
}

// shown returns an amount, given as the scheduler counts it, as a quantity.
func shown(name string, n int64) string {
	switch {
	case name == cpu && n%1000 == 0:
		return fmt.Sprint(n / 1000)
	case name == cpu:
		return fmt.Sprintf("%dm", n)
	case n != 0 && n%(1<<30) == 0:
		return fmt.Sprintf("%dGi", n>>30)
	case n != 0 && n%(1<<20) == 0:
		return fmt.Sprintf("%dMi", n>>20)
	}
	return fmt.Sprint(n)
}

// uneven returns the first constraint by which the pods would be spread too
// unevenly, or -1.
func (k *class) uneven(n *node) int {
	for i := range k.spread {
		s := &k.spread[i]
		value, ok := n.Labels[s.TopologyKey]
		if !ok || k.counts.spread[i][value]+s.self-k.least(i) > int(s.MaxSkew) {
			return i
		}
	}
	return -1
}

// least returns the smallest number of pods in a domain.
func (k *class) least(i int) int {
	if len(k.counts.spread[i]) < k.spread[i].least {
		return 0
	}
	if k.counts.least[i] < 0 {
		k.counts.least[i] = math.MaxInt32
		for _, count := range k.counts.spread[i] {
			k.counts.least[i] = min(k.counts.least[i], count)
		}
	}
	return k.counts.least[i]
}

func (k *class) unevenWords(i int, n *node) string {
	s := &k.spread[i]
	value, ok := n.Labels[s.TopologyKey]
	if !ok {
		return fmt.Sprintf("the node has no label %s, over which its pods are spread", s.TopologyKey)
	}
	return fmt.Sprintf("%s=%s has %d of its pods and the emptiest has %d; the difference may be %d with it", s.TopologyKey, value, k.counts.spread[i][value], k.least(i), s.MaxSkew)
}

// company is how well the pods near a node suit a pod.
type company int

const (
	suitable company = iota
	unlabelled
	alone
	unwanted
	unwelcome
)

// company evaluates the pods near a node, and returns the topology label that
// matters, if any.
func (c *Cluster) company(k *class, n *node) (company, string) {
	near := true
	for i := range k.near {
		value, ok := n.Labels[k.near[i].key]
		if !ok {
			return unlabelled, k.near[i].key
		}
		near = near && k.counts.near[pair{k.near[i].key, value}] > 0
	}
	if !near && (len(k.counts.near) > 0 || !c.allMatch(k.near, k)) { // the first pod of a group that must be together may be anywhere
		return alone, ""
	}
	for i := range k.away {
		if value, ok := n.Labels[k.away[i].key]; ok && k.counts.away[pair{k.away[i].key, value}] > 0 {
			return unwanted, k.away[i].key
		}
	}
	if len(k.counts.guard) > 0 {
		for key, value := range n.Labels {
			if k.counts.guard[pair{key, value}] > 0 {
				return unwelcome, ""
			}
		}
	}
	return suitable, ""
}

func companyWords(judged company, key string) string {
	switch judged {
	case unlabelled:
		return fmt.Sprintf("the node has no label %s, by which pods are near each other", key)
	case alone:
		return "not all pods that it must be near to are near"
	case unwanted:
		return fmt.Sprintf("a pod that it must not be near to has the same %s", key)
	case unwelcome:
		return "a pod nearby does not allow such a pod near it"
	}
	return ""
}
