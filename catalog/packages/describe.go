package packages

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	facts "github.com/fairlead/fairlead/catalog/internal/csv"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/semverx"
)

// csv is the part of a CSV that a view shows.
type csv struct {
	name   string
	labels map[string]string
	Description
}

// csvError says why a bundle's CSV cannot be shown.
type csvError struct{ why string }

func (e *csvError) Error() string { return e.why }

// describe reads the CSV of a bundle: the manifest if there is one, otherwise
// its metadata. An error is a *csvError, or that of reading.
func describe(b *catalog.Bundle) (*csv, error) {
	properties, err := b.Properties()
	if err != nil {
		return nil, err
	}
	var metadata json.RawMessage
	for _, p := range properties {
		switch p.Type {
		case catalog.PropertyCSVMetadata:
			metadata = p.Value
		case catalog.PropertyBundleObject:
			manifest, err := facts.ManifestJSON(p.Value)
			if err != nil {
				continue
			}
			var kind struct{ Kind string }
			if _, err := doc.Unmarshal(manifest, &kind); err == nil && kind.Kind == "ClusterServiceVersion" {
				return ofManifest(b, manifest)
			}
		}
	}
	if metadata == nil {
		return nil, &csvError{"its head " + b.Name() + " carries neither the manifest of a CSV nor olm.csv.metadata"}
	}
	return ofMetadata(b, metadata)
}

// manifest is a CSV.
type manifest struct {
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
		Notes  map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Description
		Icons  []icon                 `json:"icon"`
		Images []catalog.RelatedImage `json:"relatedImages"`
		Native []GVK                  `json:"nativeAPIs"`
		Launch struct {
			Strategy string `json:"strategy"`
			Spec     struct {
				Deployments []struct {
					Spec struct {
						Template struct {
							Spec struct {
								Containers     []image `json:"containers"`
								InitContainers []image `json:"initContainers"`
							} `json:"spec"`
						} `json:"template"`
					} `json:"spec"`
				} `json:"deployments"`
			} `json:"spec"`
		} `json:"install"`
	} `json:"spec"`
}

// image is a container, of which only the image counts.
type image struct {
	Image string `json:"image"`
}

// icon is an image in a CSV, where the field of its data is base64data.
type icon struct {
	Data      string `json:"base64data"`
	MediaType string `json:"mediatype"`
}

func ofManifest(b *catalog.Bundle, text []byte) (*csv, error) {
	var m manifest
	if _, err := doc.Unmarshal(text, &m); err != nil {
		return nil, &csvError{"the CSV of its head " + b.Name() + " cannot be decoded: " + err.Error()}
	}
	c := &csv{m.Metadata.Name, m.Metadata.Labels, m.Spec.Description}
	c.Annotations, c.NativeAPIs = m.Metadata.Notes, m.Spec.Native
	for _, i := range m.Spec.Icons {
		c.Icon = append(c.Icon, catalog.Icon(i))
	}
	c.Version = "0.0.0"
	if v := m.Spec.Version; v != "" {
		version, err := semverx.ParseTolerant(v)
		if err != nil {
			return nil, &csvError{"the CSV of its head " + b.Name() + ": " + err.Error()}
		}
		c.Version = version.String()
	}
	images := map[string]bool{}
	if m.Spec.Launch.Strategy == "deployment" { // for any other, the package server finds none
		for _, d := range m.Spec.Launch.Spec.Deployments {
			for _, i := range slices.Concat(d.Spec.Template.Spec.Containers, d.Spec.Template.Spec.InitContainers) {
				images[i.Image] = true
			}
		}
	}
	return c.with(images, m.Spec.Images), nil
}

// with adds images.
func (c *csv) with(images map[string]bool, related []catalog.RelatedImage) *csv {
	for _, i := range related {
		images[i.Image] = true
	}
	c.RelatedImages = slices.Sorted(maps.Keys(images))
	return c
}

func ofMetadata(b *catalog.Bundle, value []byte) (*csv, error) {
	var m struct {
		Description
		Labels map[string]string `json:"labels"`
		CRDs   CRDs              `json:"crdDescriptions"`
		APIs   APIServices       `json:"apiServiceDefinitions"`
		Native []GVK             `json:"nativeAPIs"`
	}
	if _, err := doc.Unmarshal(value, &m); err != nil {
		return nil, &csvError{"the olm.csv.metadata of its head " + b.Name() + " cannot be decoded: " + err.Error()}
	}
	c := &csv{b.Name(), m.Labels, m.Description}
	c.CRDs, c.APIServices, c.NativeAPIs, c.Version = m.CRDs, m.APIs, m.Native, b.Version()
	info, err := b.Package().Info()
	if err != nil {
		return nil, err
	}
	if c.Icon = nil; info.Icon != (catalog.Icon{}) {
		c.Icon = []catalog.Icon{info.Icon}
	}
	if c.Description.Description == "" {
		c.Description.Description = info.Description
	}
	images, err := b.RelatedImages()
	if err != nil {
		return nil, err
	}
	return c.with(map[string]bool{}, images), nil
}
