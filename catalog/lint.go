package catalog

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/near"
)

// Lint looks for what is allowed but likely a mistake, or likely to become
// one, and returns it sorted by position. With codes, only those lints are
// looked for; see [Lints].
//
// Lints expect a catalog that is valid: of an invalid one they may miss
// things, but they do not report what validation does. Some lints read
// all documents. The error is that of ctx or of reading.
func (c *Catalog) Lint(ctx context.Context, codes ...Code) (Diagnostics, error) {
	if len(codes) == 0 {
		codes = Lints()
	}
	l := &linter{c: c, on: map[Code]bool{}}
	for _, code := range codes {
		l.on[code] = true
	}
	for _, p := range c.packages {
		if err := l.pkg(p); err != nil {
			return nil, err
		}
	}
	if l.on[LintImageReuse] {
		l.imageReuse()
	}
	if slices.ContainsFunc(codes, readsText) {
		if err := l.documents(ctx); err != nil {
			return nil, err
		}
	}
	return placed(l.found), nil
}

// WithWarnings returns the report with the findings of lints beside it.
func (r *Report) WithWarnings(lints Diagnostics) *Report {
	with := *r
	with.warnings = slices.Concat(r.warnings, lints).Sorted()
	return &with
}

type linter struct {
	c     *Catalog
	on    map[Code]bool
	mu    sync.Mutex
	found []finding
}

// add notes advice about a place in a document, if it is asked for.
func (l *linter) add(code Code, d *Document, path []any, message, hint string) {
	if !l.on[code] {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found = append(l.found, finding{
		d: &Diagnostic{Pos: d.start, Code: code, Subject: d.subject(), Message: message, Hint: hint}, doc: d, path: path,
	})
}

// readsText reports whether a lint needs the text of documents.
func readsText(code Code) bool {
	switch code {
	case LintField, LintSchema, LintOrphan, LintRelatedImage, LintImageTag, LintCSVName, LintFeature, LintTokenPermissions, LintAPI, LintPayload:
		return true
	}
	return false
}

// documents lints every document by its text, with several workers.
func (l *linter) documents(ctx context.Context) error {
	var pending []*Document
	for d := range l.c.Documents() {
		pending = append(pending, d)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(l.c.opts.Workers, len(pending)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(pending) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := l.document(pending[i]); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

func (l *linter) document(d *Document) error {
	want, known := shapes[d.schema]
	if !known {
		l.other(d)
		return nil
	}
	loaded, err := d.load()
	if err != nil {
		return err
	}
	if l.on[LintField] {
		l.fields(d, loaded.Root(), loaded, &want, nil)
	}
	if d.schema == SchemaBundle {
		l.bundleText(d, loaded)
	}
	return nil
}

// other lints a document of a schema that is not known.
func (l *linter) other(d *Document) {
	if strings.HasPrefix(d.schema, "olm.") {
		l.add(LintSchema, d, at("schema"), "names that begin with olm. are reserved, and "+strconv.Quote(d.schema)+" is none that is known",
			"use a prefix of your own, such as a domain")
	}
	if _, ok := l.c.Package(d.pkg); d.pkg != "" && !ok {
		l.add(LintOrphan, d, at("package"), "there is no package "+strconv.Quote(d.pkg)+" in the catalog", "correct the name, or remove the document")
	}
}

// headFields are the fields that every document may have, by schema.
func headFields(schema string) []string {
	switch schema {
	case SchemaPackage:
		return []string{"schema", "name"}
	case SchemaDeprecations:
		return []string{"schema", "package"}
	}
	return []string{"schema", "package", "name"}
}

// fields reports members that the shape of a document does not have.
func (l *linter) fields(d *Document, members func(func(doc.Node) bool), loaded *doc.Document, want *shape, path []any) {
	for n := range members {
		key := string(loaded.Key(n))
		f := want.field([]byte(key))
		here := append(slices.Clone(path), key)
		head := headFields(d.schema)
		switch {
		case len(path) == 0 && slices.ContainsFunc(head, func(h string) bool { return strings.EqualFold(h, key) }):
		case f == nil:
			names := slices.Clone(head)
			if len(path) > 0 {
				names = nil
			}
			for _, f := range want.fields {
				names = append(names, f.name)
			}
			hint := "remove it, or move it to a document of a schema of your own"
			if nearest := near.Nearest(key, names); nearest != "" {
				hint = "is " + nearest + " meant? " + hint
			}
			l.add(LintField, d, here, "readers of catalogs know no field "+strconv.Quote(key)+" here, and leave it out", hint)
		case f.kind == '{':
			l.fields(d, loaded.Children(n), loaded, &f.shape, here)
		case f.kind == '[' && f.elem.kind == '{':
			i := 0
			for e := range loaded.Children(n) {
				l.fields(d, loaded.Children(e), loaded, f.elem, append(slices.Clone(here), i))
				i++
			}
		}
	}
}
