package operators

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/solver/olm/install"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// reporter reports blocks by events on the objects concerned.
type reporter struct {
	events  *kube.Events
	backend *Backend

	mu   sync.Mutex
	told map[string][]string // by namespace: the objects with events of the last pass
}

// report records new events, object by object. Blocks without an object of
// their own are reported on the operator group of the namespace, or else on
// the namespace.
func (r *reporter) report(ctx context.Context, namespace string, p fairlead.Pass) {
	byObject := map[string]fairlead.Pass{}
	var names []string
	add := func(ref install.Ref, change func(*fairlead.Pass)) {
		name := strings.Join([]string{namespace, ref.Group, ref.Kind, ref.Namespace, ref.Name}, "|")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		q := byObject[name]
		change(&q)
		byObject[name] = q
	}
	for _, b := range p.Blocked {
		if transient(b.Reason) {
			continue
		}
		add(subjectOf(namespace, b.Subject), func(q *fairlead.Pass) { q.Blocked = append(q.Blocked, b) })
	}
	if p.Err != nil {
		add(install.Ref{Kind: namespaces.Kind, Name: namespace}, func(q *fairlead.Pass) { q.Err = p.Err })
	}
	r.mu.Lock()
	before := r.told[namespace]
	r.told[namespace] = names
	r.mu.Unlock()
	for _, name := range before {
		if !slices.Contains(names, name) {
			names = append(names, name) // no blocks left: a recurring one is reported again
		}
	}
	for _, name := range names {
		r.events.Report(ctx, name, byObject[name])
	}
}

// transient reports whether a reason is that of work in progress, which needs
// no intervention.
func transient(reason string) bool {
	switch reason {
	case install.ReasonActionPending, install.ReasonPlanPending, install.ReasonStatusPending, install.ReasonStepPending,
		install.ReasonGenerated, install.ReasonCatalogPending, install.ReasonUnpacking, install.ReasonBeingReplaced:
		return true
	}
	return false
}

// subjectOf returns the object that the subject of a block refers to.
func subjectOf(namespace, subject string) install.Ref {
	words := strings.Fields(subject)
	if len(words) < 2 {
		return install.Ref{Kind: namespaces.Kind, Name: namespace}
	}
	name := words[1]
	for word, gvk := range map[string]schema.GroupVersionKind{
		"csv": csvs, "clusterserviceversion": csvs, "subscription": subscriptions, "installplan": plans,
		"operatorgroup": groups, "operatorcondition": conditions, "catalog": catalogs, "catalogsource": catalogs,
	} {
		if words[0] != word {
			continue
		}
		in := namespace
		if first, second, both := strings.Cut(name, "/"); both {
			in, name = first, second
		}
		return refOf(gvk, in, name)
	}
	return install.Ref{Kind: namespaces.Kind, Name: namespace}
}

// object returns the object for a name in report, or a substitute.
func (r *reporter) object(ctx context.Context, name string) runtime.Object {
	part := strings.Split(name, "|")
	namespace, ref := part[0], install.Ref{Group: part[1], Kind: part[2], Namespace: part[3], Name: part[4]}
	for _, gvk := range []schema.GroupVersionKind{csvs, subscriptions, plans, groups, conditions, catalogs} {
		if gvk.Kind != ref.Kind || gvk.Group != ref.Group {
			continue
		}
		if h, err := r.backend.api.Head(ctx, gvk, ref.Namespace, ref.Name); err == nil && h != nil {
			return reference(gvk, h)
		}
	}
	if all, err := r.backend.heads(ctx, groups, namespace); err == nil && len(all) > 0 {
		return reference(groups, &all[0])
	}
	if h, err := r.backend.api.Head(ctx, namespaces, "", namespace); err == nil && h != nil {
		return reference(namespaces, h)
	}
	return nil
}

func reference(gvk schema.GroupVersionKind, h *metav1.PartialObjectMetadata) runtime.Object {
	return &corev1.ObjectReference{
		APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Namespace: h.Namespace, Name: h.Name, UID: h.UID, ResourceVersion: h.ResourceVersion,
	}
}
