package scope_test

import (
	"fmt"

	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// A plan that needs more than the service account has is refused as a whole.
func ExampleCheck() {
	groups := []group.OperatorGroup{{
		ObjectMeta: group.ObjectMeta{Name: "scoped", Namespace: "scoped"},
		Spec:       group.Spec{ServiceAccountName: "scoped"},
	}}
	account := scope.Account{Namespace: "scoped", Name: "scoped"}
	access := scope.Access{
		Roles: []scope.Role{{
			ObjectMeta: scope.ObjectMeta{Name: "scoped", Namespace: "scoped"},
			Rules:      []scope.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}},
		}},
		Bindings: []scope.Binding{{
			ObjectMeta: scope.ObjectMeta{Name: "scoped-bindings", Namespace: "scoped"},
			RoleRef:    scope.RoleRef{Kind: "Role", Name: "scoped"},
			Subjects:   []scope.Subject{{Kind: "ServiceAccount", Name: "scoped", Namespace: "scoped"}},
		}},
	}
	err := scope.Check(groups, "scoped", []scope.Account{account}, &access, []scope.Step{
		{Group: "", Resource: "services", Kind: "Service", Namespace: "scoped", Name: "shop"},
		{Group: "rbac.authorization.k8s.io", Resource: "clusterroles", Kind: "ClusterRole", Name: "shop",
			Rules: []scope.PolicyRule{{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"nodes"}}}},
	})
	fmt.Println(err)
	// Output:
	// ClusterRole "shop": user "system:serviceaccount:scoped:scoped" may not create clusterroles in API group "rbac.authorization.k8s.io", nor list nodes in API group "", at the cluster scope; give it by a ClusterRole and a ClusterRoleBinding
}

// The step that applies a manifest of a bundle.
func ExampleStepOf() {
	step, err := scope.StepOf([]byte(`{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "shop"}}`), "shops", false)
	fmt.Println(&step, step.Resource, err)
	// Output:
	// NetworkPolicy "shop" in namespace shops networkpolicies <nil>
}
