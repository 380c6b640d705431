package kubectldrain

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
)

const (
	// EvictionKind is the kind of evictions.
	EvictionKind = "Eviction"
	// EvictionSubresource is where they are asked for.
	EvictionSubresource = "pods/eviction"
)

// What is only tried, in [Helper].DryRunStrategy.
const (
	DryRunNone   = 0 // nothing: all is done
	DryRunClient = 1 // all: nothing is asked for
	DryRunServer = 2 // the server is asked, and does nothing
)

// Helper says how to drain. Its fields are those of kubectl's.
type Helper struct {
	Ctx    context.Context      // nil means the background
	Client kubernetes.Interface // must not be nil
	Force  bool                 // evict pods that no controller replaces, too
	// GracePeriodSeconds is how long each pod may take to end. 0 is not a time at all;
	// a negative number means the pod's own.
	GracePeriodSeconds  int
	IgnoreAllDaemonSets bool          // leave pods of DaemonSets alone; or else they are an error
	Timeout             time.Duration // how long it may take in all; 0 means forever
	DeleteEmptyDirData  bool          // evict pods with an emptyDir, too
	Selector            string        // of nodes; for the caller
	PodSelector         string        // of pods, by their labels; the others stay
	ChunkSize           int64         // how many objects a list may have; 0 means all
	DisableEviction     bool          // delete pods instead, whatever their budgets say
	// SkipWaitForDeleteTimeoutSeconds is how long after its deletion timestamp a pod
	// is waited for; 0 means forever.
	SkipWaitForDeleteTimeoutSeconds int
	// EvictErrorRetryDelay is how long after an eviction that was refused it is asked
	// for again first. 0 means five seconds.
	EvictErrorRetryDelay time.Duration
	// AdditionalFilters come behind those that there are. The first filter that
	// does not want a pod gone decides.
	AdditionalFilters []PodFilter

	Out    io.Writer // is told what happens; nil for nobody
	ErrOut io.Writer // is warned; nil for nobody

	// DryRunStrategy is how much is only tried: a number of this package, or of
	// k8s.io/kubectl/pkg/cmd/util. Nil means DryRunNone.
	DryRunStrategy any

	// OnPodDeletedOrEvicted is called when a pod is gone.
	OnPodDeletedOrEvicted func(pod *corev1.Pod, usingEviction bool)
	// OnPodDeletionOrEvictionFinished is called when a pod is gone, or will not go.
	OnPodDeletionOrEvictionFinished func(pod *corev1.Pod, usingEviction bool, err error)
	// OnPodDeletionOrEvictionStarted is called when a pod is first told to go.
	OnPodDeletionOrEvictionStarted func(pod *corev1.Pod, usingEviction bool)

	// TryNever has pods that no waiting helps waited for like others: somebody may
	// change their budgets meanwhile. Kubectl's helper has no such field, and always
	// does.
	TryNever bool
}

// dryRun returns the strategy.
func (d *Helper) dryRun() int {
	if v := reflect.ValueOf(d.DryRunStrategy); v.IsValid() && v.CanInt() {
		return int(v.Int())
	}
	return DryRunNone
}

func (d *Helper) context() context.Context {
	if d.Ctx != nil {
		return d.Ctx
	}
	return context.Background()
}

func (d *Helper) tell(format string, args ...any) {
	if d.Out != nil {
		fmt.Fprintf(d.Out, format+"\n", args...)
	}
}

// CheckEvictionSupport returns the version of evictions that the server has, and
// the empty one if it has none.
func CheckEvictionSupport(clientset kubernetes.Interface) (schema.GroupVersion, error) {
	resources, err := clientset.Discovery().ServerResourcesForGroupVersion("v1")
	if err != nil {
		return schema.GroupVersion{}, err
	}
	for _, r := range resources.APIResources {
		if r.Name == EvictionSubresource && r.Kind == EvictionKind && r.Group != "" && r.Version != "" {
			return schema.GroupVersion{Group: r.Group, Version: r.Version}, nil
		}
	}
	return schema.GroupVersion{}, nil
}

// options are those of a deletion. uid is of the pod that is meant; "" for
// whichever has the name.
func (d *Helper) options(pod *corev1.Pod) metav1.DeleteOptions {
	var o metav1.DeleteOptions
	if d.GracePeriodSeconds >= 0 {
		seconds := int64(d.GracePeriodSeconds)
		o.GracePeriodSeconds = &seconds
	}
	if pod.UID != "" {
		uid := pod.UID
		o.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	if d.dryRun() == DryRunServer {
		o.DryRun = []string{metav1.DryRunAll}
	}
	return o
}

// DeletePod deletes a pod, whatever its budgets say.
func (d *Helper) DeletePod(pod corev1.Pod) error {
	return d.Client.CoreV1().Pods(pod.Namespace).Delete(d.context(), pod.Name, d.options(&pod))
}

// EvictPod asks for the eviction of a pod, once.
func (d *Helper) EvictPod(pod corev1.Pod, evictionGroupVersion schema.GroupVersion) error {
	options := d.options(&pod)
	meta := metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}
	if evictionGroupVersion == policyv1beta1.SchemeGroupVersion {
		return d.Client.PolicyV1beta1().Evictions(pod.Namespace).Evict(d.context(), &policyv1beta1.Eviction{ObjectMeta: meta, DeleteOptions: &options})
	}
	return d.Client.PolicyV1().Evictions(pod.Namespace).Evict(d.context(), &policyv1.Eviction{ObjectMeta: meta, DeleteOptions: &options})
}
