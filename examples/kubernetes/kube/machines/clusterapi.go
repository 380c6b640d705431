package machines

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/lifecycle"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// KindClusterAPI is the kind of machines of the Cluster API. Its version
// v1beta1 can also be read.
var KindClusterAPI = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Machine"}

// Labels of machines of the Cluster API.
const (
	labelCluster      = "cluster.x-k8s.io/cluster-name"
	labelControlPlane = "cluster.x-k8s.io/control-plane"
)

func (b *Backend) clusterAPI() bool { return b.kind().Group == KindClusterAPI.Group }

// refs returns the references of a machine to provider objects.
func refs(m *lifecycle.Machine) []*lifecycle.ObjectRef {
	var all []*lifecycle.ObjectRef
	if ref := m.Spec.InfrastructureRef; ref != nil {
		all = append(all, ref)
	}
	if s := m.Spec.Bootstrap; s != nil && s.ConfigRef != nil {
		all = append(all, s.ConfigRef)
	}
	return all
}

// provided fills in the provider objects that the machine refers to.
func (b *Backend) provided(ctx context.Context, w *lifecycle.World) error {
	for _, ref := range refs(w.Machine) {
		found := &metav1.PartialObjectMetadata{}
		state, err := b.refer(ctx, w.Machine.Namespace, ref, found)
		if err != nil {
			return err
		}
		o := lifecycle.Object{Kind: ref.Kind, State: state, ObjectMeta: kube.Meta(&found.ObjectMeta)}
		o.Namespace, o.Name = w.Machine.Namespace, ref.Name
		w.Objects = append(w.Objects, o)
	}
	return nil
}

// refer reads an object that another one in its namespace refers to, and returns
// whether it exists: empty if the server does not have its kind, because that may
// come back.
func (b *Backend) refer(ctx context.Context, namespace string, ref *lifecycle.ObjectRef, into client.Object) (lifecycle.Instance, error) {
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	if ref.APIVersion == "" {
		mapping, err := b.Client.RESTMapper().RESTMapping(schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind})
		if meta.IsNoMatchError(err) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("%s %s/%s: its kind: %w", ref.Kind, namespace, ref.Name, err)
		}
		kind = mapping.GroupVersionKind
	}
	into.GetObjectKind().SetGroupVersionKind(kind)
	err := b.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, into)
	switch {
	case err == nil:
		return lifecycle.InstanceExists, nil
	case meta.IsNoMatchError(err), apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return "", nil
	case apierrors.IsNotFound(err):
		return lifecycle.InstanceGone, nil
	}
	return "", fmt.Errorf("%s %s/%s: get: %w", ref.Kind, namespace, ref.Name, err)
}

// cluster fills in the cluster of the machine, if it has one.
func (b *Backend) cluster(ctx context.Context, w *lifecycle.World) error {
	name := w.Machine.Labels[labelCluster]
	if name == "" {
		return nil
	}
	u := kube.Stub(b.kind().GroupVersion().WithKind("Cluster"), w.Machine.Namespace, name)
	if err := b.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
		return fmt.Errorf("cluster %s/%s: get: %w", w.Machine.Namespace, name, err)
	}
	var is struct {
		lifecycle.ObjectMeta `json:"metadata"`
		Spec                 struct {
			Paused          bool                 `json:"paused"`
			ControlPlaneRef *lifecycle.ObjectRef `json:"controlPlaneRef"`
		} `json:"spec"`
	}
	if err := kube.Decode(u, &is); err != nil {
		return err
	}
	w.ClusterLabels = is.Labels
	w.Cluster = &lifecycle.Cluster{Paused: is.Spec.Paused, Deleting: is.DeletionTimestamp != nil}
	if ref := is.Spec.ControlPlaneRef; ref != nil {
		plane := &unstructured.Unstructured{}
		if _, err := b.refer(ctx, w.Machine.Namespace, ref, plane); err != nil {
			return err
		}
		w.Cluster.ControlPlaneDeleting = plane.GetDeletionTimestamp() != nil
		w.Cluster.ExternalControlPlane, _, _ = unstructured.NestedBool(plane.Object, "status", "externalManagedControlPlane")
	}
	if w.Cluster.ExternalControlPlane {
		return nil
	}
	var all metav1.PartialObjectMetadataList
	all.SetGroupVersionKind(b.kind().GroupVersion().WithKind(b.kind().Kind + "List"))
	if err := b.Client.List(ctx, &all, client.InNamespace(w.Machine.Namespace), client.MatchingLabels{labelCluster: name}, client.HasLabels{labelControlPlane}); err != nil {
		return fmt.Errorf("cluster %s/%s: list the machines of its control plane: %w", w.Machine.Namespace, name, err)
	}
	for i := range all.Items {
		if all.Items[i].DeletionTimestamp == nil {
			w.Cluster.ControlPlanes++
		}
	}
	return nil
}

// deleteObject deletes an object to which the machine refers.
func (b *Backend) deleteObject(ctx context.Context, machine string, a lifecycle.DeleteObject) error {
	m, err := b.deleting(ctx, machine)
	if err != nil || m == nil {
		return err
	}
	for _, ref := range refs(m) {
		if ref.Kind != a.Kind || ref.Name != a.Name {
			continue
		}
		found := &metav1.PartialObjectMetadata{}
		if state, err := b.refer(ctx, m.Namespace, ref, found); err != nil || state != lifecycle.InstanceExists {
			return err
		}
		if string(found.UID) != a.UID {
			return &fairlead.RefusedError{Code: 409, Message: fmt.Sprintf("%s %s/%s has another UID than %s: it was created again", a.Kind, m.Namespace, a.Name, a.UID)}
		}
		uid := found.UID
		return client.IgnoreNotFound(b.Client.Delete(ctx, found, client.Preconditions{UID: &uid}))
	}
	return nil
}
