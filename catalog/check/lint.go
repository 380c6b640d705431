package check

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/shape"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/words"
)

// Lint reports what is allowed but likely a mistake, or likely to become one,
// sorted by position. With codes, only those lints run; see [Lints].
//
// Lints expect a valid catalog: in an invalid one they may miss things, but
// they do not report what validation does. Some lints read all documents. The
// error is that of ctx or of reading.
func Lint(ctx context.Context, c *catalog.Catalog, codes ...catalog.Code) (catalog.Diagnostics, error) {
	if len(codes) == 0 {
		codes = Lints()
	}
	l := &linter{c: c, on: map[catalog.Code]bool{}}
	for _, code := range codes {
		l.on[code] = true
	}
	for p := range c.Packages() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := l.pkg(ctx, p); err != nil {
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
	return placed(ctx, l.found)
}

// WithWarnings returns the report with the findings of lints beside it.
func (r *Report) WithWarnings(lints catalog.Diagnostics) *Report {
	with := *r
	with.warnings = slices.Concat(r.warnings, lints).Sorted()
	return &with
}

type linter struct {
	c     *catalog.Catalog
	on    map[catalog.Code]bool
	mu    sync.Mutex
	found []finding
}

// add records advice about a place in a document, if the lint was asked for.
func (l *linter) add(code catalog.Code, d *catalog.Document, path []any, message, hint string) {
	l.addBeside(code, d, path, message, catalog.Position{}, hint)
}

// addBeside adds a finding whose message ends with another place.
func (l *linter) addBeside(code catalog.Code, d *catalog.Document, path []any, message string, also catalog.Position, hint string) {
	if !l.on[code] {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found = append(l.found, finding{
		d: &catalog.Diagnostic{Pos: d.Start(), Code: code, Subject: d.Subject(), Message: message, Also: also, Hint: hint}, doc: d, path: path,
	})
}

// readsText reports whether a lint needs the text of documents.
func readsText(code catalog.Code) bool {
	switch code {
	case LintField, LintSchema, LintOrphan, LintRelatedImage, LintImageTag, LintCSVName, LintFeature, LintTokenPermissions, LintAPI, LintPayload:
		return true
	}
	return false
}

// documents lints the text of every document, with several workers.
func (l *linter) documents(ctx context.Context) error {
	var pending []*catalog.Document
	for d := range l.c.Documents() {
		pending = append(pending, d)
	}
	return share(ctx, runtime.GOMAXPROCS(0), len(pending), func() func(int) error {
		return func(i int) error { return l.document(pending[i]) }
	})
}

func (l *linter) document(d *catalog.Document) error {
	want := shape.Schema(d.Schema())
	if want == nil {
		l.other(d)
		return nil
	}
	loaded, err := doc.Reload(d)
	if err != nil {
		return err
	}
	if l.on[LintField] {
		l.fields(d, loaded.Root(), loaded, want, nil)
	}
	if d.Schema() == catalog.SchemaBundle {
		l.bundleText(d, loaded)
	}
	return nil
}

// other lints a document of an unknown schema.
func (l *linter) other(d *catalog.Document) {
	if strings.HasPrefix(d.Schema(), "olm.") {
		l.add(LintSchema, d, at("schema"), "names that begin with olm. are reserved, but "+strconv.Quote(d.Schema())+" is not one of them",
			"use a prefix of your own, such as a domain")
	}
	if _, ok := l.c.Package(d.Package()); d.Package() != "" && !ok {
		l.add(LintOrphan, d, at("package"), "there is no package "+strconv.Quote(d.Package())+" in the catalog", "correct the name, or remove the document")
	}
}

// headFields are the fields that every document may have, by schema.
func headFields(schema string) []string {
	switch schema {
	case catalog.SchemaPackage:
		return []string{"schema", "name"}
	case catalog.SchemaDeprecations:
		return []string{"schema", "package"}
	}
	return []string{"schema", "package", "name"}
}

// fields reports fields that the shape of a document does not have.
func (l *linter) fields(d *catalog.Document, members func(func(doc.Node) bool), loaded *doc.Document, want *shape.Shape, path []any) {
	for n := range members {
		key := string(loaded.Key(n))
		f := want.Field([]byte(key))
		here := append(slices.Clone(path), key)
		head := headFields(d.Schema())
		switch {
		case len(path) == 0 && slices.ContainsFunc(head, func(h string) bool { return strings.EqualFold(h, key) }):
		case f.Name == "":
			names := slices.Clone(head)
			if len(path) > 0 {
				names = nil
			}
			for _, f := range want.Fields {
				names = append(names, f.Name)
			}
			hint := "remove it, or move it to a document of a schema of your own"
			if nearest := words.Nearest(key, names); nearest != "" {
				hint = "did you mean " + nearest + "? " + hint
			}
			l.add(LintField, d, here, "the field "+strconv.Quote(key)+" is unknown here, and readers of catalogs ignore it", hint)
		case f.Kind == shape.Object:
			l.fields(d, loaded.Children(n), loaded, f.Shape, here)
		case f.Kind == shape.List && f.Elem.Kind == shape.Object:
			i := 0
			for e := range loaded.Children(n) {
				l.fields(d, loaded.Children(e), loaded, f.Elem, append(slices.Clone(here), i))
				i++
			}
		}
	}
}
