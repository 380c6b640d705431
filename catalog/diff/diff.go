package diff

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
)

// Diff is what changed from one catalog to another. All lists are sorted by
// package, then channel, then name.
type Diff struct {
	Packages []PackageDiff `json:"packages,omitempty"` // those with a change, by name
	// Others are the documents of other schemas that were added, removed or
	// changed.
	Others []DocumentDiff `json:"others,omitempty"`
}

// PackageDiff is what changed in one package.
type PackageDiff struct {
	Name    string `json:"name"`              // of the package
	Added   bool   `json:"added,omitempty"`   // the package is new
	Removed bool   `json:"removed,omitempty"` // the package is gone
	// DefaultChannel is the old and the new default channel, when they differ.
	DefaultChannel *Values `json:"defaultChannel,omitempty"`
	// Described means that the description, icon or another field of the
	// olm.package document changed.
	Described bool `json:"described,omitempty"`
	// Deprecations means that deprecations or their messages changed.
	Deprecations bool `json:"deprecations,omitempty"`
	// Channels and Bundles are those that were added, removed or changed, by
	// name.
	Channels []ChannelDiff `json:"channels,omitempty"`
	Bundles  []BundleDiff  `json:"bundles,omitempty"` // likewise
	// Stranded are the bundles that users of the old catalog may have installed
	// and from which the new one has no update path to a head of their channel,
	// though the old one did, by channel and bundle.
	Stranded []Stranded `json:"stranded,omitempty"`
}

// Values are an old and a new value.
type Values struct {
	Old string `json:"old"` // before
	New string `json:"new"` // after
}

// ChannelDiff is what changed in one channel.
type ChannelDiff struct {
	Name    string  `json:"name"`              // of the channel
	Added   bool    `json:"added,omitempty"`   // the channel is new
	Removed bool    `json:"removed,omitempty"` // the channel is gone
	Heads   *Values `json:"heads,omitempty"`   // names of the heads, when they differ
	Entries *Lists  `json:"entries,omitempty"` // names of entries, when they differ
	Edges   *Lists  `json:"edges,omitempty"`   // updates, each as "from -> to (field)", when they differ
	// Fields are the names of all fields of the document that changed, sorted.
	Fields []string `json:"fields,omitempty"`
}

// Lists are names that were added and removed.
type Lists struct {
	Added   []string `json:"added,omitempty"`   // sorted
	Removed []string `json:"removed,omitempty"` // sorted
}

// BundleDiff is what changed in one bundle.
type BundleDiff struct {
	Name    string  `json:"name"`              // of the bundle
	Added   bool    `json:"added,omitempty"`   // the bundle is new
	Removed bool    `json:"removed,omitempty"` // the bundle is gone
	Version *Values `json:"version,omitempty"` // of its olm.package property, when they differ
	Image   *Values `json:"image,omitempty"`   // references, when they differ
	// APIs are the APIs that the bundle newly provides, or no longer provides.
	APIs *Lists `json:"apis,omitempty"`
	// Fields are the names of all fields of the document that changed, sorted.
	Fields []string `json:"fields,omitempty"`
}

// DocumentDiff is a document of another schema that was added, removed or
// changed.
type DocumentDiff struct {
	Schema  string `json:"schema"`            // of the document
	Package string `json:"package,omitempty"` // that it names, or ""
	Name    string `json:"name,omitempty"`    // of the document, or ""
	Added   bool   `json:"added,omitempty"`   // the document is new
	Removed bool   `json:"removed,omitempty"` // the document is gone
}

// Stranded is a bundle that no longer has an update.
type Stranded struct {
	Channel string          `json:"channel"` // that users follow
	Bundle  string          `json:"bundle"`  // that they have
	Rules   []catalog.Rules `json:"rules"`   // rules by which they are stranded
	Why     string          `json:"why"`     // the obstacles, by the first of the rules

	version string // of the bundle
}

// Options tune the comparison. The zero value, and nil, are the defaults.
type Options struct {
	// Rules are those by which users must not be stranded. Default: OLMv0 and
	// OLMv1.
	Rules []catalog.Rules
}

func (o *Options) rules() []catalog.Rules {
	if o != nil && len(o.Rules) > 0 {
		return o.Rules
	}
	return []catalog.Rules{catalog.OLMv0, catalog.OLMv1}
}

// Empty reports whether the catalogs have the same content.
func (d *Diff) Empty() bool { return len(d.Packages) == 0 && len(d.Others) == 0 }

// Stranded returns the number of bundles, by channel, that are stranded.
func (d *Diff) Stranded() int {
	n := 0
	for _, p := range d.Packages {
		n += len(p.Stranded)
	}
	return n
}

// Compare returns what changed from one catalog to another, by meaning: the
// files, format and order of documents, white space, the order of keys and the
// notation of strings do not matter; every field does, known or not. If an
// invalid catalog has a document twice, the first counts.
//
// It reads the documents of both. The error is that of ctx or of reading.
func Compare(ctx context.Context, before, after *catalog.Catalog, opts *Options) (*Diff, error) {
	return NewBase(before).Compare(ctx, after, opts)
}

// Compare returns what changed from the old catalog to another, as the function [Compare]
// does.
func (base *Base) Compare(ctx context.Context, after *catalog.Catalog, opts *Options) (*Diff, error) {
	rules, before := opts.rules(), base.catalog
	d := &Diff{}
	names := map[string]bool{}
	for _, c := range []*catalog.Catalog{before, after} {
		for p := range c.Packages() {
			names[p.Name()] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p, err := base.diffPackage(ctx, after, name, rules)
		if err != nil {
			return nil, err
		}
		if p != nil {
			d.Packages = append(d.Packages, *p)
		}
	}
	var err error
	d.Others, err = diffOthers(ctx, before, after)
	return d, err
}

func (base *Base) diffPackage(ctx context.Context, after *catalog.Catalog, name string, rules []catalog.Rules) (*PackageDiff, error) {
	a, wasThere := base.catalog.Package(name)
	b, isThere := after.Package(name)
	d := &PackageDiff{Name: name, Added: !wasThere, Removed: !isThere}
	if wasThere && isThere {
		fields, err := Fields(a.Document(), b.Document())
		if err != nil {
			return nil, err
		}
		if a.DefaultChannel() != b.DefaultChannel() {
			d.DefaultChannel = &Values{a.DefaultChannel(), b.DefaultChannel()}
		}
		d.Described = slices.ContainsFunc(fields, func(f string) bool { return !strings.EqualFold(f, "defaultChannel") })
	}
	if err := d.diffDeprecations(a, b); err != nil {
		return nil, err
	}
	if err := d.diffChannels(ctx, a, b); err != nil {
		return nil, err
	}
	if err := d.diffBundles(ctx, a, b); err != nil {
		return nil, err
	}
	if wasThere {
		if err := d.findStranded(ctx, base, a, b, rules); err != nil {
			return nil, err
		}
	}
	if !d.Added && !d.Removed && d.DefaultChannel == nil && !d.Described && !d.Deprecations && len(d.Channels)+len(d.Bundles) == 0 {
		return nil, nil
	}
	return d, nil
}

func (d *PackageDiff) diffDeprecations(a, b *catalog.Package) error {
	if a == nil || b == nil {
		return nil
	}
	old, err := a.Deprecations()
	if err != nil {
		return err
	}
	now, err := b.Deprecations()
	if err != nil {
		return err
	}
	order := func(x, y catalog.Deprecation) int {
		return cmp.Or(cmp.Compare(x.Reference.Schema, y.Reference.Schema), cmp.Compare(x.Reference.Name, y.Reference.Name), cmp.Compare(x.Message, y.Message))
	}
	slices.SortFunc(old, order)
	slices.SortFunc(now, order)
	d.Deprecations = !slices.Equal(old, now)
	return nil
}

// pairs calls visit for the elements of two lists by name: with both if the
// name is in both lists, otherwise with zero for the one that is missing. The error is that
// of visit, or of ctx.
func pairs[T interface {
	comparable
	Name() string
}](ctx context.Context, old, now []T, visit func(name string, a, b T) error) error {
	var zero T
	for len(old)+len(now) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a, b := zero, zero
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].Name() < now[0].Name():
			a, old = old[0], old[1:]
		case len(old) == 0 || now[0].Name() < old[0].Name():
			b, now = now[0], now[1:]
		default:
			a, b, old, now = old[0], now[0], old[1:], now[1:]
		}
		name := ""
		if a != zero {
			name = a.Name()
		} else {
			name = b.Name()
		}
		if err := visit(name, a, b); err != nil {
			return err
		}
	}
	return nil
}

func channels(p *catalog.Package) []*catalog.Channel {
	if p == nil {
		return nil
	}
	return slices.Collect(p.Channels())
}

func bundles(p *catalog.Package) []*catalog.Bundle {
	if p == nil {
		return nil
	}
	return slices.Collect(p.Bundles())
}

func (d *PackageDiff) diffChannels(ctx context.Context, a, b *catalog.Package) error {
	return pairs(ctx, channels(a), channels(b), func(name string, x, y *catalog.Channel) error {
		c := ChannelDiff{Name: name, Added: x == nil, Removed: y == nil}
		if x != nil && y != nil {
			var err error
			if c.Fields, err = Fields(x.Document(), y.Document()); err != nil || len(c.Fields) == 0 {
				return err
			}
		}
		if old, now := headsOf(x), headsOf(y); old != now {
			c.Heads = &Values{old, now}
		}
		var err error
		c.Entries, c.Edges, err = diffEntries(ctx, x, y)
		d.Channels = append(d.Channels, c)
		return err
	})
}

func headsOf(ch *catalog.Channel) string {
	if ch == nil {
		return ""
	}
	return strings.Join(slices.Sorted(slices.Values(ch.Heads())), ", ")
}

// changes returns what only the second set has, and what only the first has.
func changes(old, now map[string]bool) (added, removed []string) {
	for name := range now {
		if !old[name] {
			added = append(added, name)
		}
	}
	for name := range old {
		if !now[name] {
			removed = append(removed, name)
		}
	}
	slices.Sort(added)
	slices.Sort(removed)
	return added, removed
}

func (d *PackageDiff) diffBundles(ctx context.Context, a, b *catalog.Package) error {
	var r Reader
	err := pairs(ctx, bundles(a), bundles(b), func(name string, x, y *catalog.Bundle) error {
		c := BundleDiff{Name: name, Added: x == nil, Removed: y == nil}
		if x != nil && y != nil {
			var err error
			if c.Fields, err = r.Fields(x.Document(), y.Document()); err != nil || len(c.Fields) == 0 {
				return err
			}
			if x.Version() != y.Version() {
				c.Version = &Values{x.Version(), y.Version()}
			}
			if x.Image() != y.Image() {
				c.Image = &Values{x.Image(), y.Image()}
			}
			if added, removed := changes(apiSet(x), apiSet(y)); len(added)+len(removed) > 0 {
				c.APIs = &Lists{added, removed}
			}
		}
		d.Bundles = append(d.Bundles, c)
		return nil
	})
	return cmp.Or(err, r.Close())
}

func apiSet(b *catalog.Bundle) map[string]bool {
	set := map[string]bool{}
	for gvk := range b.Provides() {
		set[gvk.String()] = true
	}
	return set
}
