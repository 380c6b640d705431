package extension

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/reading"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/solver/olm/extension"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Apply implements [extension.Backend]. Errors about the object are those of
// [kube.Outcome].
func (b *Backend) Apply(ctx context.Context, name string, action extension.Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch a := action.(type) {
	case extension.Unpack:
		return b.unpack(ctx, name, &a.Choice)
	case extension.SetFinalizer:
		return b.setFinalizer(ctx, name, a)
	case extension.UpdateStatus:
		return b.status(ctx, extensions, name, a.ResourceVersion, a.Status)
	case extension.CreateRevision:
		return b.createRevision(ctx, name, a)
	case extension.ArchiveRevision:
		return b.merge(ctx, revisions, a.Name, a.ResourceVersion, "spec", map[string]any{"lifecycleState": extension.Archived})
	case extension.ReportRevision:
		return b.status(ctx, revisions, a.Name, a.ResourceVersion, a.Status)
	case extension.DeleteRevision:
		return b.api.RemoveAt(ctx, revisions, "", a.Name, a.ResourceVersion)
	case extension.ApplyObject:
		return b.applyObject(ctx, name, a)
	case extension.DeleteObject:
		return b.deleteObject(ctx, name, a)
	}
	return fmt.Errorf("kube/extension: actions of type %T are not supported: the engine is newer than its backend", action)
}

// unpack keeps the objects of a bundle, or the error of getting them.
func (b *Backend) unpack(ctx context.Context, name string, c *extension.Choice) error {
	content := extension.Content{Bundle: c.Name, Reference: c.Reference}
	held, err := b.shelf.bundle(c)
	if err == nil && !operators.Inlined(held) {
		if err = b.opened(name, held, content); err == nil {
			return nil // not yet
		}
	} else if err == nil {
		content.Manifests, err = operators.Manifests(ctx, held, nil)
	}
	if err != nil {
		content.Error = err.Error()
	}
	b.contents.Keep(name, content)
	return err
}

// opened has the objects in the image of a bundle read in the background, and kept. The
// error is that of the last attempt.
func (b *Backend) opened(name string, held *catalog.Bundle, content extension.Content) error {
	key := name + " " + content.Bundle
	ask := reading.Source[struct{}]{
		Key: key, Group: name, Form: content.Reference,
		Read: func(ctx context.Context, _ reading.Result[struct{}]) (struct{}, int64, error) {
			all, err := operators.Manifests(ctx, held, b.opts.Images)
			if err == nil {
				keep := content
				keep.Manifests = all
				b.contents.Keep(name, keep)
			}
			return struct{}{}, 0, err
		},
	}
	r := b.bundles.Get(ask)
	if r.Has { // it was dropped since
		b.bundles.Keep(func(other string) bool { return other != key })
		b.bundles.Get(ask)
	}
	return r.Err
}

func (b *Backend) status(ctx context.Context, gvk schema.GroupVersionKind, name, revision string, status any) error {
	_, err := b.api.ReplaceStatus(ctx, gvk, "", name, revision, status)
	return err
}

// merge changes members of an object that is at a revision.
func (b *Backend) merge(ctx context.Context, gvk schema.GroupVersionKind, name, revision, member string, value map[string]any) error {
	ref := kube.RefOf(gvk, "", name)
	patch := map[string]any{member: value}
	if member == "metadata" {
		value["resourceVersion"] = revision
	} else {
		patch["metadata"] = map[string]any{"resourceVersion": revision}
	}
	data, err := json.Marshal(patch)
	if err != nil {
		return kube.Outcome(ref, err)
	}
	return kube.Outcome(ref, b.api.Client.Patch(ctx, kube.Stub(gvk, "", name), client.RawPatch(types.MergePatchType, data), client.FieldOwner(FieldManager)))
}

func (b *Backend) setFinalizer(ctx context.Context, name string, a extension.SetFinalizer) error {
	found, err := b.api.At(ctx, extensions, "", name, a.ResourceVersion)
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(slices.Clone(found.Finalizers), func(f string) bool { return f == extension.Finalizer })
	if a.Present {
		all = append(all, extension.Finalizer)
	}
	return b.merge(ctx, extensions, name, a.ResourceVersion, "metadata", map[string]any{"finalizers": all})
}

// mostRevision limits the size of a revision, as JSON: etcd refuses objects
// larger than a megabyte and a half.
const mostRevision = 1 << 20

// createRevision creates a revision, unless its extension is gone or being
// deleted. If a revision with its name exists, it must have the same spec.
func (b *Backend) createRevision(ctx context.Context, name string, a extension.CreateRevision) error {
	r := a.Revision
	ref := kube.RefOf(revisions, "", r.Name)
	owner, err := b.api.Head(ctx, extensions, "", name)
	switch {
	case err != nil:
		return kube.Outcome(ref, err)
	case owner == nil || owner.DeletionTimestamp != nil || string(owner.UID) != r.OwnerReferences[0].UID:
		return &kube.ChangedError{Object: ref, Problem: "its cluster extension is gone, or is being deleted"}
	}
	u, err := kube.Encode(r, revisions.GroupVersion().String(), revisions.Kind)
	if err != nil {
		return &kube.ObjectError{Object: ref, Err: err}
	}
	delete(u.Object, "status")
	if data, err := u.MarshalJSON(); err != nil || len(data) > mostRevision {
		return fmt.Errorf("%s has %d bytes, but API objects may have %d at most: its bundle is too large to be kept in one; choose a version with fewer or smaller objects", ref, len(data), mostRevision)
	}
	err = b.api.Client.Create(ctx, u, client.FieldOwner(FieldManager))
	if apierrors.IsAlreadyExists(err) {
		is := kube.Stub(revisions, "", r.Name)
		if failed := b.api.Client.Get(ctx, client.ObjectKeyFromObject(is), is); failed == nil && equal(is.Object["spec"], u.Object["spec"]) {
			return nil
		}
	}
	return kube.Outcome(ref, err)
}

func equal(x, y any) bool {
	a, errA := json.Marshal(x)
	c, errC := json.Marshal(y)
	return errA == nil && errC == nil && string(a) == string(c)
}

// applyObject applies an object on the server for a revision that is active.
func (b *Backend) applyObject(ctx context.Context, name string, a extension.ApplyObject) error {
	set, err := b.activeRevision(ctx, a)
	if err != nil {
		return err
	}
	yes := true
	owner := metav1.OwnerReference{APIVersion: revisions.GroupVersion().String(), Kind: revisions.Kind, Name: set.Name, UID: set.UID, Controller: &yes}
	u, err := b.prepare(name, a.Ref, a.Revision, []metav1.OwnerReference{owner}, a.Manifest)
	if err != nil {
		return err
	}
	as, err := b.acting(ctx, name, a.As)
	if err != nil {
		return err
	}
	var applied metav1.Object
	if a.ResourceVersion == "" {
		applied, err = as.Apply(ctx, u, "")
	} else {
		applied, err = restore(ctx, as, name, u, a)
	}
	if err == nil {
		b.remember(applied.GetUID(), shape(applied, a.Digest))
	}
	return answer(a.As, toRef(a.Ref), err)
}

// restore applies an existing object. If the object already belongs to the
// extension, fields that other managers own are taken over.
func restore(ctx context.Context, as *kube.Objects, name string, u *unstructured.Unstructured, a extension.ApplyObject) (metav1.Object, error) {
	found, err := as.At(ctx, u.GroupVersionKind(), u.GetNamespace(), u.GetName(), a.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if found.Labels[extension.OwnerNameLabel] != name {
		return as.Apply(ctx, u, a.ResourceVersion)
	}
	return as.Restore(ctx, u, found.UID, a.ResourceVersion)
}

// activeRevision returns the metadata of the revision for which an object is
// applied. The whole revision is read only if it has changed since it was last
// known to be active.
func (b *Backend) activeRevision(ctx context.Context, a extension.ApplyObject) (*metav1.PartialObjectMetadata, error) {
	late := &kube.ChangedError{Object: toRef(a.Ref), Problem: "its revision " + a.Revision + " is gone or archived"}
	set, err := b.api.Head(ctx, revisions, "", a.Revision)
	switch {
	case err != nil:
		return nil, kube.Outcome(toRef(a.Ref), err)
	case set == nil:
		return nil, late
	}
	b.mu.Lock()
	seen := b.active[a.Revision]
	b.mu.Unlock()
	if seen == set.ResourceVersion {
		return set, nil
	}
	u := kube.Stub(revisions, "", a.Revision)
	if err := b.api.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
		return nil, kube.Outcome(toRef(a.Ref), err)
	}
	if state, _, _ := unstructured.NestedString(u.Object, "spec", "lifecycleState"); state == string(extension.Archived) {
		return nil, late
	}
	return set, nil
}

// prepare turns a manifest into the object to apply for a revision.
func (b *Backend) prepare(name string, ref extension.Ref, revision string, owners []metav1.OwnerReference, manifest json.RawMessage) (*unstructured.Unstructured, error) {
	u, err := b.api.Read(manifest, toRef(ref))
	if err != nil {
		return nil, err
	}
	labels, notes := u.GetLabels(), u.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if notes == nil {
		notes = map[string]string{}
	}
	labels[extension.OwnerKindLabel], labels[extension.OwnerNameLabel] = extensions.Kind, name
	notes[kube.OwnerAnnotation], notes[kube.DigestAnnotation] = "revision/"+revision, (&extension.Object{Ref: ref, Manifest: manifest}).Digest()
	u.SetLabels(labels)
	u.SetAnnotations(notes)
	u.SetOwnerReferences(owners)
	return u, nil
}

// deleteObject deletes an object, in the name of the extension's account.
func (b *Backend) deleteObject(ctx context.Context, name string, a extension.DeleteObject) error {
	gvk, namespaced, err := b.api.KindOf(toRef(a.Ref))
	if err != nil {
		return kube.Outcome(toRef(a.Ref), err)
	}
	in := a.Ref.Namespace
	if !namespaced {
		in = ""
	}
	as, err := b.acting(ctx, name, a.As)
	if err != nil {
		return err
	}
	if err := as.RemoveAt(ctx, gvk, in, a.Ref.Name, a.ResourceVersion); err != nil {
		return answer(a.As, toRef(a.Ref), err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.intact, types.UID(a.UID))
	return nil
}
