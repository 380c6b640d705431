package edit

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/catalog/internal/shape"
	"github.com/fairlead/fairlead/internal/doc"
)

// Preference says which catalog wins if merged catalogs disagree.
type Preference uint8

// The preferences.
const (
	PreferNone  Preference = iota // a disagreement is an error
	PreferFirst                   // the first catalog wins
	PreferLast                    // the last catalog wins
)

// MergeOptions tune merging. The zero value, and nil, are the defaults.
type MergeOptions struct {
	// Prefer says which catalog wins if they disagree. By default a disagreement
	// is an error.
	Prefer Preference
}

// Conflict is a package, channel, bundle or deprecations document that differs
// between two catalogs.
type Conflict struct {
	Schema  string           `json:"schema"`  // what it is
	Package string           `json:"package"` // whose it is
	Name    string           `json:"name"`    // its name; "" for deprecations
	First   catalog.Position `json:"first"`   // where one catalog has it
	Second  catalog.Position `json:"second"`  // where a later one has it

	FirstCatalog  int `json:"firstCatalog"`  // which catalog First is of, counted from 1 as merged
	SecondCatalog int `json:"secondCatalog"` // which one Second is of
}

// String returns the conflict in one line.
func (c Conflict) String() string {
	subject := strings.TrimPrefix(c.Schema, "olm.")
	if c.Name != "" {
		subject += " " + strconv.Quote(c.Name)
	}
	if c.Schema != catalog.SchemaPackage {
		subject = "package " + strconv.Quote(c.Package) + ", " + subject
	}
	return fmt.Sprintf("%s differs: catalog %d has it at %s, catalog %d at %s",
		subject, c.FirstCatalog, c.First, c.SecondCatalog, c.Second)
}

// ConflictError holds the conflicts of catalogs that cannot be merged, in the
// order in which they were found.
type ConflictError struct {
	Conflicts []Conflict // at least one
}

// Error returns the first conflict and how many more there are.
func (e *ConflictError) Error() string {
	text := "catalog: merge: " + e.Conflicts[0].String()
	if n := len(e.Conflicts) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text + "; say which of the catalogs to prefer"
}

// Merge returns a catalog of all documents of several ones.
//
// A package, channel, bundle or deprecations document that two of them have is
// included once if both are equal, by the comparison of [diff.Fields]. Otherwise
// it is a conflict: without a preference all conflicts are returned as a
// *ConflictError; with one, the document of the preferred catalog wins, and the
// conflicts are returned with the result. Documents of other schemas are all
// kept, without duplicates. Channels are not merged: an entry comes with its
// whole channel.
//
// Without conflicts the order of the catalogs does not change the content of the
// result. The result may be invalid: validate it. Only documents that two
// catalogs have are read. Other errors are those of ctx and of reading.
func Merge(ctx context.Context, opts *MergeOptions, catalogs ...*catalog.Catalog) (*catalog.Catalog, []Conflict, error) {
	m := &merger{seen: map[mergeKey]*merged{}}
	if opts != nil {
		m.prefer = opts.Prefer
	}
	for i, c := range catalogs {
		m.catalog = i + 1
		for d := range c.Documents() {
			if ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
			if err := m.document(&merged{d, m.catalog}); err != nil {
				return nil, nil, err
			}
		}
	}
	if len(m.conflicts) > 0 && m.prefer == PreferNone {
		return nil, nil, &ConflictError{m.conflicts}
	}
	k := &composer{}
	for _, d := range m.order {
		k.keep(d.doc)
	}
	return k.catalog(), m.conflicts, nil
}

type mergeKey struct{ schema, pkg, name string }

// merged is a document that is in the result.
type merged struct {
	doc     *catalog.Document
	catalog int // whose it is, counted from 1
}

type merger struct {
	prefer    Preference
	catalog   int // the one that is read, counted from 1
	seen      map[mergeKey]*merged
	order     []*merged
	conflicts []Conflict
}

// document adds one document. For a known schema there is one of each name.
func (m *merger) document(d *merged) error {
	key := mergeKey{d.doc.Schema(), d.doc.Package(), d.doc.Name()}
	first := m.seen[key]
	if first == nil {
		m.seen[key] = d
		m.order = append(m.order, d)
		return nil
	}
	same, err := sameDocument(first.doc, d.doc)
	switch {
	case err != nil:
		return err
	case same:
	case shape.Schema(key.schema) == nil:
		m.order = append(m.order, d)
	default:
		m.conflicts = append(m.conflicts, Conflict{key.schema, key.pkg, key.name, first.doc.Start(), d.doc.Start(), first.catalog, d.catalog})
		if m.prefer == PreferLast {
			*first = *d
		}
	}
	return nil
}

// sameDocument reports whether two documents have the same content.
func sameDocument(a, b *catalog.Document) (bool, error) {
	if shape.Schema(a.Schema()) != nil {
		fields, err := diff.Fields(a, b)
		return len(fields) == 0, err
	}
	old, err := a.JSON()
	if err != nil {
		return false, err
	}
	now, err := b.JSON()
	if err != nil {
		return false, err
	}
	return bytes.Equal(doc.AppendCanonical(nil, doc.Tree(old), doc.NumbersAsWritten), doc.AppendCanonical(nil, doc.Tree(now), doc.NumbersAsWritten)), nil
}
