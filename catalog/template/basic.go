package template

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// basic is a catalog whose bundles are given by their images.
type basic struct {
	entries []entry
}

// entry is one document that a template has in full, or the image of a
// bundle.
type entry struct {
	value  *doc.Value
	schema string
	image  string // of a bundle to render, otherwise ""
}

func (p *parser) basic(tree *doc.Value) expander {
	var t struct {
		Schema  string       `json:"schema"`
		Entries []*doc.Value `json:"entries"`
	}
	p.decode(tree, "", &t, doc.Strict)
	b := &basic{}
	for i, v := range t.Entries {
		e, ok := p.entry(fmt.Sprintf("entries[%d]", i), v)
		if !ok {
			continue
		}
		if e.schema == catalog.SchemaBundle {
			p.bundleEntry(fmt.Sprintf("entries[%d]", i), e)
		}
		b.entries = append(b.entries, *e)
	}
	return b
}

// entry reads the head of one entry.
func (p *parser) entry(path string, v *doc.Value) (*entry, bool) {
	if v.Kind != '{' {
		p.fault(catalog.CodeType, v, path+" is "+v.Describe()+", not an object", "write a catalog document there")
		return nil, false
	}
	e := &entry{value: v}
	for _, key := range []string{"schema", "name", "package"} {
		member := v.Field(key)
		text, ok := member.Text()
		switch {
		case key == "schema" && text == "" && (member.Null() || ok):
			p.fault(catalog.CodeNoSchema, at(v, key), path+" has no schema", "write schema: with the schema of the document")
			return nil, false
		case !member.Null() && !ok:
			p.fault(catalog.CodeType, member, path+"."+key+" is "+member.Describe()+", not a string", "put it in quotes")
			return nil, false
		case key == "schema":
			e.schema = text
		}
	}
	return e, true
}

// bundleEntry reads the image of a bundle to render.
func (p *parser) bundleEntry(path string, e *entry) {
	image, ok := e.value.Field("image").Text()
	if e.image = image; !ok || image == "" {
		p.fault(CodeField, at(e.value, "image"), path+" is a bundle without an image", "write image: with the reference of the bundle's image")
	}
	for _, key := range []string{"package", "properties", "relatedImages"} {
		if v := e.value.Field(key); v != nil && !v.Null() && (len(v.Members) > 0 || v.Kind == '"' && len(v.Raw) > 2) {
			p.fault(CodeField, v, fmt.Sprintf("%s is a bundle with %s, which rendering generates", path, key), "keep only schema and image")
		}
	}
}

func (b *basic) references() []reference {
	var all []reference
	for _, e := range b.entries {
		if e.image != "" {
			all = append(all, reference{e.image, e.value.Field("image")})
		}
	}
	return all
}

// rest are the fields of a bundle entry that count.
var rest = []string{"schema", "image", "package", "properties", "relatedImages"}

// expand replaces each bundle with its rendering.
func (b *basic) expand(x *expansion) []json.RawMessage {
	var docs []json.RawMessage
	seen := map[string]bool{}
	for _, e := range b.entries {
		if e.image == "" {
			docs = append(docs, e.value.JSON())
			continue
		}
		for i := range e.value.Members {
			if m := &e.value.Members[i]; !slices.ContainsFunc(rest, func(known string) bool { return strings.EqualFold(known, m.Key) }) {
				x.warn(CodeField, m, fmt.Sprintf("the bundle's %s is dropped in favor of the rendered one", m.Key), "keep only schema and image")
			}
		}
		if seen[e.image] {
			x.warn(CodeBundle, e.value.Field("image"), fmt.Sprintf("the image %q was already listed, and its bundle is added only once", e.image), "delete the entry")
			continue
		}
		seen[e.image] = true
		for _, r := range x.bundles[e.image] {
			docs = append(docs, r.json)
		}
	}
	return docs
}

// at returns the member of that name, in any case, or the object itself.
func at(v *doc.Value, name string) *doc.Value {
	if m := v.Field(name); m != nil {
		return m
	}
	return v
}
