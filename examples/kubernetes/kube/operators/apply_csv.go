package operators

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/latest"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// csvStatus is the status of a CSV in written form.
type csvStatus struct {
	Phase              olm.Phase `json:"phase"`
	Reason             string    `json:"reason,omitempty"`
	Message            string    `json:"message,omitempty"`
	LastUpdateTime     time.Time `json:"lastUpdateTime,omitzero"`
	LastTransitionTime time.Time `json:"lastTransitionTime,omitzero"`
}

// applyCSV carries out an action on one CSV.
func (b *Backend) applyCSV(ctx context.Context, namespace string, action install.Action) error {
	switch a := action.(type) {
	case install.SetPhase:
		now := b.now()
		return b.patchStatus(ctx, csvs, namespace, a.CSV, a.Revision, csvStatus{a.Phase, a.Reason, a.Message, now, now})
	case install.Annotate:
		notes := map[string]any{group.NameAnnotation: nil, group.NamespaceAnnotation: nil, group.TargetsAnnotation: nil}
		for key, value := range a.Annotations {
			notes[key] = value
		}
		_, err := b.api.Annotate(ctx, csvs, namespace, a.CSV, a.Revision, notes)
		return err
	case install.Deploy:
		return b.deploy(ctx, namespace, a)
	case install.Undeploy:
		return b.undeploy(ctx, namespace, a)
	case install.DeleteCSV:
		return b.api.RemoveAt(ctx, csvs, namespace, a.CSV, a.Revision) // its objects are deleted with it
	}
	return fmt.Errorf("kube/operators: actions of type %T are not supported: the engine is newer than its backend", action)
}

// deploy carries out an install strategy. The CSV is written first, at the
// revision that the decision was based on, so that only one of two writers
// deploys.
func (b *Backend) deploy(ctx context.Context, namespace string, a install.Deploy) error {
	csv, err := b.api.At(ctx, csvs, namespace, a.CSV, a.Revision)
	if err != nil {
		return err
	}
	if note, there := csv.Annotations[DeployedAnnotation]; !there || note != a.Digest {
		if _, err := b.api.Annotate(ctx, csvs, namespace, a.CSV, a.Revision, map[string]any{DeployedAnnotation: a.Digest}); err != nil {
			return err
		}
	}
	old, err := b.deployments(ctx, namespace)
	if err != nil {
		return err
	}
	as, err := b.acting(namespace, a.As)
	if err != nil {
		return err
	}
	var wanted []string
	for _, manifest := range a.Deployments {
		name, err := b.deployOne(ctx, as, csv, manifest, a.Digest, old)
		if err != nil {
			return err
		}
		wanted = append(wanted, name)
	}
	for i := range old {
		if d := &old[i]; d.Labels[group.OwnerLabel] == a.CSV && !slices.Contains(wanted, d.Name) {
			if err := b.api.Remove(ctx, deployments, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// deployOne applies one deployment, and recreates it if it is broken, or if its
// selector must change: selectors are immutable.
func (b *Backend) deployOne(ctx context.Context, as *kube.Objects, csv *metav1.PartialObjectMetadata, manifest json.RawMessage, digest string, old []appsv1.Deployment) (name string, err error) {
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(manifest); err != nil {
		return "", &kube.ObjectError{Object: kube.Ref(refOf(deployments, csv.Namespace, csv.Name)), Err: err}
	}
	revision := ""
	for i := range old {
		d := &old[i]
		if d.Name != o.GetName() {
			continue
		}
		if health, _ := healthOf(d); health == install.Broken || !sameSelector(o, d) {
			if err := b.api.Remove(ctx, deployments, d); err != nil {
				return "", err
			}
			continue
		}
		revision = d.ResourceVersion
	}
	unstructured.RemoveNestedField(o.Object, "status")
	unstructured.RemoveNestedField(o.Object, "metadata", "creationTimestamp")
	dropUnknown(o)
	owned(o, csv)
	mark(o, csv.Namespace, "csv/"+csv.Name, digest)
	_, err = as.Apply(ctx, o, revision)
	return o.GetName(), err
}

// dropUnknown drops fields that deployments of this Kubernetes version do not have, and
// which the server would refuse; the reference reads bundles this way. Values of a
// wrong type are left for the server to refuse.
func dropUnknown(o *unstructured.Unstructured) {
	var d appsv1.Deployment
	if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &d) != nil {
		return
	}
	if known, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&d); err == nil {
		keep(o.Object, known)
	}
}

// keep drops the fields that another value of the same form does not have.
func keep(value, known any) {
	switch v := value.(type) {
	case map[string]any:
		k, _ := known.(map[string]any)
		for name := range v {
			if _, is := k[name]; is {
				keep(v[name], k[name])
			} else {
				delete(v, name)
			}
		}
	case []any:
		k, _ := known.([]any)
		for i := range min(len(v), len(k)) {
			keep(v[i], k[i])
		}
	}
}

// sameSelector reports whether a deployment has the desired selector. An unreadable
// selector is left for the server to refuse.
func sameSelector(want *unstructured.Unstructured, d *appsv1.Deployment) bool {
	held, _, _ := unstructured.NestedMap(want.Object, "spec", "selector")
	var selector metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(held, &selector); err != nil {
		return true
	}
	return d.Spec.Selector == nil || equality.Semantic.DeepEqual(&selector, d.Spec.Selector)
}

// undeploy deletes the deployments of a CSV.
func (b *Backend) undeploy(ctx context.Context, namespace string, a install.Undeploy) error {
	csv, err := b.api.At(ctx, csvs, namespace, a.CSV, a.Revision)
	if err != nil {
		return err
	}
	if _, there := csv.Annotations[DeployedAnnotation]; there {
		if _, err := b.api.Annotate(ctx, csvs, namespace, a.CSV, a.Revision, map[string]any{DeployedAnnotation: nil}); err != nil {
			return err
		}
	}
	old, err := b.deployments(ctx, namespace)
	if err != nil {
		return err
	}
	for i := range old {
		if old[i].Labels[group.OwnerLabel] == a.CSV {
			if err := b.api.Remove(ctx, deployments, &old[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// deployments returns the deployments of the namespace's CSVs. Do not modify
// them.
func (b *Backend) deployments(ctx context.Context, namespace string) ([]appsv1.Deployment, error) {
	all, err := latest.List(ctx, b.client, deployments, &appsv1.DeploymentList{}, client.InNamespace(namespace), client.HasLabels{group.OwnerLabel})
	if err != nil {
		return nil, fmt.Errorf("deployments of namespace %s: %w", namespace, err)
	}
	return all.Items, nil
}

// healthOf returns the health of a deployment.
func healthOf(d *appsv1.Deployment) (install.Health, string) {
	wanted := int32(1)
	if d.Spec.Replicas != nil {
		wanted = *d.Spec.Replicas
	}
	detail := ""
	for _, c := range d.Status.Conditions {
		switch {
		case c.Type == appsv1.DeploymentProgressing && c.Status == "False" && c.Reason == "ProgressDeadlineExceeded" && d.Status.ObservedGeneration >= d.Generation:
			return install.Broken, fmt.Sprintf("deployment %s: %s", d.Name, c.Message)
		case c.Type == appsv1.DeploymentReplicaFailure && c.Status == "True":
			detail = ": " + c.Message
		}
	}
	s := &d.Status
	switch {
	case s.ObservedGeneration < d.Generation:
		return install.Progressing, fmt.Sprintf("deployment %s has not been observed yet", d.Name)
	case s.UpdatedReplicas < wanted || s.Replicas > s.UpdatedReplicas || s.AvailableReplicas < wanted:
		return install.Progressing, fmt.Sprintf("deployment %s: of %d pods %d exist and %d are available%s", d.Name, wanted, s.UpdatedReplicas, s.AvailableReplicas, detail)
	}
	return install.Ready, ""
}

// owned makes a CSV in the same namespace the owner of an object, so that both
// are deleted together.
func owned(o *unstructured.Unstructured, csv *metav1.PartialObjectMetadata) {
	o.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: csvs.GroupVersion().String(), Kind: csvs.Kind, Name: csv.Name, UID: csv.UID,
	}})
}
