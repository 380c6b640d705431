package catalog

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"github.com/fairlead/fairlead/catalog/internal/names"
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
// A Graph never changes and may be used by many goroutines. Its size is proportional to what
// the entries state, times a logarithm: edges by skipRange are not stored one by one.
type Graph struct {
	channel *Channel
	rules   Rules
	nodes   []node // entries first, as written; then bundles that are not in the channel
	index   map[string]int
	entries int // how many nodes are entries
	ranges

	sortOnce sync.Once // links are sorted
}

type node struct {
	name string
	*edition
	skipped     bool         // some entry of the channel names it in skips
	installable bool         // an update may lead to it
	out, in     []link       // by replaces and skips; sorted by Graph.sort
	stated      []*statement // of an entry: what it updates from
}

// named is what a statement names, as nodes.
type named struct {
	replaces int32 // -1 if nothing
	skips    []int32
}

// edition is the version of a bundle. The graphs of a package share them.
type edition struct {
	version semverx.Version // zero if not known
	written string          // the version as it is in the catalog
}

var unknownEdition = &edition{}

type link struct {
	to   int32 // the node at the other end
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
	entries := ch.Entries()
	most := len(entries) + len(installed)
	if rules != AsWritten {
		most = max(most, len(ch.pkg.bundles))
	}
	g := &Graph{channel: ch, rules: rules, index: make(map[string]int, most), nodes: make([]node, 0, most)}
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
	named := make([][]named, g.entries) // by what is stated of each entry
	state := func(to int, s *statement) { named[to] = append(named[to], g.state(to, s)) }
	for i := range first {
		state(i, ch.statement(&first[i]))
		for _, skip := range named[i][0].skips {
			g.nodes[skip].skipped = true
		}
	}
	if rules == OLMv1 {
		ch.others(g.index, state)
	}
	if rules != AsWritten {
		for _, b := range ch.pkg.bundles {
			g.node(b.Name())
		}
	}
	for _, x := range installed {
		n := &g.nodes[g.node(x.Name)]
		if n.written != x.Version {
			n.edition = &edition{semverx.Tolerant(x.Version), x.Version}
		}
	}
	g.connect(named)
	g.ranges = rangesOf(g)
	return g
}

// sort sorts the links of all nodes: highest version first, then by name. Searches do not
// need it.
func (g *Graph) sort() {
	g.sortOnce.Do(func() {
		for i := range g.nodes {
			slices.SortFunc(g.nodes[i].out, g.compare)
			slices.SortFunc(g.nodes[i].in, g.compare)
		}
	})
}

// state records what is said of an entry, and adds nodes for what it names.
func (g *Graph) state(to int, s *statement) named {
	g.nodes[to].stated = append(g.nodes[to].stated, s)
	n := named{replaces: -1}
	if s.Replaces != "" {
		n.replaces = int32(g.node(s.Replaces))
	}
	if len(s.Skips) > 0 {
		n.skips = make([]int32, len(s.Skips))
		for i, skip := range s.Skips {
			n.skips[i] = int32(g.node(skip))
		}
	}
	return n
}

// node returns the index of the node of that name, and adds it if necessary.
func (g *Graph) node(name string) int {
	if i, ok := g.index[name]; ok {
		return i
	}
	e := g.channel.pkg.edition(name)
	if e == nil {
		e = unknownEdition
	}
	g.index[name] = len(g.nodes)
	g.nodes = append(g.nodes, node{name: name, edition: e})
	return len(g.nodes) - 1
}

// connect adds the edges by replaces and skips into the entries that may be installed, given
// what is stated of each.
func (g *Graph) connect(stated [][]named) {
	linked := make([]int32, len(g.nodes)) // with which entry a node was linked last, plus one
	edges := func(visit func(from, to int32, kind EdgeKind)) {
		clear(linked)
		for i, list := range stated {
			if !g.nodes[i].installable {
				continue
			}
			to := int32(i)
			linked[to] = to + 1
			add := func(from int32, kind EdgeKind) {
				if linked[from] != to+1 {
					linked[from] = to + 1
					visit(from, to, kind)
				}
			}
			for _, n := range list {
				if n.replaces >= 0 {
					add(n.replaces, EdgeReplaces)
				}
			}
			for _, n := range list {
				for _, from := range n.skips {
					add(from, EdgeSkips)
				}
			}
		}
	}
	// There may be very many: their lists are parts of one, and none grows.
	out, in, all := make([]int32, len(g.nodes)), make([]int32, len(g.nodes)), 0
	edges(func(from, to int32, _ EdgeKind) {
		out[from]++
		in[to]++
		all++
	})
	links := make([]link, 2*all)
	take := func(n int32) (list []link) {
		list, links = links[:0:n], links[n:]
		return list
	}
	for i := range g.nodes {
		g.nodes[i].out, g.nodes[i].in = take(out[i]), take(in[i])
	}
	edges(func(from, to int32, kind EdgeKind) {
		g.nodes[from].out = append(g.nodes[from].out, link{to, kind})
		g.nodes[to].in = append(g.nodes[to].in, link{from, kind})
	})
}

// compare orders the ends of links: highest version first, then by name.
func (g *Graph) compare(a, b link) int {
	m, n := &g.nodes[a.to], &g.nodes[b.to]
	return cmp.Or(n.version.Compare(m.version), cmp.Compare(m.name, n.name))
}

// Channel returns the channel whose updates these are.
func (g *Graph) Channel() *Channel { return g.channel }

// Find returns the name of the node with that name or, failing that, of the first
// entry with that version, or of one that is named for that version and has no bundle.
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
	named := names.Meant(g.channel.pkg.Name(), nameOrVersion, func(name string) bool { _, ok := g.index[name]; return ok })
	return named, named != ""
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
		for _, l := range g.successors(i) {
			if !yield(Edge{name, g.nodes[l.to].name, l.kind}) {
				return
			}
		}
	}
}

// Offers reports whether one of the updates that are offered to users of the bundle of that
// name is such as which says. It is faster than to look through [Graph.Successors].
func (g *Graph) Offers(name string, which func(Edge) bool) bool {
	i, ok := g.index[name]
	if !ok {
		return false
	}
	linked := func(to int32) func(link) bool { return func(l link) bool { return l.to == to } }
	for _, l := range g.nodes[i].out {
		if which(Edge{name, g.nodes[l.to].name, l.kind}) {
			return true
		}
	}
	for to := range g.accepting(i, nil) {
		if int(to) != i && which(Edge{name, g.nodes[to].name, EdgeSkipRange}) && !slices.ContainsFunc(g.nodes[i].out, linked(to)) {
			return true
		}
	}
	return false
}

// Predecessors returns the updates that lead to the entry of that name: those
// from the highest version first, then by name.
func (g *Graph) Predecessors(name string) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		i, ok := g.index[name]
		if !ok {
			return
		}
		for _, l := range g.predecessors(i) {
			if !yield(Edge{g.nodes[l.to].name, name, l.kind}) {
				return
			}
		}
	}
}
