// Package nodes runs Kubernetes' own node lifecycle controller and ours through the
// same histories of a cluster's nodes, in virtual time, and compares when which node
// has which taints.
package nodes

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	restfake "k8s.io/client-go/rest/fake"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/nodelifecycle"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/taints/eviction"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil // one of them waits in the time of the process, not of the test
	os.Exit(m.Run())
}

// What a node does from a given time on.
const (
	ready    = "ready"
	notReady = "not ready"
	silent   = "silent"
	pressure = "memory pressure" // besides being ready
)

// event is what a node does from a second of the history on.
type event struct {
	at   int
	node int
	does string
}

// The kinds of histories.
const (
	plain   = "plain"   // in each zone one node at a time is not ready, long enough for a token to be refilled
	waiting = "waiting" // some nodes of a zone are not ready at the same time, to the end; each zone stays in its normal mode
	wild    = "wild"    // anything
)

// history is nodes in zones and what they do; initially all are ready.
type history struct {
	kind   string
	zones  []string // by node
	events []event  // by time
	end    int
}

func newHistory(seed uint64) *history {
	r := rand.New(rand.NewPCG(seed, 11))
	h := &history{kind: []string{plain, waiting, wild}[r.IntN(3)]}
	for z := range 1 + r.IntN(2) {
		first := len(h.zones)
		size := 4 + r.IntN(2)
		for range size {
			h.zones = append(h.zones, fmt.Sprint("z", z))
		}
		at := 15 + r.IntN(20)
		bad := func() string { return []string{notReady, silent}[r.IntN(2)] }
		switch h.kind {
		case plain:
			for range 1 + r.IntN(2) {
				node := first + r.IntN(size)
				h.add(at, node, []string{notReady, silent, pressure}[r.IntN(3)])
				at += 75 + r.IntN(60)
				if r.IntN(3) == 0 {
					h.add(at, node, bad())
					at += 75 + r.IntN(60)
				}
				h.add(at, node, ready)
				at += 30 + r.IntN(30)
			}
		case waiting:
			for _, i := range r.Perm(size)[:2] {
				h.add(at, first+i, bad())
				at += r.IntN(10)
			}
		default:
			for range 2 + r.IntN(8) {
				h.add(at, first+r.IntN(size), []string{ready, notReady, silent, pressure}[r.IntN(4)])
				at += 1 + r.IntN(60)
			}
		}
	}
	slices.SortStableFunc(h.events, func(a, b event) int { return a.at - b.at })
	h.end = h.events[len(h.events)-1].at + 120
	return h
}

func (h *history) add(at, node int, does string) {
	h.events = append(h.events, event{at, node, does})
}

func name(node int) string { return fmt.Sprint("n", node) }

// seen lists, by node and effect, which taints a node has from which second on, as in
// "12 key key".
type seen map[string][]string

// note adds what a node has at a given second, if that has changed.
func (s seen) note(at, node int, taints []string) {
	for _, effect := range []string{"NoExecute", "NoSchedule"} {
		var keys []string
		for _, t := range taints {
			if key, ok := strings.CutSuffix(t, ":"+effect); ok {
				keys = append(keys, strings.TrimPrefix(key, "node.kubernetes.io/"))
			}
		}
		slices.Sort(keys)
		id, now := name(node)+" "+effect, strings.Join(keys, " ")
		list := s[id]
		if len(list) == 0 && now == "" || len(list) > 0 && strings.SplitN(list[len(list)-1], " ", 2)[1] == now {
			continue
		}
		s[id] = append(list, fmt.Sprintf("%d %s", at, now))
	}
}

// withREST is a fake client that discards events.
type withREST struct{ kubernetes.Interface }

type core struct{ corev1.CoreV1Interface }

func (w withREST) CoreV1() corev1.CoreV1Interface { return core{w.Interface.CoreV1()} }

func (core) RESTClient() rest.Interface {
	return &restfake.RESTClient{NegotiatedSerializer: scheme.Codecs.WithoutConversion(), GroupVersion: v1.SchemeGroupVersion, Client: restfake.CreateHTTPClient(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusCreated, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(`{"kind": "Event", "apiVersion": "v1"}`))}, nil
	})}
}

// look is how often Kubernetes' controller checks the nodes. Its taints are written
// every 100 milliseconds, from a cache: if that coincided with a check, a node that was
// just found silent would spend the token of its zone as one that is ready.
const look = 1033 * time.Millisecond

// conditions returns what a kubelet reports.
func conditions(does string, old []v1.NodeCondition, now metav1.Time) []v1.NodeCondition {
	want := []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}, {Type: v1.NodeMemoryPressure, Status: v1.ConditionFalse}, {Type: v1.NodeDiskPressure, Status: v1.ConditionFalse}, {Type: v1.NodePIDPressure, Status: v1.ConditionFalse}}
	switch does {
	case notReady:
		want[0].Status = v1.ConditionFalse
	case pressure:
		want[1].Status = v1.ConditionTrue
	}
	for i := range want {
		want[i].LastHeartbeatTime, want[i].LastTransitionTime = now, now
		for _, o := range old {
			if o.Type == want[i].Type && o.Status == want[i].Status {
				want[i].LastTransitionTime = o.LastTransitionTime
			}
		}
	}
	return want
}

// theirs runs the controller of Kubernetes through the history.
func (h *history) theirs(t *testing.T) seen {
	all := seen{}
	synctest.Test(t, func(t *testing.T) {
		begin := metav1.Now()
		var objects []runtime.Object
		for i, zone := range h.zones {
			n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name(i), UID: "u", Labels: map[string]string{v1.LabelTopologyZone: zone}, CreationTimestamp: begin}}
			n.Status.Conditions = conditions(ready, nil, begin)
			renewed := metav1.NewMicroTime(begin.Time)
			objects = append(objects, n, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: v1.NamespaceNodeLease, Name: name(i)}, Spec: coordinationv1.LeaseSpec{RenewTime: &renewed}})
		}
		bare := fake.NewSimpleClientset(objects...)
		client := withREST{bare}
		ctx, cancel := context.WithCancel(t.Context())
		factory := informers.NewSharedInformerFactory(bare, 0) // which declares that it lists before it watches
		c, err := nodelifecycle.NewNodeLifecycleController(ctx, factory.Coordination().V1().Leases(), factory.Core().V1().Pods(), factory.Core().V1().Nodes(), factory.Apps().V1().DaemonSets(),
			client, look, time.Minute, 50*time.Second, 0.1, 0.01, 50, 0.55)
		if err != nil {
			t.Fatal(err)
		}
		factory.Start(ctx.Done())
		done := make(chan struct{})
		go func() { c.Run(ctx); close(done) }()
		report := func(i int, does string) {
			n, err := client.CoreV1().Nodes().Get(ctx, name(i), metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			n.Status.Conditions = conditions(does, n.Status.Conditions, metav1.Now())
			if _, err := client.CoreV1().Nodes().UpdateStatus(ctx, n, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			renewed := metav1.NowMicro()
			l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: v1.NamespaceNodeLease, Name: name(i)}, Spec: coordinationv1.LeaseSpec{RenewTime: &renewed}}
			if _, err := client.CoordinationV1().Leases(v1.NamespaceNodeLease).Update(ctx, l, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(500 * time.Millisecond) // between two checks of the controller
		h.play(report, func(at int) {
			time.Sleep(time.Second)
			synctest.Wait()
			for i := range h.zones {
				n, err := client.CoreV1().Nodes().Get(ctx, name(i), metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				var taints []string
				for _, x := range n.Spec.Taints {
					taints = append(taints, x.Key+":"+string(x.Effect))
				}
				all.note(at, i, taints)
			}
		})
		cancel()
		<-done
		factory.Shutdown()
	})
	return all
}

// play reports what each node reports, every ten seconds and when that changes, and
// then lets a second pass.
func (h *history) play(report func(node int, does string), pass func(at int)) {
	doing := make([]string, len(h.zones))
	for i := range doing {
		doing[i] = ready
	}
	events := h.events
	for at := range h.end {
		changed := map[int]bool{}
		for len(events) > 0 && events[0].at == at {
			doing[events[0].node], changed[events[0].node] = events[0].does, true
			events = events[1:]
		}
		for i, does := range doing {
			if does != silent && (changed[i] || at%10 == 0) {
				report(i, does)
			}
		}
		pass(at)
	}
}

// ours runs our engine through the history.
func (h *history) ours(t *testing.T) seen {
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	b := &eviction.MemBackend{Clock: clock}
	for i, zone := range h.zones {
		b.PutNode(fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name(i), UID: name(i), Labels: map[string]string{eviction.LabelZone: zone}, CreationTimestamp: clock.Now()}})
		b.Report(name(i), true)
	}
	r, err := eviction.NewRunner(b, &eviction.Policy{NodeLifecycle: &eviction.NodeLifecycle{}}, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	all := seen{}
	fresh := true // something has been reported
	var wake time.Time
	h.play(func(i int, does string) {
		b.Report(name(i), does != notReady)
		n, _ := b.Node(name(i))
		for _, c := range conditions(does, nil, metav1.Time{}) {
			now := fairlead.NodeCondition{Type: string(c.Type), Status: fairlead.ConditionStatus(c.Status), LastHeartbeatTime: clock.Now(), LastTransitionTime: clock.Now()}
			at := slices.IndexFunc(n.Status.Conditions, func(o fairlead.NodeCondition) bool { return o.Type == now.Type })
			switch {
			case at < 0:
				n.Status.Conditions = append(n.Status.Conditions, now)
			case n.Status.Conditions[at].Status != now.Status:
				n.Status.Conditions[at] = now
			}
		}
		b.PutNode(n)
		fresh = true
	}, func(at int) {
		for until := clock.Now().Add(time.Second); ; {
			if fresh || !wake.IsZero() && !wake.After(clock.Now()) {
				wake, fresh = h.pass(t, r)
			}
			if fresh {
				continue
			}
			if wake.IsZero() || wake.After(until) {
				clock.Set(until)
				break
			}
			clock.Set(wake)
		}
		for i := range h.zones {
			n, _ := b.Node(name(i))
			var taints []string
			for _, x := range n.Spec.Taints {
				taints = append(taints, x.Key+":"+string(x.Effect))
			}
			all.note(at, i, taints)
		}
	})
	return all
}

// pass reconciles everything once, and returns when to do it again, and whether
// something was done.
func (h *history) pass(t *testing.T, r *eviction.Runner) (wake time.Time, acted bool) {
	merge := func(w time.Time, actions int) {
		if acted = acted || actions > 0; !w.IsZero() && (wake.IsZero() || w.Before(wake)) {
			wake = w
		}
	}
	for i := range h.zones {
		d, err := r.Reconcile(t.Context(), name(i))
		if err != nil {
			t.Fatal(err)
		}
		merge(d.Wake, len(d.Actions))
	}
	d, err := r.ReconcileZones(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	merge(d.Wake, len(d.Actions))
	return wake, acted
}

// apart is how many seconds the two may be apart: the reference notices a report at its
// next check.
const apart = 3

// grace is for how many seconds a node may be silent.
const grace = 50

// same compares what the two have seen of a node. What lasts only for a moment does not
// count; what lasts slightly longer may count for only one of them.
func (h *history) same(theirs, ours []string) bool {
	for _, k := range []int{apart, 2 * apart} {
		for _, m := range []int{apart, 2 * apart} {
			if slices.EqualFunc(lasting(theirs, k), lasting(ours, m), h.near) {
				return true
			}
		}
	}
	return false
}

// near compares two changes. In wild histories one of the two may find a silent node later:
// when zones stop being dark, all nodes get a new grace period, and zones that are dark only
// for a moment may be so for only one of the two.
func (h *history) near(theirs, ours string) bool {
	var t, u int
	fmt.Sscan(theirs, &t)
	fmt.Sscan(ours, &u)
	most := apart
	if h.kind == wild && strings.HasSuffix(theirs, "unreachable") {
		most += grace
	}
	return max(t-u, u-t) <= most && strings.TrimLeft(theirs, "0123456789") == strings.TrimLeft(ours, "0123456789")
}

// lasting leaves out what lasts no longer than the given seconds.
func lasting(list []string, most int) (kept []string) {
	last := ""
	for i, x := range list {
		var t, next int
		fmt.Sscan(x, &t)
		if i+1 < len(list) {
			if fmt.Sscan(list[i+1], &next); next-t <= most {
				continue
			}
		}
		if keys := strings.TrimLeft(x, "0123456789"); keys != last && (len(kept) > 0 || keys != " ") {
			kept, last = append(kept, x), keys
		}
	}
	return kept
}

// starts returns when the nodes of a zone got a NoExecute taint, in order.
func (h *history) starts(s seen, zone string) (all []string) {
	var at []int
	for i, z := range h.zones {
		if z != zone {
			continue
		}
		for _, x := range lasting(s[name(i)+" NoExecute"], apart) {
			var t int
			fmt.Sscan(x, &t)
			at = append(at, t)
		}
	}
	slices.Sort(at)
	for i, t := range at {
		all = append(all, fmt.Sprint(t, " turn", i))
	}
	return all
}

// TestNodes: NoSchedule taints are added and removed at the same time in all histories.
// So are NoExecute taints if one node of a zone at a time is not ready. If some wait for
// their turn, the turns come at the same time, but which node is first may differ. In
// wild histories NoExecute taints may differ as listed in docs/compatibility/taints.md under
// turns, tokens and dark zones; these are counted.
func TestNodes(t *testing.T) {
	count := map[string]int{}
	wrong := 0
	for seed := range uint64(long.N(8, 10_000)) {
		h := newHistory(seed)
		theirs, ours := h.theirs(t), h.ours(t)
		for i := range h.zones {
			for _, effect := range []string{"NoSchedule", "NoExecute"} {
				id := name(i) + " " + effect
				equal := h.same(theirs[id], ours[id])
				if verdict := map[bool]string{true: "same", false: "different"}[equal]; len(theirs[id])+len(ours[id]) > 0 {
					count[h.kind+" "+effect+" "+verdict]++
				}
				if !equal && (effect == "NoSchedule" || h.kind == plain) {
					wrong++
					t.Errorf("seed %d, %s: %s: Kubernetes %q, we %q; %v", seed, h.kind, id, theirs[id], ours[id], h.events)
				}
			}
		}
		for _, zone := range slices.Compact(slices.Clone(h.zones)) {
			if a, b := h.starts(theirs, zone), h.starts(ours, zone); h.kind == waiting && !h.same(a, b) {
				wrong++
				t.Errorf("seed %d, %s: turns of zone %s: Kubernetes %q, we %q; %v", seed, h.kind, zone, a, b, h.events)
			}
		}
		if wrong > 4 {
			t.FailNow()
		}
	}
	t.Log(count)
	for _, kind := range []string{plain + " NoExecute", plain + " NoSchedule", waiting + " NoExecute", wild + " NoSchedule"} {
		if count[kind+" same"] == 0 {
			t.Errorf("%s: nothing was compared", kind)
		}
	}
}
