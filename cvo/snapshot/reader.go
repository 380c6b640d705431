package snapshot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/lifecycle"
)

// Reader reads a snapshot from files and streams, in any number and order. The zero value is
// ready to use. It must not be used after Snapshot was called.
type Reader struct {
	// Each is called with the JSON text of each object that is kept, once, for those
	// who read more of it. Objects of other APIs that use the name of a kind with a list of
	// its own are left out. It may be nil; the text must not be kept.
	Each func(r *Ref, text []byte)
	// Everywhere says that lists are of all namespaces, even if they have objects of one only.
	Everywhere bool

	copies  bool // Each is called with newer copies too
	s       Snapshot
	clock   clockReader
	seen    map[objectKey]int    // the index of each object in the list of its kind
	systems [2]fairlead.Position // where the parts of the identity were read
	lone    map[table]int        // objects outside of lists, alone in their files
	single  map[table]bool       // of which there is a list of objects of one namespace
	texts   map[string]string    // for one copy of each
	doubles int                  // copies of objects that were left out
	reader  *doc.Reader          // reused
	foreign *ClusterError
	most    int64 // bytes of what is packed
}

type objectKey struct {
	list                      table
	apiGroup, namespace, name string
}

// limits are those of one document. A list of a large cluster is one.
var limits = doc.Limits{Size: 256 << 20, Nodes: 16 << 20}

// Stream reads documents, JSON or YAML, one after the other, in UTF-8 or UTF-16; they may be
// compressed with gzip or bzip2, and the files of a tar or zip archive. The name is for positions: of a
// file, or such as "standard input". Documents that cannot be read become warnings, and so do the
// lines that kubectl and shells write between them. The error is that of the reader.
func (r *Reader) Stream(src io.Reader, name string) error {
	return r.open(src, name, hint{}, 0)
}

// StreamOf reads documents like Stream. Objects and items of lists that state no kind are of the
// given one; Alert is for the response of Prometheus to /api/v1/alerts.
func (r *Reader) StreamOf(kind string, src io.Reader, name string) error {
	return r.open(src, name, hint{kind: byName[kind], alerts: kind == "Alert"}, 0)
}

// StreamIn reads documents like Stream, of a request for the objects of one namespace; empty for all.
func (r *Reader) StreamIn(namespace string, src io.Reader, name string) error {
	return r.open(src, name, hint{namespace: namespace}, 0)
}

// open reads a text, or what is packed; depth is in how many others.
func (r *Reader) open(src io.Reader, name string, h hint, depth int) error {
	r.start()
	in := bufio.NewReaderSize(src, 64<<10)
	if is, err := r.unpack(in, name, h, depth); is || err != nil {
		return err
	}
	r.s.Files++
	f := file{Reader: r, name: name, hint: h}
	text, wrapped, err := unwrapped(decoded(in), f.said)
	if err != nil {
		return err
	}
	f.shift = wrapped
	return f.read(text)
}

// read reads the documents of a text.
func (f *file) read(src io.Reader) error {
	r := f.Reader
	if r.reader == nil {
		r.reader = doc.NewReader(src, f.name, limits)
		r.reader.YAML11()
		r.reader.Lenient()
		r.reader.Salvage()
	} else {
		r.reader.Reset(src, f.name, 0)
	}
	for {
		d, err := r.reader.Next()
		var fault *doc.Error
		switch {
		case errors.Is(err, io.EOF):
			f.end()
			return nil
		case errors.As(err, &fault):
			f.fault(fault, r.reader.Faulty())
		case err != nil:
			return err
		default:
			f.document(d)
		}
	}
}

func (r *Reader) start() {
	if r.most == 0 {
		r.most = maxUnpacked
	}
	if r.seen == nil {
		r.seen, r.lone, r.single, r.texts = map[objectKey]int{}, map[table]int{}, map[table]bool{}, map[string]string{}
	}
}

// same returns one copy of equal texts.
func (r *Reader) same(text string) string {
	if is, ok := r.texts[text]; ok {
		return is
	}
	r.texts[text] = text
	return text
}

// file is a file that is being read.
type file struct {
	*Reader
	name    string
	hint    hint
	shift   int // columns that were added to the first line
	objects int // outside of lists
	lone    []loneObject
	listed  []table // of the list that is being read
	skipped bool    // something is not an object
	near    place   // the last position that was found
}

type loneObject struct {
	list table
	key  string
}

// position returns the place of an offset of a document's JSON. The objects of a list are read in
// order, so what lies between two of them is counted once.
func (f *file) position(d *doc.Document, at int) fairlead.Position {
	p := d.Start
	switch {
	case d.Format == doc.YAML || at > len(d.Raw):
		p = d.Position(at)
	default:
		from := 0
		if f.near.raw == &d.Raw[0] && f.near.start == d.Start && f.near.at <= at {
			from, p = f.near.at, f.near.is
		}
		p = moved(p, d.Raw[from:at])
		f.near = place{&d.Raw[0], d.Start, at, p}
	}
	if p.Line == 1 {
		p.Column = max(p.Column-f.shift, 1)
	}
	return p
}

// place is a position that was found in a document.
type place struct {
	raw   *byte // of which document
	start fairlead.Position
	at    int
	is    fairlead.Position
}

// moved returns the position after a text.
func moved(p fairlead.Position, text []byte) fairlead.Position {
	if n := bytes.Count(text, []byte{'\n'}); n > 0 {
		p.Line, p.Column = p.Line+n, 1
		text = text[bytes.LastIndexByte(text, '\n')+1:]
	}
	p.Column += utf8.RuneCount(text)
	return p
}

// document reads one document.
func (f *file) document(d *doc.Document) {
	h := headOf(&d.Outline, d.Root())
	f.listed = nil
	switch {
	case h.items.Kind != 0 && (strings.HasSuffix(h.kind, "List") || h.kind == ""):
		f.listOf(d, h, d.JSON, 0)
	case h.kind == "Status" && h.apiVersion == "v1":
		f.status(d)
	case h.kind == "" && f.hint.kind == nil:
		if !f.special(d) && !f.watched(d) {
			f.skip(d, 0)
		}
	default:
		f.objects++
		f.object(d, d.JSON, 0, h, "")
	}
	f.lost(d.Lost)
}

// head is what says what a document is.
type head struct {
	apiVersion, kind                      string
	name, namespace, uid, version, cursor string
	items                                 doc.Node
}

func headOf(o *doc.Outline, members func(func(doc.Node) bool)) (h head) {
	text := func(n doc.Node) string {
		t, _ := o.Text(n)
		return string(t)
	}
	for n := range members {
		switch string(o.Key(n)) {
		case "apiVersion":
			h.apiVersion = text(n)
		case "kind":
			h.kind = text(n)
		case "items":
			h.items = n
			if n.Kind != '[' && n.Kind != 'n' {
				h.items = doc.Node{}
			}
		case "metadata":
			for m := range o.Children(n) {
				switch string(o.Key(m)) {
				case "name":
					h.name = text(m)
				case "namespace":
					h.namespace = text(m)
				case "uid":
					h.uid = text(m)
				case "resourceVersion":
					h.version = text(m)
				case "continue":
					h.cursor = text(m)
				}
			}
		}
	}
	return h
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// apiCharacters are those that the names of API groups and versions have.
const apiCharacters = "abcdefghijklmnopqrstuvwxyz0123456789.-/"

// object reads an object and returns the list that it belongs to; nil if it is not kept.
func (f *file) object(d *doc.Document, text []byte, base int, h head, listAPI string) table {
	if h.kind == "" && f.hint.kind != nil {
		h.kind = f.hint.kind.name
	}
	switch {
	case h.kind == "Secret":
		return nil
	case h.name == "":
		f.nameless(d, base, h)
		return nil
	}
	if strings.HasSuffix(h.kind, "List") {
		return nil
	}
	k := kindOf(h.apiVersion, h.kind)
	if k != nil && k.name == "ConfigMap" && !slices.Contains(configMapNames, h.name) {
		return nil
	}
	var l table
	if k != nil {
		l = k.list(&f.s)
	} else if h.apiVersion == "" || strings.Trim(h.apiVersion, apiCharacters) != "" {
		f.skip(d, base)
		return nil
	} else {
		l = f.s.other(h.apiVersion, h.kind)
	}
	if kindOf(listAPI, h.kind) == nil && k != nil {
		listAPI = "" // a List of many kinds says nothing of them
	}
	ref := Ref{
		APIVersion: f.same(orElse(h.apiVersion, listAPI)), Kind: f.same(h.kind), Namespace: f.same(h.namespace), Name: h.name,
		Where: f.position(d, base), version: h.version, uid: h.uid,
	}
	f.add(d, text, base, l, ref)
	if listAPI == "" && base == 0 {
		f.lone = append(f.lone, loneObject{l, key(h.namespace, h.name)})
	}
	return l
}

// add adds an object, or keeps the newer copy if it is known.
func (f *file) add(d *doc.Document, text []byte, base int, l table, ref Ref) {
	id := objectKey{l, ref.Group(), ref.Namespace, ref.Name}
	before, known := f.seen[id]
	if known {
		old := l.refs()[before]
		if old.uid != "" && ref.uid != "" && old.uid != ref.uid {
			if one := ref.Kind == "ClusterVersion" || ref.Kind == "Namespace" && ref.Name == "kube-system"; one && f.foreign == nil {
				f.foreign = &ClusterError{"the UID of " + ref.String(), old.uid, ref.uid, [2]fairlead.Position{old.Where, ref.Where}}
			}
			f.warn(Warning{Where: ref.Where, Object: ref.String(), Problem: "another object of that name, with another UID, is in " + old.Where.String() + "; the one with the newer resourceVersion is used", Ignored: true})
		}
		f.doubles++
		if !newer(ref.version, old.version) {
			if cv := new(cvo.ClusterVersion); ref.Kind == "ClusterVersion" {
				decode(text, cv)
				f.identify(cv, &ref)
			}
			return
		}
	}
	into := l.grow()
	odd, whole := decode(text, into)
	for _, o := range odd {
		ref.Odd = append(ref.Odd, o.path)
		where := f.position(d, base+o.at)
		f.warn(Warning{Where: where, Object: ref.String(), Field: o.path, Problem: o.problem, Unread: true})
		if whole && (o.path == "spec" || o.path == "status") { // what is left says nothing
			l.scope().Gaps = append(l.scope().Gaps, Gap{Namespace: ref.Namespace, Where: where, Why: o.path + " of " + ref.String() + " cannot be read"})
		}
	}
	if !whole {
		l.undo()
		f.warn(Warning{Where: ref.Where, Object: ref.String(), Problem: "it cannot be read", Unread: true})
		l.scope().Gaps = append(l.scope().Gaps, Gap{Namespace: ref.Namespace, Where: ref.Where, Why: ref.String() + " cannot be read"})
		return
	}
	if m, ok := into.(*lifecycle.Machine); ok {
		f.machine(d, m, text, base, &ref)
	}
	f.identify(into, &ref)
	f.clock.object(text, &ref)
	l.keep(ref)
	if known {
		l.move(before)
		if f.copies {
			f.Each(&ref, text)
		}
		return
	}
	f.seen[id] = l.len() - 1
	if f.Each != nil && (byName[ref.Kind] == nil || kindOf(ref.APIVersion, ref.Kind) != nil) {
		f.Each(&ref, text)
	}
}

// machine adds what the Cluster API writes in a form of its own. Where that cannot be read, the rest is.
func (f *file) machine(d *doc.Document, m *lifecycle.Machine, text []byte, base int, ref *Ref) {
	m.APIVersion, m.Kind = ref.APIVersion, ref.Kind
	read, err := lifecycle.ReadDocument(text)
	if err == nil {
		*m = read.Machine
		return
	}
	if field, is := errors.AsType[*fairlead.FieldError](err); is && !slices.Contains(ref.Odd, field.Path) {
		ref.Odd = append(ref.Odd, field.Path)
		f.warn(Warning{Where: f.position(d, base), Object: ref.String(), Field: field.Path, Problem: field.Problem + "; the field is taken as unknown", Unread: true})
	}
	if text, err = json.Marshal(m); err == nil {
		if read, err = lifecycle.ReadDocument(text); err == nil {
			*m = read.Machine
		}
	}
}

// nameless records an object without a name: one of its kind is not known.
func (f *file) nameless(d *doc.Document, at int, h head) {
	k := kindOf(h.apiVersion, h.kind)
	if k == nil {
		f.skip(d, at)
		return
	}
	where := f.position(d, at)
	f.warn(Warning{Where: where, Object: h.kind, Problem: "its name is missing", Unread: true})
	f.gap(k.list(&f.s), Gap{Namespace: h.namespace, Where: where, Why: "an object of kind " + h.kind + " has no name"})
}

// skip records a document, or an element of a list, that is not an object of Kubernetes; of each
// file the first.
func (f *file) skip(d *doc.Document, at int) {
	if !f.skipped {
		f.skipped = true
		f.warn(Warning{Where: f.position(d, at), Problem: orElse(forPeople(d.Raw), "this is not an object of Kubernetes"), Foreign: true})
	}
}

func (f *file) warn(w Warning) { f.s.Warnings = append(f.s.Warnings, w) }

// Object reads one object of a running cluster, in JSON. kind is its kind if it does not
// state one; where is for positions, such as the request. The error says why the text is not JSON.
func (r *Reader) Object(text []byte, kind, where string) error {
	r.start()
	outline, err := doc.Parse(text, limits)
	if err != nil {
		return err
	}
	d := &doc.Document{Outline: *outline, Raw: text, Start: fairlead.Position{File: where}, Format: doc.JSON}
	f := file{Reader: r, name: where}
	h := headOf(outline, outline.Root())
	h.kind = orElse(h.kind, kind)
	f.object(d, text, 0, h, "")
	return nil
}

// Listed records that all objects of a kind of a running cluster were read, or those of namespaces.
func (r *Reader) Listed(kind string, namespaces ...string) {
	if k := byName[kind]; k != nil {
		s := k.list(&r.s).scope()
		s.All, s.Assumed = s.All && !s.Assumed || len(namespaces) == 0, false
		s.Namespaces = append(s.Namespaces, namespaces...)
	}
}

// Missed records what could not be read of a kind.
func (r *Reader) Missed(kind string, g Gap) {
	if k := byName[kind]; k != nil {
		s := k.list(&r.s).scope()
		s.Gaps = append(s.Gaps, g)
	}
}

// Snapshot returns what was read. The error is a [*ClusterError].
func (r *Reader) Snapshot() (*Snapshot, error) {
	r.start()
	if r.foreign != nil {
		return nil, r.foreign
	}
	s := &r.s
	for _, l := range s.tables() {
		scope := l.scope()
		if r.lone[l] > 1 && !scope.All { // several files with one object each
			scope.All, scope.Assumed = true, true
		}
		slices.Sort(scope.Namespaces)
		scope.Namespaces = slices.Compact(scope.Namespaces)
		slices.Sort(scope.Names)
		scope.Names = slices.Compact(scope.Names)
		l.sort()
	}
	if !r.Everywhere {
		s.narrow(r.single)
	}
	if len(s.Versions.Items) > 0 {
		s.Versions.Scope.All, s.Versions.Scope.Assumed = true, false
	}
	if r.doubles > 0 {
		s.Warnings = append(s.Warnings, Warning{Problem: "copies of objects that were read before: of each object the copy with the newest resourceVersion is used", Ignored: true, Count: r.doubles})
	}
	s.Clock = r.clock.clock(s)
	s.build()
	return s, nil
}
