package catalog

import (
	"fmt"
	"slices"
	"strings"

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
// both are the same.
func (g *Graph) WhyNot(from, to string) *WhyNot {
	w := &WhyNot{From: from, To: to}
	target, ok := g.Find(to)
	if !ok || !g.Has(target) {
		w.Reasons = append(w.Reasons, g.noEntry(to, target))
		return w
	}
	source, ok := g.Find(from)
	if !ok {
		w.Reasons = append(w.Reasons, g.unknown(from))
		return w
	}
	if source == target {
		return nil
	}
	dist := g.distances(g.index[target], nil)
	start := &g.nodes[g.index[source]]
	if dist[g.index[source]] >= 0 {
		return nil
	}
	if why := g.whyNotInstalled(target); why != "" {
		w.Reasons = append(w.Reasons, fmt.Sprintf("OLM %s does not install %s, because %s", g.rules, target, why))
	} else {
		w.refused(g, source, target)
		w.accepted(g, dist, start)
	}
	w.offered(g, source)
	if v := g.nodes[g.index[target]].version; !v.IsZero() && !start.version.IsZero() && v.Compare(start.version) < 0 {
		w.Reasons = append(w.Reasons, fmt.Sprintf("%s is older than %s, and updates do not go back", target, source))
	}
	return w
}

// accepted says what each entry accepts that has a path to the target.
func (w *WhyNot) accepted(g *Graph, dist []int, start *node) {
	order := make([]int, 0, len(dist))
	for d := 0; ; d++ {
		before := len(order)
		for i := range g.entries {
			if dist[i] == d && g.nodes[i].installable {
				order = append(order, i)
			}
		}
		if len(order) == before {
			break
		}
	}
	for k, i := range order {
		if k == most {
			w.Reasons = append(w.Reasons, fmt.Sprintf("and %d more entries that lead there do not accept it either", len(order)-most))
			return
		}
		w.Reasons = append(w.Reasons, g.accepts(i, start))
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

// refused says where a path breaks off that entries state but the rules do not
// count.
func (w *WhyNot) refused(g *Graph, source, target string) {
	if g.rules == AsWritten {
		return
	}
	start := g.nodes[g.index[source]]
	stated := newGraph(g.channel, AsWritten, []Installed{{source, start.written}})
	way, ok := stated.Path(source, target)
	if !ok {
		return
	}
	for _, e := range way {
		if why := g.whyNotInstalled(e.To); why != "" {
			w.Reasons = append(w.Reasons, fmt.Sprintf("the path through %s does not count: OLM %s does not install it, because %s", e.To, g.rules, why))
			return
		}
	}
}

// offered says where updates from the source lead.
func (w *WhyNot) offered(g *Graph, source string) {
	var names []string
	for name := range g.Reachable(source) {
		names = append(names, name)
	}
	if len(names) == 0 {
		w.Reasons = append(w.Reasons, "no entry accepts "+source)
		return
	}
	w.Reasons = append(w.Reasons, "updates from "+source+" lead only to "+g.list(names))
}

func (g *Graph) describe(name string) string {
	if g.Has(name) {
		return name
	}
	return name + " (not in the channel)"
}

func (g *Graph) list(names []string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = g.describe(name)
	}
	return words.First(parts, most)
}

// noEntry says why a target is not an entry.
func (g *Graph) noEntry(asked, name string) string {
	where := "the channel " + g.channel.Name() + " has no entry " + asked
	if name == "" {
		name = asked
	}
	var others []string
	for ch := range g.channel.pkg.Channels() {
		if ch == g.channel {
			continue
		}
		if found, ok := ch.Graph(AsWritten).Find(name); ok && ch.Graph(AsWritten).Has(found) {
			others = append(others, ch.Name())
		}
	}
	if len(others) > 0 {
		return where + "; it is in " + strings.Join(others, ", ")
	}
	return where + ", nor does another channel of the package"
}

func (g *Graph) unknown(asked string) string {
	return "the channel " + g.channel.Name() + " neither has nor names " + asked
}
