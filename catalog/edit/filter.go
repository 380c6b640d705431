package edit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// Selection says what to keep of a package: with only a name, all of it.
type Selection struct {
	Package  string
	Channels []string // those to keep; none means all
	// Versions is a range in the grammar of skipRange, such as ">=1.2.0 <2.0.0";
	// empty means all. In each channel the entries in it stay, and those on the
	// update path between them.
	Versions string
	// Newest, if set, is the largest number of entries that stay in each
	// channel, counted from the head along its chain of replaces: 1 keeps only
	// heads. Versions may leave out some of them.
	Newest int
	// DefaultChannel is the new default channel, needed when the old one is
	// left out; empty chooses the one with the highest version.
	DefaultChannel string
}

// FilterOptions tune filtering. The zero value, and nil, are the defaults.
type FilterOptions struct {
	// NoDependencies leaves out what the kept bundles require from packages that
	// are not selected.
	NoDependencies bool
}

// Change is one thing that filtering did beyond the selection, or left out.
type Change struct {
	Package string `json:"package"`           // whose
	Channel string `json:"channel,omitempty"` // "" if it is about the whole package
	Bundle  string `json:"bundle,omitempty"`  // "" if it is not about a single bundle
	Why     string `json:"why"`               // what happened, and why
}

// String returns the change in one line.
func (c Change) String() string {
	text := "package " + c.Package
	if c.Channel != "" {
		text += ", channel " + c.Channel
	}
	if c.Bundle != "" {
		text += ", bundle " + c.Bundle
	}
	return text + ": " + c.Why
}

// FilterReport says what a filtered catalog has and lacks.
type FilterReport struct {
	Packages int `json:"packages"` // how many are kept
	Bundles  int `json:"bundles"`  // how many are kept, each counted once
	// Added is what was not selected but is needed: bundles on the update path
	// between others, and what kept bundles require.
	Added []Change `json:"added,omitempty"`
	// Dropped is what was selected but cannot stay.
	Dropped []Change `json:"dropped,omitempty"`
	// Changed is what was kept with other content: default channels.
	Changed []Change `json:"changed,omitempty"`
	// Unmet is what kept bundles require and the catalog does not have.
	Unmet []Change `json:"unmet,omitempty"`
}

// Filter returns the selected part of a valid catalog, as a valid catalog:
//
//  1. In a channel, the selected entries stay. If the head is among them, so
//     does the whole update path from each of them to the head; otherwise the
//     highest of them becomes the head, and entries without a path to it are
//     dropped.
//  2. A channel without entries is dropped, a package without channels, and a
//     deprecation of what is dropped. A package whose default channel is
//     dropped gets another.
//  3. What kept bundles require is added, unless the options say no: for each
//     package or API a provider that is already kept, or else the highest
//     matching version of the first package, by name, in its default channel,
//     with its path to the head. CEL rules are not evaluated.
//  4. Documents of other schemas stay if they belong to a kept package, or to
//     none.
//
// Documents that do not change are not read. The order of selections does not
// matter. Errors are those of ctx and of reading, and of selections that name
// something that does not exist or do not parse.
func Filter(ctx context.Context, c *catalog.Catalog, selections []Selection, opts *FilterOptions) (*catalog.Catalog, *FilterReport, error) {
	f := &filter{c: c, packages: map[string]*keptPackage{}, report: &FilterReport{}}
	selections = slices.SortedStableFunc(slices.Values(selections), func(a, b Selection) int { return cmp.Compare(a.Package, b.Package) })
	for _, s := range selections {
		if err := f.selectPackage(s); err != nil {
			return nil, nil, err
		}
	}
	if opts == nil || !opts.NoDependencies {
		if err := f.closure(ctx); err != nil {
			return nil, nil, err
		}
	}
	filtered, err := f.compose(ctx)
	if err != nil {
		return nil, nil, err
	}
	f.report.sort()
	return filtered, f.report, nil
}

// filter is a catalog and the parts of it that are kept.
type filter struct {
	c        *catalog.Catalog
	packages map[string]*keptPackage
	pending  []*catalog.Bundle // whose requirements must be met
	report   *FilterReport
}

// keptPackage is what is kept of a package.
type keptPackage struct {
	pkg            *catalog.Package
	channels       map[string]map[string]bool // names of entries kept, by channel
	defaultChannel string                     // requested default channel, or ""
}

func (f *filter) keep(p *catalog.Package) *keptPackage {
	k := f.packages[p.Name()]
	if k == nil {
		k = &keptPackage{pkg: p, channels: map[string]map[string]bool{}}
		f.packages[p.Name()] = k
	}
	return k
}

// bundles reports whether some channel keeps the bundle of that name.
func (k *keptPackage) bundle(name string) bool {
	for _, entries := range k.channels {
		if entries[name] {
			return true
		}
	}
	return false
}

// add keeps entries of a channel, and those that must stay with them. why
// explains additions in the report.
func (f *filter) add(k *keptPackage, ch *catalog.Channel, wanted map[string]bool, why string) {
	l := newChain(ch)
	before := k.channels[ch.Name()]
	union := maps.Clone(wanted)
	for name := range before {
		union[name] = true
	}
	kept := l.close(union)
	for name, reason := range l.settle(kept) {
		f.drop(ch, name, reason)
	}
	if len(kept) == 0 {
		delete(k.channels, ch.Name())
		return
	}
	k.channels[ch.Name()] = kept
	for _, name := range l.order {
		if !kept[name] || before[name] {
			continue
		}
		reason := why
		if !wanted[name] {
			reason = "it is on the update path"
		}
		if reason != "" {
			f.report.Added = append(f.report.Added, Change{k.pkg.Name(), ch.Name(), name, reason})
		}
		if b, ok := k.pkg.Bundle(name); ok {
			f.pending = append(f.pending, b)
		}
	}
}

// meant suggests a package with a similar name for one that a catalog does not
// have, or lists some.
func meant(c *catalog.Catalog, name string) string {
	var names []string
	for p := range c.Packages() {
		names = append(names, p.Name())
	}
	if nearest := words.Nearest(name, names); nearest != "" {
		return "; did you mean " + strconv.Quote(nearest) + "?"
	}
	if len(names) == 0 {
		return "; it has no package"
	}
	return "; it has " + words.List(names, "and", 5)
}

// selectPackage applies one selection.
func (f *filter) selectPackage(s Selection) error {
	p, ok := f.c.Package(s.Package)
	if !ok {
		return fmt.Errorf("catalog: filter: there is no package %q%s", s.Package, meant(f.c, s.Package))
	}
	var versions *semverx.Range
	if s.Versions != "" {
		var err error
		if versions, err = semverx.ParseRange(s.Versions); err != nil {
			return fmt.Errorf("catalog: filter: package %q: %w", s.Package, err)
		}
	}
	k := f.keep(p)
	if s.DefaultChannel != "" {
		if _, ok := p.Channel(s.DefaultChannel); !ok {
			return fmt.Errorf("catalog: filter: package %q has no channel %q to be the default", s.Package, s.DefaultChannel)
		}
		k.defaultChannel = s.DefaultChannel
	}
	for _, name := range s.Channels {
		if _, ok := p.Channel(name); !ok {
			return fmt.Errorf("catalog: filter: package %q has no channel %q", s.Package, name)
		}
	}
	for ch := range p.Channels() {
		if len(s.Channels) > 0 && !slices.Contains(s.Channels, ch.Name()) {
			continue
		}
		f.selectEntries(k, ch, versions, s.Newest)
	}
	return nil
}

// selectEntries keeps the newest entries of a channel whose version is in the
// range, and those that must stay with them.
func (f *filter) selectEntries(k *keptPackage, ch *catalog.Channel, versions *semverx.Range, newest int) {
	wanted, chain := map[string]bool{}, newChain(ch).chain
	for _, e := range ch.Entries() {
		if newest > 0 && !slices.Contains(chain[:min(newest, len(chain))], e.Name) {
			continue
		}
		if v := semverx.Tolerant(ch.Package().Version(e.Name)); versions == nil || !v.IsZero() && versions.Contains(v) {
			wanted[e.Name] = true
		}
	}
	if len(wanted) == 0 {
		why := "no entry has a version in the range"
		if newest > 0 {
			why = "none of its newest entries has a version in the range"
		}
		f.drop(ch, "", why)
		return
	}
	f.add(k, ch, wanted, "")
}

func (f *filter) drop(ch *catalog.Channel, bundle, why string) {
	f.report.Dropped = append(f.report.Dropped, Change{ch.Package().Name(), ch.Name(), bundle, why})
}
