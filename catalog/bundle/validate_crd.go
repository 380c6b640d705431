package bundle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
)

// crds checks the CRDs, without the schemas of their versions, as an API
// server does, and that the bundle has none twice.
func (c *checker) crds() {
	names := map[string]catalog.Position{}
	gvks := map[catalog.GVK]catalog.Position{}
	for _, crd := range c.b.CRDs {
		k := &crdCheck{c, crd}
		if first, dup := names[crd.Metadata.Name]; dup {
			k.fault("the CRD is in the bundle twice", "delete one of the two", "metadata", "name").Also = first
		} else {
			names[crd.Metadata.Name] = crd.Position()
			for _, a := range crd.apis() {
				if first, dup := gvks[a.GVK]; dup && first != crd.Position() {
					k.fault(fmt.Sprintf("the API %s is defined twice", a.GVK), "delete one of the two", "spec", "versions").Also = first
				}
				gvks[a.GVK] = crd.Position()
			}
		}
		k.names()
		k.versions()
		k.served()
	}
}

// crdCheck checks one CRD.
type crdCheck struct {
	c   *checker
	crd *CRD
}

func (k *crdCheck) fault(message, hint string, path ...any) *finding {
	m := k.crd.manifest
	return k.c.found.fault(CodeCRD, m.At(path...), m.subject(), message, hint)
}

func (k *crdCheck) names() {
	spec, names := k.crd.Spec, k.crd.Spec.Names
	if want := names.Plural + "." + spec.Group; names.Plural != "" && spec.Group != "" && k.crd.Metadata.Name != want {
		k.fault(fmt.Sprintf("the name %q does not consist of plural and group", k.crd.Metadata.Name), "name it "+want, "metadata", "name")
	}
	if why := subdomainFault(spec.Group); why != "" {
		k.fault(fmt.Sprintf("spec.group: %q is not a group: %s", spec.Group, why), "write a domain such as example.com", "spec", "group")
	} else if !strings.Contains(spec.Group, ".") {
		k.fault(fmt.Sprintf("spec.group: %q has no dot, and only groups of Kubernetes itself may have none", spec.Group), "write a domain such as "+spec.Group+".example.com", "spec", "group")
	}
	if spec.Scope != "Namespaced" && spec.Scope != "Cluster" && !(k.crd.old() && spec.Scope == "") {
		k.fault(fmt.Sprintf("spec.scope: there is no scope %q", spec.Scope), "write Namespaced or Cluster", "spec", "scope")
	}
	kind, list := strings.ToLower(names.Kind), names.ListKind
	if list == "" {
		list = names.Kind + "List"
	}
	for _, n := range []struct{ field, value string }{
		{"plural", names.Plural}, {"singular", cmp.Or(names.Singular, kind)}, {"kind", kind}, {"listKind", strings.ToLower(list)},
	} {
		if why := labelFault(n.value, true); why != "" {
			k.fault(fmt.Sprintf("spec.names.%s: %q is not a name: %s", n.field, n.value, why), "write letters, digits and hyphens", "spec", "names", n.field)
		}
	}
	if names.Kind != "" && list == names.Kind {
		k.fault("spec.names.listKind is the kind of the objects themselves", "write "+names.Kind+"List", "spec", "names", "listKind")
	}
	for _, n := range []struct {
		field string
		list  []string
	}{{"shortNames", names.ShortNames}, {"categories", names.Categories}} {
		for i, name := range n.list {
			if why := labelFault(name, true); why != "" {
				k.fault(fmt.Sprintf("spec.names.%s[%d]: %q is not a name: %s", n.field, i, name, why), "write lower-case letters, digits and hyphens", "spec", "names", n.field, i)
			}
		}
	}
}

func (k *crdCheck) versions() {
	spec, old := k.crd.Spec, k.crd.old()
	versions := spec.Versions
	if len(versions) == 0 && !(old && spec.Version != "") {
		k.fault("the CRD has no versions", "list them below spec.versions", "spec", "versions")
		return
	}
	if old && len(versions) > 0 && spec.Version != "" && versions[0].Name != spec.Version {
		k.fault(fmt.Sprintf("spec.version is %q, and the first of spec.versions %q", spec.Version, versions[0].Name), "delete spec.version", "spec", "version")
	}
	storage := 0
	for i, v := range versions {
		path := []any{"spec", "versions", i}
		if why := labelFault(v.Name, true); why != "" {
			k.fault(fmt.Sprintf("spec.versions[%d]: %q is not a version: %s", i, v.Name, why), "write a version such as v1alpha1", append(path, "name")...)
		}
		if slices.ContainsFunc(versions[:i], func(o CRDVersion) bool { return o.Name == v.Name }) {
			k.fault(fmt.Sprintf("spec.versions: version %q is listed twice, and version names must be unique", v.Name), "delete or rename one of the two", append(path, "name")...)
		}
		if v.Storage {
			storage++
		}
		if !old && (v.Schema == nil || v.Schema.OpenAPIV3Schema == nil) {
			k.fault(fmt.Sprintf("version %q has no schema", v.Name), "write schema.openAPIV3Schema with type: object at least", path...)
		} else if !old && v.Schema.OpenAPIV3Schema.Type != "object" {
			k.fault(fmt.Sprintf("the schema of version %q does not describe an object", v.Name), "write type: object at its root", append(path, "schema", "openAPIV3Schema", "type")...)
		}
	}
	if len(versions) > 0 && storage != 1 {
		k.fault(fmt.Sprintf("%d versions have storage: true, and exactly one must", storage), "set storage: true for one version and false for the others", "spec", "versions")
	}
	if !old && spec.PreserveUnknownFields {
		k.fault("spec.preserveUnknownFields is true, which this version of CRDs does not allow", "write x-kubernetes-preserve-unknown-fields: true into the schema", "spec", "preserveUnknownFields")
	}
	if spec.Conversion != nil && spec.Conversion.Strategy != "None" && spec.Conversion.Strategy != "Webhook" {
		k.fault(fmt.Sprintf("spec.conversion.strategy: there is no strategy %q", spec.Conversion.Strategy), "write None or Webhook", "spec", "conversion", "strategy")
	}
}
