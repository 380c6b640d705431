package catalog

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/fairlead/fairlead/catalog/internal/look"
)

// Hop is one update of a [Package.Route], and the channel that offers it.
type Hop struct {
	Channel string `json:"channel"` // channel to follow for this update
	Edge
}

// Route returns a path of updates between two bundles of a package that may change the
// channel, and whether there is one: the one with the fewest changes of channel and,
// among those, the fewest updates. It begins in the channel given, or in any if that is
// empty. If several channels would do, the alphabetically first is used. To follow the
// route, set the channel of each hop before its update.
//
// The time is proportional to what the entries of all channels state, times the changes. The
// error is that of ctx.
func (p *Package) Route(ctx context.Context, rules Rules, channel, from, to string) ([]Hop, bool, error) {
	s := &routes{rules: rules, reached: map[string]*arrival{from: {}}}
	level := []string{from} // bundles that were reached first with this many changes
	channels := p.channels
	if channel != "" {
		ch, ok := p.Channel(channel)
		if !ok {
			return nil, false, nil
		}
		channels = []*Channel{ch}
	}
	for len(level) > 0 {
		if _, ok := s.reached[to]; ok {
			return s.reached[to].way(), true, nil
		}
		var err error
		if level, err = s.step(ctx, channels, level); err != nil {
			return nil, false, err
		}
		if len(channels) < len(p.channels) { // only one was followed so far
			level, channels = append(level, from), p.channels
		}
	}
	return nil, false, nil
}

// arrival is the best way to a bundle.
type arrival struct {
	updates int
	hop     Hop      // the last one
	before  *arrival // in the same channel, as far as that was followed; nil at the beginning
}

// routes is a search for paths by the number of channel changes.
type routes struct {
	rules   Rules
	reached map[string]*arrival
}

// step continues from bundles within each of the channels, and returns the newly reached
// bundles, by name. The error is that of ctx.
func (s *routes) step(ctx context.Context, channels []*Channel, from []string) ([]string, error) {
	found := map[string]*arrival{}
	for _, ch := range channels {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		order, best, err := s.within(ctx, ch, from)
		if err != nil {
			return nil, err
		}
		for _, name := range order {
			if old := found[name]; old == nil || best[name].updates < old.updates {
				found[name] = best[name]
			}
		}
	}
	var names []string
	for name, a := range found {
		s.reached[name] = a
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// within searches one channel breadth first, from bundles that took different
// numbers of updates, and returns what was not reached before. The error is that of ctx.
func (s *routes) within(ctx context.Context, ch *Channel, from []string) (order []string, best map[string]*arrival, err error) {
	g, work := ch.Graph(s.rules), look.At(ctx)
	passed := make([]bool, len(g.tree))
	best = map[string]*arrival{}
	byUpdates := slices.Clone(from)
	slices.SortStableFunc(byUpdates, func(a, b string) int { return cmp.Compare(s.reached[a].updates, s.reached[b].updates) })
	var queue []string
	arrived := func(name string) *arrival {
		if a := best[name]; a != nil {
			return a
		}
		return s.reached[name]
	}
	updates := func(name string) int { return arrived(name).updates }
	for len(byUpdates) > 0 || len(queue) > 0 {
		var at string
		if len(queue) == 0 || len(byUpdates) > 0 && updates(byUpdates[0]) <= updates(queue[0]) {
			at, byUpdates = byUpdates[0], byUpdates[1:]
		} else {
			at, queue = queue[0], queue[1:]
		}
		if err := work.After(1); err != nil {
			return nil, nil, err
		}
		for e := range g.further(at, passed) {
			if err := work.After(1); err != nil {
				return nil, nil, err
			}
			// A bundle reached with fewer changes may be passed here with fewer updates.
			if known := s.reached[e.To]; best[e.To] != nil || known != nil && known.updates <= updates(at)+1 {
				continue
			}
			best[e.To] = &arrival{updates(at) + 1, Hop{ch.Name(), e}, arrived(at)}
			queue = append(queue, e.To)
			if s.reached[e.To] == nil {
				order = append(order, e.To)
			}
		}
	}
	return order, best, nil
}

// further yields the updates offered to users of a bundle, as [Graph.Successors] does, but of
// those by skipRange only such as a search that marks what it passed has not seen yet.
func (g *Graph) further(from string, passed []bool) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		i, ok := g.index[from]
		if !ok {
			return
		}
		g.sort()
		for _, l := range g.with(i, g.nodes[i].out, g.accepting(i, passed)) {
			if !yield(Edge{from, g.nodes[l.to].name, l.kind}) {
				return
			}
		}
	}
}

// way returns the updates that lead to this bundle.
func (a *arrival) way() []Hop {
	var hops []Hop
	for ; a.before != nil; a = a.before {
		hops = append(hops, a.hop)
	}
	slices.Reverse(hops)
	return hops
}
