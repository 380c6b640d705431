package kubectldrain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/nodes"
	"github.com/fairlead/fairlead/lifecycle/drain"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// NeverError reports that pods cannot be evicted, no matter how long one waits.
// Nothing was evicted.
type NeverError struct {
	Blocks []fairlead.Block // one for each pod: why, who can change that, and how
}

// Error names the pods, why they stay, and what to do.
func (e *NeverError) Error() string {
	var texts []string
	for _, b := range e.Blocks {
		texts = append(texts, b.Message+"; to unblock: "+b.Unblock)
	}
	return fmt.Sprintf("the node cannot be drained, and waiting does not help; no pod was evicted: %s", strings.Join(texts, ". "))
}

// interval is how often the pods of a node are listed, except at first: pods that
// end at once are noticed at once.
const interval = time.Second

// DeleteOrEvictPods evicts pods, or deletes them if the server does not support
// evictions or DisableEviction is set, and returns when they are gone. The errors
// of pods that cannot be removed are collected; the others are evicted anyway.
func (d *Helper) DeleteOrEvictPods(pods []corev1.Pod) error {
	if len(pods) == 0 || d.dryRun() == DryRunClient {
		return nil
	}
	r := &run{Helper: d, begin: time.Now(), nodes: map[string]*node{}, started: map[string]bool{}}
	if !d.DisableEviction {
		var err error
		if r.version, err = CheckEvictionSupport(d.Client); err != nil {
			return err
		}
	}
	if d.dryRun() == DryRunServer {
		return r.try(pods)
	}
	for _, pod := range pods {
		n := r.nodes[pod.Spec.NodeName]
		if n == nil {
			n = &node{left: map[string]corev1.Pod{}}
			r.nodes[pod.Spec.NodeName] = n
		}
		n.left[keyOf(&pod)] = pod
	}
	r.total = len(pods)
	return r.drain()
}

// keyOf returns a unique key of a pod. Pods constructed by a caller may have no
// UID.
func keyOf(pod *corev1.Pod) string {
	if pod.UID != "" {
		return string(pod.UID)
	}
	return pod.Namespace + "/" + pod.Name
}

// run is one call of DeleteOrEvictPods.
type run struct {
	*Helper
	begin   time.Time
	version schema.GroupVersion // of the eviction API; empty if pods are deleted
	nodes   map[string]*node    // by name
	started map[string]bool     // pods whose removal was requested, by key
	total   int
	errs    []error
	told    string // the last reported progress
}

// node is one of the nodes of the pods.
type node struct {
	left     map[string]corev1.Pod // pods to remove, by key
	progress drain.Progress
	outcomes []fairlead.Outcome
}

func (r *run) evicts() bool { return !r.version.Empty() }

// try makes a dry run on the server.
func (r *run) try(pods []corev1.Pod) error {
	for i := range pods {
		r.start(&pods[i])
		if err := r.remove(&pods[i]); err != nil && !apierrors.IsNotFound(err) {
			r.errs = append(r.errs, r.problem(&pods[i], err))
		}
	}
	return utilerrors.NewAggregate(r.errs)
}

// drain continues until no pod is left.
func (r *run) drain() error {
	ctx := r.context()
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
	}
	pause := interval / 20
	for first := true; ; first = false {
		waits, done, err := r.pass(ctx, first)
		switch {
		case err != nil && ctx.Err() == nil:
			return err
		case err == nil && done:
			return utilerrors.NewAggregate(r.errs)
		case err == nil:
			r.report(waits)
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, interval)
		case <-ctx.Done():
			return r.stopped(ctx)
		}
	}
}

// stopped returns why the drain was given up.
func (r *run) stopped(ctx context.Context) error {
	err := ctx.Err()
	if r.context().Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("global timeout reached: %v", r.Timeout)
	}
	if r.told != "" {
		err = fmt.Errorf("%w: %s", err, r.told)
	}
	for _, name := range slices.Sorted(maps.Keys(r.nodes)) {
		for _, pod := range r.sorted(name) {
			r.finish(&pod, err)
		}
	}
	return utilerrors.NewAggregate(append(r.errs, err))
}

// pass handles all nodes once. The first pass does nothing if a pod can never be
// evicted.
func (r *run) pass(ctx context.Context, first bool) (waits []fairlead.Block, done bool, err error) {
	var actions []drain.Action
	var never []fairlead.Block
	var left []*node
	var draining []drain.Draining
	now := time.Now()
	for _, name := range slices.Sorted(maps.Keys(r.nodes)) {
		n := r.nodes[name]
		if len(n.left) == 0 {
			continue
		}
		view, err := r.look(ctx, name, n)
		if err != nil {
			return nil, false, err
		}
		if len(n.left) > 0 {
			left, draining = append(left, n), append(draining, drain.Draining{Progress: n.progress, View: view})
		}
	}
	for i, decision := range drain.Together(draining, now, r.policy()) {
		left[i].progress = decision.Progress
		actions = append(actions, decision.Actions...)
		for _, w := range decision.Progress.Waits {
			if w.Reason == drain.ReasonBudgetNever || w.Reason == drain.ReasonManyBudgets {
				never = append(never, drain.Words(w))
			}
		}
		waits = append(waits, decision.Progress.Waits...)
	}
	if first && len(never) > 0 && r.evicts() && !r.TryNever {
		return nil, false, &NeverError{never}
	}
	for _, a := range actions {
		r.do(a)
	}
	return waits, len(left) == 0, nil
}

// policy returns the policy for the engine. The filters have already chosen the
// pods: all of them are removed.
func (r *run) policy() *drain.Policy {
	p := &drain.Policy{
		DisableEviction: !r.evicts(), UnreachableGraceSeconds: -1, SkipWaitForDeleteTimeoutSeconds: int64(max(0, r.SkipWaitForDeleteTimeoutSeconds)),
		MinBackoff: r.EvictErrorRetryDelay,
	}
	p.MaxBackoff = max(time.Minute, p.MinBackoff)
	return p
}

// look reads the remaining pods of a node, and finishes those that are gone.
func (r *run) look(ctx context.Context, name string, n *node) (*drain.View, error) {
	bounded := *r.Helper
	bounded.Ctx = ctx
	pods, err := bounded.list(name, labels.Everything())
	if err != nil {
		return nil, err
	}
	there := map[string]*corev1.Pod{}
	for i := range pods {
		there[keyOf(&pods[i])] = &pods[i]
	}
	view := &drain.View{Node: &drain.Node{}, DaemonSetsListed: true, Outcomes: n.outcomes}
	view.Node.Name, view.Node.UID, view.Node.Spec.Unschedulable = name, name, true
	namespaces := map[string]bool{}
	for _, pod := range r.sorted(name) {
		now := there[keyOf(&pod)]
		if now == nil || r.endless(now, time.Now()) {
			r.finish(&pod, nil)
			delete(n.left, keyOf(&pod))
			continue
		}
		p := kube.Pod(now)
		p.UID, p.Spec.NodeName = keyOf(now), name
		p.Labels, p.Annotations = maps.Clone(p.Labels), maps.Clone(p.Annotations)
		delete(p.Labels, drain.Label)                 // kubectl does not respect it
		delete(p.Annotations, drain.MirrorAnnotation) // the filters have decided about it
		view.Pods = append(view.Pods, p)
		if !namespaces[p.Namespace] && r.evicts() {
			namespaces[p.Namespace] = true
			r.budgets(ctx, p.Namespace, view)
		}
	}
	return view, nil
}

// budgets adds the budgets of a namespace. Without the permission to read them,
// only the server's answers count.
func (r *run) budgets(ctx context.Context, namespace string, view *drain.View) {
	all, err := r.Client.PolicyV1().PodDisruptionBudgets(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for i := range all.Items {
		view.Budgets = append(view.Budgets, kube.Budget(&all.Items[i]))
	}
}

// sorted returns the remaining pods of a node, sorted.
func (r *run) sorted(name string) []corev1.Pod {
	return slices.SortedFunc(maps.Values(r.nodes[name].left), func(a, b corev1.Pod) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
}

// do carries out one action, and records the outcome.
func (r *run) do(a drain.Action) {
	var name, key string
	switch a := a.(type) {
	case drain.Evict:
		name, key = a.Node, a.UID
	case drain.DeletePod:
		name, key = a.Node, a.UID
	default:
		return
	}
	n := r.nodes[name]
	pod, there := n.left[key]
	if !there {
		return
	}
	r.start(&pod)
	err := r.remove(&pod)
	switch {
	case err == nil || apierrors.IsNotFound(err):
		return
	case !passing(err):
		err = r.problem(&pod, err)
		r.errs = append(r.errs, err)
		r.finish(&pod, err)
		delete(n.left, key)
		return
	}
	o := fairlead.Outcome{Key: a.Key(), At: time.Now(), Failed: true, Message: err.Error()}
	if refused := new(fairlead.RefusedError); errors.As(nodes.Refused(err), &refused) {
		o.Code, o.Message, o.RetryAfter = refused.Code, refused.Message, refused.RetryAfter
	}
	n.outcomes = append(slices.DeleteFunc(n.outcomes, func(old fairlead.Outcome) bool { return old.Key == o.Key }), o)
}

// passing reports whether the cause of a failed request may be temporary: a
// budget, a busy server, a terminating namespace, a pod that has changed.
func passing(err error) bool {
	return apierrors.IsTooManyRequests(err) || apierrors.IsConflict(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsForbidden(err) && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

func (r *run) remove(pod *corev1.Pod) error {
	if r.evicts() {
		return r.EvictPod(*pod, r.version)
	}
	return r.DeletePod(*pod)
}

func (r *run) problem(pod *corev1.Pod, err error) error {
	what := "deleting"
	if r.evicts() {
		what = "evicting"
	}
	return fmt.Errorf("error when %s pods/%q -n %q: %w", what, pod.Name, pod.Namespace, err)
}

// start reports that the removal of a pod is requested, once.
func (r *run) start(pod *corev1.Pod) {
	if r.started[keyOf(pod)] {
		return
	}
	r.started[keyOf(pod)] = true
	what, suffix := "deleting", ""
	if r.evicts() {
		what = "evicting"
	}
	if r.dryRun() == DryRunServer {
		suffix = " (server dry run)"
	}
	r.tell("%s pod %s/%s%s", what, pod.Namespace, pod.Name, suffix)
	if r.OnPodDeletionOrEvictionStarted != nil {
		r.OnPodDeletionOrEvictionStarted(pod, r.evicts())
	}
}

// finish reports that a pod is gone, or could not be removed.
func (r *run) finish(pod *corev1.Pod, err error) {
	switch {
	case r.OnPodDeletionOrEvictionFinished != nil:
		r.OnPodDeletionOrEvictionFinished(pod, r.evicts(), err)
	case err == nil && r.OnPodDeletedOrEvicted != nil:
		r.OnPodDeletedOrEvicted(pod, r.evicts())
	}
}

// report reports the progress, if it has changed.
func (r *run) report(waits []fairlead.Block) {
	left := 0
	for _, n := range r.nodes {
		left += len(n.left)
	}
	text := fmt.Sprintf("%d of %d pods are left", left, r.total)
	const most = 3
	for i, w := range waits {
		if i == most {
			text += fmt.Sprintf("; and %d more", len(waits)-most)
			break
		}
		text += "; " + drain.Words(w).Message
	}
	if text != r.told {
		r.told = text
		r.tell("%s", text)
	}
}
