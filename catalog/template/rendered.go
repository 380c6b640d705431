package template

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/semverx"
)

// rendered is what templates need to know about a bundle.
type rendered struct {
	json                 json.RawMessage
	name, pkg, image     string
	packages             []packageProperty // of its olm.package properties
	properties           []catalog.Property
	csv                  *csv
	metadata             *csvMetadata
	version              semverx.Version
	versionText, release string
}

type packageProperty struct {
	PackageName string `json:"packageName"`
	Version     string `json:"version"`
	Release     string `json:"release"`
}

// csv is what templates take from a ClusterServiceVersion.
type csv struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Description string `json:"description"`
		Icon        []icon `json:"icon"`
	} `json:"spec"`
}

type icon struct {
	Data      string `json:"base64data"`
	MediaType string `json:"mediatype"`
}

// csvMetadata is what templates take from an olm.csv.metadata property.
type csvMetadata struct {
	Annotations map[string]string `json:"annotations"`
	Description string            `json:"description"`
}

// read reads a bundle, or says why it is not one.
func read(b Bundle) (r *rendered, fault string) {
	o, err := doc.Parse(b.JSON, doc.Limits{})
	if err != nil {
		return nil, err.Error()
	}
	var d struct {
		Schema     string             `json:"schema"`
		Name       string             `json:"name"`
		Package    string             `json:"package"`
		Image      string             `json:"image"`
		Properties []catalog.Property `json:"properties"`
	}
	if faults := doc.Decode(doc.Tree(o.JSON), &d, 0); len(faults) > 0 {
		return nil, faults[0].Error()
	}
	switch {
	case d.Schema != catalog.SchemaBundle:
		return nil, fmt.Sprintf("its schema is %q, not %s", d.Schema, catalog.SchemaBundle)
	case d.Name == "":
		return nil, "it has no name"
	}
	r = &rendered{json: b.JSON, name: d.Name, pkg: d.Package, image: d.Image, properties: d.Properties}
	for i, p := range d.Properties {
		if p.Type != catalog.PropertyPackage {
			continue
		}
		var pkg packageProperty
		if v := doc.Tree(p.Value); v == nil {
			return nil, fmt.Sprintf("properties[%d], of type %s, has no value", i, p.Type)
		} else if faults := doc.Decode(v, &pkg, 0); len(faults) > 0 {
			faults[0].Steps = append([]any{"properties", i, "value"}, faults[0].Steps...)
			return nil, faults[0].Error()
		}
		r.packages = append(r.packages, pkg)
	}
	r.payload(b.CSV)
	return r, ""
}

// payload looks for the CSV, given or among the properties. What cannot be
// read does not count as a CSV.
func (r *rendered) payload(given json.RawMessage) {
	if c := new(csv); len(given) > 0 && json.Unmarshal(given, c) == nil {
		r.csv = c
	}
	for _, p := range r.properties {
		switch p.Type {
		case catalog.PropertyCSVMetadata:
			if m := new(csvMetadata); json.Unmarshal(p.Value, m) == nil && r.metadata == nil {
				r.metadata = m
			}
		case catalog.PropertyBundleObject:
			var object struct {
				Data []byte `json:"data"`
			}
			if c := new(csv); r.csv == nil && json.Unmarshal(p.Value, &object) == nil && json.Unmarshal(object.Data, c) == nil && c.Kind == "ClusterServiceVersion" {
				r.csv = c
			}
		}
	}
}

// description returns the text that describes the package, or "".
func (r *rendered) description() string {
	if r.csv != nil && r.csv.Spec.Description != "" {
		return r.csv.Spec.Description
	}
	if r.metadata != nil {
		return r.metadata.Description
	}
	return ""
}

// icon returns the first icon, or nil, and why it cannot be used.
func (r *rendered) icon() (first *icon, fault string) {
	if r.csv == nil || len(r.csv.Spec.Icon) == 0 {
		return nil, ""
	}
	first = &r.csv.Spec.Icon[0]
	if _, err := base64.StdEncoding.DecodeString(first.Data); err != nil {
		return nil, "its data is not base64: " + err.Error()
	}
	return first, ""
}

// annotation returns an annotation of the CSV, or "".
func (r *rendered) annotation(key string) string {
	if r.csv != nil && r.csv.Metadata.Annotations[key] != "" {
		return r.csv.Metadata.Annotations[key]
	}
	if r.metadata != nil {
		return r.metadata.Annotations[key]
	}
	return ""
}

// versions reads version and release from the olm.package property, of which
// there must be exactly one, or says what is wrong with it.
func (r *rendered) versions() (fault, hint string) {
	if len(r.packages) != 1 {
		return fmt.Sprintf("bundle %q has %d properties of type %s", r.name, len(r.packages), catalog.PropertyPackage), "a bundle must have exactly one"
	}
	p := r.packages[0]
	v, err := semverx.Parse(p.Version)
	if err != nil {
		hint = "write major, minor and patch"
		if near, err := semverx.ParseTolerant(p.Version); err == nil {
			hint = fmt.Sprintf("write %q in the bundle", near)
		}
		return fmt.Sprintf("bundle %q has version %q, which is not a semantic version", r.name, p.Version), hint
	}
	r.version, r.versionText, r.release = v, p.Version, p.Release
	// Before there were releases, bundles that substitute others gave them as
	// build metadata.
	if r.release == "" && r.annotation("olm.substitutesFor") != "" {
		r.release = v.Build()
	}
	if _, err := r.releaseVersion(); err != nil {
		return fmt.Sprintf("bundle %q has release %q, which is not a release", r.name, r.release), "write identifiers of letters, digits and hyphens separated by dots"
	}
	return "", ""
}

// releaseVersion returns a version that is ordered as the release is.
func (r *rendered) releaseVersion() (semverx.Version, error) {
	if r.release == "" {
		return semverx.Version{}, nil
	}
	return semverx.Parse("0.0.0-" + r.release)
}

// compare orders bundles by version and then by release; a bundle without a
// release comes first.
func (r *rendered) compare(o *rendered) int {
	if c := r.version.Compare(o.version); c != 0 {
		return c
	}
	a, _ := r.releaseVersion()
	b, _ := o.releaseVersion()
	return a.Compare(b)
}

// versionRelease returns version and release for messages.
func (r *rendered) versionRelease() string {
	return strings.TrimSuffix(r.versionText+"-"+r.release, "-")
}
