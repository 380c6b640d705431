package diagnosis

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
)

// builder builds the graph of a world. Each of its files asks one engine.
type builder struct {
	*world
	g      Graph
	report *cvo.Report

	reasons  map[string]string
	down     map[string]bool   // nodes on which nothing new starts because of a fault
	draining map[string]bool   // nodes whose pods are being moved away
	have     map[string]bool   // IDs that were added
	closedBy map[string]string // by node that is up and takes no pods: the ID of why
	closed   []*fairlead.Node  // see shutNodes
	podsIn   map[string][]int  // by namespace, positions of its pods; nil until needed
	before   *Graph            // before any step; empty for a first diagnosis
	joining  int               // requests for certificates of nodes that join
	joinID   string            // the ID of these requests

	olmGaps   []cvo.Gap // what is not known of operators
	prospects *Prospect // of the update that is wanted; nil if none is
}

// build asks all engines. before is the graph before any step, nil for a first diagnosis.
func build(w *world, before *Graph) *builder {
	if w.indexed(); w.ground == nil {
		w.ground = &ground{}
	}
	b := &builder{
		world: w, g: Graph{Nodes: []Node{}, Edges: []Edge{}}, report: cvo.Inspect(w.dump(), w.now),
		down: map[string]bool{}, draining: map[string]bool{}, have: map[string]bool{}, reasons: map[string]string{}, closedBy: map[string]string{},
	}
	if b.before = before; before == nil {
		b.before = &Graph{}
	}
	b.nodesDown()
	b.quorum()
	b.requests()
	b.podsInTrouble()
	b.leaders()
	b.evictionsDue()
	b.namespacesEnd()
	b.claimsEnd()
	b.claimsPend()
	b.volumesFail()
	b.claimsResize()
	b.workloads()
	b.jobsFail()
	b.cronJobsWait()
	b.evictions()
	b.abandoned()
	b.budgetsFail()
	b.machinesWait()
	b.checksWait()
	b.drains()
	b.cordons()
	b.removals()
	b.poolsWait()
	b.operatorsWait()
	b.updateWaits()
	b.updateWanted()
	b.otherSigns()
	b.autoscalersWait()
	b.serving()
	b.misaimed()
	b.olmWaits()
	b.alertsFire()
	b.served()
	b.started()
	b.networked()
	if before != nil {
		b.g.without(before, func(*Node) bool { return false })
	}
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
	n.Reason, n.Says, n.do, n.command, n.plain = f.Code, says+f.Sentence, f.Do, f.Command, f.Plain
	n.Danger = n.Danger || f.Danger
}

// because adds what a sign of a node says to what the node says already: the known failure in it, which
// is returned, or else the most telling part of its message, of at most most characters.
func (n *Node) because(s failure.Sign, most int) *failure.Failure {
	s.Kind, s.Namespace, s.Name = n.Kind, n.Namespace, n.Name
	f := failure.Recognise(&s)
	if f != nil {
		n.is(f, n.Says+": ")
	} else if said := failure.Telling(s.Message, most); said != "" {
		n.Says += ": " + said
	}
	return f
}

// age is how long ago something was; zero if that is not known.
func (b *builder) age(since time.Time) time.Duration {
	if since.IsZero() {
		return 0
	}
	return max(0, b.now.Sub(since))
}

// without is a graph after something is no longer wrong: it drops what waited only for that.
// Reports of others are older than the step, and what only waits goes on. first is the graph
// before any step.
func (g *Graph) without(first *Graph, gone func(*Node) bool) {
	have := make(map[string]bool, len(g.Nodes))
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n Node) bool {
		have[n.ID] = !gone(&n)
		return !have[n.ID]
	})
	for changed := true; changed; {
		changed = false
		waits := map[string]bool{}
		for _, e := range g.Edges {
			if have[e.To] {
				waits[e.From] = true
			}
		}
		g.Nodes = slices.DeleteFunc(g.Nodes, func(n Node) bool {
			if n.State != Waiting && !n.told || waits[n.ID] || first.Node(n.ID) == nil || len(first.From(n.ID)) == 0 {
				return false
			}
			changed = true
			have[n.ID] = false
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
