package extension

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/config"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/internal/calls"
	"github.com/fairlead/fairlead/solver/olm/internal/manifest"
)

// Settings are the config of an extension. Unknown fields are an error.
type Settings struct {
	// Watch is the namespace that the operator watches; see Bundle.Targets.
	Watch *string `json:"watchNamespace,omitempty"`
	// Deployments are changes to its deployments, as for a subscription.
	Deployments *config.Config `json:"deploymentConfig,omitempty"`
	// Certificates is the provider of webhook certificates. It comes from the Policy,
	// not from the config.
	Certificates CertificateProvider `json:"-"`
}

// ReadSettings reads the config of an extension; nil means none.
func ReadSettings(c *BundleConfig) (Settings, error) {
	var s Settings
	switch {
	case c == nil:
		return s, nil
	case c.ConfigType != "Inline":
		return s, fmt.Errorf("spec.config.configType is %q; the only one is Inline", c.ConfigType)
	}
	d := json.NewDecoder(strings.NewReader(string(c.Inline)))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("spec.config.inline: %w; the fields are watchNamespace and deploymentConfig", err)
	}
	return s, nil
}

// Render returns the objects of a bundle that is installed in a namespace:
//
//  1. Each service account that the CSV names, except "default".
//  2. Roles and bindings for its permissions in each namespace that it watches. If it
//     watches all of them they are cluster roles, and it may also read namespaces.
//     Cluster permissions are always cluster roles.
//  3. Its CRDs, each with the webhook that converts it, then the other objects of the
//     bundle; namespaced ones are put into the namespace of the extension.
//  4. Its deployments, changed as the settings say. Annotations tell their pods what
//     to watch; they also have those of the CSV. Those that the API server calls have
//     their certificate mounted.
//  5. For its webhooks: their configurations, services before the deployments that
//     answer, and what Settings.Certificates needs to issue certificates and have the
//     API server trust them. Without a provider there is an error.
//
// Roles are named after the CSV, the account and what they allow, so that they can
// coexist with those of another version. Equal input gives equal output.
func (b *Bundle) Render(namespace string, s Settings) ([]Object, error) {
	targets, err := b.Targets(namespace, s.Watch)
	if err != nil {
		return nil, err
	}
	if err := b.unserved(s.Certificates); err != nil {
		return nil, err
	}
	if text := calls.Misdefined(&b.CSV, targets[0] == group.AllNamespaces); text != "" {
		return nil, errors.New(text)
	}
	r := &rendering{b: b, namespace: namespace, by: s.Certificates}
	spec := &b.CSV.Spec.Install.Spec
	var accounts []string
	for _, p := range slices.Concat(spec.Permissions, spec.ClusterPermissions) {
		accounts = append(accounts, account(p))
	}
	slices.Sort(accounts)
	for _, name := range slices.Compact(accounts) {
		if name != "default" {
			r.add("", "v1", "ServiceAccount", namespace, name, nil)
		}
	}
	for _, p := range spec.ClusterPermissions {
		r.permit(p, group.AllNamespaces)
	}
	for _, target := range targets {
		for _, p := range spec.Permissions {
			if target == group.AllNamespaces {
				p.Rules = append(slices.Clip(p.Rules), fairlead.PolicyRule{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""}, Resources: []string{"namespaces"}})
			}
			r.permit(p, target)
		}
	}
	for _, o := range b.crds {
		r.object(r.converted(o))
	}
	for _, o := range b.others {
		r.object(o)
	}
	for i := range spec.Deployments {
		if err := r.deployment(&spec.Deployments[i], targets, s.Deployments); err != nil {
			return nil, err
		}
	}
	r.webhooks(targets)
	return r.out, nil
}

func account(p group.Permission) string {
	if p.ServiceAccountName == "" {
		return "default"
	}
	return p.ServiceAccountName
}

// rendering is one call of Render.
type rendering struct {
	b         *Bundle
	namespace string
	by        CertificateProvider
	out       []Object
}

// add adds an object with fields other than apiVersion, kind and metadata.
func (r *rendering) add(apiGroup, version, kind, namespace, name string, members map[string]any) {
	whole := map[string]any{"apiVersion": strings.TrimPrefix(apiGroup+"/"+version, "/"), "kind": kind}
	maps.Copy(whole, members)
	meta, _ := whole["metadata"].(map[string]any)
	if meta == nil {
		meta = make(map[string]any)
	}
	meta["name"] = name
	if namespace != "" {
		meta["namespace"] = namespace
	}
	whole["metadata"] = meta
	text, _ := json.Marshal(whole) // what was decoded from JSON, and strings: cannot fail
	r.out = append(r.out, Object{Ref{Group: apiGroup, Kind: kind, Namespace: namespace, Name: name}, text})
}

const rbac = "rbac.authorization.k8s.io"

// permit grants a permission to an account, in a namespace or, with "", in the
// cluster.
func (r *rendering) permit(p group.Permission, namespace string) {
	role, binding := "Role", "RoleBinding"
	if namespace == "" {
		role, binding = "ClusterRole", "ClusterRoleBinding"
	}
	text, _ := json.Marshal(p) // strings: cannot fail
	sum := sha256.Sum256(append([]byte(r.namespace+"\x00"), text...))
	name := r.b.CSV.Name + "-" + account(p) + "-" + hex.EncodeToString(sum[:5])
	r.add(rbac, "v1", role, namespace, name, map[string]any{"rules": p.Rules})
	r.add(rbac, "v1", binding, namespace, name, map[string]any{
		"roleRef":  map[string]any{"apiGroup": rbac, "kind": role, "name": name},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": account(p), "namespace": r.namespace}},
	})
}

// object adds an object of the bundle.
func (r *rendering) object(o manifest.Fields) {
	apiGroup, version := manifest.GroupVersion(o.Text("apiVersion"))
	members := maps.Clone(o)
	meta := maps.Clone(o.Child("metadata"))
	delete(meta, "namespace")
	members["metadata"] = map[string]any(meta)
	namespace := r.namespace
	if !manifest.Namespaced(o.Text("kind")) {
		namespace = ""
	}
	r.add(apiGroup, version, o.Text("kind"), namespace, meta.Text("name"), members)
}

// deployment adds one of the CSV.
func (r *rendering) deployment(d *olm.StrategyDeployment, targets []string, settings *config.Config) error {
	var spec manifest.Fields
	if err := json.Unmarshal(d.Spec, &spec); err != nil || spec == nil {
		return fmt.Errorf("deployment %s has no spec", d.Name)
	}
	meta := spec.Child("template").Child("metadata")
	notes := make(map[string]any)
	for key, value := range r.b.CSV.Annotations {
		notes[key] = value
	}
	maps.Copy(notes, meta.Child("annotations"))
	notes[group.TargetsAnnotation] = strings.Join(targets, ",")
	notes[group.NamespaceAnnotation] = r.namespace
	meta["annotations"] = notes
	spec["revisionHistoryLimit"] = 1
	if slices.Contains(calls.Deployments(&r.b.CSV), d.Name) {
		calls.Mount(spec.Child("template").Child("spec"), calls.Secret(d.Name))
	}
	members := map[string]any{"spec": map[string]any(spec)}
	if len(d.Label) > 0 {
		members["metadata"] = map[string]any{"labels": d.Label}
	}
	r.add("apps", "v1", "Deployment", r.namespace, d.Name, members)
	if settings == nil {
		return nil
	}
	last := &r.out[len(r.out)-1]
	changed, err := config.Apply(last.Manifest, settings, nil, "")
	last.Manifest = changed
	return err
}
