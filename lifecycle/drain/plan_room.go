package drain

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints/placement"
)

// places follows where the replacements of evicted pods go.
type places struct {
	cluster *placement.Cluster
	closed  map[string]bool
	stay    map[string]bool // nodes that report room, and are ready
	waiting []*leaver       // whose replacements have no node yet
	// elsewhere is a node that has pods and is not known itself, or "".
	elsewhere string
	pods      []*Pod   // replacements on nodes that are drained later
	doubtful  []string // pods of which it is not known whether another node can run them
	doubts    string   // why, for the first
	origins   []int32  // of each of pods, the position of the pod that it replaces
	// drained are the nodes that are drained, the last first, if the cluster is the caller's.
	drained []*Node
	drains  map[string]bool // their names
	undo    []was           // what restores the caller's cluster, in the order of the changes
}

// was is what a node or a pod was before its first change.
type was struct {
	node *Node
	pod  *Pod // without a node it was not there
}

// leaver is a pod that goes, or went, in a round.
type leaver struct {
	pod     *Pod
	at      int32 // its position
	budgets []int32
	node    *NodePlan
	plan    int  // position in the node's list
	serves  bool // it counted as healthy
	lost    bool // its budgets have noticed that its replacement does not serve
}

// newPlaces puts all nodes and pods of the request in a cluster: nodes that stay first.
func (p *planner) newPlaces(order []int) {
	p.rooms = &places{cluster: placement.New(&placement.Options{RoomUntold: true, Namespaces: labelsOf(p.req.Namespaces), Storage: p.req.Storage}), closed: map[string]bool{}, stay: map[string]bool{}}
	for i := range p.req.Nodes {
		n := &p.req.Nodes[i]
		if n.NotReady() == nil {
			p.rooms.stay[n.Name] = n.Status.Allocatable != nil
		}
	}
	if p.req.Cluster != nil {
		p.borrow(order)
		return
	}
	drained := map[int]bool{}
	for _, at := range order {
		drained[at] = true
	}
	var nodes []*Node
	for i := range p.req.Nodes {
		if !drained[i] {
			nodes = append(nodes, &p.req.Nodes[i])
		}
	}
	slices.SortFunc(nodes, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
	for _, at := range slices.Backward(order) {
		nodes = append(nodes, &p.req.Nodes[at])
	}
	for _, n := range nodes {
		p.unreadable(p.rooms.cluster.SetNode(n))
	}
	for i := range p.req.Pods {
		pod := &p.req.Pods[i]
		p.unreadable(p.rooms.cluster.Add(pod))
		if name := pod.Spec.NodeName; name != "" && p.rooms.cluster.Node(name) == nil && (p.rooms.elsewhere == "" || name < p.rooms.elsewhere) {
			p.rooms.elsewhere = name
		}
	}
}

// borrow uses the cluster of the request.
func (p *planner) borrow(order []int) {
	p.rooms.cluster, p.rooms.drains = p.req.Cluster, make(map[string]bool, len(order))
	for _, at := range slices.Backward(order) {
		p.rooms.drained = append(p.rooms.drained, &p.req.Nodes[at])
		p.rooms.drains[p.req.Nodes[at].Name] = true
	}
	for i := range p.req.Pods {
		if name := p.req.Pods[i].Spec.NodeName; name != "" && p.rooms.cluster.Node(name) == nil && (p.rooms.elsewhere == "" || name < p.rooms.elsewhere) {
			p.rooms.elsewhere = name
		}
	}
}

// giveBack undoes all changes of a cluster that is the caller's.
func (p *planner) giveBack() {
	if p.rooms == nil || p.req.Cluster == nil {
		return
	}
	for _, w := range slices.Backward(p.rooms.undo) {
		switch {
		case w.node != nil:
			_ = p.rooms.cluster.SetNode(w.node) // it was read before, and so were the pods
		case w.pod.Spec.NodeName == "":
			p.rooms.cluster.Remove(w.pod)
		default:
			_ = p.rooms.cluster.Add(w.pod)
		}
	}
}

// remove takes a pod out of the cluster.
func (r *places) remove(p *Pod) {
	r.undo = append(r.undo, was{pod: p})
	r.cluster.Remove(p)
}

// add puts a pod on a node.
func (r *places) add(p *Pod) {
	absent := &Pod{ObjectMeta: ObjectMeta{Namespace: p.Namespace, Name: p.Name}}
	r.undo = append(r.undo, was{pod: absent})
	_ = r.cluster.Add(p) // what cannot be read was noted
}

// setNode replaces a node.
func (r *places) setNode(n *Node) {
	r.undo = append(r.undo, was{node: r.cluster.Node(n.Name)})
	_ = r.cluster.SetNode(n) // it was there before
}

// first returns the first node that takes a pod: one that stays, by name, or else one that
// is drained, the last of them first.
func (r *places) first(p *Pod, may func(*Node) bool) (*Node, bool) {
	if len(r.drained) == 0 {
		return r.cluster.First(p, may)
	}
	if n, ok := r.cluster.First(p, func(n *Node) bool { return may(n) && !r.drains[n.Name] }); ok {
		return n, true
	}
	for _, n := range r.drained {
		if may(n) && r.cluster.Fits(p, n.Name) {
			return n, true
		}
	}
	return nil, false
}

func labelsOf(namespaces []ObjectMeta) map[string]map[string]string {
	all := make(map[string]map[string]string, len(namespaces))
	for i := range namespaces {
		all[namespaces[i].Name] = namespaces[i].Labels
	}
	return all
}

// unreadable notes what about a node or pod cannot be read, and counts as nothing.
func (p *planner) unreadable(err error) {
	if err != nil {
		p.assume(&p.plan.Unknown, err.Error())
	}
}

// assume adds a text once.
func (p *planner) assume(to *[]string, text string) {
	if !slices.Contains(*to, text) {
		*to = append(*to, text)
	}
}

// close takes a node out of service: no pod goes there, not even one that tolerates
// that.
func (p *planner) close(n *Node) {
	closed := *n
	closed.Spec.Unschedulable = true
	p.rooms.setNode(&closed)
	p.rooms.closed[n.Name] = true
}

// open takes a node back into service, after it was drained.
func (p *planner) open(n *Node) {
	opened := *n
	opened.Spec.Unschedulable = false
	opened.Spec.Taints = slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(t fairlead.Taint) bool { return t.Key == unschedulableTaint })
	p.rooms.setNode(&opened)
	delete(p.rooms.closed, n.Name)
}

// unschedulableTaint is the taint of a cordoned node.
const unschedulableTaint = "node.kubernetes.io/unschedulable"

// rehouse finds nodes for the replacements of pods that went, and of those that have
// none yet, and counts for their budgets which of them serve from now on.
func (p *planner) rehouse(left []*leaver) {
	for _, l := range left {
		p.rooms.remove(l.pod)
	}
	queue := slices.Concat(p.rooms.waiting, left)
	p.rooms.waiting = nil
	slices.SortStableFunc(queue, func(a, b *leaver) int { return int(object.Priority(b.pod)) - int(object.Priority(a.pod)) })
	for i := 0; i < len(queue); i++ {
		l := queue[i]
		victims, ok := p.house(l)
		queue = append(queue, victims...) // they need another node themselves
		if ok {
			p.serve(l)
		} else {
			p.rooms.waiting = append(p.rooms.waiting, l)
			p.miss(l)
		}
	}
}

// serve counts a replacement that has a node.
func (p *planner) serve(l *leaver) {
	for _, at := range l.budgets {
		if l.lost || !l.serves && !l.pod.Finished() {
			p.delta[at]++
			p.touch(at)
		}
	}
	l.lost, l.serves = false, true
}

// miss counts a replacement that has no node.
func (p *planner) miss(l *leaver) {
	for _, at := range l.budgets {
		if l.serves && !l.lost {
			p.delta[at]--
			p.touch(at)
		}
	}
	l.lost = l.lost || l.serves
}

// house puts the replacement of a pod on a node, and returns the pods that would be
// evicted for it.
func (p *planner) house(l *leaver) (victims []*leaver, ok bool) {
	r := p.rooms
	to, ok := r.first(l.pod, func(n *Node) bool { return !r.closed[n.Name] && r.stay[n.Name] })
	if !ok {
		to, ok = r.first(l.pod, func(n *Node) bool { _, ready := r.stay[n.Name]; return !r.closed[n.Name] && ready })
		if ok {
			p.assume(&p.plan.Unknown, "node "+to.Name+" does not report its allocatable resources: it is assumed to have room")
		}
	}
	p.doubt(l, ok)
	name := ""
	if ok {
		name = to.Name
	} else if found, may := r.cluster.Preempt(l.pod, p.disruptions.budgets, func(n *Node) bool { return !r.closed[n.Name] && r.stay[n.Name] }); may {
		name, ok = found.Node, true
		for _, v := range found.Victims {
			r.remove(v)
			l.told().Preempts = append(l.told().Preempts, v.ObjectMeta.String())
			if replaced(v) {
				victims = append(victims, p.victim(l, v))
			}
		}
	}
	if !ok && p.rooms.elsewhere != "" {
		p.assume(&p.plan.Unknown, "node "+p.rooms.elsewhere+" has pods and is not known itself: pods without room on the others are assumed to fit there")
		return nil, true
	}
	if !ok {
		if told := l.told(); told.NoRoom == nil {
			told.NoRoom, told.rejects = why(r.cluster, l.pod, l.from())
			if len(told.NoRoom) == 0 {
				told.NoRoom = []string{noOtherNode}
			}
		}
		return nil, false
	}
	if told := l.told(); told.To == "" {
		told.To = name
	}
	c := *l.pod
	c.Spec.NodeName, c.DeletionTimestamp = name, nil
	r.add(&c)
	l.pod = &c
	p.moved(l)
	return victims, true
}

// doubt notes what about a place that was found is not known.
func (p *planner) doubt(l *leaver, found bool) {
	unknown := p.rooms.cluster.Unknown(l.pod)
	if !found || len(unknown) == 0 {
		return
	}
	if name := l.pod.Namespace + "/" + l.pod.Name; !slices.Contains(p.rooms.doubtful, name) {
		p.rooms.doubtful = append(p.rooms.doubtful, name)
		if p.rooms.doubts == "" {
			p.rooms.doubts = unknown[0]
		}
	}
}

// doubts notes for which pods it is not known whether another node can run them.
func (p *planner) doubts() {
	if p.rooms == nil || len(p.rooms.doubtful) == 0 {
		return
	}
	p.assume(&p.plan.Unknown, "whether another node can run "+words.Plural(len(p.rooms.doubtful), "pod ", "pods ")+words.First(p.rooms.doubtful, 3)+": "+p.rooms.doubts)
}

// noOtherNode is why a pod has no node if there is none besides its own.
const noOtherNode = "there is no other node"

// told returns what is told about the pod: of one that leaves another node, nothing.
func (l *leaver) told() *PodPlan {
	if l.node == nil {
		return &PodPlan{}
	}
	return &l.node.Pods[l.plan]
}

// from returns the node that the pod leaves, if that is drained.
func (l *leaver) from() string {
	if l.node == nil {
		return ""
	}
	return l.node.Node
}

// endElsewhere lets pods end that are being deleted on nodes that are not drained, in the first
// round, if a StatefulSet creates another one then. Other sets have done so before.
func (p *planner) endElsewhere() {
	nodes := make(map[string]*Node, len(p.req.Nodes))
	for i := range p.req.Nodes {
		nodes[p.req.Nodes[i].Name] = &p.req.Nodes[i]
	}
	for i := range p.req.Pods {
		pod := &p.req.Pods[i]
		n := nodes[pod.Spec.NodeName]
		if _, drained := p.later[pod.Spec.NodeName]; drained || n == nil || pod.DeletionTimestamp == nil || !p.endsOn(pod, Unreachable(n) && !outOfService(n)) {
			continue
		}
		if c := pod.ControllerOf(); c == nil || c.Kind != "StatefulSet" {
			continue
		}
		x := &leaver{pod: pod, at: int32(i), budgets: p.budgets(int32(i))}
		p.elsewhere = true
		if p.rooms == nil {
			p.serve(x)
			continue
		}
		p.left = append(p.left, x)
	}
}

// victim returns a pod that is evicted for another one. What becomes of it is told with
// that one.
func (p *planner) victim(by *leaver, v *Pod) *leaver {
	at := int32(-1)
	for i := range p.req.Pods {
		if o := &p.req.Pods[i]; o.Namespace == v.Namespace && o.Name == v.Name {
			at = int32(i)
		}
	}
	if at < 0 {
		return &leaver{pod: v, at: at, node: by.node, plan: by.plan, serves: v.Ready()}
	}
	return &leaver{pod: v, at: at, budgets: p.budgets(at), node: by.node, plan: by.plan, serves: v.Ready() && v.DeletionTimestamp == nil}
}

// moved remembers a replacement on a node that is drained later.
func (p *planner) moved(l *leaver) {
	if at, is := p.later[l.pod.Spec.NodeName]; is && l.at >= 0 {
		p.pods[at] = append(p.pods[at], int32(len(p.req.Pods)+len(p.rooms.pods)))
		p.rooms.pods, p.rooms.origins = append(p.rooms.pods, l.pod), append(p.rooms.origins, l.at)
	}
}

// pod returns the pod at a position: of the request, or a replacement.
func (p *planner) pod(at int32) *Pod {
	if n := len(p.req.Pods); int(at) >= n {
		return p.rooms.pods[int(at)-n]
	}
	return &p.req.Pods[at]
}

// goBack takes the nodes of a batch back into service, if they are to be, and lets pods
// without a node go there.
func (p *planner) goBack(nodes []int) {
	if p.rooms == nil || !p.req.Returns {
		return
	}
	for _, at := range nodes {
		delete(p.later, p.req.Nodes[at].Name)
		p.open(&p.req.Nodes[at])
	}
	p.rehouse(nil)
	p.settle()
}
