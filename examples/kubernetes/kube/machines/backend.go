package machines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/lifecycle"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kind is that of machines.
var Kind = schema.GroupVersionKind{Group: "machine.openshift.io", Version: "v1beta1", Kind: "Machine"}

// Backend is a cluster with its cloud, as package lifecycle needs it. Machines
// are named "namespace/name". Its methods may be called from several goroutines,
// for different machines.
//
//  1. A machine that is not being deleted is observed from Cache, and nothing
//     else of it: there is nothing to decide. Of one that is, machine, node and
//     pods are read from the server, in this order: that no pod is left must not
//     be concluded from a cache that lags. What only keeps useless requests from
//     being made, disruption budgets, is read from Cache.
//  2. Each write names what it was decided on: the resourceVersion for changes of
//     the machine, the UID for nodes and pods. What the server refuses is
//     returned as a [*fairlead.RefusedError].
//  3. The finalizer is removed alone, by a patch on the resourceVersion.
type Backend struct {
	Client client.Client // reads and writes, without a cache
	Cache  client.Reader // a cache of machines and disruption budgets
	Cloud  Cloud
	// Recorder tells of events on machines. Nil tells nobody.
	Recorder events.EventRecorder
	// Owners returns the last signs of life of owners of hooks, as far as they are
	// known; see lifecycle.Policy.OwnerTimeout. Nil means that none is.
	Owners func(ctx context.Context, names []string) ([]lifecycle.Owner, error)
	// Volumes is whether the policy waits for volumes; they are observed for it
	// alone.
	Volumes bool
}

// Observe implements lifecycle.Backend.
func (b *Backend) Observe(ctx context.Context, machine string) (*lifecycle.World, error) {
	w := new(lifecycle.World)
	m, err := b.machine(ctx, b.Cache, machine)
	if err != nil || m == nil || !m.Deleting() {
		w.Machine = m
		return w, err
	}
	if w.Machine, err = b.machine(ctx, b.Client, machine); err != nil || w.Machine == nil || !w.Machine.Deleting() {
		return w, err
	}
	if w.Instance, err = b.Cloud.Instance(ctx, w.Machine); err != nil {
		return nil, fmt.Errorf("machine %s: its instance: %w", machine, err)
	}
	if b.Owners != nil {
		if w.Owners, err = b.Owners(ctx, owners(w.Machine)); err != nil {
			return nil, fmt.Errorf("machine %s: the owners of its hooks: %w", machine, err)
		}
	}
	if err := b.node(ctx, w); err != nil {
		return nil, err
	}
	if w.Node == nil {
		return w, nil
	}
	if err := b.pods(ctx, w); err != nil {
		return nil, err
	}
	return w, b.attachments(ctx, w)
}

// machine reads a machine, nil if there is none.
func (b *Backend) machine(ctx context.Context, from client.Reader, name string) (*lifecycle.Machine, error) {
	u, err := b.object(ctx, from, name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := new(lifecycle.Machine)
	return m, kube.Decode(u, m)
}

func (b *Backend) object(ctx context.Context, from client.Reader, name string) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(Kind)
	namespace, short := kube.SplitName(name)
	if err := from.Get(ctx, client.ObjectKey{Namespace: namespace, Name: short}, u); err != nil {
		return nil, fmt.Errorf("machine %s: get: %w", name, err)
	}
	return u, nil
}

func owners(m *lifecycle.Machine) []string {
	var names []string
	for _, h := range slices.Concat(m.Spec.LifecycleHooks.PreDrain, m.Spec.LifecycleHooks.PreTerminate) {
		if !slices.Contains(names, h.Owner) {
			names = append(names, h.Owner)
		}
	}
	return names
}

// node fills in the machine's node: the one that it names, unless that is gone or
// runs on another instance; then the one on its instance.
func (b *Backend) node(ctx context.Context, w *lifecycle.World) error {
	provider := w.Machine.Spec.ProviderID
	if ref := w.Machine.Status.NodeRef; ref != nil {
		var n corev1.Node
		err := b.Client.Get(ctx, client.ObjectKey{Name: ref.Name}, &n)
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("node %s: get: %w", ref.Name, err)
		}
		if err == nil {
			converted := kube.Node(&n)
			w.Node = &converted
			if provider == "" || n.Spec.ProviderID == provider {
				return nil
			}
		}
	}
	if provider == "" {
		return nil
	}
	var all corev1.NodeList
	if err := b.Client.List(ctx, &all); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	nodes := make([]lifecycle.Node, len(all.Items))
	for i := range all.Items {
		nodes[i] = kube.Node(&all.Items[i])
	}
	w.Node = lifecycle.NodeOf(w.Machine, nodes)
	return nil
}

// pods fills in the pods of the node and what guards them.
func (b *Backend) pods(ctx context.Context, w *lifecycle.World) error {
	var pods corev1.PodList
	on := client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("spec.nodeName", w.Node.Name)}
	if err := b.Client.List(ctx, &pods, on); err != nil {
		return fmt.Errorf("node %s: list its pods: %w", w.Node.Name, err)
	}
	seen := map[string]bool{}
	for i := range pods.Items {
		p := kube.Pod(&pods.Items[i])
		w.Pods = append(w.Pods, p)
		if seen[p.Namespace] {
			continue
		}
		seen[p.Namespace] = true
		var budgets policyv1.PodDisruptionBudgetList
		if err := b.Cache.List(ctx, &budgets, client.InNamespace(p.Namespace)); err != nil {
			return fmt.Errorf("list disruption budgets of %s: %w", p.Namespace, err)
		}
		for i := range budgets.Items {
			w.Budgets = append(w.Budgets, kube.Budget(&budgets.Items[i]))
		}
	}
	return nil
}

// refused tells what the server has refused as the engine's error; other errors
// stay as they are.
func refused(err error) error {
	var status apierrors.APIStatus
	if err == nil || !errors.As(err, &status) {
		return err
	}
	s := status.Status()
	r := &fairlead.RefusedError{Code: int(s.Code), Message: s.Message}
	if s.Details != nil {
		r.RetryAfter = time.Duration(s.Details.RetryAfterSeconds) * time.Second
	}
	return r
}
