package group

import (
	"fmt"
	"hash/fnv"
	"slices"
)

// The labels by which cluster roles aggregate the rules of others.
const (
	aggregateInGroup   = "olm.opgroup.permissions/aggregate-to-"
	aggregateInCluster = "rbac.authorization.k8s.io/aggregate-to-"
)

// The labels that name the owner of a role: a CSV or a group.
const (
	OwnerLabel          = "olm.owner"           // the owner's name
	OwnerNamespaceLabel = "olm.owner.namespace" // the owner's namespace
)

var access = []struct {
	suffix string
	verbs  []string
}{
	{"admin", []string{"*"}},
	{"edit", []string{"create", "update", "patch", "delete"}},
	{"view", []string{"get", "list", "watch"}},
}

// ClusterRole is a role for all namespaces.
type ClusterRole struct {
	ObjectMeta `json:"metadata"`
	Rules      []PolicyRule `json:"rules,omitempty"` // what it allows
	// AggregationRule aggregates the rules of other cluster roles.
	AggregationRule *AggregationRule `json:"aggregationRule,omitempty"`
}

// AggregationRule picks cluster roles by their labels: those that any selector
// matches.
type AggregationRule struct {
	ClusterRoleSelectors []LabelSelector `json:"clusterRoleSelectors,omitempty"` // any of them
}

// ClusterRoles returns the three roles of a group, admin, edit and view, named
// olm.og.GROUP-ACCESS-HASH. Each aggregates the roles of the APIs in the group's
// annotation (see Operator.ClusterRoles), sorted by label; while there are none, it
// has no aggregation rule. The hash distinguishes groups of the same name; it
// depends on the group's namespace, its name and the access.
func (g *OperatorGroup) ClusterRoles() []ClusterRole {
	var roles []ClusterRole
	for _, a := range access {
		role := ClusterRole{ObjectMeta: ObjectMeta{
			Name:   fmt.Sprintf("olm.og.%s-%s-%s", g.Name, a.suffix, hash(g.Namespace+"/"+g.Name+"/"+a.suffix)),
			Labels: map[string]string{OwnerLabel: g.Name, OwnerNamespaceLabel: g.Namespace},
		}}
		var rule AggregationRule
		for _, label := range apiLabels(g.Provided(), a.suffix) {
			rule.ClusterRoleSelectors = append(rule.ClusterRoleSelectors, LabelSelector{MatchLabels: map[string]string{label: "true"}})
		}
		if rule.ClusterRoleSelectors != nil {
			role.AggregationRule = &rule
		}
		roles = append(roles, role)
	}
	return roles
}

// ClusterRoles returns the roles for the APIs that an operator provides, in the
// order of Owned, named PLURAL.GROUP-VERSION-ACCESS: admin with all verbs, edit
// with those that write, view with those that read, and for CRDs crdview, which
// may get the CRD itself. The roles of the cluster, and of groups that provide
// the API, aggregate their rules.
func (o *Operator) ClusterRoles() []ClusterRole {
	var roles []ClusterRole
	for _, owned := range o.Owned {
		name := owned.Plural + "." + owned.Group
		add := func(suffix, to string, rule PolicyRule) {
			roles = append(roles, ClusterRole{
				ObjectMeta: ObjectMeta{
					Name: fmt.Sprintf("%s-%s-%s", name, owned.Version, suffix),
					Labels: map[string]string{
						aggregateInCluster + to: "true",
						apiLabel(owned.API, to): "true",
					},
				},
				Rules: []PolicyRule{rule},
			})
		}
		for _, a := range access {
			add(a.suffix, a.suffix, PolicyRule{Verbs: slices.Clone(a.verbs), APIGroups: []string{owned.Group}, Resources: []string{owned.Plural}})
		}
		if !owned.Service {
			add("crdview", "view", PolicyRule{
				Verbs: []string{"get"}, APIGroups: []string{"apiextensions.k8s.io"},
				Resources: []string{"customresourcedefinitions"}, ResourceNames: []string{name},
			})
		}
	}
	return roles
}

// Permission is what a CSV requests for one of its service accounts.
type Permission struct {
	ServiceAccountName string       `json:"serviceAccountName"` // in the operator's namespace
	Rules              []PolicyRule `json:"rules"`              // what it may do
}

// Grant is a role and its binding to a service account of the operator's
// namespace.
type Grant struct {
	// Namespace is where it applies; "" means everywhere, by a ClusterRole and a
	// ClusterRoleBinding.
	Namespace string
	Role      ObjectMeta   // name and labels of both objects
	Account   string       // the service account
	Rules     []PolicyRule // what it may do
}

// Grants returns what gives an operator the permissions of its CSV in the
// namespaces of its group: cluster-wide if the group selects all, and otherwise in
// each namespace of the group and in the operator's own. The order is that of the
// permissions, then of the namespaces. The objects are labelled with the CSV's
// name and namespace.
func (g *OperatorGroup) Grants(op *Operator, permissions []Permission) []Grant {
	targets := NewNamespaces(g.Status.Namespaces...)
	if !targets.All() {
		targets = targets.Union(Namespaces{op.Namespace})
	}
	var grants []Grant
	for _, p := range permissions {
		name := fmt.Sprintf("%s-%s", op.Name, hash(fmt.Sprintf("%s/%s/%+v", op.Namespace, p.ServiceAccountName, p.Rules)))
		for _, ns := range targets {
			grants = append(grants, Grant{
				Namespace: ns,
				Role: ObjectMeta{Name: name, Namespace: ns,
					Labels: map[string]string{OwnerLabel: op.Name, OwnerNamespaceLabel: op.Namespace}},
				Account: p.ServiceAccountName,
				Rules:   p.Rules,
			})
		}
	}
	return grants
}

func apiLabel(api API, suffix string) string {
	return aggregateInGroup + hash(api.String()) + "-" + suffix
}

func hash(text string) string {
	h := fnv.New64a()
	h.Write([]byte(text))
	return fmt.Sprintf("%x", h.Sum64())
}

func apiLabels(apis APIs, suffix string) []string {
	var labels []string
	for _, api := range apis {
		labels = append(labels, apiLabel(api, suffix))
	}
	slices.Sort(labels)
	return labels
}
