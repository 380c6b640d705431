package bundle

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/catalog"
)

// apis checks that the APIs in the CSV match the CRDs of the bundle.
func (c *checker) apis() {
	csv := c.b.CSV
	provided := map[api]bool{}
	for _, a := range c.b.provided() {
		provided[a] = true
	}
	seen := map[string]bool{}
	for i, d := range csv.Spec.CRDs.Owned {
		path := []any{"spec", "customresourcedefinitions", "owned", i}
		plural, group, ok := splitCRDName(d.Name)
		if !ok {
			c.csvFault(CodeCSVAPI, fmt.Sprintf("%q cannot name a CRD", d.Name), "write plural.group", append(path, "name")...).stops = true
			continue
		}
		a := api{catalog.GVK{Group: group, Version: d.Version, Kind: d.Kind}, plural}
		if !provided[a] {
			c.csvFault(CodeCSVAPI, fmt.Sprintf("the owned CRD %s version %s kind %s is not in the bundle", d.Name, d.Version, d.Kind), c.ownedHint(d), path...).stops = true
		}
		if key := d.Name + "/" + d.Version; seen[key] {
			c.csvFault(CodeCSVAPI, fmt.Sprintf("the CRD %s version %s is owned twice", d.Name, d.Version), "delete one of the two", path...)
		} else {
			seen[key] = true
		}
	}
	for i, d := range csv.Spec.CRDs.Required {
		if _, _, ok := splitCRDName(d.Name); !ok {
			c.csvFault(CodeCSVAPI, fmt.Sprintf("%q cannot name a CRD", d.Name), "write plural.group",
				"spec", "customresourcedefinitions", "required", i, "name").stops = true
		}
	}
	c.unowned()
}

// ownedHint says what the bundle has instead of an owned CRD.
func (c *checker) ownedHint(d CRDDescription) string {
	for _, crd := range c.b.CRDs {
		if crd.Metadata.Name != d.Name && crd.Spec.Names.Plural+"."+crd.Spec.Group != d.Name {
			continue
		}
		var versions []string
		for _, a := range crd.apis() {
			versions = append(versions, a.Version)
		}
		return fmt.Sprintf("the CRD at %s has kind %s and versions %s", crd.Position(), crd.Spec.Names.Kind, strings.Join(versions, ", "))
	}
	for _, f := range c.b.found {
		if f.unread && strings.HasPrefix(f.Pos.File, "manifests/") {
			return "it may be in " + f.Pos.File + ", which cannot be read"
		}
	}
	return "add the manifest of the CRD, or move the entry to required"
}

// unowned reports CRDs that the CSV does not own.
func (c *checker) unowned() {
	owned := map[string]bool{}
	for _, d := range c.b.CSV.Spec.CRDs.Owned {
		owned[d.Name] = true
	}
	for _, crd := range c.b.CRDs {
		if !owned[crd.Metadata.Name] {
			c.found.advice(CodeCSVAPI, crd.Position(), crd.manifest.subject(), "the CRD is in the bundle, but the CSV does not own it",
				"add it to spec.customresourcedefinitions.owned of the CSV")
		}
	}
}

// images checks the references of images.
func (c *checker) images() {
	for i, r := range c.b.CSV.Spec.RelatedImages {
		path := []any{"spec", "relatedImages", i, "image"}
		c.image(fmt.Sprintf("spec.relatedImages[%d]", i), r.Image, path)
	}
	c.eachContainer(func(what string, con Container, path []any) {
		c.image(what, con.Image, append(path, "image"))
	})
}

func (c *checker) image(what, ref string, path []any) {
	if ref == "" {
		c.csvFault(CodeCSVImage, what+" names no image", "write image: with a reference", path...)
		return
	}
	if reason, hint := imageFault(ref); reason != "" {
		c.csvFault(CodeCSVImage, fmt.Sprintf("%s: %q is not an image reference: %s", what, ref, reason), hint, path...)
	}
}

// eachContainer calls f for every container of every deployment.
func (c *checker) eachContainer(f func(what string, con Container, path []any)) {
	for i, d := range c.b.CSV.Spec.Install.Spec.Deployments {
		spec := d.Spec.Template.Spec
		for _, kind := range []struct {
			key  string
			list []Container
		}{{"initContainers", spec.InitContainers}, {"containers", spec.Containers}} {
			for j, con := range kind.list {
				path := []any{"spec", "install", "spec", "deployments", i, "spec", "template", "spec", kind.key, j}
				f(fmt.Sprintf("container %q of deployment %q", con.Name, d.Name), con, path[:len(path):len(path)])
			}
		}
	}
}

// containers checks that every deployment has containers with names.
func (c *checker) containers() {
	for i, d := range c.b.CSV.Spec.Install.Spec.Deployments {
		if len(d.Spec.Template.Spec.Containers) == 0 {
			c.csvFault(CodeDeployment, fmt.Sprintf("deployment %q has no containers", d.Name), "list them below spec.template.spec.containers",
				"spec", "install", "spec", "deployments", i, "spec", "template", "spec", "containers")
		}
	}
	c.eachContainer(func(what string, con Container, path []any) {
		if why := labelFault(con.Name, false); why != "" {
			c.csvFault(CodeDeployment, fmt.Sprintf("%s cannot have that name: %s", what, why), "write a name of lower-case letters, digits and hyphens", append(path, "name")...)
		}
	})
}
