package catalog

import (
	"encoding/base64"
	"encoding/json"
	"iter"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/catalog/internal/shape"
	"github.com/fairlead/fairlead/internal/doc"
)

// PackageInfo describes a package to people.
type PackageInfo struct {
	Description string `json:"description"` // text, mostly Markdown
	Icon        Icon   `json:"icon"`        // zero when there is none
}

// Icon is an image.
type Icon struct {
	Data      string `json:"base64data"` // the image, in base64
	MediaType string `json:"mediatype"`  // such as image/svg+xml
}

// Bytes returns the decoded image. The error is that of base64.
func (i Icon) Bytes() ([]byte, error) { return base64.StdEncoding.DecodeString(i.Data) }

// Info reads the package's description and icon from its file.
func (p *Package) Info() (PackageInfo, error) {
	var info PackageInfo
	err := p.Document().Decode(&info)
	return info, err
}

// RelatedImage is an image that a bundle needs besides its own.
type RelatedImage struct {
	Name  string `json:"name"`  // its name in the bundle; may be empty
	Image string `json:"image"` // reference of the image
}

// RelatedImages reads the bundle's related images from its file, in the order
// they are written.
func (b *Bundle) RelatedImages() ([]RelatedImage, error) {
	var images struct {
		List []RelatedImage `json:"relatedImages"`
	}
	err := b.Document().Decode(&images)
	return images.List, err
}

// Provides returns the APIs that the bundle provides by olm.gvk properties, in the
// order they are written. Properties that name no API are skipped.
func (b *Bundle) Provides() iter.Seq[GVK] {
	return func(yield func(GVK) bool) {
		for _, r := range b.doc.record.properties {
			if r.Type != PropertyGVK {
				continue
			}
			if gvk, ok := parseGVK(r.Value); ok && !yield(gvk) {
				return
			}
		}
	}
}

// parseGVK reads the value of an olm.gvk property.
func parseGVK(value json.RawMessage) (gvk GVK, ok bool) {
	if value == nil {
		return gvk, false
	}
	_, err := doc.Unmarshal(value, &gvk)
	return gvk, err == nil
}

// Deprecation says that a package, channel or bundle should no longer be used.
type Deprecation struct {
	// Reference is what is deprecated. The name is empty for the package.
	Reference Reference `json:"reference"`
	// Message is shown to users unchanged.
	Message string `json:"message"`
}

// Reference names the package it is used in, or one of its channels or bundles.
type Reference struct {
	Schema string `json:"schema"`         // olm.package, olm.channel or olm.bundle
	Name   string `json:"name,omitempty"` // empty for the package
}

// String returns the reference in words, such as: channel "beta".
func (r Reference) String() string {
	switch r.Schema {
	case SchemaPackage:
		return "the package"
	case SchemaChannel:
		return "channel " + strconv.Quote(r.Name)
	case SchemaBundle:
		return "bundle " + strconv.Quote(r.Name)
	}
	return strconv.Quote(r.Schema) + " " + strconv.Quote(r.Name)
}

// DeprecationDocuments returns the package's olm.deprecations documents, by
// path of their file and place in it. A valid catalog has at most one.
func (p *Package) DeprecationDocuments() iter.Seq[*Document] { return slices.Values(p.deprecations) }

// Deprecations reads what is deprecated in the package, from all its
// olm.deprecations documents, in the order they are written.
func (p *Package) Deprecations() ([]Deprecation, error) {
	var all []Deprecation
	for _, d := range p.deprecations {
		var list struct {
			Entries []Deprecation `json:"entries"`
		}
		if err := d.Decode(&list); err != nil {
			return nil, err
		}
		all = append(all, list.Entries...)
	}
	return all, nil
}

// Others returns the documents of unknown schemas, by path and place in the file.
func (c *Catalog) Others() iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		for d := range c.Documents() {
			if shape.Schema(d.schema) == nil && !yield(d) {
				return
			}
		}
	}
}
