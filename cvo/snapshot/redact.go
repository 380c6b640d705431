package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/lifecycle"
)

// Redaction is a dump in which others cannot read whose cluster it is.
type Redaction struct {
	Files []RedactedFile // by name
	Names [][2]string    // which words became which, sorted; for whoever may know
}

// RedactedFile is a file of a redacted dump.
type RedactedFile struct {
	Name string // its path, with slashes
	Data []byte // its text
}

// Redact reads a cluster with a Reader and returns what a Snapshot keeps of it, redacted:
//
//  1. Names, label values, UIDs and addresses become others, the same everywhere, in the
//     same order, so that every engine decides the same. Names that belong to Kubernetes,
//     OpenShift or a published operator stay.
//  2. Messages keep their words, but for those names, and for what looks like an address, a
//     mail address, a credential or a key. Annotations of unknown domains are dropped.
//  3. Secrets are never read. Fields that no engine reads are dropped.
//
// What was not known of the dump is not known of the redacted one. The error is that of read, or
// a [*ClusterError].
func Redact(read func(*Reader) error) (*Redaction, error) {
	c := &collector{texts: map[objectKey][]byte{}}
	r := Reader{Each: c.object, copies: true}
	c.reader = &r
	if err := read(&r); err != nil {
		return nil, err
	}
	s, err := r.Snapshot()
	if err != nil {
		return nil, err
	}
	if s.Empty() {
		return nil, errors.New("the input has no object of Kubernetes")
	}
	p := newPseudonyms()
	for _, l := range s.tables() {
		for i := range l.refs() {
			p.learn(&l.refs()[i], c.texts[keyOf(l, &l.refs()[i])])
		}
	}
	p.assign()
	w := &redactor{pseudonyms: p, texts: c.texts}
	for _, l := range s.tables() {
		w.list(s, l)
	}
	w.alerts(s)
	if at := s.Clock.At; !at.IsZero() {
		w.file("timestamp", []byte(at.UTC().Format(time.RFC3339Nano)+"\n"))
	}
	slices.SortFunc(w.files, func(a, b RedactedFile) int { return strings.Compare(a.Name, b.Name) })
	return &Redaction{Files: w.files, Names: p.names()}, nil
}

func keyOf(l table, r *Ref) objectKey { return objectKey{l, r.Group(), r.Namespace, r.Name} }

// collector keeps the texts of the objects, of each the copy that the snapshot has.
type collector struct {
	reader *Reader
	texts  map[objectKey][]byte
}

func (c *collector) object(r *Ref, text []byte) {
	k := kindOf(r.APIVersion, r.Kind)
	var l table
	if k != nil {
		l = k.list(&c.reader.s)
		text = fieldsOf(text, l)
	} else {
		l = c.reader.s.other(r.APIVersion, r.Kind)
		text = fieldsOf(text, l)
	}
	c.texts[keyOf(l, r)] = slices.Clone(text)
}

// private are fields of machines that hold what only a cloud reads.
var private = map[string]bool{"providerSpec": true, "providerStatus": true, "bootstrap": true, "managedFields": true}

// fieldsOf returns the text of an object with those fields only that the snapshot keeps. The
// Cluster API writes machines in several forms, of which all fields stay but a few.
func fieldsOf(text []byte, l table) []byte {
	v := doc.Tree(text)
	if v == nil || v.Kind != '{' {
		return nil
	}
	if l.item() == reflect.TypeFor[lifecycle.Machine]() {
		return without(v, private)
	}
	var r repairer
	r.value(v, l.item(), "")
	return r.out
}

// without writes a value without some members.
func without(v *doc.Value, drop map[string]bool) []byte {
	switch v.Kind {
	case '{':
		out, first := []byte{'{'}, true
		for i := range v.Members {
			m := &v.Members[i]
			if drop[m.Key] {
				continue
			}
			if !first {
				out = append(out, ',')
			}
			first = false
			out = append(append(doc.AppendText(out, m.Key), ':'), without(m, drop)...)
		}
		return append(out, '}')
	case '[':
		out := []byte{'['}
		for i := range v.Members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, without(&v.Members[i], drop)...)
		}
		return append(out, ']')
	}
	return v.Raw
}

// redactor writes the files.
type redactor struct {
	*pseudonyms
	texts map[objectKey][]byte
	files []RedactedFile
}

func (w *redactor) file(name string, text []byte) {
	w.files = append(w.files, RedactedFile{name, text})
}

// list writes the objects of a kind so that a Reader finds the same scope.
func (w *redactor) list(s *Snapshot, l table) {
	scope, refs := l.scope(), l.refs()
	name, group, api, plural := "", "core", "v1", ""
	for i := range kinds {
		if k := &kinds[i]; k.list(s) == l {
			name, plural = k.name, k.plural
			if group = k.groups[0]; group == "" {
				group = "core"
			} else {
				api = group + "/v1"
			}
		}
	}
	if name == "" {
		if len(refs) == 0 {
			return
		}
		name, plural = refs[0].Kind, strings.ToLower(refs[0].Kind)+"s"
		api, group = refs[0].APIVersion, orElse(refs[0].Group(), "core")
	}
	left := map[string][]int{} // the objects of each namespace
	for i := range refs {
		left[refs[i].Namespace] = append(left[refs[i].Namespace], i)
	}
	switch {
	case scope.All:
		dir := "cluster-scoped-resources/" + group + "/"
		if scope.Assumed && len(spacesOf(refs)) != 1 { // a list of one namespace would be that of this one only
			dir = "lists/" + group + "-"
		}
		all := make([]int, len(refs))
		for i := range all {
			all[i] = i
		}
		w.file(dir+plural+".json", w.items(name, api, "", l, all))
		clear(left)
	case len(scope.Namespaces) > 0:
		for _, n := range scope.Namespaces {
			w.file("namespaces/"+w.text("namespace", n)+"/"+group+"/"+plural+".json", w.items(name, api, "", l, left[n]))
			delete(left, n)
		}
	}
	for _, list := range left {
		for _, i := range list {
			w.file(fmt.Sprintf("namespaces/one/%s/%s/%04d.json", group, plural, i), w.object(l, i))
		}
	}
	for i := range scope.Gaps {
		text := w.items(name, api, "redacted", l, nil)
		if !strings.Contains(scope.Gaps[i].Why, "continue token") {
			text = text[:len(text)/2] // it cannot be read
		}
		w.file(fmt.Sprintf("namespaces/one/%s/%s/gap%d.json", group, plural, i), text)
	}
}

// items writes a list.
func (w *redactor) items(kind, api, cursor string, l table, of []int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"apiVersion":%q,"kind":%q,"metadata":{"continue":%q},"items":[`, api, kind+"List", cursor)
	for n, i := range of {
		if n > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(w.object(l, i))
	}
	b.WriteString("\n]}\n")
	return b.Bytes()
}

// object writes an object.
func (w *redactor) object(l table, i int) []byte {
	r := &l.refs()[i]
	var v map[string]any
	if json.Unmarshal(w.texts[keyOf(l, r)], &v) != nil || v == nil {
		v = map[string]any{"metadata": map[string]any{"name": r.Name, "namespace": r.Namespace}}
	}
	v["apiVersion"], v["kind"] = r.APIVersion, r.Kind
	m, _ := v["metadata"].(map[string]any)
	if m != nil && r.version != "" {
		m["resourceVersion"] = r.version
	}
	return marshal(w.value("", v))
}

// alerts writes the alerts.
func (w *redactor) alerts(s *Snapshot) {
	if s.Alerts.Known() == nil {
		return
	}
	list := []any{}
	for i := range s.Alerts.Items {
		var v any
		if json.Unmarshal(marshal(&s.Alerts.Items[i]), &v) == nil {
			list = append(list, w.value("", v))
		}
	}
	w.file("alerts.json", marshal(map[string]any{"status": "success", "data": map[string]any{"alerts": list}}))
}

func marshal(v any) []byte {
	text, _ := json.Marshal(v) // maps, strings and numbers: it cannot fail
	return text
}
