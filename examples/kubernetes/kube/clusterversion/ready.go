package clusterversion

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Each of these returns what a resource waits for, and why it cannot proceed.
// Both are empty when it is ready.

const unjudged = "its controller has not observed it yet"

// definition waits until the kind is served.
func definition(u *unstructured.Unstructured) (waiting, failed string) {
	var d apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &d); err != nil {
		return "", err.Error()
	}
	waiting = unjudged
	for _, c := range d.Status.Conditions {
		switch {
		case c.Type == apiextensionsv1.NamesAccepted && c.Status == apiextensionsv1.ConditionFalse:
			failed = "its names are not accepted: " + c.Message
		case c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue:
			waiting = ""
		case c.Type == apiextensionsv1.Established:
			waiting = "it is not established: " + c.Message
		}
	}
	return waiting, failed
}

// deployment waits until all replicas have the newest template and are
// available, and no old ones are left.
func deployment(u *unstructured.Unstructured) (waiting, failed string) {
	var d appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &d); err != nil {
		return "", err.Error()
	}
	if d.Status.ObservedGeneration < d.Generation {
		return unjudged, ""
	}
	for _, c := range d.Status.Conditions {
		switch {
		case c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue:
			return "", "its pods cannot be created: " + c.Message
		case c.Type == appsv1.DeploymentProgressing && c.Reason == "ProgressDeadlineExceeded":
			return "", "it has stopped: " + c.Message
		}
	}
	want := int32(1)
	if d.Spec.Replicas != nil {
		want = *d.Spec.Replicas
	}
	s := &d.Status
	if s.UpdatedReplicas < want || s.AvailableReplicas < want || s.Replicas > s.UpdatedReplicas {
		return fmt.Sprintf("of %d replicas %d are updated and %d available; %d exist", want, s.UpdatedReplicas, s.AvailableReplicas, s.Replicas), ""
	}
	return "", ""
}

// daemonSet waits until the pods of all nodes have the newest template and
// are available. A DaemonSet that is updated manually is not waited for.
func daemonSet(u *unstructured.Unstructured) (waiting, failed string) {
	var d appsv1.DaemonSet
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &d); err != nil {
		return "", err.Error()
	}
	s := &d.Status
	if s.ObservedGeneration < d.Generation {
		return unjudged, ""
	}
	if d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		return "", ""
	}
	if want := s.DesiredNumberScheduled; s.UpdatedNumberScheduled < want || s.NumberAvailable < want {
		return fmt.Sprintf("of %d pods %d are updated and %d available", want, s.UpdatedNumberScheduled, s.NumberAvailable), ""
	}
	return "", ""
}

// job waits until the Job is complete.
func job(u *unstructured.Unstructured) (waiting, failed string) {
	var j batchv1.Job
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &j); err != nil {
		return "", err.Error()
	}
	for _, c := range j.Status.Conditions {
		switch {
		case c.Status != corev1.ConditionTrue:
		case c.Type == batchv1.JobComplete:
			return "", ""
		case c.Type == batchv1.JobFailed:
			return "", "it has failed: " + c.Message
		}
	}
	return fmt.Sprintf("%d of its pods are running, %d have succeeded, %d have failed", j.Status.Active, j.Status.Succeeded, j.Status.Failed), ""
}

// trim removes unused fields from a resource, to keep the cache small.
func trim(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	u.SetManagedFields(nil)
	u.SetAnnotations(nil)
	for _, path := range [][]string{{"spec", "template"}, {"spec", "versions"}, {"spec", "validation"}, {"spec", "conversion"}, {"spec", "selector"}} {
		unstructured.RemoveNestedField(u.Object, path...)
	}
	return u, nil
}
