package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// sizes returns the numbers of nodes in FAIRLEAD_NODES, which are separated by
// commas; otherwise 1,000.
func sizes(t *testing.T) []int {
	t.Helper()
	text := os.Getenv("FAIRLEAD_NODES")
	if text == "" {
		return []int{1000}
	}
	var out []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 2*perZone {
			t.Fatalf("FAIRLEAD_NODES=%s: %q is not a number of nodes from %d", text, word, 2*perZone)
		}
		out = append(out, n)
	}
	return out
}

// Parameters that do not depend on the number of nodes.
const (
	perNode     = 10               // pods
	perZone     = 50               // nodes
	maintenance = 5 * time.Second  // how long pods tolerate it
	silence     = 5 * time.Second  // how long the first pod of a silent node stays; the second stays twice as long, and so on
	rest        = 30 * time.Second // how long nothing happens at first
	away        = 34 * time.Second // how long after its taint a silent node comes back, if it does
)

// Nodes without machines, with ten pods each. Every tenth is tainted for maintenance,
// one after the other; every twentieth falls silent, and half of these come back when
// some of their pods have left; on the others pods are replaced. Memory, requests and
// how late pods are evicted, as tables and a plot.
//
//	FAIRLEAD_NODES=100,300,1000 e2e/run -v TestSizes
//
// It runs with 1,000 nodes if FAIRLEAD_NODES does not say how many. FAIRLEAD_OUT names a directory for sizes.md and
// sizes.svg.
func TestSizes(t *testing.T) {
	var all []measured
	for _, n := range sizes(t) {
		t.Run(fmt.Sprint(n), func(t *testing.T) { all = append(all, newSize(t, n).run()) })
	}
	switch {
	case t.Failed():
		return
	case len(all) == 0:
		t.Skip("nothing was measured: see the sizes")
	}
	tables := tablesOf(all)
	t.Logf("\n%s", tables)
	if dir := os.Getenv("FAIRLEAD_OUT"); dir != "" {
		for name, text := range map[string]string{"sizes.md": tables, "sizes.svg": plot(all)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
}

// together calls f for the numbers below n, sixteen at a time.
func together(n int, f func(i int)) {
	var wait sync.WaitGroup
	next := make(chan int)
	for range 16 {
		wait.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}

// A sized is a cluster with a number of nodes.
type sized struct {
	*world
	nodes    int
	left     *departures
	taints   *tainted
	leases   *leases
	pods     map[string]types.UID // pods that may have to leave
	maintain map[int]time.Time    // when nodes were tainted
}

func nodeName(n int) string { return fmt.Sprintf("n%d", n) }

func podName(n, i int) string { return fmt.Sprintf("p-%d-%d", n, i) }

// What happens to a node.
func maintained(n int) bool { return n%10 == 0 }
func silent(n int) bool     { return n%20 == 5 }
func returns(n int) bool    { return n%40 == 5 }

// staysSilent returns how long a pod of a silent node tolerates that.
func staysSilent(i int) time.Duration { return silence * time.Duration(i+1) }

func newSize(t *testing.T, nodes int) *sized {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "rbac-eviction.yaml")
	w.namespace("shop")
	s := &sized{world: w, nodes: nodes, pods: map[string]types.UID{}, maintain: map[int]time.Time{}}
	s.leases = w.renewAll(nodes)
	var mu sync.Mutex
	together(nodes, func(n int) {
		zone := map[string]string{corev1.LabelTopologyZone: fmt.Sprintf("z%d", n/perZone)}
		if err := w.kubelets.AddNode(t.Context(), nodeName(n), zone); err != nil {
			t.Error(err)
		}
		for i := range perNode {
			p := w.pod("shop", podName(n, i), nodeName(n), patience(i))
			if maintained(n) || silent(n) {
				mu.Lock()
				s.pods[p.Name] = p.UID
				mu.Unlock()
			}
		}
	})
	s.left, s.taints = w.departures("shop"), w.watchTaints()
	return s
}

// patience returns a change that sets the tolerations of a node's pod.
func patience(i int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		tolerating(int64(maintenance / time.Second))(p)
		seconds := int64(staysSilent(i) / time.Second)
		for _, key := range []string{corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady} {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
			})
		}
	}
}

// run runs the scenario.
func (s *sized) run() measured {
	manager := operator.Start(s.T, s.Cluster, "-controllers=eviction", "-eviction-lifecycle", "-leader-elect=false")
	manager.Ready()
	m := measured{nodes: s.nodes, pods: s.nodes * perNode}
	s.settled()
	resting := time.Now()
	time.Sleep(rest)
	m.resting = len(s.requests(cluster.Filter{User: operator.User, Since: resting}))

	started := time.Now()
	stop := s.churn()
	s.silence()
	for n := range s.nodes {
		if maintained(n) {
			s.maintain[n] = s.taint(nodeName(n), true)
			time.Sleep(200 * time.Millisecond)
		}
	}
	s.comeBack()
	s.within(3*time.Minute, "the pods leave", func() string {
		if names := s.missing(); len(names) > 0 {
			return fmt.Sprintf("%d have not: %q", len(names), names[:min(len(names), 20)])
		}
		return ""
	})
	time.Sleep(3 * silence) // other pods might leave
	m.took = time.Since(started)
	m.churned = stop()
	s.evaluate(&m)
	m.count(s.requests(cluster.Filter{User: operator.User, Since: started}))
	m.memory = manager.Memory().Peak
	server, err := cluster.MemoryOf(s.PIDs()["kube-apiserver"])
	if err != nil {
		s.Fatal(err)
	}
	m.server = server.Peak
	return m
}

// settled waits until the operator makes no more requests.
func (s *sized) settled() {
	s.Helper()
	before := -1
	s.within(5*time.Minute, "the operator comes to rest", func() string {
		n := len(s.requests(cluster.Filter{User: operator.User}))
		if n == before {
			return ""
		}
		before = n
		time.Sleep(5 * time.Second)
		return fmt.Sprintf("%d requests so far", n)
	})
}

// churn replaces pods, ten times a second, on the nodes that stay. stop ends
// that and returns how many were replaced.
func (s *sized) churn() (stop func() int) {
	ctx, cancel := context.WithCancel(s.Context())
	var churning sync.WaitGroup
	count := 0
	churning.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			n := i%(s.nodes-1) + 1
			if maintained(n) || silent(n) {
				continue
			}
			old := &corev1.Pod{}
			old.Namespace, old.Name = "shop", podName(n, (i/s.nodes)%perNode)
			_ = s.admin.Delete(ctx, old)
			s.world.pod("shop", fmt.Sprintf("c-%d", i), nodeName(n), patience(i%perNode))
			count++
			time.Sleep(100 * time.Millisecond)
		}
	})
	return func() int {
		cancel()
		churning.Wait()
		return count
	}
}

// silence makes the silent nodes stop reporting.
func (s *sized) silence() {
	for n := range s.nodes {
		if silent(n) {
			s.leases.quiet(n, true)
		}
	}
}

// comeBack waits until all silent nodes are tainted, and for each that returns until it
// has been silent for long enough; then it reports again.
func (s *sized) comeBack() {
	s.Helper()
	var all sync.WaitGroup
	for n := range s.nodes {
		if !silent(n) {
			continue
		}
		all.Go(func() {
			for s.taints.of(nodeName(n)).since.IsZero() {
				if s.Context().Err() != nil {
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
			if !returns(n) {
				return
			}
			time.Sleep(time.Until(s.taints.of(nodeName(n)).since.Add(away)))
			s.leases.quiet(n, false)
			s.taints.reporting(nodeName(n))
			if err := s.kubelets.Report(s.Context(), nodeName(n), corev1.ConditionTrue); err != nil {
				s.Error(err)
			}
		})
	}
	all.Wait()
}

// missing returns the pods that must leave and were not evicted.
func (s *sized) missing() (names []string) {
	for n := range s.nodes {
		for i := range perNode {
			if _, must := s.due(n, i); must && s.left.of(podName(n, i)).IsZero() {
				names = append(names, podName(n, i))
			}
		}
	}
	return names
}

// due returns when a pod must leave because of its node's taint, if it must: not if
// the taint is removed before that, or a moment later.
func (s *sized) due(n, i int) (at time.Time, must bool) {
	switch {
	case maintained(n):
		return s.maintain[n].Add(maintenance), true
	case silent(n):
		taint := s.taints.of(nodeName(n))
		at = taint.since.Add(staysSilent(i))
		return at, taint.gone.IsZero() || at.Before(taint.gone.Add(-2*time.Second))
	}
	return time.Time{}, false
}

// evaluate compares when pods were evicted with when they were due, and fails if a
// pod left unnecessarily, twice, or too early.
func (s *sized) evaluate(m *measured) {
	s.Helper()
	m.late = map[string][]time.Duration{}
	var gone []string
	for n := range s.nodes {
		cause := byMaintenance
		if silent(n) {
			cause = bySilence
		}
		for i := range perNode {
			name := podName(n, i)
			told := s.left.of(name)
			if _, known := s.pods[name]; !known || told.IsZero() {
				continue
			}
			gone = append(gone, name)
			due, _ := s.due(n, i)
			if told.Before(due) {
				s.Errorf("%s left %v before its deadline", name, due.Sub(told))
			}
			if back := s.taints.of(nodeName(n)).gone; !back.IsZero() && due.After(back) {
				s.Errorf("%s left %v after its node's taint had gone, and was due %v after that", name, told.Sub(back), due.Sub(back))
			}
			m.late[cause] = append(m.late[cause], told.Sub(due))
		}
		if returns(n) {
			t := s.taints.of(nodeName(n))
			m.back = append(m.back, t.gone.Sub(t.reported))
		}
	}
	for _, late := range m.late {
		slices.Sort(late)
	}
	slices.Sort(m.back)
	m.evicted = len(gone)
	s.evictedOnce(s.pods, gone...)
}
