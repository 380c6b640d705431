// Package timing runs Kubernetes' own taint eviction controller and ours through
// the same histories of one node, in virtual time, and compares when which pod is
// evicted.
package timing

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/controller/tainteviction"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/taints/eviction"
)

// event is what happens to the node, or to a pod on it.
type event struct {
	after       time.Duration // since the previous event
	taints      []fairlead.Taint
	pod         string // empty for the node
	tolerations []fairlead.Toleration
}

// history is pods with their initial tolerations, and what happens then.
type history struct {
	pods   map[string][]fairlead.Toleration
	events []event
	// plain says that nothing happens for which docs/compatibility/taints.md names a
	// difference: one taint is added, with one value, and stays or is removed for
	// good, and tolerations do not change.
	plain bool
}

func tolerations(r *rand.Rand) []fairlead.Toleration {
	var list []fairlead.Toleration
	for _, key := range []string{"a", "b", "a"} {
		if r.IntN(3) == 0 {
			continue
		}
		t := fairlead.Toleration{Key: key, Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute}
		if n := []int64{-1, 0, 7, 30, 90}[r.IntN(5)]; r.IntN(4) > 0 {
			t.TolerationSeconds = &n
		}
		if r.IntN(5) == 0 {
			t.Operator, t.Value = fairlead.TolerationEqual, []string{"", "v"}[r.IntN(2)]
		}
		list = append(list, t)
	}
	return list
}

func newHistory(seed uint64) *history {
	r := rand.New(rand.NewPCG(seed, 7))
	h := &history{pods: map[string][]fairlead.Toleration{}, plain: r.IntN(2) == 0}
	for i := range 1 + r.IntN(3) {
		h.pods[fmt.Sprint("p", i)] = tolerations(r)
	}
	var on []fairlead.Taint
	for i := range 1 + r.IntN(6) {
		e := event{after: time.Duration(1+r.IntN(40)) * time.Second}
		switch {
		case h.plain && i == 0:
			on = []fairlead.Taint{{Key: []string{"a", "b"}[r.IntN(2)], Value: []string{"", "v"}[r.IntN(2)], Effect: fairlead.NoExecute}}
		case h.plain && i == 1:
			on = nil
		case h.plain:
			continue
		case r.IntN(4) == 0:
			e.pod, e.tolerations = fmt.Sprint("p", r.IntN(len(h.pods))), tolerations(r)
		default:
			key := []string{"a", "b"}[r.IntN(2)]
			at := slices.IndexFunc(on, func(t fairlead.Taint) bool { return t.Key == key })
			on = slices.Clone(on)
			if at >= 0 && r.IntN(2) == 0 {
				on = slices.Delete(on, at, at+1)
				break
			}
			if at >= 0 {
				on = slices.Delete(on, at, at+1)
			}
			on = append(on, fairlead.Taint{Key: key, Value: []string{"", "v"}[r.IntN(2)], Effect: fairlead.NoExecute})
		}
		e.taints = on
		h.events = append(h.events, e)
	}
	return h
}

// first returns when Kubernetes' controller evicts a pod, by its rule in a few lines:
// if tolerations are limited, the wait that began first counts, however taints and
// tolerations change meanwhile, until no taint is left, all are tolerated for good, or
// one is not tolerated at all.
func (h *history) first(pod string) (at time.Duration, gone bool) {
	list, taints := h.pods[pod], []fairlead.Taint(nil)
	now, begun, due, waits := time.Duration(0), time.Duration(0), time.Duration(0), false
	for _, e := range h.events {
		now += e.after
		if waits && due <= now {
			return due, true
		}
		if e.pod != "" {
			if e.pod != pod {
				continue
			}
			list = e.tolerations
		} else {
			taints = e.taints
		}
		least, ends := time.Duration(-1), false
		tolerated, used := true, 0
		for i := range taints {
			j := slices.IndexFunc(list, func(o fairlead.Toleration) bool {
				return (o.Key == "" || o.Key == taints[i].Key) && (o.Operator == fairlead.TolerationExists || o.Value == taints[i].Value) && (o.Effect == "" || o.Effect == taints[i].Effect)
			})
			if j < 0 {
				tolerated = false
				break
			}
			used++
			if n := list[j].TolerationSeconds; n != nil {
				if d := time.Duration(max(0, *n)) * time.Second; !ends || d < least {
					least, ends = d, true
				}
			}
		}
		switch {
		case len(taints) == 0:
			waits = false
		case !tolerated:
			return now, true
		case !ends:
			waits = false
		case waits && begun+least < now+least:
			// the wait that began first goes on
		default:
			begun, due, waits = now, now+least, true
			if least == 0 {
				return now, true
			}
		}
	}
	return due, waits
}

const settle = 3 * time.Minute // longer than any toleration

func theirTaints(list []fairlead.Taint) (out []v1.Taint) {
	for _, t := range list {
		out = append(out, v1.Taint{Key: t.Key, Value: t.Value, Effect: v1.TaintEffect(t.Effect)})
	}
	return out
}

func theirTolerations(list []fairlead.Toleration) (out []v1.Toleration) {
	for _, t := range list {
		out = append(out, v1.Toleration{Key: t.Key, Operator: v1.TolerationOperator(t.Operator), Value: t.Value, Effect: v1.TaintEffect(t.Effect), TolerationSeconds: t.TolerationSeconds})
	}
	return out
}

// theirs returns when the controller of Kubernetes deletes each pod.
func (h *history) theirs(t *testing.T) map[string]time.Duration {
	gone := map[string]time.Duration{}
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
		objects := []runtime.Object{node}
		pods := map[string]*v1.Pod{}
		for name, list := range h.pods {
			pods[name] = &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: v1.PodSpec{NodeName: "n", Tolerations: theirTolerations(list)}}
			objects = append(objects, pods[name])
		}
		client := fake.NewSimpleClientset(objects...)
		var mu sync.Mutex
		client.PrependReactor("delete", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
			mu.Lock()
			defer mu.Unlock()
			name := a.(clienttesting.DeleteAction).GetName()
			if _, twice := gone[name]; !twice {
				gone[name] = time.Since(begin)
			}
			return false, nil, nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		factory := informers.NewSharedInformerFactory(client, 0)
		podInformer := factory.Core().V1().Pods()
		if err := podInformer.Informer().AddIndexers(cache.Indexers{"spec.nodeName": func(o any) ([]string, error) { return []string{o.(*v1.Pod).Spec.NodeName}, nil }}); err != nil {
			t.Fatal(err)
		}
		c, err := tainteviction.New(ctx, client, podInformer, factory.Core().V1().Nodes(), "taint-eviction-controller")
		if err != nil {
			t.Fatal(err)
		}
		factory.Start(ctx.Done())
		done := make(chan struct{})
		go func() { c.Run(ctx); close(done) }()
		time.Sleep(2 * time.Second) // the caches are filled
		synctest.Wait()
		begin = time.Now()
		for _, e := range h.events {
			time.Sleep(e.after)
			synctest.Wait()
			if e.pod != "" {
				mu.Lock()
				_, left := gone[e.pod]
				mu.Unlock()
				if !left {
					p := pods[e.pod].DeepCopy()
					p.Spec.Tolerations = theirTolerations(e.tolerations)
					pods[e.pod] = p
					_, err = client.CoreV1().Pods("ns").Update(ctx, p, metav1.UpdateOptions{})
				}
			} else {
				n := node.DeepCopy()
				n.Spec.Taints = theirTaints(e.taints)
				node = n
				_, err = client.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{})
			}
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		time.Sleep(settle)
		synctest.Wait()
		cancel()
		<-done
		factory.Shutdown()
	})
	return gone
}

// ours returns when our engine evicts each pod.
func (h *history) ours() map[string]time.Duration {
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := &eviction.World{Name: "n", Node: &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n", UID: "n"}}}
	for name, list := range h.pods {
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: name, UID: name, CreationTimestamp: begin.Add(-time.Hour)}}
		p.Spec.NodeName, p.Spec.Tolerations = "n", list
		w.Pods = append(w.Pods, p)
	}
	gone := map[string]time.Duration{}
	var state eviction.State
	now := begin
	// live lets time pass until the given time.
	live := func(until time.Time) {
		for {
			d := eviction.Step(state, w, now, nil)
			state = d.State
			for _, a := range d.Actions {
				e := a.(eviction.Evict)
				gone[e.Pod.Name] = now.Sub(begin)
				w.Pods = slices.DeleteFunc(slices.Clone(w.Pods), func(p fairlead.Pod) bool { return p.Name == e.Pod.Name })
			}
			if len(d.Actions) > 0 {
				continue
			}
			if d.Wake.IsZero() || d.Wake.After(until) {
				now = until
				return
			}
			now = d.Wake
		}
	}
	for _, e := range h.events {
		live(now.Add(e.after))
		if e.pod != "" {
			w.Pods = slices.Clone(w.Pods)
			for i := range w.Pods {
				if w.Pods[i].Name == e.pod {
					w.Pods[i].Spec.Tolerations = e.tolerations
				}
			}
		} else {
			n := *w.Node
			n.Spec.Taints = e.taints
			w.Node = &n
		}
		live(now)
	}
	live(now.Add(settle))
	return gone
}

// TestTimes: in plain histories each pod is evicted at the same time. In the others
// Kubernetes evicts by the rule of first, which is checked for each pod, and ours by
// another one: each taint has its own deadline. Pods that are evicted at different
// times, or by only one of the two, are those that docs/compatibility/taints.md names with
// that rule; they are counted.
func TestTimes(t *testing.T) {
	plain, pods, same, earlier, later, onlyTheirs, onlyOurs, unexplained := 0, 0, 0, 0, 0, 0, 0, 0
	for seed := range uint64(long.N(300, 10_000)) {
		h := newHistory(seed)
		theirs, ours := h.theirs(t), h.ours()
		for name := range h.pods {
			a, left := theirs[name]
			b, leaves := ours[name]
			if rule, goes := h.first(name); goes != left || goes && (rule-a).Abs() >= time.Second {
				if unexplained++; unexplained <= 5 {
					t.Errorf("seed %d: %s tolerates %v, %+v: Kubernetes evicts it after %s (%v), by its rule after %s (%v)", seed, name, h.pods[name], h.events, a, left, rule, goes)
				}
			}
			equal := left == leaves && (!left || (a-b).Abs() < time.Second)
			if h.plain {
				plain++
				if !equal {
					t.Fatalf("seed %d: %s tolerates %v, %+v: Kubernetes evicts it after %s (%v), we after %s (%v)", seed, name, h.pods[name], h.events, a, left, b, leaves)
				}
				continue
			}
			pods++
			switch {
			case equal:
				same++
			case !leaves:
				onlyTheirs++
			case !left:
				onlyOurs++
			case b < a:
				earlier++
			default:
				later++
			}
		}
	}
	t.Logf("%d pods in plain histories, all the same; %d in others: %d the same, %d earlier and %d later than Kubernetes, %d that it alone evicts, %d that we alone evict; %d that Kubernetes does not evict by the rule of first",
		plain, pods, same, earlier, later, onlyTheirs, onlyOurs, unexplained)
	if plain == 0 || same*2 < pods {
		t.Error("too few are the same")
	}
}
