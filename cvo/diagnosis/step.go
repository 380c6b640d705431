package diagnosis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// Step is one thing to do.
type Step struct {
	Do      string `json:"do"`                // a verb and an object, in a sentence without a full stop
	Object  string `json:"object"`            // the ID of the cause that it ends
	Command string `json:"command,omitempty"` // runs as printed; it does it, or shows what to do
	// Tried is whether the engines carried it out on a copy, after the steps before it. If
	// not, it is assumed to succeed.
	Tried bool `json:"tried"`
	// Frees are the IDs of what no longer waits for anything wrong after it and the steps
	// before it, by ID. For an assumed step, that is what its success would free.
	Frees []string `json:"frees,omitempty"`
	Says  string   `json:"says,omitempty"` // what it frees, in words
	// Must says what must be true first, and See is the command that shows it: only for
	// steps that risk data.
	Must string `json:"must,omitempty"`
	See  string `json:"see,omitempty"` // see Must
	// Shows is the command that shows whether an assumed step has succeeded, and Means what
	// its outcomes mean.
	Shows string `json:"shows,omitempty"`
	Means string `json:"means,omitempty"` // see Shows
	Like  int    `json:"like,omitempty"`  // how many causes like it need the same
	// Or is what helps if this step cannot be done; nil without such a thing.
	Or *Step `json:"or,omitempty"`
}

// mostSteps is how many steps are looked for.
const mostSteps = 12

// remedy is something that may end a cause.
type remedy struct {
	Step
	play func(*world) bool // carries it out; false if it cannot be. If nil, its cause is supposed to be gone.
}

// steps finds what to do, in the order of the causes: each remedy is played on a copy of the
// world, after those before it, and the diagnosis made again shows what it frees. A remedy that
// neither ends its cause nor frees anything is left out. The result says whether nothing is stuck
// after the last of them.
func (w *world) steps(g *Graph) (steps []Step, rest bool) {
	steps = []Step{}
	now, graph := w, g
	t := turns{done: map[string]bool{}, alike: map[string]int{}}
	for len(steps) < mostSteps {
		causes := graph.Causes()
		id, like := t.next(graph, w.concern(graph, causes))
		if id == "" && !t.resume() {
			break
		}
		if id == "" {
			continue
		}
		for _, r := range now.remedies(graph, id) {
			after, afterwards, ok := now.try(g, graph, id, &r)
			if !ok {
				continue
			}
			frees := freed(graph, causes, afterwards)
			lasts := slices.ContainsFunc(afterwards.Causes(), func(c Cause) bool { return slices.Contains(c.Nodes, id) })
			if len(frees) == 0 && (lasts || graph.Node(id).Reason == ScaledToNone) {
				continue
			}
			if len(frees) == 0 && t.postpone(graph.Node(id)) { // what it frees waits for another cause, too
				break
			}
			if lasts { // it frees others; what ends the cause itself may come later
				delete(t.done, id)
			}
			r.Frees, r.Object, r.Like = frees, id, like
			r.Says = graph.freesWords(frees, id)
			steps = append(steps, r.Step)
			now, graph = after, afterwards
			break
		}
	}
	return steps, len(w.concern(graph, graph.Causes())) == 0
}

// concern returns the causes that the objects wait for that are asked about, each without what it has
// in common with others that they do not wait for; or all causes.
func (w *world) concern(g *Graph, causes []Cause) (of []Cause) {
	if len(w.of) == 0 {
		return causes
	}
	needed := map[string]bool{}
	var queue []string
	for i := range g.Nodes {
		if object, _, _ := strings.Cut(g.Nodes[i].ID, "#"); slices.Contains(w.of, object) {
			queue = append(queue, g.Nodes[i].ID)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		if id := queue[0]; !needed[id] {
			needed[id] = true
			for _, e := range g.From(id) {
				queue = append(queue, e.To)
			}
		}
	}
	for _, c := range causes {
		if c.Nodes = slices.DeleteFunc(slices.Clone(c.Nodes), func(id string) bool { return !needed[id] }); len(c.Nodes) > 0 {
			of = append(of, c)
		}
	}
	return of
}

// mostAlike is for how many alike nodes of a cause steps are looked for.
const mostAlike = 3

// turns says which nodes of causes were looked at, and how many that were alike.
type turns struct {
	done  map[string]bool // by ID
	alike map[string]int
	later []string // IDs of what frees nothing before other causes have ended
	last  bool     // those are looked at now
}

// postpone says that the remedy of a node comes after those of other causes, unless data is in danger.
func (t *turns) postpone(n *Node) bool {
	if t.last || n.Danger {
		return false
	}
	t.later = append(t.later, n.ID)
	t.alike[n.like()]--
	return true
}

// resume makes what was postponed the next; false if that has been done.
func (t *turns) resume() bool {
	if t.last || len(t.later) == 0 {
		return false
	}
	for _, id := range t.later {
		delete(t.done, id)
	}
	t.last = true
	return true
}

// like is what alike nodes of causes have in common.
func (n *Node) like() string { return n.Kind + "/" + n.Reason + "/" + n.Alike }

// next returns the first node of a cause that is to be looked at, and of the last of several that
// are alike, how many more there are.
func (t *turns) next(g *Graph, causes []Cause) (id string, like int) {
	for i := range causes {
		c := &causes[i]
		n := g.Node(c.Nodes[0])
		key := n.like()
		if c.Open || t.alike[key] == mostAlike {
			continue
		}
		for k, node := range c.Nodes {
			if t.done[node] {
				continue
			}
			t.done[node] = true
			if t.alike[key]++; t.alike[key] == mostAlike {
				like = len(c.Nodes) - k - 1
			}
			return node, like
		}
	}
	return "", 0
}

// freed returns what was stuck and no longer is.
func freed(before *Graph, causes []Cause, after *Graph) []string {
	left := map[string]bool{}
	for _, id := range Stuck(after.Causes()) {
		left[id] = true
	}
	return slices.DeleteFunc(Stuck(causes), func(id string) bool { return left[id] })
}

// try carries a remedy of a node of the graph out on a copy of the world, lets the cluster react, and
// builds the graph again. If the remedy is only supposed to help, the world stays as it is.
func (w *world) try(first, graph *Graph, id string, r *remedy) (*world, *Graph, bool) {
	after := w.copied()
	if r.play == nil {
		of := *graph.Node(id)
		gone := func(n *Node) bool { // what helps one helps all of the same workload, image or service
			return n.ID == id || of.Alike != "" && n.Alike == of.Alike && n.Kind == of.Kind && n.Reason == of.Reason && n.State == of.State
		}
		after.solved = slices.Clone(w.solved)
		for i := range graph.Nodes {
			if gone(&graph.Nodes[i]) {
				after.solved = append(after.solved, graph.Nodes[i].ID)
			}
		}
		g := &Graph{Nodes: slices.Clone(graph.Nodes), Edges: slices.Clone(graph.Edges)}
		g.without(first, gone)
		g.Normal()
		return after, g, true
	}
	if !r.play(after) {
		return nil, nil, false
	}
	after.react(w)
	b := build(after, first)
	return after, &b.g, true
}

// react lets the controllers of the cluster do what they do by themselves: pods that fit are
// placed and become ready, and budgets are counted if pods or budgets are not as before.
func (w *world) react(before *world) {
	if w.nodes != nil && w.pods != nil {
		b := &builder{world: w, down: map[string]bool{}, draining: map[string]bool{}, have: map[string]bool{}, closedBy: map[string]string{}}
		b.nodesDown()
		b.place(!same(before.pods, w.pods) && !same(w.ground.well.pods, w.pods))
	}
	if !same(before.pods, w.pods) || !same(before.budgets, w.budgets) {
		w.measure()
	}
}

// place puts pods that wait for a node where they fit. own is whether no other world has the list of pods.
func (b *builder) place(own bool) {
	ground := b.places()
	var placed []int
	for i := range b.pods {
		p := &b.pods[i]
		if p.Spec.NodeName != "" || p.Finished() || p.DeletionTimestamp != nil {
			continue
		}
		to, ok := ground.First(p, b.takes)
		if !ok {
			continue
		}
		if !own {
			b.pods, own = slices.Clone(b.pods), true
			p = &b.pods[i]
		}
		p.Spec.NodeName = to.Name
		ready(p)
		_ = ground.Add(p) // what cannot be read counts as nothing
		placed = append(placed, i)
	}
	if len(placed) > 0 {
		b.ground.now.pods = b.pods
		b.bound(placed)
	}
}

// ready makes a pod ready.
func ready(p *fairlead.Pod) {
	p.Status.Phase = fairlead.PodRunning
	p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
}

// freesWords says what a step frees, the most important first: not what the step itself is about,
// and not budgets, whose pods say it. Pods are named by their workload.
func (g *Graph) freesWords(ids []string, own string) string {
	order := []string{"Update", "ClusterVersion", "MachineConfigPool", "ClusterOperator", "Subscription", "ClusterExtension", "Machine", "Node", "Pod"}
	groups := make([][]string, len(order)+1)
	later := func(id string) int { // what is stuck already comes before what would be
		if n := g.Node(id); n != nil && n.Reason == NodeDrainAhead {
			return 1
		}
		return 0
	}
	ids = slices.SortedStableFunc(slices.Values(ids), func(a, b string) int { return cmp.Compare(later(a), later(b)) })
	for _, id := range ids {
		n := g.Node(id)
		if n == nil || id == own || n.Kind == "PodDisruptionBudget" {
			continue
		}
		k := slices.Index(order, n.Kind)
		if k < 0 {
			k = len(order)
		}
		t := n.title()
		if n.Kind == "Pod" {
			if strings.Contains(n.Alike, "/") && !strings.ContainsAny(n.Alike, ":@") {
				t = n.Alike
			}
		}
		if !slices.Contains(groups[k], t) {
			groups[k] = append(groups[k], t)
		}
	}
	return shortList(slices.Concat(groups...))
}
