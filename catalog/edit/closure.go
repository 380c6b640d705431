package edit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/semverx"
)

// closure adds what kept bundles require, until nothing new is required. Each
// bundle is visited once, so cycles of requirements end.
func (f *filter) closure(ctx context.Context) error {
	seen := map[*catalog.Bundle]bool{}
	for len(f.pending) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b := f.pending[0]
		f.pending = f.pending[1:]
		if seen[b] {
			continue
		}
		seen[b] = true
		facts, err := b.Facts()
		if err != nil {
			return err
		}
		for _, p := range facts {
			r := requirementOf(p)
			if r == nil {
				continue
			}
			if !f.meet(b, r) {
				f.report.Unmet = append(f.report.Unmet, Change{b.Package().Name(), "", b.Name(), "nothing in the catalog provides " + r.String()})
			}
		}
	}
	return nil
}

// requirement is what a bundle needs: one of the fields is set. It needs every
// one of all, or one of any.
type requirement struct {
	name     string         // of a package
	versions *semverx.Range // nil for any
	text     string         // of the range
	gvk      *catalog.GVK
	all, any []*requirement
}

// String returns what is required.
func (r *requirement) String() string {
	switch {
	case r.gvk != nil:
		return "the API " + r.gvk.String()
	case r.name != "":
		return fmt.Sprintf("the package %s in versions %q", r.name, r.text)
	case r.all != nil:
		return "all that a constraint requires"
	}
	return "any that a constraint requires"
}

// requirementOf reads a property. It returns nil if it requires nothing, or
// nothing that can be evaluated here.
func requirementOf(p catalog.Property) *requirement {
	switch p.Type {
	case catalog.PropertyGVKRequired:
		if gvk, ok := gvkOf(p.Value); ok {
			return &requirement{gvk: &gvk}
		}
	case catalog.PropertyPackageRequired:
		return packageRequirement(p.Value)
	case catalog.PropertyConstraint:
		return constraintRequirement(p.Value, 0)
	}
	return nil
}

func packageRequirement(value json.RawMessage) *requirement {
	var v struct {
		PackageName  string `json:"packageName"`
		VersionRange string `json:"versionRange"`
	}
	if value == nil || !decodes(value, &v) || v.PackageName == "" {
		return nil
	}
	versions, err := semverx.ParseRange(v.VersionRange)
	if err != nil {
		return nil
	}
	return &requirement{name: v.PackageName, versions: versions, text: v.VersionRange}
}

func constraintRequirement(value json.RawMessage, depth int) *requirement {
	type list struct {
		Constraints []json.RawMessage `json:"constraints"`
	}
	var v struct {
		GVK     json.RawMessage `json:"gvk"`
		Package json.RawMessage `json:"package"`
		All     *list           `json:"all"`
		Any     *list           `json:"any"`
	}
	if value == nil || depth > 50 || !decodes(value, &v) {
		return nil
	}
	inner := func(l *list) []*requirement {
		var rs []*requirement
		for _, c := range l.Constraints {
			if r := constraintRequirement(c, depth+1); r != nil {
				rs = append(rs, r)
			}
		}
		return rs
	}
	switch {
	case v.GVK != nil:
		if gvk, ok := gvkOf(v.GVK); ok {
			return &requirement{gvk: &gvk}
		}
	case v.Package != nil:
		return packageRequirement(v.Package)
	case v.All != nil:
		if rs := inner(v.All); len(rs) > 0 {
			return &requirement{all: rs}
		}
	case v.Any != nil:
		// An alternative that cannot be evaluated here may be the one that
		// holds.
		if rs := inner(v.Any); len(rs) == len(v.Any.Constraints) && len(rs) > 0 {
			return &requirement{any: rs}
		}
	}
	return nil
}

// meet ensures that something kept meets the requirement of b, and reports
// whether something does.
func (f *filter) meet(b *catalog.Bundle, r *requirement) bool {
	if f.met(r) {
		return true
	}
	if r.all != nil {
		ok := true
		for _, each := range r.all {
			ok = f.meet(b, each) && ok
		}
		return ok
	}
	for _, each := range r.any {
		if f.meet(b, each) {
			return true
		}
	}
	provider, ch := f.provider(r)
	if provider == nil {
		return false
	}
	wanted := map[string]bool{provider.Name(): true, newChain(ch).top(): true}
	f.add(f.keep(provider.Package()), ch, wanted, fmt.Sprintf("%s of %s requires %s", b.Name(), b.Package().Name(), r))
	return true
}

// met reports whether a kept bundle meets r.
func (f *filter) met(r *requirement) bool {
	switch {
	case r.all != nil:
		for _, each := range r.all {
			if !f.met(each) {
				return false
			}
		}
		return true
	case r.any != nil:
		for _, each := range r.any {
			if f.met(each) {
				return true
			}
		}
		return false
	}
	for b := range f.meeting(r) {
		if k := f.packages[b.Package().Name()]; k != nil && k.bundle(b.Name()) {
			return true
		}
	}
	return false
}

// meeting yields the bundles that meet r, which is of a package or an API: by
// package, then by name.
func (f *filter) meeting(r *requirement) func(yield func(*catalog.Bundle) bool) {
	if r.gvk != nil {
		return f.c.Providers(*r.gvk)
	}
	return func(yield func(*catalog.Bundle) bool) {
		p, ok := f.c.Package(r.name)
		if !ok {
			return
		}
		for b := range p.Bundles() {
			if v, err := semverx.ParseTolerant(b.Version()); err == nil && r.versions.Contains(v) && !yield(b) {
				return
			}
		}
	}
}

// provider chooses the bundle to add for r, and its channel: in the first
// package, the highest version in its default channel, or else in the first
// channel, by name, that has one.
func (f *filter) provider(r *requirement) (best *catalog.Bundle, in *catalog.Channel) {
	var fits []*catalog.Bundle
	if r.gvk == nil && r.name == "" {
		return nil, nil
	}
	for b := range f.meeting(r) {
		if len(fits) == 0 || b.Package() == fits[0].Package() {
			fits = append(fits, b)
		}
	}
	if len(fits) == 0 {
		return nil, nil
	}
	p := fits[0].Package()
	channels := slices.Collect(p.Channels())
	if ch, ok := p.Channel(p.DefaultChannel()); ok {
		channels = append([]*catalog.Channel{ch}, channels...)
	}
	for _, ch := range channels {
		l := newChain(ch)
		for _, b := range fits {
			if l.entries[b.Name()] != nil && (best == nil || l.compare(b.Name(), best.Name()) > 0) {
				best = b
			}
		}
		if best != nil {
			return best, ch
		}
	}
	return nil, nil
}

func gvkOf(value json.RawMessage) (gvk catalog.GVK, ok bool) {
	ok = decodes(value, &gvk)
	return gvk, ok
}

// decodes reports whether value decodes into v.
func decodes(value json.RawMessage, v any) bool {
	if value == nil {
		return false
	}
	_, err := doc.Unmarshal(value, v)
	return err == nil
}
