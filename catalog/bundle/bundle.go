package bundle

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// Bundle is what a registry+v1 bundle directory holds. It does not change
// after [Read] and may be used by many goroutines; callers must not change
// what it refers to.
type Bundle struct {
	// CSV is the first ClusterServiceVersion among the manifests, in the order
	// of file names, or nil.
	CSV *CSV
	// CRDs are the CustomResourceDefinitions in the order of file names.
	CRDs []*CRD
	// Manifests are all objects of the bundle, CSV and CRDs among them, in the
	// order of file names.
	Manifests []*Manifest
	// Annotations are those of the bundle, not of the CSV.
	Annotations Annotations
	// Dependencies are those of dependencies.yaml, in its order.
	Dependencies []Property
	// Properties are those of properties.yaml, in its order. Further properties
	// follow from the bundle's content: see [Bundle.Render].
	Properties []Property

	found findings   // what Read came across
	files []fileInfo // the files of manifests and metadata, and the directories in them
}

// Name returns the name of the bundle, which is that of its CSV, or "".
func (b *Bundle) Name() string {
	if b.CSV == nil {
		return ""
	}
	return b.CSV.Metadata.Name
}

// Package returns the name of the package that the annotations put the bundle
// in, or "".
func (b *Bundle) Package() string { return b.Annotations.Get(AnnotationPackage) }

// Version returns the version in the CSV, as written, or "".
func (b *Bundle) Version() string {
	if b.CSV == nil {
		return ""
	}
	return b.CSV.Spec.Version
}

// Release returns the release in the CSV, or "". A numeric release is spelt as
// the reference spells it: without a fraction if it is whole.
func (b *Bundle) Release() string {
	if b.CSV == nil {
		return ""
	}
	release, _ := releaseText(b.CSV.Spec.Release)
	return release
}

// Channels returns the channels that the annotations put the bundle in, in
// their order. Like the reference, it does not trim them.
func (b *Bundle) Channels() []string {
	channels := b.Annotations.Get(AnnotationChannels)
	if channels == "" {
		return nil
	}
	return strings.Split(channels, ",")
}

// DefaultChannel returns the channel that the annotations name as the
// package's default, or the first of [Bundle.Channels] in lexical order, or "".
func (b *Bundle) DefaultChannel() string {
	if name := b.Annotations.Get(AnnotationDefaultChannel); name != "" {
		return name
	}
	if channels := b.Channels(); len(channels) > 0 {
		return slices.Min(channels)
	}
	return ""
}

// subject names the bundle in findings.
func (b *Bundle) subject() string {
	if name := b.Name(); name != "" {
		return "bundle " + quote(name)
	}
	return ""
}

// The annotations that make a directory a bundle.
const (
	AnnotationMediaType      = "operators.operatorframework.io.bundle.mediatype.v1"
	AnnotationManifests      = "operators.operatorframework.io.bundle.manifests.v1"
	AnnotationMetadata       = "operators.operatorframework.io.bundle.metadata.v1"
	AnnotationPackage        = "operators.operatorframework.io.bundle.package.v1"
	AnnotationChannels       = "operators.operatorframework.io.bundle.channels.v1"
	AnnotationDefaultChannel = "operators.operatorframework.io.bundle.channel.default.v1"
)

// Annotations are the annotations of a bundle.
type Annotations struct {
	// Position is where the document that holds them starts; zero where there
	// is none.
	Position catalog.Position

	values map[string]string
	src    *source
}

// Get returns the annotation named key, or "".
func (a *Annotations) Get(key string) string { return a.values[key] }

// At returns the position of an annotation's value, or of the annotations if
// there is none of that name.
func (a *Annotations) At(key string) catalog.Position {
	if a.src == nil {
		return a.Position
	}
	return a.src.at(member(a.src.tree, string(roleAnnotations)).At(key))
}

// Manifest is one object of a bundle.
type Manifest struct {
	Position   catalog.Position // of the document
	APIVersion string           // group/version, or the version alone
	Kind       string           // kind of the object
	Namespace  string           // its metadata.namespace, usually ""
	Name       string           // its metadata.name, or ""
	// JSON is the object as an olm.bundle.object property holds it: keys
	// sorted, numbers in their shortest form.
	JSON json.RawMessage

	src *source
}

// At returns the position, in the manifest's file, of the value at a path of
// keys (strings) and indices (ints), or of the last value found on the way to
// it.
func (m *Manifest) At(path ...any) catalog.Position { return m.src.position(path...) }

// subject names the manifest in findings.
func (m *Manifest) subject() string {
	kind := m.Kind
	if kind == "" {
		kind = "object"
	}
	if m.Name == "" {
		return kind
	}
	return kind + " " + quote(m.Name)
}

// Property is a property or dependency of a bundle, with its position.
type Property struct {
	catalog.Property
	Position catalog.Position // where its list entry starts

	value *doc.Value
	src   *source
}

func quote(s string) string { return string(doc.AppendText(nil, s)) }
