package operators

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ReasonObject is the reason of blocks about unreadable objects.
const ReasonObject = "ObjectInvalid"

// Observe implements [install.Backend]. Plans are read first, so that nothing
// else is older.
func (b *Backend) Observe(ctx context.Context, namespace string) (*install.World, error) {
	o := &observation{Backend: b, ctx: ctx, w: &install.World{
		Namespace: namespace,
		Cluster:   install.Cluster{Version: b.opts.ClusterVersion, KubeVersion: b.opts.KubeVersion, Proxy: b.opts.Proxy, Copies: b.opts.Copies, Serves: true, Applies: true},
	}}
	for _, read := range []func() error{
		o.plans, o.subscriptions, o.csvs, o.groups, o.conditions, o.namespaces, o.definitions, o.objects, o.issued, o.deployed, o.access, o.catalogs, o.upgradeable,
	} {
		if err := read(); err != nil {
			return nil, fmt.Errorf("observing namespace %s: %w", namespace, err)
		}
	}
	o.w.Contents = b.contents.Of(namespace)
	o.w.Deprecations = install.Deprecations(o.w.Subscriptions, b.shelf.sources())
	b.mu.Lock()
	defer b.mu.Unlock()
	if w := o.w; len(w.Plans)+len(w.Subscriptions)+len(w.CSVs)+len(o.faults) == 0 && !o.hasGroup() {
		delete(b.faults, namespace)
		delete(b.defined, namespace)
		delete(b.limited, namespace)
		b.contents.Forget(namespace)
		b.client.Forget(namespace)
		return w, nil
	}
	b.faults[namespace], b.defined[namespace] = o.faults, o.named
	if delete(b.limited, namespace); o.w.Access.Roles != nil {
		b.limited[namespace] = true
	}
	return o.w, nil
}

// observation is one call of Observe.
type observation struct {
	*Backend
	ctx    context.Context
	w      *install.World
	faults []fairlead.Block
	named  map[string]bool // CRDs and API services that objects of the namespace name
}

// passOver records an object that is skipped because it cannot be read.
func (o *observation) passOver(err *kube.ObjectError) {
	subject := strings.ToLower(err.Object.Kind) + " " + err.Object.Name
	if err.Object.Namespace != o.w.Namespace {
		subject = strings.ToLower(err.Object.Kind) + " " + err.Object.Namespace + "/" + err.Object.Name
	}
	o.faults = append(o.faults, fairlead.Block{
		Subject: subject, Reason: ReasonObject, Message: "it is ignored, because it cannot be read: " + err.Err.Error(),
		Owner: "whoever wrote it", Since: o.now(), Unblock: "correct it, or delete it",
	})
}

func markOf(o client.Object) install.Mark {
	return install.Mark{Revision: o.GetResourceVersion(), Digest: o.GetAnnotations()[DigestAnnotation]}
}

// plans returns the install plans of a namespace. A plan without a status is
// still being created: it is left out, so that it is written again, unless
// there is a newer plan.
func (b *Backend) plans(ctx context.Context, namespace string) ([]install.InstallPlan, error) {
	items, err := b.api.List(ctx, plans, namespace)
	if err != nil {
		return nil, err
	}
	var all []install.InstallPlan
	newest := 0
	for i := range items {
		var p install.InstallPlan
		if err := kube.DecodeObject(&items[i], &p); err != nil {
			return nil, err
		}
		p.Revision = items[i].GetResourceVersion()
		newest = max(newest, p.Spec.Generation)
		all = append(all, p)
	}
	return slices.DeleteFunc(all, func(p install.InstallPlan) bool { return p.Status.Phase == "" && p.Spec.Generation == newest }), nil
}

// bare overwrites an existing plan with the same name, which must not have a
// status yet, and returns it.
func (b *Backend) bare(ctx context.Context, namespace string, p install.InstallPlan) (*unstructured.Unstructured, error) {
	ref := refOf(plans, namespace, p.Name)
	o := kube.Stub(plans, namespace, p.Name)
	if err := b.client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return nil, outcome(ref, err)
	}
	if phase, _, _ := unstructured.NestedString(o.Object, "status", "phase"); phase != "" {
		return nil, &kube.ChangedError{Object: kube.Ref(ref), Problem: "it has been created since"}
	}
	spec, err := plain(p.Spec)
	if err != nil {
		return nil, &kube.ObjectError{Object: kube.Ref(ref), Err: err}
	}
	if equalJSON(o.Object["spec"], spec) {
		return o, nil
	}
	o.Object["spec"] = spec
	return o, outcome(ref, b.client.Update(ctx, o, client.FieldOwner(FieldManager)))
}

func (o *observation) plans() (err error) {
	o.w.Plans, err = o.Backend.plans(o.ctx, o.w.Namespace)
	return err
}

func (o *observation) subscriptions() error {
	items, err := o.api.List(o.ctx, subscriptions, o.w.Namespace)
	if err != nil {
		return err
	}
	for i := range items {
		s := install.Subscription{Mark: markOf(&items[i])}
		if err := kube.DecodeObject(&items[i], &s.Subscription); err != nil {
			o.passOver(err.(*kube.ObjectError))
			continue
		}
		o.w.Subscriptions = append(o.w.Subscriptions, s)
	}
	return nil
}

func (o *observation) csvs() error {
	items, err := o.api.List(o.ctx, csvs, o.w.Namespace)
	if err != nil {
		return err
	}
	for i := range items {
		c, err := csvOf(&items[i])
		if err != nil {
			return err
		}
		o.w.CSVs = append(o.w.CSVs, c)
	}
	return nil
}

// csvOf decodes a CSV. A copy counts as one from the beginning: its status is
// added by a second write, and without it a copy would be taken for an
// operator.
func csvOf(from *unstructured.Unstructured) (install.CSV, error) {
	c := install.CSV{Mark: markOf(from)}
	if err := kube.DecodeObject(from, &c.ClusterServiceVersion); err != nil {
		return c, err
	}
	if strings.HasPrefix(from.GetAnnotations()[OwnerAnnotation], "namespace/") {
		c.Status.Reason = olm.ReasonCopied
	}
	return c, nil
}

// groups reads the operator groups of all namespaces.
func (o *observation) groups() error {
	items, err := o.list(o.ctx, groups, "")
	if err != nil {
		return err
	}
	for i := range items {
		g := install.OperatorGroup{Mark: markOf(&items[i])}
		if err := kube.DecodeObject(&items[i], &g.OperatorGroup); err != nil {
			if items[i].GetNamespace() == o.w.Namespace {
				return err
			}
			o.passOver(err.(*kube.ObjectError))
			continue
		}
		o.w.Groups = append(o.w.Groups, g)
	}
	return nil
}

func (o *observation) conditions() error {
	items, err := o.api.List(o.ctx, conditions, o.w.Namespace)
	if err != nil {
		return err
	}
	for i := range items {
		c := install.OperatorCondition{Mark: markOf(&items[i])}
		if err := kube.DecodeObject(&items[i], &c.OperatorCondition); err != nil {
			return err // it may report that its operator must not be updated
		}
		o.w.Conditions = append(o.w.Conditions, c)
	}
	return nil
}

// namespaces reads the namespaces, which are needed if a group selects some by
// labels, or all.
func (o *observation) namespaces() error {
	all, err := o.heads(o.ctx, namespaces, "")
	if err != nil {
		return err
	}
	for i := range all {
		o.w.Namespaces = append(o.w.Namespaces, olm.ObjectMeta{Name: all[i].Name, UID: string(all[i].UID), Labels: all[i].Labels})
	}
	return nil
}

// catalogs adds the catalogs of the namespace and of the global one.
func (o *observation) catalogs() error {
	all, err := o.shelf.refresh(o.ctx)
	if err != nil {
		return err
	}
	own, _ := group.Sole(o.ownGroups(), o.w.Namespace)
	o.w.Catalogs = []install.Catalog{}
	for i := range all {
		c := &all[i]
		global := c.Namespace == o.opts.Resolve.GlobalNamespace && !own.ExcludesGlobal()
		if c.Namespace == o.w.Namespace || global {
			o.w.Catalogs = append(o.w.Catalogs, *c)
		}
	}
	for _, err := range o.shelf.passedOver(o.w.Namespace) {
		o.passOver(err)
	}
	return nil
}

// hasGroup reports whether the namespace has an operator group.
func (o *observation) hasGroup() bool {
	return slices.ContainsFunc(o.w.Groups, func(g install.OperatorGroup) bool { return g.Namespace == o.w.Namespace })
}

func (o *observation) ownGroups() []group.OperatorGroup {
	var all []group.OperatorGroup
	for i := range o.w.Groups {
		all = append(all, o.w.Groups[i].OperatorGroup)
	}
	return all
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
