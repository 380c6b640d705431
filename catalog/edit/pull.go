package edit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// Pull returns the patch that merges into the catalog what another one, theirs,
// changed since a common base: a three-way merge, for fragments that teams keep
// separately. Documents are matched by schema, package and name, and merged
// field by field; entries of channels and of deprecations one by one; entries of
// channels also field by field, and their skips name by name.
//
// If both changed the same thing differently, that is a conflict: without a
// preference all conflicts are returned as a *ConflictError, whose catalogs are
// 1 for this one and 2 for theirs; with [PreferFirst] this one wins, with
// [PreferLast] theirs, and the conflicts are returned with the patch. Documents
// of other schemas are merged as a whole.
//
// Like every edit, the result is checked: two teams that both add a head to a
// channel have no conflict in a document, but the catalog is invalid.
func (e *Editor) Pull(ctx context.Context, base, theirs *catalog.Catalog, opts *MergeOptions) (*Patch, []Conflict, error) {
	m := &puller{change: &change{e: e}, ours: documentsOf(e.c), base: documentsOf(base), theirs: documentsOf(theirs)}
	if opts != nil {
		m.prefer = opts.Prefer
	}
	seen := map[mergeKey]bool{}
	for _, c := range []*catalog.Catalog{theirs, base} {
		for d := range c.Documents() {
			key := mergeKey{d.Schema(), d.Package(), d.Name()}
			if seen[key] {
				continue
			}
			seen[key] = true
			if ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
			if err := m.document(key); err != nil {
				return nil, nil, err
			}
		}
	}
	if len(m.conflicts) > 0 && m.prefer == PreferNone {
		return nil, nil, &ConflictError{m.conflicts}
	}
	if len(m.made) == 0 {
		return &Patch{}, m.conflicts, nil
	}
	p, err := m.patch(ctx)
	return p, m.conflicts, err
}

// documentsOf returns the documents of a catalog; if several have one name, the
// first counts.
func documentsOf(c *catalog.Catalog) map[mergeKey]*catalog.Document {
	all := map[mergeKey]*catalog.Document{}
	for d := range c.Documents() {
		key := mergeKey{d.Schema(), d.Package(), d.Name()}
		if all[key] == nil {
			all[key] = d
		}
	}
	return all
}

// puller is the state of a three-way merge.
type puller struct {
	*change
	prefer             Preference
	ours, base, theirs map[mergeKey]*catalog.Document
	conflicts          []Conflict
}

// theirsCounts records a conflict, and reports whether their side of it wins.
func (m *puller) theirsCounts(key mergeKey) bool {
	c := Conflict{Schema: key.schema, Package: key.pkg, Name: key.name, FirstCatalog: 1, SecondCatalog: 2}
	if d := m.ours[key]; d != nil {
		c.First = d.Start()
	}
	if d := m.theirs[key]; d != nil {
		c.Second = d.Start()
	}
	if n := len(m.conflicts); n == 0 || m.conflicts[n-1] != c {
		m.conflicts = append(m.conflicts, c)
	}
	return m.prefer == PreferLast
}

// document merges one document.
func (m *puller) document(key mergeKey) error {
	ours, base, theirs := m.ours[key], m.base[key], m.theirs[key]
	same := func(a, b *catalog.Document) (bool, error) {
		if a == nil || b == nil {
			return a == b, nil
		}
		return sameDocument(a, b)
	}
	for _, done := range [][2]*catalog.Document{{base, theirs}, {ours, theirs}} {
		if ok, err := same(done[0], done[1]); ok || err != nil {
			return err
		}
	}
	unchanged, err := same(ours, base)
	switch {
	case err != nil:
		return err
	case theirs == nil:
		if unchanged || m.theirsCounts(key) {
			return m.removeDocument(ours)
		}
		return nil
	case ours == nil:
		if unchanged || m.theirsCounts(key) {
			return m.bring(theirs)
		}
		return nil
	}
	return m.fields(key, ours, base, theirs)
}

// bring adds one of their documents.
func (m *puller) bring(d *catalog.Document) error {
	text, err := d.JSON()
	if err != nil {
		return err
	}
	if p, ok := m.e.c.Package(d.Package()); ok {
		return m.addDocument(p, text)
	}
	var last *catalog.Document // a new package: after everything else
	for other := range m.e.c.Documents() {
		last = other
	}
	if last == nil {
		return fmt.Errorf("catalog: there is no file to add %s to", d.Subject())
	}
	if last.IsYAML() {
		if text, err = catalog.YAML(text); err != nil {
			return err
		}
	}
	return m.addBehind(last, text)
}

// fields merges the fields of a document that all three have, or two.
func (m *puller) fields(key mergeKey, ours, base, theirs *catalog.Document) error {
	trees := [3]*doc.Value{}
	for i, d := range []*catalog.Document{ours, base, theirs} {
		if d == nil {
			continue
		}
		text, err := d.JSON()
		if err != nil {
			return err
		}
		trees[i] = doc.Tree(text)
	}
	var names []string
	for _, tree := range []*doc.Value{trees[2], trees[1]} {
		if tree == nil {
			continue
		}
		for _, member := range tree.Members {
			if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, member.Key) }) {
				names = append(names, member.Key)
			}
		}
	}
	for _, name := range names {
		values := [3]*doc.Value{trees[0].Field(name), trees[1].Field(name), trees[2].Field(name)}
		lists := !slices.ContainsFunc(values[:], func(v *doc.Value) bool { return v == nil || v.Kind != '[' })
		var err error
		switch {
		case lists && key.schema == catalog.SchemaChannel && strings.EqualFold(name, "entries"):
			err = m.entries(key, ours, base, theirs)
		case lists && key.schema == catalog.SchemaDeprecations && strings.EqualFold(name, "entries"):
			err = m.deprecations(key, ours, base, theirs)
		default:
			if m.takes(key, values) {
				err = m.member(ours, name, raw(values[2]))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// raw returns a value as JSON, or nil if it does not exist.
func raw(v *doc.Value) []byte {
	if v == nil {
		return nil
	}
	var out bytes.Buffer
	if json.Compact(&out, v.Raw) != nil {
		return v.Raw
	}
	return out.Bytes()
}

// takes reports whether their value replaces ours.
func (m *puller) takes(key mergeKey, values [3]*doc.Value) bool {
	form := func(v *doc.Value) string {
		if v == nil {
			return ""
		}
		return string(doc.AppendCanonical(nil, v, doc.NumbersAsWritten))
	}
	return m.chooses(key, form(values[0]), form(values[1]), form(values[2]))
}

// chooses reports whether their string replaces ours.
func (m *puller) chooses(key mergeKey, ours, base, theirs string) bool {
	switch {
	case theirs == base || theirs == ours:
		return false
	case ours == base:
		return true
	}
	return m.theirsCounts(key)
}

// entries merges the entries of a channel.
func (m *puller) entries(key mergeKey, ours, base, theirs *catalog.Document) error {
	p, _ := m.e.c.Package(key.pkg)
	find := func(d *catalog.Document, name string) *catalog.Entry {
		for i := range d.Entries() {
			if d.Entries()[i].Name == name {
				return &d.Entries()[i]
			}
		}
		return nil
	}
	same := func(a, b *catalog.Entry) bool {
		return a == nil && b == nil || a != nil && b != nil && sameEntry(*a, *b)
	}
	var names []string
	for _, d := range []*catalog.Document{theirs, base} {
		for _, e := range d.Entries() {
			if !slices.Contains(names, e.Name) {
				names = append(names, e.Name)
			}
		}
	}
	for _, name := range names {
		a, b, c := find(ours, name), find(base, name), find(theirs, name)
		if same(b, c) || same(a, c) {
			continue
		}
		var err error
		switch {
		case c == nil:
			if same(a, b) || m.theirsCounts(key) {
				ch, _ := p.Channel(key.name)
				err = m.dropEntry(ch, slices.IndexFunc(ours.Entries(), func(e catalog.Entry) bool { return e.Name == name }))
			}
		case a == nil:
			if b == nil || m.theirsCounts(key) {
				err = m.setEntry(p, key.name, *c)
			}
		default:
			if b == nil {
				b = &catalog.Entry{}
			}
			err = m.setEntry(p, key.name, m.entry(key, *a, *b, *c))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entry merges one entry field by field.
func (m *puller) entry(key mergeKey, ours, base, theirs catalog.Entry) catalog.Entry {
	if m.chooses(key, ours.Replaces, base.Replaces, theirs.Replaces) {
		ours.Replaces = theirs.Replaces
	}
	if m.chooses(key, ours.SkipRange, base.SkipRange, theirs.SkipRange) {
		ours.SkipRange = theirs.SkipRange
	}
	var skips []string
	for _, name := range ours.Skips {
		if !slices.Contains(base.Skips, name) || slices.Contains(theirs.Skips, name) {
			skips = append(skips, name)
		}
	}
	for _, name := range theirs.Skips {
		if !slices.Contains(base.Skips, name) && !slices.Contains(skips, name) {
			skips = append(skips, name)
		}
	}
	ours.Skips = skips
	return ours
}

// deprecations merges deprecations.
func (m *puller) deprecations(key mergeKey, ours, base, theirs *catalog.Document) error {
	type list struct {
		Entries []catalog.Deprecation `json:"entries"`
	}
	var all [3]list
	for i, d := range []*catalog.Document{ours, base, theirs} {
		if err := d.Decode(&all[i]); err != nil {
			return err
		}
	}
	message := func(l list, of catalog.Reference) string {
		for _, e := range l.Entries {
			if e.Reference == of {
				return "=" + e.Message
			}
		}
		return ""
	}
	done := map[catalog.Reference]bool{}
	for _, e := range slices.Concat(all[2].Entries, all[1].Entries) {
		if done[e.Reference] {
			continue
		}
		done[e.Reference] = true
		a, b, c := message(all[0], e.Reference), message(all[1], e.Reference), message(all[2], e.Reference)
		if !m.chooses(key, a, b, c) {
			continue
		}
		at, n, err := deprecationIn(ours, e.Reference)
		switch {
		case err != nil:
		case c == "":
			err = m.element(ours, "entries", at, nil)
		case at < 0:
			err = m.element(ours, "entries", n, jsonText(e))
		default:
			err = m.member(ours, "message", doc.AppendText(nil, e.Message), "entries", at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
