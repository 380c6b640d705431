package machines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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

// Kind is the kind of machines.
var Kind = schema.GroupVersionKind{Group: "machine.openshift.io", Version: "v1beta1", Kind: "Machine"}

// Backend adapts a cluster and its cloud to package lifecycle. Machines are
// named "namespace/name". Its methods may be called from several goroutines, for
// different machines.
//
//  1. Observations come from Cache as long as every possible action has a
//     precondition, so that stale data does no harm: an eviction names the pod's
//     UID. Conclusions that cannot be undone, that a node is empty, gone or missing,
//     or that the instance may be deleted, are not based on a cache that may lag
//     behind: then machine, node and pods are read from the server, in this order.
//  2. Each write names what its decision was based on: the resourceVersion for
//     changes of the machine, the UID for nodes and pods. If the server refuses
//     it, the error is a [*fairlead.RefusedError].
//  3. The finalizer is removed separately, by a patch with the resourceVersion.
type Backend struct {
	Client client.Client // reads and writes, without a cache
	Cache  client.Reader // a cache of machines, nodes, pods by [NodeIndex], disruption budgets, DaemonSets and namespaces
	// Kind is the kind of the machines; empty means [Kind]. Machines of the Cluster
	// API, see [KindClusterAPI], are observed with their cluster and the provider
	// objects that they refer to, which are deleted in place of an instance.
	Kind schema.GroupVersionKind
	// Cloud accesses the instances. It may be nil with the Cluster API, where the
	// infrastructure object represents the instance.
	Cloud Cloud
	// Gate limits how many machines are drained at a time, by their labels; nil means
	// no limit.
	Gate *drain.Gate
	// Clock is the clock; nil means [fairlead.SystemClock].
	Clock fairlead.Clock
	// Recorder records events on machines. It may be nil.
	Recorder events.EventRecorder
	// Owners returns the last heartbeats of owners of hooks, as far as they are
	// known; see lifecycle.Policy.OwnerTimeout. Nil means that none is known.
	Owners func(ctx context.Context, names []string) ([]lifecycle.Owner, error)
	// Policy is that of the Runner: it determines what is observed, and when a
	// node counts as empty.
	Policy *lifecycle.Policy
	// Facts adds to the World of a machine that is being deleted what only you know:
	// Own, and for machines of the Machine API Cluster and ClusterLabels. It may be
	// called twice for one observation. It may be nil.
	Facts func(ctx context.Context, w *lifecycle.World) error

	outages outages
}

// NodeIndex is the field by which cached pods must be indexed: the name of their
// node.
const NodeIndex = "fairlead.io/node-of-pod"

// Observe implements lifecycle.Backend.
func (b *Backend) Observe(ctx context.Context, machine string) (*lifecycle.World, error) {
	m, err := b.machine(ctx, b.Cache, machine)
	if err != nil || m == nil || !m.Deleting() {
		b.outages.forget(machine)
		return &lifecycle.World{Machine: m}, err // nothing to decide
	}
	around := lifecycle.World{Machine: m}
	if err := b.around(ctx, &around); err != nil {
		return nil, fmt.Errorf("machine %s: %w", machine, err)
	}
	w := around
	if err := b.look(ctx, b.Cache, &w); err != nil {
		return nil, fmt.Errorf("machine %s: %w", machine, err)
	}
	if !b.final(&w) {
		return &w, nil
	}
	w = around
	if w.Machine, err = b.machine(ctx, b.Client, machine); err != nil || w.Machine == nil || !w.Machine.Deleting() {
		return &lifecycle.World{Machine: w.Machine}, err
	}
	if err := b.look(ctx, b.Client, &w); err != nil {
		return nil, fmt.Errorf("machine %s: %w", machine, err)
	}
	return &w, nil
}

// final reports whether the cached observation can lead to more than writes with
// preconditions: that the drain is over, or that the instance is deleted.
func (b *Backend) final(w *lifecycle.World) bool {
	if drained(w.Machine) {
		return w.Instance != lifecycle.InstanceGone
	}
	return w.Node == nil || drain.Pods(drain.Progress{}, &w.View, w.Machine.Labels, b.now(), b.policy()).Done
}

// drained reports whether the drain of a machine is over, according to its
// status.
func drained(m *lifecycle.Machine) bool {
	c := lifecycle.FindCondition(m.Status.Conditions, lifecycle.ConditionDrained)
	return c != nil && c.Status == "True"
}

// policy returns the policy of the drain.
func (b *Backend) policy() *drain.Policy {
	if b.Policy == nil {
		return nil
	}
	return &b.Policy.Drain
}

func (b *Backend) waitsForVolumes() bool { return b.Policy != nil && b.Policy.WaitForVolumes }

func (b *Backend) now() time.Time {
	if b.Clock == nil {
		return fairlead.SystemClock{}.Now()
	}
	return b.Clock.Now()
}

// around fills in everything that is not about the node.
func (b *Backend) around(ctx context.Context, w *lifecycle.World) (err error) {
	if err := b.instance(ctx, w); err != nil {
		return err
	}
	if b.clusterAPI() {
		if err := errors.Join(b.provided(ctx, w), b.cluster(ctx, w)); err != nil {
			return err
		}
	}
	if err := b.slots(ctx, w); err != nil {
		return err
	}
	if b.Owners != nil {
		if w.Owners, err = b.Owners(ctx, owners(w.Machine)); err != nil {
			return fmt.Errorf("the owners of its hooks: %w", err)
		}
	}
	return nil
}

// timeToAsk limits how long the cloud may take to answer one question.
const timeToAsk = 30 * time.Second

// instance asks the cloud about the instance. An outage is a fact: the instance is then
// unknown, so it is neither deleted nor taken for gone, and everything else goes on. The
// error is that of ctx.
func (b *Backend) instance(ctx context.Context, w *lifecycle.World) error {
	name := w.Machine.Namespace + "/" + w.Machine.Name
	if b.Cloud == nil {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, timeToAsk)
	defer cancel()
	is, err := b.Cloud.Instance(asking, w.Machine)
	stopped := false
	if cloud, ok := b.Cloud.(Stopper); ok && err == nil && is == lifecycle.InstanceExists {
		stopped, err = cloud.Stopped(asking, w.Machine)
	}
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	b.outages.note(name, err, b.now())
	if err == nil {
		w.Instance, w.Stopped = is, stopped
	}
	return nil
}

// look fills in the node and what is on it, from either Cache or Client.
func (b *Backend) look(ctx context.Context, from client.Reader, w *lifecycle.World) error {
	if err := b.node(ctx, from, w); err != nil {
		return err
	}
	if w.Node != nil {
		read := nodes.Reader{Client: b.Client, Cache: b.Cache, Namespaces: nodes.NeedsNamespaces(b.policy())}
		pods, on := b.Cache, client.ListOption(client.MatchingFields{NodeIndex: w.Node.Name})
		if from == b.Client && (!drained(w.Machine) || b.waitsForVolumes()) { // after the drain, pods decide only about volumes
			pods, on = b.Client, nodes.On(w.Node.Name)
		}
		if err := read.Pods(ctx, pods, on, &w.View); err != nil {
			return err
		}
		if err := b.attachments(ctx, w); err != nil {
			return err
		}
	}
	if b.Facts != nil {
		return b.Facts(ctx, w)
	}
	return nil
}

// machine reads a machine; nil if there is none.
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

// kind returns the kind of the machines.
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
// runs on another instance; then the one on its instance. Nodes that the cache
// lacks are read from the server, except those of an instance that is gone.
func (b *Backend) node(ctx context.Context, from client.Reader, w *lifecycle.World) error {
	provider := w.Machine.Spec.ProviderID
	if ref := w.Machine.Status.NodeRef; ref != nil {
		var n corev1.Node
		err := from.Get(ctx, client.ObjectKey{Name: ref.Name}, &n)
		if apierrors.IsNotFound(err) && from != b.Client {
			err = b.Client.Get(ctx, client.ObjectKey{Name: ref.Name}, &n)
		}
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
	if err := from.List(ctx, &all); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	candidates := make([]lifecycle.Node, len(all.Items))
	for i := range all.Items {
		candidates[i] = kube.Node(&all.Items[i])
	}
	w.Node = lifecycle.NodeOf(w.Machine, candidates)
	return nil
}
