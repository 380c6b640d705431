package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// OwnerAnnotation is on objects that [Objects] applies. It names their owner,
	// in a form defined by the package that applies them.
	OwnerAnnotation = "fairlead.io/owner"
	// DigestAnnotation is on the same objects, and contains the digest of what
	// was applied.
	DigestAnnotation = "fairlead.io/digest"
)

// Objects reads and writes objects whose kinds are known only at run time, each
// at the resourceVersion on which the decision was based. Its errors are those of
// [Outcome].
type Objects struct {
	Client  client.Client // reads and writes, without a cache
	Manager string        // the name under which fields are written
}

// Ref names an object.
type Ref struct {
	Group     string // its API group, "" is the core group
	Kind      string // its kind
	Namespace string // empty for objects without a namespace
	Name      string // its name
}

// String returns "Kind namespace/name".
func (r Ref) String() string {
	return r.Kind + " " + fairlead.ObjectMeta{Name: r.Name, Namespace: r.Namespace}.String()
}

// RefOf names an object of a kind.
func RefOf(gvk schema.GroupVersionKind, namespace, name string) Ref {
	return Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: namespace, Name: name}
}

// Stub returns an object with only its kind and name.
func Stub(gvk schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// Head returns the metadata of an object with only its kind and name.
func Head(gvk schema.GroupVersionKind, namespace, name string) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(gvk)
	o.Namespace, o.Name = namespace, name
	return o
}

// ListOf returns an empty list of a kind, to read objects into.
func ListOf(gvk schema.GroupVersionKind) *unstructured.UnstructuredList {
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	return all
}

// DecodeObject is [Decode] that returns an [*ObjectError].
func DecodeObject(from *unstructured.Unstructured, into any) error {
	err := Decode(from, into)
	if err == nil {
		return nil
	}
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	return &ObjectError{RefOf(from.GroupVersionKind(), from.GetNamespace(), from.GetName()), err}
}

// absent is a resourceVersion that no object has. An object that is applied with
// it is created if there is none with its name, and is a conflict otherwise: the
// server compares it with that of an existing object, and ignores it for a new
// one.
var absent = strconv.Itoa(math.MaxInt64)

// List reads the objects of a kind, by namespace and name; those of all namespaces
// if none is given.
func (o *Objects) List(ctx context.Context, gvk schema.GroupVersionKind, namespace string, opts ...client.ListOption) ([]unstructured.Unstructured, error) {
	all := ListOf(gvk)
	if err := o.Client.List(ctx, all, append(opts, client.InNamespace(namespace))...); err != nil {
		return nil, fmt.Errorf("%s: %w", gvk.Kind, err)
	}
	slices.SortFunc(all.Items, func(x, y unstructured.Unstructured) int {
		return cmp.Or(strings.Compare(x.GetNamespace(), y.GetNamespace()), strings.Compare(x.GetName(), y.GetName()))
	})
	return all.Items, nil
}

// Head reads the metadata of an object; nil if the object or its kind does not
// exist.
func (o *Objects) Head(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	found := Head(gvk, namespace, name)
	err := o.Client.Get(ctx, client.ObjectKeyFromObject(found), found)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	return found, err
}

// At reads the metadata of an object and verifies that it is at a revision.
func (o *Objects) At(ctx context.Context, gvk schema.GroupVersionKind, namespace, name, revision string) (*metav1.PartialObjectMetadata, error) {
	ref := RefOf(gvk, namespace, name)
	found, err := o.Head(ctx, gvk, namespace, name)
	switch {
	case err != nil:
		return nil, Outcome(ref, err)
	case found == nil:
		return nil, &ChangedError{ref, "it is gone"}
	case found.ResourceVersion != revision:
		return nil, &ChangedError{ref, "it has changed since it was observed"}
	}
	return found, nil
}

// Apply applies an object on the server if it is at a revision; "" means that
// it must not exist. The object carries a digest: if the existing object has
// the same one, there is nothing to do. Fields that other managers own are a
// [*TakenError]. It returns the resulting object, or its metadata.
func (o *Objects) Apply(ctx context.Context, u *unstructured.Unstructured, revision string) (metav1.Object, error) {
	gvk, ref := u.GroupVersionKind(), RefOf(u.GroupVersionKind(), u.GetNamespace(), u.GetName())
	u.SetResourceVersion(absent)
	if revision != "" {
		found, err := o.Head(ctx, gvk, u.GetNamespace(), u.GetName())
		switch {
		case err != nil:
			return nil, Outcome(ref, err)
		case found == nil:
			return nil, &ChangedError{ref, "it is gone"}
		case sameDigest(found, u):
			return found, nil
		}
		u.SetUID(found.UID) // otherwise it would be created again if it has been deleted
		u.SetResourceVersion(revision)
	}
	applied, err := o.apply(ctx, u)
	if apierrors.IsConflict(err) && revision == "" {
		if found, failed := o.Head(ctx, gvk, u.GetNamespace(), u.GetName()); failed == nil && found != nil {
			if sameDigest(found, u) {
				return found, nil
			}
			return nil, &ChangedError{ref, "it exists already, and belongs to " + ownerOf(found)}
		}
	}
	return applied, Outcome(ref, err)
}

// Restore is [Objects.Apply] for an existing object that others may have
// changed: it is applied whatever its digest, and takes over fields that other
// managers own. It returns the resulting object.
func (o *Objects) Restore(ctx context.Context, u *unstructured.Unstructured, uid types.UID, revision string, opts ...client.ApplyOption) (*unstructured.Unstructured, error) {
	u.SetUID(uid)
	u.SetResourceVersion(revision)
	applied, err := o.apply(ctx, u, append(opts, client.ForceOwnership)...)
	return applied, Outcome(RefOf(u.GroupVersionKind(), u.GetNamespace(), u.GetName()), err)
}

func (o *Objects) apply(ctx context.Context, u *unstructured.Unstructured, opts ...client.ApplyOption) (*unstructured.Unstructured, error) {
	applied := u.DeepCopy()
	err := o.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), append(opts, client.FieldOwner(o.Manager))...)
	return applied, err
}

// ownerOf names the owner of an object, as its annotation has it.
func ownerOf(found metav1.Object) string {
	if note := found.GetAnnotations()[OwnerAnnotation]; note != "" {
		return strconv.Quote(note)
	}
	return "nobody that is known here"
}

// sameDigest reports whether the existing object was written from the same
// content, for the same owner.
func sameDigest(found, u metav1.Object) bool {
	return found.GetAnnotations()[DigestAnnotation] == u.GetAnnotations()[DigestAnnotation] &&
		found.GetAnnotations()[OwnerAnnotation] == u.GetAnnotations()[OwnerAnnotation]
}

// ReplaceStatus replaces the status of a custom resource that is at a revision, and
// returns the new revision.
func (o *Objects) ReplaceStatus(ctx context.Context, gvk schema.GroupVersionKind, namespace, name, revision string, status any) (string, error) {
	ref := RefOf(gvk, namespace, name)
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/resourceVersion", "value": revision},
		{"op": "add", "path": "/status", "value": status},
	})
	if err != nil {
		return "", Outcome(ref, err)
	}
	u := Stub(gvk, namespace, name)
	err = o.Client.Status().Patch(ctx, u, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(o.Manager))
	return u.GetResourceVersion(), Outcome(ref, err)
}

// Annotate sets annotations of an object that is at a revision; nil removes
// one. It returns the new revision.
func (o *Objects) Annotate(ctx context.Context, gvk schema.GroupVersionKind, namespace, name, revision string, notes map[string]any) (string, error) {
	ref := RefOf(gvk, namespace, name)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": revision, "annotations": notes}})
	if err != nil {
		return "", Outcome(ref, err)
	}
	u := Stub(gvk, namespace, name)
	err = o.Client.Patch(ctx, u, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(o.Manager))
	return u.GetResourceVersion(), Outcome(ref, err)
}

// Remove deletes an object that was read. It is not an error if the object is
// already gone.
func (o *Objects) Remove(ctx context.Context, gvk schema.GroupVersionKind, found metav1.Object) error {
	uid, revision := found.GetUID(), found.GetResourceVersion()
	err := o.Client.Delete(ctx, Stub(gvk, found.GetNamespace(), found.GetName()), client.Preconditions{UID: &uid, ResourceVersion: &revision},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if apierrors.IsNotFound(err) {
		return nil
	}
	return Outcome(RefOf(gvk, found.GetNamespace(), found.GetName()), err)
}

// RemoveAt deletes an object that is at a revision.
func (o *Objects) RemoveAt(ctx context.Context, gvk schema.GroupVersionKind, namespace, name, revision string) error {
	found, err := o.Head(ctx, gvk, namespace, name)
	switch ref := RefOf(gvk, namespace, name); {
	case err != nil:
		return Outcome(ref, err)
	case found == nil:
		return nil
	case found.ResourceVersion != revision:
		return &ChangedError{ref, "it has changed since it was observed"}
	}
	return o.Remove(ctx, gvk, found)
}

// KindOf returns the kind of a reference in the given version, or in the one
// that the server prefers, and whether its objects are namespaced.
func (o *Objects) KindOf(r Ref, version ...string) (gvk schema.GroupVersionKind, namespaced bool, err error) {
	m, err := o.Client.RESTMapper().RESTMapping(schema.GroupKind{Group: r.Group, Kind: r.Kind}, version...)
	if err != nil {
		return gvk, false, err
	}
	return m.GroupVersionKind, m.Scope.Name() == meta.RESTScopeNameNamespace, nil
}

// Read decodes a manifest for [Objects.Apply], without the fields that the server
// fills in, and without a namespace if its kind is not namespaced.
func (o *Objects) Read(manifest []byte, ref Ref) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(manifest); err != nil {
		return nil, &ObjectError{ref, err}
	}
	_, namespaced, err := o.KindOf(ref, u.GroupVersionKind().Version)
	if err != nil {
		return nil, Outcome(ref, err)
	}
	if !namespaced {
		u.SetNamespace("")
	}
	unstructured.RemoveNestedField(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	if _, aggregated, _ := unstructured.NestedMap(u.Object, "aggregationRule"); aggregated || u.Object["rules"] == nil {
		delete(u.Object, "rules") // the cluster fills them in
	}
	return u, nil
}
