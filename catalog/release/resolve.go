package release

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/diff"
)

// user is who has a bundle of a package and follows a channel.
type user struct{ pkg, channel, bundle string }

// resolve checks the users of packages whose bundles require something, and
// whom the graph alone does not strand.
func (r *Report) resolve(ctx context.Context, base *diff.Base, before, now *catalog.Catalog, resolver *elsewhere) error {
	stranded := map[user]bool{}
	for _, p := range r.Diff.Packages {
		for _, s := range p.Stranded {
			stranded[user{p.Name, s.Channel, s.Bundle}] = true
		}
	}
	for p := range before.Packages() {
		q, ok := now.Package(p.Name())
		needy, err := requires(p, q)
		if err != nil {
			return err
		}
		if !ok || !needy || slices.Contains(r.Unknown, p.Name()) {
			continue
		}
		for ch := range p.Channels() {
			if _, there := q.Channel(ch.Name()); !there {
				continue
			}
			for _, x := range base.Users(ch, catalog.OLMv0) {
				name := x.Name
				if stranded[user{p.Name(), ch.Name(), name}] {
					continue
				}
				why, err := r.lost(ctx, before, now, resolver, p.Name(), ch.Name(), x)
				if err != nil {
					return err
				}
				if why == "" {
					continue
				}
				r.Unresolved = append(r.Unresolved, Unresolved{p.Name(), ch.Name(), name, why})
				r.Findings = append(r.Findings, &catalog.Diagnostic{
					Pos: place(now, p.Name(), ch.Name()), Code: CodeUnresolved, Subject: fmt.Sprintf("package %q, channel %q", p.Name(), ch.Name()),
					Message: fmt.Sprintf("users of %q no longer reach the head, because a requirement is missing: %s", name, why),
					Hint:    "provide what is required, name the catalog that does (-with), or remove the requirement",
				})
			}
		}
	}
	return nil
}

// lost says why a user no longer reaches the head, or returns "".
func (r *Report) lost(ctx context.Context, before, now *catalog.Catalog, resolver *elsewhere, pkg, channel string, from catalog.Installed) (string, error) {
	r.Resolved++
	why, err := resolver.reach(ctx, before, now, pkg, channel, from)
	if err != nil || why == "" {
		return "", err
	}
	r.Resolved++
	was, err := resolver.reach(ctx, before, before, pkg, channel, from)
	if err != nil || was != "" {
		return "", err
	}
	return why, nil
}

// requires reports whether a bundle of the packages requires something of
// others; the second may be nil.
func requires(packages ...*catalog.Package) (bool, error) {
	for _, p := range packages {
		if p == nil {
			continue
		}
		for b := range p.Bundles() {
			facts, err := b.Facts()
			if err != nil {
				return false, err
			}
			for _, f := range facts {
				switch f.Type {
				case catalog.PropertyGVKRequired, catalog.PropertyPackageRequired, catalog.PropertyConstraint:
					return true, nil
				}
			}
		}
	}
	return false, nil
}
