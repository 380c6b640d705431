package operators

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/latest"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// heads returns the metadata of all objects of a kind, by namespace and name.
func (b *Backend) heads(ctx context.Context, gvk schema.GroupVersionKind, namespace string, opts ...client.ListOption) ([]metav1.PartialObjectMetadata, error) {
	empty := &metav1.PartialObjectMetadataList{}
	empty.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	all, err := latest.List(ctx, b.client, gvk, empty, append(opts, client.InNamespace(namespace))...)
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) { // its definition is gone, perhaps only recently
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", gvk.Kind, err)
	}
	return slices.SortedFunc(slices.Values(all.Items), func(x, y metav1.PartialObjectMetadata) int {
		return cmp.Or(strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
	}), nil
}

// list returns the objects of a kind, by namespace and name.
func (b *Backend) list(ctx context.Context, gvk schema.GroupVersionKind, namespace string, opts ...client.ListOption) ([]unstructured.Unstructured, error) {
	all, err := latest.List(ctx, b.client, gvk, kube.ListOf(gvk), append(opts, client.InNamespace(namespace))...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", gvk.Kind, err)
	}
	return slices.SortedFunc(slices.Values(all.Items), func(x, y unstructured.Unstructured) int {
		return cmp.Or(strings.Compare(x.GetNamespace(), y.GetNamespace()), strings.Compare(x.GetName(), y.GetName()))
	}), nil
}

// head returns the metadata of an object; nil if the object or its kind does
// not exist.
func (b *Backend) head(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	empty := &metav1.PartialObjectMetadata{}
	empty.SetGroupVersionKind(gvk)
	found, there, err := latest.Get(ctx, b.client, gvk, client.ObjectKey{Namespace: namespace, Name: name}, empty)
	if err == nil && there {
		return found, nil
	}
	if meta.IsNoMatchError(err) {
		err = nil
	}
	return nil, err
}

// object returns a cluster-scoped object; nil if the object or its kind does
// not exist.
func (b *Backend) object(ctx context.Context, gvk schema.GroupVersionKind, name string) (*unstructured.Unstructured, error) {
	found, there, err := latest.Get(ctx, b.client, gvk, client.ObjectKey{Name: name}, kube.Stub(gvk, "", name))
	if err == nil && there {
		return found, nil
	}
	if meta.IsNoMatchError(err) {
		err = nil
	}
	return nil, err
}

// objects reads the objects created by plans or generated for the group, which
// are found by their label. Objects that a plan names and that lack the label
// are read by name: they may belong to others.
func (o *observation) objects() error {
	byKind := o.kinds()
	seen := map[install.Ref]bool{}
	for _, gvk := range sortedKinds(byKind) {
		_, namespaced, err := o.api.KindOf(kube.Ref(refOf(gvk, "", "")), gvk.Version)
		if err != nil {
			if meta.IsNoMatchError(err) {
				continue // then none of its objects exists; applying one reports this
			}
			return err
		}
		in, label := "", client.ListOption(client.MatchingLabels{NamespaceLabel: o.w.Namespace})
		switch {
		case !namespaced:
			label = client.HasLabels{NamespaceLabel} // of any namespace: cluster-scoped objects are shared
		case !slices.Contains(generatedKinds(), gvk):
			in = o.w.Namespace
		}
		all, err := o.heads(o.ctx, gvk, in, label)
		if err != nil {
			return err
		}
		for i := range all {
			o.sort(gvk, &all[i], seen)
		}
		for _, n := range byKind[gvk] {
			if err := o.byName(gvk, n, namespaced, seen); err != nil {
				return err
			}
		}
	}
	return o.copies()
}

// sort adds an object with the label to the right list.
func (o *observation) sort(gvk schema.GroupVersionKind, h *metav1.PartialObjectMetadata, seen map[install.Ref]bool) {
	made := install.Object{Ref: refOf(gvk, h.Namespace, h.Name), Mark: markOf(h)}
	note := h.Annotations[OwnerAnnotation]
	switch owner, generated := strings.CutPrefix(note, "namespace/"); {
	case generated && gvk == secrets: // a certificate
	case generated:
		made.Owner = owner
		o.w.Generated = append(o.w.Generated, made)
	case h.Labels[NamespaceLabel] == o.w.Namespace:
		made.Owner = ownedByCSV(note)
		seen[made.Ref] = true
		o.w.Objects = append(o.w.Objects, made)
	}
}

// named is an object that a plan names.
type named struct {
	name   string
	making bool // the plan is under way, and the object belongs to no operator
}

// byName looks up an object that a plan names. Whether an object to be created is
// missing is taken from the cache: the creation is refused if it exists. Whether
// an operator has lost one is not.
func (o *observation) byName(gvk schema.GroupVersionKind, n named, namespaced bool, seen map[install.Ref]bool) error {
	in := ""
	if namespaced {
		in = o.w.Namespace
	}
	ref, key := refOf(gvk, in, n.name), client.ObjectKey{Namespace: in, Name: n.name}
	if seen[ref] || n.making && !o.client.Cached(o.ctx, gvk, key) {
		return nil
	}
	h, err := o.head(o.ctx, gvk, in, n.name)
	if err != nil || h == nil {
		return err
	}
	o.w.Objects = append(o.w.Objects, install.Object{Ref: ref, Mark: markOf(h), Home: homeOf(h)})
	return nil
}

// kinds returns the kinds whose objects are looked up, and for each the names in
// plans: in approved plans under way, and in those of existing operators; for an
// operator whose plan was deleted, the names in its bundle.
func (o *observation) kinds() map[schema.GroupVersionKind][]named {
	byKind := map[schema.GroupVersionKind][]named{accounts: nil}
	for _, gvk := range generatedKinds() {
		byKind[gvk] = nil
	}
	add := func(gvk schema.GroupVersionKind, name string, making bool) {
		if gvk.Group == groupOLM || gvk.Kind == crds.Kind && gvk.Group == groupCRD {
			return
		}
		if i := slices.IndexFunc(byKind[gvk], func(n named) bool { return n.name == name }); i < 0 {
			byKind[gvk] = append(byKind[gvk], named{name, making})
		} else if !making {
			byKind[gvk][i].making = false
		}
	}
	brought := map[string]bool{} // the CSVs with an existing plan
	for i := range o.w.Plans {
		p := &o.w.Plans[i]
		for j := range p.Status.Plan {
			s := &p.Status.Plan[j]
			if s.Resource.Group == groupOLM && s.Resource.Kind == csvs.Kind {
				brought[s.Resource.Name] = true
			}
			if making := p.Spec.Approved && underWay(p); making || o.has(s.Resolving) {
				add(schema.GroupVersionKind{Group: s.Resource.Group, Version: s.Resource.Version, Kind: s.Resource.Kind}, s.Resource.Name, making)
			}
		}
	}
	for _, held := range o.contents.Of(o.w.Namespace) {
		if brought[held.Bundle] || !o.has(held.Bundle) {
			continue
		}
		for _, text := range held.Manifests {
			var head metav1.PartialObjectMetadata
			if err := json.Unmarshal(text, &head); err == nil { // an unreadable manifest is not a step either
				add(head.GroupVersionKind(), head.Name, false)
			}
		}
	}
	return byKind
}

func underWay(p *install.InstallPlan) bool {
	return p.Status.Phase != install.PlanComplete && p.Status.Phase != install.PlanFailed
}

// has reports whether there is a CSV with a name.
func (o *observation) has(csv string) bool {
	return slices.ContainsFunc(o.w.CSVs, func(c install.CSV) bool { return c.Name == csv && !c.Copied() })
}

func sortedKinds(m map[schema.GroupVersionKind][]named) []schema.GroupVersionKind {
	var all []schema.GroupVersionKind
	for gvk := range m {
		all = append(all, gvk)
	}
	slices.SortFunc(all, func(x, y schema.GroupVersionKind) int { return strings.Compare(x.String(), y.String()) })
	return all
}

// copies adds the CSVs that make the operators of this namespace known in
// others. A copy without status counts as not written yet.
func (o *observation) copies() error {
	items, err := o.list(o.ctx, csvs, "", client.MatchingLabels{NamespaceLabel: o.w.Namespace, group.CopiedFromLabel: o.w.Namespace})
	if err != nil {
		return err
	}
	for i := range items {
		h := &items[i]
		made := install.Object{Ref: refOf(csvs, h.GetNamespace(), h.GetName()), Mark: markOf(h), Owner: o.w.Namespace}
		if reason, _, _ := unstructured.NestedString(h.Object, "status", "reason"); reason != olm.ReasonCopied {
			made.Digest = ""
		}
		o.w.Generated = append(o.w.Generated, made)
	}
	return nil
}

// definitions reads the CRDs that CSVs and plans name, the objects of those that
// an approved plan would change, and the aggregated APIs that CSVs require.
func (o *observation) definitions() error {
	o.named = map[string]bool{}
	services := map[string]bool{}
	for i := range o.w.CSVs {
		spec := &o.w.CSVs[i].Spec
		for _, d := range slices.Concat(spec.CustomResourceDefinitions.Owned, spec.CustomResourceDefinitions.Required) {
			o.named[d.Name] = true
		}
		for _, d := range slices.Concat(spec.APIServiceDefinitions.Owned, spec.APIServiceDefinitions.Required) {
			services[d.Version+"."+d.Group] = true
		}
	}
	touched := map[string][]step{}
	for i := range o.w.Plans {
		for j := range o.w.Plans[i].Status.Plan {
			if r := &o.w.Plans[i].Status.Plan[j].Resource; r.Kind == crds.Kind && r.Group == groupCRD {
				o.named[r.Name] = true
				if p := &o.w.Plans[i]; p.Spec.Approved && underWay(p) {
					touched[r.Name] = append(touched[r.Name], step{o.w.Namespace, p.Name, r.Name})
				}
			}
		}
	}
	o.forgetSteps(o.w.Namespace, func(name string) bool {
		return slices.ContainsFunc(o.w.Plans, func(p install.InstallPlan) bool { return p.Name == name && underWay(&p) })
	})
	removing := slices.ContainsFunc(o.w.Subscriptions, func(s install.Subscription) bool { return s.Annotations[install.RemovalAnnotation] != "" })
	for _, name := range sortedKeys(o.named) {
		d, err := o.definition(name)
		if err != nil {
			return err
		}
		if d == nil {
			continue
		}
		o.w.CRDs = append(o.w.CRDs, *d)
		undone := func(s step) bool { return !o.isDone(s, d.Digest) }
		if removing || slices.ContainsFunc(touched[name], undone) {
			if err := o.resources(d); err != nil {
				return err
			}
		}
	}
	return o.apis(sortedKeys(services))
}

// definition reads one CRD; nil if there is none.
func (o *observation) definition(name string) (*install.CRD, error) {
	found, err := o.object(o.ctx, crds, name)
	if err != nil {
		return nil, fmt.Errorf("CRD %s: %w", name, err)
	}
	if found == nil {
		return nil, nil
	}
	d := &install.CRD{Mark: markOf(found)}
	if err := kube.DecodeObject(found, &d.Definition); err != nil {
		return nil, err
	}
	d.Established, d.Conversion, d.Home = conditionTrue(found, "Established"), conversionOf(found), homeOf(found)
	return d, nil
}

// resources reads the objects of a CRD, in each version that is served.
func (o *observation) resources(d *install.CRD) error {
	if !d.Established {
		return nil
	}
	for _, version := range d.Served() {
		all, err := o.api.List(o.ctx, schema.GroupVersionKind{Group: d.Spec.Group, Version: version, Kind: d.Spec.Names.Kind}, "")
		if err != nil {
			return err
		}
		for i := range all {
			data, err := all[i].MarshalJSON()
			if err != nil {
				return err
			}
			r := install.Resource{CRD: d.Name, Version: version}
			r.Namespace, r.Name, r.Data = all[i].GetNamespace(), all[i].GetName(), data
			o.w.Resources = append(o.w.Resources, r)
		}
	}
	return nil
}

// apis adds those of the given aggregated APIs that are available.
func (o *observation) apis(names []string) error {
	for _, name := range names {
		o.named[name] = true
		found, err := o.object(o.ctx, apiServices, name)
		if err != nil {
			return fmt.Errorf("API service %s: %w", name, err)
		}
		if found == nil {
			continue
		}
		if conditionTrue(found, "Available") {
			o.w.APIServices = append(o.w.APIServices, name)
		}
		if ref := refOf(apiServices, "", name); homeOf(found) == "" { // the others are generated
			o.w.Generated = append(o.w.Generated, install.Object{Ref: ref, Mark: markOf(found)})
		}
	}
	return nil
}

// homeOf returns the namespace that an object was written for, "" if that is not known.
func homeOf(o client.Object) string {
	if o.GetAnnotations()[OwnerAnnotation] == "" {
		return ""
	}
	return o.GetLabels()[NamespaceLabel]
}

// conditionTrue reports whether a condition of an object is true.
func conditionTrue(o *unstructured.Unstructured, kind string) bool {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return slices.ContainsFunc(all, func(c any) bool {
		fields, _ := c.(map[string]any)
		return fields["type"] == kind && fields["status"] == "True"
	})
}

// equalJSON reports whether two values have the same JSON.
func equalJSON(x, y any) bool {
	a, errA := json.Marshal(x)
	c, errC := json.Marshal(y)
	return errA == nil && errC == nil && string(a) == string(c)
}
