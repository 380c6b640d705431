package catalog

// Bundle is an olm.bundle document: one version of an operator.
type Bundle struct {
	doc *Document
	pkg *Package
}

// Name returns the bundle's name.
func (b *Bundle) Name() string { return b.doc.name }

// Package returns the package that the bundle belongs to.
func (b *Bundle) Package() *Package { return b.pkg }

// Image returns the reference of the bundle's image.
func (b *Bundle) Image() string { return b.doc.record.image }

// Version returns the version in the bundle's first olm.package property, as
// written, or "".
func (b *Bundle) Version() string { return b.doc.record.version }

// Document returns the bundle's document.
func (b *Bundle) Document() *Document { return b.doc }

// Raw returns the bundle's source as it is in its file, which it reads.
func (b *Bundle) Raw() ([]byte, error) { return b.doc.Raw() }

// Facts returns the properties that a resolver uses, in the order they are
// written: all except the payloads of type olm.bundle.object and
// olm.csv.metadata. They are in the index, so no file is read unless a value
// is larger than 16 KiB; only then can there be an error.
func (b *Bundle) Facts() ([]Property, error) {
	facts := make([]Property, 0, len(b.doc.record.properties))
	if b.doc.record.large {
		return b.doc.properties(func(t string) bool { return !isPayload(t) })
	}
	for _, p := range b.doc.record.properties {
		if !isPayload(p.Type) {
			facts = append(facts, p)
		}
	}
	return facts, nil
}

// Properties returns all properties of the bundle in the order they are
// written, payloads included. It reads the bundle's file; Facts is the cheap
// way to get those that resolution needs.
func (b *Bundle) Properties() ([]Property, error) { return b.doc.Properties() }
