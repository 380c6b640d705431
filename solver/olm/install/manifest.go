package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/internal/manifest"
)

const (
	groupOLM         = "operators.coreos.com"
	groupCRD         = "apiextensions.k8s.io"
	groupRBAC        = "rbac.authorization.k8s.io"
	kindCSV          = "ClusterServiceVersion"
	kindCRD          = "CustomResourceDefinition"
	kindSubscription = "Subscription"
)

// versionOf is the apiVersion of the kinds that have only one, "" for others.
// Bundles may omit it for these, because OLM reads them by kind alone.
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

// encode writes a manifest, with sorted keys.
func encode(o manifest.Fields) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(o) // it was decoded from JSON
	return strings.TrimSuffix(b.String(), "\n")
}

// stepDigest covers what the step writes, and for which operator: an object that
// is the same in two versions of an operator is written for both, so that it
// belongs to the newer one.
func stepDigest(s *PlanStep) string {
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
	var csv manifest.Fields
	for i, m := range content.Manifests {
		o, err := manifest.Decode(m)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", i+1, err)
		}
		meta := o.Child("metadata")
		if o.Text("kind") == "" || meta.Text("name") == "" {
			return nil, fmt.Errorf("object %d has no kind or no name", i+1)
		}
		if o.Text("apiVersion") == "" {
			version := versionOf(o.Text("kind"))
			if version == "" {
				return nil, fmt.Errorf("object %d, %s %s, has no apiVersion", i+1, o.Text("kind"), meta.Text("name"))
			}
			o["apiVersion"] = version
		}
		if o.Text("kind") == kindCSV {
			if err := prepareCSV(o, choice, content.Properties); err != nil {
				return nil, err
			}
			if csv != nil {
				return nil, errors.New("it has two ClusterServiceVersions")
			}
			csv = o
		}
		steps = append(steps, newStep(w.Namespace, choice, o))
	}
	if csv == nil {
		return nil, fmt.Errorf("it has no ClusterServiceVersion named %s", choice.Name)
	}
	return append(steps, permissionSteps(w.Namespace, choice, csv)...), nil
}

// prepareCSV adds data from the resolution and the catalog to a CSV.
func prepareCSV(csv manifest.Fields, choice *olm.Choice, props []catalog.Property) error {
	meta := csv.Child("metadata")
	if name := meta.Text("name"); name != choice.Name {
		return fmt.Errorf("its ClusterServiceVersion is named %s", name)
	}
	spec := csv.Child("spec")
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
	meta.Child("annotations")[olm.PropertiesAnnotation] = note
	return nil
}

// newStep makes a step from an object, which it puts into the namespace.
func newStep(namespace string, choice *olm.Choice, o manifest.Fields) PlanStep {
	group, version := manifest.GroupVersion(o.Text("apiVersion"))
	meta := o.Child("metadata")
	delete(meta, "namespace")
	if manifest.Namespaced(o.Text("kind")) {
		meta["namespace"] = namespace
	}
	return PlanStep{
		Resolving: choice.Name,
		Resource: StepResource{
			SourceName: choice.Source.Name, SourceNamespace: choice.Source.Namespace,
			Group: group, Version: version, Kind: o.Text("kind"), Name: meta.Text("name"), Manifest: encode(o),
		},
		Status: StepUnknown,
	}
}

// permissionSteps returns the steps for the permissions of a CSV. Roles and
// bindings are named after the CSV, so that those of two versions can
// coexist.
func permissionSteps(namespace string, choice *olm.Choice, csv manifest.Fields) []PlanStep {
	var steps []PlanStep
	accounts := make(map[string]bool)
	ask := csv.Child("spec").Child("install").Child("spec")
	for _, scope := range []struct{ key, role, binding string }{
		{"permissions", "Role", "RoleBinding"},
		{"clusterPermissions", "ClusterRole", "ClusterRoleBinding"},
	} {
		list, _ := ask[scope.key].([]any)
		for _, item := range list {
			p, _ := item.(map[string]any)
			account := manifest.Fields(p).Text("serviceAccountName")
			if account == "" {
				continue
			}
			if account != "default" && !accounts[account] {
				accounts[account] = true
				steps = append(steps, newStep(namespace, choice, manifest.Fields{
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
		newStep(namespace, choice, manifest.Fields{
			"apiVersion": groupRBAC + "/v1", "kind": role, "metadata": map[string]any{"name": name}, "rules": rules,
		}),
		newStep(namespace, choice, manifest.Fields{
			"apiVersion": groupRBAC + "/v1", "kind": binding, "metadata": map[string]any{"name": name},
			"roleRef":  map[string]any{"apiGroup": groupRBAC, "kind": role, "name": name},
			"subjects": []any{subject},
		}),
	}
}

// decodeCSV reads the manifest of a CSV. Its status is ignored.
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
