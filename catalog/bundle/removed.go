package bundle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/semverx"
)

// removal is an API that Kubernetes no longer serves.
type removal struct {
	apiVersion string
	kinds      []string
	minor      uint64 // Kubernetes 1.minor removed it
	use        string // what to use instead
}

// removals are the APIs that Kubernetes removed, from its deprecation guide.
var removals = []removal{
	{"admissionregistration.k8s.io/v1beta1", []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}, 22, "admissionregistration.k8s.io/v1"},
	{"apiextensions.k8s.io/v1beta1", []string{kindCRD}, 22, "apiextensions.k8s.io/v1"},
	{"apiregistration.k8s.io/v1beta1", []string{"APIService"}, 22, "apiregistration.k8s.io/v1"},
	{"authentication.k8s.io/v1beta1", []string{"TokenReview"}, 22, "authentication.k8s.io/v1"},
	{"authorization.k8s.io/v1beta1", []string{"LocalSubjectAccessReview", "SelfSubjectAccessReview", "SubjectAccessReview"}, 22, "authorization.k8s.io/v1"},
	{"certificates.k8s.io/v1beta1", []string{"CertificateSigningRequest"}, 22, "certificates.k8s.io/v1"},
	{"coordination.k8s.io/v1beta1", []string{"Lease"}, 22, "coordination.k8s.io/v1"},
	{"extensions/v1beta1", []string{"Ingress"}, 22, "networking.k8s.io/v1"},
	{"networking.k8s.io/v1beta1", []string{"Ingress", "IngressClass"}, 22, "networking.k8s.io/v1"},
	{"rbac.authorization.k8s.io/v1beta1", []string{"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}, 22, "rbac.authorization.k8s.io/v1"},
	{"scheduling.k8s.io/v1beta1", []string{"PriorityClass"}, 22, "scheduling.k8s.io/v1"},
	{"storage.k8s.io/v1beta1", []string{"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"}, 22, "storage.k8s.io/v1"},
	{"autoscaling/v2beta1", []string{"HorizontalPodAutoscaler"}, 25, "autoscaling/v2"},
	{"batch/v1beta1", []string{"CronJob"}, 25, "batch/v1"},
	{"discovery.k8s.io/v1beta1", []string{"EndpointSlice"}, 25, "discovery.k8s.io/v1"},
	{"events.k8s.io/v1beta1", []string{"Event"}, 25, "events.k8s.io/v1"},
	{"node.k8s.io/v1beta1", []string{"RuntimeClass"}, 25, "node.k8s.io/v1"},
	{"policy/v1beta1", []string{"PodDisruptionBudget"}, 25, "policy/v1"},
	{"policy/v1beta1", []string{"PodSecurityPolicy"}, 25, "Pod Security Admission"},
	{"autoscaling/v2beta2", []string{"HorizontalPodAutoscaler"}, 26, "autoscaling/v2"},
}

// removedAPIs reports manifests of APIs that Kubernetes removed: as faults if
// the bundle is to run on such a version, otherwise as advice.
func (c *checker) removedAPIs() {
	target := c.kubeVersion()
	for _, m := range c.b.Manifests {
		if r := removalOf(m); r != nil {
			f := c.found.fault(CodeRemovedAPI, m.At("apiVersion"), m.subject(),
				fmt.Sprintf("Kubernetes 1.%d removed %s of %s", r.minor, m.Kind, r.apiVersion), "use "+r.use)
			f.lint = target.IsZero() || target.Major() < 1 || target.Major() == 1 && target.Minor() < r.minor
		}
	}
	c.removedPermissions()
}

// removalOf returns how the API of a manifest was removed, nil if it was not.
func removalOf(m *Manifest) *removal {
	i := slices.IndexFunc(removals, func(r removal) bool { return r.apiVersion == m.APIVersion && slices.Contains(r.kinds, m.Kind) })
	if i < 0 {
		return nil
	}
	return &removals[i]
}

// kubeVersion returns the version of Kubernetes that the bundle is to run on,
// the newer of the versions in the options and the CSV, or the zero version.
func (c *checker) kubeVersion() semverx.Version {
	asked, _ := semverx.ParseTolerant(c.opts.KubeVersion)
	stated, _ := semverx.ParseTolerant(c.b.CSV.Spec.MinKubeVersion)
	if asked.Compare(stated) < 0 {
		return stated
	}
	return asked
}

// removedPermissions reports rules about resources that no longer exist.
func (c *checker) removedPermissions() {
	c.eachRule(func(r PolicyRule, path []any) {
		if slices.Contains(r.APIGroups, "policy") && slices.Contains(r.Resources, "podsecuritypolicies") {
			c.csvAdvice(CodeRemovedAPI, "Kubernetes 1.25 removed PodSecurityPolicies, which this rule is about", "delete the rule", path...)
		}
	})
}

// eachRule calls f for every rule of permissions and clusterPermissions.
func (c *checker) eachRule(f func(r PolicyRule, path []any)) {
	install := c.b.CSV.Spec.Install.Spec
	for _, kind := range []struct {
		key  string
		list []Permissions
	}{{"permissions", install.Permissions}, {"clusterPermissions", install.ClusterPermissions}} {
		for i, p := range kind.list {
			for j, r := range p.Rules {
				f(r, []any{"spec", "install", "spec", kind.key, i, "rules", j})
			}
		}
	}
}

// allows reports whether a rule allows a verb on a resource of a group.
func (r *PolicyRule) allows(group, resource, verb string) bool {
	has := func(list []string, want string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return s == "*" || strings.EqualFold(s, want) })
	}
	return has(r.APIGroups, group) && has(r.Resources, resource) && has(r.Verbs, verb)
}
