package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
)

// KubeletUser is the name of the user for requests of [Kubelets], which
// distinguishes them from requests of the tested program.
const KubeletUser = "e2e-kubelets"

// KubeletOptions configures [Kubelets]. The zero value is usable.
type KubeletOptions struct {
	// Starting is how long it takes from a pod's creation until it runs.
	Starting time.Duration
	// Ending returns how long the processes of a pod take to end after they
	// were told to, at most the pod's grace period. nil means at once, like
	// well-behaved processes.
	Ending func(*corev1.Pod) time.Duration
	// Unscheduled leaves pods without a node alone. Otherwise the scheduler
	// is also simulated: see [Kubelets].
	Unscheduled bool
}

// Kubelets simulates the kubelets of a cluster: no container ever runs. Of
// all pods on all nodes,
//
//  1. a pod on a node becomes Running and Ready;
//  2. one that runs to completion (restartPolicy Never or OnFailure) then
//     becomes Succeeded;
//  3. one that is being deleted is removed when its processes have ended or its
//     grace period is over, by a deletion without a grace period and with its
//     UID as precondition; so is one without a grace period that the server
//     marked but did not remove;
//  4. pods of a node that does not exist, or whose Ready condition is Unknown
//     or missing, are left as they are, because they have no kubelet.
//
// The scheduler is simulated by binding pods, in turn, to nodes that are Ready
// and schedulable, have the labels that the pod's selector and required
// affinity demand, and whose NoSchedule and NoExecute taints it tolerates.
// Resources and affinity between pods are ignored.
//
// Nodes do not report by themselves: a test sets what they report with
// [Kubelets.AddNode] and [Kubelets.Report].
type Kubelets struct {
	opts   KubeletOptions
	client kubernetes.Interface
	pods   cache.Indexer
	nodes  listers.NodeLister
	queue  workqueue.TypedRateLimitingInterface[string] // keys of pods

	cancel  context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex
	turn      int      // counts the pods bound
	addresses int      // counts addresses given to pods
	ending    []func() // functions to call besides cancel at the end
}

// The name and the function of the index of pods by node; pods without a node
// are indexed under "".
const byNode = "node"

func nodeOf(object any) ([]string, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("%T is not a pod", object)
	}
	return []string{pod.Spec.NodeName}, nil
}

// kubeletWorkers is how many pods are handled concurrently.
const kubeletWorkers = 8

// PlayKubelets simulates kubelets until ctx is done or the cluster is
// stopped. It can be called only once for a cluster. opts may be nil.
func (c *Cluster) PlayKubelets(ctx context.Context, opts *KubeletOptions) (*Kubelets, error) {
	config, err := c.ConfigForUser(KubeletUser, "system:masters")
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	k := &Kubelets{
		client: client,
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](20*time.Millisecond, time.Second)),
	}
	if opts != nil {
		k.opts = *opts
	}
	ctx, k.cancel = context.WithCancel(ctx)
	if err := k.begin(ctx); err != nil {
		k.stop()
		return nil, fmt.Errorf("simulating kubelets: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped || c.kubelets != nil {
		k.stop()
		return nil, errors.New("simulating kubelets: the cluster is stopped, or already has kubelets")
	}
	c.kubelets = k
	return k, nil
}

// begin starts the watches and the workers.
func (k *Kubelets) begin(ctx context.Context) error {
	factory := informers.NewSharedInformerFactory(k.client, 0)
	pods := factory.Core().V1().Pods().Informer()
	nodes := factory.Core().V1().Nodes()
	k.pods, k.nodes = pods.GetIndexer(), nodes.Lister()
	err := errors.Join(
		pods.AddIndexers(cache.Indexers{byNode: nodeOf}),
		handle(pods, func(object any) { k.add(object) }),
		handle(nodes.Informer(), k.addPodsOf),
	)
	if err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	k.running.Go(func() {
		<-ctx.Done()
		k.queue.ShutDown()
		factory.Shutdown()
	})
	if synced := factory.WaitForCacheSyncWithContext(ctx); synced.Err != nil {
		return synced.Err
	}
	for range kubeletWorkers {
		k.running.Go(func() { k.work(ctx) })
	}
	return nil
}

// handle calls do for objects that are added, changed or deleted.
func handle(informer cache.SharedIndexInformer, do func(object any)) error {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    do,
		UpdateFunc: func(_, object any) { do(object) },
		DeleteFunc: func(object any) {
			if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = last.Obj
			}
			do(object)
		},
	})
	return err
}

// add queues a pod.
func (k *Kubelets) add(object any) {
	key, err := cache.MetaNamespaceKeyFunc(object)
	if err != nil {
		utilruntime.HandleError(err)
		return
	}
	k.queue.Add(key)
}

// addPodsOf queues the pods that a change of a node may affect.
func (k *Kubelets) addPodsOf(object any) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return
	}
	for _, name := range []string{node.Name, ""} {
		pods, err := k.pods.ByIndex(byNode, name)
		if err != nil {
			utilruntime.HandleError(err)
			return
		}
		for _, pod := range pods {
			k.add(pod)
		}
	}
}

// work handles pods until the queue is shut down.
func (k *Kubelets) work(ctx context.Context) {
	for {
		key, shutdown := k.queue.Get()
		if shutdown {
			return
		}
		again, err := k.look(ctx, key)
		switch {
		case err == nil:
			k.queue.Forget(key)
			if again > 0 {
				k.queue.AddAfter(key, again)
			}
		case apierrors.IsNotFound(err):
			k.queue.Forget(key) // the pod or its namespace is gone
		default:
			// Refusals by the server are worth reporting; outages and conflicts
			// are not.
			if apierrors.ReasonForError(err) != metav1.StatusReasonUnknown && !apierrors.IsConflict(err) {
				utilruntime.HandleErrorWithContext(ctx, err, "Simulating the kubelet of a pod", "pod", key)
			}
			k.queue.AddRateLimited(key)
		}
		k.queue.Done(key)
	}
}

// stop ends the simulation and waits until all of it has ended.
func (k *Kubelets) stop() {
	k.cancel()
	k.mu.Lock()
	ending := k.ending
	k.mu.Unlock()
	for _, end := range ending {
		end()
	}
	k.running.Wait()
}

// AddNode creates a node with these labels whose kubelet reports that it is
// ready, with room for 1,000 pods.
func (k *Kubelets) AddNode(ctx context.Context, name string, labels map[string]string) error {
	room := corev1.ResourceList{
		corev1.ResourcePods:   resource.MustParse("1000"),
		corev1.ResourceCPU:    resource.MustParse("1000"),
		corev1.ResourceMemory: resource.MustParse("1Ti"),
	}
	_, err := k.client.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status: corev1.NodeStatus{
			Capacity:    room,
			Allocatable: room,
			Conditions:  []corev1.NodeCondition{readyCondition(corev1.ConditionTrue)},
		},
	}, metav1.CreateOptions{})
	return err
}

// Report sets a node's Ready condition: to True; to False, if its kubelet
// reports a problem; or to Unknown, if its kubelet is silent, and then its pods
// stay as they are.
func (k *Kubelets) Report(ctx context.Context, name string, ready corev1.ConditionStatus) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := k.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if reports(node) == ready {
			return nil
		}
		node.Status.Conditions = append(slices.DeleteFunc(node.Status.Conditions, isReady), readyCondition(ready))
		_, err = k.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
		return err
	})
}

// readyCondition returns the condition Ready with the reasons that Kubernetes
// uses.
func readyCondition(status corev1.ConditionStatus) corev1.NodeCondition {
	reason := map[corev1.ConditionStatus]string{
		corev1.ConditionTrue:    "KubeletReady",
		corev1.ConditionFalse:   "KubeletNotReady",
		corev1.ConditionUnknown: "NodeStatusUnknown",
	}[status]
	now := metav1.Now()
	return corev1.NodeCondition{
		Type:               corev1.NodeReady,
		Status:             status,
		Reason:             reason,
		Message:            "simulated by the test",
		LastHeartbeatTime:  now,
		LastTransitionTime: now,
	}
}

func isReady(condition corev1.NodeCondition) bool { return condition.Type == corev1.NodeReady }

// reports returns the status of the node's Ready condition; Unknown if it has
// none.
func reports(node *corev1.Node) corev1.ConditionStatus {
	i := slices.IndexFunc(node.Status.Conditions, isReady)
	if i < 0 {
		return corev1.ConditionUnknown
	}
	return node.Status.Conditions[i].Status
}
