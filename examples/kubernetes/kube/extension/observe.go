package extension

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/latest"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/extension"
	"github.com/fairlead/fairlead/solver/olm/scope"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Observe implements [extension.Backend]. The extension is read first and its
// revisions next, so that no object is wrongly taken for one that nothing
// refers to.
func (b *Backend) Observe(ctx context.Context, name string) (*extension.World, error) {
	o := &observation{Backend: b, ctx: ctx, name: name, w: &extension.World{}, named: map[extension.Ref]*wanted{}, as: map[extension.Ref]extension.Ref{}}
	for _, read := range []func() error{o.extension, o.revisions, o.contents, o.objects, o.definitions, o.access} {
		if err := read(); err != nil {
			return nil, fmt.Errorf("observing cluster extension %s: %w", name, err)
		}
		if o.w.Extension == nil {
			b.contents.Forget(name)
			break
		}
	}
	return o.w, nil
}

// observation is one call of Observe.
type observation struct {
	*Backend
	ctx   context.Context
	name  string
	w     *extension.World
	named map[extension.Ref]*wanted       // by the engine's references: the objects in revisions and contents
	as    map[extension.Ref]extension.Ref // the engine's reference to an object of the cluster, if it differs
	found map[extension.Ref]*unstructured.Unstructured
}

// wanted is an object in a revision or a bundle.
type wanted struct {
	gvk       schema.GroupVersionKind
	digests   []string                   // of all its desired contents
	manifests map[string]json.RawMessage // by the revision that has it
}

func (o *observation) extension() error {
	u := kube.Stub(extensions, "", o.name)
	if err := o.api.Client.Get(o.ctx, client.ObjectKeyFromObject(u), u); err != nil {
		return client.IgnoreNotFound(err)
	}
	o.w.Extension = &extension.ClusterExtension{}
	return kube.DecodeObject(u, o.w.Extension)
}

func (o *observation) revisions() error {
	items, err := o.api.List(o.ctx, revisions, "", client.MatchingLabels{extension.OwnerNameLabel: o.name})
	if err != nil {
		return err
	}
	for i := range items {
		var r extension.Revision
		if err := kube.DecodeObject(&items[i], &r); err != nil {
			return err
		}
		if err := o.notice(&r); err != nil {
			return err
		}
		o.w.Revisions = append(o.w.Revisions, r)
	}
	return nil
}

// notice records the objects of a revision, and whether it is active.
func (o *observation) notice(r *extension.Revision) error {
	o.mu.Lock()
	delete(o.active, r.Name)
	if r.Spec.Lifecycle != extension.Archived {
		o.active[r.Name] = r.ResourceVersion
	}
	o.mu.Unlock()
	for _, p := range r.Spec.Phases {
		for _, held := range p.Objects {
			u := &unstructured.Unstructured{}
			if err := u.UnmarshalJSON(held.Object); err != nil {
				return &kube.ObjectError{Object: kube.RefOf(revisions, "", r.Name), Err: err}
			}
			o.want(extension.Object{Ref: refOf(u), Manifest: held.Object}, u.GroupVersionKind(), r.Name)
		}
	}
	return nil
}

// want records an object of a revision, or of a bundle if that is "".
func (o *observation) want(x extension.Object, gvk schema.GroupVersionKind, revision string) {
	w := o.named[x.Ref]
	if w == nil {
		w = &wanted{gvk: gvk, manifests: map[string]json.RawMessage{}}
		o.named[x.Ref] = w
	}
	w.digests = append(w.digests, x.Digest())
	if revision != "" {
		w.manifests[revision] = x.Manifest
	}
}

// contents adds the unpacked bundles. The objects of a bundle are also looked
// up, because objects of others may be in the way. If a bundle cannot be
// rendered, the engine reports why.
func (o *observation) contents() error {
	o.w.Contents = o.Backend.contents.Of(o.name)
	settings, err := extension.ReadSettings(o.w.Extension.Spec.Config)
	if err != nil {
		return nil
	}
	settings.Certificates = o.opts.Certificates
	for i := range o.w.Contents {
		read, err := extension.ReadBundle(o.w.Contents[i].Manifests)
		if err != nil {
			continue
		}
		all, err := read.Render(o.w.Extension.Spec.Namespace, settings)
		if err != nil {
			continue
		}
		for _, x := range all {
			u := &unstructured.Unstructured{}
			if u.UnmarshalJSON(x.Manifest) == nil {
				o.want(x, u.GroupVersionKind(), "")
			}
		}
	}
	return nil
}

// objects reads all objects with the label of the extension, and the other ones
// that are named: they may belong to others.
func (o *observation) objects() error {
	kinds := usual()
	names := make([]extension.Ref, 0, len(o.named))
	for r, w := range o.named {
		names = append(names, r)
		if !slices.Contains(kinds, w.gvk) {
			kinds = append(kinds, w.gvk)
		}
	}
	slices.SortFunc(names, func(x, y extension.Ref) int { return strings.Compare(x.Group+x.String(), y.Group+y.String()) })
	slices.SortFunc(kinds, func(x, y schema.GroupVersionKind) int { return strings.Compare(x.String(), y.String()) })
	o.found = map[extension.Ref]*unstructured.Unstructured{}
	for _, gvk := range kinds {
		_, namespaced, err := o.api.KindOf(kube.RefOf(gvk, "", ""), gvk.Version)
		if meta.IsNoMatchError(err) {
			continue // then none of its objects exists; applying one reports this
		}
		if err != nil {
			return err
		}
		for _, r := range names {
			if o.named[r].gvk == gvk && !namespaced {
				o.as[extension.Ref{Group: r.Group, Kind: r.Kind, Name: r.Name}] = r
			}
		}
		all, err := o.list(o.ctx, gvk, client.MatchingLabels{extension.OwnerNameLabel: o.name})
		if err != nil {
			return err
		}
		for i := range all {
			o.found[o.engines(&all[i])] = &all[i]
		}
		for _, r := range names {
			if o.named[r].gvk != gvk || o.found[r] != nil {
				continue
			}
			in := r.Namespace
			if !namespaced {
				in = ""
			}
			u, there, err := latest.Get(o.ctx, o.client, gvk, client.ObjectKey{Namespace: in, Name: r.Name}, kube.Stub(gvk, in, r.Name))
			if err != nil {
				return fmt.Errorf("%s: %w", r, err)
			}
			if there {
				o.found[r] = u
			}
		}
	}
	for _, r := range sortedRefs(o.found) {
		seen, err := o.observed(r, o.found[r])
		if err != nil {
			return err
		}
		o.w.Objects = append(o.w.Objects, seen)
	}
	return nil
}

// engines returns the engine's reference to an object: it may have a namespace
// although the kind has none.
func (o *observation) engines(u *unstructured.Unstructured) extension.Ref {
	r := refOf(u)
	if as, ok := o.as[r]; ok {
		return as
	}
	return r
}

func sortedRefs(m map[extension.Ref]*unstructured.Unstructured) []extension.Ref {
	var all []extension.Ref
	for r := range m {
		all = append(all, r)
	}
	slices.SortFunc(all, func(x, y extension.Ref) int { return strings.Compare(x.Group+" "+x.String(), y.Group+" "+y.String()) })
	return all
}

// observed returns an object as the engine sees it.
func (o *observation) observed(r extension.Ref, u *unstructured.Unstructured) (extension.Observed, error) {
	data, err := u.MarshalJSON()
	if err != nil {
		return extension.Observed{}, &kube.ObjectError{Object: toRef(r), Err: err}
	}
	seen := extension.Observed{Ref: r, UID: string(u.GetUID()), ResourceVersion: u.GetResourceVersion(), Deleting: u.GetDeletionTimestamp() != nil}
	if labels := u.GetLabels(); labels[extension.OwnerKindLabel] == extensions.Kind {
		seen.Owner = labels[extension.OwnerNameLabel]
	}
	if c := metav1.GetControllerOfNoCopy(u); c != nil {
		seen.Controller = c.Name
		if c.Kind != revisions.Kind {
			seen.Controller = c.Kind + " " + c.Name
		}
	}
	if sum := u.GetAnnotations()[kube.DigestAnnotation]; sum != "" && seen.Owner == o.name && o.whole(r, u, sum, seen.Controller) {
		seen.Digest = sum
	}
	seen.Ready, seen.Detail = extension.Probe(data)
	return seen, nil
}

// whole reports whether no applied field of an object has been changed since.
// The server records who set which field: nothing was changed as long as this
// manager owns the same fields as after applying. After a restart those are not
// known, and a dry run shows what applying it would change.
func (o *observation) whole(r extension.Ref, u *unstructured.Unstructured, sum, controller string) bool {
	is := shape(u, sum)
	o.mu.Lock()
	was, known := o.intact[u.GetUID()]
	o.mu.Unlock()
	if known {
		return was == is
	}
	w := o.named[r]
	if w == nil || w.manifests[controller] == nil {
		return true // there is nothing to apply
	}
	next, err := o.prepare(o.name, r, controller, u.GetOwnerReferences(), w.manifests[controller])
	if err != nil || next.GetAnnotations()[kube.DigestAnnotation] != sum {
		return true // something else will be applied anyway, or nothing can be
	}
	would, err := o.api.Restore(o.ctx, next, u.GetUID(), u.GetResourceVersion(), client.DryRunAll)
	if err != nil || shape(would, sum) != is || !sameContent(would, u) {
		return false // applying it will report what is wrong
	}
	o.remember(u.GetUID(), is)
	return true
}

// shape identifies the fields of an object that we own, and what was applied.
func shape(u metav1.Object, sum string) string {
	h := sha256.New()
	for _, f := range u.GetManagedFields() {
		if f.Manager == FieldManager && f.Operation == metav1.ManagedFieldsOperationApply && f.FieldsV1 != nil {
			h.Write([]byte(f.APIVersion + f.Subresource))
			h.Write(f.FieldsV1.Raw)
		}
	}
	return sum + hex.EncodeToString(h.Sum(nil))
}

// sameContent reports whether two versions of an object differ at most in
// their resourceVersion, generation and managed fields.
func sameContent(a, b *unstructured.Unstructured) bool {
	plain := func(u *unstructured.Unstructured) string {
		u = u.DeepCopy()
		u.SetResourceVersion("")
		u.SetManagedFields(nil)
		u.SetGeneration(0)
		text, err := u.MarshalJSON()
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	return plain(a) == plain(b)
}

func (b *Backend) remember(uid types.UID, shape string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.intact[uid] = shape
}

// definitions adds the CRDs among the objects, and the objects of those that
// may be changed or deleted.
func (o *observation) definitions() error {
	for _, r := range sortedRefs(o.found) {
		u := o.found[r]
		if u.GroupVersionKind() != crds {
			continue
		}
		var d crd.Definition
		if err := kube.DecodeObject(u, &d); err != nil {
			return err
		}
		o.w.Cluster.CRDs = append(o.w.Cluster.CRDs, d)
		if o.stays(r, u) || !established(u) {
			continue
		}
		for _, version := range d.Served() {
			all, err := o.api.List(o.ctx, schema.GroupVersionKind{Group: d.Spec.Group, Version: version, Kind: d.Spec.Names.Kind}, "")
			if err != nil {
				return err
			}
			for i := range all {
				data, err := all[i].MarshalJSON()
				if err != nil {
					return &kube.ObjectError{Object: kube.RefOf(all[i].GroupVersionKind(), all[i].GetNamespace(), all[i].GetName()), Err: err}
				}
				x := extension.Resource{CRD: d.Name, Version: version}
				x.Namespace, x.Name, x.Data = all[i].GetNamespace(), all[i].GetName(), data
				o.w.Cluster.Resources = append(o.w.Cluster.Resources, x)
			}
		}
	}
	return nil
}

// stays reports whether a CRD equals its definition in all revisions and
// bundles that contain it, so that its objects do not matter.
func (o *observation) stays(r extension.Ref, u *unstructured.Unstructured) bool {
	w, sum := o.named[r], u.GetAnnotations()[kube.DigestAnnotation]
	if o.w.Extension.DeletionTimestamp != nil || w == nil {
		return false
	}
	newest := ""
	var number int64
	for i := range o.w.Revisions {
		if x := &o.w.Revisions[i]; x.Spec.Lifecycle != extension.Archived && x.Spec.Revision > number {
			newest, number = x.Name, x.Spec.Revision
		}
	}
	return w.manifests[newest] != nil && !slices.ContainsFunc(w.digests, func(d string) bool { return d != sum })
}

func established(u *unstructured.Unstructured) bool {
	data, err := u.MarshalJSON()
	ready, _ := extension.Probe(data)
	return err == nil && ready
}

// access adds permissions, only if the extension names a service account.
func (o *observation) access() error {
	x := o.w.Extension
	if x.Spec.ServiceAccount.Name == "" {
		return nil
	}
	h, err := o.api.Head(o.ctx, accounts, x.Spec.Namespace, x.Spec.ServiceAccount.Name)
	if err != nil {
		return err
	}
	if h != nil {
		o.w.Cluster.Accounts = []scope.Account{{Namespace: x.Spec.Namespace, Name: x.Spec.ServiceAccount.Name}}
	}
	o.w.Cluster.Applies = true
	o.w.Cluster.Access, err = operators.Access(func(gvk schema.GroupVersionKind) ([]unstructured.Unstructured, error) { return o.list(o.ctx, gvk) })
	return err
}
