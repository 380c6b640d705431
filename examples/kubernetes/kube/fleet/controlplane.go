package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/nodes"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/fleet"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ControlPlaneKind is the kind of control plane machine sets (openshift/api
// 034b6bc).
var ControlPlaneKind = schema.GroupVersionKind{Group: machines.Kind.Group, Version: "v1", Kind: "ControlPlaneMachineSet"}

// Labels of machines and nodes of a control plane.
const (
	labelClusterID   = "machine.openshift.io/cluster-api-cluster"
	labelMachineRole = "machine.openshift.io/cluster-api-machine-role"
	labelMaster      = "node-role.kubernetes.io/master"
	labelPlane       = "node-role.kubernetes.io/control-plane"
)

// planeSet is a ControlPlaneMachineSet.
type planeSet struct {
	lifecycle.ObjectMeta `json:"metadata"`
	Spec                 struct {
		Replicas          int    `json:"replicas"`
		State             string `json:"state"`
		MachineNamePrefix string `json:"machineNamePrefix"`
		Strategy          struct {
			Type fleet.Strategy `json:"type"`
		} `json:"strategy"`
		Selector lifecycle.LabelSelector `json:"selector"`
		Template struct {
			Machine planeTemplate `json:"machines_v1beta1_machine_openshift_io"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// Replace takes the next step of a ControlPlaneMachineSet, "namespace/name", towards
// machines that all match its template: it creates at most one machine, or deletes one,
// as fleet.Replace decides, and writes the status of the set. A set whose state is
// Inactive is left alone. The result is nil if there is no set with the name.
//
// A machine is outdated if its providerSpec differs from the template's. Failure
// domains of AWS, Azure and GCP are supported; those of other platforms are an error. A
// new machine gets the failure domain of the last machine with its index, or else the
// one with the fewest machines. Its name ends with its index; the part before is
// derived from the existing machines, so that two processes that make the same decision
// create a single machine. Machines without a controller count as the set's, but are
// not adopted.
//
// Do not use it for a set that OpenShift's own operator manages.
func (b *Backend) Replace(ctx context.Context, name string, now time.Time) (*fleet.Replacement, error) {
	u, err := b.get(ctx, ControlPlaneKind, name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var set planeSet
	if err := kube.Decode(u, &set); err != nil {
		return nil, err
	}
	if set.Spec.State == "Inactive" {
		return &fleet.Replacement{Blocked: []fairlead.Block{{
			Subject: "control plane set " + name, Reason: "Inactive", Message: "its state is Inactive", Unblock: "set spec.state to Active",
		}}}, nil
	}
	if err := set.check(); err != nil {
		return nil, fmt.Errorf("ControlPlaneMachineSet %s: %w", name, err)
	}
	plane, own, err := b.plane(ctx, &set)
	if err != nil {
		return nil, err
	}
	r := fleet.Replace(plane, now)
	var all []error
	for _, place := range r.Create {
		m, err := set.machine(u, plane, own, place)
		if err == nil {
			err = nodes.Refused(b.Client.Create(ctx, m))
		}
		all = append(all, err)
	}
	if i := slices.IndexFunc(own, func(m *lifecycle.Machine) bool { return m.Name == r.Delete }); i >= 0 {
		m := own[i]
		all = append(all, nodes.Refused(client.IgnoreNotFound(b.Client.Delete(ctx, kube.Stub(b.kind(), m.Namespace, m.Name), preconditions(m)))))
	}
	all = append(all, nodes.Refused(b.planeStatus(ctx, u, &set, plane, &r, now)))
	return &r, errors.Join(all...)
}

// check reports why the set could create no machine.
func (s *planeSet) check() error {
	t := &s.Spec.Template.Machine
	labels := "spec.template.machines_v1beta1_machine_openshift_io.metadata.labels"
	switch {
	case !s.Spec.Selector.Matches(t.Metadata.Labels):
		return &fairlead.FieldError{Path: labels, Problem: "the selector of the set does not match them, so new machines would not belong to it; add the labels that spec.selector requires"}
	case s.Spec.MachineNamePrefix == "" && (t.Metadata.Labels[labelClusterID] == "" || t.Metadata.Labels[labelMachineRole] == ""):
		return &fairlead.FieldError{Path: labels, Problem: "machines are named after " + labelClusterID + " and " + labelMachineRole + "; add both, or spec.machineNamePrefix"}
	}
	_, err := t.FailureDomains.overlays()
	return err
}

// plane reads the machines of a set, and returns them together with the input of
// the decision, in the same order.
func (b *Backend) plane(ctx context.Context, set *planeSet) (*fleet.ControlPlane, []*lifecycle.Machine, error) {
	all, err := b.machines(ctx, set.Namespace)
	if err != nil {
		return nil, nil, err
	}
	named, err := b.nodes(ctx)
	if err != nil {
		return nil, nil, err
	}
	plane := &fleet.ControlPlane{Replicas: set.Spec.Replicas, Strategy: set.Spec.Strategy.Type}
	if plane.Strategy == "" {
		plane.Strategy = fleet.RollingUpdate
	}
	managed := map[string]bool{}
	var own []*lifecycle.Machine
	for i := range all {
		m := &all[i]
		var node *lifecycle.Node
		if ref := m.Status.NodeRef; ref != nil {
			node = named[ref.Name]
			managed[ref.Name] = true
		}
		if !set.Spec.Selector.Matches(m.Labels) {
			continue
		}
		is, err := set.read(m, node)
		if err != nil {
			return nil, nil, err
		}
		own = append(own, m)
		plane.Machines = append(plane.Machines, is)
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		_, master := named[name].Labels[labelMaster]
		if _, is := named[name].Labels[labelPlane]; (is || master) && !managed[name] {
			plane.UnmanagedNodes = append(plane.UnmanagedNodes, name)
		}
	}
	return plane, own, nil
}

// read returns the properties of a machine that decisions use. If its name does
// not end with an index, it has none.
func (s *planeSet) read(m *lifecycle.Machine, node *lifecycle.Node) (fleet.ControlPlaneMachine, error) {
	is := fleet.ControlPlaneMachine{Name: m.Name, Index: -1, Created: m.CreationTimestamp, Deleting: m.Deleting()}
	if n, err := strconv.Atoi(m.Name[strings.LastIndexByte(m.Name, '-')+1:]); err == nil {
		is.Index = n
	}
	if node != nil && m.Status.Phase == lifecycle.PhaseRunning {
		c := node.Condition("Ready")
		is.Ready = c != nil && c.Status == fairlead.ConditionTrue
	}
	if m.Status.Phase == lifecycle.PhaseFailed {
		is.Failed = m.Status.ErrorMessage
		if is.Failed == "" {
			is.Failed = "its phase is Failed"
		}
	}
	if o := m.ControllerOf(); o != nil && o.UID != s.UID {
		is.Owner = o.Kind + " " + o.Name
	}
	value, err := provided(m)
	if err != nil {
		return is, err
	}
	domain, _ := s.Spec.Template.Machine.domainOf(value)
	is.Outdated = !equality.Semantic.DeepEqual(s.Spec.Template.Machine.value(domain), value)
	return is, nil
}

// provided returns the providerSpec of a machine.
func provided(m *lifecycle.Machine) (map[string]any, error) {
	var spec struct {
		Value map[string]any `json:"value"`
	}
	if len(m.Spec.ProviderSpec) > 0 {
		if err := json.Unmarshal(m.Spec.ProviderSpec, &spec); err != nil {
			return nil, fmt.Errorf("machine %s: spec.providerSpec: %w", m.ObjectMeta, err)
		}
	}
	return spec.Value, nil
}

// machine returns the new machine for an index.
func (s *planeSet) machine(u *unstructured.Unstructured, plane *fleet.ControlPlane, own []*lifecycle.Machine, place int) (*unstructured.Unstructured, error) {
	t := &s.Spec.Template.Machine
	domain, err := t.domainFor(plane, own, place)
	if err != nil {
		return nil, err
	}
	prefix := s.Spec.MachineNamePrefix
	if prefix == "" {
		prefix = t.Metadata.Labels[labelClusterID] + "-" + t.Metadata.Labels[labelMachineRole]
	}
	seed := s.UID
	for _, m := range own {
		seed += " " + m.UID
	}
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	drawn := sha256.Sum256([]byte(seed))
	text := make([]byte, 5)
	for i := range text {
		text[i] = letters[int(drawn[i])%len(letters)]
	}
	m := kube.Stub(machines.Kind, s.Namespace, fmt.Sprintf("%s-%s-%d", prefix, text, place))
	m.SetLabels(t.Metadata.Labels)
	m.SetAnnotations(t.Metadata.Annotations)
	yes := true
	m.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: ControlPlaneKind.GroupVersion().String(), Kind: ControlPlaneKind.Kind, Name: s.Name, UID: u.GetUID(), Controller: &yes, BlockOwnerDeletion: &yes,
	}})
	spec := runtime.DeepCopyJSON(t.Spec)
	if err := unstructured.SetNestedMap(spec, t.value(domain), "providerSpec", "value"); err != nil {
		return nil, fmt.Errorf("ControlPlaneMachineSet %s: spec.template: %w", s.ObjectMeta, err)
	}
	m.Object["spec"] = spec
	return m, nil
}

// planeStatus writes the status of a set if it has changed.
func (b *Backend) planeStatus(ctx context.Context, u *unstructured.Unstructured, set *planeSet, plane *fleet.ControlPlane, r *fleet.Replacement, now time.Time) error {
	ready, updated := 0, 0
	for _, m := range plane.Machines {
		if m.Ready {
			ready++
			if !m.Outdated && !m.Deleting {
				updated++
			}
		}
	}
	missing := max(0, plane.Replicas-ready)
	conditions := set.Status.Conditions
	say := func(kind string, is bool, reason, message string) {
		status := metav1.ConditionFalse
		if is {
			status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: u.GetGeneration(), LastTransitionTime: metav1.NewTime(now),
		})
	}
	if missing == 0 {
		say("Available", true, "AllReplicasAvailable", "")
	} else {
		say("Available", false, "UnavailableReplicas", fmt.Sprintf("Missing %d available replica(s)", missing))
	}
	switch {
	case r.Degraded != "":
		say("Degraded", true, r.Degraded, r.Blocked[len(r.Blocked)-1].Message)
		say("Progressing", false, "OperatorDegraded", "")
	case updated < plane.Replicas:
		say("Degraded", false, "AsExpected", "")
		say("Progressing", true, "NeedsUpdateReplicas", fmt.Sprintf("Observed %d replica(s) in need of update", plane.Replicas-updated))
	case ready > plane.Replicas:
		say("Degraded", false, "AsExpected", "")
		say("Progressing", true, "ExcessReplicas", fmt.Sprintf("Waiting for %d old replica(s) to be removed", ready-updated))
	default:
		say("Degraded", false, "AsExpected", "")
		say("Progressing", false, "AllReplicasUpdated", "")
	}
	after := u.DeepCopy()
	list := make([]any, len(conditions))
	for i := range conditions {
		c, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&conditions[i])
		if err != nil {
			return err
		}
		list[i] = c
	}
	status, _, _ := unstructured.NestedMap(u.Object, "status")
	if status == nil {
		status = map[string]any{}
	}
	maps.Copy(status, map[string]any{
		"replicas": int64(len(plane.Machines)), "readyReplicas": int64(ready), "updatedReplicas": int64(updated), "unavailableReplicas": int64(missing),
		"observedGeneration": u.GetGeneration(), "conditions": list,
	})
	after.Object["status"] = status
	if equality.Semantic.DeepEqual(u.Object, after.Object) {
		return nil
	}
	return b.Client.Status().Patch(ctx, after, client.MergeFromWithOptions(u, client.MergeFromWithOptimisticLock{}))
}
