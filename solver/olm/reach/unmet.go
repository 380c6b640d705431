package reach

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/solver/rule"
)

// Unmet returns the requirements of bundles of a catalog that no bundle meets, neither of the
// catalog nor of the others, by package and bundle. They cannot be resolved: the cluster
// gets what is required in another way, or never installs these bundles. The error is that
// of ctx or of reading.
func (r *Resolver) Unmet(ctx context.Context, c *catalog.Catalog) ([]catalog.Property, error) {
	u := &unmet{ctx: ctx, catalogs: []*catalog.Catalog{c}, known: map[string]bool{}}
	for _, s := range r.With {
		if s.Catalog != nil && !s.Disabled {
			u.catalogs = append(u.catalogs, s.Catalog)
		}
	}
	var all []catalog.Property
	for p := range c.Packages() {
		for b := range p.Bundles() {
			facts, err := b.Facts()
			if err != nil {
				return nil, err
			}
			for _, f := range facts {
				is, err := u.is(f)
				if err != nil {
					return nil, err
				}
				if is {
					all = append(all, f)
				}
			}
		}
	}
	return all, nil
}

// unmet finds requirements that nothing meets.
type unmet struct {
	ctx      context.Context
	catalogs []*catalog.Catalog
	known    map[string]bool    // by type and value
	bundles  []*rule.Properties // of all catalogs, once a constraint was met with
}

func (u *unmet) is(f catalog.Property) (bool, error) {
	switch f.Type {
	case catalog.PropertyGVKRequired, catalog.PropertyPackageRequired, catalog.PropertyConstraint:
	default:
		return false, nil
	}
	key := f.Type + "\x00" + string(f.Value)
	if is, ok := u.known[key]; ok {
		return is, nil
	}
	is, err := u.judge(f)
	u.known[key] = is
	return is, err
}

// judge decides about one requirement. One that cannot be read is met by nothing.
func (u *unmet) judge(f catalog.Property) (bool, error) {
	switch f.Type {
	case catalog.PropertyGVKRequired:
		var gvk catalog.GVK
		if json.Unmarshal(f.Value, &gvk) != nil {
			return true, nil
		}
		return !slices.ContainsFunc(u.catalogs, func(c *catalog.Catalog) bool {
			for range c.Providers(gvk) {
				return true
			}
			return false
		}), nil
	case catalog.PropertyPackageRequired:
		return !u.hasPackage(f), nil
	}
	constraint, err := rule.ParseConstraint(f.Value, nil)
	if err != nil {
		return true, nil
	}
	if u.bundles == nil {
		if err := u.prepare(); err != nil {
			return false, err
		}
	}
	for _, b := range u.bundles {
		met, err := constraint.Match(u.ctx, b)
		if err != nil || met {
			return false, err
		}
	}
	return true, nil
}

func (u *unmet) hasPackage(f catalog.Property) bool {
	var required struct {
		Package string `json:"packageName"`
		Range   string `json:"versionRange"`
	}
	if json.Unmarshal(f.Value, &required) != nil {
		return false
	}
	within, err := semverx.ParseRange(required.Range)
	if err != nil {
		return false
	}
	for _, c := range u.catalogs {
		if p, ok := c.Package(required.Package); ok {
			for b := range p.Bundles() {
				if within.Contains(semverx.Tolerant(b.Version())) {
					return true
				}
			}
		}
	}
	return false
}

// prepare decodes the properties of all bundles.
func (u *unmet) prepare() error {
	u.bundles = []*rule.Properties{}
	for _, c := range u.catalogs {
		for p := range c.Packages() {
			for b := range p.Bundles() {
				if u.ctx.Err() != nil {
					return context.Cause(u.ctx)
				}
				facts, err := b.Facts()
				if err != nil {
					return err
				}
				list := make([]rule.Property, len(facts))
				for i, f := range facts {
					list[i] = rule.Property{Type: f.Type, Value: f.Value}
				}
				u.bundles = append(u.bundles, rule.Prepare(list))
			}
		}
	}
	return nil
}
