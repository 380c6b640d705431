package clusterversion

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cvo/payload"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Rights returns the rules that allow applying the manifests, and nothing else,
// sorted by group and resource. The mapper knows the kinds of the server; kinds
// that the manifests define need not exist yet. Applied manifests need patch and
// create, create-only ones need create, deleted ones need get and delete; Roles
// also need escalate and bind. ClusterOperators are left out, because the
// controller's own role covers them. The error names a manifest of an unknown
// kind.
func Rights(manifests []*payload.Manifest, mapper meta.RESTMapper) ([]rbacv1.PolicyRule, error) {
	defined, err := definitions(manifests)
	if err != nil {
		return nil, err
	}
	verbs := map[schema.GroupResource][]string{}
	for _, m := range manifests {
		kind := schema.GroupKind{Group: m.ID.Group, Kind: m.ID.Kind}
		resource, ok := defined[kind]
		if !ok {
			mapping, err := mapper.RESTMapping(kind, schema.FromAPIVersionAndKind(m.APIVersion, kind.Kind).Version)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", m.Pos, m.ID, err)
			}
			resource = mapping.Resource.Resource
		}
		r := schema.GroupResource{Group: kind.Group, Resource: resource}
		switch {
		case m.Delete():
			verbs[r] = append(verbs[r], "get", "delete")
		case m.ClusterOperator():
		case m.CreateOnly():
			verbs[r] = append(verbs[r], "create")
		default:
			verbs[r] = append(verbs[r], "create", "patch")
		}
		if kind.Group == rbacv1.GroupName && strings.HasSuffix(kind.Kind, "Role") && !m.Delete() {
			verbs[r] = append(verbs[r], "escalate")
		}
		if kind.Group == rbacv1.GroupName && strings.HasSuffix(kind.Kind, "RoleBinding") && !m.Delete() {
			for _, bound := range []string{"roles", "clusterroles"} {
				b := schema.GroupResource{Group: rbacv1.GroupName, Resource: bound}
				verbs[b] = append(verbs[b], "bind")
			}
		}
	}
	return rules(verbs), nil
}

// rules returns the rights as sorted rules.
func rules(verbs map[schema.GroupResource][]string) []rbacv1.PolicyRule {
	var out []rbacv1.PolicyRule
	for r, v := range verbs {
		slices.Sort(v)
		out = append(out, rbacv1.PolicyRule{APIGroups: []string{r.Group}, Resources: []string{r.Resource}, Verbs: slices.Compact(v)})
	}
	slices.SortFunc(out, func(a, b rbacv1.PolicyRule) int {
		return cmp.Or(strings.Compare(a.APIGroups[0], b.APIGroups[0]), strings.Compare(a.Resources[0], b.Resources[0]))
	})
	return out
}

// definitions returns the resources of the kinds that manifests define.
func definitions(manifests []*payload.Manifest) (map[schema.GroupKind]string, error) {
	out := map[schema.GroupKind]string{}
	for _, m := range manifests {
		if m.ID.Kind != "CustomResourceDefinition" || m.ID.Group != apiextensionsv1.GroupName {
			continue
		}
		var d apiextensionsv1.CustomResourceDefinition
		if err := json.Unmarshal(m.JSON, &d); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", m.Pos, m.ID, err)
		}
		out[schema.GroupKind{Group: d.Spec.Group, Kind: d.Spec.Names.Kind}] = d.Spec.Names.Plural
	}
	return out, nil
}
