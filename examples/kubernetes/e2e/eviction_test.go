package e2e_test

import (
	"context"
	"fmt"
	"github.com/fairlead/fairlead"
	engine "github.com/fairlead/fairlead/taints/eviction"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/eviction"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// departures watches pods and records when each is deleted, and when it is
// gone: as reported by the server, not by the operator.
type departures struct {
	mu   sync.Mutex
	told map[string]time.Time // by name
	gone map[string]bool
}

func (w *world) departures(namespace string) *departures {
	w.Helper()
	d := &departures{told: map[string]time.Time{}, gone: map[string]bool{}}
	ctx, cancel := context.WithCancel(w.Context())
	var watching sync.WaitGroup
	w.Cleanup(watching.Wait)
	w.Cleanup(cancel)
	watching.Go(func() {
		for ctx.Err() == nil {
			events, err := w.admin.Watch(ctx, &corev1.PodList{}, client.InNamespace(namespace))
			if err != nil {
				time.Sleep(100 * time.Millisecond) // the server is stopped
				continue
			}
			for e := range events.ResultChan() {
				d.note(e)
			}
		}
	})
	return d
}

func (d *departures) note(e watch.Event) {
	p, ok := e.Object.(*corev1.Pod)
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.told[p.Name]; !known && (p.DeletionTimestamp != nil || e.Type == watch.Deleted) {
		d.told[p.Name] = time.Now()
	}
	if e.Type == watch.Deleted {
		d.gone[p.Name] = true
	}
}

// of returns when a pod was deleted; zero if it was not.
func (d *departures) of(name string) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.told[name]
}

func (d *departures) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.gone)
}

// tolerating returns a change that makes a pod tolerate the maintenance taint
// for some seconds.
func tolerating(seconds int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		t := corev1.Toleration{Key: "maintenance", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}
		if seconds >= 0 {
			t.TolerationSeconds = &seconds
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, t)
	}
}

// taint adds the taint to a node, or removes it, and returns when.
func (w *world) taint(node string, on bool) time.Time {
	w.Helper()
	var n corev1.Node
	if err := w.admin.Get(w.Context(), client.ObjectKey{Name: node}, &n); err != nil {
		w.Fatal(err)
	}
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == "maintenance" })
	if on {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "maintenance", Effect: corev1.TaintEffectNoExecute, TimeAdded: &now})
	}
	if err := w.admin.Update(w.Context(), &n); err != nil {
		w.Fatal(err)
	}
	return now.Time
}

// evictedOnce checks the server's audit log: one deletion for each pod, with
// its UID as precondition, and no unrelated writes.
func (w *world) evictedOnce(pods map[string]types.UID, ofThem ...string) {
	w.Helper()
	w.evictedOnceBut(pods, nil, ofThem...)
}

// evictedOnceBut is evictedOnce where a server was killed: it may have carried out the deletions of
// some pods without having logged them. Where the operator was killed, the server answers a deletion
// with 504 that it has carried out.
func (w *world) evictedOnceBut(pods map[string]types.UID, unlogged map[string]bool, ofThem ...string) {
	w.Helper()
	deleted, unclear := map[string]int{}, map[string]bool{}
	for _, r := range w.requests(cluster.Filter{User: operator.User, Verb: "delete", Resource: "pods"}) {
		if r.Code != 200 {
			unclear[r.Name] = unclear[r.Name] || r.Code >= 500
			w.Logf("a deletion of %s was answered %d", r.Name, r.Code)
			continue
		}
		deleted[r.Name]++
		if r.PreconditionUID() != pods[r.Name] {
			w.Errorf("pod %s was deleted on the precondition %q, and has UID %q", r.Name, r.PreconditionUID(), pods[r.Name])
		}
	}
	for _, name := range ofThem {
		if n := deleted[name]; n != 1 && (n > 1 || !unlogged[name] && !unclear[name]) {
			w.Errorf("pod %s: %d deletions, want 1", name, deleted[name])
		}
		delete(deleted, name)
	}
	if len(deleted) > 0 {
		w.Errorf("deleted besides: %v", deleted)
	}
}

// Pods leave a tainted node at their deadlines: not earlier, not twice, and not
// late unless nothing could act. Meanwhile the operator is killed and restarted,
// and the API server is down for ten seconds.
func TestEviction(t *testing.T) {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "rbac-eviction.yaml")
	w.namespace("shop")
	if err := w.kubelets.AddNode(t.Context(), "n1", nil); err != nil {
		t.Fatal(err)
	}
	const killedAt, killedFor, outageAt, outageFor = 6 * time.Second, 3 * time.Second, 14 * time.Second, 10 * time.Second
	left := w.departures("shop")
	pods := map[string]types.UID{}
	deadline := map[string]time.Duration{}
	var leave []string
	for _, seconds := range []int64{0, 2, 4, 7, 8, 11, 12, 13, 16, 18, 20, 29, 32} {
		name := fmt.Sprintf("tolerates-%ds", seconds)
		p := w.pod("shop", name, "n1", tolerating(seconds))
		pods[name], deadline[name] = p.UID, time.Duration(seconds)*time.Second
		leave = append(leave, name)
	}
	w.pod("shop", "tolerates-for-good", "n1", tolerating(-1))
	pods["does-not-tolerate"] = w.pod("shop", "does-not-tolerate", "n1", nil).UID
	leave = append(leave, "does-not-tolerate")

	manager := operator.Start(t, w.Cluster, "-controllers=eviction", "-leader-elect=false")
	manager.Ready()
	begin := w.taint("n1", true)
	until := func(d time.Duration) { time.Sleep(time.Until(begin.Add(d))) }
	until(killedAt)
	manager.Kill()
	until(killedAt + killedFor)
	manager = operator.Start(t, w.Cluster, "-controllers=eviction", "-leader-elect=false")
	until(outageAt)
	w.outage(time.Until(begin.Add(outageAt + outageFor)))
	back := time.Since(begin)
	w.eventually("the last pod leaves", func() string {
		if n := left.count(); n < len(leave) {
			return fmt.Sprintf("%d of %d have", n, len(leave))
		}
		return ""
	})
	const slack = 6 * time.Second  // for a busy machine
	const retry = 15 * time.Second // the longest time until a failed pass is retried
	for _, name := range leave {
		told, due := left.of(name).Sub(begin), deadline[name]
		latest := due + slack
		for _, away := range [][2]time.Duration{{killedAt, killedAt + killedFor + 2*time.Second}, {outageAt, back}} {
			if latest > away[0] && due < away[1] {
				latest = away[1] + slack + retry
			}
		}
		t.Logf("%-20s due %5.1f s, evicted %5.1f s", name, due.Seconds(), told.Seconds())
		if told < due || told > latest {
			t.Errorf("%s: evicted after %v, want %v to %v", name, told, due, latest)
		}
	}
	w.evictedOnce(pods, leave...)
	if told := left.of("tolerates-for-good"); !told.IsZero() {
		t.Error("the pod that tolerates the taint for good had to leave")
	}
	if err := manager.Stop(); err != nil {
		t.Errorf("stopping the operator: %v", err)
	}
}

// If a taint is removed in time, its pods stay, and the time of the next taint
// starts again.
func TestEvictionIsCalledOff(t *testing.T) {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "rbac-eviction.yaml")
	w.namespace("shop")
	if err := w.kubelets.AddNode(t.Context(), "n1", nil); err != nil {
		t.Fatal(err)
	}
	left := w.departures("shop")
	p := w.pod("shop", "p", "n1", tolerating(5))
	operator.Start(t, w.Cluster, "-controllers=eviction", "-leader-elect=false").Ready()
	w.taint("n1", true)
	time.Sleep(3 * time.Second)
	w.taint("n1", false)
	time.Sleep(4 * time.Second)
	if !left.of("p").IsZero() {
		t.Fatal("the pod had to leave although the taint was taken off in time")
	}
	begin := w.taint("n1", true)
	w.eventually("the pod leaves", func() string {
		if left.of("p").IsZero() {
			return "it has not"
		}
		return ""
	})
	if told := left.of("p").Sub(begin); told < 5*time.Second {
		t.Errorf("evicted after %v, want 5s at least", told)
	}
	w.evictedOnce(map[string]types.UID{"p": p.UID}, "p")
}

// Only one of two operators acts, even after the API server was down for ten
// seconds. When it is killed, the other one takes over; when it stops, the other
// one does so at once.
func TestLeadership(t *testing.T) {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "rbac-eviction.yaml")
	w.namespace("shop")
	if err := w.kubelets.AddNode(t.Context(), "n1", nil); err != nil {
		t.Fatal(err)
	}
	flags := []string{"-controllers=eviction", "-lease-duration=20s", "-renew-deadline=16s", "-retry-period=1s"}
	left := w.departures("shop")
	managers := []*operator.Process{operator.Start(t, w.Cluster, flags...), operator.Start(t, w.Cluster, flags...)}
	pods := map[string]types.UID{}
	var names []string
	round := func(begin string) {
		t.Helper()
		for i := range 5 {
			name := fmt.Sprintf("%s-%d", begin, i)
			pods[name] = w.pod("shop", name, "n1", tolerating(0)).UID
			names = append(names, name)
		}
		w.taint("n1", true)
		w.eventually("the pods leave", func() string {
			if n := left.count(); n < len(names) {
				return fmt.Sprintf("%d of %d have", n, len(names))
			}
			return ""
		})
		w.evictedOnce(pods, names...)
		w.taint("n1", false)
	}
	round("one")
	acting := slices.IndexFunc(managers, func(p *operator.Process) bool {
		return p.Metric(`fairlead_passes_total{engine="taints",result="ok"}`) > 0
	})
	if acting < 0 {
		t.Fatal("neither has made a pass")
	}
	leader, other := managers[acting], managers[1-acting]
	if n := other.Metric(`fairlead_passes_total{engine="taints",result="ok"}`); n != 0 {
		t.Fatalf("the one that does not lead has made %v passes", n)
	}
	w.outage(10 * time.Second) // shorter than the leader's deadline
	round("two")
	if n := other.Metric(`fairlead_passes_total{engine="taints",result="ok"}`); n != 0 {
		t.Errorf("the one that does not lead has made %v passes after the outage", n)
	}
	leader.Kill()
	round("three")

	third := operator.Start(t, w.Cluster, flags...)
	third.Ready()
	if err := other.Stop(); err != nil {
		t.Errorf("stopping the leader: %v", err)
	}
	begin := time.Now()
	round("four")
	if took := time.Since(begin); took > 15*time.Second {
		t.Errorf("the lease was released, and the next leader took %v", took)
	}
}

// The server enforces the precondition of an eviction: another pod with the same
// name is left alone, and that is not an error.
func TestEvictionPreconditions(t *testing.T) {
	w := newWorld(t, nil)
	w.namespace("shop")
	if err := w.kubelets.AddNode(t.Context(), "n1", nil); err != nil {
		t.Fatal(err)
	}
	p := w.pod("shop", "p", "n1", nil)
	w.eventually("the pod is ready", func() string { return w.podReady("p") })
	before := &corev1.Pod{}
	if err := w.admin.Get(t.Context(), client.ObjectKeyFromObject(p), before); err != nil {
		t.Fatal(err)
	}
	// The reader has the earlier pod; the server has another one.
	old := before.DeepCopy()
	old.UID = "another"
	b := &eviction.Backend{Client: w.admin, Reader: fake.NewClientBuilder().WithObjects(old).Build()}
	for _, a := range []engine.Action{
		engine.Evict{Pod: engine.PodRef{Namespace: "shop", Name: "p", UID: "another"}, Node: "n1"},
		engine.Evict{Pod: engine.PodRef{Namespace: "shop", Name: "p", UID: "another"}, Node: "n1", Budget: true},
		engine.MarkNotReady{Pod: engine.PodRef{Namespace: "shop", Name: "p", UID: "another"}},
		engine.EditTaints{Node: "n1", UID: "another", Add: []fairlead.Taint{{Key: "k", Effect: fairlead.NoExecute}}},
	} {
		if err := b.Apply(t.Context(), "n1", a); err != nil {
			t.Errorf("%T: %v", a, err)
		}
	}
	after := &corev1.Pod{}
	if err := w.admin.Get(t.Context(), client.ObjectKeyFromObject(p), after); err != nil || after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the pod was changed: %v, %v", after, err)
	}
	// With its own UID it is evicted.
	b.Reader = w.admin
	if err := b.Apply(t.Context(), "n1", engine.Evict{Pod: engine.PodRef{Namespace: "shop", Name: "p", UID: string(p.UID)}, Node: "n1"}); err != nil {
		t.Error(err)
	}
	w.eventually("the pod is gone", func() string {
		err := w.admin.Get(t.Context(), client.ObjectKeyFromObject(p), after)
		return expect(fmt.Sprint(apierrors.IsNotFound(err)), "true")
	})
}

// podReady returns what is missing for a pod to be ready.
func (w *world) podReady(name string) string {
	var p corev1.Pod
	if err := w.admin.Get(w.Context(), client.ObjectKey{Namespace: "shop", Name: name}, &p); err != nil {
		return err.Error()
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return ""
		}
	}
	return fmt.Sprint(p.Status.Conditions)
}

// A thousand pods leave ten nodes within twenty seconds, each at its deadline.
// The figures are those of the README.
func TestThousandPods(t *testing.T) {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "rbac-eviction.yaml")
	w.namespace("shop")
	const nodes, perNode, seconds = 10, 100, 20
	left := w.departures("shop")
	pods := map[string]types.UID{}
	due := map[string]time.Duration{}
	var names []string
	for n := range nodes {
		node := fmt.Sprintf("n%d", n)
		if err := w.kubelets.AddNode(t.Context(), node, nil); err != nil {
			t.Fatal(err)
		}
		for i := range perNode {
			name := fmt.Sprintf("p-%d-%d", n, i)
			after := int64((i*7 + n) % seconds)
			pods[name] = w.pod("shop", name, node, tolerating(after)).UID
			due[name] = time.Duration(after) * time.Second
			names = append(names, name)
		}
	}
	manager := operator.Start(t, w.Cluster, "-controllers=eviction", "-leader-elect=false")
	manager.Ready()
	started := time.Now()
	begin := map[string]time.Time{}
	for n := range nodes {
		node := fmt.Sprintf("n%d", n)
		begin[node] = w.taint(node, true)
	}
	w.eventually("the last pod leaves", func() string {
		if n := left.count(); n < len(names) {
			return fmt.Sprintf("%d of %d have", n, len(names))
		}
		return ""
	})
	w.evictedOnce(pods, names...)
	var late []time.Duration
	for _, name := range names {
		var n, i int
		if _, err := fmt.Sscanf(name, "p-%d-%d", &n, &i); err != nil {
			t.Fatal(err)
		}
		d := left.of(name).Sub(begin[fmt.Sprintf("n%d", n)]) - due[name]
		if d < 0 {
			t.Errorf("%s: evicted %v before its deadline", name, -d)
		}
		late = append(late, d)
	}
	slices.Sort(late)
	all := w.requests(cluster.Filter{User: operator.User, Since: started})
	memory := manager.Memory()
	t.Logf("%d pods: evicted %v (median), %v (95th percentile), %v (last) after their deadlines", len(late), late[len(late)/2], late[len(late)*95/100], late[len(late)-1])
	t.Logf("%d requests of the operator, %.2f for each pod: %s", len(all), float64(len(all))/float64(len(names)), summary(all))
	t.Logf("memory of the operator: %+v", memory)
}
