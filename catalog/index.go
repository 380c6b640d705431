package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/catalog/internal/inspect"
	"github.com/fairlead/fairlead/catalog/internal/shape"
	"github.com/fairlead/fairlead/internal/doc"
)

// maxFaults is how many faults of one file are reported.
const maxFaults = 100

// maxIndexed is the largest property value that the index holds; larger ones
// stay in the file.
const maxIndexed = 16 << 10

// record is what the index holds of a document of a known schema, each field
// for one schema.
type record struct {
	defaultChannel string  // of an olm.package
	entries        []Entry // of an olm.channel
	image, version string  // of an olm.bundle
	properties     []Property
	large          bool // the value of a property that is no payload stays in the file
}

// indexer builds the indexes of files, one after the other. Each worker has
// one; texts that are equal are held once per indexer.
type indexer struct {
	reader *doc.Reader
	texts  map[string]string
	values map[string]json.RawMessage
	file   *fileIndex
	doc    *doc.Document // the current document
	at     *Document     // what is known about it so far
	path   []step        // to the value being checked
	ok     bool          // no fault in it yet

	inspect inspect.Func // nil if nobody inspects bundles as they are read
}

func newIndexer(o *Options) *indexer {
	reader := doc.NewReader(nil, "", o.limits())
	reader.YAML11()
	reader.LastKeys() // as encoding/json and the YAML of Kubernetes do
	x := &indexer{
		reader: reader,
		texts:  make(map[string]string),
		values: make(map[string]json.RawMessage),
	}
	return x
}

// index indexes one file. The error is that of ctx, or about too many
// documents; faults of the file are in its index.
func (x *indexer) index(ctx context.Context, f *fileIndex, count func() error) error {
	file, err := f.fsys.Open(f.path)
	if err != nil {
		f.faults = append(f.faults, readFault(f.path, err))
		f.broken = append(f.broken, Broken{File: f.path})
		return nil
	}
	defer file.Close()
	x.file = f
	m := measure(ctx, file, f)
	x.reader.Reset(m, f.path, f.size)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		d, err := x.reader.Next()
		if err == io.EOF && m.same() {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && !m.same() {
			f.faults = append(f.faults, f.changed("while it was read"))
			f.broken = append(f.broken, Broken{File: f.path})
			return nil
		}
		if fault := (*doc.Error)(nil); errors.As(err, &fault) {
			b := glimpse(x.reader.Faulty())
			f.broken = append(f.broken, b.at(f.path))
			d := contentFault(fault)
			d.Subject = b.subject()
			f.faults = append(f.faults, d)
		} else if err != nil {
			f.faults = append(f.faults, readFault(f.path, err))
			f.broken = append(f.broken, Broken{File: f.path})
			return nil
		} else {
			if err := count(); err != nil {
				return err
			}
			x.document(d)
		}
		if len(f.faults) >= maxFaults {
			f.faults = append(f.faults, &Diagnostic{
				Pos: Position{File: f.path}, Code: CodeLimit,
				Message: "there are more than " + strconv.Itoa(maxFaults) + " faults; the rest of the file was not read",
				Hint:    "if the file is not part of the catalog, list it in .indexignore",
			})
			f.broken = append(f.broken, Broken{File: f.path})
			return nil
		}
	}
}

// contentFault turns a document's error into a finding, and says what to do
// about it in a catalog.
func contentFault(e *doc.Error) *Diagnostic {
	d := Diagnose(e)
	switch d.Code {
	case CodeNotObject, CodeEncoding:
		d.Hint += ", or list the file in .indexignore if it is not part of the catalog"
	case CodeLimit:
		if limit := (*LimitError)(nil); errors.As(e, &limit) && limitOptions[limit.What] != "" {
			d.Hint = "raise Options." + limitOptions[limit.What] + " if the document is meant to be this large"
		}
	}
	return d
}

// limitOptions are the options that set the limits of documents.
var limitOptions = map[string]string{
	doc.SizeLimit: "MaxDocumentSize", doc.DepthLimit: "MaxDepth", doc.NodesLimit: "MaxYAMLNodes",
}

func readFault(path string, err error) *Diagnostic {
	d := &Diagnostic{Pos: Position{File: path}, Code: CodeRead, Message: "cannot be read: " + err.Error(), Err: err}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		d.Message = "cannot be read: " + pe.Err.Error()
	}
	return d
}

// text returns b as a string, shared by equal ones.
func (x *indexer) text(b []byte) string {
	if s, ok := x.texts[string(b)]; ok {
		return s
	}
	s := string(b)
	x.texts[s] = s
	return s
}

// fault reports something about the value of n.
func (x *indexer) fault(code Code, n doc.Node, message, hint string) {
	x.ok = false
	x.file.faults = append(x.file.faults, &Diagnostic{
		Pos: x.doc.Position(n.Start), Code: code, Subject: x.at.Subject(), Message: message, Hint: hint,
	})
}

// document adds one document to the file's index.
func (x *indexer) document(d *doc.Document) {
	x.doc, x.ok = d, true
	x.at = &Document{src: x.file, offset: d.Offset, length: len(d.Raw), start: d.Start, pos: d.Position(0), format: d.Format}
	x.head()
	if x.at.schema == "" {
		x.file.broken = append(x.file.broken, x.brokenAt(d))
		if x.ok {
			x.ok = false
			x.file.faults = append(x.file.faults, &Diagnostic{
				Pos: d.Position(0), Code: CodeNoSchema, Subject: x.at.Subject(),
				Message: "the document has no schema field", Hint: "add one, such as schema: olm.bundle, or list the file in .indexignore",
			})
		}
		return
	}
	if want := shape.Schema(x.at.schema); want != nil {
		for n := range d.Root() {
			if f := want.Field(d.Key(n)); f.Name != "" {
				x.checkIn(step{name: f.Name}, n, f.Shape)
			}
		}
	}
	if !x.ok {
		x.file.broken = append(x.file.broken, x.brokenAt(d))
		return
	}
	x.file.docs = append(x.file.docs, x.at)
	x.repeats(d)
	switch x.at.schema {
	case SchemaPackage:
		x.at.record = &record{defaultChannel: x.textOf("defaultChannel")}
	case SchemaChannel:
		x.at.record = &record{entries: x.entries()}
	case SchemaBundle:
		x.at.record = &record{image: x.textOf("image")}
		x.properties(x.at.record)
		if x.inspect != nil {
			x.inspect(x.at, d)
		}
	}
}

// repeats warns of keys that occur again in the same object.
func (x *indexer) repeats(d *doc.Document) {
	again := d.Repeats()
	x.at.repeats = len(again) > 0
	for _, k := range again {
		if len(x.file.warnings) == maxFaults {
			return
		}
		x.file.warnings = append(x.file.warnings, &Diagnostic{
			Pos: k.Pos, Code: CodeDuplicateKey, Subject: x.at.Subject(),
			Message: "the key " + strconv.Quote(k.Key) + " is already in this object; this one counts", Hint: "keep one of the two",
		})
	}
}

// head reads the three fields that every document may have.
func (x *indexer) head() {
	for _, f := range []struct {
		name string
		to   *string
	}{{"schema", &x.at.schema}, {"package", &x.at.pkg}, {"name", &x.at.name}} {
		found := ""
		for n := range x.doc.Root() {
			key := x.doc.Key(n)
			if string(key) != f.name && !strings.EqualFold(string(key), f.name) {
				continue
			}
			if found != "" {
				x.fault(CodeDuplicateKey, n, "the keys "+strconv.Quote(found)+" and "+strconv.Quote(string(key))+" both mean "+f.name, "keep one of the two")
				continue
			}
			found = string(key)
			if value, ok := x.doc.Text(n); ok {
				*f.to = x.text(value)
			} else {
				x.checkIn(step{name: f.name}, n, &shape.Shape{Kind: shape.Text})
			}
		}
	}
}

func (x *indexer) textOf(name string) string {
	n, _ := x.doc.Field(x.doc.Root(), name)
	value, _ := x.doc.Text(n)
	return x.text(value)
}

// entries reads the entries of a channel.
func (x *indexer) entries() []Entry {
	list, ok := x.doc.Field(x.doc.Root(), "entries")
	if !ok {
		return nil
	}
	var entries []Entry
	for n := range x.doc.Children(list) {
		var e Entry
		for m := range x.doc.Children(n) {
			value, _ := x.doc.Text(m)
			switch key := string(x.doc.Key(m)); {
			case strings.EqualFold(key, "name"):
				e.Name = x.text(value)
			case strings.EqualFold(key, "replaces"):
				e.Replaces = x.text(value)
			case strings.EqualFold(key, "skipRange"):
				e.SkipRange = x.text(value)
			case strings.EqualFold(key, "skips"):
				for s := range x.doc.Children(m) {
					value, _ := x.doc.Text(s)
					e.Skips = append(e.Skips, x.text(value))
				}
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// properties reads the properties of a bundle, and keeps the values that are
// neither payload nor large. The version is that of the first olm.package
// property.
func (x *indexer) properties(r *record) {
	list, _ := x.doc.Field(x.doc.Root(), "properties")
	n := 0
	for range x.doc.Children(list) {
		n++
	}
	if n == 0 {
		return
	}
	r.properties = make([]Property, 0, n)
	for n := range x.doc.Children(list) {
		name, v := shape.Property(x.doc, n)
		p := Property{Type: x.text(name)}
		switch {
		case isPayload(p.Type) || v.End == 0:
		case v.End-v.Start > maxIndexed:
			r.large = true
		default:
			p.Value = x.value(x.doc.Value(v))
		}
		if p.Type == PropertyPackage && r.version == "" {
			at, _ := x.doc.Field(x.doc.Children(v), "version")
			text, _ := x.doc.Text(at)
			r.version = x.text(text)
		}
		r.properties = append(r.properties, p)
	}
}

// value returns a copy of a property's value, shared by equal ones.
func (x *indexer) value(b []byte) json.RawMessage {
	if v, ok := x.values[string(b)]; ok {
		return v
	}
	v := json.RawMessage(string(b))
	x.values[string(b)] = v
	return v
}
