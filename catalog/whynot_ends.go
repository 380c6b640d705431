package catalog

import (
	"slices"

	"github.com/fairlead/fairlead/internal/words"
)

// maxEnds is how many ends are looked at: those with the highest versions.
const maxEnds = 64

// offered says where updates from a bundle lead that do not lead to the target.
func (o *Obstacles) offered(source string) string {
	o.endOnce.Do(o.end)
	at := o.g.index[source]
	var names []string
	for i, end := range o.ends {
		if o.endsAt[at]&(1<<i) != 0 && end != at {
			names = append(names, o.g.nodes[end].name)
		}
	}
	if len(names) > 0 {
		return "updates from " + source + " end at " + words.First(names, most)
	}
	for name := range o.g.Reachable(source) { // in a cycle
		if names = append(names, name); len(names) > most {
			break
		}
	}
	switch {
	case len(names) == 0 && o.closed != "" && o.stated(source):
		return "" // some entry accepts it, and is as little installed
	case len(names) == 0:
		return "no entry accepts " + source
	}
	return "updates from " + source + " lead only to " + words.First(names, most)
}

// stated reports whether an entry states an update from a bundle, whatever the rules install.
func (o *Obstacles) stated(source string) bool {
	return o.g.channel.Graph(AsWritten).Offers(source, func(Edge) bool { return true })
}

// end finds the entries from which nothing leads on, and which nodes lead to each of them.
func (o *Obstacles) end() {
	g := o.g
	o.endsAt = make([]uint64, len(g.nodes))
	for i := range g.entries {
		leads := g.Offers(g.nodes[i].name, func(Edge) bool { return true })
		if !leads && g.nodes[i].installable {
			o.ends = append(o.ends, i)
		}
	}
	slices.SortFunc(o.ends, func(a, b int) int { return g.compare(link{to: int32(a)}, link{to: int32(b)}) })
	o.ends = o.ends[:min(len(o.ends), maxEnds)]
	for i, end := range o.ends {
		for at, d := range g.distances(end, nil) {
			if d >= 0 {
				o.endsAt[at] |= 1 << i
			}
		}
	}
}
