package edit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/internal/semverx"
)

// Editor changes a catalog in its source files: everything else in them stays
// byte for byte, including comments. Each method returns a [Patch] of the
// catalog as it was opened, or an error: the subject does not exist, the catalog
// would become invalid, or the file is written in a way that cannot be edited
// without changing something else.
//
// An Editor does not change and may be used by many goroutines. Each edit reads
// the documents that it changes, and the files that they are in, and checks the
// packages that it changes, in the resulting catalog.
type Editor struct {
	fsys   fs.FS
	c      *catalog.Catalog
	report *check.Report
	before map[string]bool // what is already wrong with the catalog
}

// Open opens the catalog in fsys for editing. It may be invalid, as long as all
// documents can be read: edits may fix faults, but must not add any.
func Open(ctx context.Context, fsys fs.FS) (*Editor, error) {
	c, report, err := check.Open(ctx, fsys, nil)
	if err != nil {
		return nil, err
	}
	return New(fsys, c, report)
}

// New is [Open] for a catalog that was opened from fsys, and judged, before.
func New(fsys fs.FS, c *catalog.Catalog, report *check.Report) (*Editor, error) {
	if err := c.Faults().Err(); err != nil {
		return nil, err
	}
	e := &Editor{fsys: fsys, c: c, report: report, before: map[string]bool{}}
	for _, d := range append(report.Findings(), report.Hidden()...) {
		e.before[about(d)] = true
	}
	return e, nil
}

// about identifies a fault: of those that a channel has once, an edit may change how it is told.
func about(d *catalog.Diagnostic) string {
	switch d.Code {
	case check.CodeNoHead, check.CodeMultipleHeads, check.CodeReplacesCycle, check.CodeStrandedBundle:
		return string(d.Code) + "\x00" + d.Subject
	}
	return complaint(d)
}

// complaint identifies a finding when lines have moved.
func complaint(d *catalog.Diagnostic) string {
	return string(d.Code) + "\x00" + d.Subject + "\x00" + d.Message
}

// Catalog returns the catalog as it was opened.
func (e *Editor) Catalog() *catalog.Catalog { return e.c }

// Placement puts a bundle into a channel.
type Placement struct {
	Channel string        // which must exist
	Entry   catalog.Entry // for the bundle; the name may be omitted
}

// AddBundle adds an olm.bundle document, given as JSON, after the last document
// of its package, and an entry for it to each channel. An entry that replaces
// nothing replaces the head, if that has a lower version and the entry does not
// skip it. (What a bundle's CSV states is bundle.Bundle.Entry.)
func (e *Editor) AddBundle(ctx context.Context, bundle []byte, places ...Placement) (*Patch, error) {
	made, err := catalog.NewDocument(bundle, catalog.Position{})
	if err != nil {
		return nil, err
	}
	p, ok := e.c.Package(made.Package())
	if !ok || made.Schema() != catalog.SchemaBundle {
		return nil, fmt.Errorf("catalog: there is no package %q to add %s to: create it with an olm.package document", made.Package(), made.Subject())
	}
	if b, ok := p.Bundle(made.Name()); ok {
		return nil, fmt.Errorf("catalog: package %q already has a bundle %q, at %s: remove that one first", p.Name(), made.Name(), b.Document().Pos())
	}
	k := &change{e: e}
	if err := k.addDocument(p, bundle); err != nil {
		return nil, err
	}
	for _, place := range places {
		entry := place.Entry
		entry.Name = cmp.Or(entry.Name, made.Name())
		if ch, ok := p.Channel(place.Channel); ok && entry.Replaces == "" {
			entry.Replaces = replaced(ch, made, entry)
		}
		if err := k.setEntry(p, place.Channel, entry); err != nil {
			return nil, err
		}
	}
	return k.patch(ctx)
}

// SetEntry adds an entry to a channel, or changes the one of that name; its
// other fields stay.
func (e *Editor) SetEntry(ctx context.Context, pkg, channel string, entry catalog.Entry) (*Patch, error) {
	return e.SetEntries(ctx, EntryEdit{pkg, channel, entry})
}

// EntryEdit is an entry of a channel as it shall be.
type EntryEdit struct {
	Package string        // whose
	Channel string        // of the package, which must exist
	Entry   catalog.Entry // what it becomes
}

// SetEntries does for several entries at once what [Editor.SetEntry] does for one.
func (e *Editor) SetEntries(ctx context.Context, edits ...EntryEdit) (*Patch, error) {
	k := &change{e: e}
	for _, x := range edits {
		p, err := e.pkg(x.Package)
		if err == nil {
			err = k.setEntry(p, x.Channel, x.Entry)
		}
		if err != nil {
			return nil, err
		}
	}
	return k.patch(ctx)
}

// RemoveBundle removes a bundle's document, entries and deprecations. Users who
// have it installed are updated as before: what replaced or skipped it still
// does, and the entries that replaced it also skip what it replaced, unless its
// own entry led nowhere.
func (e *Editor) RemoveBundle(ctx context.Context, pkg, name string) (*Patch, error) {
	p, err := e.pkg(pkg)
	if err != nil {
		return nil, err
	}
	b, ok := p.Bundle(name)
	if !ok {
		return nil, fmt.Errorf("catalog: package %q has no bundle %q", pkg, name)
	}
	k := &change{e: e}
	if err := k.removeDocument(b.Document()); err != nil {
		return nil, err
	}
	for ch := range p.Channels() {
		at := slices.IndexFunc(ch.Entries(), func(x catalog.Entry) bool { return x.Name == name })
		if at < 0 {
			continue
		}
		gone := ch.Entries()[at]
		if err := k.dropEntry(ch, at); err != nil {
			return nil, err
		}
		for _, x := range ch.Entries() {
			if x.Replaces == name && gone.Replaces != "" {
				x.Replaces = gone.Replaces
				if !slices.Contains(x.Skips, name) {
					x.Skips = append(slices.Clone(x.Skips), name)
				}
				if err := k.setEntry(p, ch.Name(), x); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := k.undeprecate(p, catalog.Reference{Schema: catalog.SchemaBundle, Name: name}); err != nil {
		return nil, err
	}
	return k.patch(ctx)
}

// RemovePackage removes all documents that belong to a package. Its users get no updates any
// more: deprecate it first, as long as there are any.
func (e *Editor) RemovePackage(ctx context.Context, pkg string) (*Patch, error) {
	if _, err := e.pkg(pkg); err != nil {
		return nil, err
	}
	k := &change{e: e}
	for d := range e.c.Documents() {
		if d.Package() == pkg {
			if err := k.removeDocument(d); err != nil {
				return nil, err
			}
		}
	}
	return k.patch(ctx)
}

// Deprecate deprecates a package, channel or bundle, or changes the message.
func (e *Editor) Deprecate(ctx context.Context, pkg string, what catalog.Reference, message string) (*Patch, error) {
	p, err := e.pkg(pkg)
	if err != nil {
		return nil, err
	}
	k := &change{e: e}
	entry, err := json.Marshal(catalog.Deprecation{Reference: what, Message: message})
	if err != nil {
		return nil, err
	}
	for d := range p.DeprecationDocuments() {
		at, n, err := deprecationIn(d, what)
		if err != nil {
			return nil, err
		}
		if at < 0 {
			err = k.element(d, "entries", n, entry)
		} else {
			text, _ := json.Marshal(message)
			err = k.member(d, "message", text, "entries", at)
		}
		if err != nil {
			return nil, err
		}
		return k.patch(ctx)
	}
	name, err := json.Marshal(pkg)
	if err != nil {
		return nil, err
	}
	if err := k.addDocument(p, fmt.Appendf(nil, `{"schema": "olm.deprecations", "package": %s, "entries": [%s]}`, name, entry)); err != nil {
		return nil, err
	}
	return k.patch(ctx)
}

// Undeprecate removes a deprecation.
func (e *Editor) Undeprecate(ctx context.Context, pkg string, what catalog.Reference) (*Patch, error) {
	p, err := e.pkg(pkg)
	if err != nil {
		return nil, err
	}
	k := &change{e: e}
	if err := k.undeprecate(p, what); err != nil {
		return nil, err
	}
	if len(k.made) == 0 {
		return nil, fmt.Errorf("catalog: package %q does not deprecate %s", pkg, what)
	}
	return k.patch(ctx)
}

func (e *Editor) pkg(name string) (*catalog.Package, error) {
	if p, ok := e.c.Package(name); ok {
		return p, nil
	}
	return nil, fmt.Errorf("catalog: there is no package %q in the catalog%s", name, meant(e.c, name))
}

// replaced returns the head of a channel if a new bundle should replace it.
func replaced(ch *catalog.Channel, made *catalog.Document, entry catalog.Entry) string {
	heads := ch.Heads()
	if len(heads) != 1 || slices.Contains(entry.Skips, heads[0]) {
		return ""
	}
	old, now := semverx.Tolerant(ch.Package().Version(heads[0])), semverx.Version{}
	for _, p := range made.PropertyIndex() {
		var v struct {
			Version string `json:"version"`
		}
		if p.Type == catalog.PropertyPackage && decodes(p.Value, &v) {
			now = semverx.Tolerant(v.Version)
		}
	}
	if old.IsZero() || now.IsZero() || old.Compare(now) >= 0 {
		return ""
	}
	return heads[0]
}
