package edit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/internal/doc"
)

// change is an edit being built.
type change struct {
	e       *Editor
	made    []Replacement
	texts   map[*catalog.Document]*text
	touched map[*catalog.Document]map[string]bool // the fields of it that change, in lower case
	names   map[*catalog.Document]string          // its new name
	removed map[*catalog.Document]bool
	files   map[string][]byte                     // that documents are removed from
	entries map[*catalog.Document][]catalog.Entry // what entries of a channel should become
	dropped map[*catalog.Document][]string        // entries that are removed
	added   int
}

// text returns a document's source.
func (k *change) text(d *catalog.Document) (*text, error) {
	if t := k.texts[d]; t != nil {
		return t, nil
	}
	t, err := textOf(d)
	if err == nil {
		if k.texts == nil {
			k.texts = map[*catalog.Document]*text{}
		}
		k.texts[d] = t
	}
	return t, err
}

// splice records a change of a field of a document.
func (k *change) splice(t *text, field string, s splice, err error) error {
	if err != nil || s.start == s.end && len(s.text) == 0 {
		return err
	}
	if k.touched == nil {
		k.touched = map[*catalog.Document]map[string]bool{}
	}
	if k.touched[t.doc] == nil {
		k.touched[t.doc] = map[string]bool{}
	}
	k.touched[t.doc][strings.ToLower(field)] = true
	k.replace(t.doc.Start().File, int(t.doc.Offset())+s.start, t.raw[s.start:s.end], s.text)
	return nil
}

func (k *change) replace(path string, offset int, old, now []byte) {
	k.made = append(k.made, Replacement{path, offset, string(old), string(now)})
}

// element changes a list of a document, see [text.element], and adds the list if
// it is missing.
func (k *change) element(d *catalog.Document, list string, i int, element []byte) error {
	t, err := k.text(d)
	if err != nil {
		return err
	}
	if v := t.tree.Field(list); !v.Null() {
		s, err := t.element(v, i, element)
		return k.splice(t, list, s, err)
	}
	s, err := t.member(t.tree, list, slices.Concat([]byte("["), element, []byte("]")))
	return k.splice(t, list, s, err)
}

// member sets a member of the object at a path in a document.
func (k *change) member(d *catalog.Document, key string, value []byte, path ...any) error {
	t, err := k.text(d)
	if err != nil {
		return err
	}
	owner := t.tree.At(path...)
	s, err := t.member(owner, key, value)
	field := key
	if len(path) > 0 {
		field, _ = path[0].(string)
	}
	return k.splice(t, field, s, err)
}

// setEntry adds or changes an entry of a channel. In an existing entry only what
// differs is written.
func (k *change) setEntry(p *catalog.Package, channel string, entry catalog.Entry) error {
	ch, ok := p.Channel(channel)
	if !ok {
		return fmt.Errorf("catalog: package %q has no channel %q", p.Name(), channel)
	}
	d := ch.Document()
	at := slices.IndexFunc(ch.Entries(), func(x catalog.Entry) bool { return x.Name == entry.Name })
	if at < 0 {
		k.expect(d, len(ch.Entries()), entry)
		return k.element(d, "entries", len(ch.Entries()), entryText(entry))
	}
	k.expect(d, at, entry)
	t, err := k.text(d)
	if err != nil {
		return err
	}
	old, owner := ch.Entries()[at], t.tree.Field("entries").At(at)
	for _, f := range []struct{ key, old, now string }{{"replaces", old.Replaces, entry.Replaces}, {"skipRange", old.SkipRange, entry.SkipRange}} {
		if f.old == f.now {
			continue
		}
		var value []byte
		if f.now != "" {
			value = doc.AppendText(nil, f.now)
		}
		s, err := t.member(owner, f.key, value)
		if err := k.splice(t, "entries", s, err); err != nil {
			return err
		}
	}
	return k.setSkips(t, owner, old.Skips, entry.Skips)
}

// dropEntry removes an entry from a channel.
func (k *change) dropEntry(ch *catalog.Channel, at int) error {
	if k.dropped == nil {
		k.dropped = map[*catalog.Document][]string{}
	}
	k.dropped[ch.Document()] = append(k.dropped[ch.Document()], ch.Entries()[at].Name)
	return k.element(ch.Document(), "entries", at, nil)
}

// setSkips changes the skips of an entry, one by one.
func (k *change) setSkips(t *text, owner *doc.Value, old, now []string) error {
	list := owner.Field("skips")
	gone := func(name string) bool { return !slices.Contains(now, name) }
	var add []string
	for _, name := range now {
		if !slices.Contains(old, name) {
			add = append(add, name)
		}
	}
	if list.Null() || len(list.Members) == 0 || len(now) == 0 || !slices.ContainsFunc(old, func(name string) bool { return !gone(name) }) {
		if slices.Equal(old, now) {
			return nil
		}
		var value []byte
		if len(now) > 0 {
			value = jsonText(now)
		}
		s, err := t.member(owner, "skips", value)
		return k.splice(t, "entries", s, err)
	}
	for i, name := range old {
		if gone(name) {
			s, err := t.element(list, i, nil)
			if err := k.splice(t, "entries", s, err); err != nil {
				return err
			}
		}
	}
	for _, name := range add {
		s, err := t.element(list, len(list.Members), doc.AppendText(nil, name))
		if err := k.splice(t, "entries", s, err); err != nil {
			return err
		}
	}
	return nil
}

// expect records what an entry of a channel should become.
func (k *change) expect(d *catalog.Document, at int, entry catalog.Entry) {
	if k.entries == nil {
		k.entries = map[*catalog.Document][]catalog.Entry{}
	}
	if k.entries[d] == nil {
		k.entries[d] = slices.Clone(d.Entries())
	}
	if list := k.entries[d]; at < len(list) {
		list[at] = entry
	} else {
		k.entries[d] = append(list, entry)
	}
}

// jsonText returns a value as JSON, in which < and > are not escaped.
func jsonText(value any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(err) // strings and lists of them
	}
	return bytes.TrimSpace(out.Bytes())
}

func entryText(entry catalog.Entry) []byte { return jsonText(entry) }

// undeprecate removes a deprecation, if there is one.
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

// addDocument adds a document, given as JSON, after the last one of a package,
// in the same format.
func (k *change) addDocument(p *catalog.Package, object []byte) error {
	last := p.Document()
	for d := range k.e.c.Documents() {
		if d.Package() == p.Name() && d.Start().File == last.Start().File {
			last = d
		}
	}
	var text []byte
	if last.IsYAML() {
		yaml, err := catalog.YAML(object)
		if err != nil {
			return err
		}
		text = yaml
	} else {
		var out bytes.Buffer
		if err := json.Indent(&out, object, "", "  "); err != nil {
			return err
		}
		text = out.Bytes()
	}
	return k.addBehind(last, text)
}

// addBehind adds the text of a document after another of its format.
func (k *change) addBehind(d *catalog.Document, text []byte) error {
	raw, err := d.Raw()
	if err != nil {
		return err
	}
	k.added++
	lead := "\n"
	if d.IsYAML() {
		if lead = "---\n"; !bytes.HasSuffix(raw, []byte("\n")) {
			lead = "\n---\n"
		}
	}
	k.replace(d.Start().File, int(d.Offset())+len(raw), nil, append([]byte(lead), text...))
	return nil
}

// removeDocument removes a document and the marker or line break before it.
func (k *change) removeDocument(d *catalog.Document) error {
	text, ok := k.files[d.Start().File]
	if !ok {
		var err error
		if text, err = fs.ReadFile(k.e.fsys, d.Start().File); err != nil {
			return err
		}
		if k.files == nil {
			k.files = map[string][]byte{}
		}
		k.files[d.Start().File] = text
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
	case start == 0 && bytes.HasPrefix(text[end:], []byte("\n")):
		end++
	}
	for _, r := range k.made { // what separates two documents goes once
		switch to := r.Offset + len(r.Old); {
		case r.Path != d.Start().File || r.Offset >= end || to <= start:
		case r.Offset <= start:
			start = to
		default:
			end = r.Offset
		}
	}
	if k.removed == nil {
		k.removed = map[*catalog.Document]bool{}
	}
	k.removed[d] = true
	k.replace(d.Start().File, start, text[start:end], nil)
	return nil
}

// patch returns the patch after trying it: everything else is unchanged, and
// there are no new findings.
func (k *change) patch(ctx context.Context) (*Patch, error) {
	if len(k.made) == 0 {
		return nil, errUnchanged
	}
	p := (&Patch{Changes: k.made}).Sorted()
	fsys, err := p.Patched(k.e.fsys)
	if err != nil {
		return nil, err
	}
	now, report, err := check.Reopen(ctx, k.e.c, k.e.report, fsys)
	if err != nil {
		return nil, err
	}
	for _, d := range report.Findings() {
		if !k.e.before[about(d)] {
			return nil, fmt.Errorf("catalog: the edit would make the catalog invalid: %w", d)
		}
	}
	return p, k.lossless(now)
}

var errUnchanged = errors.New("catalog: the edit changes nothing: the catalog is already like that")

// lossless reports an error if the edit changed something else.
func (k *change) lossless(now *catalog.Catalog) error {
	var r diff.Reader
	return cmp.Or(k.losesNothing(&r, now), r.Close())
}

func (k *change) losesNothing(r *diff.Reader, now *catalog.Catalog) error {
	after := slices.Collect(now.Documents())
	i, added := 0, 0
	for d := range k.e.c.Documents() {
		if k.removed[d] {
			continue
		}
		name := d.Name()
		if other, ok := k.names[d]; ok {
			name = other
		}
		for i < len(after) && (after[i].Schema() != d.Schema() || after[i].Package() != d.Package() || after[i].Name() != name) {
			i++
			added++
		}
		if i == len(after) {
			return fmt.Errorf("catalog: %s cannot be edited without losing %s", d.Start(), d.Subject())
		}
		if err := k.same(r, d, after[i]); err != nil {
			return err
		}
		i++
	}
	if added += len(after) - i; added != k.added {
		return fmt.Errorf("catalog: the edit adds %d documents, but should add %d", added, k.added)
	}
	return nil
}

// same reports an error if the edit changed something else in a document, or its
// entries are not what they should be.
func (k *change) same(r *diff.Reader, d, now *catalog.Document) error {
	if k.touched[d] == nil {
		if same, err := r.Same(d, now); err != nil || same {
			return err
		}
	}
	fields, err := r.Fields(d, now)
	if err != nil {
		return err
	}
	for _, f := range fields {
		if !k.touched[d][strings.ToLower(f)] {
			return fmt.Errorf("catalog: %s cannot be edited without also changing %s", d.Subject(), f)
		}
	}
	want := k.entries[d]
	for _, e := range now.Entries() {
		if slices.Contains(k.dropped[d], e.Name) {
			return fmt.Errorf("catalog: the entry %q cannot be removed from %s: put each of its fields on its own line", e.Name, d.Subject())
		}
	}
	made := map[string][]catalog.Entry{}
	for _, e := range now.Entries() {
		made[e.Name] = append(made[e.Name], e)
	}
	for _, e := range want {
		if !slices.Contains(k.dropped[d], e.Name) && !slices.ContainsFunc(made[e.Name], func(x catalog.Entry) bool { return sameEntry(e, x) }) {
			return fmt.Errorf("catalog: the entry %q cannot be edited in %s: put each of its fields on its own line", e.Name, d.Subject())
		}
	}
	return nil
}

// sameEntry reports whether two entries are equal. The order of skips does not
// matter.
func sameEntry(a, b catalog.Entry) bool {
	if a.Name != b.Name || a.Replaces != b.Replaces || a.SkipRange != b.SkipRange {
		return false
	}
	if slices.Equal(a.Skips, b.Skips) {
		return true
	}
	x, y := slices.Clone(a.Skips), slices.Clone(b.Skips)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(slices.Compact(x), slices.Compact(y))
}
