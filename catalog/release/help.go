package release

import (
	"context"
	"encoding/json"
	"io/fs"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/catalog/edit"
)

// helper looks for an edit of the new catalog, which is in the files in after.
type helper struct {
	*Report
	before, now *catalog.Catalog
	after       fs.FS
	resolver    Resolver // may be nil
}

// help looks for the edit that gives stranded users an update path, and tries it.
// findings is the number of other findings.
func (r *helper) help(ctx context.Context, findings int) error {
	patch, fixes := &edit.Patch{}, []Fix(nil)
	e, err := edit.Open(ctx, r.after)
	if err != nil {
		return err
	}
	for _, p := range r.Diff.Packages {
		listed, ok := r.now.Package(p.Name)
		if !ok {
			continue
		}
		for ch := range listed.Channels() {
			var names []string
			for _, s := range p.Stranded {
				if s.Channel == ch.Name() {
					names = append(names, s.Bundle)
				}
			}
			list, err := r.fixesOf(ch, names)
			if err != nil {
				return err
			}
			for _, f := range list {
				made, err := e.SetEntry(ctx, f.Package, f.Channel, f.apply(ch.Entries()[find(ch, f.Entry)]))
				switch {
				case ctx.Err() != nil:
					return context.Cause(ctx)
				case err == nil: // otherwise it cannot be written there
					patch.Changes = append(patch.Changes, made.Changes...)
					fixes = append(fixes, f)
				}
			}
		}
	}
	r.leave(r.Diff)
	if len(fixes) == 0 {
		return nil
	}
	patch = patch.Sorted()
	fsys, err := patch.Patched(r.after)
	if err != nil {
		return err
	}
	c, judged, err := check.Open(ctx, fsys, nil)
	if err != nil {
		return err
	}
	d, err := diff.Compare(ctx, r.before, c, nil)
	if err != nil {
		return err
	}
	needy, helped, err := r.asked(ctx, c, d)
	if err != nil || helped == 0 || d.Stranded() >= r.Diff.Stranded() || len(judged.Findings()) > findings {
		return err
	}
	r.Patch, r.Fixes = patch, fixes
	r.leave(d)
	r.Left = append(r.Left, needy...)
	return nil
}

// asked asks the resolver about the users who are no longer stranded in the graph of
// the edited catalog: which of them still do not reach the head by the rules of v0,
// because a requirement is missing, and how many are helped, or helped by the rules
// of v1.
func (r *helper) asked(ctx context.Context, edited *catalog.Catalog, left *diff.Diff) (needy []Left, helped int, err error) {
	still := map[[3]string]bool{}
	for _, p := range left.Packages {
		for _, s := range p.Stranded {
			still[[3]string{p.Name, s.Channel, s.Bundle}] = true
		}
	}
	for _, p := range r.Diff.Packages {
		old, _ := r.before.Package(p.Name)
		for _, s := range p.Stranded {
			if still[[3]string{p.Name, s.Channel, s.Bundle}] {
				continue
			}
			helped++
			if r.resolver == nil || !slices.Contains(s.Rules, catalog.OLMv0) {
				continue
			}
			r.Resolved++
			why, err := r.resolver.Reach(ctx, edited, p.Name, s.Channel, catalog.Installed{Name: s.Bundle, Version: old.Version(s.Bundle)})
			if err != nil {
				return nil, 0, err
			}
			if why == "" {
				continue
			}
			needy = append(needy, Left{p.Name, s.Channel, []string{s.Bundle}, "by OLM v0: " + why})
			if len(s.Rules) == 1 {
				helped--
			}
		}
	}
	return needy, helped, nil
}

// find returns the index of the first entry of that name, or -1.
func find(ch *catalog.Channel, name string) int {
	return slices.IndexFunc(ch.Entries(), func(e catalog.Entry) bool { return e.Name == name })
}

// fixesOf returns the edits of a channel that help stranded users: entries get back
// what they lost, or the head skips what the users have, whichever leaves fewer of
// them stranded, and then whichever changes less. It returns none if neither helps.
func (r *helper) fixesOf(ch *catalog.Channel, names []string) ([]Fix, error) {
	if len(names) == 0 {
		return nil, nil
	}
	back, most, err := r.smallest(ch, r.lost(ch), len(names))
	if err != nil {
		return nil, err
	}
	skips, left, err := r.smallest(ch, skipped(ch, names), len(names))
	if err != nil {
		return nil, err
	}
	best := back
	if back == nil || skips != nil && (left < most || left == most && len(skips) < len(back)) {
		best = skips
	}
	var fixes []Fix // one for each entry
	for _, f := range best {
		if at := slices.IndexFunc(fixes, func(x Fix) bool { return x.Entry == f.Entry }); at >= 0 {
			fixes[at].add(f)
		} else {
			fixes = append(fixes, f)
		}
	}
	return fixes, nil
}

// lost returns what each entry of a channel has lost since the old catalog.
func (r *helper) lost(ch *catalog.Channel) (list []Fix) {
	p, ok := r.before.Package(ch.Package().Name())
	if !ok {
		return nil
	}
	old, ok := p.Channel(ch.Name())
	if !ok {
		return nil
	}
	for i, e := range ch.Entries() {
		at := find(old, e.Name)
		if at < 0 || find(ch, e.Name) < i {
			continue
		}
		add := func(f Fix) {
			f.Package, f.Channel, f.Entry = p.Name(), ch.Name(), e.Name
			list = append(list, f)
		}
		was := old.Entries()[at]
		if e.Replaces == "" && was.Replaces != "" {
			add(Fix{Replaces: was.Replaces})
		}
		if e.SkipRange == "" && was.SkipRange != "" {
			add(Fix{SkipRange: was.SkipRange})
		}
		for _, name := range was.Skips {
			if !slices.Contains(e.Skips, name) {
				add(Fix{Skips: []string{name}})
			}
		}
	}
	return list
}

// skipped returns the changes by which the head of a channel skips each of the names.
func skipped(ch *catalog.Channel, names []string) (list []Fix) {
	heads := ch.Heads()
	if len(heads) != 1 {
		return nil
	}
	for _, name := range names {
		list = append(list, Fix{Package: ch.Package().Name(), Channel: ch.Name(), Entry: heads[0], Skips: []string{name}})
	}
	return list
}

// smallest returns the changes to a channel that are needed to help its users, and
// how many are still stranded; nil if all changes together help nobody.
func (r *helper) smallest(ch *catalog.Channel, changes []Fix, stranded int) ([]Fix, int, error) {
	fewest, err := r.strandedWith(ch, changes)
	if err != nil || fewest >= stranded {
		return nil, stranded, err
	}
	for i := 0; i < len(changes); {
		fewer := slices.Delete(slices.Clone(changes), i, i+1)
		left, err := r.strandedWith(ch, fewer)
		if err != nil {
			return nil, 0, err
		}
		if left <= fewest {
			changes = fewer
		} else {
			i++
		}
	}
	return changes, fewest, nil
}

// strandedWith counts the users of a channel that are stranded after changes to it.
func (r *helper) strandedWith(ch *catalog.Channel, changes []Fix) (int, error) {
	entries := slices.Clone(ch.Entries())
	for _, f := range changes {
		at := find(ch, f.Entry)
		entries[at] = f.apply(entries[at])
	}
	pkg := ch.Package().Name()
	text, err := json.Marshal(map[string]any{"schema": catalog.SchemaChannel, "package": pkg, "name": ch.Name(), "entries": entries})
	if err != nil {
		return 0, err
	}
	made, err := catalog.NewDocument(text, ch.Document().Start())
	if err != nil {
		return 0, err
	}
	var documents []*catalog.Document
	for d := range r.now.Documents() {
		if d == ch.Document() {
			d = made
		}
		if d.Package() == pkg {
			documents = append(documents, d)
		}
	}
	n := 0
	for _, s := range diff.StrandedIn(r.before, catalog.New(documents), pkg, nil) {
		if s.Channel == ch.Name() {
			n++
		}
	}
	return n, nil
}

// leave lists the users that a comparison still reports as stranded.
func (r *Report) leave(d *diff.Diff) {
	r.Left = nil
	for _, p := range d.Packages {
		for _, g := range diff.Groups(p.Stranded) {
			r.Left = append(r.Left, Left{p.Name, g.Channel, g.Bundles, g.Why})
		}
	}
}
