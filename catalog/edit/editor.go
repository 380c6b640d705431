package edit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/internal/doc"
)

// Editor changes a catalog as its authors keep it: what an edit does not speak
// of stays byte for byte, comments included. Each method returns a [Patch] of
// the catalog as it was opened, or says why it cannot be made: the thing is not
// there, the catalog would not be valid any more, or the place is written in a
// way that cannot be edited without touching something else.
//
// An Editor does not change and may be used by many goroutines. Each edit reads
// the documents that it changes and judges the catalog that it leads to.
type Editor struct {
	fsys   fs.FS
	c      *catalog.Catalog
	before map[string]bool // what is wrong with the catalog already
}

// Open opens the catalog in fsys for editing. What is wrong with it is no
// obstacle, unless it keeps documents from being read: edits may mend it, and
// must not add to it.
func Open(ctx context.Context, fsys fs.FS) (*Editor, error) {
	c, report, err := check.Open(ctx, fsys, nil)
	if err != nil {
		return nil, err
	}
	if err := c.Faults().Err(); err != nil {
		return nil, err
	}
	e := &Editor{fsys: fsys, c: c, before: map[string]bool{}}
	for _, d := range report.Findings() {
		e.before[complaint(d)] = true
	}
	return e, nil
}

// complaint is what tells findings apart when lines have moved.
func complaint(d *catalog.Diagnostic) string {
	return string(d.Code) + "\x00" + d.Subject + "\x00" + d.Message
}

// Catalog returns the catalog as it was opened.
func (e *Editor) Catalog() *catalog.Catalog { return e.c }

// Placement puts a bundle into a channel.
type Placement struct {
	Channel string        // that has to be there
	Entry   catalog.Entry // of the bundle; the name may be left out
}

// AddBundle adds an olm.bundle document, as JSON, behind the last document of
// its package, and an entry for it to each channel.
func (e *Editor) AddBundle(ctx context.Context, bundle []byte, places ...Placement) (*Patch, error) {
	made, err := catalog.NewDocument(bundle, catalog.Position{})
	if err != nil {
		return nil, err
	}
	p, ok := e.c.Package(made.Package())
	if !ok || made.Schema() != catalog.SchemaBundle {
		return nil, fmt.Errorf("catalog: there is no package %q to add %s to: begin it with an olm.package document", made.Package(), made.Subject())
	}
	k := &change{e: e}
	if err := k.addDocument(p, bundle); err != nil {
		return nil, err
	}
	for _, place := range places {
		entry := place.Entry
		entry.Name = cmp.Or(entry.Name, made.Name())
		if err := k.setEntry(p, place.Channel, entry); err != nil {
			return nil, err
		}
	}
	return k.patch(ctx)
}

// SetEntry adds an entry to a channel, or changes the one of that name; other
// fields that it has stay.
func (e *Editor) SetEntry(ctx context.Context, pkg, channel string, entry catalog.Entry) (*Patch, error) {
	p, err := e.pkg(pkg)
	if err != nil {
		return nil, err
	}
	k := &change{e: e}
	if err := k.setEntry(p, channel, entry); err != nil {
		return nil, err
	}
	return k.patch(ctx)
}

// RemoveBundle removes a bundle's document, its entries and what is deprecated
// of it. Who has it installed is updated as before: what replaced or skipped it
// goes on doing so, and the entries that replaced it skip what it replaced, too,
// unless its own entry led nowhere.
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
		if err := k.element(ch.Document(), "entries", at, nil); err != nil {
			return nil, err
		}
		for _, x := range ch.Entries() {
			if x.Replaces == name && gone.Replaces != "" {
				x.Replaces, x.Skips = gone.Replaces, append(slices.Clone(x.Skips), name)
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

// Deprecate says that a package, channel or bundle should not be used any more,
// or changes what is said of it.
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
			at = n
		}
		if err := k.element(d, "entries", at, entry); err != nil {
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

// Undeprecate takes back that something should not be used any more.
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
	return nil, fmt.Errorf("catalog: there is no package %q in the catalog", name)
}

// change is an edit in the making.
type change struct {
	e       *Editor
	made    []Replacement
	touched map[*catalog.Document]string // the list of it that changes
	removed map[*catalog.Document]bool
	added   int
}

// element changes a list of a document, see text.element.
func (k *change) element(d *catalog.Document, list string, i int, element []byte) error {
	t, err := textOf(d)
	if err != nil {
		return err
	}
	s, err := t.element(list, i, element)
	if err != nil {
		return err
	}
	if k.touched == nil {
		k.touched = map[*catalog.Document]string{}
	}
	k.touched[d] = list
	k.replace(d.Start().File, int(d.Offset())+s.start, t.raw[s.start:s.end], s.text)
	return nil
}

func (k *change) replace(path string, offset int, old, now []byte) {
	k.made = append(k.made, Replacement{path, offset, string(old), string(now)})
}

// setEntry adds or changes an entry of a channel.
func (k *change) setEntry(p *catalog.Package, channel string, entry catalog.Entry) error {
	ch, ok := p.Channel(channel)
	if !ok {
		return fmt.Errorf("catalog: package %q has no channel %q", p.Name(), channel)
	}
	at := slices.IndexFunc(ch.Entries(), func(x catalog.Entry) bool { return x.Name == entry.Name })
	var other []byte // members that entries of this module do not have
	if at >= 0 {
		t, err := textOf(ch.Document())
		if err != nil {
			return err
		}
		list := t.tree.Field("entries")
		for i := range list.Members[at].Members {
			switch m := &list.Members[at].Members[i]; strings.ToLower(m.Key) {
			case "name", "replaces", "skips", "skiprange":
			default:
				other = append(append(append(append(other, ", "...), doc.AppendText(nil, m.Key)...), ": "...), m.Raw...)
			}
		}
	} else {
		at = len(ch.Entries())
	}
	element, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	element = bytes.ReplaceAll(element, []byte(`\u003c`), []byte("<"))
	element = bytes.ReplaceAll(element, []byte(`\u003e`), []byte(">"))
	return k.element(ch.Document(), "entries", at, append(append(element[:len(element)-1], other...), '}'))
}

// undeprecate removes the deprecation of something, if there is one.
func (k *change) undeprecate(p *catalog.Package, what catalog.Reference) error {
	for d := range p.DeprecationDocuments() {
		at, n, err := deprecationIn(d, what)
		switch {
		case err != nil:
			return err
		case at < 0:
		case n == 1:
			return k.removeDocument(d)
		default:
			return k.element(d, "entries", at, nil)
		}
	}
	return nil
}

// deprecationIn finds a deprecation in a document, and how many there are.
func deprecationIn(d *catalog.Document, what catalog.Reference) (at, n int, err error) {
	var list struct {
		Entries []catalog.Deprecation `json:"entries"`
	}
	if err := d.Decode(&list); err != nil {
		return -1, 0, err
	}
	return slices.IndexFunc(list.Entries, func(x catalog.Deprecation) bool { return x.Reference == what }), len(list.Entries), nil
}

// addDocument adds a document, as JSON, behind the last one of a package, in
// the format of that.
func (k *change) addDocument(p *catalog.Package, object []byte) error {
	last := p.Document()
	for d := range k.e.c.Documents() {
		if d.Package() == p.Name() && d.Start().File == last.Start().File {
			last = d
		}
	}
	raw, err := last.Raw()
	if err != nil {
		return err
	}
	at, path := int(last.Offset())+len(raw), last.Start().File
	k.added++
	if last.IsYAML() {
		yaml, err := catalog.YAML(object)
		if err != nil {
			return err
		}
		lead := "---\n"
		if !bytes.HasSuffix(raw, []byte("\n")) {
			lead = "\n---\n"
		}
		k.replace(path, at, nil, append([]byte(lead), yaml...))
		return nil
	}
	var out bytes.Buffer
	out.WriteByte('\n')
	if err := json.Indent(&out, object, "", "  "); err != nil {
		return err
	}
	k.replace(path, at, nil, out.Bytes())
	return nil
}

// removeDocument removes a document with the marker or the line break before it.
func (k *change) removeDocument(d *catalog.Document) error {
	text, err := fs.ReadFile(k.e.fsys, d.Start().File)
	if err != nil {
		return err
	}
	start, end := int(d.Offset()), int(d.Offset())+d.Size()
	if end > len(text) {
		return fmt.Errorf("catalog: %s has changed: open the catalog again", d.Start().File)
	}
	before := text[:start]
	switch {
	case bytes.HasSuffix(before, []byte("\n---\n")) || string(before) == "---\n":
		start -= len("---\n")
	case !d.IsYAML() && bytes.HasSuffix(before, []byte("\n")):
		start--
	}
	if k.removed == nil {
		k.removed = map[*catalog.Document]bool{}
	}
	k.removed[d] = true
	k.replace(d.Start().File, start, text[start:end], nil)
	return nil
}

// patch returns the patch, once it is tried: all else is as before, and nothing
// is wrong that was not before.
func (k *change) patch(ctx context.Context) (*Patch, error) {
	p := (&Patch{Changes: k.made}).Sorted()
	fsys, err := p.Patched(k.e.fsys)
	if err != nil {
		return nil, err
	}
	now, report, err := check.Open(ctx, fsys, nil)
	if err != nil {
		return nil, err
	}
	for _, d := range report.Findings() {
		if !k.e.before[complaint(d)] {
			return nil, fmt.Errorf("catalog: the edit would make the catalog invalid: %w", d)
		}
	}
	return p, k.lossless(now)
}

// lossless reports an error if the edit changed what it does not speak of.
func (k *change) lossless(now *catalog.Catalog) error {
	after := slices.Collect(now.Documents())
	i, added := 0, 0
	for d := range k.e.c.Documents() {
		if k.removed[d] {
			continue
		}
		for i < len(after) && (after[i].Schema() != d.Schema() || after[i].Package() != d.Package() || after[i].Name() != d.Name()) {
			i++
			added++
		}
		if i == len(after) {
			return fmt.Errorf("catalog: %s cannot be edited without losing %s", d.Start(), d.Subject())
		}
		fields, err := diff.Fields(d, after[i])
		if err != nil {
			return err
		}
		for _, f := range fields {
			if !strings.EqualFold(f, k.touched[d]) {
				return fmt.Errorf("catalog: %s cannot be edited without changing %s, too", d.Subject(), f)
			}
		}
		i++
	}
	if added += len(after) - i; added != k.added {
		return fmt.Errorf("catalog: the edit adds %d documents and should add %d", added, k.added)
	}
	return nil
}
