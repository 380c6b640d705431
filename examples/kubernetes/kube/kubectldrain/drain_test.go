package kubectldrain_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	drain "github.com/fairlead/fairlead/examples/kubernetes/kube/kubectldrain"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
)

// server is a fake API server with evictions: those of pods in refuse are refused
// that many times, with 429; those in forbid always.
type server struct {
	*fake.Clientset
	mu      sync.Mutex
	asked   []string
	refuse  map[string]int
	forbid  map[string]bool
	evicted func(name string)
}

func newServer(objects ...runtime.Object) *server {
	s := &server{Clientset: fake.NewClientset(objects...), refuse: map[string]int{}, forbid: map[string]bool{}}
	s.Resources = []*metav1.APIResourceList{{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods/eviction", Kind: "Eviction", Group: "policy", Version: "v1"}}}}
	s.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if a.GetSubresource() != "eviction" {
			return false, nil, nil
		}
		e := a.(clienttesting.CreateAction).GetObject().(*policyv1.Eviction)
		s.mu.Lock()
		s.asked = append(s.asked, e.Name)
		refuse := s.refuse[e.Name]
		s.refuse[e.Name]--
		s.mu.Unlock()
		switch {
		case len(e.DeleteOptions.DryRun) > 0:
			return true, nil, nil
		case s.forbid[e.Name]:
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods/eviction"}, e.Name, errors.New("no"))
		case refuse > 0:
			return true, nil, apierrors.NewTooManyRequests("not now", 0)
		}
		if s.evicted != nil {
			s.evicted(e.Name)
			return true, nil, nil
		}
		return true, nil, s.Tracker().Delete(schema.GroupVersionResource{Version: "v1", Resource: "pods"}, e.Namespace, e.Name)
	})
	return s
}

func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func pod(name string, edit func(*corev1.Pod)) *corev1.Pod {
	is := true
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"app": "web"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &is}}}}
	p.Spec.NodeName = "n1"
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if edit != nil {
		edit(p)
	}
	return p
}

// budget returns a budget for all pods of app web.
func budget(least intstr.IntOrString, status policyv1.PodDisruptionBudgetStatus) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 1}}
	b.Spec.MinAvailable, b.Spec.Selector = &least, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	b.Status = status
	b.Status.ObservedGeneration = 1
	return b
}

func helper(s *server) (*drain.Helper, *bytes.Buffer) {
	out := &bytes.Buffer{}
	return &drain.Helper{Ctx: context.Background(), Client: s, GracePeriodSeconds: -1, Timeout: 20 * time.Second, EvictErrorRetryDelay: time.Second, Out: out, ErrOut: out}, out
}

func TestFilters(t *testing.T) {
	t.Parallel()
	daemon := func(p *corev1.Pod) { p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name = "DaemonSet", "agent" }
	orphan := func(p *corev1.Pod) { daemon(p); p.OwnerReferences[0].Name = "gone" }
	bare := func(p *corev1.Pod) { p.OwnerReferences = nil }
	local := func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	}
	done := func(edit func(*corev1.Pod)) func(*corev1.Pod) {
		return func(p *corev1.Pod) { edit(p); p.Status.Phase = corev1.PodSucceeded }
	}
	mirror := func(p *corev1.Pod) {
		p.OwnerReferences, p.Annotations = nil, map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	}
	ending := func(p *corev1.Pod) {
		at := metav1.NewTime(time.Now().Add(-time.Minute))
		p.DeletionTimestamp, p.Finalizers = &at, []string{"example.com/x"}
	}
	for _, c := range []struct {
		name string
		edit func(*corev1.Pod)
		set  func(*drain.Helper)
		want string // pods to delete, warnings, errors
	}{
		{"plain", nil, nil, "1 pods; ; "},
		{"DaemonSet", daemon, nil, "0 pods; ; cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): shop/p"},
		{"DaemonSet ignored", daemon, func(d *drain.Helper) { d.IgnoreAllDaemonSets = true }, "0 pods; ignoring DaemonSet-managed Pods: shop/p; "},
		{"DaemonSet gone", orphan, func(d *drain.Helper) { d.IgnoreAllDaemonSets = true }, `0 pods; ; cannot delete daemonsets.apps "gone" not found: shop/p`},
		{"DaemonSet gone, force", orphan, func(d *drain.Helper) { d.Force = true }, "1 pods; deleting Pods whose DaemonSet is gone: shop/p; "},
		{"DaemonSet, over", done(daemon), nil, "1 pods; ; "},
		{"bare", bare, nil, "0 pods; ; cannot delete Pods that declare no controller (use --force to override): shop/p"},
		{"bare, force", bare, func(d *drain.Helper) { d.Force = true }, "1 pods; deleting Pods that declare no controller: shop/p; "},
		{"bare, over", done(bare), nil, "1 pods; ; "},
		{"local", local, nil, "0 pods; ; cannot delete Pods with local storage (use --delete-emptydir-data to override): shop/p"},
		{"local goes", local, func(d *drain.Helper) { d.DeleteEmptyDirData = true }, "1 pods; deleting Pods with local storage: shop/p; "},
		{"mirror", mirror, nil, "0 pods; ; "},
		{"ending", ending, nil, "1 pods; ; "},
		{"ending for long", ending, func(d *drain.Helper) { d.SkipWaitForDeleteTimeoutSeconds = 5 }, "0 pods; ; "},
		{"other labels", nil, func(d *drain.Helper) { d.PodSelector = "app=other" }, "0 pods; ; "},
		{"bad selector", nil, func(d *drain.Helper) { d.PodSelector = "app in" }, "no list"},
		{"a filter of one's own", nil, func(d *drain.Helper) {
			d.AdditionalFilters = []drain.PodFilter{func(corev1.Pod) drain.PodDeleteStatus { return drain.MakePodDeleteStatusSkip() }}
		}, "0 pods; ; "},
		{"a filter that refuses", nil, func(d *drain.Helper) {
			d.AdditionalFilters = []drain.PodFilter{func(corev1.Pod) drain.PodDeleteStatus { return drain.MakePodDeleteStatusWithError("mine") }}
		}, "0 pods; ; cannot delete mine: shop/p"},
	} {
		s := newServer(pod("p", c.edit), &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "agent"}})
		d, _ := helper(s)
		if c.set != nil {
			c.set(d)
		}
		got := "no list"
		if list, errs := d.GetPodsForDeletion("n1"); list != nil {
			var texts []string
			for _, err := range errs {
				texts = append(texts, err.Error())
			}
			got = fmt.Sprintf("%d pods; %s; %s", len(list.Pods()), list.Warnings(), strings.Join(texts, ", "))
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestDrain evicts the pods of a node, and reports it.
func TestDrain(t *testing.T) {
	t.Parallel()
	s := newServer(pod("a", nil), pod("b", nil), pod("far", func(p *corev1.Pod) { p.Spec.NodeName = "n2" }))
	d, out := helper(s)
	var told []string
	d.OnPodDeletionOrEvictionStarted = func(p *corev1.Pod, using bool) { told = append(told, fmt.Sprint("start ", p.Name, using)) }
	d.OnPodDeletionOrEvictionFinished = func(p *corev1.Pod, using bool, err error) {
		told = append(told, fmt.Sprint("end ", p.Name, using, err))
	}
	list, errs := d.GetPodsForDeletion("n1")
	if errs != nil {
		t.Fatal(errs)
	}
	pods := slices.DeleteFunc(list.Pods(), func(p corev1.Pod) bool { return p.Spec.NodeName != "n1" }) // the fake server ignores field selectors
	if err := d.DeleteOrEvictPods(pods); err != nil {
		t.Fatal(err)
	}
	if want := []string{"start atrue", "start btrue", "end atrue <nil>", "end btrue <nil>"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	if text := out.String(); !strings.Contains(text, "evicting pod shop/a") || strings.Contains(text, "far") {
		t.Errorf("it said %s", text)
	}
}

// TestNever evicts nothing when a pod can never be evicted, and reports that at
// once.
func TestNever(t *testing.T) {
	t.Parallel()
	never := budget(intstr.FromString("100%"), policyv1.PodDisruptionBudgetStatus{ExpectedPods: 1, DesiredHealthy: 1, CurrentHealthy: 1})
	s := newServer(pod("a", func(p *corev1.Pod) { p.Labels = nil }), pod("b", nil), never)
	d, _ := helper(s)
	begin := time.Now()
	err := drain.RunNodeDrain(d, "n1")
	var stays *drain.NeverError
	if !errors.As(err, &stays) || len(stays.Blocks) != 1 || !strings.Contains(err.Error(), "shop/web") {
		t.Fatalf("got %v", err)
	}
	t.Log(err)
	if asked := s.requests(); len(asked) > 0 || time.Since(begin) > 5*time.Second {
		t.Errorf("after %v: asked for %q", time.Since(begin), asked)
	}
	d.TryNever, d.Timeout = true, 3*time.Second
	err = drain.RunNodeDrain(d, "n1")
	if err == nil || !strings.Contains(err.Error(), "global timeout reached: 3s") {
		t.Errorf("waited for: %v", err)
	}
	t.Log(err)
	if asked := s.requests(); !slices.Equal(asked, []string{"a"}) {
		t.Errorf("asked for %q, want the other pod alone", asked)
	}
}

// TestBudget requests one eviction at a time if the budget allows one: none is
// refused.
func TestBudget(t *testing.T) {
	t.Parallel()
	allows := budget(intstr.FromInt32(3), policyv1.PodDisruptionBudgetStatus{ExpectedPods: 4, DesiredHealthy: 3, CurrentHealthy: 4, DisruptionsAllowed: 1})
	s := newServer(pod("a", nil), pod("b", nil), pod("c", nil), pod("d", nil), allows)
	d, out := helper(s)
	if err := drain.RunNodeDrain(d, "n1"); err != nil {
		t.Fatal(err)
	}
	if asked := s.requests(); len(asked) != 4 {
		t.Errorf("asked for %q, want each once", asked)
	}
	if !strings.Contains(out.String(), "3 of 4 pods are left") {
		t.Errorf("it said %s", out)
	}
}

// TestRefused retries refused evictions, and evicts the other pods meanwhile.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := newServer(pod("a", nil), pod("b", nil))
	s.refuse["a"] = 2
	d, out := helper(s)
	if err := drain.RunNodeDrain(d, "n1"); err != nil {
		t.Fatal(err)
	}
	if asked := s.requests(); len(asked) != 4 || asked[0] != "a" || asked[1] != "b" {
		t.Errorf("asked for %q", asked)
	}
	if n := strings.Count(out.String(), "evicting pod shop/a"); n != 1 {
		t.Errorf("it said so %d times:\n%s", n, out)
	}
}

// TestForbidden ends with the error of a pod that cannot be evicted, and evicts
// the others.
func TestForbidden(t *testing.T) {
	t.Parallel()
	s := newServer(pod("a", nil), pod("b", nil))
	s.forbid["a"] = true
	d, _ := helper(s)
	var failed []string
	d.OnPodDeletionOrEvictionFinished = func(p *corev1.Pod, _ bool, err error) {
		if err != nil {
			failed = append(failed, p.Name)
		}
	}
	err := drain.RunNodeDrain(d, "n1")
	if err == nil || !strings.Contains(err.Error(), `error when evicting pods/"a" -n "shop"`) || !slices.Equal(failed, []string{"a"}) {
		t.Errorf("%v, failed %q", err, failed)
	}
	if asked := s.requests(); !slices.Equal(asked, []string{"a", "b"}) {
		t.Errorf("asked for %q", asked)
	}
}

// TestReplaced leaves another pod with the same name alone.
func TestReplaced(t *testing.T) {
	t.Parallel()
	s := newServer(pod("db-0", nil))
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	s.evicted = func(name string) {
		if err := errors.Join(s.Tracker().Delete(pods, "shop", name), s.Tracker().Create(pods, pod(name, func(p *corev1.Pod) { p.UID = "another" }), "shop")); err != nil {
			t.Error(err)
		}
	}
	d, _ := helper(s)
	if err := drain.RunNodeDrain(d, "n1"); err != nil {
		t.Fatal(err)
	}
	if asked := s.requests(); len(asked) != 1 {
		t.Errorf("asked for %q", asked)
	}
}

// TestWithoutEvictions deletes pods if the server does not support evictions,
// or if DisableEviction is set; dry runs change nothing.
func TestWithoutEvictions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set        func(*server, *drain.Helper)
		left, asks int
	}{
		{func(s *server, _ *drain.Helper) { s.Resources = []*metav1.APIResourceList{{GroupVersion: "v1"}} }, 0, 0},
		{func(_ *server, d *drain.Helper) { d.DisableEviction = true }, 0, 0},
		{func(_ *server, d *drain.Helper) { d.DryRunStrategy = drain.DryRunClient }, 1, 0},
		{func(_ *server, d *drain.Helper) { d.DryRunStrategy = drain.DryRunServer }, 1, 1},
	} {
		s := newServer(pod("a", nil))
		d, _ := helper(s)
		c.set(s, d)
		if err := drain.RunNodeDrain(d, "n1"); err != nil {
			t.Error(err)
		}
		all, err := s.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(all.Items) != c.left || len(s.requests()) != c.asks {
			t.Errorf("%d pods are left (%v), %d evictions asked for; want %d and %d", len(all.Items), err, len(s.requests()), c.left, c.asks)
		}
	}
}

// TestCancelled ends with its context.
func TestCancelled(t *testing.T) {
	t.Parallel()
	s := newServer(pod("a", nil))
	s.evicted = func(string) {} // the pod stays
	d, _ := helper(s)
	var cancel context.CancelFunc
	d.Ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(time.Second, cancel)
	if err := drain.RunNodeDrain(d, "n1"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCordon(t *testing.T) {
	t.Parallel()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	s := newServer(n.DeepCopy())
	d, _ := helper(s)
	is := func(want bool) {
		t.Helper()
		got, err := s.CoreV1().Nodes().Get(t.Context(), "n1", metav1.GetOptions{})
		if err != nil || got.Spec.Unschedulable != want {
			t.Errorf("unschedulable is %v, %v", got.Spec.Unschedulable, err)
		}
	}
	for _, desired := range []bool{true, true, false} {
		if err := drain.RunCordonOrUncordon(d, n, desired); err != nil {
			t.Fatal(err)
		}
		is(desired)
	}
	writes := len(slices.DeleteFunc(s.Actions(), func(a clienttesting.Action) bool { return a.GetVerb() != "patch" }))
	if writes != 2 {
		t.Errorf("%d writes, want two: the second time it was cordoned already", writes)
	}
	c, err := drain.NewCordonHelperFromRuntimeObject(n, scheme.Scheme, corev1.SchemeGroupVersion.WithKind("Node"))
	if err != nil || !c.UpdateIfRequired(true) {
		t.Errorf("of an object: %v", err)
	}
	if _, err := drain.NewCordonHelperFromRuntimeObject(pod("a", nil), scheme.Scheme, corev1.SchemeGroupVersion.WithKind("Node")); err == nil {
		t.Error("a pod is not a node")
	}
}
