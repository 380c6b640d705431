package olm

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
)

// ExtensionPath returns the bundles that lead from what an Extension has installed
// to what it requests, one after the other, where the catalog lets none follow
// directly. The last one is in the channels and the range of versions; the others
// need not be. It is a shortest path, with the highest version where there is a
// choice; nil if there is none, or nothing is installed. Of one that is in none of the
// Extension's channels the Channel is one that has it. The errors are those of
// [Resolver.ResolveExtension] for a malformed Extension.
func (r *Resolver) ExtensionPath(x *Extension) ([]Candidate, error) {
	if x.Installed == nil {
		return nil, nil
	}
	goal := *x
	goal.Installed, goal.SelfCertified = nil, true
	_, wanted, err := r.contenders(&goal)
	if err != nil {
		return nil, err
	}
	isGoal := make(map[string]bool)
	for _, list := range wanted {
		for _, c := range list {
			isGoal[c.Name] = true
		}
	}
	free := goal
	free.Version, free.Channels = "", nil
	_, lists, err := r.contenders(&free)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(lists...)
	sortContenders(all)
	start := x.Installed
	rel, err := parseRelease(start.Version, start.Release)
	if err != nil {
		return nil, err
	}
	w := &walk{steps: r.steps(x), all: all, from: map[string]*contender{start.Name: nil}, prev: map[string]string{}}
	queue := []hop{{start.Name, rel.version}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, c := range w.after(at) {
			if isGoal[c.Name] {
				return x.channels(w.back(c)), nil
			}
			queue = append(queue, hop{c.Name, c.release.version})
		}
	}
	return nil, nil
}

// channels names a channel of each bundle that is in none of the Extension's.
func (x *Extension) channels(path []Candidate) []Candidate {
	for i := range path {
		p := path[i].Bundle.Package()
		if len(x.Channels) == 0 || x.lists(p, path[i].Name) {
			continue
		}
		for ch := range p.Channels() {
			if lists(ch, path[i].Name) {
				path[i].Channel = ch.Name()
				break
			}
		}
	}
	return path
}

// lists reports whether one of the Extension's channels has an entry of a bundle.
func (x *Extension) lists(p *catalog.Package, bundle string) bool {
	return slices.ContainsFunc(x.Channels, func(name string) bool {
		ch, ok := p.Channel(name)
		return ok && lists(ch, bundle)
	})
}

func lists(ch *catalog.Channel, bundle string) bool {
	return slices.ContainsFunc(ch.Entries(), func(e catalog.Entry) bool { return e.Name == bundle })
}

// whyNoSuccessor completes the failure of a question: it names what keeps the installed
// bundle from being updated to the best one that is requested.
func (r *Resolver) whyNoSuccessor(q *extensionQuery) {
	if q.Installed == nil || q.SelfCertified || q.failure.InRange == 0 || len(q.failure.Next) > 0 {
		return
	}
	goal := *q.Extension
	goal.Installed = nil
	_, wanted, err := r.contenders(&goal)
	if err != nil {
		return
	}
	all := slices.Concat(wanted...)
	if len(all) == 0 {
		return
	}
	sortContenders(all)
	p := all[0].Bundle.Package()
	for ch := range p.Channels() {
		if !lists(ch, all[0].Name) || len(q.Channels) > 0 && !slices.Contains(q.Channels, ch.Name()) {
			continue
		}
		installed := catalog.Installed{Name: q.Installed.Name, Version: q.Installed.Version}
		if w := ch.GraphWith(catalog.OLMv1, installed).WhyNot(installed.Name, all[0].Name); w != nil {
			said := withoutAccepts(w.Reasons)
			if last := len(said) - 1; last > 0 && strings.Contains(said[last], " is older than ") {
				said = said[last:]
			}
			q.failure.Why = strings.Join(said[:min(len(said), 3)], "; ")
			return
		}
	}
}

// hop is a bundle on the way.
type hop struct {
	name    string
	version semverx.Version
}

// walk is a search through the updates of a package.
type walk struct {
	steps []*entry              // of all channels
	all   []*contender          // the bundles, the best first
	from  map[string]*contender // those that were reached, by name; nil for what is installed
	prev  map[string]string     // from which one
}

// steps are the channel entries of a package in the catalogs that an Extension
// looks at.
func (r *Resolver) steps(x *Extension) []*entry {
	var all []*entry
	for _, s := range r.sources {
		if s.Disabled || s.Err != nil || x.Catalogs != nil && !x.Catalogs(&s.Source) {
			continue
		}
		if p, ok := s.Catalog.Package(x.Package); ok {
			all = append(all, stepsOf(p)...)
		}
	}
	return all
}

func stepsOf(p *catalog.Package) []*entry {
	var all []*entry
	for ch := range p.Channels() {
		for _, stated := range ch.Entries() {
			e := &entry{name: stated.Name, replaces: stated.Replaces, skips: stated.Skips}
			if stated.SkipRange != "" {
				e.skipRange, _ = semverx.ParseRange(stated.SkipRange)
			}
			all = append(all, e)
		}
	}
	return all
}

// after returns the bundles that may follow one and were not reached yet, the best
// first.
func (w *walk) after(at hop) []*contender {
	next := make(map[string]bool)
	for _, e := range w.steps {
		if _, reached := w.from[e.name]; !reached && e.updates(at.name, at.version) {
			next[e.name] = true
		}
	}
	var found []*contender
	for _, c := range w.all {
		if next[c.Name] {
			next[c.Name] = false // in another catalog, too
			w.from[c.Name] = c
			w.prev[c.Name] = at.name
			found = append(found, c)
		}
	}
	return found
}

// back returns the way to a bundle.
func (w *walk) back(to *contender) []Candidate {
	var path []Candidate
	for c := to; c != nil; c = w.from[w.prev[c.Name]] {
		path = append(path, c.Candidate)
	}
	slices.Reverse(path)
	return path
}
