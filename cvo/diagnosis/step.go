package diagnosis

import (
	"cmp"
	"slices"

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
	play func(*world) bool // carries it out; false if it cannot be
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
		id, like := t.next(graph, causes)
		if id == "" {
			break
		}
		for _, r := range now.remedies(graph, id) {
			after, afterwards, ok := now.try(g, &r)
			if !ok {
				continue
			}
			frees := freed(graph, causes, afterwards)
			lasts := slices.ContainsFunc(afterwards.Causes(), func(c Cause) bool { return slices.Contains(c.Nodes, id) })
			if lasts && len(frees) == 0 {
				continue
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
	return steps, len(graph.Causes()) == 0
}

// mostAlike is for how many alike nodes of a cause steps are looked for.
const mostAlike = 3

// turns says which nodes of causes were looked at, and how many that were alike.
type turns struct {
	done  map[string]bool // by ID
	alike map[string]int
}

// next returns the first node of a cause that is to be looked at, and of the last of several that
// are alike, how many more there are.
func (t *turns) next(g *Graph, causes []Cause) (id string, like int) {
	for i := range causes {
		c := &causes[i]
		n := g.Node(c.Nodes[0])
		key := n.Kind + "/" + n.Reason + "/" + n.Alike
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

// try carries a remedy out on a copy of the world, lets the cluster react, and builds the graph
// again.
func (w *world) try(first *Graph, r *remedy) (*world, *Graph, bool) {
	after := w.copied()
	if r.play == nil || !r.play(after) {
		return nil, nil, false
	}
	after.react()
	b := build(after, first)
	return after, &b.g, true
}

// react lets the controllers of the cluster do what they do by themselves: pods that fit are
// placed and become ready, and budgets are counted.
func (w *world) react() {
	if w.nodes != nil && w.pods != nil {
		b := &builder{world: w, nodeAt: map[string]int{}, podAt: map[string]int{}, podsOn: map[string][]int{}, down: map[string]bool{}, draining: map[string]bool{}, have: map[string]bool{}, told: map[string]bool{}}
		for i := range w.nodes {
			b.nodeAt[w.nodes[i].Name] = i
		}
		b.nodesDown()
		b.place()
	}
	w.measure()
}

// place puts pods that wait for a node where they fit.
func (b *builder) place() {
	waits := func(p *fairlead.Pod) bool {
		return p.Spec.NodeName == "" && !p.Finished() && p.DeletionTimestamp == nil
	}
	if !slices.ContainsFunc(b.pods, func(p fairlead.Pod) bool { return waits(&p) }) {
		return
	}
	s := b.places()
	b.editPods(waits, func(p *fairlead.Pod) {
		to, ok := s.now.First(p, nil)
		if !ok {
			return
		}
		p.Spec.NodeName = to.Name
		ready(p)
		_ = s.now.Add(p) // what cannot be read counts as nothing
	})
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
			t = cmp.Or(n.Alike, t)
		}
		if !slices.Contains(groups[k], t) {
			groups[k] = append(groups[k], t)
		}
	}
	return shortList(slices.Concat(groups...))
}
