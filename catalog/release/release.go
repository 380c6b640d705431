package release

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/internal/words"
)

// The codes of findings.
const (
	CodeStranded   catalog.Code = "stranded-users"   // installations from the old catalog would lose their upgrade path
	CodeUnresolved catalog.Code = "unresolved-users" // the new catalog lacks what their updates require
	CodeOld        catalog.Code = "old-unread"       // a part of the old catalog cannot be read, so some of its users are not known
	CodeNext       catalog.Code = "next-channel"     // users of a new head can no longer move to the channel that users of the head before it can move to
	CodeImage      catalog.Code = "image-changed"    // warning: the bundle of a version has another image than before
	CodeBreaks     catalog.Code = "breaking-crd"     // a new bundle changes a CustomResourceDefinition so that objects may become invalid
)

// Report is the effect of a new version of a catalog on the users of the old one.
type Report struct {
	// Diff is what changed, with all stranded users.
	Diff *diff.Diff `json:"diff"`
	// Users counts the users that were checked: the bundles of each package of the
	// old catalog from which updates led to the head of a channel. A bundle counts
	// once, though its users may follow several channels.
	Users int `json:"users"`
	// Resolved counts the calls of Options.Resolver.
	Resolved int `json:"resolved,omitempty"`
	// Unresolved are users whose updates newly fail because of requirements between
	// operators, by package, channel and bundle.
	Unresolved []Unresolved `json:"unresolved,omitempty"`
	// Old are the parts of the old catalog that cannot be read, at their positions in it:
	// whether their users are stranded is not known, so the release does not pass.
	Old catalog.Diagnostics `json:"old,omitempty"`
	// Unknown are packages of the old catalog of which a part of the new one may be among what
	// cannot be read, by name: which of their users are stranded is not known. What cannot be
	// read is among the Findings, so that the release does not pass.
	Unknown []string `json:"unknown,omitempty"`
	// Elsewhere counts the requirements that nothing met in the old catalog either, and
	// that are therefore taken as met from elsewhere.
	Elsewhere int `json:"elsewhere,omitempty"`
	// Findings are the faults of the new catalog itself, who is stranded by it, and what
	// else must not be released, sorted by position.
	Findings catalog.Diagnostics `json:"findings,omitempty"`
	// Warnings do not keep the new catalog from passing, but somebody should look at them:
	// images that changed for the same version, a warning for each package.
	Warnings catalog.Diagnostics `json:"warnings,omitempty"`
	// Fixes are the edits in Patch, by package and channel.
	Fixes []Fix `json:"fixes,omitempty"`
	// Patch is the edit of the new catalog that helps every stranded user whom an
	// edit can help; nil if nobody is stranded, or nothing helps.
	Patch *edit.Patch `json:"patch,omitempty"`
	// Left are users whom the patch does not help, by package; with a resolver,
	// also those whom it helps only in the graph, while a requirement is missing by
	// the rules of OLM v0.
	Left []Left `json:"left,omitempty"`

	named func(path string) string // how files of the patch are named, see Relocate; nil as they are
}

// Left is a group of users whom no edit of an entry helps, with one cause.
type Left struct {
	Package string          `json:"package"` // of the bundles
	Channel string          `json:"channel"` // that the users follow; "" if the package is gone
	Bundles []string        `json:"bundles"` // that they have
	Rules   []catalog.Rules `json:"rules"`   // by which nothing helps them; by others the patch may
	Why     string          `json:"why"`     // the cause; for several users, "it" stands for each bundle
}

// String names the users, at most the first three, and says why they are left.
func (l Left) String() string {
	where := (&diff.Group{Channel: l.Channel}).Where()
	return fmt.Sprintf("package %s, %s, OLM %s: users of %s: %s", l.Package, where, joined(l.Rules), words.List(l.Bundles, "and", 3), l.Why)
}

// joined returns the names of rules in words.
func joined(rules []catalog.Rules) string {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.String()
	}
	return strings.Join(names, " and ")
}

// Fix is an edit of an entry that gives users an update path: the head of a channel
// skips what they have, or an entry gets back what it lost. No part of it can be
// left out.
type Fix struct {
	Package   string   `json:"package"`             // whose
	Channel   string   `json:"channel"`             // of the package
	Entry     string   `json:"entry"`               // that changes
	Replaces  string   `json:"replaces,omitempty"`  // what it replaces again, as it did in the old catalog, or what would leave one head
	Instead   string   `json:"instead,omitempty"`   // what it replaces now, if anything
	SkipRange string   `json:"skipRange,omitempty"` // the skipRange that it has again, as in the old catalog
	Skips     []string `json:"skips,omitempty"`     // additional names that it skips
	// Back are those of Skips whose version is higher, so that their users are taken back.
	Back []string `json:"back,omitempty"`

	fresh bool // it replaced nothing in the old catalog either
}

// String returns the edit in one line.
func (f Fix) String() string {
	var does []string
	switch {
	case f.Instead != "":
		does = append(does, fmt.Sprintf("replaces %s instead of %s", f.Replaces, f.Instead))
	case f.fresh:
		does = append(does, "replaces "+f.Replaces)
	case f.Replaces != "":
		does = append(does, "replaces "+f.Replaces+" again")
	}
	if f.SkipRange != "" {
		does = append(does, fmt.Sprintf("has the skipRange %q again", f.SkipRange))
	}
	if len(f.Skips) > 0 {
		does = append(does, "skips "+strings.Join(f.Skips, ", "))
	}
	if len(f.Back) > 0 {
		does = append(does, "takes users of "+words.List(f.Back, "and", 3)+" back to an older version")
	}
	return fmt.Sprintf("package %s, channel %s: %s %s", f.Package, f.Channel, f.Entry, strings.Join(does, ", and "))
}

// add merges another fix of the entry into this one.
func (f *Fix) add(g Fix) {
	f.Replaces, f.Instead, f.SkipRange = cmp.Or(f.Replaces, g.Replaces), cmp.Or(f.Instead, g.Instead), cmp.Or(f.SkipRange, g.SkipRange)
	f.Skips = append(f.Skips, g.Skips...)
	f.Back = append(f.Back, g.Back...)
}

// apply returns the entry with the fix applied.
func (f *Fix) apply(e catalog.Entry) catalog.Entry {
	e.Replaces, e.SkipRange = cmp.Or(f.Replaces, e.Replaces), cmp.Or(f.SkipRange, e.SkipRange)
	e.Skips = append(slices.Clone(e.Skips), f.Skips...)
	return e
}

// Unresolved is a user whose updates fail because of requirements between
// operators.
type Unresolved struct {
	Package string `json:"package"` // of the bundle
	Channel string `json:"channel"` // that the user follows
	Bundle  string `json:"bundle"`  // that the user has
	Why     string `json:"why"`     // the resolver's message
}

// Options tune the evaluation. The zero value, and nil, are the defaults.
type Options struct {
	// Resolver checks whether updates succeed given the requirements between
	// operators; nil skips that check. The package solver/olm/reach has one.
	Resolver Resolver
	// Breaks returns what an update from one bundle to another changes so that objects of
	// users may become invalid; nil skips that check. The package solver/olm/reach has one.
	Breaks func(ctx context.Context, from, to *catalog.Bundle) ([]string, error)
}

// Resolver checks whether a user gets updates if operators require others.
type Resolver interface {
	// Reach looks for updates from an installed bundle to a head of a channel of
	// the catalog, with everything that the bundles on the path require. It returns
	// "" if there are any, and otherwise why there are none. The error is that of
	// ctx or of reading.
	Reach(ctx context.Context, c *catalog.Catalog, pkg, channel string, from catalog.Installed) (why string, err error)
	// Unmet returns the requirements of bundles of a catalog that nothing provides.
	Unmet(ctx context.Context, c *catalog.Catalog) ([]catalog.Property, error)
}

func (o *Options) resolver() Resolver {
	if o == nil {
		return nil
	}
	return o.Resolver
}

// Passes reports whether the new catalog may be released: all of the old one is known, the
// new one is valid, nobody is stranded, and nothing else was found.
func (r *Report) Passes() bool { return len(r.Findings)+len(r.Old) == 0 }

// Evaluate compares the catalog in after with the one before. The users are the
// entries of every channel of the old catalog from which updates lead to the head;
// each must reach the head of its channel in the new one, by the rules of OLM v0
// and by those of v1. With a resolver, users of packages whose bundles require
// something are also checked, by the rules of v0: OLM v1 installs nothing that a
// bundle requires. What nothing provided in the old catalog either is taken as provided
// from elsewhere. Users who could move to a channel with later versions must still be able
// to after their update.
//
// The error is that of ctx or of reading. If documents of a catalog cannot be read,
// the rest is evaluated, and the catalog does not pass.
func Evaluate(ctx context.Context, before *catalog.Catalog, after fs.FS, opts *Options) (*Report, error) {
	now, judged, err := check.Open(ctx, after, nil)
	if err != nil {
		return nil, err
	}
	base := diff.NewBase(before)
	r := &Report{Findings: judged.Findings(), Old: unread(before)}
	if r.Users, err = users(ctx, base, before); err != nil {
		return nil, err
	}
	if r.Diff, err = base.Compare(ctx, now, nil); err != nil {
		return nil, err
	}
	r.unknown(now)
	r.images(now)
	for _, p := range r.Diff.Packages {
		for _, g := range diff.Groups(p.Stranded) {
			r.Findings = append(r.Findings, finding(now, p.Name, &g))
		}
		if slices.Contains(r.Unknown, p.Name) {
			continue
		}
		if err := r.next(ctx, before, now, p.Name); err != nil {
			return nil, err
		}
	}
	if opts != nil && opts.Breaks != nil {
		if err := r.breaks(ctx, before, now, opts.Breaks); err != nil {
			return nil, err
		}
	}
	met := &elsewhere{resolver: opts.resolver(), made: map[*catalog.Catalog]*catalog.Catalog{}}
	if met.resolver != nil {
		if err := met.assume(ctx, before); err != nil {
			return nil, err
		}
		r.Elsewhere = len(met.unmet)
		if err := r.resolve(ctx, base, before, now, met); err != nil {
			return nil, err
		}
	}
	r.Findings = r.Findings.Sorted()
	if r.Diff.Stranded() > 0 && len(now.Faults()) == 0 {
		h := &helper{r, base, before, now, judged, after, met}
		if err := h.help(ctx); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// unread returns what cannot be read of the old catalog.
func unread(before *catalog.Catalog) catalog.Diagnostics {
	var list catalog.Diagnostics
	for _, d := range before.Faults() {
		u := *d
		u.Code, u.Message = CodeOld, "in the old catalog: "+d.Message
		list = append(list, &u)
	}
	return list
}

// unknown leaves out who would be stranded where a part of the new catalog that cannot be read
// may have their updates.
func (r *Report) unknown(now *catalog.Catalog) {
	for i := range r.Diff.Packages {
		if p := &r.Diff.Packages[i]; !p.Added && now.MayMiss("", p.Name, "") {
			r.Unknown, p.Stranded = append(r.Unknown, p.Name), nil
		}
	}
}

// users counts the users that are checked. The error is that of ctx.
func users(ctx context.Context, base *diff.Base, before *catalog.Catalog) (n int, err error) {
	for p := range before.Packages() {
		known := map[string]bool{}
		for ch := range p.Channels() {
			if ctx.Err() != nil {
				return 0, context.Cause(ctx)
			}
			for _, rules := range []catalog.Rules{catalog.OLMv0, catalog.OLMv1} {
				for _, x := range base.Users(ch, rules) {
					known[x.Name] = true
				}
			}
		}
		n += len(known)
	}
	return n, nil
}

// finding reports users at the place to edit.
func finding(now *catalog.Catalog, pkg string, g *diff.Group) *catalog.Diagnostic {
	f := &catalog.Diagnostic{Pos: place(now, pkg, g.Channel), Code: CodeStranded, Subject: fmt.Sprintf("package %q, channel %q", pkg, g.Channel)}
	by := joined(g.Rules)
	if len(g.Bundles) == 1 {
		f.Message = fmt.Sprintf("users of %q no longer get updates from OLM %s: %s", g.Bundles[0], by, g.Why)
		f.Hint = fmt.Sprintf("make the head skip %q, or keep the update that was there", g.Bundles[0])
	} else {
		f.Message = fmt.Sprintf("users of %d versions (%s) no longer get updates from OLM %s: %s", len(g.Bundles), g.Who(), by, g.Why)
		f.Hint = "make the head skip them, or keep the updates that were there"
	}
	if p, ok := now.Package(pkg); ok && g.Channel != "" {
		if _, ok := p.Channel(g.Channel); !ok {
			f.Hint = "keep the channel, deprecated, as long as it is in use"
		}
	}
	if g.Channel == "" {
		f.Subject = fmt.Sprintf("package %q", pkg)
		f.Hint = "keep the package, deprecated, as long as it is in use"
	}
	return f
}

// place returns the position of a channel, or of its package.
func place(c *catalog.Catalog, pkg, channel string) (pos catalog.Position) {
	if p, ok := c.Package(pkg); ok {
		pos = p.Document().Pos()
		if ch, ok := p.Channel(channel); ok {
			pos = ch.Document().Pos()
		}
	}
	return pos
}
