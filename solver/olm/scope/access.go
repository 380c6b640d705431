package scope

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// ObjectMeta is the part of an object's metadata that is read.
type ObjectMeta = fairlead.ObjectMeta

// PolicyRule is one permission.
type PolicyRule = fairlead.PolicyRule

// Account names a service account.
type Account struct {
	Namespace string `json:"namespace"` // where it lives
	Name      string `json:"name"`      // its name
}

// String returns the user name of the account.
func (a Account) String() string { return "system:serviceaccount:" + a.Namespace + ":" + a.Name }

// Role is a Role, or a ClusterRole if it has no namespace.
type Role struct {
	ObjectMeta `json:"metadata"`
	Rules      []PolicyRule `json:"rules"` // what it grants
}

// Binding is a RoleBinding, or a ClusterRoleBinding if it has no namespace.
type Binding struct {
	ObjectMeta `json:"metadata"`
	RoleRef    RoleRef   `json:"roleRef"`  // what it grants
	Subjects   []Subject `json:"subjects"` // to whom
}

// RoleRef names the role of a binding.
type RoleRef struct {
	Kind string `json:"kind"` // Role, of the binding's namespace, or ClusterRole
	Name string `json:"name"` // its name
}

// Subject is an account, a user or a group that gets a role.
type Subject struct {
	Kind      string `json:"kind"`                // ServiceAccount, User or Group
	Name      string `json:"name"`                // of the account, user or group
	Namespace string `json:"namespace,omitempty"` // of a service account
}

// Access is who may do what in a cluster.
type Access struct {
	Roles    []Role    `json:"roles,omitempty"`    // of both kinds, in any order
	Bindings []Binding `json:"bindings,omitempty"` // of both kinds, in any order
}

// Rules returns what an account may do in a namespace, by every binding that
// names it, its user name or one of the groups of all service accounts, in the
// order of the bindings. The namespace "" stands for cluster-scoped objects, for
// which only cluster role bindings count. A binding to a role that does not exist
// grants nothing.
func (a *Access) Rules(account Account, namespace string) []PolicyRule {
	var rules []PolicyRule
	for _, b := range a.Bindings {
		if b.Namespace != "" && b.Namespace != namespace || !slices.ContainsFunc(b.Subjects, account.is) {
			continue
		}
		if role, ok := a.role(&b); ok {
			rules = append(rules, role.Rules...)
		}
	}
	return rules
}

func (a *Access) role(b *Binding) (*Role, bool) {
	home := ""
	if b.RoleRef.Kind == "Role" {
		home = b.Namespace
	}
	for i := range a.Roles {
		if r := &a.Roles[i]; r.Name == b.RoleRef.Name && r.Namespace == home {
			return r, true
		}
	}
	return nil, false
}

// is reports whether a subject includes the account.
func (a Account) is(s Subject) bool {
	switch s.Kind {
	case "ServiceAccount":
		return s.Name == a.Name && s.Namespace == a.Namespace
	case "User":
		return s.Name == a.String()
	case "Group":
		return s.Name == "system:serviceaccounts" || s.Name == "system:serviceaccounts:"+a.Namespace || s.Name == "system:authenticated"
	}
	return false
}

// covers reports whether one of the rules allows everything that want does, which
// has one verb, group, resource and name (or URL).
func covers(rules []PolicyRule, want PolicyRule) bool {
	return slices.ContainsFunc(rules, func(r PolicyRule) bool { return allows(&r, &want) })
}

// allows reports whether r allows everything that want does, which is one of the
// results of single.
func allows(r, want *PolicyRule) bool {
	if !has(r.Verbs, want.Verbs[0]) {
		return false
	}
	if len(want.NonResourceURLs) > 0 {
		return slices.ContainsFunc(r.NonResourceURLs, func(pattern string) bool { return matchURL(pattern, want.NonResourceURLs[0]) })
	}
	if !has(r.APIGroups, want.APIGroups[0]) || !hasResource(r.Resources, want.Resources[0]) {
		return false
	}
	if len(r.ResourceNames) == 0 {
		return true
	}
	return len(want.ResourceNames) > 0 && slices.Contains(r.ResourceNames, want.ResourceNames[0])
}

func has(list []string, want string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, want)
}

// hasResource is has, except that "*/scale" also stands for the subresource scale
// of every resource.
func hasResource(list []string, want string) bool {
	if has(list, want) {
		return true
	}
	_, part, ok := strings.Cut(want, "/")
	return ok && slices.Contains(list, "*/"+part)
}

func matchURL(pattern, want string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(want, prefix)
	}
	return pattern == want
}

// single splits a rule into rules of one verb, group, resource and name (or URL),
// in the order in which it lists them.
func single(rule PolicyRule) []PolicyRule {
	var parts []PolicyRule
	for _, verb := range rule.Verbs {
		for _, url := range rule.NonResourceURLs {
			parts = append(parts, PolicyRule{Verbs: []string{verb}, NonResourceURLs: []string{url}})
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				part := PolicyRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}}
				if len(rule.ResourceNames) == 0 {
					parts = append(parts, part)
				}
				for _, name := range rule.ResourceNames {
					part.ResourceNames = []string{name}
					parts = append(parts, part)
				}
			}
		}
	}
	return parts
}

// parts returns how many rules single makes of a rule. Above MaxParts it is
// inexact.
func parts(r PolicyRule) int {
	resources := product(len(r.APIGroups), product(len(r.Resources), max(1, len(r.ResourceNames))))
	return product(len(r.Verbs), len(r.NonResourceURLs)+resources)
}

func product(a, b int) int {
	if b > 0 && a > MaxParts/b {
		return MaxParts + 1
	}
	return a * b
}
