package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// bundleText lints what only the text of a bundle shows: related images and
// payloads.
func (l *linter) bundleText(d *Document, loaded *doc.Document) {
	image, _ := field(loaded, loaded.Root(), "image")
	text, _ := loaded.Text(image)
	tags := tagged{}
	tags.add(string(text), "image")
	if list, ok := field(loaded, loaded.Root(), "relatedImages"); ok {
		i := 0
		for n := range loaded.Children(list) {
			image, _ := field(loaded, loaded.Children(n), "image")
			text, _ := loaded.Text(image)
			if len(text) == 0 {
				l.add(LintRelatedImage, d, at("relatedImages", i), "the related image has no reference, so that mirrors miss it", "write image: and the reference")
			}
			tags.add(string(text), "relatedImages", i, "image")
			i++
		}
	}
	if len(tags.images) > 0 {
		l.add(LintImageTag, d, tags.first, fmt.Sprintf("it names by a tag, which may move and which mirrors cannot keep: %s", some(tags.images)), "name images by their digest, @sha256:...")
	}
	c := contents{d: d}
	list, _ := field(loaded, loaded.Root(), "properties")
	i := 0
	for n := range loaded.Children(list) {
		p, v := property(loaded, n)
		if v.End > 0 {
			c.add(l, i, p.Type, loaded.Value(v))
		}
		i++
	}
	c.lint(l)
}

// tagged collects images that are not named by a digest.
type tagged struct {
	images []string
	first  []any
}

func (t *tagged) add(image string, path ...any) {
	if ref, err := ParseImageRef(image); err != nil || ref.Pinned() || slices.Contains(t.images, image) {
		return
	}
	if t.first == nil {
		t.first = path
	}
	t.images = append(t.images, image)
}

// contents is what the payload of a bundle says.
type contents struct {
	d        *Document
	csv      *csvFacts
	csvAt    int
	provided []GVK
	required []GVK
}

// csvFacts is what a bundle's CSV says, from either payload.
type csvFacts struct {
	name        string // "" if it is not known
	displayName string
	annotations map[string]string
	crds        crdLists
	apis        apiLists
	permissions bool // the CSV's permissions are known
	requests    bool // and allow to create CredentialsRequests
}

type (
	crdLists struct {
		Owned    []crdDescription `json:"owned"`
		Required []crdDescription `json:"required"`
	}
	crdDescription struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Kind    string `json:"kind"`
	}
	apiLists struct {
		Owned    []GVK `json:"owned"`
		Required []GVK `json:"required"`
	}
)

// add takes in one property.
func (c *contents) add(l *linter, i int, typ string, value json.RawMessage) {
	switch typ {
	case PropertyGVK, PropertyGVKRequired:
		if gvk, ok := parseGVK(value); ok && typ == PropertyGVK {
			c.provided = append(c.provided, gvk)
		} else if ok {
			c.required = append(c.required, gvk)
		}
	case PropertyCSVMetadata:
		if facts := metadataFacts(value); facts != nil && c.csv == nil {
			c.csv, c.csvAt = facts, i
		}
	case PropertyBundleObject:
		manifest, err := manifestJSON(value)
		if err != nil {
			l.add(LintPayload, c.d, at("properties", i, "value"), "the manifest cannot be read: "+err.Error(), "encode the manifest anew")
			return
		}
		if facts := manifestFacts(manifest); facts != nil {
			c.csv, c.csvAt = facts, i // it says more than the metadata
		}
	}
}

func metadataFacts(value json.RawMessage) *csvFacts {
	var m struct {
		Annotations map[string]string `json:"annotations"`
		CRDs        crdLists          `json:"crdDescriptions"`
		APIs        apiLists          `json:"apiServiceDefinitions"`
		DisplayName string            `json:"displayName"`
	}
	if !fits(value, &m) {
		return nil
	}
	return &csvFacts{displayName: m.DisplayName, annotations: m.Annotations, crds: m.CRDs, apis: m.APIs}
}

// manifestFacts returns what a manifest says if it is a CSV.
func manifestFacts(manifest []byte) *csvFacts {
	var m struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Name        string            `json:"name"`
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
		Spec struct {
			DisplayName string   `json:"displayName"`
			CRDs        crdLists `json:"customresourcedefinitions"`
			APIs        apiLists `json:"apiservicedefinitions"`
			Install     struct {
				Spec struct {
					Cluster []permission `json:"clusterPermissions"`
				} `json:"spec"`
			} `json:"install"`
		} `json:"spec"`
	}
	if !fits(manifest, &m) || m.Kind != "ClusterServiceVersion" {
		return nil
	}
	return &csvFacts{
		name: m.Metadata.Name, displayName: m.Spec.DisplayName, annotations: m.Metadata.Annotations, crds: m.Spec.CRDs, apis: m.Spec.APIs,
		permissions: true, requests: slices.ContainsFunc(m.Spec.Install.Spec.Cluster, permission.createsRequests),
	}
}

// permission is a service account's entry in a CSV.
type permission struct {
	Rules []struct {
		Groups    []string `json:"apiGroups"`
		Resources []string `json:"resources"`
		Verbs     []string `json:"verbs"`
	} `json:"rules"`
}

// createsRequests reports whether it allows to create CredentialsRequests,
// which an operator needs for authentication by tokens.
func (p permission) createsRequests() bool {
	has := func(list []string, name string) bool {
		return slices.Contains(list, name) || slices.Contains(list, "*")
	}
	for _, r := range p.Rules {
		if has(r.Groups, "cloudcredential.openshift.io") && has(r.Resources, "credentialsrequests") && has(r.Verbs, "create") {
			return true
		}
	}
	return false
}

// lint compares the CSV with its bundle.
func (c *contents) lint(l *linter) {
	if c.csv == nil {
		return
	}
	where := at("properties", c.csvAt)
	if c.csv.name != "" && c.csv.name != c.d.name {
		l.add(LintCSVName, c.d, where, fmt.Sprintf("its CSV is named %q", c.csv.name), "give both the same name: updates find what is installed by the name of the CSV")
	}
	c.apis(l, where, "owned", "olm.gvk", c.csv.crds.Owned, c.csv.apis.Owned, c.provided)
	c.apis(l, where, "required", "olm.gvk.required", c.csv.crds.Required, c.csv.apis.Required, c.required)
	for _, f := range featuresOf(c.csv.annotations) {
		if !f.Known {
			l.add(LintFeature, c.d, where, fmt.Sprintf("the annotation %s%s is of no known feature", featurePrefix, f.Name), "correct the name")
		} else if f.Value != "true" && f.Value != "false" {
			l.add(LintFeature, c.d, where, fmt.Sprintf("the annotation %s%s is %q", featurePrefix, f.Name, f.Value), `write "true" or "false"`)
		}
		if strings.HasPrefix(f.Name, "token-auth-") && f.Value == "true" && c.csv.permissions && !c.csv.requests {
			l.add(LintTokenPermissions, c.d, where, "the feature "+f.Name+" needs the permission to create CredentialsRequests, which the CSV does not ask for",
				"add a rule to clusterPermissions: apiGroups cloudcredential.openshift.io, resources credentialsrequests, with the verb create")
		}
	}
}

// apis reports APIs that the CSV describes and no property has: resolvers see
// properties only.
func (c *contents) apis(l *linter, where []any, role, typ string, crds []crdDescription, apis, have []GVK) {
	for _, crd := range crds {
		_, group, _ := strings.Cut(crd.Name, ".")
		apis = append(slices.Clip(apis), GVK{Group: group, Version: crd.Version, Kind: crd.Kind})
	}
	for _, api := range apis {
		if !slices.Contains(have, api) {
			l.add(LintAPI, c.d, where, fmt.Sprintf("its CSV lists the %s API %s, but there is no %s property for it", role, api, typ), "render the bundle anew, or add the property")
		}
	}
}
