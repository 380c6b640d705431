package resolution

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
)

// Task is a namespace to resolve: what both resolvers are given.
type Task struct {
	Global  string       // the namespace whose catalogs are visible in all others
	Sources []olm.Source // in that namespace or in the request's
	Request *olm.Request // what is requested, and what is installed
}

// rules is the documented rules for one task: what may serve what, in which order of
// preference. It follows the text literally, and does everything the slow way.
type rules struct {
	task      *Task
	lanes     map[*olm.Source][]*lane // in order of preference
	sources   []*olm.Source           // in order of preference
	installed []*operator             // by name
	subs      []*olm.Subscription     // by name
	memo      map[memoKey][]*operator
}

// lane is a channel of a package.
type lane struct {
	pkg, channel string
	isDefault    bool
	entries      []*operator
	chain        []*operator // from the head
}

type memoKey struct {
	source *olm.Source
	need   *need
}

// readRules reads a task.
func readRules(t *Task) (*rules, error) {
	u := &rules{task: t, lanes: make(map[*olm.Source][]*lane), memo: make(map[memoKey][]*operator)}
	r := newReader()
	for i := range t.Sources {
		s := &t.Sources[i]
		u.sources = append(u.sources, s)
		if err := u.readCatalog(r, s); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(u.sources, u.compareSources)
	for i := range t.Request.Installed {
		csv := &t.Request.Installed[i]
		var projected struct{ Properties []catalog.Property }
		if err := json.Unmarshal([]byte(csv.Annotations[olm.PropertiesAnnotation]), &projected); err != nil {
			return nil, err
		}
		f, err := r.facts(csv.Spec.Version, projected.Properties)
		if err != nil {
			return nil, err
		}
		o := &operator{facts: f, entry: catalog.Entry{Name: csv.Name}}
		for _, p := range f.packages {
			o.pkg = p.PackageName
		}
		u.installed = append(u.installed, o)
	}
	slices.SortFunc(u.installed, func(a, b *operator) int { return strings.Compare(a.entry.Name, b.entry.Name) })
	for i := range t.Request.Subscriptions {
		u.subs = append(u.subs, &t.Request.Subscriptions[i])
	}
	slices.SortFunc(u.subs, func(a, b *olm.Subscription) int { return strings.Compare(a.Name, b.Name) })
	return u, nil
}

func (u *rules) compareSources(a, b *olm.Source) int {
	if c := cmp.Compare(b.Priority, a.Priority); c != 0 {
		return c
	}
	if a.Namespace != b.Namespace {
		switch u.task.Request.Namespace {
		case a.Namespace:
			return -1
		case b.Namespace:
			return 1
		}
	}
	return strings.Compare(a.Name, b.Name)
}

func (u *rules) readCatalog(r *reader, s *olm.Source) error {
	for p := range s.Catalog.Packages() {
		known := make(map[string]*facts)
		for b := range p.Bundles() {
			properties, err := b.Facts()
			if err != nil {
				return err
			}
			if known[b.Name()], err = r.facts(b.Version(), properties); err != nil {
				return fmt.Errorf("bundle %s: %w", b.Name(), err)
			}
		}
		for ch := range p.Channels() {
			l := &lane{pkg: p.Name(), channel: ch.Name(), isDefault: ch.Name() == p.DefaultChannel()}
			for _, e := range ch.Entries() {
				if known[e.Name] != nil {
					l.entries = append(l.entries, &operator{known[e.Name], s, p.Name(), ch.Name(), e})
				}
			}
			l.order()
			u.lanes[s] = append(u.lanes[s], l)
		}
	}
	slices.SortFunc(u.lanes[s], func(a, b *lane) int {
		if a.isDefault != b.isDefault {
			if a.isDefault {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.pkg, b.pkg), strings.Compare(a.channel, b.channel))
	})
	return nil
}

// order walks along replaces, from the entry that nothing replaces or skips; skipped
// entries are not offered. The channels of tasks have one head.
func (l *lane) order() {
	for _, head := range l.entries {
		if l.any(func(e catalog.Entry) bool {
			return e.Replaces == head.entry.Name || slices.Contains(e.Skips, head.entry.Name)
		}) {
			continue
		}
		for at := head; at != nil; at = l.named(at.entry.Replaces) {
			if !l.any(func(e catalog.Entry) bool { return slices.Contains(e.Skips, at.entry.Name) }) {
				l.chain = append(l.chain, at)
			}
		}
	}
}

func (l *lane) any(holds func(catalog.Entry) bool) bool {
	return slices.ContainsFunc(l.entries, func(o *operator) bool { return holds(o.entry) })
}

func (l *lane) named(name string) *operator {
	at := slices.IndexFunc(l.entries, func(o *operator) bool { return o.entry.Name == name })
	if at < 0 {
		return nil
	}
	return l.entries[at]
}

// find returns the operator of a catalog by its names, or nil.
func (u *rules) find(source olm.SourceKey, pkg, channel, name string) *operator {
	for s, lanes := range u.lanes {
		for _, l := range lanes {
			if s.SourceKey == source && l.pkg == pkg && l.channel == channel {
				return l.named(name)
			}
		}
	}
	return nil
}

// current returns what a subscription has installed, or nil.
func (u *rules) current(s *olm.Subscription) *operator {
	for _, o := range u.installed {
		if o.entry.Name == s.Status.InstalledCSV {
			return o
		}
	}
	return nil
}

// forSubscription lists what may serve a subscription, in order of preference, with
// what is installed last; ok is false if it names what does not exist. One that names
// no channel is also served by what another channel offers to another subscription to
// the package, if its own channels offer that bundle.
func (u *rules) forSubscription(s *olm.Subscription) (candidates []*operator, ok bool) {
	candidates, ok = u.offers(s)
	for _, other := range u.subs {
		if s.Spec.Channel != "" || other == s || other.Spec.Package != s.Spec.Package {
			continue
		}
		theirs, _ := u.offers(other)
		for _, o := range theirs {
			at := slices.IndexFunc(candidates, func(c *operator) bool { return c.key() == o.key() })
			if at >= 0 && !slices.Contains(candidates, o) {
				candidates = slices.Insert(candidates, at+1, o)
			}
		}
	}
	return candidates, ok
}

// offers lists what the channels of a subscription offer to it.
func (u *rules) offers(s *olm.Subscription) (candidates []*operator, ok bool) {
	current := u.current(s)
	for _, source := range u.sources {
		if s.Spec.Source != "" && source.SourceKey != (olm.SourceKey{Name: s.Spec.Source, Namespace: s.Spec.SourceNamespace}) {
			continue
		}
		for _, l := range u.lanes[source] {
			if l.pkg != s.Spec.Package || s.Spec.Channel != "" && l.channel != s.Spec.Channel {
				continue
			}
			if current == nil && s.Spec.StartingCSV != "" {
				if o := l.named(s.Spec.StartingCSV); o != nil {
					candidates = append(candidates, o)
					ok = true
				}
				continue
			}
			ok = ok || len(l.entries) > 0
			for _, o := range l.chain {
				if current == nil || updates(o, current) {
					candidates = append(candidates, o)
				}
			}
		}
	}
	if current != nil {
		candidates = append(candidates, current)
	}
	return candidates, ok
}

// updates reports whether a channel leads from what is installed to o.
func updates(o, current *operator) bool {
	if o.entry.Replaces == current.entry.Name || slices.Contains(o.entry.Skips, current.entry.Name) {
		return true
	}
	versions, err := semver.ParseRange(o.entry.SkipRange)
	return err == nil && current.version != nil && versions(*current.version)
}

// forNeed lists what may meet a requirement of by, in order of preference.
func (u *rules) forNeed(by *operator, n *need) []*operator {
	k := memoKey{by.source, n}
	if known, ok := u.memo[k]; ok {
		return known
	}
	var candidates []*operator
	for _, o := range u.installed {
		if n.metBy(o) {
			candidates = append(candidates, o)
		}
	}
	sources := slices.Clone(u.sources)
	slices.SortStableFunc(sources, func(a, b *olm.Source) int {
		switch {
		case a == by.source && b != by.source:
			return -1
		case b == by.source && a != by.source:
			return 1
		}
		return 0
	})
	for _, s := range sources {
		for _, l := range u.lanes[s] {
			for _, o := range l.chain {
				if n.metBy(o) {
					candidates = append(candidates, o)
				}
			}
		}
	}
	u.memo[k] = candidates
	return candidates
}
