package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/csv"
	"github.com/fairlead/fairlead/catalog/internal/shape"
	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/words"
)

// bundleText lints what only the document of a bundle holds: related images
// and payloads.
func (l *linter) bundleText(d *catalog.Document, loaded *doc.Document) {
	image, _ := loaded.Field(loaded.Root(), "image")
	text, _ := loaded.Text(image)
	tags := tagged{}
	tags.add(string(text), "image")
	if list, ok := loaded.Field(loaded.Root(), "relatedImages"); ok {
		i := 0
		for n := range loaded.Children(list) {
			image, _ := loaded.Field(loaded.Children(n), "image")
			text, _ := loaded.Text(image)
			if len(text) == 0 {
				l.add(LintRelatedImage, d, at("relatedImages", i), "the related image has no reference, so mirrors miss it", "write image: and the reference")
			}
			tags.add(string(text), "relatedImages", i, "image")
			i++
		}
	}
	if len(tags.images) > 0 {
		l.add(LintImageTag, d, tags.first, fmt.Sprintf("it names images by tag, and tags can move and are not kept by mirrors: %s", words.First(tags.images, listed)), "name images by digest, @sha256:...")
	}
	c := contents{d: d}
	list, _ := loaded.Field(loaded.Root(), "properties")
	i := 0
	for n := range loaded.Children(list) {
		typ, v := shape.Property(loaded, n)
		if v.End > 0 {
			c.add(l, i, string(typ), loaded.Value(v))
		}
		i++
	}
	c.lint(l)
}

// tagged collects images that are not named by digest.
type tagged struct {
	images []string
	first  []any
}

func (t *tagged) add(image string, path ...any) {
	if ref, err := catalog.ParseImageRef(image); err != nil || ref.Pinned() || slices.Contains(t.images, image) {
		return
	}
	if t.first == nil {
		t.first = path
	}
	t.images = append(t.images, image)
}

// contents is the content of a bundle's payload.
type contents struct {
	d        *catalog.Document
	csv      *csv.Facts
	csvAt    int
	provided []catalog.GVK
	required []catalog.GVK
}

// add adds one property.
func (c *contents) add(l *linter, i int, typ string, value json.RawMessage) {
	switch typ {
	case catalog.PropertyGVK, catalog.PropertyGVKRequired:
		if gvk, ok := readGVK(value); ok && typ == catalog.PropertyGVK {
			c.provided = append(c.provided, gvk)
		} else if ok {
			c.required = append(c.required, gvk)
		}
	case catalog.PropertyCSVMetadata:
		if facts := csv.Metadata(value); facts != nil && c.csv == nil {
			c.csv, c.csvAt = facts, i
		}
	case catalog.PropertyBundleObject:
		manifest, err := csv.ManifestJSON(value)
		if err != nil {
			l.add(LintPayload, c.d, at("properties", i, "value"), "the manifest cannot be read: "+err.Error(), "encode the manifest again")
			return
		}
		if facts := csv.Manifest(manifest); facts != nil {
			c.csv, c.csvAt = facts, i // it has more than the metadata
		}
	}
}

// lint compares the CSV with its bundle.
func (c *contents) lint(l *linter) {
	if c.csv == nil {
		return
	}
	where := at("properties", c.csvAt)
	if c.csv.Name != "" && c.csv.Name != c.d.Name() {
		l.add(LintCSVName, c.d, where, fmt.Sprintf("its CSV is named %q", c.csv.Name), "give both the same name: OLM finds the installed bundle by the name of the CSV")
	}
	c.apis(l, where, "owned", "olm.gvk", c.csv.CRDs.Owned, c.csv.APIs.Owned, c.provided)
	c.apis(l, where, "required", "olm.gvk.required", c.csv.CRDs.Required, c.csv.APIs.Required, c.required)
	for _, f := range catalog.FeaturesOf(c.csv.Annotations) {
		if !f.Known {
			l.add(LintFeature, c.d, where, fmt.Sprintf("the annotation %s%s does not name a known feature", catalog.FeaturePrefix, f.Name), "correct the name")
		} else if f.Value != "true" && f.Value != "false" {
			l.add(LintFeature, c.d, where, fmt.Sprintf("the annotation %s%s is %q", catalog.FeaturePrefix, f.Name, f.Value), `write "true" or "false"`)
		}
		if strings.HasPrefix(f.Name, "token-auth-") && f.Value == "true" && c.csv.Permissions && !c.csv.Requests {
			l.add(LintTokenPermissions, c.d, where, "the feature "+f.Name+" needs the permission to create CredentialsRequests, which the CSV does not request",
				"add a rule to clusterPermissions: apiGroups cloudcredential.openshift.io, resources credentialsrequests, with the verb create")
		}
	}
}

// apis reports APIs that the CSV describes without a property: resolvers see
// only properties.
func (c *contents) apis(l *linter, where []any, role, typ string, crds []csv.CRD, described []csv.API, have []catalog.GVK) {
	var apis []catalog.GVK
	for _, api := range described {
		apis = append(apis, catalog.GVK(api))
	}
	for _, crd := range crds {
		_, group, _ := strings.Cut(crd.Name, ".")
		apis = append(apis, catalog.GVK{Group: group, Version: crd.Version, Kind: crd.Kind})
	}
	for _, api := range apis {
		if !slices.Contains(have, api) {
			l.add(LintAPI, c.d, where, fmt.Sprintf("its CSV lists the %s API %s, but there is no %s property for it", role, api, typ), "render the bundle again, or add the property")
		}
	}
}
