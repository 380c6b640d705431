package machines

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/taints"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// taintsOn is the field by which cached machines are indexed: the name of their node.
const taintsOn = "fairlead.io/taints-on"

// Taints puts the taints of machines on their nodes, by the rule of their API:
// [taints.AddMachineTaints] for the Machine API, [taints.SyncMachineTaints] for the Cluster
// API. It implements reconcile.Reconciler for machines.
type Taints struct {
	Client client.Client           // reads and writes nodes, without a cache
	Cache  client.Reader           // reads machines and nodes
	Kind   schema.GroupVersionKind // of the machines; empty means [Kind]
}

func (t *Taints) kind() schema.GroupVersionKind {
	if t.Kind.Empty() {
		return Kind
	}
	return t.Kind
}

// Reconcile writes the taints of one machine to its node, if they differ. A machine that
// is being deleted, or has no node, is left alone, and so is a node of another UID.
func (t *Taints) Reconcile(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	u := kube.Stub(t.kind(), "", "")
	if err := t.Cache.Get(ctx, r.NamespacedName, u); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	name, _, _ := unstructured.NestedString(u.Object, "status", "nodeRef", "name")
	uid, _, _ := unstructured.NestedString(u.Object, "status", "nodeRef", "uid")
	if name == "" || u.GetDeletionTimestamp() != nil {
		return reconcile.Result{}, nil
	}
	var m struct {
		Spec struct {
			Taints []taints.MachineTaint `json:"taints"`
		} `json:"spec"`
	}
	text, err := u.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("machine %s: spec.taints: %w", r.NamespacedName, err)
	}
	for _, from := range []client.Reader{t.Cache, t.Client} { // the cache may be stale
		if err = t.write(ctx, from, name, uid, m.Spec.Taints); !apierrors.IsConflict(err) {
			break
		}
	}
	if err = client.IgnoreNotFound(err); err != nil {
		return reconcile.Result{}, fmt.Errorf("machine %s: taints of node %s: %w", r.NamespacedName, name, err)
	}
	return reconcile.Result{}, nil
}

// write writes the taints to a node, provided that nothing else has written meanwhile.
func (t *Taints) write(ctx context.Context, from client.Reader, name, uid string, machine []taints.MachineTaint) error {
	var n corev1.Node
	if err := from.Get(ctx, client.ObjectKey{Name: name}, &n); err != nil || uid != "" && uid != string(n.UID) {
		return err
	}
	before := n.DeepCopy()
	if differs, err := t.edit(&n, machine); err != nil || !differs {
		return err
	}
	return t.Client.Patch(ctx, &n, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// edit gives a node the taints of its machine, and reports whether it lacked any.
func (t *Taints) edit(n *corev1.Node, machine []taints.MachineTaint) (differs bool, err error) {
	if t.kind().Group != KindClusterAPI.Group {
		var list []fairlead.Taint
		for _, m := range machine {
			list = append(list, fairlead.Taint{Key: m.Key, Value: m.Value, Effect: m.Effect})
		}
		all, differs := taints.AddMachineTaints(kube.Taints(n.Spec.Taints), list)
		if differs {
			n.Spec.Taints = kube.FromTaints(all)
		}
		return differs, nil
	}
	node := kube.Node(n)
	s, err := taints.SyncMachineTaints(&node, machine)
	if err != nil || !s.Changed {
		return false, err
	}
	n.Spec.Taints = kube.FromTaints(s.Taints)
	if n.Annotations == nil {
		n.Annotations = map[string]string{}
	}
	n.Annotations[taints.AnnotationMachineTaints] = s.Annotation
	return true, nil
}

// setup adds the controller to a manager. A machine is looked at when it or
// its node changes.
func (t *Taints) setup(ctx context.Context, mgr ctrl.Manager) error {
	machine := kube.Stub(t.kind(), "", "")
	err := mgr.GetFieldIndexer().IndexField(ctx, machine, taintsOn, func(o client.Object) []string {
		name := ""
		if u, ok := o.(*unstructured.Unstructured); ok {
			name, _, _ = unstructured.NestedString(u.Object, "status", "nodeRef", "name")
		}
		if name == "" {
			return nil
		}
		return []string{name}
	})
	if err != nil {
		return err
	}
	ofNode := func(ctx context.Context, o client.Object) (out []reconcile.Request) {
		list := kube.ListOf(t.kind())
		if err := t.Cache.List(ctx, list, client.MatchingFields{taintsOn: o.GetName()}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "machines of the node", "node", o.GetName())
		}
		for i := range list.Items {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
		return out
	}
	return ctrl.NewControllerManagedBy(mgr).Named("fairlead-machine-taints").
		For(machine, builder.WithPredicates(kube.Decisive())).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(ofNode), builder.WithPredicates(kube.Decisive())).
		Complete(t)
}
