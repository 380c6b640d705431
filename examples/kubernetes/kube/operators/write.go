package operators

import (
	"context"
	"encoding/json"
	"math"
	"strconv"

	"github.com/fairlead/fairlead/solver/olm/install"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// absent is a resourceVersion that no object has. An object that is applied with
// it is created if there is none of its name, and is a conflict otherwise: the
// server compares it with an object that exists, and ignores it for a new one.
var absent = strconv.Itoa(math.MaxInt64)

// head reads the metadata of an object; nil if there is none, or no such kind.
func (b *Backend) head(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(gvk)
	err := b.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	return found, err
}

// at reads the metadata of an object and sees to it that it is at a revision.
func (b *Backend) at(ctx context.Context, gvk schema.GroupVersionKind, namespace, name, revision string) (*metav1.PartialObjectMetadata, error) {
	ref := refOf(gvk, namespace, name)
	found, err := b.head(ctx, gvk, namespace, name)
	switch {
	case err != nil:
		return nil, outcome(ref, err)
	case found == nil:
		return nil, &ChangedError{ref, "it is gone"}
	case found.ResourceVersion != revision:
		return nil, &ChangedError{ref, "it has changed since it was observed"}
	}
	return found, nil
}

// apply has the server apply an object as it shall be at a revision; "" means
// that it must not exist. The object carries a digest: if what exists has it
// too, there is nothing to do. It returns the revision that the object has then.
func (b *Backend) apply(ctx context.Context, o *unstructured.Unstructured, revision string) (string, error) {
	gvk, ref := o.GroupVersionKind(), refOf(o.GroupVersionKind(), o.GetNamespace(), o.GetName())
	o.SetResourceVersion(absent)
	if revision != "" {
		found, err := b.head(ctx, gvk, o.GetNamespace(), o.GetName())
		switch {
		case err != nil:
			return "", outcome(ref, err)
		case found == nil:
			return "", &ChangedError{ref, "it is gone"}
		case sameDigest(found, o):
			return found.ResourceVersion, nil
		}
		o.SetUID(found.UID) // or else it would be made again if it has gone
		o.SetResourceVersion(revision)
	}
	applied := o.DeepCopy()
	err := b.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(FieldManager))
	if apierrors.IsConflict(err) && revision == "" {
		if found, failed := b.head(ctx, gvk, o.GetNamespace(), o.GetName()); failed == nil && found != nil && sameDigest(found, o) {
			return found.ResourceVersion, nil
		}
	}
	return applied.GetResourceVersion(), outcome(ref, err)
}

// sameDigest reports whether what exists is what is to be written, for the same
// owner.
func sameDigest(found, o metav1.Object) bool {
	return found.GetAnnotations()[DigestAnnotation] == o.GetAnnotations()[DigestAnnotation] &&
		found.GetAnnotations()[OwnerAnnotation] == o.GetAnnotations()[OwnerAnnotation]
}

// patchStatus replaces the status of a custom resource that is at a revision.
func (b *Backend) patchStatus(ctx context.Context, gvk schema.GroupVersionKind, namespace, name, revision string, status any) error {
	_, err := b.replaceStatus(ctx, gvk, namespace, name, revision, status)
	return err
}

// replaceStatus is patchStatus, and returns the new revision.
func (b *Backend) replaceStatus(ctx context.Context, gvk schema.GroupVersionKind, namespace, name, revision string, status any) (string, error) {
	ref := refOf(gvk, namespace, name)
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/resourceVersion", "value": revision},
		{"op": "add", "path": "/status", "value": status},
	})
	if err != nil {
		return "", outcome(ref, err)
	}
	o := stub(gvk, namespace, name)
	err = b.client.Status().Patch(ctx, o, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(FieldManager))
	return o.GetResourceVersion(), outcome(ref, err)
}

// annotate sets annotations of an object that is at a revision; nil takes one
// away. It returns the new revision.
func (b *Backend) annotate(ctx context.Context, gvk schema.GroupVersionKind, namespace, name, revision string, notes map[string]any) (string, error) {
	ref := refOf(gvk, namespace, name)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": revision, "annotations": notes}})
	if err != nil {
		return "", outcome(ref, err)
	}
	o := stub(gvk, namespace, name)
	err = b.client.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(FieldManager))
	return o.GetResourceVersion(), outcome(ref, err)
}

// remove deletes an object that was read. That it is gone already is fine.
func (b *Backend) remove(ctx context.Context, gvk schema.GroupVersionKind, found metav1.Object) error {
	uid, revision := found.GetUID(), found.GetResourceVersion()
	err := b.client.Delete(ctx, stub(gvk, found.GetNamespace(), found.GetName()), client.Preconditions{UID: &uid, ResourceVersion: &revision},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if apierrors.IsNotFound(err) {
		return nil
	}
	return outcome(refOf(gvk, found.GetNamespace(), found.GetName()), err)
}

// removeAt deletes an object that is at a revision.
func (b *Backend) removeAt(ctx context.Context, gvk schema.GroupVersionKind, namespace, name, revision string) error {
	found, err := b.head(ctx, gvk, namespace, name)
	switch ref := refOf(gvk, namespace, name); {
	case err != nil:
		return outcome(ref, err)
	case found == nil:
		return nil
	case found.ResourceVersion != revision:
		return &ChangedError{ref, "it has changed since it was observed"}
	}
	return b.remove(ctx, gvk, found)
}

func stub(gvk schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// kindOf returns the kind of a reference in a version, or else in the one that
// the server prefers, and whether its objects have a namespace.
func (b *Backend) kindOf(r install.Ref, version ...string) (gvk schema.GroupVersionKind, namespaced bool, err error) {
	m, err := b.client.RESTMapper().RESTMapping(schema.GroupKind{Group: r.Group, Kind: r.Kind}, version...)
	if err != nil {
		return gvk, false, err
	}
	return m.GroupVersionKind, m.Scope.Name() == meta.RESTScopeNameNamespace, nil
}

// object reads a manifest. What belongs into no namespace gets none.
func (b *Backend) object(manifest []byte, ref install.Ref) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(manifest); err != nil {
		return nil, &ObjectError{ref, err}
	}
	_, namespaced, err := b.kindOf(ref, o.GroupVersionKind().Version)
	if err != nil {
		return nil, outcome(ref, err)
	}
	if !namespaced {
		o.SetNamespace("")
	}
	unstructured.RemoveNestedField(o.Object, "status")
	unstructured.RemoveNestedField(o.Object, "metadata", "creationTimestamp")
	if _, aggregated, _ := unstructured.NestedMap(o.Object, "aggregationRule"); aggregated || o.Object["rules"] == nil {
		delete(o.Object, "rules") // the cluster fills them in
	}
	return o, nil
}

// mark puts on an object what tells whose it is, and what was written.
func mark(o *unstructured.Unstructured, namespace, owner, digest string) {
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[NamespaceLabel] = namespace
	o.SetLabels(labels)
	notes := o.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	notes[OwnerAnnotation], notes[DigestAnnotation] = owner, digest
	o.SetAnnotations(notes)
}
