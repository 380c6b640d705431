package catalog

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"github.com/fairlead/fairlead/internal/semverx"
)

// EdgeKind says by which field of an entry an update is offered.
type EdgeKind uint8

// The kinds of edges, in the order in which they count when there are several
// between two bundles.
const (
	EdgeReplaces EdgeKind = iota + 1
	EdgeSkips
	EdgeSkipRange
)

// String returns the name of the field.
func (k EdgeKind) String() string {
	switch k {
	case EdgeReplaces:
		return "replaces"
	case EdgeSkips:
		return "skips"
	case EdgeSkipRange:
		return "skipRange"
	}
	return "no edge"
}

// Edge is an update that a channel offers: whoever has From may go to To.
type Edge struct {
	From string   `json:"from"` // name of a bundle, which may be in no catalog
	To   string   `json:"to"`   // name of an entry of the channel
	Kind EdgeKind `json:"-"`    // the field of To's entry that offers it
}

// Graph is the updates within one channel. Its nodes are the channel's entries
// and the bundles that they name in replaces and skips, which the channel need
// not have: one of them may still be installed. An edge leads from one bundle
// to another when the entry of the second names the first in replaces or
// skips, or when its skipRange holds the first one's version. No other rule is
// applied: whether a skipped bundle may be a target is the resolver's choice
// (see Skipped).
//
// A Graph never changes and may be used by many goroutines.
type Graph struct {
	channel *Channel
	nodes   []node // entries first, as written; then bundles only named
	index   map[string]int
	entries int // how many nodes are entries
}

type node struct {
	name    string
	version semverx.Version // zero if not known
	written string          // the version as it is in the catalog
	skipped bool            // some entry names it in skips
	out, in []link          // highest version first, then by name
	badSpan error           // why its skipRange cannot be read
	span    *semverx.Range
}

type link struct {
	to   int // the node at the other end
	kind EdgeKind
}

// lazyGraph builds a channel's graph once.
type lazyGraph struct {
	once  sync.Once
	graph *Graph
}

// Graph returns the updates within the channel. It is built by the first call.
func (ch *Channel) Graph() *Graph {
	ch.lazy.once.Do(func() { ch.lazy.graph = newGraph(ch) })
	return ch.lazy.graph
}

func newGraph(ch *Channel) *Graph {
	g := &Graph{channel: ch, index: make(map[string]int)}
	entries := ch.Entries()
	first := make([]Entry, 0, len(entries)) // of entries of one name the first
	for _, e := range entries {
		if _, ok := g.index[e.Name]; !ok {
			g.node(e.Name)
			first = append(first, e)
		}
	}
	g.entries = len(first)
	for _, e := range first {
		if e.Replaces != "" {
			g.node(e.Replaces)
		}
		for _, s := range e.Skips {
			g.nodes[g.node(s)].skipped = true
		}
	}
	for to, e := range first {
		g.connect(to, e)
	}
	for i := range g.nodes {
		slices.SortFunc(g.nodes[i].out, g.compare)
		slices.SortFunc(g.nodes[i].in, g.compare)
	}
	return g
}

// node returns the index of the node of that name, making it if need be.
func (g *Graph) node(name string) int {
	if i, ok := g.index[name]; ok {
		return i
	}
	n := node{name: name}
	if b, ok := g.channel.pkg.Bundle(name); ok {
		n.written = b.Version()
		if v, err := semverx.ParseTolerant(n.written); err == nil {
			n.version = v
		}
	}
	g.index[name] = len(g.nodes)
	g.nodes = append(g.nodes, n)
	return len(g.nodes) - 1
}

// connect adds the edges into one entry.
func (g *Graph) connect(to int, e Entry) {
	linked := map[int]bool{to: true}
	add := func(from int, kind EdgeKind) {
		if !linked[from] {
			linked[from] = true
			g.nodes[from].out = append(g.nodes[from].out, link{to, kind})
			g.nodes[to].in = append(g.nodes[to].in, link{from, kind})
		}
	}
	if e.Replaces != "" {
		add(g.index[e.Replaces], EdgeReplaces)
	}
	for _, s := range e.Skips {
		add(g.index[s], EdgeSkips)
	}
	if e.SkipRange == "" {
		return
	}
	span, err := semverx.ParseRange(e.SkipRange)
	if err != nil {
		g.nodes[to].badSpan = err
		return
	}
	g.nodes[to].span = span
	for from := range g.nodes {
		if v := g.nodes[from].version; !v.IsZero() && span.Contains(v) {
			add(from, EdgeSkipRange)
		}
	}
}

// compare orders the ends of links: highest version first, then by name.
func (g *Graph) compare(a, b link) int {
	m, n := &g.nodes[a.to], &g.nodes[b.to]
	return cmp.Or(n.version.Compare(m.version), cmp.Compare(m.name, n.name))
}

// Channel returns the channel whose updates these are.
func (g *Graph) Channel() *Channel { return g.channel }

// Find returns the name of the node that a name, or the version of an entry,
// stands for. Names come first; of several entries with one version the one
// written first counts.
func (g *Graph) Find(nameOrVersion string) (name string, ok bool) {
	if _, ok := g.index[nameOrVersion]; ok {
		return nameOrVersion, true
	}
	v, err := semverx.ParseTolerant(nameOrVersion)
	if err != nil {
		return "", false
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		if n.written == nameOrVersion || !n.version.IsZero() && n.version.Compare(v) == 0 {
			return n.name, true
		}
	}
	return "", false
}

// Nodes returns the names of all nodes: the entries as they are written, then
// the bundles that entries only name.
func (g *Graph) Nodes() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range g.nodes {
			if !yield(g.nodes[i].name) {
				return
			}
		}
	}
}

// Has reports whether the channel has an entry of that name.
func (g *Graph) Has(name string) bool {
	i, ok := g.index[name]
	return ok && i < g.entries
}

// Skipped reports whether an entry names this one in its skips. OLM does not
// install such a bundle, and updates from it only.
func (g *Graph) Skipped(name string) bool {
	i, ok := g.index[name]
	return ok && g.nodes[i].skipped
}

// Successors returns the updates offered to who has the bundle of that name:
// those to the highest version first, then by name.
func (g *Graph) Successors(name string) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		i, ok := g.index[name]
		if !ok {
			return
		}
		for _, l := range g.nodes[i].out {
			if !yield(Edge{name, g.nodes[l.to].name, l.kind}) {
				return
			}
		}
	}
}

// Predecessors returns the updates that lead to the entry of that name: those
// from the highest version first, then by name.
func (g *Graph) Predecessors(name string) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		i, ok := g.index[name]
		if !ok {
			return
		}
		for _, l := range g.nodes[i].in {
			if !yield(Edge{g.nodes[l.to].name, name, l.kind}) {
				return
			}
		}
	}
}
