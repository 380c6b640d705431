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

// The kinds of edges. If two bundles have several, the first of these counts.
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

// Edge is an update that a channel offers, from one bundle to another.
type Edge struct {
	From string   `json:"from"` // name of a bundle, which may be in no catalog
	To   string   `json:"to"`   // name of an entry of the channel
	Kind EdgeKind `json:"-"`    // the field of To's entry that offers it
}

// Graph holds the updates within one channel, by one set of [Rules]. Its nodes are the
// channel's entries and the bundles that they name in replaces and skips, which the
// channel need not have: one of them may still be installed. By the rules of OLM the
// other bundles of the package are also nodes, for the same reason. An edge leads from
// one bundle to another if the rules allow the update.
//
// A Graph never changes and may be used by many goroutines.
type Graph struct {
	channel *Channel
	rules   Rules
	nodes   []node // entries first, as written; then bundles that are not in the channel
	index   map[string]int
	entries int // how many nodes are entries
}

type node struct {
	name        string
	version     semverx.Version // zero if not known
	written     string          // the version as it is in the catalog
	skipped     bool            // some entry of the channel names it in skips
	installable bool            // an update may lead to it
	out, in     []link          // highest version first, then by name
	stated      []statement     // of an entry: what it updates from
}

// statement is one entry of a node: there are several if the channels of a package are
// combined.
type statement struct {
	Entry
	span *semverx.Range
	bad  error // why its skipRange cannot be read
}

type link struct {
	to   int // the node at the other end
	kind EdgeKind
}

// lazyGraphs builds the graphs of a channel once, by rules.
type lazyGraphs [3]struct {
	once  sync.Once
	graph *Graph
}

// Graph returns the updates within the channel, by the rules. The first call for a set
// of rules builds it.
func (ch *Channel) Graph(rules Rules) *Graph {
	if rules > OLMv1 {
		rules = AsWritten
	}
	lazy := &ch.lazy[rules]
	lazy.once.Do(func() { lazy.graph = newGraph(ch, rules, nil) })
	return lazy.graph
}

// GraphWith returns the graph with additional nodes: installed bundles, which the
// catalog may not have, or may have in another version. Every call builds a new graph.
func (ch *Channel) GraphWith(rules Rules, installed ...Installed) *Graph {
	return newGraph(ch, rules, installed)
}

func newGraph(ch *Channel, rules Rules, installed []Installed) *Graph {
	g := &Graph{channel: ch, rules: rules, index: make(map[string]int)}
	entries := ch.Entries()
	first := make([]Entry, 0, len(entries)) // of entries of one name the first
	for _, e := range entries {
		if _, ok := g.index[e.Name]; !ok {
			g.node(e.Name)
			first = append(first, e)
		}
	}
	g.entries = len(first)
	for i, may := range g.installable(first) {
		g.nodes[i].installable = may
	}
	g.state(ch, first)
	for _, e := range first {
		for _, s := range e.Skips {
			g.nodes[g.node(s)].skipped = true
		}
	}
	if rules == OLMv1 {
		for _, other := range ch.pkg.channels {
			if other != ch {
				g.state(other, other.Entries())
			}
		}
	}
	if rules != AsWritten {
		for _, b := range ch.pkg.bundles {
			g.node(b.Name())
		}
	}
	for _, x := range installed {
		n := &g.nodes[g.node(x.Name)]
		n.written = x.Version
		n.version = semverx.Tolerant(x.Version)
	}
	for to := range g.entries {
		if g.nodes[to].installable {
			g.connect(to)
		}
	}
	for i := range g.nodes {
		slices.SortFunc(g.nodes[i].out, g.compare)
		slices.SortFunc(g.nodes[i].in, g.compare)
	}
	return g
}

// state records what entries of a channel state about entries of this one, and adds
// nodes for what they name.
func (g *Graph) state(ch *Channel, entries []Entry) {
	for _, e := range entries {
		to, ok := g.index[e.Name]
		if !ok || to >= g.entries {
			continue
		}
		s := statement{Entry: e}
		if e.SkipRange != "" {
			s.span, s.bad = semverx.ParseRange(e.SkipRange)
		}
		g.nodes[to].stated = append(g.nodes[to].stated, s)
		if e.Replaces != "" {
			g.node(e.Replaces)
		}
		for _, skip := range e.Skips {
			g.node(skip)
		}
	}
}

// node returns the index of the node of that name, and adds it if necessary.
func (g *Graph) node(name string) int {
	if i, ok := g.index[name]; ok {
		return i
	}
	n := node{name: name}
	if b, ok := g.channel.pkg.Bundle(name); ok {
		n.written = b.Version()
		n.version = semverx.Tolerant(n.written)
	}
	g.index[name] = len(g.nodes)
	g.nodes = append(g.nodes, n)
	return len(g.nodes) - 1
}

// connect adds the edges into one entry.
func (g *Graph) connect(to int) {
	linked := map[int]bool{to: true}
	add := func(from int, kind EdgeKind) {
		if !linked[from] {
			linked[from] = true
			g.nodes[from].out = append(g.nodes[from].out, link{to, kind})
			g.nodes[to].in = append(g.nodes[to].in, link{from, kind})
		}
	}
	stated := g.nodes[to].stated
	for _, s := range stated {
		if s.Replaces != "" {
			add(g.index[s.Replaces], EdgeReplaces)
		}
	}
	for _, s := range stated {
		for _, skip := range s.Skips {
			add(g.index[skip], EdgeSkips)
		}
	}
	for _, s := range stated {
		if s.span == nil {
			continue
		}
		for from := range g.nodes {
			if v := g.nodes[from].version; !v.IsZero() && s.span.Contains(v) {
				add(from, EdgeSkipRange)
			}
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

// Find returns the name of the node with that name or, failing that, of the first
// entry with that version.
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
// those that are not in the channel.
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

// Installable reports whether updates may lead to the bundle of that name.
func (g *Graph) Installable(name string) bool {
	i, ok := g.index[name]
	return ok && g.nodes[i].installable
}

// Skipped reports whether an entry of the channel names this one in its skips.
// OLM v0 does not install such a bundle; it only updates from it.
func (g *Graph) Skipped(name string) bool {
	i, ok := g.index[name]
	return ok && g.nodes[i].skipped
}

// Successors returns the updates offered to users of the bundle of that name:
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
