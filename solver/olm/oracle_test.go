package olm_test

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// The oracle finds the best answer for a world by trying: it goes through the
// choices in the documented order and, for each, through the candidates in the
// documented order, and returns the first complete selection that breaks no
// rule. It does not use the package under test.

// option is an operator that the oracle may select.
type option struct {
	catalog *wCatalog // nil if installed
	pkg     *wPackage
	channel *wChannel
	entry   *wEntry
	bundle  *wBundle
	pkgName string
}

func (x *option) String() string { return x.pkgName + "/" + x.channel.name + "/" + x.entry.name }

type oracle struct {
	w        *world
	catalogs []*wCatalog // in order of preference
	options  map[*wEntry]*option
	existing []*option          // by name
	freed    int                // how many selections were given up
	bar      func(*option) bool // reports what a question rules out, or nil
}

// choice is a demand with its candidates in order.
type choice struct {
	by         string
	candidates []*option
}

func newOracle(w *world) *oracle {
	o := &oracle{w: w, options: map[*wEntry]*option{}}
	o.catalogs = append(o.catalogs, w.catalogs...)
	sort.SliceStable(o.catalogs, func(i, j int) bool {
		a, b := o.catalogs[i], o.catalogs[j]
		if a.priority != b.priority {
			return a.priority > b.priority
		}
		if (a.namespace == testNamespace) != (b.namespace == testNamespace) {
			return a.namespace == testNamespace
		}
		return a.name < b.name
	})
	for _, c := range o.catalogs {
		for _, p := range c.packages {
			for _, ch := range p.channels {
				for _, e := range ch.entries {
					at := slices.IndexFunc(p.bundles, func(b *wBundle) bool { return b.name == e.name })
					o.options[e] = &option{c, p, ch, e, p.bundles[at], p.name}
				}
			}
		}
	}
	for _, c := range w.installed {
		o.existing = append(o.existing, &option{bundle: c.wBundle, pkgName: c.pkg})
	}
	sort.Slice(o.existing, func(i, j int) bool { return o.existing[i].bundle.name < o.existing[j].bundle.name })
	return o
}

// chainOf returns the entries of a channel that are offered, from the head down
// along replaces; skipped ones are not offered. Worlds have only channels with
// one head.
func chainOf(ch *wChannel) []*wEntry {
	byName := map[string]*wEntry{}
	hit, skipped := map[string]bool{}, map[string]bool{}
	for _, e := range ch.entries {
		byName[e.name] = e
		hit[e.replaces] = true
		for _, s := range e.skips {
			hit[s], skipped[s] = true, true
		}
	}
	var chain []*wEntry
	for _, e := range ch.entries {
		if hit[e.name] {
			continue
		}
		for at := e; at != nil; at = byName[at.replaces] {
			if !skipped[at.name] {
				chain = append(chain, at)
			}
		}
	}
	return chain
}

// inOrder returns the channels of a package, the default first.
func inOrder(p *wPackage) []*wChannel {
	chs := slices.Clone(p.channels)
	sort.Slice(chs, func(i, j int) bool {
		if d := chs[i].name == p.defaultChannel; d != (chs[j].name == p.defaultChannel) {
			return d
		}
		return chs[i].name < chs[j].name
	})
	return chs
}

func (o *oracle) current(s *wSub) *option {
	for _, x := range o.existing {
		if x.bundle.name == s.installed {
			return x
		}
	}
	return nil
}

// forSub lists what may serve a subscription; ok is false if it names something
// that does not exist. One that names no channel is also served by what another
// channel offers to another subscription to the package, if it is the same
// bundle.
func (o *oracle) forSub(s *wSub) (c choice, ok bool) {
	c, ok = o.ownFor(s)
	subs := slices.Clone(o.w.subs)
	sort.Slice(subs, func(i, j int) bool { return subs[i].name < subs[j].name })
	for _, other := range subs {
		if s.channel != "" || other == s || other.pkg != s.pkg {
			continue
		}
		theirs, _ := o.ownFor(other)
		for _, x := range theirs.candidates {
			for i, mine := range c.candidates {
				if x.entry != nil && mine.entry != nil && x.catalog == mine.catalog && x.bundle == mine.bundle && !slices.Contains(c.candidates, x) {
					c.candidates = slices.Insert(c.candidates, i+1, x)
					break
				}
			}
		}
	}
	return c, ok
}

// ownFor lists what the channels of a subscription offer to it.
func (o *oracle) ownFor(s *wSub) (c choice, ok bool) {
	current := o.current(s)
	c.by = "subscription"
	for _, cat := range o.catalogs {
		if s.source != "" && s.source != cat.name {
			continue
		}
		for _, p := range cat.packages {
			if p.name != s.pkg {
				continue
			}
			for _, ch := range inOrder(p) {
				if s.channel != "" && s.channel != ch.name {
					continue
				}
				ok = ok || s.starting == "" || current != nil
				if current == nil && s.starting != "" {
					for _, e := range ch.entries {
						if e.name == s.starting {
							ok = true
							c.candidates = append(c.candidates, o.options[e])
						}
					}
					continue
				}
				for _, e := range chainOf(ch) {
					if current == nil || e.replaces == current.bundle.name || slices.Contains(e.skips, current.bundle.name) ||
						e.skipRange.contains(current.bundle.version) {
						c.candidates = append(c.candidates, o.options[e])
					}
				}
			}
		}
	}
	if current != nil {
		c.candidates = append(c.candidates, current)
	}
	return c, ok
}

func (o *oracle) meets(x *option, n *wNeed) bool {
	for _, part := range n.all {
		if !o.meets(x, part) {
			return false
		}
	}
	for _, part := range n.not {
		if o.meets(x, part) {
			return false
		}
	}
	switch {
	case n.all != nil, n.not != nil:
		return true
	case n.any != nil:
		return slices.ContainsFunc(n.any, func(part *wNeed) bool { return o.meets(x, part) })
	case n.api != "":
		return slices.Contains(x.bundle.provides, n.api)
	case n.label != "":
		return slices.Contains(x.bundle.labels, n.label)
	}
	return x.pkgName == n.pkg && n.versions.contains(x.bundle.version)
}

// forNeed lists what may meet a requirement.
func (o *oracle) forNeed(x *option, n *wNeed) choice {
	c := choice{by: x.bundle.name}
	for _, e := range o.existing {
		if o.meets(e, n) {
			c.candidates = append(c.candidates, e)
		}
	}
	catalogs := slices.Clone(o.catalogs)
	sort.SliceStable(catalogs, func(i, j int) bool { return catalogs[i] == x.catalog && catalogs[j] != x.catalog })
	for _, cat := range catalogs {
		type lane struct {
			p  *wPackage
			ch *wChannel
		}
		var lanes []lane
		for _, p := range cat.packages {
			for _, ch := range p.channels {
				lanes = append(lanes, lane{p, ch})
			}
		}
		sort.Slice(lanes, func(i, j int) bool {
			a, b := lanes[i], lanes[j]
			if d := a.ch.name == a.p.defaultChannel; d != (b.ch.name == b.p.defaultChannel) {
				return d
			}
			return cmp.Or(strings.Compare(a.p.name, b.p.name), strings.Compare(a.ch.name, b.ch.name)) < 0
		})
		for _, l := range lanes {
			for _, e := range chainOf(l.ch) {
				if o.meets(o.options[e], n) {
					c.candidates = append(c.candidates, o.options[e])
				}
			}
		}
	}
	return c
}

// fits reports whether x may be selected together with what is selected.
func (o *oracle) fits(x *option, selected []*option) bool {
	if x.bundle.deprecated || x.bundle.malformed && x.entry != nil || o.bar != nil && o.bar(x) {
		return false
	}
	for _, y := range selected {
		if x.pkgName == y.pkgName || o.replaces(x, y) || o.replaces(y, x) {
			return false
		}
		for _, api := range x.bundle.provides {
			if slices.Contains(y.bundle.provides, api) {
				return false
			}
		}
	}
	return true
}

// replaces reports whether x, as an update of a subscription, replaces y.
func (o *oracle) replaces(x, y *option) bool {
	if y.entry != nil || x.entry == nil {
		return false
	}
	for _, s := range o.w.subs {
		if o.current(s) == y {
			if c, _ := o.forSub(s); slices.Contains(c.candidates, x) {
				return true
			}
		}
	}
	return false
}

// best returns the best selection, or ok false if there is none.
func (o *oracle) best() (selected []*option, ok bool) {
	queue, ok := o.demands(nil)
	if !ok {
		return nil, false
	}
	return o.search(queue, nil)
}

// demands returns the initial demands. If named is not nil, the subscriptions
// of those packages come first, and the others are served by their installed
// operators, if possible.
func (o *oracle) demands(named []string) (queue []choice, ok bool) {
	for _, x := range o.existing {
		free := !slices.ContainsFunc(o.w.subs, func(s *wSub) bool { return o.current(s) == x })
		if free {
			queue = append(queue, choice{"csv", []*option{x}})
		}
	}
	subs := slices.Clone(o.w.subs)
	sort.Slice(subs, func(i, j int) bool {
		if a, b := slices.Contains(named, subs[i].pkg), slices.Contains(named, subs[j].pkg); a != b {
			return a
		}
		return subs[i].name < subs[j].name
	})
	for _, s := range subs {
		c, found := o.forSub(s)
		if !found {
			return nil, false
		}
		if current := o.current(s); named != nil && !slices.Contains(named, s.pkg) && current != nil {
			c.candidates = slices.Insert(c.candidates[:len(c.candidates)-1], 0, current)
		}
		queue = append(queue, c)
	}
	return queue, true
}

// all goes through all selections, the best first, and reports whether the
// budget sufficed.
func (o *oracle) all(queue []choice, selected []*option, budget *int, yield func([]*option)) bool {
	if *budget--; *budget < 0 {
		return false
	}
	if len(queue) == 0 {
		yield(selected)
		return true
	}
	first, rest := queue[0], queue[1:]
	for _, x := range first.candidates {
		if slices.Contains(selected, x) {
			return o.all(rest, selected, budget, yield)
		}
	}
	for _, x := range first.candidates {
		if !o.fits(x, selected) {
			continue
		}
		next := slices.Clone(rest)
		for _, n := range x.bundle.needs {
			next = append(next, o.forNeed(x, n))
		}
		if !o.all(next, append(slices.Clone(selected), x), budget, yield) {
			return false
		}
	}
	return true
}

func (o *oracle) search(queue []choice, selected []*option) ([]*option, bool) {
	if len(queue) == 0 {
		return selected, true
	}
	first, rest := queue[0], queue[1:]
	for _, x := range first.candidates {
		if slices.Contains(selected, x) {
			return o.search(rest, selected)
		}
	}
	for _, x := range first.candidates {
		if o.fits(x, selected) {
			next := slices.Clone(rest)
			for _, n := range x.bundle.needs {
				next = append(next, o.forNeed(x, n))
			}
			if found, ok := o.search(next, append(slices.Clone(selected), x)); ok {
				return found, true
			}
		}
		o.freed++
	}
	return nil, false
}

// news returns what a selection newly installs, sorted.
func (o *oracle) news(selected []*option) []string {
	names := []string{}
	for _, x := range selected {
		known := slices.ContainsFunc(o.existing, func(e *option) bool { return e.bundle.name == x.bundle.name })
		if x.entry != nil && !known {
			names = append(names, x.String())
		}
	}
	sort.Strings(names)
	return names
}

// id is how the package under test names an option.
func (x *option) id() string {
	if x.entry == nil {
		return "@existing/" + testNamespace + "//" + x.bundle.name
	}
	return x.catalog.name + "/" + x.catalog.namespace + "/" + x.channel.name + "/" + x.entry.name
}

// valid reports whether a selection follows all rules, regardless of its rank.
func (o *oracle) valid(selected []*option) bool {
	wanted := map[*option]bool{}
	for _, x := range o.existing {
		free := !slices.ContainsFunc(o.w.subs, func(s *wSub) bool { return o.current(s) == x })
		if wanted[x] = free; free && !slices.Contains(selected, x) {
			return false
		}
	}
	for _, s := range o.w.subs {
		c, found := o.forSub(s)
		served := false
		for _, x := range c.candidates {
			if slices.Contains(selected, x) {
				served, wanted[x] = true, true
			}
		}
		if !found || !served {
			return false
		}
	}
	for i, x := range selected {
		others := slices.Concat(selected[:i], selected[i+1:])
		if !o.fits(x, others) || x.entry != nil && !o.offered(x) {
			return false
		}
	}
	for range selected {
		for _, x := range selected {
			for _, n := range x.bundle.needs {
				met := false
				for _, y := range selected {
					if o.meets(y, n) {
						met = true
						wanted[y] = wanted[y] || wanted[x]
					}
				}
				if !met {
					return false
				}
			}
		}
	}
	return !slices.ContainsFunc(selected, func(x *option) bool { return !wanted[x] })
}

// offered reports whether an entry is in the chain of its channel, or requested
// by startingCSV.
func (o *oracle) offered(x *option) bool {
	return slices.Contains(chainOf(x.channel), x.entry) || slices.ContainsFunc(o.w.subs, func(s *wSub) bool {
		return o.current(s) == nil && s.starting == x.entry.name && s.pkg == x.pkgName
	})
}
