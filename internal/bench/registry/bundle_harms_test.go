package registry_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// bundleHarm is one way to break a bundle: a change of its CSV, of one of its CRDs,
// of its annotations, or of its files.
type bundleHarm struct {
	name   string
	target string // csv, crd, annotations or files
	do     func(r *rand.Rand, o object) bool
	files  func(r *rand.Rand, f map[string]string) bool
}

// at returns the object at a path of keys, or nil if there is none. Of a list it takes
// a random entry.
func at(r *rand.Rand, o object, path ...string) object {
	var v any = o
	for _, key := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		default:
			return nil
		}
		if l, ok := v.([]any); ok {
			if len(l) == 0 {
				return nil
			}
			v = pick(r, l)
		}
	}
	m, _ := v.(map[string]any)
	return m
}

// setting puts a value at a path, whose objects must be there.
func setting(target, name string, value any, path ...string) bundleHarm {
	return bundleHarm{name: name, target: target, do: func(r *rand.Rand, o object) bool {
		parent, key := at(r, o, path[:len(path)-1]...), path[len(path)-1]
		if parent == nil {
			return false
		}
		parent[key] = value
		return true
	}}
}

// taking removes what is at a path.
func taking(target, name string, path ...string) bundleHarm {
	return bundleHarm{name: name, target: target, do: func(r *rand.Rand, o object) bool {
		parent, key := at(r, o, path[:len(path)-1]...), path[len(path)-1]
		if _, ok := parent[key]; !ok {
			return false
		}
		delete(parent, key)
		return true
	}}
}

// twice repeats an entry of a list.
func twice(target, name string, path ...string) bundleHarm {
	return bundleHarm{name: name, target: target, do: func(r *rand.Rand, o object) bool {
		parent, key := at(r, o, path[:len(path)-1]...), path[len(path)-1]
		l, _ := parent[key].([]any)
		if len(l) == 0 {
			return false
		}
		parent[key] = append(slices.Clone(l), pick(r, l))
		return true
	}}
}

// file changes the files.
func file(name string, do func(r *rand.Rand, f map[string]string) bool) bundleHarm {
	return bundleHarm{name: name, target: "files", files: do}
}

// oneOf returns the name of a file below a directory.
func oneOf(r *rand.Rand, f map[string]string, dir string, want func(text string) bool) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if strings.HasPrefix(name, dir) && (want == nil || want(f[name])) {
			names = append(names, name)
		}
	}
	if names == nil {
		return ""
	}
	return pick(r, names)
}

const (
	mediaType = "operators.operatorframework.io.bundle.mediatype.v1"
	pkgKey    = "operators.operatorframework.io.bundle.package.v1"
	channels1 = "operators.operatorframework.io.bundle.channels.v1"
	defaults1 = "operators.operatorframework.io.bundle.channel.default.v1"
	manifest1 = "operators.operatorframework.io.bundle.manifests.v1"
)

func directoryHarms() []bundleHarm {
	return slices.Concat(annotationHarms(), csvHarms(), deploymentHarms(), crdHarms(), fileHarms())
}

func annotationHarms() []bundleHarm {
	return []bundleHarm{
		taking("annotations", "no media type", "annotations", mediaType),
		setting("annotations", "another media type", "helm+v3", "annotations", mediaType),
		taking("annotations", "no package", "annotations", pkgKey),
		setting("annotations", "empty package", "", "annotations", pkgKey),
		taking("annotations", "no channels", "annotations", channels1),
		setting("annotations", "empty channels", "", "annotations", channels1),
		setting("annotations", "channels of another type", 1.5, "annotations", channels1),
		taking("annotations", "no default channel", "annotations", defaults1),
		taking("annotations", "no directory of manifests", "annotations", manifest1),
		taking("annotations", "no annotations", "annotations"),
	}
}

func csvHarms() []bundleHarm {
	return []bundleHarm{
		taking("csv", "csv without name", "metadata", "name"),
		setting("csv", "csv with a name of capitals", "Pond.v1.0.0", "metadata", "name"),
		setting("csv", "csv with a name that is too long", strings.Repeat("a", 260), "metadata", "name"),
		taking("csv", "csv without version", "spec", "version"),
		setting("csv", "csv version that is none", "one", "spec", "version"),
		setting("csv", "csv version of another type", 1.5, "spec", "version"),
		setting("csv", "kubernetes version that is none", "new", "spec", "minKubeVersion"),
		taking("csv", "no install modes", "spec", "installModes"),
		setting("csv", "an install mode that is not known", "Everywhere", "spec", "installModes", "type"),
		setting("csv", "an install mode supported by a word", "maybe", "spec", "installModes", "supported"),
		twice("csv", "an install mode twice", "spec", "installModes"),
		setting("csv", "description of another type", []any{"x"}, "spec", "description"),
		setting("csv", "display name of another type", 7, "spec", "displayName"),
		setting("csv", "annotations of another type", object{"a": 1}, "metadata", "annotations"),
		setting("csv", "examples that are no JSON", "[{", "metadata", "annotations", "alm-examples"),
		setting("csv", "examples of an unknown kind", `[{"apiVersion":"none.example.com/v1","kind":"None","metadata":{"name":"x"}}]`, "metadata", "annotations", "alm-examples"),
		taking("csv", "an owned CRD without name", "spec", "customresourcedefinitions", "owned", "name"),
		taking("csv", "an owned CRD without kind", "spec", "customresourcedefinitions", "owned", "kind"),
		taking("csv", "an owned CRD without version", "spec", "customresourcedefinitions", "owned", "version"),
		setting("csv", "an owned CRD of another version", "v9", "spec", "customresourcedefinitions", "owned", "version"),
		setting("csv", "an owned CRD of another name", "others.example.com", "spec", "customresourcedefinitions", "owned", "name"),
		twice("csv", "an owned CRD twice", "spec", "customresourcedefinitions", "owned"),
		setting("csv", "owned CRDs of another type", "all", "spec", "customresourcedefinitions", "owned"),
		setting("csv", "keywords of another type", "a, b", "spec", "keywords"),
		setting("csv", "maintainers of another type", "me", "spec", "maintainers"),
		setting("csv", "skips of another type", "a", "spec", "skips"),
		taking("csv", "no apiVersion", "apiVersion"),
		setting("csv", "another apiVersion", "operators.coreos.com/v2", "apiVersion"),
		taking("csv", "no spec", "spec"),
		setting("csv", "an old property that is no list", `{"type": 1}`, "metadata", "annotations", "olm.properties"),
	}
}

func deploymentHarms() []bundleHarm {
	deployment := []string{"spec", "install", "spec", "deployments"}
	of := func(path ...string) []string { return append(slices.Clone(deployment), path...) }
	pod := func(path ...string) []string { return of(append([]string{"spec", "template", "spec"}, path...)...) }
	return []bundleHarm{
		taking("csv", "no install", "spec", "install"),
		setting("csv", "another strategy", "image", "spec", "install", "strategy"),
		taking("csv", "no deployments", "spec", "install", "spec", "deployments"),
		setting("csv", "replicas that are a word", "many", of("spec", "replicas")...),
		setting("csv", "containers of another type", "all", pod("containers")...),
		setting("csv", "an image of another type", []any{1}, pod("containers", "image")...),
		setting("csv", "memory that is no quantity", "aaaa", pod("containers", "resources", "limits", "memory")...),
		setting("csv", "processors that are no quantity", "1 core", pod("containers", "resources", "requests", "cpu")...),
		setting("csv", "arguments of another type", "--a", pod("containers", "args")...),
		setting("csv", "an environment of another type", "A=B", pod("containers", "env")...),
		setting("csv", "a port that is a word", []any{object{"containerPort": "http"}}, pod("containers", "ports")...),
		setting("csv", "a probe with a delay that is a word", object{"initialDelaySeconds": "soon"}, pod("containers", "livenessProbe")...),
		setting("csv", "a security context of another type", "none", pod("containers", "securityContext")...),
		setting("csv", "volumes of another type", "none", pod("volumes")...),
		setting("csv", "tolerations of another type", "all", pod("tolerations")...),
		setting("csv", "verbs of another type", "get", "spec", "install", "spec", "clusterPermissions", "rules", "verbs"),
	}
}

func crdHarms() []bundleHarm {
	schema := []string{"spec", "versions", "schema", "openAPIV3Schema"}
	in := func(path ...string) []string { return append(slices.Clone(schema), path...) }
	return []bundleHarm{
		taking("crd", "crd without versions", "spec", "versions"),
		setting("crd", "crd with no versions", []any{}, "spec", "versions"),
		setting("crd", "a version that is not stored", false, "spec", "versions", "storage"),
		twice("crd", "a version twice", "spec", "versions"),
		setting("crd", "a version with a bad name", "V 1", "spec", "versions", "name"),
		setting("crd", "another group", "other.example.com", "spec", "group"),
		setting("crd", "a protected group", "other.k8s.io", "spec", "group"),
		setting("crd", "another plural", "others", "spec", "names", "plural"),
		taking("crd", "no kind", "spec", "names", "kind"),
		setting("crd", "a kind with a space", "A B", "spec", "names", "kind"),
		setting("crd", "a short name of capitals", []any{"AB"}, "spec", "names", "shortNames"),
		setting("crd", "another scope", "Global", "spec", "scope"),
		taking("crd", "no scope", "spec", "scope"),
		taking("crd", "no schema", "spec", "versions", "schema"),
		setting("crd", "a schema of an unknown type", "strnig", in("type")...),
		taking("crd", "a schema without type", in("type")...),
		setting("crd", "a pattern that does not compile", "(", in("properties", "kind", "pattern")...),
		setting("crd", "properties of another type", "all", in("properties")...),
		setting("crd", "a list without items", object{"type": "array"}, in("properties", "extra")...),
		setting("crd", "a map list without keys", object{"type": "array", "x-kubernetes-list-type": "map", "items": object{"type": "object", "properties": object{"a": object{"type": "string"}}}}, in("properties", "extra")...),
		setting("crd", "properties and additional ones", object{"type": "object", "properties": object{"a": object{"type": "string"}}, "additionalProperties": object{"type": "string"}}, in("properties", "extra")...),
		setting("crd", "a default of another type", object{"type": "string", "default": 1}, in("properties", "extra")...),
		setting("crd", "an empty enumeration member of another type", object{"type": "integer", "enum": []any{"a"}}, in("properties", "extra")...),
		setting("crd", "unique items", object{"type": "array", "uniqueItems": true, "items": object{"type": "string"}}, in("properties", "extra")...),
		setting("crd", "a reference", object{"$ref": "#/definitions/x"}, in("properties", "extra")...),
		setting("crd", "a negative length", object{"type": "string", "maxLength": -1}, in("properties", "extra")...),
		setting("crd", "a length that is a word", object{"type": "string", "maxLength": "long"}, in("properties", "extra")...),
		setting("crd", "int-or-string with a type", object{"type": "string", "x-kubernetes-int-or-string": true}, in("properties", "extra")...),
		setting("crd", "a column without path", []any{object{"name": "A", "type": "string"}}, "spec", "versions", "additionalPrinterColumns"),
		setting("crd", "a column without type", []any{object{"name": "A", "jsonPath": ".a"}}, "spec", "versions", "additionalPrinterColumns"),
		setting("crd", "a column with a broken path", []any{object{"name": "A", "type": "string", "jsonPath": ".a["}}, "spec", "versions", "additionalPrinterColumns"),
		setting("crd", "conversion by webhook without webhook", object{"strategy": "Webhook"}, "spec", "conversion"),
		setting("crd", "conversion by an unknown strategy", object{"strategy": "Magic"}, "spec", "conversion"),
		setting("crd", "conversion without review versions", object{"strategy": "Webhook", "webhook": object{"clientConfig": object{"url": "https://x.example.com"}}}, "spec", "conversion"),
		setting("crd", "pruning switched off", true, "spec", "preserveUnknownFields"),
		setting("crd", "a scale that leads nowhere", object{"scale": object{"specReplicasPath": "spec.replicas", "statusReplicasPath": ".status.replicas"}}, "spec", "versions", "subresources"),
		setting("crd", "a rule that does not compile", []any{object{"rule": "self."}}, in("properties", "spec", "x-kubernetes-validations")...),
		setting("crd", "another name", "x", "metadata", "name"),
		taking("crd", "crd without name", "metadata", "name"),
		setting("crd", "an old version of the API", "apiextensions.k8s.io/v1beta1", "apiVersion"),
	}
}

func fileHarms() []bundleHarm {
	add := func(name, path, text string) bundleHarm {
		return file(name, func(_ *rand.Rand, f map[string]string) bool { f[path] = text; return true })
	}
	drop := func(name, dir string, want func(string) bool) bundleHarm {
		return file(name, func(r *rand.Rand, f map[string]string) bool {
			path := oneOf(r, f, dir, want)
			delete(f, path)
			return path != ""
		})
	}
	isCRD := func(text string) bool { return strings.Contains(text, "kind: CustomResourceDefinition") }
	isCSV := func(text string) bool { return strings.Contains(text, "kind: ClusterServiceVersion") }
	return []bundleHarm{
		drop("a CRD is gone", "manifests/", isCRD),
		drop("the CSV is gone", "manifests/", isCSV),
		drop("annotations are gone", "metadata/annotations", nil),
		add("a kind that bundles must not have", "manifests/zz.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n"),
		add("a manifest without kind", "manifests/zz.yaml", "apiVersion: v1\nmetadata: {name: x}\n"),
		add("a manifest without version", "manifests/zz.yaml", "kind: ConfigMap\nmetadata: {name: x}\n"),
		add("a manifest that is empty", "manifests/zz.yaml", ""),
		add("a manifest that is no YAML", "manifests/zz.yaml", "a: [\n"),
		add("a config map", "manifests/zz.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b}\n"),
		add("a second CSV", "manifests/zz.yaml", "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: y.v1.0.0}\nspec: {version: 1.0.0}\n"),
		add("dependencies without range", "metadata/dependencies.yaml", "dependencies:\n- type: olm.package\n  value: {packageName: x}\n"),
		add("dependencies with a bad range", "metadata/dependencies.yaml", "dependencies:\n- type: olm.package\n  value: {packageName: x, version: '>>1'}\n"),
		add("an API without version required", "metadata/dependencies.yaml", "dependencies:\n- type: olm.gvk\n  value: {group: x.io, kind: X}\n"),
		add("a dependency of an unknown type", "metadata/dependencies.yaml", "dependencies:\n- type: olm.wish\n  value: {a: b}\n"),
		file("a file cut in the middle", func(r *rand.Rand, f map[string]string) bool {
			path := oneOf(r, f, "manifests/", nil)
			f[path] = f[path][:len(f[path])/2]
			return path != ""
		}),
	}
}
