package diagnosis

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/object"
)

// builder builds the graph of a world. Each of its files asks one engine.
type builder struct {
	*world
	g      Graph
	report *cvo.Report
	before *Graph // what a step is tried on; nil for a first diagnosis

	nodeAt   map[string]int // by name
	podAt    map[string]int // by namespace/name
	podsOn   map[string][]int
	index    *object.Budgets
	budgetAt map[string]int // by namespace/name; see guarded
	podsOf   [][]int        // by budget
	reasons  map[string]string
	down     map[string]bool // nodes on which nothing new starts because of a fault
	draining map[string]bool // nodes whose pods are being moved away
	have     map[string]bool // IDs that were added
	scout    *scout
	told     map[string]bool // IDs of what others reported
}

// build asks all engines.
func build(w *world, before *Graph) *builder {
	b := &builder{
		world: w, g: Graph{Nodes: []Node{}, Edges: []Edge{}}, before: before, report: cvo.Inspect(w.dump(), w.now), nodeAt: map[string]int{}, podAt: map[string]int{}, podsOn: map[string][]int{},
		down: map[string]bool{}, draining: map[string]bool{}, have: map[string]bool{}, told: map[string]bool{}, reasons: map[string]string{},
	}
	for i := range w.nodes {
		b.nodeAt[w.nodes[i].Name] = i
	}
	for i := range w.pods {
		p := &w.pods[i]
		b.podAt[p.ObjectMeta.String()] = i
		if p.Spec.NodeName != "" {
			b.podsOn[p.Spec.NodeName] = append(b.podsOn[p.Spec.NodeName], i)
		}
	}
	b.index, _ = object.NewBudgets(w.budgets)
	b.nodesDown()
	b.podsInTrouble()
	b.budgetsFail()
	b.machinesWait()
	b.drains()
	b.poolsWait()
	b.operatorsWait()
	b.updateWaits()
	b.otherSigns()
	b.others()
	b.explained()
	b.g.Normal()
	return b
}

// add adds a node of the graph, and returns its ID.
func (b *builder) add(n Node) string {
	if n.ID == "" {
		n.ID = ID(n.Kind, n.Namespace, n.Name)
	}
	if n.Sure == "" {
		n.Sure = Derived
	}
	if slices.Contains(b.solved, n.ID) {
		return n.ID
	}
	if p := b.pod(n.Namespace, n.Name); n.Kind == "Pod" && n.Alike == "" && p != nil {
		n.Alike = workload(p)
	}
	if b.have[n.ID] = true; b.reasons != nil {
		b.reasons[n.ID] = n.Reason
	}
	b.g.Nodes = append(b.g.Nodes, n)
	return n.ID
}

// wait adds an edge.
func (b *builder) wait(from, to, rule string, sure Certainty) {
	b.g.Edges = append(b.g.Edges, Edge{From: from, To: to, Rule: rule, Sure: sure})
}

// is makes a known failure the reason of a node of the graph; its sentence follows says.
func (n *Node) is(f *failure.Failure, says string) {
	n.Reason, n.Says, n.do, n.command = f.Code, says+f.Sentence, f.Do, f.Command
	n.Danger = n.Danger || f.Danger
}

// node returns a node of the cluster, or nil.
func (b *builder) node(name string) *fairlead.Node {
	if i, ok := b.nodeAt[name]; ok {
		return &b.nodes[i]
	}
	return nil
}

// pod returns a pod, or nil.
func (b *builder) pod(namespace, name string) *fairlead.Pod {
	if i, ok := b.podAt[namespace+"/"+name]; ok {
		return &b.pods[i]
	}
	return nil
}

// age is how long ago something was; zero if that is not known.
func (b *builder) age(since time.Time) time.Duration {
	if since.IsZero() {
		return 0
	}
	return max(0, b.now.Sub(since))
}

// updating reports whether the machine config daemon works on a node.
func updating(n *fairlead.Node) bool {
	a := n.Annotations
	return a[rollout.AnnotationCurrent] != a[rollout.AnnotationDesired] || a[rollout.AnnotationState] == rollout.StateWorking
}

// explained drops, when a step is tried, what waited only for things that are gone: reports of
// others are older than the step, and what only waits goes on.
func (b *builder) explained() {
	if b.before == nil {
		return
	}
	for changed := true; changed; {
		changed = false
		waits := map[string]bool{}
		for _, e := range b.g.Edges {
			if b.have[e.To] {
				waits[e.From] = true
			}
		}
		b.g.Nodes = slices.DeleteFunc(b.g.Nodes, func(n Node) bool {
			old := b.before.Node(n.ID)
			if n.State != Waiting && !b.told[n.ID] || waits[n.ID] || old == nil || len(b.before.From(n.ID)) == 0 {
				return false
			}
			changed = true
			delete(b.have, n.ID)
			return true
		})
	}
}

// mentions reports whether a text has a name as a word.
func mentions(text, name string) bool {
	part := func(c byte) bool {
		return c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	for from := 0; name != ""; {
		k := strings.Index(text[from:], name)
		if k < 0 {
			return false
		}
		at, end := from+k, from+k+len(name)
		if (at == 0 || !part(text[at-1])) && (end == len(text) || !part(text[end])) {
			return true
		}
		from = end
	}
	return false
}
