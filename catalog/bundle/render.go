package bundle

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/fairlead/fairlead/catalog"
)

// RenderOptions say how a bundle becomes an olm.bundle document. The zero
// value gives one without an image.
type RenderOptions struct {
	// Image is the reference of the bundle's image. It is a template (see
	// text/template) over {{.Package}}, {{.Name}} and {{.Version}}: the
	// package of the annotations, the name of the CSV, and the version of the
	// first olm.package property stated.
	Image string
	// CSVMetadata puts one olm.csv.metadata property in place of the
	// olm.bundle.object properties that hold every manifest, as clusters from
	// 4.17 on read it. The manifests are then only in the image, so this needs an
	// Image; without one the objects stay.
	CSVMetadata bool
}

// Document is an olm.bundle document. Its JSON form is that of the catalog.
type Document struct {
	Schema        string                 `json:"schema"`                  // olm.bundle
	Name          string                 `json:"name,omitempty"`          // name of the CSV
	Package       string                 `json:"package,omitempty"`       // package it belongs to
	Image         string                 `json:"image"`                   // reference of its image, or ""
	Properties    []catalog.Property     `json:"properties,omitempty"`    // see Bundle.Render for their order
	RelatedImages []catalog.RelatedImage `json:"relatedImages,omitempty"` // by image, then by name

	// CSV is the ClusterServiceVersion that the document was made from. It is not
	// part of the document; templates take a package's description and icon from
	// it.
	CSV json.RawMessage `json:"-"`
}

// WriteJSON writes the document as one JSON object, indented by four spaces as
// catalogs are.
func (d *Document) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "    ")
	return enc.Encode(d)
}

// Render returns the bundle as an olm.bundle document, as the reference does:
//
//  1. Properties are those that the bundle states and those that follow from
//     its content, sorted by type and value, each olm.package, olm.gvk and
//     olm.gvk.required once. The payload comes last: an olm.bundle.object for
//     every manifest, sorted by its text, or one olm.csv.metadata.
//  2. Related images are those of the CSV, the bundle's own and those that the
//     containers of its deployments run, the latter unless a related image is
//     equal, sorted by image and then by name.
//
// What the CSV says about updates (replaces, skips, olm.skipRange) is not in it:
// that is in channels.
//
// A bundle that the reference rejects is rejected, too, with
// [catalog.Diagnostics] that say why; see [Bundle.Validate] for everything that
// is wrong with it. An Image that is not a template is a separate error.
func (b *Bundle) Render(opts *RenderOptions) (*Document, error) {
	if opts == nil {
		opts = &RenderOptions{}
	}
	found := b.stopping()
	if ds := found.sorted(func(f finding) bool { return f.stops }); len(ds) > 0 {
		return nil, ds
	}
	s, err := b.synthesize()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.subject(), err)
	}
	d := &Document{Schema: catalog.SchemaBundle, Name: b.Name(), Package: b.Package(), CSV: b.CSV.manifest.JSON}
	if d.Image, err = b.image(opts.Image, s); err != nil {
		return nil, err
	}
	d.RelatedImages = b.relatedImages(d.Image)
	var payload []catalog.Property
	d.Properties, payload = partPayload(s.props)
	for _, m := range b.Manifests {
		const before, after = `{"data":"`, `"}`
		value := make(json.RawMessage, 0, len(before)+base64.StdEncoding.EncodedLen(len(m.JSON))+len(after))
		value = append(base64.StdEncoding.AppendEncode(append(value, before...), m.JSON), after...)
		payload = append(payload, catalog.Property{Type: catalog.PropertyBundleObject, Value: value})
	}
	slices.SortFunc(payload, func(a, b catalog.Property) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), bytes.Compare(a.Value, b.Value))
	})
	if opts.CSVMetadata && d.Image != "" && !slices.ContainsFunc(payload, isCSVMetadata) {
		value, err := b.csvMetadata()
		if err != nil {
			return nil, err
		}
		payload = []catalog.Property{{Type: catalog.PropertyCSVMetadata, Value: value}}
	}
	d.Properties = append(d.Properties, payload...)
	return d, nil
}

func isCSVMetadata(p catalog.Property) bool { return p.Type == catalog.PropertyCSVMetadata }

// partPayload separates the properties that hold payload from the others.
func partPayload(props []catalog.Property) (others, payload []catalog.Property) {
	for _, p := range props {
		if p.Type == catalog.PropertyBundleObject || isCSVMetadata(p) {
			payload = append(payload, p)
		} else {
			others = append(others, p)
		}
	}
	return others, payload
}

// image executes the template of the image's reference.
func (b *Bundle) image(text string, s *synthesis) (string, error) {
	t, err := template.New("image").Parse(text)
	if err != nil {
		return "", fmt.Errorf("bundle: the image %q is not a template: %w; write it as in quay.io/example/{{.Package}}:{{.Version}}", text, err)
	}
	data := struct{ Package, Name, Version string }{Package: b.Package(), Name: b.Name()}
	if s.first != nil {
		data.Version = s.first.Version
	}
	var out strings.Builder
	if err := t.Execute(&out, data); err != nil {
		return "", fmt.Errorf("bundle: the image %q cannot be expanded: %w; the fields are Package, Name and Version", text, err)
	}
	return out.String(), nil
}

// relatedImages returns the images that the bundle needs.
func (b *Bundle) relatedImages(image string) []catalog.RelatedImage {
	all := slices.Clone(b.CSV.Spec.RelatedImages)
	seen := make(map[string]bool, len(all))
	for _, r := range all {
		seen[r.Image] = true
	}
	if image != "" && !seen[image] {
		all = append(all, catalog.RelatedImage{Image: image})
	}
	for _, c := range b.CSV.containers() {
		if !seen[c.Image] {
			all = append(all, catalog.RelatedImage{Image: c.Image})
		}
		seen[c.Image] = true
	}
	slices.SortStableFunc(all, func(a, b catalog.RelatedImage) int {
		return cmp.Or(cmp.Compare(a.Image, b.Image), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// containers returns the containers of all deployments, or none if the install
// strategy is not deployment.
func (c *CSV) containers() []Container {
	if c.Spec.Install.Strategy != "deployment" {
		return nil
	}
	var all []Container
	for _, d := range c.Spec.Install.Spec.Deployments {
		all = append(all, d.Spec.Template.Spec.Containers...)
		all = append(all, d.Spec.Template.Spec.InitContainers...)
	}
	return all
}
