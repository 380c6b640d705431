package eviction

import (
	"context"
	"encoding/json"
	"fmt"
	engine "github.com/fairlead/fairlead/taints/eviction"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reasonTaint is the reason of the condition DisruptionTarget, the same as that
// of the taint eviction controller, which users look for.
const reasonTaint = "DeletionByTaintManager"

// evict makes a pod leave.
func (b *Backend) evict(ctx context.Context, a engine.Evict) error {
	pod, err := b.observed(ctx, a.Pod)
	if err != nil || pod == nil || pod.DeletionTimestamp != nil {
		return err
	}
	if !noted(pod) {
		err := b.patchStatus(ctx, pod, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reasonTaint,
			Message: "Taint " + a.Taint.String() + " of node " + a.Node, LastTransitionTime: metav1.Now(),
		})
		if gone(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("pod %s: note that it is evicted: %w", a.Pod, err)
		}
	}
	if a.Budget {
		return b.askBudget(ctx, pod)
	}
	err = b.Client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID})
	if err != nil && !gone(err) {
		return fmt.Errorf("pod %s: delete: %w", a.Pod, err)
	}
	return nil
}

// observed returns the pod of a reference; nil if it is gone or another pod
// has its name.
func (b *Backend) observed(ctx context.Context, ref engine.PodRef) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	err := b.Reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, pod)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("pod %s: get: %w", ref, err)
	case ref.UID != "" && ref.UID != string(pod.UID):
		return nil, nil
	}
	return pod, nil
}

// noted reports whether the pod already has the condition.
func noted(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget {
			return c.Status == corev1.ConditionTrue && c.Reason == reasonTaint
		}
	}
	return false
}

// askBudget evicts through the eviction API, which respects disruption budgets.
func (b *Backend) askBudget(ctx context.Context, pod *corev1.Pod) error {
	err := b.Client.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	})
	switch {
	case err == nil, gone(err):
		return nil
	case apierrors.IsTooManyRequests(err):
		return fmt.Errorf("pod %s/%s: evict: its disruption budget does not allow it now: %w", pod.Namespace, pod.Name, err)
	}
	return fmt.Errorf("pod %s/%s: evict: %w", pod.Namespace, pod.Name, err)
}

// markNotReady marks a pod as not ready, which removes it from its services.
func (b *Backend) markNotReady(ctx context.Context, a engine.MarkNotReady) error {
	pod, err := b.observed(ctx, a.Pod)
	if err != nil || pod == nil || !ready(pod) {
		return err
	}
	err = b.patchStatus(ctx, pod, corev1.PodCondition{
		Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "NodeNotReady", LastTransitionTime: metav1.Now(),
	})
	if err != nil && !gone(err) {
		return fmt.Errorf("pod %s: mark it as not ready: %w", a.Pod, err)
	}
	return nil
}

func ready(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// patchStatus sets one condition of a pod, whatever the others are. The UID in
// the patch makes the server refuse it for another pod with the same name.
func (b *Backend) patchStatus(ctx context.Context, pod *corev1.Pod, c corev1.PodCondition) error {
	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status":   map[string]any{"conditions": []corev1.PodCondition{c}},
	})
	if err != nil {
		return err
	}
	target := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	return b.Client.Status().Patch(ctx, target, client.RawPatch(types.StrategicMergePatchType, data))
}
