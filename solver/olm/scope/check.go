package scope

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm/group"
)

// Step is what an install plan does to one object.
type Step struct {
	// Group, Resource (the plural) and Kind are the type of the object.
	Group, Resource, Kind string
	// Namespace and Name identify the object; the namespace is "" if it is
	// cluster-scoped.
	Namespace, Name string
	// Exists says that the object exists, and would be updated.
	Exists bool
	// Patch says that it is written by server-side apply, which takes the verb
	// patch as well.
	Patch bool
	// Rules are what a Role or ClusterRole grants.
	Rules []PolicyRule
	// RoleRef is what a RoleBinding or ClusterRoleBinding grants, or nil.
	RoleRef *RoleRef
}

// String returns `KIND "NAME"` with its namespace.
func (s *Step) String() string {
	text := fmt.Sprintf("%s %q", s.Kind, s.Name)
	if s.Namespace != "" {
		text += " in namespace " + s.Namespace
	}
	return text
}

// MaxParts is the maximum number of permissions, each of one verb on one resource,
// that a rule of a role may expand to. A rule with more is refused without being
// evaluated.
const MaxParts = 1 << 16

// Refusal is a step that the account may not take.
type Refusal struct {
	Step Step
	// Missing are the rules that the account lacks for it, each of one verb on
	// one resource: first those on the object, then those that a role would grant.
	// A rule that expands to more than MaxParts of these is listed as a whole.
	Missing []PolicyRule
	// Namespace is where they are missing; "" means in the whole cluster, by a
	// ClusterRole.
	Namespace string
}

// RefusedError says that an account may not take steps of a plan. No part of the
// plan may then be applied.
type RefusedError struct {
	Account  Account   // the account that the plan runs as
	Refusals []Refusal // in the order of the steps
}

// Error implements error. It has a line for every step that is refused.
func (e *RefusedError) Error() string {
	lines := make([]string, len(e.Refusals))
	for i, r := range e.Refusals {
		lines[i] = r.text(e.Account)
	}
	return strings.Join(lines, "\n")
}

func (r *Refusal) text(a Account) string {
	where, how := "at the cluster scope", "a ClusterRole and a ClusterRoleBinding"
	if r.Namespace != "" {
		where, how = "in namespace "+r.Namespace, "a Role and a RoleBinding there"
	}
	rules := make([]string, len(r.Missing))
	for i, m := range r.Missing {
		rules[i] = ruleText(m)
	}
	return fmt.Sprintf("%s: user %q may not %s, %s; give it by %s",
		&r.Step, a.String(), strings.Join(rules, ", nor "), where, how)
}

func ruleText(r PolicyRule) string {
	if n := parts(r); n > MaxParts {
		return fmt.Sprintf("grant a rule of more than %d permissions, which is not evaluated (split it)", MaxParts)
	}
	if len(r.NonResourceURLs) > 0 {
		return r.Verbs[0] + " " + r.NonResourceURLs[0]
	}
	text := fmt.Sprintf("%s %s in API group %q", r.Verbs[0], r.Resources[0], r.APIGroups[0])
	if len(r.ResourceNames) > 0 {
		text += fmt.Sprintf(" named %q", r.ResourceNames[0])
	}
	return text
}

// AccountError says that the service account of a group does not exist.
type AccountError struct {
	Group   ObjectMeta // the operator group
	Account Account    // that it names
}

// Error implements error.
func (e *AccountError) Error() string {
	return fmt.Sprintf("operator group %s: service account %s/%s does not exist; create it, or correct spec.serviceAccountName",
		e.Group, e.Account.Namespace, e.Account.Name)
}

// Check decides whether a plan of a namespace may be applied at all:
//
//  1. The namespace must have exactly one group; otherwise the error is a
//     *group.SoleError.
//  2. If the group names no service account, nothing limits the plan.
//  3. The account must be among accounts; otherwise the error is an *AccountError.
//  4. The account must be allowed to create what is new and to get and update
//     what exists. CustomResourceDefinitions and APIServices are exempt: they are
//     applied with the permissions of the cluster's administrator.
//  5. For a role, it must have every permission that the role grants, unless it
//     may escalate; for a binding, every permission of the role that is bound,
//     unless it may bind that role. A role in the plan counts with the rules of
//     its step.
//
// All steps that break 4 or 5 are reported, in a *RefusedError. Operators that
// already run are not checked: changed permissions matter from the next plan on.
func Check(groups []group.OperatorGroup, namespace string, accounts []Account, access *Access, steps []Step) error {
	g, err := group.Sole(groups, namespace)
	if err != nil {
		return err
	}
	if g.Spec.ServiceAccountName == "" {
		return nil
	}
	account := Account{Namespace: namespace, Name: g.Spec.ServiceAccountName}
	if !slices.Contains(accounts, account) {
		return &AccountError{Group: g.ObjectMeta, Account: account}
	}
	return judge(account, access, steps, "CustomResourceDefinition", "APIService")
}

// Judge decides whether an account may take steps, by rules 4 and 5 of [Check], except
// that of all kinds only CustomResourceDefinitions are exempt: an APIService answers
// requests in the name of the cluster. The error is a *RefusedError.
func Judge(account Account, access *Access, steps []Step) error {
	return judge(account, access, steps, "CustomResourceDefinition")
}

func judge(account Account, access *Access, steps []Step, exempt ...string) error {
	c := checker{account: account, access: access, steps: steps}
	refused := &RefusedError{Account: account}
	for _, s := range steps {
		if slices.Contains(exempt, s.Kind) {
			continue
		}
		if missing := c.missing(&s); missing != nil {
			refused.Refusals = append(refused.Refusals, Refusal{Step: s, Missing: missing, Namespace: s.Namespace})
		}
	}
	if refused.Refusals == nil {
		return nil
	}
	return refused
}

type checker struct {
	account Account
	access  *Access
	steps   []Step
}

const rbacGroup = "rbac.authorization.k8s.io"

func (c *checker) missing(s *Step) []PolicyRule {
	have := c.access.Rules(c.account, s.Namespace)
	var missing []PolicyRule
	need := func(rule PolicyRule) {
		if !covers(have, rule) {
			missing = append(missing, rule)
		}
	}
	named := []string{"get", "update"}
	if !s.Exists {
		// A rule on names does not allow create: the name is not known then.
		need(PolicyRule{Verbs: []string{"create"}, APIGroups: []string{s.Group}, Resources: []string{s.Resource}})
		named = nil
	}
	if s.Patch {
		named = append(named, "patch")
	}
	for _, verb := range named {
		need(PolicyRule{Verbs: []string{verb}, APIGroups: []string{s.Group}, Resources: []string{s.Resource}, ResourceNames: []string{s.Name}})
	}
	for _, rule := range c.given(s, have) {
		if parts(rule) > MaxParts {
			missing = append(missing, rule)
			continue
		}
		for _, part := range single(rule) {
			need(part)
		}
	}
	return missing
}

// given returns the rules that a step grants and that the account must have
// itself.
func (c *checker) given(s *Step, have []PolicyRule) []PolicyRule {
	may := func(verb, resource, name string) bool {
		return covers(have, PolicyRule{Verbs: []string{verb}, APIGroups: []string{rbacGroup}, Resources: []string{resource}, ResourceNames: []string{name}})
	}
	switch {
	case s.Group != rbacGroup:
		return nil
	case s.RoleRef == nil:
		if may("escalate", s.Resource, s.Name) {
			return nil
		}
		return s.Rules
	}
	resource, home := "clusterroles", ""
	if s.RoleRef.Kind == "Role" {
		resource, home = "roles", s.Namespace
	}
	if may("bind", resource, s.RoleRef.Name) {
		return nil
	}
	for _, o := range c.steps {
		if o.Group == rbacGroup && o.Kind == s.RoleRef.Kind && o.Name == s.RoleRef.Name && o.Namespace == home {
			return o.Rules
		}
	}
	role, ok := c.access.role(&Binding{ObjectMeta: ObjectMeta{Namespace: s.Namespace}, RoleRef: *s.RoleRef})
	if !ok {
		return nil
	}
	return role.Rules
}
