package template

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/words"
)

// The schemas of templates.
const (
	SchemaBasic       = "olm.template.basic"
	SchemaSemver      = "olm.semver"
	SchemaSubstitutes = "olm.template.substitutes"
)

// The codes of findings about templates.
const (
	CodeSchema       catalog.Code = "template-schema"       // a document that is not a template, or of an unknown kind
	CodeField        catalog.Code = "template-field"        // a field that is unknown, missing, or has a wrong value
	CodeBundle       catalog.Code = "template-bundle"       // a bundle that cannot be rendered or used
	CodeVersion      catalog.Code = "template-version"      // versions that cannot be read or ordered
	CodeSubstitution catalog.Code = "template-substitution" // a substitution that cannot be applied
	CodeResult       catalog.Code = "template-result"       // the catalog is not valid
)

// Schemas returns the known schemas of templates, sorted.
func Schemas() []string { return []string{SchemaSemver, SchemaBasic, SchemaSubstitutes} }

// Types returns the short names of the schemas, sorted: what follows their
// last dot.
func Types() []string { return []string{"basic", "semver", "substitutes"} }

// TypeOf returns what follows the last dot of a schema.
func TypeOf(schema string) string { return schema[strings.LastIndexByte(schema, '.')+1:] }

// Bundle is a rendered bundle.
type Bundle struct {
	// JSON is an olm.bundle document. Templates pass it on as it is.
	JSON json.RawMessage
	// CSV is the bundle's ClusterServiceVersion as JSON, if it is known: the
	// description and icon of the package come from it. Without it they come
	// from the payload of the document, as far as it has them.
	CSV json.RawMessage
}

// Renderer renders what a reference names. Most references name one bundle; a
// basic template accepts any number of them. It is called once for every
// reference of a template, one call after the other, in the order of
// [Template.References].
type Renderer func(ctx context.Context, ref string) ([]Bundle, error)

// Options say how a template is read. Nil is the zero value.
type Options struct {
	// File is what positions name.
	File string
	// Type, if set, is the short name of the only schema that is accepted.
	Type string
}

// Template is a template as read. It does not change and may be used by many
// goroutines.
type Template struct {
	schema   string
	kind     expander
	src      *doc.Document
	warnings catalog.Diagnostics // from reading it
}

// expander is one kind of template.
type expander interface {
	references() []reference
	expand(x *expansion) []json.RawMessage
}

// reference is a bundle that a template names, and where.
type reference struct {
	ref string
	at  *doc.Value
}

// Schema returns the schema of the template.
func (t *Template) Schema() string { return t.schema }

// References returns the references that the template asks its renderer for,
// each once, in the order of the template; in a semver template, those of
// candidate, fast and stable.
func (t *Template) References() []string {
	var all []string
	for _, r := range t.kind.references() {
		if !slices.Contains(all, r.ref) {
			all = append(all, r.ref)
		}
	}
	return all
}

// Parse reads the first document of data, JSON or YAML, as a template.
//
// Errors are [catalog.Diagnostics]: everything that is wrong with it, in the
// order of the file. Documents after the first are also faults: the reference
// ignores them.
func Parse(data []byte, opts *Options) (*Template, error) {
	if opts == nil {
		opts = &Options{}
	}
	p := &parser{}
	reader := doc.NewReader(bytes.NewReader(data), opts.File, doc.Limits{})
	reader.YAML11()
	d, err := reader.Next()
	if err == io.EOF {
		return nil, catalog.Diagnostics{{
			Pos: catalog.Position{File: opts.File}, Code: CodeSchema, Message: "the file holds no document", Hint: "begin it with schema: " + SchemaSemver,
		}}
	}
	if err != nil {
		return nil, catalog.Diagnostics{catalog.Diagnose(err)}
	}
	p.src = d.Clone()
	t := &Template{src: p.src}
	tree := doc.Tree(p.src.JSON)
	t.schema, t.kind = p.template(tree, opts.Type)
	if next, err := reader.Next(); err == nil {
		p.found = append(p.found, &catalog.Diagnostic{Pos: next.Start, Code: CodeSchema, Message: "a template is one document, and this is a second one", Hint: "put it into a file of its own"})
	} else if err != io.EOF {
		p.found = append(p.found, catalog.Diagnose(err))
	}
	if len(p.found) > 0 {
		return nil, append(p.found, p.warnings...).Sorted()
	}
	t.warnings = p.warnings
	return t, nil
}

// parser reads the document of a template.
type parser struct {
	src   *doc.Document
	found catalog.Diagnostics
	// warnings are about keys that no template has, which are ignored.
	warnings catalog.Diagnostics
}

func (p *parser) fault(code catalog.Code, at *doc.Value, message, hint string) {
	p.found = append(p.found, &catalog.Diagnostic{Pos: p.src.Position(at.Offset), Code: code, Message: message, Hint: hint})
}

// decode decodes v, which is at path, into into, and reports what does not fit.
// Unknown keys are warnings.
func (p *parser) decode(v *doc.Value, path string, into any, mode doc.Mode) (fits bool) {
	fits = true
	for _, m := range doc.Decode(v, into, mode) {
		if path != "" {
			m.Steps = append([]any{path}, m.Steps...)
		}
		d := &catalog.Diagnostic{Pos: p.src.Position(keyOffset(m)), Code: catalog.CodeType, Message: m.Error(), Hint: m.Hint()}
		if m.Want == "" {
			d.Code, d.Message = CodeField, d.Message+"; it is ignored"
			p.warnings = append(p.warnings, d)
			continue
		}
		fits = false
		p.found = append(p.found, d)
	}
	return fits
}

// keyOffset returns the offset of an unknown field's key, or of a value of a
// wrong type.
func keyOffset(m *doc.Mismatch) int {
	if m.Want == "" {
		return m.Value.KeyOffset
	}
	return m.Value.Offset
}

// template reads a template from its tree.
func (p *parser) template(tree *doc.Value, only string) (schema string, kind expander) {
	v := tree.Field("schema")
	if v == nil {
		p.fault(CodeSchema, tree, "the document has no schema", "write one of "+strings.Join(Schemas(), ", "))
		return "", nil
	}
	schema, ok := v.Text()
	if !ok {
		p.fault(CodeSchema, v, "schema is "+v.Describe()+", not a string", "write one of "+strings.Join(Schemas(), ", "))
		return "", nil
	}
	if only != "" && slices.Contains(Schemas(), schema) && TypeOf(schema) != only {
		p.fault(CodeSchema, v, fmt.Sprintf("the template is of type %s, not %s", TypeOf(schema), only), "write the schema of that type of template")
		return schema, nil
	}
	switch schema {
	case SchemaBasic:
		return schema, p.basic(tree)
	case SchemaSemver:
		return schema, p.semver(tree)
	case SchemaSubstitutes:
		return schema, p.substitutes(tree)
	}
	hint := "the schemas are " + strings.Join(Schemas(), ", ")
	if nearest := words.Nearest(schema, Schemas()); nearest != "" {
		hint = "did you mean " + nearest + "?"
	}
	p.fault(CodeSchema, v, fmt.Sprintf("no template has the schema %q", schema), hint)
	return schema, nil
}

// Result is an expanded template.
type Result struct {
	// Documents are the documents of the catalog as JSON: packages by name; of
	// each its olm.package, its channels by name, its bundles by name,
	// documents of other schemas, its deprecations; documents of no package
	// come last. What a template has in full is passed on verbatim.
	Documents []json.RawMessage
	// Warnings say what in the template is not in the catalog.
	Warnings catalog.Diagnostics
}

// WriteJSON writes the documents one after the other, indented by four spaces.
func (r *Result) WriteJSON(w io.Writer) error {
	var out bytes.Buffer
	for _, d := range r.Documents {
		if err := json.Indent(&out, d, "", "    "); err != nil {
			return err
		}
		out.WriteByte('\n')
	}
	_, err := w.Write(out.Bytes())
	return err
}

// Render expands the template. An error of render stops it and is wrapped;
// other errors are [catalog.Diagnostics] of everything that is wrong.
func (t *Template) Render(ctx context.Context, render Renderer) (*Result, error) {
	x := &expansion{ctx: ctx, parser: parser{src: t.src, warnings: slices.Clone(t.warnings)}, bundles: map[string][]*rendered{}}
	for _, r := range t.kind.references() {
		if _, done := x.bundles[r.ref]; done {
			continue
		}
		if err := x.render(render, r); err != nil {
			return nil, err
		}
	}
	var docs []json.RawMessage
	if len(x.found) == 0 {
		docs = t.kind.expand(x)
	}
	if x.err != nil {
		return nil, x.err
	}
	if len(x.found) > 0 {
		return nil, x.found.Sorted()
	}
	return &Result{Documents: ordered(docs), Warnings: x.warnings.Sorted()}, nil
}

// expansion is the state of one Render.
type expansion struct {
	parser  // the findings
	ctx     context.Context
	bundles map[string][]*rendered // by reference
	err     error                  // that is not about the template
}

func (x *expansion) warn(code catalog.Code, at *doc.Value, message, hint string) {
	x.warnings = append(x.warnings, &catalog.Diagnostic{Pos: x.src.Position(at.Offset), Code: code, Message: message, Hint: hint})
}

// render asks the renderer for the bundles of a reference.
func (x *expansion) render(render Renderer, r reference) error {
	if err := x.ctx.Err(); err != nil {
		return err
	}
	bundles, err := render(x.ctx, r.ref)
	if err != nil {
		return fmt.Errorf("%s: rendering %q: %w", x.src.Position(r.at.Offset), r.ref, err)
	}
	x.bundles[r.ref] = nil
	if len(bundles) == 0 {
		x.fault(CodeBundle, r.at, fmt.Sprintf("%q renders to no bundle", r.ref), "name the image of a bundle")
	}
	for _, b := range bundles {
		facts, fault := read(b)
		if fault != "" {
			x.fault(CodeBundle, r.at, fmt.Sprintf("%q renders to something that is not a bundle: %s", r.ref, fault), "fix the bundle")
			continue
		}
		x.bundles[r.ref] = append(x.bundles[r.ref], facts)
	}
	return nil
}
