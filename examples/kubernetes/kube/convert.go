package kube

import (
	"encoding/json"
	"fmt"
	"github.com/fairlead/fairlead"
	"time"

	"github.com/fairlead/fairlead/lifecycle"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The conversions cover the fields that the engines know. The results share
// maps and slices of maps with their input, and nothing else: engines do not
// modify them.

// Decode reads any object of the API into one of our types, whose JSON names
// are the API's. It is for kinds without a conversion of their own; an
// unstructured object costs one encoding and one decoding.
func Decode(from *unstructured.Unstructured, into any) error {
	data, err := from.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("%s %s: does not have the expected form: %w", from.GetKind(), NameOf(from), err)
	}
	return nil
}

// Encode converts one of our types to the API object that it represents.
func Encode(from any, apiVersion, kind string) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	out := &unstructured.Unstructured{}
	if err := json.Unmarshal(data, &out.Object); err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	out.SetAPIVersion(apiVersion)
	out.SetKind(kind)
	return out, nil
}

// NameOf returns "namespace/name", or only the name of an object without a
// namespace.
func NameOf(o metav1.Object) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}

// typeMeta converts the kind and API version of an object; clients leave them
// empty.
func typeMeta(m *metav1.TypeMeta) fairlead.TypeMeta {
	return fairlead.TypeMeta{APIVersion: m.APIVersion, Kind: m.Kind}
}

// Meta converts the metadata that all objects have.
func Meta(m *metav1.ObjectMeta) fairlead.ObjectMeta {
	out := fairlead.ObjectMeta{
		GenerateName:               m.GenerateName,
		Name:                       m.Name,
		Namespace:                  m.Namespace,
		UID:                        string(m.UID),
		Generation:                 m.Generation,
		ResourceVersion:            m.ResourceVersion,
		CreationTimestamp:          m.CreationTimestamp.Time,
		DeletionTimestamp:          instant(m.DeletionTimestamp),
		DeletionGracePeriodSeconds: m.DeletionGracePeriodSeconds,
		Labels:                     m.Labels,
		Annotations:                m.Annotations,
		Finalizers:                 m.Finalizers,
	}
	for _, r := range m.OwnerReferences {
		out.OwnerReferences = append(out.OwnerReferences, fairlead.OwnerReference{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID), Controller: r.Controller,
		})
	}
	return out
}

func instant(t *metav1.Time) *time.Time {
	if t == nil {
		return nil
	}
	return &t.Time
}

// sized returns a slice of n elements of the same type as those of like; nil if
// n is zero.
func sized[T any](like []T, n int) []T {
	if n == 0 {
		return nil
	}
	return make([]T, n)
}

// Pod converts a pod.
func Pod(p *corev1.Pod) fairlead.Pod {
	out := fairlead.Pod{TypeMeta: typeMeta(&p.TypeMeta), ObjectMeta: Meta(&p.ObjectMeta)}
	s := &out.Spec
	s.NodeName, s.SchedulerName = p.Spec.NodeName, p.Spec.SchedulerName
	s.NodeSelector = p.Spec.NodeSelector
	s.Tolerations = Tolerations(p.Spec.Tolerations)
	s.HostNetwork = p.Spec.HostNetwork
	s.Priority = p.Spec.Priority
	s.PriorityClassName = p.Spec.PriorityClassName
	if p.Spec.PreemptionPolicy != nil {
		s.PreemptionPolicy = string(*p.Spec.PreemptionPolicy)
	}
	s.TerminationGracePeriodSeconds = p.Spec.TerminationGracePeriodSeconds
	s.InitContainers = containers(p.Spec.InitContainers)
	s.Containers = containers(p.Spec.Containers)
	s.Volumes = volumes(p.Spec.Volumes)
	s.Affinity = affinity(p.Spec.Affinity)
	s.TopologySpreadConstraints = spread(p.Spec.TopologySpreadConstraints)
	if r := p.Spec.Resources; r != nil {
		whole := resources(r)
		s.Resources = &whole
	}
	s.Overhead = quantities(p.Spec.Overhead)
	s.ResourceClaims = sized(s.ResourceClaims, len(p.Spec.ResourceClaims))
	for i := range p.Spec.ResourceClaims {
		s.ResourceClaims[i].Name = p.Spec.ResourceClaims[i].Name
	}
	s.SchedulingGates = sized(s.SchedulingGates, len(p.Spec.SchedulingGates))
	for i := range p.Spec.SchedulingGates {
		s.SchedulingGates[i].Name = p.Spec.SchedulingGates[i].Name
	}

	out.Status.Phase = fairlead.PodPhase(p.Status.Phase)
	out.Status.Reason, out.Status.Message = p.Status.Reason, p.Status.Message
	out.Status.QOSClass = string(p.Status.QOSClass)
	out.Status.NominatedNodeName = p.Status.NominatedNodeName
	out.Status.ContainerStatuses = statuses(p.Status.ContainerStatuses)
	out.Status.InitContainerStatuses = statuses(p.Status.InitContainerStatuses)
	out.Status.StartTime = instant(p.Status.StartTime)
	for _, c := range p.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, fairlead.Condition{
			Type: string(c.Type), Status: lifecycle.ConditionStatus(c.Status), ObservedGeneration: c.ObservedGeneration,
			LastTransitionTime: c.LastTransitionTime.Time, Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}

func statuses(from []corev1.ContainerStatus) []fairlead.ContainerStatus {
	out := sized([]fairlead.ContainerStatus(nil), len(from))
	for i := range from {
		out[i] = fairlead.ContainerStatus{Name: from[i].Name, State: state(&from[i].State), LastState: state(&from[i].LastTerminationState), RestartCount: from[i].RestartCount}
	}
	return out
}

func state(from *corev1.ContainerState) (out fairlead.ContainerState) {
	if w := from.Waiting; w != nil {
		out.Waiting = &fairlead.ContainerReason{Reason: w.Reason, Message: w.Message}
	}
	if t := from.Terminated; t != nil {
		out.Terminated = &fairlead.ContainerReason{Reason: t.Reason, Message: t.Message, ExitCode: int(t.ExitCode), FinishedAt: t.FinishedAt.Time}
	}
	return out
}

func quantities(from corev1.ResourceList) map[string]string {
	if len(from) == 0 {
		return nil
	}
	out := make(map[string]string, len(from))
	for name, q := range from {
		out[string(name)] = q.String()
	}
	return out
}

func volumes(from []corev1.Volume) []lifecycle.Volume {
	var out []lifecycle.Volume
	for i := range from {
		v := lifecycle.Volume{Name: from[i].Name}
		if from[i].EmptyDir != nil {
			v.EmptyDir = &struct{}{}
		}
		if c := from[i].PersistentVolumeClaim; c != nil {
			set(&v.PersistentVolumeClaim).ClaimName = c.ClaimName
		}
		out = append(out, v)
	}
	return out
}

// set allocates the value that p points to, and returns it.
func set[T any](p **T) *T {
	*p = new(T)
	return *p
}

// Node converts a node.
func Node(n *corev1.Node) fairlead.Node {
	out := fairlead.Node{TypeMeta: typeMeta(&n.TypeMeta), ObjectMeta: Meta(&n.ObjectMeta)}
	out.Spec.ProviderID = n.Spec.ProviderID
	out.Spec.Unschedulable = n.Spec.Unschedulable
	out.Spec.Taints = Taints(n.Spec.Taints)

	s := &out.Status
	s.Allocatable = quantities(n.Status.Allocatable)
	s.NodeInfo.KubeletVersion = n.Status.NodeInfo.KubeletVersion
	for _, c := range n.Status.Conditions {
		s.Conditions = append(s.Conditions, fairlead.NodeCondition{
			Type: string(c.Type), Status: lifecycle.ConditionStatus(c.Status), LastHeartbeatTime: c.LastHeartbeatTime.Time,
			LastTransitionTime: c.LastTransitionTime.Time, Reason: c.Reason, Message: c.Message,
		})
	}
	for _, a := range n.Status.Addresses {
		s.Addresses = append(s.Addresses, lifecycle.NodeAddress{Type: string(a.Type), Address: a.Address})
	}
	s.VolumesAttached = sized(s.VolumesAttached, len(n.Status.VolumesAttached))
	for i, v := range n.Status.VolumesAttached {
		s.VolumesAttached[i].Name, s.VolumesAttached[i].DevicePath = string(v.Name), v.DevicePath
	}
	return out
}

// Taints converts the taints of a node, in their order.
func Taints(from []corev1.Taint) []fairlead.Taint {
	var out []fairlead.Taint
	for _, t := range from {
		out = append(out, fairlead.Taint{Key: t.Key, Value: t.Value, Effect: fairlead.TaintEffect(t.Effect), TimeAdded: instant(t.TimeAdded)})
	}
	return out
}

// FromTaints converts taints for the API, in their order.
func FromTaints(from []fairlead.Taint) []corev1.Taint {
	var out []corev1.Taint
	for _, t := range from {
		c := corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)}
		if t.TimeAdded != nil {
			c.TimeAdded = &metav1.Time{Time: *t.TimeAdded}
		}
		out = append(out, c)
	}
	return out
}

// Tolerations converts the tolerations of a pod, in their order.
func Tolerations(from []corev1.Toleration) []fairlead.Toleration {
	var out []fairlead.Toleration
	for _, t := range from {
		out = append(out, fairlead.Toleration{
			Key: t.Key, Operator: fairlead.TolerationOperator(t.Operator), Value: t.Value,
			Effect: fairlead.TaintEffect(t.Effect), TolerationSeconds: t.TolerationSeconds,
		})
	}
	return out
}

// FromTolerations converts tolerations for the API, in their order.
func FromTolerations(from []fairlead.Toleration) []corev1.Toleration {
	var out []corev1.Toleration
	for _, t := range from {
		out = append(out, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value,
			Effect: corev1.TaintEffect(t.Effect), TolerationSeconds: t.TolerationSeconds,
		})
	}
	return out
}

// Budget converts a disruption budget.
func Budget(b *policyv1.PodDisruptionBudget) fairlead.PodDisruptionBudget {
	out := fairlead.PodDisruptionBudget{TypeMeta: typeMeta(&b.TypeMeta), ObjectMeta: Meta(&b.ObjectMeta)}
	s := &out.Spec
	s.MinAvailable = intOrString(b.Spec.MinAvailable)
	s.MaxUnavailable = intOrString(b.Spec.MaxUnavailable)
	s.Selector = Selector(b.Spec.Selector)
	if p := b.Spec.UnhealthyPodEvictionPolicy; p != nil {
		s.UnhealthyPodEvictionPolicy = string(*p)
	}
	t := &out.Status
	t.ObservedGeneration = b.Status.ObservedGeneration
	t.DisruptionsAllowed = int(b.Status.DisruptionsAllowed)
	t.CurrentHealthy = int(b.Status.CurrentHealthy)
	t.DesiredHealthy = int(b.Status.DesiredHealthy)
	t.ExpectedPods = int(b.Status.ExpectedPods)
	t.Conditions = Conditions(b.Status.Conditions)
	for name, at := range b.Status.DisruptedPods {
		if t.DisruptedPods == nil {
			t.DisruptedPods = map[string]time.Time{}
		}
		t.DisruptedPods[name] = at.Time
	}
	return out
}

func intOrString(from *intstr.IntOrString) *lifecycle.IntOrString {
	if from == nil {
		return nil
	}
	if from.Type == intstr.String {
		return &lifecycle.IntOrString{Text: from.StrVal}
	}
	return &lifecycle.IntOrString{Int: from.IntValue()}
}

// Selector converts a label selector; nil stays nil.
func Selector(from *metav1.LabelSelector) *lifecycle.LabelSelector {
	if from == nil {
		return nil
	}
	out := &lifecycle.LabelSelector{MatchLabels: from.MatchLabels}
	out.MatchExpressions = sized(out.MatchExpressions, len(from.MatchExpressions))
	for i, r := range from.MatchExpressions {
		e := &out.MatchExpressions[i]
		e.Key, e.Values = r.Key, r.Values
		assign(&e.Operator, string(r.Operator))
	}
	return out
}

// assign sets a string of any string type.
func assign[T ~string](p *T, s string) { *p = T(s) }

// Conditions converts conditions, in their order.
func Conditions(from []metav1.Condition) []fairlead.Condition {
	var out []fairlead.Condition
	for _, c := range from {
		out = append(out, fairlead.Condition{
			Type: c.Type, Status: lifecycle.ConditionStatus(c.Status), ObservedGeneration: c.ObservedGeneration,
			LastTransitionTime: c.LastTransitionTime.Time, Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}

// FromConditions converts conditions for the API, in their order.
func FromConditions(from []fairlead.Condition) []metav1.Condition {
	var out []metav1.Condition
	for _, c := range from {
		out = append(out, metav1.Condition{
			Type: c.Type, Status: metav1.ConditionStatus(c.Status), ObservedGeneration: c.ObservedGeneration,
			LastTransitionTime: metav1.NewTime(c.LastTransitionTime), Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}
