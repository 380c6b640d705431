package edit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/semverx"
)

// compose builds the catalog of what is kept.
func (f *filter) compose(ctx context.Context) (*catalog.Catalog, error) {
	k := &composer{}
	for p := range f.c.Packages() {
		kept := f.packages[p.Name()]
		if kept == nil {
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if len(kept.channels) == 0 {
			f.report.Dropped = append(f.report.Dropped, Change{Package: p.Name(), Why: "nothing of it is left"})
			delete(f.packages, p.Name())
			continue
		}
		f.report.Packages++
		if err := f.composePackage(k, kept); err != nil {
			return nil, err
		}
	}
	for d := range f.c.Others() {
		if d.Package() == "" || f.packages[d.Package()] != nil {
			k.keep(d)
		}
	}
	return k.catalog(), nil
}

func (f *filter) composePackage(k *composer, kept *keptPackage) error {
	p := kept.pkg
	if err := f.composeHead(k, kept); err != nil {
		return err
	}
	for ch := range p.Channels() {
		entries := kept.channels[ch.Name()]
		whole := !slices.ContainsFunc(ch.Entries(), func(e catalog.Entry) bool { return !entries[e.Name] })
		var err error
		switch {
		case len(entries) == 0:
		case whole:
			k.keep(ch.Document())
		default:
			err = k.edit(ch.Document(), func(v *doc.Value) []edit {
				return []edit{keepElements(v.Field("entries"), func(i int, _ *doc.Value) bool { return entries[ch.Entries()[i].Name] })}
			})
		}
		if err != nil {
			return err
		}
	}
	for b := range p.Bundles() {
		if kept.bundle(b.Name()) {
			f.report.Bundles++
			k.keep(b.Document())
		}
	}
	for d := range p.DeprecationDocuments() {
		if err := f.composeDeprecations(k, kept, d); err != nil {
			return err
		}
	}
	return nil
}

// composeHead keeps the olm.package document, with another default channel if
// the old one is not kept.
func (f *filter) composeHead(k *composer, kept *keptPackage) error {
	p, name := kept.pkg, kept.defaultChannel
	if kept.channels[name] == nil {
		name = p.DefaultChannel()
	}
	if kept.channels[name] == nil {
		name = kept.highestChannel()
	}
	if name == p.DefaultChannel() {
		k.keep(p.Document())
		return nil
	}
	why := fmt.Sprintf("it is now the default channel instead of %q", p.DefaultChannel())
	if asked := kept.defaultChannel; asked != "" && asked != name {
		why += fmt.Sprintf("; %q, which was requested, is not kept", asked)
	}
	f.report.Changed = append(f.report.Changed, Change{p.Name(), name, "", why})
	text, err := json.Marshal(name)
	if err != nil {
		return err
	}
	return k.edit(p.Document(), func(v *doc.Value) []edit {
		if old := v.Field("defaultChannel"); old != nil {
			return []edit{{old.Offset, old.Offset + len(old.Raw), text}}
		}
		return []edit{{v.Offset + 1, v.Offset + 1, append(append([]byte(`"defaultChannel":`), text...), ',')}}
	})
}

// highestChannel returns the channel whose head has the highest version;
// among equals, the first by name.
func (k *keptPackage) highestChannel() string {
	best, bestVersion := "", semverx.Version{}
	for ch := range k.pkg.Channels() {
		entries := k.channels[ch.Name()]
		if len(entries) == 0 {
			continue
		}
		if _, v := newChain(ch).head(entries); best == "" || v.Compare(bestVersion) > 0 {
			best, bestVersion = ch.Name(), v
		}
	}
	return best
}

// composeDeprecations keeps the deprecations of what is kept.
func (f *filter) composeDeprecations(k *composer, kept *keptPackage, d *catalog.Document) error {
	var list struct {
		Entries []catalog.Deprecation `json:"entries"`
	}
	if err := d.Decode(&list); err != nil {
		return err
	}
	stays := func(i int, _ *doc.Value) bool {
		switch r := list.Entries[i].Reference; r.Schema {
		case catalog.SchemaChannel:
			return len(kept.channels[r.Name]) > 0
		case catalog.SchemaBundle:
			return kept.bundle(r.Name)
		}
		return true
	}
	n := 0
	for i := range list.Entries {
		if stays(i, nil) {
			n++
		}
	}
	switch n {
	case len(list.Entries):
		k.keep(d)
		return nil
	case 0:
		return nil
	}
	return k.edit(d, func(v *doc.Value) []edit { return []edit{keepElements(v.Field("entries"), stays)} })
}

// sort sorts the report and removes duplicates.
func (r *FilterReport) sort() {
	for _, list := range []*[]Change{&r.Added, &r.Dropped, &r.Changed, &r.Unmet} {
		slices.SortFunc(*list, func(a, b Change) int {
			return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.Bundle, b.Bundle), cmp.Compare(a.Why, b.Why))
		})
		*list = slices.Compact(*list)
	}
}
