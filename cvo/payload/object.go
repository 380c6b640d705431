package payload

import (
	"bytes"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// manifest reads the identity of the resource in a document. It returns nil,
// and notes why, if there is none; or just nil for a document that does not
// count.
func (l *loader) manifest(d *doc.Document) *Manifest {
	m := &Manifest{Pos: d.Start}
	x := member{l: l, d: d}
	for n := range d.Root() {
		switch string(d.Key(n)) {
		case "apiVersion":
			m.APIVersion, _ = x.text(n, "apiVersion")
		case "kind":
			m.ID.Kind, _ = x.text(n, "kind")
		case "metadata":
			x.metadata(n, m)
		}
	}
	if group, version, ok := strings.Cut(m.APIVersion, "/"); ok {
		m.ID.Group = group
		if strings.Contains(version, "/") {
			x.failed = true
			l.note(&Diagnostic{
				Pos: m.Pos, Code: CodeVersion, Message: "apiVersion is " + quote(m.APIVersion) + ", with more than one slash",
				Hint: "write group/version, or the version alone in the core group",
			})
		}
	}
	if x.failed {
		return nil
	}
	if m.ID.Kind == "" || m.ID.Name == "" {
		l.incomplete(m)
		return nil
	}
	if v, ok := m.Annotations[AnnotationDelete]; ok && v != "true" {
		l.note(&Diagnostic{
			Pos: m.Pos, Code: CodeAnnotation, Subject: m.ID.String(),
			Message: "the annotation " + AnnotationDelete + " is " + quote(v), Hint: `write "true", or leave it out`,
		})
		return nil
	}
	m.JSON = bytes.Clone(d.JSON)
	return m
}

// incomplete notes a manifest without kind or name.
func (l *loader) incomplete(m *Manifest) {
	missing := "metadata.name"
	switch {
	case m.ID.Kind == "" && m.ID.Name == "":
		missing = "kind and metadata.name"
	case m.ID.Kind == "":
		missing = "kind"
	}
	f := &Diagnostic{Pos: m.Pos, Code: CodeMissing, Message: "the manifest lacks " + missing, Hint: "each resource has a kind and a name"}
	if m.ID.Kind != "" && strings.HasSuffix(m.ID.Kind, "List") {
		f.Code, f.Message, f.Hint = CodeList, "a "+m.ID.Kind+" is not split into its items, and has no name", "write its items as documents, separated by ---"
	}
	l.note(f)
}

// member reads members of one document.
type member struct {
	l      *loader
	d      *doc.Document
	failed bool
}

// text returns the string that a member is; null counts as absent.
func (x *member) text(n doc.Node, field string) (string, bool) {
	t, ok := x.d.Text(n)
	if !ok && n.Kind != 'n' {
		x.wrong(n, field, "a string", "put it in quotes")
	}
	return string(t), ok
}

func (x *member) wrong(n doc.Node, field, want, hint string) {
	x.failed = true
	got := doc.Value{Kind: n.Kind}
	if n.Kind == 0 {
		got.Kind = '0'
	}
	x.l.note(&Diagnostic{Pos: x.d.Position(n.Start), Code: CodeType, Message: field + " is " + got.Describe() + ", not " + want, Hint: hint})
}

func (x *member) metadata(meta doc.Node, m *Manifest) {
	if meta.Kind != '{' {
		if meta.Kind != 'n' {
			x.wrong(meta, "metadata", "an object", "write name: and the name below it")
		}
		return
	}
	for n := range x.d.Children(meta) {
		switch string(x.d.Key(n)) {
		case "name":
			m.ID.Name, _ = x.text(n, "metadata.name")
		case "namespace":
			m.ID.Namespace, _ = x.text(n, "metadata.namespace")
		case "annotations":
			x.annotations(n, m)
		}
	}
}

func (x *member) annotations(all doc.Node, m *Manifest) {
	if all.Kind != '{' {
		if all.Kind != 'n' {
			x.wrong(all, "metadata.annotations", "an object", "write one annotation a line below it")
		}
		return
	}
	m.Annotations = make(map[string]string)
	for n := range x.d.Children(all) {
		key := string(x.d.Key(n))
		value, ok := x.d.Text(n)
		switch {
		case n.Kind == 'n':
			x.wrong(n, "the annotation "+key, "a string", `write "" if it is empty`)
		case !ok:
			x.wrong(n, "the annotation "+key, "a string", "put it in quotes")
		}
		m.Annotations[key] = string(value)
	}
}
