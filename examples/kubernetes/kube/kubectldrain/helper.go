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
	// EvictionSubresource is the subresource for evictions.
	EvictionSubresource = "pods/eviction"
)

// Values of [Helper].DryRunStrategy.
const (
	DryRunNone   = 0 // no dry run
	DryRunClient = 1 // no requests for changes
	DryRunServer = 2 // requests that the server does not carry out
)

// Helper configures a drain. Its fields are those of kubectl's Helper.
type Helper struct {
	Ctx    context.Context      // nil means context.Background
	Client kubernetes.Interface // required
	Force  bool                 // also evict pods without a controller
	// GracePeriodSeconds is the grace period of each pod. 0 means immediately; a
	// negative number means the pod's own.
	GracePeriodSeconds  int
	IgnoreAllDaemonSets bool          // leave pods of DaemonSets alone; otherwise they are an error
	Timeout             time.Duration // for the whole drain; 0 means no limit
	DeleteEmptyDirData  bool          // also evict pods with an emptyDir
	Selector            string        // of nodes; for the caller
	PodSelector         string        // of pods, by their labels; the others stay
	ChunkSize           int64         // the page size of lists; 0 means no limit
	DisableEviction     bool          // delete pods instead, regardless of their budgets
	// SkipWaitForDeleteTimeoutSeconds is how long to wait for a pod after its
	// deletion timestamp; 0 means no limit.
	SkipWaitForDeleteTimeoutSeconds int
	// EvictErrorRetryDelay is the delay before the first retry of a refused eviction.
	// 0 means five seconds.
	EvictErrorRetryDelay time.Duration
	// AdditionalFilters run after the built-in ones. The first filter that does
	// not delete a pod decides.
	AdditionalFilters []PodFilter

	Out    io.Writer // receives progress messages; may be nil
	ErrOut io.Writer // receives warnings; may be nil

	// DryRunStrategy is the kind of dry run: a constant of this package, or of
	// k8s.io/kubectl/pkg/cmd/util. Nil means DryRunNone.
	DryRunStrategy any

	// OnPodDeletedOrEvicted is called when a pod is gone.
	OnPodDeletedOrEvicted func(pod *corev1.Pod, usingEviction bool)
	// OnPodDeletionOrEvictionFinished is called when a pod is gone, or could
	// not be removed.
	OnPodDeletionOrEvictionFinished func(pod *corev1.Pod, usingEviction bool, err error)
	// OnPodDeletionOrEvictionStarted is called when the deletion or eviction of
	// a pod is first requested.
	OnPodDeletionOrEvictionStarted func(pod *corev1.Pod, usingEviction bool)

	// TryNever makes the Helper wait even for pods that can never be evicted: their
	// budgets may be changed meanwhile. Kubectl's Helper does not have this field,
	// and always waits.
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

// CheckEvictionSupport returns the version of the server's eviction API; empty
// if it has none.
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

// options returns the options of a deletion. The UID of the pod, if it is
// set, is a precondition.
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

// DeletePod deletes a pod, regardless of its budgets.
func (d *Helper) DeletePod(pod corev1.Pod) error {
	return d.Client.CoreV1().Pods(pod.Namespace).Delete(d.context(), pod.Name, d.options(&pod))
}

// EvictPod requests the eviction of a pod, once.
func (d *Helper) EvictPod(pod corev1.Pod, evictionGroupVersion schema.GroupVersion) error {
	options := d.options(&pod)
	meta := metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}
	if evictionGroupVersion == policyv1beta1.SchemeGroupVersion {
		return d.Client.PolicyV1beta1().Evictions(pod.Namespace).Evict(d.context(), &policyv1beta1.Eviction{ObjectMeta: meta, DeleteOptions: &options})
	}
	return d.Client.PolicyV1().Evictions(pod.Namespace).Evict(d.context(), &policyv1.Eviction{ObjectMeta: meta, DeleteOptions: &options})
}
