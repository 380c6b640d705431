package payload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// builtin are the kinds that Kubernetes itself serves, with one entry for each group. Others must be
// defined by a CustomResourceDefinition, or served by an APIService.
var builtin = []struct {
	group string
	kinds []string
}{
	{"", []string{
		"Binding", "ConfigMap", "Endpoints", "Event", "LimitRange", "Namespace", "Node", "PersistentVolume", "PersistentVolumeClaim", "Pod",
		"PodTemplate", "ReplicationController", "ResourceQuota", "Secret", "Service", "ServiceAccount",
	}},
	{"admissionregistration.k8s.io", []string{
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
	}},
	{"apiextensions.k8s.io", []string{"CustomResourceDefinition"}},
	{"apiregistration.k8s.io", []string{"APIService"}},
	{"apps", []string{"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}},
	{"autoscaling", []string{"HorizontalPodAutoscaler"}},
	{"batch", []string{"CronJob", "Job"}},
	{"certificates.k8s.io", []string{"CertificateSigningRequest", "ClusterTrustBundle", "PodCertificateRequest"}},
	{"coordination.k8s.io", []string{"Lease", "LeaseCandidate"}},
	{"discovery.k8s.io", []string{"EndpointSlice"}},
	{"events.k8s.io", []string{"Event"}},
	{"flowcontrol.apiserver.k8s.io", []string{"FlowSchema", "PriorityLevelConfiguration"}},
	{"networking.k8s.io", []string{"IPAddress", "Ingress", "IngressClass", "NetworkPolicy", "ServiceCIDR"}},
	{"node.k8s.io", []string{"RuntimeClass"}},
	{"policy", []string{"PodDisruptionBudget"}},
	{"rbac.authorization.k8s.io", []string{"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}},
	{"resource.k8s.io", []string{"DeviceClass", "DeviceTaintRule", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"}},
	{"scheduling.k8s.io", []string{"PriorityClass", "Workload"}},
	{"storage.k8s.io", []string{"CSIDriver", "CSINode", "CSIStorageCapacity", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"}},
	{"storagemigration.k8s.io", []string{"StorageVersionMigration"}},
}

// unknown returns what is wrong with a kind that the payload does not define, and what to do; empty texts
// if Kubernetes serves it.
func unknown(id ID) (message, hint string) {
	message = fmt.Sprintf("neither Kubernetes nor this payload defines the kind %s of %s", id.Kind, id.Group)
	hint = "add its CustomResourceDefinition, or make sure that the cluster has it"
	var others []string
	for _, b := range builtin {
		has := slices.Contains(b.kinds, id.Kind)
		switch {
		case has && b.group == id.Group:
			return "", ""
		case has:
			others = append(others, groupName(b.group))
		case b.group == id.Group:
			message = fmt.Sprintf("%s of Kubernetes has no kind %s", groupName(id.Group), id.Kind)
			hint = "check its kind and apiVersion"
		}
	}
	if len(others) > 0 {
		hint = "there is one of " + strings.Join(others, " and of ") + ": check its apiVersion"
	}
	return message, hint
}

func groupName(group string) string {
	if group == "" {
		return "the core group"
	}
	return "the group " + group
}

// Lint returns what is odd about the kinds of the tasks of a selection, but may still work: kinds that
// nothing defines, and resources that may be applied before the definition of their kind, in the order of
// g, which NewGraph has made from the tasks. Kinds that one of the cluster's own API servers provides,
// other than by CustomResourceDefinitions, are known only by its APIServices.
func (s *Selection) Lint(g *Graph) Diagnostics {
	x := linter{defines: make(map[[2]string]int), serves: make(map[string]bool), node: make([]int, len(g.Tasks)), depth: g.depths()}
	for i := range g.Nodes {
		for t := range g.Nodes[i].Count {
			x.node[g.Nodes[i].First+t] = i
		}
	}
	for i, m := range g.Tasks {
		x.definition(i, m)
	}
	for i, m := range g.Tasks {
		if x.serves[m.ID.Group] || m.Delete() || bootstrapped(m) {
			continue
		}
		at, ok := x.defines[[2]string{m.ID.Group, m.ID.Kind}]
		switch {
		case !ok:
			if message, hint := unknown(m.ID); message != "" {
				x.note(m, LintUnknownKind, message, hint)
			}
		case !x.before(at, i):
			x.note(m, LintOrder, "it may be applied before "+g.Label(at)+", which defines its kind", "give it a higher runlevel")
		}
	}
	return x.found.Sorted()
}

// bootstrapped reports whether the kind exists before any release is applied.
func bootstrapped(m *Manifest) bool {
	return m.ClusterOperator() || m.ID.Group == "config.openshift.io" && m.ID.Kind == "ClusterVersion"
}

// linter collects findings.
type linter struct {
	defines map[[2]string]int // by group and kind: the task that defines it
	serves  map[string]bool   // groups that an APIService serves
	node    []int             // by task
	depth   []int             // by node
	found   Diagnostics
}

func (x *linter) note(m *Manifest, code Code, message, hint string) {
	x.found = append(x.found, &Diagnostic{Pos: m.Pos, Code: code, Subject: m.ID.String(), Message: message, Hint: hint})
}

// definition notes what a task defines.
func (x *linter) definition(i int, m *Manifest) {
	switch {
	case m.Delete():
	case m.ID.Kind == "CustomResourceDefinition":
		root := doc.Tree(m.JSON)
		group, _ := root.Get("spec", "group").Text()
		kind, _ := root.Get("spec", "names", "kind").Text()
		if _, known := x.defines[[2]string{group, kind}]; !known {
			x.defines[[2]string{group, kind}] = i
		}
	case m.ID.Kind == "APIService":
		if _, group, ok := strings.Cut(m.ID.Name, "."); ok {
			x.serves[group] = true
		}
	}
}

// before reports whether task a is done before task b begins. In a graph from NewGraph, each node waits
// for all nodes of a lower depth.
func (x *linter) before(a, b int) bool {
	if x.node[a] == x.node[b] {
		return a < b
	}
	return x.depth[x.node[a]] < x.depth[x.node[b]]
}

// depths returns, for each node, how many nodes are before it on the longest path.
func (g *Graph) depths() []int {
	depth := make([]int, len(g.Nodes))
	for _, i := range g.order() {
		for _, to := range g.Nodes[i].Out {
			depth[to] = max(depth[to], depth[i]+1)
		}
	}
	return depth
}
