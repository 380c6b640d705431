package release

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/catalog/edit"
)

// helper looks for an edit of the new catalog, which is in the files after.
type helper struct {
	*Report
	before, now *catalog.Catalog
	after       fs.FS
	resolver    Resolver // may be nil
}

// help looks for the edit that lets stranded users go on, and tries it.
// findings is how many there are without them.
func (r *helper) help(ctx context.Context, findings int) error {
	fsys, patch, fixes := r.after, &edit.Patch{}, []Fix(nil)
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
			fix, err := smallest(r.before, r.now, ch, names)
			if err != nil {
				return err
			}
			if fix == nil {
				continue
			}
			made, err := applied(ctx, fsys, fix)
			if err != nil {
				return err
			}
			if made == nil {
				continue
			}
			next, err := made.Patched(fsys)
			if err != nil {
				return err
			}
			patch, fsys = patch.Then(made), next
			fixes = append(fixes, *fix)
		}
	}
	r.leave(r.Diff)
	if len(fixes) == 0 {
		return nil
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

// asked asks the resolver for the users whom the graph of the edited catalog
// strands no more: which of them do not reach the head by the rules of v0, because
// something that is required is missing, and how many are helped all the same, or
// by the rules of v1.
func (r *helper) asked(ctx context.Context, edited *catalog.Catalog, left *diff.Diff) (needy []string, helped int, err error) {
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
			needy = append(needy, fmt.Sprintf("package %s, channel %s: who has %s: by OLM v0: %s", p.Name, s.Channel, s.Bundle, why))
			if len(s.Rules) == 1 {
				helped--
			}
		}
	}
	return needy, helped, nil
}

// applied makes the patch of a fix; nil if it cannot be written there.
func applied(ctx context.Context, fsys fs.FS, f *Fix) (*edit.Patch, error) {
	e, err := edit.Open(ctx, fsys)
	if err != nil {
		return nil, err
	}
	p, _ := e.Catalog().Package(f.Package)
	ch, _ := p.Channel(f.Channel)
	made, err := e.SetEntry(ctx, f.Package, f.Channel, skipping(ch, f))
	if err != nil {
		return nil, context.Cause(ctx)
	}
	return made, nil
}

// skipping returns the entry of a channel with what the fix adds.
func skipping(ch *catalog.Channel, f *Fix) catalog.Entry {
	at := slices.IndexFunc(ch.Entries(), func(x catalog.Entry) bool { return x.Name == f.Entry })
	entry := ch.Entries()[at]
	entry.Skips = append(slices.Clone(entry.Skips), f.Skips...)
	return entry
}

// smallest returns the fix of a channel of which no name can be left out, nil if
// none helps: of the names of stranded users, those that the head has to skip so
// that no more of them are stranded than if it skipped all.
func smallest(before, now *catalog.Catalog, ch *catalog.Channel, names []string) (*Fix, error) {
	heads := ch.Heads()
	if len(names) == 0 || len(heads) != 1 {
		return nil, nil
	}
	f := &Fix{Package: ch.Package().Name(), Channel: ch.Name(), Entry: heads[0]}
	f.Skips = names
	fewest, err := strandedWith(before, now, ch, f)
	if err != nil || fewest >= len(names) {
		return nil, err
	}
	best := names
	for i := 0; i < len(best); {
		f.Skips = slices.Delete(slices.Clone(best), i, i+1)
		left, err := strandedWith(before, now, ch, f)
		if err != nil {
			return nil, err
		}
		if left <= fewest {
			best = f.Skips
		} else {
			i++
		}
	}
	f.Skips = best
	return f, nil
}

// strandedWith counts the users of a channel that are stranded with a fix.
func strandedWith(before, now *catalog.Catalog, ch *catalog.Channel, f *Fix) (int, error) {
	entries := slices.Clone(ch.Entries())
	at := slices.IndexFunc(entries, func(x catalog.Entry) bool { return x.Name == f.Entry })
	entries[at] = skipping(ch, f)
	text, err := json.Marshal(map[string]any{"schema": catalog.SchemaChannel, "package": f.Package, "name": f.Channel, "entries": entries})
	if err != nil {
		return 0, err
	}
	made, err := catalog.NewDocument(text, ch.Document().Start())
	if err != nil {
		return 0, err
	}
	var documents []*catalog.Document
	for d := range now.Documents() {
		if d == ch.Document() {
			d = made
		}
		if d.Package() == f.Package {
			documents = append(documents, d)
		}
	}
	n := 0
	for _, s := range diff.StrandedIn(before, catalog.New(documents), f.Package, nil) {
		if s.Channel == f.Channel {
			n++
		}
	}
	return n, nil
}

// leave lists the users that a comparison still calls stranded.
func (r *Report) leave(d *diff.Diff) {
	r.Left = nil
	for _, p := range d.Packages {
		for _, s := range p.Stranded {
			r.Left = append(r.Left, fmt.Sprintf("package %s, channel %s: who has %s: %s", p.Name, s.Channel, s.Bundle, s.Why))
		}
	}
}
