package catalog

import (
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/catalog/internal/shape"
	"github.com/fairlead/fairlead/internal/doc"
)

// The known schemas. A document of any other schema is kept as it is.
const (
	SchemaPackage      = "olm.package"
	SchemaChannel      = "olm.channel"
	SchemaBundle       = "olm.bundle"
	SchemaDeprecations = "olm.deprecations"
)

// Document is one document of a catalog: its kind and position. Its text stays
// in its file.
type Document struct {
	schema, pkg, name string
	src               source
	offset            int64
	length            int
	start             Position // of the source
	pos               Position // of the value, after comments
	format            doc.Format
	repeats           bool    // some object in it has a key twice
	record            *record // nil for unknown schemas, and deprecations
}

// A source gives the bytes of documents.
type source interface {
	read(offset int64, length int) ([]byte, error)
}

// Schema returns the document's schema.
func (d *Document) Schema() string { return d.schema }

// Package returns the name of the package that the document belongs to. For an
// olm.package document that is its own name.
func (d *Document) Package() string {
	if d.schema == SchemaPackage {
		return d.name
	}
	return d.pkg
}

// Name returns the document's name, which some schemas do not have.
func (d *Document) Name() string { return d.name }

// Pos returns where the document starts.
func (d *Document) Pos() Position { return d.pos }

// Start returns the position of the document's source, which may begin with
// comments.
func (d *Document) Start() Position { return d.start }

// Offset returns the offset of the document's source in its file, in bytes; 0
// for a document that is not in a file.
func (d *Document) Offset() int64 { return d.offset }

// Size returns the length of the document's source in bytes.
func (d *Document) Size() int { return d.length }

// IsYAML reports whether the document is written in YAML rather than JSON.
func (d *Document) IsYAML() bool { return d.format == doc.YAML }

// Entries returns the entries of an olm.channel document in the order they are
// written. The list is the catalog's own and must not be changed.
func (d *Document) Entries() []Entry {
	if d.record == nil {
		return nil
	}
	return d.record.entries
}

// DefaultChannel returns the default channel that an olm.package document
// names, or "".
func (d *Document) DefaultChannel() string {
	if d.record == nil {
		return ""
	}
	return d.record.defaultChannel
}

// Image returns the image of an olm.bundle document, or "".
func (d *Document) Image() string {
	if d.record == nil {
		return ""
	}
	return d.record.image
}

// PropertyIndex returns the properties of an olm.bundle document as the index
// has them, in the order they are written: no file is read, and of payloads
// and of values larger than 16 KiB the Value is nil. The list is the catalog's
// own and must not be changed.
func (d *Document) PropertyIndex() []Property {
	if d.record == nil {
		return nil
	}
	return d.record.properties
}

// Raw returns the document's source, byte for byte, as a copy that the caller
// owns. It reads the file.
func (d *Document) Raw() ([]byte, error) { return d.src.read(d.offset, d.length) }

// JSON returns the document as JSON text: the source itself, or the equivalent
// of the YAML source, with numbers as written there. Of a key that an object has
// twice, only the last one is in it. It reads the file; the caller owns the result.
func (d *Document) JSON() ([]byte, error) {
	loaded, err := doc.Reload(d)
	if err != nil {
		return nil, err
	}
	return loaded.JSON, nil
}

// Decode decodes the document's JSON text into v by the rules of
// encoding/json, accepting field names in any case. The error of a value that
// does not fit is a *Diagnostic with its position. It reads the file.
func (d *Document) Decode(v any) error {
	loaded, err := doc.Reload(d)
	if err != nil {
		return err
	}
	if at, err := doc.Unmarshal(loaded.JSON, v); err != nil {
		return &Diagnostic{
			Pos: loaded.Position(at), Code: CodeType, Subject: d.Subject(),
			Message: "the value does not fit: " + err.Error(), Err: err,
		}
	}
	return nil
}

// Locate returns the position of a value in the document: keys of objects, as
// strings, and indexes of lists, as ints, lead to it. If they lead no further,
// it is the position of the last value found. It reads the file.
func (d *Document) Locate(path ...any) (Position, error) {
	loaded, err := doc.Reload(d)
	if err != nil {
		return d.start, err
	}
	return loaded.Position(doc.Tree(loaded.JSON).At(path...).Offset), nil
}

// Properties returns the document's properties in the order they are written:
// those of a package, channel or bundle, or of any other schema that has a
// list of that form. It reads the file.
func (d *Document) Properties() ([]Property, error) {
	return d.properties(func(string) bool { return true })
}

// properties returns the properties whose types keep accepts.
func (d *Document) properties(keep func(propertyType string) bool) ([]Property, error) {
	loaded, err := doc.Reload(d)
	if err != nil {
		return nil, err
	}
	var all []Property
	list, _ := loaded.Field(loaded.Root(), "properties")
	for n := range loaded.Children(list) {
		name, value := shape.Property(loaded, n)
		if p := (Property{Type: string(name)}); keep(p.Type) {
			if value.End > 0 {
				p.Value = loaded.Value(value)
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// Subject names the document in findings, such as: package "shop", channel
// "stable".
func (d *Document) Subject() string {
	kind := "document"
	switch d.schema {
	case SchemaPackage, SchemaChannel, SchemaBundle, SchemaDeprecations:
		kind = strings.TrimPrefix(d.schema, "olm.")
	case "":
	default:
		kind = d.schema
	}
	subject := ""
	if d.pkg != "" {
		subject = "package " + strconv.Quote(d.pkg) + ", "
	}
	switch {
	case d.name != "":
		return subject + kind + " " + strconv.Quote(d.name)
	case d.pkg != "" || d.schema != "":
		return subject + kind
	}
	return ""
}

// NewDocument makes a document of JSON text, one object, as if it were at a
// position, which messages about it name. The text is held in memory. Faults
// are returned as [Diagnostics].
func NewDocument(text []byte, at Position) (*Document, error) {
	loaded, err := doc.Load(text, at, doc.JSON)
	if err != nil {
		return nil, Diagnostics{Diagnose(err)}
	}
	if again := loaded.Repeats(); len(again) > 0 {
		return nil, Diagnostics{{
			Pos: again[0].Pos, Code: CodeDuplicateKey,
			Message: "the key " + strconv.Quote(again[0].Key) + " is already in this object", Hint: "keep one of the two",
		}}
	}
	o := (*Options)(nil).withDefaults()
	x := newIndexer(&o)
	x.file = &fileIndex{}
	x.document(loaded)
	if len(x.file.faults) > 0 {
		return nil, x.file.faults.Sorted()
	}
	made := x.file.docs[0]
	made.src, made.offset = memory(text), 0
	return made, nil
}
