package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// look takes a pod one step further. It returns the delay before the next
// step; zero means after the next change.
func (k *Kubelets) look(ctx context.Context, key string) (time.Duration, error) {
	object, exists, err := k.pods.GetByKey(key)
	if err != nil || !exists {
		return 0, err
	}
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return 0, fmt.Errorf("%T is not a pod", object)
	}
	if pod.Spec.NodeName == "" {
		return 0, k.schedule(ctx, pod)
	}
	node, err := k.nodes.Get(pod.Spec.NodeName)
	switch {
	case apierrors.IsNotFound(err):
		return 0, nil
	case err != nil:
		return 0, err
	case reports(node) == corev1.ConditionUnknown:
		return 0, nil
	case pod.DeletionTimestamp != nil:
		return k.end(ctx, pod)
	}
	return k.run(ctx, pod)
}

// removing is how long to wait for the server to remove a pod without a grace
// period that it has marked.
const removing = 2 * time.Second

// end removes a pod that is being deleted when its time is over.
func (k *Kubelets) end(ctx context.Context, pod *corev1.Pod) (time.Duration, error) {
	var grace time.Duration
	if seconds := pod.DeletionGracePeriodSeconds; seconds != nil {
		grace = time.Duration(*seconds) * time.Second
	}
	ending := time.Duration(0)
	switch {
	case grace > 0 && k.opts.Ending != nil:
		ending = min(k.opts.Ending(pod), grace)
	case grace == 0 && len(pod.Finalizers) > 0:
		return 0, nil // it was removed, and waits for its finalizers
	case grace == 0:
		// The server marks a pod and then removes it. If it was stopped in
		// between, the pod stays until it is deleted again.
		ending = removing
	}
	// The deletion timestamp is the end of the grace period.
	told := pod.DeletionTimestamp.Add(-grace)
	if left := time.Until(told.Add(ending)); left > 0 {
		return left, nil
	}
	now := int64(0)
	return 0, k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now,
		Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
	})
}

// run brings a pod to the next of Pending, Running, Succeeded.
func (k *Kubelets) run(ctx context.Context, pod *corev1.Pod) (time.Duration, error) {
	switch {
	case pod.Status.Phase == corev1.PodPending:
		if left := time.Until(pod.CreationTimestamp.Add(k.opts.Starting)); left > 0 {
			return left, nil
		}
		return 0, k.report(ctx, pod, corev1.PodRunning, corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()},
		})
	case pod.Status.Phase == corev1.PodRunning && pod.Spec.RestartPolicy != corev1.RestartPolicyAlways:
		return 0, k.report(ctx, pod, corev1.PodSucceeded, corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", FinishedAt: metav1.Now()},
		})
	}
	return 0, nil
}

// report writes a pod's status: its phase, with all its containers in a state.
// It fails with a conflict if the pod changed.
func (k *Kubelets) report(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase, state corev1.ContainerState) error {
	pod = pod.DeepCopy()
	now := metav1.Now()
	running := phase == corev1.PodRunning
	ready := corev1.ConditionFalse
	if running {
		ready = corev1.ConditionTrue
	}
	pod.Status.Phase = phase
	if pod.Status.PodIP == "" {
		pod.Status.PodIP = k.address() // nothing listens there; see ServePods
		pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
	}
	if pod.Status.StartTime == nil {
		pod.Status.StartTime = &now
	}
	for _, condition := range []corev1.PodCondition{
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue},
		{Type: corev1.ContainersReady, Status: ready},
		{Type: corev1.PodReady, Status: ready},
	} {
		condition.LastTransitionTime = now
		same := func(c corev1.PodCondition) bool { return c.Type == condition.Type }
		pod.Status.Conditions = append(slices.DeleteFunc(pod.Status.Conditions, same), condition)
	}
	pod.Status.ContainerStatuses = nil
	for _, container := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name:    container.Name,
			Image:   container.Image,
			ImageID: container.Image,
			Ready:   running,
			Started: &running,
			State:   state,
		})
	}
	_, err := k.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

// address returns an address that no other pod has.
func (k *Kubelets) address() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.addresses++
	return fmt.Sprintf("10.%d.%d.%d", 128+k.addresses>>16&127, k.addresses>>8&255, k.addresses&255)
}

// schedule binds a pod to the next node that fits. If there is none, it waits
// for a node to change.
func (k *Kubelets) schedule(ctx context.Context, pod *corev1.Pod) error {
	if k.opts.Unscheduled || pod.DeletionTimestamp != nil || len(pod.Spec.SchedulingGates) > 0 {
		return nil
	}
	nodes, err := k.nodes.List(labels.Everything())
	if err != nil {
		return err
	}
	nodes = slices.DeleteFunc(nodes, func(node *corev1.Node) bool { return !fits(pod, node) })
	if len(nodes) == 0 {
		return nil
	}
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	k.mu.Lock()
	node := nodes[k.turn%len(nodes)]
	k.turn++
	k.mu.Unlock()
	return k.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node.Name},
	}, metav1.CreateOptions{})
}

// fits reports whether a pod may be scheduled to a node.
func fits(pod *corev1.Pod, node *corev1.Node) bool {
	if reports(node) != corev1.ConditionTrue || node.Spec.Unschedulable || node.DeletionTimestamp != nil {
		return false
	}
	match, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	if err != nil || !match {
		return false
	}
	const compareNumbers = false // tolerations with Lt and Gt: disabled by default
	_, repelled := corev1helpers.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations,
		func(taint *corev1.Taint) bool { return taint.Effect != corev1.TaintEffectPreferNoSchedule }, compareNumbers)
	return !repelled
}
