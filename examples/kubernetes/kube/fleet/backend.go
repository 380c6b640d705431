package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/document"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/nodes"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/fleet"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The kinds that are read, in the API group of machines. Those of the Cluster API have
// the same names.
var (
	HealthCheckKind = machines.Kind.GroupVersion().WithKind("MachineHealthCheck") // of health checks
	SetKind         = machines.Kind.GroupVersion().WithKind("MachineSet")         // of sets
)

// Backend accesses the machines of a cluster. Its methods may be called from
// several goroutines, for different objects.
//
// Everything is read from the server: conclusions about unhealthy machines, or how
// many there are, must not be based on stale data. A deletion names the observed UID,
// other writes the resourceVersion. If the server refuses a write, the error is a
// [*fairlead.RefusedError].
type Backend struct {
	Client client.Client // reads and writes, without a cache
	// Kind is the kind of machines; empty means machines.Kind. A health check does not
	// delete machines of the Cluster API ([machines.KindClusterAPI]): it sets their
	// conditions HealthCheckSucceeded and OwnerRemediated, and their owner replaces
	// them.
	Kind schema.GroupVersionKind
	// Nodes reads the nodes of the machines, if they belong to another cluster. Nil
	// means Client.
	Nodes client.Reader
}

// kind returns the kind of the machines.
func (b *Backend) kind() schema.GroupVersionKind { return cmp.Or(b.Kind, machines.Kind) }

// beside returns a kind in the same group and version as the machines.
func (b *Backend) beside(kind schema.GroupVersionKind) schema.GroupVersionKind {
	return b.kind().GroupVersion().WithKind(kind.Kind)
}

// Check evaluates a health check, "namespace/name", at a time; it has machines
// replaced accordingly, and writes the status if it has changed. The report is nil if
// there is no health check with the name. A machine that cannot be deleted does not
// affect the others; the errors are joined.
func (b *Backend) Check(ctx context.Context, name string, now time.Time) (*fleet.HealthReport, error) {
	u, err := b.get(ctx, b.beside(HealthCheckKind), name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	check, err := b.read(u)
	if err != nil {
		return nil, err
	}
	if b.clusterAPI() {
		if is, err := b.paused(ctx, check); err != nil {
			return nil, err
		} else if is {
			return &fleet.HealthReport{Blocked: []fairlead.Block{{
				Subject: "health check " + name, Reason: "Paused", Message: "its cluster is paused", Unblock: "set spec.paused of the cluster to false",
			}}}, nil
		}
	}
	targets, err := b.targets(ctx, u.GetNamespace())
	if err != nil {
		return nil, err
	}
	report, err := check.Evaluate(targets, now)
	if err != nil {
		return nil, fmt.Errorf("health check %s: %w", name, err)
	}
	var all []error
	for i := range targets {
		m := targets[i].Machine
		sick := slices.Contains(report.Remediate, m.ObjectMeta.String())
		external := check.Spec.RemediationTemplate != nil
		if j := slices.IndexFunc(report.Targets, func(v fleet.Health) bool { return v.Machine == m.ObjectMeta.String() }); b.clusterAPI() && j >= 0 {
			all = append(all, nodes.Refused(b.mark(ctx, m, &report.Targets[j], sick, external, now)))
		}
		if sick && (external || !b.clusterAPI()) {
			all = append(all, nodes.Refused(b.remedy(ctx, check, m)))
		}
	}
	all = append(all, nodes.Refused(b.status(ctx, u, report, now)))
	return report, errors.Join(all...)
}

func (b *Backend) get(ctx context.Context, kind schema.GroupVersionKind, name string) (*unstructured.Unstructured, error) {
	namespace, short := kube.SplitName(name)
	u := kube.Stub(kind, namespace, short)
	if err := b.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
		return nil, fmt.Errorf("%s %s: get: %w", kind.Kind, name, err)
	}
	return u, nil
}

// read reads a health check.
func (b *Backend) read(u *unstructured.Unstructured) (*fleet.HealthCheck, error) {
	if b.clusterAPI() {
		return readCluster(u)
	}
	check := new(fleet.HealthCheck)
	return check, kube.Decode(u, check)
}

// machines reads the machines of a namespace.
func (b *Backend) machines(ctx context.Context, namespace string) ([]lifecycle.Machine, error) {
	list := kube.ListOf(b.kind())
	if err := b.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list machines: %w", err)
	}
	all := make([]lifecycle.Machine, len(list.Items))
	for i := range list.Items {
		d, err := document.Read(&list.Items[i])
		if err != nil {
			return nil, err
		}
		all[i] = d.Machine
		if b.clusterAPI() {
			waitsForNode(&all[i])
		}
	}
	return all, nil
}

// targets returns the machines of a namespace with their nodes. Machines are read
// first, so that the node of each is found if it exists.
func (b *Backend) targets(ctx context.Context, namespace string) ([]fleet.Target, error) {
	all, err := b.machines(ctx, namespace)
	if err != nil {
		return nil, err
	}
	named, err := b.nodes(ctx)
	if err != nil {
		return nil, err
	}
	targets := make([]fleet.Target, len(all))
	for i := range all {
		targets[i].Machine = &all[i]
		if ref := all[i].Status.NodeRef; ref != nil {
			targets[i].Node = named[ref.Name]
		}
	}
	return targets, nil
}

// nodes returns the nodes of the machines, by name.
func (b *Backend) nodes(ctx context.Context) (map[string]*lifecycle.Node, error) {
	var list corev1.NodeList
	from := b.Nodes
	if from == nil {
		from = b.Client
	}
	if err := from.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	named := make(map[string]*lifecycle.Node, len(list.Items))
	for i := range list.Items {
		n := kube.Node(&list.Items[i])
		named[n.Name] = &n
	}
	return named, nil
}

// remedy deletes a machine, or creates a remediation from the template.
func (b *Backend) remedy(ctx context.Context, check *fleet.HealthCheck, m *lifecycle.Machine) error {
	template := check.Spec.RemediationTemplate
	if template == nil {
		return client.IgnoreNotFound(b.Client.Delete(ctx, kube.Stub(b.kind(), m.Namespace, m.Name), preconditions(m)))
	}
	kind := schema.FromAPIVersionAndKind(template.APIVersion, template.Kind)
	from, err := b.get(ctx, kind, m.Namespace+"/"+template.Name)
	if err != nil {
		return err
	}
	kind.Kind = strings.TrimSuffix(kind.Kind, "Template")
	u := kube.Stub(kind, m.Namespace, m.Name)
	spec, _, err := unstructured.NestedFieldCopy(from.Object, "spec", "template", "spec")
	if err != nil {
		return fmt.Errorf("%s %s/%s: %w", template.Kind, m.Namespace, template.Name, err)
	}
	if spec != nil {
		u.Object["spec"] = spec
	}
	u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: b.kind().GroupVersion().String(), Kind: b.kind().Kind, Name: m.Name, UID: types.UID(m.UID)}})
	return client.IgnoreAlreadyExists(b.Client.Create(ctx, u))
}

// remediationAllowed is the condition that says whether machines may be replaced.
const remediationAllowed = "RemediationAllowed"

// status writes a report to the status of the check, if it has changed.
func (b *Backend) status(ctx context.Context, u *unstructured.Unstructured, r *fleet.HealthReport, now time.Time) error {
	condition := map[string]any{"type": remediationAllowed, "status": "True", "lastTransitionTime": now.UTC().Format(time.RFC3339)}
	for _, k := range r.Blocked {
		if strings.HasPrefix(k.Subject, "health check ") && k.Reason != "RemediationDeferred" {
			condition["status"], condition["severity"], condition["reason"], condition["message"] = "False", "Warning", k.Reason, k.Message
		}
	}
	if b.clusterAPI() { // its conditions have the form of Kubernetes
		delete(condition, "severity")
		if condition["status"] == "True" {
			condition["reason"], condition["message"] = remediationAllowed, ""
		}
	}
	after := u.DeepCopy()
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	kept := []any{condition}
	for _, c := range conditions {
		if c, ok := c.(map[string]any); !ok || c["type"] != remediationAllowed {
			kept = append(kept, c)
		} else if c["status"] == condition["status"] {
			condition["lastTransitionTime"] = c["lastTransitionTime"]
		}
	}
	status, _, _ := unstructured.NestedMap(u.Object, "status")
	if status == nil {
		status = map[string]any{}
	}
	status["expectedMachines"], status["currentHealthy"] = int64(r.Total), int64(r.Healthy)
	status["remediationsAllowed"] = int64(max(0, r.Max-(r.Total-r.Healthy)))
	status["conditions"] = kept
	if b.clusterAPI() {
		names := []any{}
		for _, v := range r.Targets {
			_, name := kube.SplitName(v.Machine)
			names = append(names, name)
		}
		status["targets"], status["observedGeneration"] = names, u.GetGeneration()
	}
	after.Object["status"] = status
	if equality.Semantic.DeepEqual(u.Object, after.Object) {
		return nil
	}
	return b.Client.Status().Patch(ctx, after, client.MergeFromWithOptions(u, client.MergeFromWithOptimisticLock{}))
}

// ScaleDown makes a MachineSet, "namespace/name", remove n machines, chosen by
// fleet.ScaleDown. First the machines are marked by an annotation, then the replicas
// of the set are reduced by n; if the set has changed since it was read, that is
// refused, and the marks stay: by themselves they delete nothing. The picks are those
// of the whole call, in order.
func (b *Backend) ScaleDown(ctx context.Context, set string, n int, now time.Time) ([]fleet.Pick, error) {
	u, err := b.get(ctx, b.beside(SetKind), set)
	if err != nil {
		return nil, err
	}
	var is struct {
		Spec struct {
			Replicas     *int               `json:"replicas"`
			DeletePolicy fleet.DeletePolicy `json:"deletePolicy"`
			Deletion     struct {
				Order fleet.DeletePolicy `json:"order"`
			} `json:"deletion"` // of the Cluster API
		} `json:"spec"`
	}
	if err := kube.Decode(u, &is); err != nil {
		return nil, err
	}
	replicas := 1 // the default
	if is.Spec.Replicas != nil {
		replicas = *is.Spec.Replicas
	}
	if n < 1 || n > replicas {
		return nil, fmt.Errorf("MachineSet %s: it cannot remove %d of %d machines", set, n, replicas)
	}
	all, err := b.machines(ctx, u.GetNamespace())
	if err != nil {
		return nil, err
	}
	var own []lifecycle.Machine
	for i := range all {
		if c := all[i].ControllerOf(); c != nil && c.UID == string(u.GetUID()) {
			own = append(own, all[i])
		}
	}
	api, mark := fleet.MachineAPI, fleet.DeleteAnnotation
	if b.clusterAPI() {
		api, mark = fleet.ClusterAPI, fleet.DeleteAnnotationCAPI
	}
	picks, err := fleet.ScaleDown(own, len(own)-(replicas-n), cmp.Or(is.Spec.Deletion.Order, is.Spec.DeletePolicy), api, now)
	if err != nil {
		return nil, fmt.Errorf("MachineSet %s: %w", set, err)
	}
	for _, p := range picks {
		if p.Machine.Deleting() || p.Machine.Annotations[mark] != "" {
			continue
		}
		data, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"uid": p.Machine.UID, "resourceVersion": p.Machine.ResourceVersion, "annotations": map[string]any{mark: "true"},
		}})
		if err != nil {
			return nil, err
		}
		if err := b.Client.Patch(ctx, kube.Stub(b.kind(), p.Machine.Namespace, p.Machine.Name), client.RawPatch(types.MergePatchType, data)); err != nil {
			return picks, nodes.Refused(err)
		}
	}
	after := u.DeepCopy()
	if err := unstructured.SetNestedField(after.Object, int64(replicas-n), "spec", "replicas"); err != nil {
		return picks, err
	}
	return picks, nodes.Refused(b.Client.Patch(ctx, after, client.MergeFromWithOptions(u, client.MergeFromWithOptimisticLock{})))
}

// preconditions returns the precondition that the machine is the one that was
// observed.
func preconditions(m *lifecycle.Machine) client.Preconditions {
	uid := types.UID(m.UID)
	return client.Preconditions{UID: &uid, ResourceVersion: &m.ResourceVersion}
}
