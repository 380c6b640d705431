package olm

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/solver/rule"
)

// operator is a bundle of a catalog, or an installed CSV.
type operator struct {
	bundle *catalog.Bundle // nil for an installed CSV
	needs  *needTable
	once   sync.Once
	known  *facts
}

// facts returns the operator's properties, decoded on first use.
func (o *operator) facts() *facts {
	o.once.Do(func() {
		if o.known != nil {
			return
		}
		props, err := o.bundle.Facts()
		o.known = decodeFacts(props, o.bundle.Version(), o.needs)
		if err != nil {
			o.known.problem = err
		}
		o.checkPackage()
	})
	return o.known
}

// checkPackage adds the property of the listing package to a bundle without a
// package property, and rejects a bundle that names another package.
func (o *operator) checkPackage() {
	f := o.known
	if len(f.packages) == 0 {
		name := o.bundle.Package().Name()
		value, _ := json.Marshal(packageValue{name, o.bundle.Version()}) // strings only: cannot fail
		f.packages = []packageFact{{name, f.version}}
		f.props = append(f.props, rule.Property{Type: propertyPackage, Value: value})
		return
	}
	for _, p := range f.packages {
		if p.name != o.bundle.Package().Name() && f.problem == nil {
			f.problem = &packageMismatch{listed: o.bundle.Package().Name(), stated: p.name}
		}
	}
}

type packageMismatch struct{ listed, stated string }

func (e *packageMismatch) Error() string {
	return "it is listed in package " + e.listed + ", but its property " + propertyPackage + " names package " + e.stated
}

// entry is a bundle as one channel of one catalog offers it, or an installed
// CSV. Each entry that can be reached has a solver variable.
type entry struct {
	*operator
	id        string // "catalog/namespace/channel/name"
	name      string
	pkg       string
	source    *source  // nil for an installed CSV
	channel   *channel // nil for an installed CSV
	rank      int      // position in the channel's chain; -1 if it is not in it
	replaces  string
	skips     []string
	skipRange *semverx.Range // nil if there is none, or it cannot be read
}

func (e *entry) isInstalled() bool { return e.source == nil }

func (e *entry) channelName() string {
	if e.channel == nil {
		return ""
	}
	return e.channel.name
}

// updates reports whether e is an update of an installed operator of that name
// and version: it replaces or skips the name, or its skipRange contains the
// version.
func (e *entry) updates(name string, v semverx.Version) bool {
	return e.replaces == name || slices.Contains(e.skips, name) ||
		e.skipRange != nil && !v.IsZero() && e.skipRange.Contains(v)
}

// channel is a channel with its replacement chain.
type channel struct {
	name      string
	pkg       *pkgIndex
	listed    *catalog.Channel
	isDefault bool
	entries   []*entry // as the catalog lists them
	chain     []*entry // from the head; see sortChannel
	err       *ChannelError
}

// named returns the entry of that name, or nil.
func (c *channel) named(name string) *entry {
	for _, e := range c.entries {
		if e.name == name {
			return e
		}
	}
	return nil
}

// pkgIndex is a package with its channels: the default channel first, then by
// name.
type pkgIndex struct {
	once     sync.Once
	name     string
	channels []*channel
}

// source is a catalog with what resolutions have learned about it. It is safe
// for concurrent use.
type source struct {
	Source
	needs *needTable

	mu      sync.RWMutex
	pkgs    map[string]*pkgIndex // those loaded so far, by name
	matches map[*need]*matches
}

// pkg returns the package of that name, or nil.
func (s *source) pkg(name string) *pkgIndex {
	s.mu.RLock()
	p, ok := s.pkgs[name]
	s.mu.RUnlock()
	if !ok {
		listed, exists := s.Catalog.Package(name)
		if !exists {
			return nil
		}
		p = s.enter(listed)
	}
	p.once.Do(func() { s.load(p) })
	return p
}

func (s *source) enter(listed *catalog.Package) *pkgIndex {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.pkgs[listed.Name()]
	if !ok {
		p = &pkgIndex{name: listed.Name()}
		s.pkgs[p.name] = p
	}
	return p
}

func (s *source) load(p *pkgIndex) {
	listed, _ := s.Catalog.Package(p.name)
	operators := make(map[string]*operator)
	for c := range listed.Channels() {
		ch := &channel{name: c.Name(), pkg: p, listed: c, isDefault: c.Name() == listed.DefaultChannel()}
		for _, stated := range c.Entries() {
			op := operators[stated.Name]
			if op == nil {
				b, ok := listed.Bundle(stated.Name)
				if !ok {
					continue // an entry without a bundle ends chains, and is never chosen
				}
				op = &operator{bundle: b, needs: s.needs}
				operators[stated.Name] = op
			}
			ch.entries = append(ch.entries, s.entry(ch, op, stated))
		}
		ch.order(s.SourceKey)
		p.channels = append(p.channels, ch)
	}
	slices.SortFunc(p.channels, compareChannels)
}

func (s *source) entry(ch *channel, op *operator, stated catalog.Entry) *entry {
	e := &entry{
		operator: op,
		id:       s.Name + "/" + s.Namespace + "/" + ch.name + "/" + stated.Name,
		name:     stated.Name,
		pkg:      ch.pkg.name,
		source:   s,
		channel:  ch,
		rank:     -1,
		replaces: stated.Replaces,
		skips:    stated.Skips,
	}
	if stated.SkipRange != "" {
		e.skipRange, _ = semverx.ParseRange(stated.SkipRange)
	}
	return e
}

func (c *channel) order(key SourceKey) {
	c.chain, c.err = sortChannel(c.entries)
	if c.err != nil {
		c.err.Source = key
		c.err.Fault = c.listed.HeadFault(catalog.OLMv0)
	}
	for i, e := range c.chain {
		e.rank = i
	}
}

// compareChannels orders channels of one catalog by preference: default
// channels of all packages first, then by package, then by name.
func compareChannels(a, b *channel) int {
	if a.isDefault != b.isDefault {
		if a.isDefault {
			return -1
		}
		return 1
	}
	return cmp.Or(strings.Compare(a.pkg.name, b.pkg.name), strings.Compare(a.name, b.name))
}

// matches is what a catalog offers for a need.
type matches struct {
	entries []*entry        // by channel in the order of preference, then by chain
	broken  []*ChannelError // channels with a match but without an order, in the order of preference
	failed  []ruleFailure   // rules that could not be evaluated
}

// ruleFailure records that a rule could not be evaluated on a bundle and
// counted as false.
type ruleFailure struct {
	bundle string
	err    error
}

// match returns the entries that meet a need. The error is that of the context.
func (s *source) match(ctx context.Context, n *need) (*matches, error) {
	s.mu.RLock()
	m, ok := s.matches[n]
	s.mu.RUnlock()
	if ok {
		return m, nil
	}
	m, err := s.search(ctx, n)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if same, ok := s.matches[n]; ok {
		return same, nil
	}
	s.matches[n] = m
	return m, nil
}

// search finds the channels that contain a match, orders them, and keeps the
// matching entries of each channel's chain: a skipped entry that matches is not
// offered.
func (s *source) search(ctx context.Context, n *need) (*matches, error) {
	m := &matches{}
	met := make(map[*operator]bool)
	var channels []*channel
	for _, name := range s.packagesFor(n) {
		p := s.pkg(name)
		if p == nil {
			continue
		}
		for _, ch := range p.channels {
			found := false
			for _, e := range ch.entries {
				ok, seen := met[e.operator]
				if !seen {
					var err error
					ok, err = n.metBy(ctx, e.pkg, e.facts())
					if ctx.Err() != nil {
						return nil, context.Cause(ctx)
					}
					if err != nil {
						m.failed = append(m.failed, ruleFailure{e.name, err})
					}
					met[e.operator] = ok
				}
				found = found || ok
			}
			if found {
				channels = append(channels, ch)
			}
		}
	}
	slices.SortFunc(channels, compareChannels)
	for _, ch := range channels {
		if ch.err != nil {
			m.broken = append(m.broken, ch.err)
		}
		for _, e := range ch.chain { // empty if there is no order
			if met[e.operator] {
				m.entries = append(m.entries, e)
			}
		}
	}
	return m, nil
}

// packagesFor returns the packages that may contain a match.
func (s *source) packagesFor(n *need) []string {
	scope := &rule.Constraint{}
	switch {
	case n.pkg != "":
		return []string{n.pkg}
	case n.gvk != nil:
		scope.GVK = (*rule.GVK)(n.gvk)
	case n.constraint != nil:
		scope = n.constraint
	}
	if names, ok := s.scope(scope); ok {
		slices.Sort(names)
		return slices.Compact(names)
	}
	var names []string
	for p := range s.Catalog.Packages() {
		names = append(names, p.Name())
	}
	return names
}

// scope returns packages that contain all matches of a constraint; false means
// that matches may be in any package.
func (s *source) scope(c *rule.Constraint) (names []string, ok bool) {
	switch {
	case c.GVK != nil:
		for b := range s.Catalog.Providers(catalog.GVK(*c.GVK)) {
			names = append(names, b.Package().Name())
		}
		return names, true
	case c.Package != nil:
		return []string{c.Package.PackageName}, true
	case c.All != nil:
		for i := range c.All {
			if names, ok := s.scope(&c.All[i]); ok {
				return names, true
			}
		}
	case c.Any != nil:
		for i := range c.Any {
			some, ok := s.scope(&c.Any[i])
			if !ok {
				return nil, false
			}
			names = append(names, some...)
		}
		return names, true
	}
	return nil, false
}
