package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/crd"
)

const (
	groupOLM         = "operators.coreos.com"
	groupCRD         = "apiextensions.k8s.io"
	groupRBAC        = "rbac.authorization.k8s.io"
	kindCSV          = "ClusterServiceVersion"
	kindCRD          = "CustomResourceDefinition"
	kindSubscription = "Subscription"
)

// namespaced reports whether objects of a kind have a namespace. Of the kinds
// that a bundle may hold these have none.
func namespaced(group, kind string) bool {
	switch kind {
	case kindCRD, "ClusterRole", "ClusterRoleBinding", "PriorityClass",
		"ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin", "ConsoleQuickStart", "ConsoleYAMLSample", "ConsoleYamlSample":
		return false
	}
	return true
}

// versionOf is the apiVersion of the kinds of which there is but one, "" for others.
// Bundles may leave it out for these, since OLM reads them by their kind alone.
func versionOf(kind string) string {
	switch kind {
	case "ServiceAccount", "Service", "Secret", "ConfigMap":
		return "v1"
	case "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding":
		return groupRBAC + "/v1"
	case kindCRD:
		return groupCRD + "/v1"
	case kindCSV:
		return groupOLM + "/v1alpha1"
	}
	return ""
}

// fields are those of a manifest, decoded.
type fields map[string]any

// decodeObject reads one JSON object, and keeps numbers as they are written.
func decodeObject(manifest []byte) (fields, error) {
	var o fields
	d := json.NewDecoder(bytes.NewReader(manifest))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		return nil, fmt.Errorf("manifest is no JSON object: %w", err)
	}
	if o == nil {
		return nil, errors.New("manifest is null: it must be a JSON object")
	}
	return o, nil
}

// child returns the object under a key, which it creates.
func (o fields) child(key string) fields {
	c, ok := o[key].(map[string]any)
	if !ok {
		c = make(map[string]any)
		o[key] = c
	}
	return c
}

func (o fields) text(key string) string {
	s, _ := o[key].(string)
	return s
}

// encode writes it with sorted keys.
func (o fields) encode() string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(o) // it was decoded from JSON
	return strings.TrimSuffix(b.String(), "\n")
}

// digest names what the step writes, and for which operator: an object that
// two versions of an operator hold alike is written for both, so that it
// belongs to the newer one.
func (s *PlanStep) digest() string {
	sum := sha256.Sum256([]byte(s.Resolving + "\x00" + s.Resource.Manifest))
	return hex.EncodeToString(sum[:12])
}

// bundleSteps returns the steps of one chosen bundle.
func bundleSteps(w *World, choice *olm.Choice) ([]PlanStep, error) {
	content := w.content(choice.Source, choice.Name)
	if content == nil || content.Error != "" {
		return nil, errors.New("its content has not been unpacked")
	}
	var steps []PlanStep
	var csv fields
	for i, m := range content.Manifests {
		o, err := decodeObject(m)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", i+1, err)
		}
		meta := o.child("metadata")
		if o.text("kind") == "" || meta.text("name") == "" {
			return nil, fmt.Errorf("object %d has no kind or no name", i+1)
		}
		if o.text("apiVersion") == "" {
			version := versionOf(o.text("kind"))
			if version == "" {
				return nil, fmt.Errorf("object %d, %s %s, has no apiVersion", i+1, o.text("kind"), meta.text("name"))
			}
			o["apiVersion"] = version
		}
		if o.text("kind") == kindCSV {
			if err := prepareCSV(o, choice, content.Properties); err != nil {
				return nil, err
			}
			if csv != nil {
				return nil, errors.New("it holds two ClusterServiceVersions")
			}
			csv = o
		}
		steps = append(steps, newStep(w.Namespace, choice, o))
	}
	if csv == nil {
		return nil, fmt.Errorf("it holds no ClusterServiceVersion named %s", choice.Name)
	}
	return append(steps, permissionSteps(w.Namespace, choice, csv)...), nil
}

// prepareCSV adds to a CSV what the resolution and the catalog know.
func prepareCSV(csv fields, choice *olm.Choice, props []catalog.Property) error {
	meta := csv.child("metadata")
	if name := meta.text("name"); name != choice.Name {
		return fmt.Errorf("its ClusterServiceVersion is named %s", name)
	}
	spec := csv.child("spec")
	delete(spec, "replaces")
	if choice.Replaces != "" {
		spec["replaces"] = choice.Replaces
	}
	if len(props) == 0 {
		return nil
	}
	note, err := olm.FormatProperties(props)
	if err != nil {
		return err
	}
	meta.child("annotations")[olm.PropertiesAnnotation] = note
	return nil
}

// newStep makes a step of an object, which it puts into the namespace.
func newStep(namespace string, choice *olm.Choice, o fields) PlanStep {
	group, version, ok := strings.Cut(o.text("apiVersion"), "/")
	if !ok {
		group, version = "", group
	}
	meta := o.child("metadata")
	delete(meta, "namespace")
	if namespaced(group, o.text("kind")) {
		meta["namespace"] = namespace
	}
	return PlanStep{
		Resolving: choice.Name,
		Resource: StepResource{
			SourceName: choice.Source.Name, SourceNamespace: choice.Source.Namespace,
			Group: group, Version: version, Kind: o.text("kind"), Name: meta.text("name"), Manifest: o.encode(),
		},
		Status: StepUnknown,
	}
}

// permissionSteps returns the steps for the permissions that a CSV asks for.
// Roles and bindings are named after the CSV, so that those of two versions
// stand side by side.
func permissionSteps(namespace string, choice *olm.Choice, csv fields) []PlanStep {
	var steps []PlanStep
	accounts := make(map[string]bool)
	ask := csv.child("spec").child("install").child("spec")
	for _, scope := range []struct{ key, role, binding string }{
		{"permissions", "Role", "RoleBinding"},
		{"clusterPermissions", "ClusterRole", "ClusterRoleBinding"},
	} {
		list, _ := ask[scope.key].([]any)
		for _, item := range list {
			p, _ := item.(map[string]any)
			account := fields(p).text("serviceAccountName")
			if account == "" {
				continue
			}
			if account != "default" && !accounts[account] {
				accounts[account] = true
				steps = append(steps, newStep(namespace, choice, fields{
					"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": account},
				}))
			}
			steps = append(steps, roleSteps(namespace, choice, scope.role, scope.binding, account, p["rules"])...)
		}
	}
	return steps
}

func roleSteps(namespace string, choice *olm.Choice, role, binding, account string, rules any) []PlanStep {
	text, _ := json.Marshal(rules) // it was decoded from JSON
	sum := sha256.Sum256([]byte(namespace + "\x00" + account + "\x00" + string(text)))
	name := choice.Name + "-" + hex.EncodeToString(sum[:5])
	subject := map[string]any{"kind": "ServiceAccount", "name": account, "namespace": namespace}
	return []PlanStep{
		newStep(namespace, choice, fields{
			"apiVersion": groupRBAC + "/v1", "kind": role, "metadata": map[string]any{"name": name}, "rules": rules,
		}),
		newStep(namespace, choice, fields{
			"apiVersion": groupRBAC + "/v1", "kind": binding, "metadata": map[string]any{"name": name},
			"roleRef":  map[string]any{"apiGroup": groupRBAC, "kind": role, "name": name},
			"subjects": []any{subject},
		}),
	}
}

// decodeCSV reads the manifest of a CSV. Its status does not count.
func decodeCSV(manifest []byte) (olm.ClusterServiceVersion, error) {
	var c olm.ClusterServiceVersion
	err := json.Unmarshal(manifest, &c)
	c.Status = olm.CSVStatus{}
	return c, err
}

// decodeDefinition reads the manifest of a CRD.
func decodeDefinition(manifest []byte) (*crd.Definition, error) {
	d := new(crd.Definition)
	err := json.Unmarshal(manifest, d)
	d.Status = crd.Status{}
	return d, err
}
