package edit

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/names"
	"github.com/fairlead/fairlead/catalog/internal/shape"
	"github.com/fairlead/fairlead/internal/doc"
)

// PackageTemplate describes a new package.
type PackageTemplate struct {
	Name           string // a DNS label
	DefaultChannel string // may be empty, but must be set for the catalog to be valid
	Description    string // text, mostly Markdown; may be empty
	Icon           []byte // an SVG, PNG, JPEG, GIF or WebP image; may be nil
}

// NewPackage returns the olm.package document, as JSON, that begins a package.
// The media type of the icon is found from its content.
func NewPackage(p PackageTemplate) ([]byte, error) {
	if why, hint := names.Label(p.Name); why != "" {
		return nil, fmt.Errorf("catalog: package name %q is not a DNS-1123 label: %s: %s", p.Name, why, hint)
	}
	type icon struct {
		Data      string `json:"base64data"`
		MediaType string `json:"mediatype"`
	}
	document := struct {
		Schema         string `json:"schema"`
		Name           string `json:"name"`
		DefaultChannel string `json:"defaultChannel"`
		Icon           *icon  `json:"icon,omitempty"`
		Description    string `json:"description,omitempty"`
	}{Schema: catalog.SchemaPackage, Name: p.Name, DefaultChannel: p.DefaultChannel, Description: p.Description}
	if p.Icon != nil {
		mediaType := shape.ImageType(p.Icon)
		if mediaType == "" {
			return nil, fmt.Errorf("catalog: package %q: the icon is not an SVG, PNG, JPEG, GIF or WebP image: use one of those", p.Name)
		}
		document.Icon = &icon{base64.StdEncoding.EncodeToString(p.Icon), mediaType}
	}
	var out bytes.Buffer
	if err := doc.WriteIndented(&out, document); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
