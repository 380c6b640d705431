package release

import (
	"context"
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
	base        *diff.Base
	before, now *catalog.Catalog
	judged      *check.Report // of now
	after       fs.FS
	resolver    *elsewhere
}

// help looks for the edit that gives stranded users an update path, and tries it.
func (r *helper) help(ctx context.Context) error {
	fixes, err := r.fixes(ctx)
	if err != nil {
		return err
	}
	e, err := edit.New(r.after, r.now, r.judged)
	if err != nil {
		return err
	}
	patch, fixes, err := r.write(ctx, e, fixes)
	if err != nil {
		return err
	}
	r.leave(r.Diff)
	if len(fixes) == 0 {
		return nil
	}
	fsys, err := patch.Patched(r.after)
	if err != nil {
		return err
	}
	c, judged, err := check.Open(ctx, fsys, nil)
	if err != nil {
		return err
	}
	d, err := r.left(ctx, c, fixes)
	if err != nil {
		return err
	}
	needy, helped, err := r.asked(ctx, c, d)
	if err != nil || helped == 0 || d.Stranded() >= r.Diff.Stranded() || len(judged.Findings()) > len(r.judged.Findings()) {
		return err
	}
	r.Patch, r.Fixes = patch, fixes
	r.leave(d)
	r.Left = append(r.Left, needy...)
	return nil
}

// left returns who is still stranded by the catalog with the fixes: of packages without a fix
// those who were before.
func (r *helper) left(ctx context.Context, edited *catalog.Catalog, fixes []Fix) (*diff.Diff, error) {
	d := &diff.Diff{}
	for _, p := range r.Diff.Packages {
		stranded := p.Stranded
		if slices.ContainsFunc(fixes, func(f Fix) bool { return f.Package == p.Name }) {
			var err error
			if stranded, err = r.base.Stranded(ctx, edited, p.Name, nil); err != nil {
				return nil, err
			}
		}
		d.Packages = append(d.Packages, diff.PackageDiff{Name: p.Name, Stranded: stranded})
	}
	return d, nil
}

// fixes returns the edits that help, by package and channel.
func (r *helper) fixes(ctx context.Context) (fixes []Fix, err error) {
	for _, p := range r.Diff.Packages {
		old, _ := r.before.Package(p.Name)
		listed, ok := r.now.Package(p.Name)
		if !ok {
			continue
		}
		byChannel := map[string][]diff.Stranded{}
		for _, u := range p.Stranded {
			byChannel[u.Channel] = append(byChannel[u.Channel], u)
		}
		for ch := range listed.Channels() {
			var names []string
			v0 := map[string]bool{}
			for _, u := range byChannel[ch.Name()] {
				names = append(names, u.Bundle)
				v0[u.Bundle] = slices.Contains(u.Rules, catalog.OLMv0)
			}
			if len(names) == 0 {
				continue
			}
			was, _ := old.Channel(ch.Name())
			s := &search{base: r.base, was: was, ch: ch, stranded: names, v0: v0}
			list, err := s.best(ctx)
			if err != nil {
				return nil, err
			}
			fixes = append(fixes, list...)
		}
	}
	return fixes, nil
}

// write returns the patch that makes edits, and those of them that can be written.
func (r *helper) write(ctx context.Context, e *edit.Editor, fixes []Fix) (*edit.Patch, []Fix, error) {
	edits := make([]edit.EntryEdit, len(fixes))
	for i, f := range fixes {
		p, _ := r.now.Package(f.Package)
		ch, _ := p.Channel(f.Channel)
		edits[i] = edit.EntryEdit{Package: f.Package, Channel: f.Channel, Entry: f.apply(ch.Entries()[find(ch, f.Entry)])}
	}
	patch, err := e.SetEntries(ctx, edits...)
	switch {
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case err == nil:
		return patch.Sorted(), fixes, nil
	}
	patch = &edit.Patch{}
	var made []Fix
	for i, f := range fixes { // some cannot be written: find out which
		one, err := e.SetEntries(ctx, edits[i])
		switch {
		case ctx.Err() != nil:
			return nil, nil, context.Cause(ctx)
		case err == nil:
			patch.Changes, made = append(patch.Changes, one.Changes...), append(made, f)
		}
	}
	return patch.Sorted(), made, nil
}

// asked asks the resolver about the users who are no longer stranded in the graph of
// the edited catalog: which of them still do not reach the head by the rules of v0,
// because a requirement is missing, and how many are helped, or helped by the rules
// of v1.
func (r *helper) asked(ctx context.Context, edited *catalog.Catalog, left *diff.Diff) (needy []Left, helped int, err error) {
	still := map[user]bool{}
	for _, p := range left.Packages {
		for _, s := range p.Stranded {
			still[user{p.Name, s.Channel, s.Bundle}] = true
		}
	}
	for _, p := range r.Diff.Packages {
		old, _ := r.before.Package(p.Name)
		q, _ := edited.Package(p.Name)
		requiring, err := requires(q)
		if err != nil {
			return nil, 0, err
		}
		for _, s := range p.Stranded {
			if still[user{p.Name, s.Channel, s.Bundle}] {
				continue
			}
			helped++
			if r.resolver.resolver == nil || !requiring || !slices.Contains(s.Rules, catalog.OLMv0) {
				continue
			}
			r.Resolved++
			why, err := r.resolver.reach(ctx, r.before, edited, p.Name, s.Channel, catalog.Installed{Name: s.Bundle, Version: old.Version(s.Bundle)})
			if err != nil {
				return nil, 0, err
			}
			if why == "" {
				continue
			}
			needy = append(needy, Left{p.Name, s.Channel, []string{s.Bundle}, []catalog.Rules{catalog.OLMv0}, why})
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

// leave lists the users that a comparison still reports as stranded.
func (r *Report) leave(d *diff.Diff) {
	r.Left = nil
	for _, p := range d.Packages {
		for _, g := range diff.Groups(p.Stranded) {
			r.Left = append(r.Left, Left{p.Name, g.Channel, g.Bundles, g.Rules, g.Why})
		}
	}
}
