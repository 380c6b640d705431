package operators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Apply implements [install.Backend]. Errors about the object are a
// [*kube.ChangedError], a [*kube.TakenError], an [*kube.UnclearError] or an
// [*kube.ObjectError]. If the server warned about a step, the result is an
// [*install.Warned], provided that the client's configuration has [Warnings] as its
// handler.
func (b *Backend) Apply(ctx context.Context, namespace string, action install.Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch a := action.(type) {
	case install.Unpack:
		b.unpack(ctx, namespace, a)
		return nil
	case install.WritePlan:
		return b.writePlan(ctx, namespace, a)
	case install.DeletePlan:
		return b.api.RemoveAt(ctx, plans, namespace, a.Name, a.Revision)
	case install.ApplyStep:
		return warned(ctx, func(ctx context.Context) error { return b.applyStep(ctx, namespace, a) })
	case install.WriteObject:
		return b.writeObject(ctx, namespace, a)
	case install.DeleteObject:
		return b.deleteObject(ctx, namespace, a)
	case install.UpdateSubscription:
		return b.patchStatus(ctx, subscriptions, namespace, a.Name, a.Revision, a.Status)
	case install.CreateSubscription:
		return b.createSubscription(ctx, namespace, a)
	case install.DeleteSubscription:
		return b.api.RemoveAt(ctx, subscriptions, namespace, a.Name, a.Revision)
	case install.WriteCondition:
		return b.writeCondition(ctx, namespace, a)
	case install.UpdateGroup:
		return b.updateGroup(ctx, namespace, a)
	case install.IssueCertificate:
		return b.issue(ctx, namespace, a)
	case install.SetConversion:
		return b.convert(ctx, a)
	case install.ServeCatalog:
		return b.serveCatalog(ctx, namespace, a)
	case install.UpdateCatalog:
		return b.patchStatus(ctx, catalogs, namespace, a.Name, a.Revision, a.Status)
	case install.ReportUpgradeable:
		return b.report(ctx, namespace, a)
	}
	return b.applyCSV(ctx, namespace, action)
}

// applyStep applies the object of a step, unless it is too late.
func (b *Backend) applyStep(ctx context.Context, namespace string, a install.ApplyStep) error {
	if err := b.timely(ctx, namespace, a); err != nil {
		return err
	}
	o, err := b.api.Read(a.Manifest, kube.Ref(a.Ref))
	if err != nil {
		return err
	}
	if o.GetNamespace() != "" && o.GroupVersionKind().Group != groupOLM {
		// A subscription outlives the CSV that it begins with, and a CSV has no owner.
		// If the CSV was just deleted, the garbage collector would delete the object.
		csv, err := b.head(ctx, csvs, namespace, a.Resolving)
		if err != nil {
			return outcome(a.Ref, err)
		}
		if csv == nil {
			return &kube.ChangedError{Object: kube.Ref(a.Ref), Problem: "the CSV " + a.Resolving + " to which it belongs is gone"}
		}
		owned(o, csv)
	}
	if o.GroupVersionKind() == crds {
		if err := b.keepConversion(ctx, o); err != nil {
			return outcome(a.Ref, err)
		}
	}
	mark(o, namespace, "csv/"+a.Resolving, a.Digest)
	as, err := b.acting(namespace, a.As)
	if err != nil {
		return err
	}
	if _, err := as.Apply(ctx, o, a.Revision); err != nil {
		return err
	}
	if o.GroupVersionKind() == crds {
		b.wrote(step{namespace, a.Plan, o.GetName()}, a.Digest)
	}
	return nil
}

// timely refuses a step whose plan is gone, has failed, or is not the newest.
func (b *Backend) timely(ctx context.Context, namespace string, a install.ApplyStep) error {
	all, err := b.plans(ctx, namespace)
	if err != nil {
		return err
	}
	there := false
	for i := range all {
		p := &all[i]
		if p.Spec.Generation > a.Generation {
			return &kube.ChangedError{Object: kube.Ref(a.Ref), Problem: fmt.Sprintf("its plan %s was replaced by %s", a.Plan, p.Name)}
		}
		there = there || p.Name == a.Plan && p.Status.Phase != install.PlanFailed
	}
	if !there {
		return &kube.ChangedError{Object: kube.Ref(a.Ref), Problem: fmt.Sprintf("its plan %s is gone, or has failed", a.Plan)}
	}
	return nil
}

// writePlan creates a plan, or writes its status. Creating one takes two
// writes, since the server ignores the status of a new object; a plan without
// status does not count yet (see Backend.plans), and is overwritten here.
func (b *Backend) writePlan(ctx context.Context, namespace string, a install.WritePlan) error {
	p := a.Plan
	ref := refOf(plans, namespace, p.Name)
	if p.Revision != "" {
		return b.patchStatus(ctx, plans, namespace, p.Name, p.Revision, p.Status)
	}
	all, err := b.plans(ctx, namespace)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].Spec.Generation > p.Spec.Generation {
			return &kube.ChangedError{Object: kube.Ref(ref), Problem: all[i].Name + " is newer"}
		}
	}
	o := kube.Stub(plans, namespace, p.Name)
	o.SetAnnotations(p.Annotations)
	if o.Object["spec"], err = plain(p.Spec); err != nil {
		return &kube.ObjectError{Object: kube.Ref(ref), Err: err}
	}
	err = b.client.Create(ctx, o, client.FieldOwner(FieldManager))
	if apierrors.IsAlreadyExists(err) {
		if o, err = b.bare(ctx, namespace, p); err != nil {
			return err
		}
	}
	if err != nil {
		return outcome(ref, err)
	}
	return b.patchStatus(ctx, plans, namespace, p.Name, o.GetResourceVersion(), p.Status)
}

// createSubscription recreates a subscription.
func (b *Backend) createSubscription(ctx context.Context, namespace string, a install.CreateSubscription) error {
	o := kube.Stub(subscriptions, namespace, a.Subscription.Name)
	o.SetLabels(a.Subscription.Labels)
	o.SetAnnotations(a.Subscription.Annotations)
	spec, err := plain(a.Subscription.Spec)
	if err != nil {
		return &kube.ObjectError{Object: kube.Ref(refOf(subscriptions, namespace, o.GetName())), Err: err}
	}
	o.Object["spec"] = spec
	return outcome(refOf(subscriptions, namespace, o.GetName()), b.client.Create(ctx, o, client.FieldOwner(FieldManager)))
}

// plain converts a value to the form of unstructured objects.
func plain(from any) (map[string]any, error) {
	text, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(text, &out)
}

// writeObject applies an object generated for an operator group. A copy of a CSV
// takes two writes, because its status is separate: when the copy is created,
// the status is written second, and until then the copy counts as not written;
// later it is written first, and the digest, which marks completion, second.
func (b *Backend) writeObject(ctx context.Context, namespace string, a install.WriteObject) error {
	o, err := b.api.Read(a.Manifest, kube.Ref(a.Ref))
	if err != nil {
		return err
	}
	mark(o, namespace, "namespace/"+a.Owner, a.Digest)
	as, err := b.acting(namespace, a.As)
	if err != nil {
		return err
	}
	if o.GroupVersionKind() != csvs {
		_, err := as.Apply(ctx, o, a.Revision)
		return err
	}
	var held struct {
		Status csvStatus `json:"status"`
	}
	if err := json.Unmarshal(a.Manifest, &held); err != nil {
		return &kube.ObjectError{Object: kube.Ref(a.Ref), Err: err}
	}
	held.Status.LastUpdateTime = b.now()
	status := func(revision string) (string, error) {
		return b.api.ReplaceStatus(ctx, csvs, o.GetNamespace(), o.GetName(), revision, held.Status)
	}
	first, second := status, func(revision string) (string, error) {
		applied, err := as.Apply(ctx, o, revision)
		if err != nil {
			return "", err
		}
		return applied.GetResourceVersion(), nil
	}
	if a.Revision == "" {
		first, second = second, first
	}
	revision, err := first(a.Revision)
	if err == nil {
		_, err = second(revision)
	}
	return err
}

// deleteObject deletes an object unless it has another owner by now.
func (b *Backend) deleteObject(ctx context.Context, namespace string, a install.DeleteObject) error {
	gvk, namespaced, err := b.api.KindOf(kube.Ref(a.Ref))
	if err != nil {
		return outcome(a.Ref, err)
	}
	in := a.Ref.Namespace
	if !namespaced {
		in = ""
	}
	found, err := b.api.Head(ctx, gvk, in, a.Ref.Name)
	if err != nil {
		return outcome(a.Ref, err)
	}
	if found == nil {
		return nil
	}
	note := found.Annotations[OwnerAnnotation]
	switch mine := found.Labels[NamespaceLabel] == namespace && (note == "csv/"+a.Owner || note == "namespace/"+a.Owner); {
	case !mine:
		return &kube.ChangedError{Object: kube.Ref(a.Ref), Problem: fmt.Sprintf("it belongs to %q, not to %s", note, a.Owner)}
	case found.ResourceVersion != a.Revision:
		return &kube.ChangedError{Object: kube.Ref(a.Ref), Problem: "it has changed since it was observed"}
	}
	return b.api.Remove(ctx, gvk, found)
}

// updateGroup writes the annotation and the status of a group, if they differ.
func (b *Backend) updateGroup(ctx context.Context, namespace string, a install.UpdateGroup) error {
	found, err := b.api.At(ctx, groups, namespace, a.Name, a.Revision)
	if err != nil {
		return err
	}
	revision := a.Revision
	if want := a.Provided.String(); found.Annotations[group.ProvidedAPIsAnnotation] != want {
		note := map[string]any{group.ProvidedAPIsAnnotation: nil}
		if want != "" {
			note[group.ProvidedAPIsAnnotation] = want
		}
		if revision, err = b.api.Annotate(ctx, groups, namespace, a.Name, revision, note); err != nil {
			return err
		}
	}
	return b.patchStatus(ctx, groups, namespace, a.Name, revision, a.Status)
}

// writeCondition creates the operator condition of a CSV, which owns it, or
// writes its status.
func (b *Backend) writeCondition(ctx context.Context, namespace string, a install.WriteCondition) error {
	if a.Revision != "" {
		return b.patchStatus(ctx, conditions, namespace, a.Name, a.Revision, a.Status)
	}
	ref := refOf(conditions, namespace, a.Name)
	csv, err := b.api.Head(ctx, csvs, namespace, a.Name)
	if err != nil {
		return outcome(ref, err)
	}
	if csv == nil {
		return &kube.ChangedError{Object: kube.Ref(ref), Problem: "its CSV is gone"}
	}
	o := kube.Stub(conditions, namespace, a.Name)
	o.Object["spec"] = map[string]any{}
	owned(o, csv)
	return outcome(ref, b.client.Create(ctx, o, client.FieldOwner(FieldManager)))
}

// serveCatalog records that the image of a catalog is in use; its content is
// read when the namespace is next observed.
func (b *Backend) serveCatalog(ctx context.Context, namespace string, a install.ServeCatalog) error {
	note, err := json.Marshal(served{Image: a.Image, Placement: &a.Placement})
	if err != nil {
		return &kube.ObjectError{Object: kube.Ref(refOf(catalogs, namespace, a.Name)), Err: err}
	}
	revision, err := b.api.Annotate(ctx, catalogs, namespace, a.Name, a.Revision, map[string]any{ServedAnnotation: string(note)})
	if err != nil {
		return err
	}
	found, err := b.catalog(ctx, namespace, a.Name)
	if err != nil || found.Revision != revision {
		return errors.Join(err, &kube.ChangedError{Object: kube.Ref(refOf(catalogs, namespace, a.Name)), Problem: "it changed while it was written"})
	}
	found.Status.LatestImageRegistryPoll = a.Polled
	return b.patchStatus(ctx, catalogs, namespace, a.Name, revision, found.Status)
}

// patchStatus replaces the status of a custom resource that is at a revision.
func (b *Backend) patchStatus(ctx context.Context, gvk schema.GroupVersionKind, namespace, name, revision string, status any) error {
	_, err := b.api.ReplaceStatus(ctx, gvk, namespace, name, revision, status)
	return err
}

// mark sets the label and annotations with the owner of an object and the
// digest of what was written.
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

// outcome is [kube.Outcome] for an object.
func outcome(object install.Ref, err error) error { return kube.Outcome(kube.Ref(object), err) }
