package machines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/document"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/nodes"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
//     being made, disruption budgets, is read from Cache, and so are DaemonSets.
//  2. Each write names what it was decided on: the resourceVersion for changes of
//     the machine, the UID for nodes and pods. What the server refuses is
//     returned as a [*fairlead.RefusedError].
//  3. The finalizer is removed alone, by a patch on the resourceVersion.
type Backend struct {
	Client client.Client // reads and writes, without a cache
	Cache  client.Reader // a cache of machines, nodes, disruption budgets, DaemonSets and namespaces
	// Kind is that of the machines; empty means [Kind]. Those of the Cluster API, see
	// [KindClusterAPI], are observed with their cluster and the objects of providers
	// that they refer to, which are deleted in the place of an instance.
	Kind schema.GroupVersionKind
	// Cloud has the instances. It may be nil in the Cluster API, where the object of
	// the infrastructure stands for the instance.
	Cloud Cloud
	// Gate bounds how many machines are drained at a time, by their labels; nil bounds
	// nothing.
	Gate *drain.Gate
	// Clock tells the Gate the time; nil means [fairlead.SystemClock].
	Clock fairlead.Clock
	// Recorder tells of events on machines. Nil tells nobody.
	Recorder events.EventRecorder
	// Owners returns the last heartbeats of owners of hooks, as far as they are
	// known; see lifecycle.Policy.OwnerTimeout. Nil means that none is.
	Owners func(ctx context.Context, names []string) ([]lifecycle.Owner, error)
	// Namespaces is whether the policy has drain rules that go by labels of
	// namespaces; they are observed for these alone.
	Namespaces bool
	// Facts adds to the World of a machine that is being deleted what only you
	// know: Own, and for machines of the Machine API Cluster and ClusterLabels. Nil
	// means nothing.
	Facts func(ctx context.Context, w *lifecycle.World) error
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
	if b.Cloud != nil {
		if w.Instance, err = b.Cloud.Instance(ctx, w.Machine); err != nil {
			return nil, fmt.Errorf("machine %s: its instance: %w", machine, err)
		}
	}
	if b.clusterAPI() {
		if err := errors.Join(b.provided(ctx, w), b.cluster(ctx, w)); err != nil {
			return nil, fmt.Errorf("machine %s: %w", machine, err)
		}
	}
	if err := b.slots(ctx, w); err != nil {
		return nil, fmt.Errorf("machine %s: %w", machine, err)
	}
	if b.Owners != nil {
		if w.Owners, err = b.Owners(ctx, owners(w.Machine)); err != nil {
			return nil, fmt.Errorf("machine %s: the owners of its hooks: %w", machine, err)
		}
	}
	if err := b.node(ctx, w); err != nil {
		return nil, err
	}
	if w.Node != nil {
		read := nodes.Reader{Client: b.Client, Cache: b.Cache, Namespaces: b.Namespaces}
		if err := read.Pods(ctx, &w.View); err != nil {
			return nil, err
		}
		if err := b.attachments(ctx, w); err != nil {
			return nil, err
		}
	}
	if cloud, ok := b.Cloud.(Stopper); ok && w.Instance == lifecycle.InstanceExists {
		if w.Stopped, err = cloud.Stopped(ctx, w.Machine); err != nil {
			return nil, fmt.Errorf("machine %s: whether its instance runs: %w", machine, err)
		}
	}
	if b.Facts != nil {
		if err := b.Facts(ctx, w); err != nil {
			return nil, fmt.Errorf("machine %s: %w", machine, err)
		}
	}
	return w, nil
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
	d, err := document.Read(u)
	if err != nil {
		return nil, err
	}
	return &d.Machine, nil
}

// kind is that of the machines.
func (b *Backend) kind() schema.GroupVersionKind { return cmp.Or(b.Kind, Kind) }

func (b *Backend) object(ctx context.Context, from client.Reader, name string) (*unstructured.Unstructured, error) {
	namespace, short := kube.SplitName(name)
	u := kube.Stub(b.kind(), namespace, short)
	if err := from.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
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
	candidates := make([]lifecycle.Node, len(all.Items))
	for i := range all.Items {
		candidates[i] = kube.Node(&all.Items[i])
	}
	w.Node = lifecycle.NodeOf(w.Machine, candidates)
	return nil
}
