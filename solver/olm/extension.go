package olm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// Extension requests one package by the rules of OLM v1, whose policy is
// entirely different: there are no dependencies, no uniqueness and no chains,
// but a range of versions from which the highest is chosen.
type Extension struct {
	// Package is the package's name.
	Package string
	// Version is a version or a range of versions, as users pin them (^1.2,
	// >=1.0.0 <2.0.0); empty means any. A prerelease matches only if the range
	// names one.
	Version string
	// Channels are the channels to choose from; none means all.
	Channels []string
	// SelfCertified allows any version, even a lower one, if a bundle is
	// installed. Otherwise the choice must be a successor in some channel, or the
	// same version and release.
	SelfCertified bool
	// Installed is the installed bundle, or nil.
	Installed *InstalledBundle
	// Catalogs selects the catalogs to look at; nil means all that are not
	// disabled.
	Catalogs func(*Source) bool
	// ExplicitRelease reads the release that an olm.package property states
	// besides the version. Without it, or if no release is stated, build metadata
	// of the version counts as the release.
	ExplicitRelease bool
	// AllowRequirements accepts a bundle that requires others, although nothing
	// ensures that they are present.
	AllowRequirements bool
}

// InstalledBundle is the bundle that an Extension has installed.
type InstalledBundle struct {
	Name    string  // the bundle's name
	Version string  // its version
	Release *string // its release, if known separately from the version
}

// ExtensionChoice is the bundle chosen for an Extension.
type ExtensionChoice struct {
	// Candidate is the bundle. Its Channel is empty.
	Candidate
	// Installed reports whether the bundle is already installed.
	Installed bool
	// Deprecations are those that the catalog states for the package, channels
	// and bundles, in the order written.
	Deprecations []catalog.Deprecation
}

// ExtensionError reports that no bundle can be chosen for an Extension, or that
// several can. The counts show how many bundles of all catalogs passed each
// step.
type ExtensionError struct {
	Extension *Extension
	// Bundles is how many bundles the package has, InChannels how many of them
	// are in the channels, InRange how many of those are in the range of
	// versions, and Successors how many of those may follow the installed bundle.
	Bundles, InChannels, InRange, Successors int
	// Next are the bundles that may follow the installed one, regardless of the
	// range and the channels, the highest version first.
	Next []string
	// Why names what keeps the installed bundle from being updated to the best one that is
	// requested; "" if something may follow it, or that is not known.
	Why string
	// Catalogs are the names of the catalogs that tie, in order.
	Catalogs []string
	// Similar are packages of the catalogs with a similar name, the nearest first, if none has
	// the one that is requested.
	Similar []string
	// Highest is the highest version in the channels that could be installed, if none is in the
	// range; "" if there is none either.
	Highest string

	highest release
}

// Error describes the request and the step at which no bundle was left.
func (e *ExtensionError) Error() string {
	var b strings.Builder
	x := e.Extension
	if x.Installed != nil {
		fmt.Fprintf(&b, "error upgrading from currently installed version %q: ", x.Installed.Version)
	}
	if len(e.Catalogs) > 0 {
		fmt.Fprintf(&b, "found bundles for package %q", x.Package)
	} else {
		fmt.Fprintf(&b, "no bundles found for package %q", x.Package)
	}
	if x.Version != "" {
		fmt.Fprintf(&b, " matching version %q", x.Version)
	}
	if len(x.Channels) > 0 {
		fmt.Fprintf(&b, " in channels %v", x.Channels)
	}
	switch {
	case len(e.Catalogs) > 0:
		fmt.Fprintf(&b, " in multiple catalogs with the same priority %v; give one a higher priority or select one", e.Catalogs)
	case e.Bundles == 0:
		b.WriteString("; no catalog has the package")
		if len(e.Similar) > 0 {
			b.WriteString("; did you mean " + words.List(e.Similar, "or", len(e.Similar)) + "?")
		}
	case e.InChannels == 0:
		fmt.Fprintf(&b, "; bundles in these channels: 0 of %d", e.Bundles)
	case e.InRange == 0:
		fmt.Fprintf(&b, "; bundles in the range: 0 of %d", e.InChannels)
		if e.Highest != "" {
			b.WriteString("; the highest version that can be installed is " + e.Highest)
		}
	default:
		fmt.Fprintf(&b, "; bundles that are successors of what is installed: 0 of %d in the range", e.InRange)
	}
	switch next := e.Next; {
	case x.Installed == nil || x.SelfCertified || len(e.Catalogs) > 0 || e.Bundles == 0:
	case len(next) == 0:
		fmt.Fprintf(&b, "; no channel leads on from %s", x.Installed.Name)
		if e.Why != "" {
			b.WriteString(": " + e.Why)
		}
	case len(next) > 5:
		fmt.Fprintf(&b, "; what may follow %s: %s and %d more", x.Installed.Name, strings.Join(next[:5], ", "), len(next)-5)
	default:
		fmt.Fprintf(&b, "; what may follow %s: %s", x.Installed.Name, strings.Join(next, ", "))
	}
	return b.String()
}

// ResolveExtension chooses a bundle for an Extension:
//
//  1. It takes the bundles of the package, from every catalog that is looked
//     at, that are in the channels and the range of versions. If a bundle is
//     installed, and unless self-certified, they must be successors of it (an
//     entry of any channel replaces or skips its name, or has its version in
//     its skipRange) or have the very same version and release.
//  2. From each catalog it takes the best: not deprecated before deprecated,
//     then the highest version, then the highest release.
//  3. It prefers catalogs whose best is not deprecated, and of these the one of
//     highest priority. A tie is an error.
//
// Namespaces play no part: all catalogs of the Resolver are looked at. The
// errors are *ExtensionError if no bundle or more than one is left,
// *SourceError if a catalog is not usable, and others for a malformed Extension
// or a choice that may not be installed. There is no second choice.
func (r *Resolver) ResolveExtension(x *Extension) (*ExtensionChoice, error) {
	q, all, err := r.contenders(x)
	if err != nil {
		return nil, err
	}
	var best []*contender
	for _, list := range all {
		best = append(best, list[0])
	}
	winner, err := q.decide(best)
	if err != nil {
		r.whyNoSuccessor(q)
		if q.failure.Bundles == 0 {
			q.failure.Similar = similarTo(x.Package, packageNames(slices.DeleteFunc(slices.Clone(r.sources), func(s *source) bool {
				return s.Disabled || s.Err != nil || x.Catalogs != nil && !x.Catalogs(&s.Source)
			})))
		}
		return nil, err
	}
	if n := requirements(winner.Bundle); n > 0 && !x.AllowRequirements {
		return nil, fmt.Errorf("validating bundle %q: it requires other bundles (%d properties), which nothing would install; pin a version without them", winner.Name, n)
	}
	return q.choice(winner), nil
}

func (q *extensionQuery) choice(c *contender) *ExtensionChoice {
	return &ExtensionChoice{
		Candidate:    c.Candidate,
		Installed:    q.Installed != nil && c.Name == q.Installed.Name && c.release.compare(q.installed) == 0,
		Deprecations: c.deprecations,
	}
}

// Deprecations returns what the usable catalogs that an Extension looks at
// state about its package: catalog by catalog, in the order written. The number
// of catalogs includes disabled and unusable ones. The result known reports
// whether one of the catalogs has the package and could be read.
func (r *Resolver) Deprecations(x *Extension) (list []catalog.Deprecation, catalogs int, known bool) {
	for _, s := range r.sources {
		if x.Catalogs != nil && !x.Catalogs(&s.Source) {
			continue
		}
		catalogs++
		if s.Disabled || s.Err != nil {
			continue
		}
		if p, ok := s.Catalog.Package(x.Package); ok {
			if stated, err := p.Deprecations(); err == nil {
				list, known = append(list, stated...), true
			}
		}
	}
	return list, catalogs, known
}

// extensionQuery is the resolution of one Extension.
type extensionQuery struct {
	*Extension
	versions  *semverx.Constraint // nil for any
	installed release
	failure   *ExtensionError // its counts are updated on the way
	next      []successor
}

// successor is a bundle that may follow what is installed.
type successor struct {
	name    string
	release release
}

// contender is a bundle that passed all conditions.
type contender struct {
	Candidate
	release      release
	deprecated   bool
	priority     int
	deprecations []catalog.Deprecation
}

// contenders returns the bundles that an Extension may get: a list for each
// catalog that has any, the best first.
func (r *Resolver) contenders(x *Extension) (*extensionQuery, [][]*contender, error) {
	q := &extensionQuery{Extension: x, failure: &ExtensionError{Extension: x}}
	if x.Version != "" {
		var err error
		if q.versions, err = semverx.ParseConstraint(x.Version); err != nil {
			return nil, nil, err
		}
	}
	if x.Installed != nil {
		var err error
		if q.installed, err = parseRelease(x.Installed.Version, x.Installed.Release); err != nil {
			return nil, nil, fmt.Errorf("installed bundle %s: %w", x.Installed.Name, err)
		}
	}
	var all [][]*contender
	for _, s := range r.sources {
		if s.Disabled || x.Catalogs != nil && !x.Catalogs(&s.Source) {
			continue
		}
		if s.Err != nil {
			return nil, nil, &SourceError{s.SourceKey, s.Err}
		}
		list, err := q.of(s)
		if err != nil {
			return nil, nil, err
		}
		if list != nil {
			all = append(all, list)
		}
	}
	return q, all, nil
}

// of returns the bundles of a catalog that pass, the best first; equal ones are
// ordered by name.
func (q *extensionQuery) of(s *source) ([]*contender, error) {
	p, ok := s.Catalog.Package(q.Package)
	if !ok {
		return nil, nil
	}
	deprecations, err := p.Deprecations()
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", s.SourceKey, err)
	}
	deprecated := make(map[string]bool)
	for _, d := range deprecations {
		if d.Reference.Schema == catalog.SchemaBundle {
			deprecated[d.Reference.Name] = true
		}
	}
	var list []*contender
	for b := range p.Bundles() {
		rel, ok := q.passes(p, b)
		if !ok {
			continue
		}
		list = append(list, &contender{
			Candidate:    Candidate{Package: p.Name(), Name: b.Name(), Version: b.Version(), Source: s.SourceKey, Bundle: b},
			release:      rel,
			deprecated:   deprecated[b.Name()],
			priority:     s.Priority,
			deprecations: deprecations,
		})
	}
	slices.SortStableFunc(list, func(a, b *contender) int {
		switch {
		case a.beats(b):
			return -1
		case b.beats(a):
			return 1
		}
		return 0
	})
	return list, nil
}

// beats reports whether c is preferred to o, a bundle of the same catalog.
func (c *contender) beats(o *contender) bool {
	if c.deprecated != o.deprecated {
		return o.deprecated
	}
	return c.release.compare(o.release) > 0
}

// passes checks a bundle against the conditions, and counts the steps that it
// passes. A bundle without a valid version meets no condition on versions, and
// ranks below all others.
func (q *extensionQuery) passes(p *catalog.Package, b *catalog.Bundle) (release, bool) {
	q.failure.Bundles++
	rel, err := q.releaseOf(b)
	follows := q.Installed != nil && q.follows(p, b.Name())
	if follows && !slices.ContainsFunc(q.next, func(s successor) bool { return s.name == b.Name() }) {
		q.next = append(q.next, successor{b.Name(), rel})
	}
	if len(q.Channels) > 0 && !q.lists(p, b.Name()) {
		return release{}, false
	}
	q.failure.InChannels++
	if q.versions != nil && (err != nil || !q.versions.Contains(rel.version)) {
		if f := q.failure; err == nil && (f.Highest == "" || rel.compare(f.highest) > 0) && (q.AllowRequirements || requirements(b) == 0) {
			f.Highest, f.highest = b.Version(), rel
		}
		return release{}, false
	}
	q.failure.InRange++
	if q.Installed != nil && !q.SelfCertified {
		same := err == nil && rel.compare(q.installed) == 0
		if !same && !follows {
			return release{}, false
		}
	}
	q.failure.Successors++
	return rel, true
}

// follows reports whether an entry of that name, in any channel, is a successor
// of the installed bundle.
func (q *extensionQuery) follows(p *catalog.Package, name string) bool {
	for ch := range p.Channels() {
		for _, stated := range ch.Entries() {
			if stated.Name != name {
				continue
			}
			e := &entry{replaces: stated.Replaces, skips: stated.Skips}
			if stated.SkipRange != "" {
				e.skipRange, _ = semverx.ParseRange(stated.SkipRange)
			}
			if e.updates(q.Installed.Name, q.installed.version) {
				return true
			}
		}
	}
	return false
}

// releaseOf reads a bundle's version and release.
func (q *extensionQuery) releaseOf(b *catalog.Bundle) (release, error) {
	if !q.ExplicitRelease {
		return parseRelease(b.Version(), nil)
	}
	props, err := b.Facts()
	if err != nil {
		return release{}, err
	}
	var stated struct {
		Release *string `json:"release"`
	}
	for _, p := range props {
		if p.Type == propertyPackage {
			if err := json.Unmarshal(p.Value, &stated); err != nil {
				return release{}, err
			}
			break
		}
	}
	return parseRelease(b.Version(), stated.Release)
}

// decide chooses between the best bundles of the catalogs.
func (q *extensionQuery) decide(best []*contender) (*contender, error) {
	if slices.ContainsFunc(best, func(c *contender) bool { return !c.deprecated }) {
		best = slices.DeleteFunc(best, func(c *contender) bool { return c.deprecated })
	}
	if len(best) == 0 {
		slices.SortStableFunc(q.next, func(a, b successor) int { return b.release.compare(a.release) })
		for _, s := range q.next {
			q.failure.Next = append(q.failure.Next, s.name)
		}
		return nil, q.failure
	}
	slices.SortStableFunc(best, func(a, b *contender) int { return cmp.Compare(b.priority, a.priority) })
	if len(best) > 1 && best[0].priority == best[1].priority {
		for _, c := range best {
			if c.priority == best[0].priority {
				q.failure.Catalogs = append(q.failure.Catalogs, c.Source.String())
			}
		}
		return nil, q.failure
	}
	return best[0], nil
}

// requirements counts the properties that require other bundles.
func requirements(b *catalog.Bundle) int {
	props, err := b.Facts()
	if err != nil {
		return 0
	}
	n := 0
	for _, p := range props {
		switch p.Type {
		case propertyPackageRequired, propertyGVKRequired, propertyConstraint:
			n++
		}
	}
	return n
}
