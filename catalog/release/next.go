package release

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// next reports users who will have a new head of a channel and then cannot move to a channel
// with later versions, though users of the head before it can: a fix of an older line that
// was released after the newer line, which does not accept it.
func (r *Report) next(ctx context.Context, before, now *catalog.Catalog, pkg string) error {
	old, ok := before.Package(pkg)
	p, there := now.Package(pkg)
	if !ok || !there {
		return nil
	}
	for ch := range p.Channels() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		was, ok := old.Channel(ch.Name())
		if !ok || len(ch.Heads()) != 1 || len(was.Heads()) != 1 || ch.Heads()[0] == was.Heads()[0] {
			continue
		}
		from, to := was.Heads()[0], ch.Heads()[0]
		var lost []string
		for other := range p.Channels() {
			if other != ch && moves(old, from, other) && !moves(p, to, other) && later(p, other, to) {
				lost = append(lost, other.Name())
			}
		}
		if len(lost) == 0 {
			continue
		}
		r.Findings = append(r.Findings, &catalog.Diagnostic{
			Pos: place(now, pkg, lost[0]), Code: CodeNext, Subject: fmt.Sprintf("package %q, channel %q", pkg, ch.Name()),
			Message: fmt.Sprintf("users who get %q can no longer move to the channel %s, as users of %q can", to, words.List(lost, "and", 3), from),
			Hint:    fmt.Sprintf("make an entry there replace or skip %q, or include its version in its skipRange", to),
		})
	}
	return nil
}

// moves reports whether a user of a bundle who changes to a channel gets updates to its head.
func moves(p *catalog.Package, bundle string, to *catalog.Channel) bool {
	for _, rules := range []catalog.Rules{catalog.OLMv0, catalog.OLMv1} {
		g := to.GraphWith(rules, catalog.Installed{Name: bundle, Version: p.Version(bundle)})
		for _, head := range to.Heads() {
			if _, ok := g.Path(bundle, head); ok && head != bundle {
				return true
			}
		}
	}
	return false
}

// later reports whether the head of a channel has a higher version than a bundle.
func later(p *catalog.Package, ch *catalog.Channel, bundle string) bool {
	v := semverx.Tolerant(p.Version(bundle))
	return slices.ContainsFunc(ch.Heads(), func(head string) bool {
		h := semverx.Tolerant(p.Version(head))
		return !v.IsZero() && !h.IsZero() && h.Compare(v) > 0
	})
}

// breaks reports what new or changed bundles change in definitions of those that they update.
func (r *Report) breaks(ctx context.Context, before, now *catalog.Catalog, breaks func(ctx context.Context, from, to *catalog.Bundle) ([]string, error)) error {
	for _, d := range r.Diff.Packages {
		p, ok := now.Package(d.Name)
		old, there := before.Package(d.Name)
		if !ok || !there {
			continue
		}
		for _, c := range d.Bundles {
			to, ok := p.Bundle(c.Name)
			if !ok {
				continue
			}
			from, ok := previous(old, p, c.Name)
			if !ok {
				continue
			}
			list, err := breaks(ctx, from, to)
			if err != nil {
				return err
			}
			if was, ok := old.Bundle(c.Name); ok && len(list) > 0 { // what it did before is no fault of the new catalog
				before, err := breaks(ctx, from, was)
				if err != nil {
					return err
				}
				list = slices.DeleteFunc(list, func(x string) bool { return slices.Contains(before, x) })
			}
			if len(list) == 0 {
				continue
			}
			r.Findings = append(r.Findings, &catalog.Diagnostic{
				Pos: to.Document().Pos(), Code: CodeBreaks, Subject: fmt.Sprintf("package %q, bundle %q", d.Name, c.Name),
				Message: fmt.Sprintf("the update from %q can make objects of its users invalid, so OLM v1 refuses it: %s", from.Name(), words.First(list, 4)),
				Hint:    "keep the versions and fields that users have, and add a version for what changes",
			})
		}
	}
	return nil
}

// previous returns the bundle that users of the old catalog have before they get another: the
// one that it replaces, or else the highest version that it updates.
func previous(old, now *catalog.Package, bundle string) (*catalog.Bundle, bool) {
	var names []string
	for ch := range now.Channels() {
		for edge := range ch.Graph(catalog.AsWritten).Predecessors(bundle) {
			if edge.Kind == catalog.EdgeReplaces {
				names = append([]string{edge.From}, names...)
			} else {
				names = append(names, edge.From)
			}
		}
	}
	for _, name := range names {
		if b, ok := old.Bundle(name); ok {
			return b, true
		}
	}
	return nil, false
}
