package quorum

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/document"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/nodes"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/quorum"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Backend adapts a control plane to package lifecycle/quorum. Its methods may be
// called from several goroutines.
//
//  1. Members are read first, then machines, nodes and pods, all of them from the
//     servers: a machine must not be taken for one without a member because of
//     stale data.
//  2. A change of the membership names the observed members, a change of a machine
//     its resourceVersion, the deletion of a pod its UID. If the server refuses it,
//     the error is a [*fairlead.RefusedError].
type Backend struct {
	Client client.Client // reads and writes, without a cache
	Etcd   *Etcd         // required
	// Desired is the desired number of voters.
	Desired int
	// Kind is the kind of machines; empty means machines.Kind.
	Kind schema.GroupVersionKind
	// Namespace contains the machines, and Machines selects those of the control
	// plane; nil means that machines are not managed, see quorum.World.
	Namespace string
	Machines  labels.Selector // see Namespace
	// Nodes selects the nodes of the control plane. Nil means those with the label
	// node-role.kubernetes.io/control-plane.
	Nodes labels.Selector
	// Pods are the etcd pods, and Guards those that a disruption budget counts. Pods
	// that are running and not ready wait to be added.
	Pods, Guards Pods
	// Facts adds what only you know: Busy and Endpoints. It may be nil.
	Facts func(ctx context.Context, w *quorum.World) error
}

// Pods selects pods of a namespace; a nil Selector selects none.
type Pods struct {
	Namespace string          // the namespace of the pods
	Selector  labels.Selector // selects by labels
}

// labelControlPlane is the label of control plane nodes.
const labelControlPlane = "node-role.kubernetes.io/control-plane"

// Observe implements quorum.Backend. etcd that does not answer is a fact, see quorum.World.
func (b *Backend) Observe(ctx context.Context, _ string) (*quorum.World, error) {
	w := &quorum.World{Desired: b.Desired, NoMachines: b.Machines == nil}
	var err error
	if w.Members, w.Revision, err = b.Etcd.Members(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		w.Unanswered = err.Error()
	}
	if err := b.machines(ctx, w); err != nil {
		return nil, err
	}
	cordoned, err := b.hosts(ctx, w)
	if err != nil {
		return nil, err
	}
	guards, err := b.pods(ctx, b.Guards)
	if err != nil {
		return nil, err
	}
	for i := range guards {
		p := &guards[i]
		w.Guards = append(w.Guards, quorum.Guard{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), Node: p.Spec.NodeName, Cordoned: cordoned[p.Spec.NodeName]})
	}
	if b.Facts != nil {
		return w, b.Facts(ctx, w)
	}
	return w, nil
}

func (b *Backend) kind() schema.GroupVersionKind { return cmp.Or(b.Kind, machines.Kind) }

func (b *Backend) machines(ctx context.Context, w *quorum.World) error {
	if b.Machines == nil {
		return nil
	}
	all := kube.ListOf(b.kind())
	if err := b.Client.List(ctx, all, client.InNamespace(b.Namespace), client.MatchingLabelsSelector{Selector: b.Machines}); err != nil {
		return fmt.Errorf("list machines: %w", err)
	}
	for i := range all.Items {
		d, err := document.Read(&all.Items[i])
		if err != nil {
			return err
		}
		w.Machines = append(w.Machines, d.Machine)
	}
	return nil
}

// hosts fills in the nodes of the control plane, and returns which of them are
// cordoned.
func (b *Backend) hosts(ctx context.Context, w *quorum.World) (cordoned map[string]bool, err error) {
	pods, err := b.pods(ctx, b.Pods)
	if err != nil {
		return nil, err
	}
	waiting := map[string]bool{}
	for i := range pods {
		p := kube.Pod(&pods[i])
		waiting[p.Spec.NodeName] = waiting[p.Spec.NodeName] || p.Status.Phase == "Running" && !p.Ready()
	}
	var opt client.ListOption = client.HasLabels{labelControlPlane}
	if b.Nodes != nil {
		opt = client.MatchingLabelsSelector{Selector: b.Nodes}
	}
	var all corev1.NodeList
	if err := b.Client.List(ctx, &all, opt); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	cordoned = map[string]bool{}
	for i := range all.Items {
		n := &all.Items[i]
		cordoned[n.Name] = n.Spec.Unschedulable
		h := quorum.Host{Node: n.Name, Deleting: n.DeletionTimestamp != nil, Waiting: waiting[n.Name]}
		for _, a := range n.Status.Addresses {
			if a.Type == corev1.NodeInternalIP {
				h.Addresses = append(h.Addresses, a.Address)
			}
		}
		w.Hosts = append(w.Hosts, h)
	}
	return cordoned, nil
}

func (b *Backend) pods(ctx context.Context, of Pods) ([]corev1.Pod, error) {
	if of.Selector == nil {
		return nil, nil
	}
	var all corev1.PodList
	if err := b.Client.List(ctx, &all, client.InNamespace(of.Namespace), client.MatchingLabelsSelector{Selector: of.Selector}); err != nil {
		return nil, fmt.Errorf("list pods of %s: %w", of.Namespace, err)
	}
	return all.Items, nil
}

// Apply implements quorum.Backend.
func (b *Backend) Apply(ctx context.Context, _ string, action quorum.Action) error {
	switch a := action.(type) {
	case quorum.SetHook:
		return nodes.Refused(b.hooks(ctx, a.Machine, func(m *lifecycle.Machine) {
			if m.Deleting() {
				return
			}
			list := &m.Spec.LifecycleHooks.PreDrain
			if i := named(*list, a.Hook.Name); i >= 0 {
				(*list)[i] = a.Hook
			} else {
				*list = append(*list, a.Hook)
			}
		}))
	case quorum.RemoveHook:
		return nodes.Refused(b.hooks(ctx, a.Machine, func(m *lifecycle.Machine) {
			list := &m.Spec.LifecycleHooks.PreDrain
			if i := named(*list, a.Hook.Name); i >= 0 && (*list)[i] == a.Hook {
				*list = slices.Delete(*list, i, i+1)
			}
		}))
	case quorum.DeleteGuard:
		uid := types.UID(a.UID)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: a.Name}}
		return nodes.Refused(client.IgnoreNotFound(b.Client.Delete(ctx, pod, client.Preconditions{UID: &uid})))
	}
	return b.Etcd.Apply(ctx, action)
}

func named(hooks []lifecycle.Hook, name string) int {
	return slices.IndexFunc(hooks, func(h lifecycle.Hook) bool { return h.Name == name })
}

// hooks changes the hooks of a machine, provided that nothing else has
// written meanwhile. A machine that is gone has no hooks.
func (b *Backend) hooks(ctx context.Context, name string, edit func(*lifecycle.Machine)) error {
	namespace, short := kube.SplitName(name)
	u := kube.Stub(b.kind(), namespace, short)
	if err := b.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
		return client.IgnoreNotFound(err)
	}
	after, err := document.Edit(u, edit)
	if err != nil || equality.Semantic.DeepEqual(u.Object, after.Object) {
		return err
	}
	patch := client.MergeFromWithOptions(u, client.MergeFromWithOptimisticLock{})
	return client.IgnoreNotFound(b.Client.Patch(ctx, after, patch))
}
