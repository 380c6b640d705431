package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead/fairlead/catalog/internal/names"
	"github.com/fairlead/fairlead/internal/words"
)

// WhyNot says why no updates lead from one bundle to another.
type WhyNot struct {
	// From and To are the bundles as given.
	From, To string
	// Reasons are the obstacles, nearest to the target first.
	Reasons []string
}

// String returns the answer as one sentence.
func (w *WhyNot) String() string {
	return "from " + w.From + " nothing leads to " + w.To + ": " + strings.Join(w.Reasons, "; ")
}

// most is how many names and reasons are listed before "and N more".
const most = 8

// WhyNot explains why updates do not lead from one bundle to another. Both may
// be given by name or version. It returns nil when they do lead there, or when
// both are the same. For many bundles, [Graph.Obstacles] is faster.
func (g *Graph) WhyNot(from, to string) *WhyNot { return g.Obstacles(to).From(from) }

// Obstacles are what keeps bundles from being updated to one entry of a channel. They may be
// used by many goroutines.
type Obstacles struct {
	g      *Graph
	asked  string
	name   string // of the target
	lacks  string // why there is no target, or ""
	closed string // why the rules do not install the target, or ""
	dist   []int  // from each node
	chain  []int  // entries that lead to the target, the nearest first, and only replace another one that does
	order  []int  // the other entries that lead to the target, the nearest first

	refuseOnce sync.Once
	refuses    map[string]string // see refused

	endOnce sync.Once
	ends    []int    // entries from which nothing leads on, see end
	endsAt  []uint64 // of each node: a bit for each of the ends that it leads to
}

// Obstacles returns what keeps bundles from being updated to an entry, given by name or
// version. It costs as much as one [Graph.WhyNot].
func (g *Graph) Obstacles(to string) *Obstacles {
	o := &Obstacles{g: g, asked: to}
	target, ok := g.Find(to)
	if !ok || !g.Has(target) {
		o.lacks = g.noEntry(to, target)
		return o
	}
	o.name, o.closed = target, g.whyNotInstalled(target)
	o.dist = g.distances(g.index[target], nil)
	for i := range g.entries {
		switch {
		case o.dist[i] < 0 || !g.nodes[i].installable:
		case o.plain(i):
			o.chain = append(o.chain, i)
		default:
			o.order = append(o.order, i)
		}
	}
	if len(o.chain) < fewest {
		o.order, o.chain = append(o.order, o.chain...), nil
	}
	nearer := func(a, b int) int { return cmp.Or(cmp.Compare(o.dist[a], o.dist[b]), cmp.Compare(a, b)) }
	slices.SortFunc(o.chain, nearer)
	slices.SortFunc(o.order, nearer)
	return o
}

// fewest is how many links of a chain are one reason.
const fewest = 3

// plain reports whether an entry updates from nothing but one other entry that leads to the
// target.
func (o *Obstacles) plain(i int) bool {
	for _, s := range o.g.nodes[i].stated {
		if len(s.Skips) > 0 || s.SkipRange != "" {
			return false
		}
		if before, ok := o.g.index[s.Replaces]; !ok || before >= o.g.entries || before == i || o.dist[before] < 0 {
			return false
		}
	}
	return len(o.g.nodes[i].stated) > 0
}

// Closed says why the rules of the graph do not install the target, whatever is installed; ""
// if they do.
func (o *Obstacles) Closed() string {
	if o.closed == "" {
		return ""
	}
	return fmt.Sprintf("OLM %s does not install %s, because %s", o.g.rules, o.name, o.closed)
}

// From explains why updates do not lead from a bundle to the target. It returns nil when
// they do, or when it is the target.
func (o *Obstacles) From(from string) *WhyNot {
	g, w := o.g, &WhyNot{From: from, To: o.asked}
	if o.lacks != "" {
		w.Reasons = append(w.Reasons, o.lacks)
		return w
	}
	source, ok := g.Find(from)
	if !ok {
		w.Reasons = append(w.Reasons, g.unknown(from))
		return w
	}
	start := &g.nodes[g.index[source]]
	if source == o.name || o.dist[g.index[source]] >= 0 {
		return nil
	}
	if o.closed != "" {
		w.Reasons = append(w.Reasons, o.Closed())
	} else {
		if why := o.refused(source); why != "" {
			w.Reasons = append(w.Reasons, why)
		}
		w.accepted(o, start)
	}
	if more := o.offered(source); more != "" {
		w.Reasons = append(w.Reasons, more)
	}
	if v := g.nodes[g.index[o.name]].version; !v.IsZero() && !start.version.IsZero() && v.Compare(start.version) < 0 {
		w.Reasons = append(w.Reasons, fmt.Sprintf("%s is older than %s, and updates do not go back", o.name, source))
	}
	return w
}

// accepted says what each entry accepts that has a path to the target.
func (w *WhyNot) accepted(o *Obstacles, start *node) {
	if len(o.chain) > 0 {
		w.Reasons = append(w.Reasons, fmt.Sprintf("%s and %d others replace only what leads there too", o.g.nodes[o.chain[0]].name, len(o.chain)-1))
	}
	for k, i := range o.order {
		if k == most {
			w.Reasons = append(w.Reasons, fmt.Sprintf("and %d more entries that lead there do not accept it either", len(o.order)-most))
			return
		}
		w.Reasons = append(w.Reasons, o.g.accepts(i, start))
	}
}

// accepts says what updates to an entry come from, none of which is start.
func (g *Graph) accepts(i int, start *node) string {
	n := &g.nodes[i]
	var parts []string
	add := func(part string) {
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	for _, s := range n.stated {
		if s.Replaces != "" {
			add("replaces only " + g.describe(s.Replaces))
		}
	}
	for _, s := range n.stated {
		if len(s.Skips) > 0 {
			add("skips only " + g.list(s.Skips))
		}
	}
	for _, s := range n.stated {
		switch {
		case s.bad != nil:
			add(fmt.Sprintf("has a skipRange %q that cannot be parsed", s.SkipRange))
		case s.span != nil && start.version.IsZero():
			add(fmt.Sprintf("has the skipRange %q, but the version of %s is not known", s.SkipRange, start.name))
		case s.span != nil:
			add(fmt.Sprintf("has the skipRange %q, which does not include %s", s.SkipRange, start.version))
		}
	}
	if len(parts) == 0 {
		return n.name + " neither replaces nor skips anything"
	}
	return n.name + " " + words.List(parts, "and", len(parts))
}

// refused says where a path from a node breaks off that entries state but the rules do not
// count, or returns "".
func (o *Obstacles) refused(source string) string {
	if o.g.rules == AsWritten {
		return ""
	}
	o.refuseOnce.Do(o.refuse)
	at := o.refuses[source]
	if at == "" {
		return ""
	}
	return fmt.Sprintf("the path through %s does not count: OLM %s does not install it, because %s", at, o.g.rules, o.g.whyNotInstalled(at))
}

// refuse finds, for each node with a path to the target as entries are written, the first
// bundle on it that the rules do not install.
func (o *Obstacles) refuse() {
	all := make([]Installed, len(o.g.nodes))
	for i := range all {
		all[i] = Installed{o.g.nodes[i].name, o.g.nodes[i].written}
	}
	stated := newGraph(o.g.channel, AsWritten, all)
	dist := stated.distances(stated.index[o.name], nil)
	near := make([]int, 0, len(dist))
	for i := range dist {
		if dist[i] > 0 {
			near = append(near, i)
		}
	}
	slices.SortStableFunc(near, func(a, b int) int { return cmp.Compare(dist[a], dist[b]) })
	o.refuses = make(map[string]string, len(near))
	for _, at := range near {
		for _, l := range stated.successors(at) {
			if dist[l.to] != dist[at]-1 {
				continue
			}
			next := stated.nodes[l.to].name
			if i, ok := o.g.index[next]; ok && i < o.g.entries && !o.g.nodes[i].installable {
				o.refuses[stated.nodes[at].name] = next
			} else {
				o.refuses[stated.nodes[at].name] = o.refuses[next]
			}
			break
		}
	}
}

// describe names a bundle that an entry names, and says where it is if not in the channel.
func (g *Graph) describe(name string) string {
	if g.Has(name) {
		return name
	}
	return g.channel.absent(name)
}

func (g *Graph) list(names []string) string {
	parts := make([]string, len(names))
	for i := range parts {
		parts[i] = names[i]
		if i < most {
			parts[i] = g.describe(names[i])
		}
	}
	return words.First(parts, most)
}

// noEntry says why a target is not an entry.
func (g *Graph) noEntry(asked, name string) string {
	where, pkg := "the channel "+g.channel.Name()+" has no entry "+asked, g.channel.pkg
	if name == "" {
		name = pkg.meant(asked)
	}
	if others := pkg.listing(name, g.channel.Name()); len(others) > 0 {
		return where + "; it is in " + words.First(others, most)
	}
	if meant := names.Meant(pkg.Name(), name, g.Has); meant != "" {
		return fmt.Sprintf("%s; did you mean %s?", where, meant)
	}
	return where + ", nor does another channel of the package"
}

func (g *Graph) unknown(asked string) string {
	return "the channel " + g.channel.Name() + " neither has nor names " + asked
}
