// Package shelf makes small catalogs of operators, for tests and experiments:
// the operators have all the parts of real ones, and their containers need
// not run.
package shelf

import (
	"encoding/json"
	"strings"
)

// Group is the API group of the operators' kinds.
const Group = "plumbing.example.com"

// Version is one version of an operator.
type Version struct {
	Package  string // its package; the CSV is named PACKAGE.vVERSION
	Number   string // such as 1.0.0
	Replaces string // the Number that it replaces, or ""
	// Kind is the kind of its CRD; Served are the CRD's versions, the last of
	// which is stored.
	Kind   string
	Served []string // see Kind
	// Fields are the fields of the CRD's spec, all strings. Those that end in
	// "!" are required.
	Fields []string
	// Packages are required packages, as NAME RANGE; Kinds are required kinds of
	// Group, as KIND VERSION.
	Packages []string
	Kinds    []string // see Packages
	// MaxOpenShift is the last minor version of OpenShift that it supports, such as
	// 4.19; "" means no limit.
	MaxOpenShift string
	// Calls lists for what the API server calls the operator's pods:
	// validating, mutating, conversion (of its CRD) and api (an API service,
	// v1 of api.PACKAGE.Group).
	Calls []string
}

// Paths that the API server requests from the pods of an operator with Calls,
// on port 9443.
const (
	ValidatePath = "/validate"
	MutatePath   = "/mutate"
	ConvertPath  = "/convert"
)

// APIGroup returns the group of the API service of an operator with Calls.
func (v *Version) APIGroup() string { return "api." + v.Package + "." + Group }

// Name returns the name of the CSV.
func (v *Version) Name() string { return v.Package + ".v" + v.Number }

// CRD returns the name of the CRD.
func (v *Version) CRD() string { return strings.ToLower(v.Kind) + "s." + Group }

// Catalog returns a file-based catalog with one channel, stable, for each
// package, as JSON documents. Packages are in the order of their first
// version.
func Catalog(versions ...Version) string {
	var docs strings.Builder
	add := func(document any) {
		text, err := json.Marshal(document)
		if err != nil {
			panic(err) // maps, strings and slices
		}
		docs.Write(text)
		docs.WriteByte('\n')
	}
	entries := map[string][]object{}
	var packages []string
	for i := range versions {
		v := &versions[i]
		if entries[v.Package] == nil {
			packages = append(packages, v.Package)
		}
		entry := object{"name": v.Name()}
		if v.Replaces != "" {
			entry["replaces"] = v.Package + ".v" + v.Replaces
		}
		entries[v.Package] = append(entries[v.Package], entry)
	}
	for _, name := range packages {
		add(object{"schema": "olm.package", "name": name, "defaultChannel": "stable"})
		add(object{"schema": "olm.channel", "package": name, "name": "stable", "entries": entries[name]})
	}
	for i := range versions {
		add(versions[i].bundle())
	}
	return docs.String()
}

type object = map[string]any

func (v *Version) bundle() object {
	properties := []object{{"type": "olm.package", "value": object{"packageName": v.Package, "version": v.Number}}}
	for _, served := range v.Served {
		properties = append(properties, object{"type": "olm.gvk", "value": object{"group": Group, "version": served, "kind": v.Kind}})
	}
	for _, p := range v.Packages {
		name, within, _ := strings.Cut(p, " ")
		properties = append(properties, object{"type": "olm.package.required", "value": object{"packageName": name, "versionRange": within}})
	}
	for _, k := range v.Kinds {
		kind, version, _ := strings.Cut(k, " ")
		properties = append(properties, object{"type": "olm.gvk.required", "value": object{"group": Group, "version": version, "kind": kind}})
	}
	if v.MaxOpenShift != "" {
		properties = append(properties, object{"type": "olm.maxOpenShiftVersion", "value": v.MaxOpenShift})
	}
	for _, o := range []object{v.csv(), v.crd(), v.service()} {
		text, err := json.Marshal(o)
		if err != nil {
			panic(err) // maps, strings and slices
		}
		properties = append(properties, object{"type": "olm.bundle.object", "value": object{"data": text}})
	}
	return object{"schema": "olm.bundle", "package": v.Package, "name": v.Name(), "image": "registry.example.com/" + v.Package + ":" + v.Number, "properties": properties}
}

func (v *Version) csv() object {
	owned := []object{}
	for _, served := range v.Served {
		owned = append(owned, object{"name": v.CRD(), "version": served, "kind": v.Kind})
	}
	required := []object{}
	for _, k := range v.Kinds {
		kind, version, _ := strings.Cut(k, " ")
		required = append(required, object{"name": strings.ToLower(kind) + "s." + Group, "version": version, "kind": kind})
	}
	spec := object{
		"version":                   v.Number,
		"displayName":               v.Package,
		"customresourcedefinitions": object{"owned": owned, "required": required},
		"installModes": []object{
			{"type": "OwnNamespace", "supported": true}, {"type": "SingleNamespace", "supported": true},
			{"type": "MultiNamespace", "supported": true}, {"type": "AllNamespaces", "supported": true},
		},
		"install": object{"strategy": "deployment", "spec": object{
			"deployments": []object{{"name": v.Package, "spec": v.deployment()}},
			"permissions": []object{{"serviceAccountName": v.Package, "rules": []object{
				{"apiGroups": []string{""}, "resources": []string{"configmaps"}, "verbs": []string{"get", "list", "watch", "create", "update"}},
			}}},
			"clusterPermissions": []object{{"serviceAccountName": v.Package, "rules": []object{
				{"apiGroups": []string{Group}, "resources": []string{strings.ToLower(v.Kind) + "s"}, "verbs": []string{"*"}},
				{"apiGroups": []string{""}, "resources": []string{"nodes"}, "verbs": []string{"get", "list"}},
			}}},
		}},
	}
	if v.Replaces != "" {
		spec["replaces"] = v.Package + ".v" + v.Replaces
	}
	v.called(spec)
	return object{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "metadata": object{"name": v.Name()}, "spec": spec}
}

// called adds the definitions for which the API server calls the operator.
func (v *Version) called(spec object) {
	var hooks []object
	for _, call := range v.Calls {
		hook := object{
			"deploymentName": v.Package, "containerPort": 443, "targetPort": 9443, "sideEffects": "None", "admissionReviewVersions": []string{"v1"},
			"generateName": call + "." + v.Package + "." + Group,
		}
		admission := func(kind, path string) {
			hook["type"], hook["webhookPath"], hook["failurePolicy"] = kind, path, "Fail"
			hook["rules"] = []object{{
				"apiGroups": []string{Group}, "apiVersions": []string{"*"}, "operations": []string{"CREATE", "UPDATE"}, "resources": []string{strings.ToLower(v.Kind) + "s"},
			}}
		}
		switch call {
		case "validating":
			admission("ValidatingAdmissionWebhook", ValidatePath)
		case "mutating":
			admission("MutatingAdmissionWebhook", MutatePath)
		case "conversion":
			hook["type"], hook["webhookPath"], hook["conversionCRDs"] = "ConversionWebhook", ConvertPath, []string{v.CRD()}
		case "api":
			spec["apiservicedefinitions"] = object{"owned": []object{{
				"group": v.APIGroup(), "version": "v1", "kind": "Reading", "name": "readings", "deploymentName": v.Package, "containerPort": 9443,
			}}}
			continue
		}
		hooks = append(hooks, hook)
	}
	if hooks != nil {
		spec["webhookdefinitions"] = hooks
	}
}

func (v *Version) deployment() object {
	labels := object{"app": v.Package}
	return object{
		"replicas": 1,
		"selector": object{"matchLabels": labels},
		"template": object{
			"metadata": object{"labels": labels},
			"spec": object{
				"serviceAccountName": v.Package,
				"containers":         []object{{"name": "manager", "image": "registry.example.com/" + v.Package + "-operator:" + v.Number}},
			},
		},
	}
}

func (v *Version) crd() object {
	fields, required := object{}, []string{}
	for _, field := range v.Fields {
		name, must := strings.CutSuffix(field, "!")
		fields[name] = object{"type": "string"}
		if must {
			required = append(required, name)
		}
	}
	spec := object{"type": "object", "properties": fields}
	if len(required) > 0 {
		spec["required"] = required
	}
	schema := object{"openAPIV3Schema": object{"type": "object", "properties": object{"spec": spec}}}
	versions := []object{}
	for i, name := range v.Served {
		versions = append(versions, object{"name": name, "served": true, "storage": i == len(v.Served)-1, "schema": schema})
	}
	plural := strings.ToLower(v.Kind) + "s"
	return object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": v.CRD()},
		"spec": object{
			"group": Group, "scope": "Namespaced", "versions": versions,
			"names": object{"kind": v.Kind, "listKind": v.Kind + "List", "plural": plural, "singular": strings.ToLower(v.Kind)},
		},
	}
}

func (v *Version) service() object {
	return object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": v.Package + "-metrics"}, "spec": object{
		"selector": object{"app": v.Package}, "ports": []object{{"name": "metrics", "port": 8443}},
	}}
}

// Plumbing returns three packages: pipes in three versions, each of which
// replaces the previous one, the second with a new version of its CRD; pipes
// require the package valves, and the kind Gauge, which the package gauges
// provides.
func Plumbing() []Version {
	needs := func(v Version) Version {
		v.Package, v.Kind = "pipes", "Pipe"
		v.Packages, v.Kinds = []string{"valves >=1.0.0 <2.0.0"}, []string{"Gauge v1"}
		return v
	}
	return []Version{
		needs(Version{Number: "1.0.0", Served: []string{"v1alpha1"}, Fields: []string{"length"}}),
		needs(Version{Number: "1.1.0", Replaces: "1.0.0", Served: []string{"v1alpha1", "v1"}, Fields: []string{"length"}}),
		needs(Version{Number: "2.0.0", Replaces: "1.1.0", Served: []string{"v1alpha1", "v1"}, Fields: []string{"length", "material"}}),
		{Package: "valves", Number: "1.2.0", Kind: "Valve", Served: []string{"v1"}, Fields: []string{"size"}},
		{Package: "gauges", Number: "0.9.0", Kind: "Gauge", Served: []string{"v1"}, Fields: []string{"unit"}},
	}
}
