package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// shardsHeld returns how many shards each live replica holds according to the
// server, sorted.
func (w *world) shardsHeld() []int {
	var all coordinationv1.LeaseList
	if err := w.admin.List(w.Context(), &all, client.InNamespace(operator.Namespace)); err != nil {
		return nil
	}
	held := map[string]int{}
	for _, l := range all.Items {
		if who := l.Spec.HolderIdentity; strings.Contains(l.Name, "-shard-") && who != nil && *who != "" {
			held[*who]++
		}
	}
	var out []int
	for _, n := range held {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// Replicas share nodes by shards: all of them act, and nothing is done twice
// although they are killed at random and restarted, and the API server is down
// for a while.
func TestShards(t *testing.T) {
	for _, c := range []struct {
		replicas int
		even     string
	}{{2, "[4 4]"}, {4, "[2 2 2 2]"}} {
		t.Run(fmt.Sprint(c.replicas), func(t *testing.T) {
			w := newWorld(t, nil)
			operator.Install(t, w.Cluster, "rbac-eviction.yaml", "rbac-shards.yaml")
			w.namespace("shop")
			const nodes = 12
			var names []string
			for i := range nodes {
				names = append(names, fmt.Sprintf("n%d", i))
				if err := w.kubelets.AddNode(t.Context(), names[i], nil); err != nil {
					t.Fatal(err)
				}
			}
			start := func() *operator.Process {
				return operator.Start(t, w.Cluster, "-controllers=eviction", "-shards=8", "-lease-duration=9s", "-retry-period=1s")
			}
			var replicas []*operator.Process
			for range c.replicas {
				replicas = append(replicas, start())
			}
			w.eventually("all replicas hold their part", func() string { return expect(fmt.Sprint(w.shardsHeld()), c.even) })

			left := w.departures("shop")
			pods, due := map[string]types.UID{}, map[string]time.Time{}
			var all []string
			round := func(seconds int64) {
				t.Helper()
				for _, node := range names {
					for i := range 3 {
						name := fmt.Sprintf("%s-%d", node, len(pods)+i)
						pods[name] = w.pod("shop", name, node, func(p *corev1.Pod) { tolerating(seconds)(p) }).UID
						all = append(all, name)
					}
				}
				for _, node := range names {
					at := w.taint(node, true)
					for name := range pods {
						if strings.HasPrefix(name, node+"-") && due[name].IsZero() {
							due[name] = at.Add(time.Duration(seconds) * time.Second)
						}
					}
				}
			}
			gone := func() {
				t.Helper()
				w.eventually("the pods leave", func() string { // by a list: in an outage there is no watch
					var rest corev1.PodList
					if err := w.admin.List(t.Context(), &rest, client.InNamespace("shop")); err != nil {
						return err.Error()
					}
					left := []string{}
					for _, p := range rest.Items {
						left = append(left, fmt.Sprintf("%s, evicted at %v", p.Name, p.DeletionTimestamp))
					}
					return expect(strings.Join(left, "; "), "")
				})
				for _, node := range names {
					w.taint(node, false)
				}
			}
			round(0)
			gone()
			for i, p := range replicas {
				if n := p.Metric(`fairlead_passes_total{engine="taints",result="ok"}`); n == 0 {
					t.Errorf("replica %d has made no pass", i)
				}
			}

			unlogged := map[string]bool{}
			random := rand.New(rand.NewPCG(uint64(c.replicas), 0))
			for i := range 3 {
				round(4)
				time.Sleep(time.Duration(3000+random.IntN(2000)) * time.Millisecond)
				victim := random.IntN(len(replicas))
				replicas[victim].Kill()
				if i == 1 {
					for _, name := range all[len(all)-3*nodes:] { // those being deleted
						unlogged[name] = due[name].Before(time.Now())
					}
					w.outage(4 * time.Second)
				}
				replicas[victim] = start()
				gone()
			}
			begin := time.Now()
			if err := replicas[0].Stop(); err != nil {
				t.Errorf("stopping a replica: %v", err)
			}
			round(0)
			gone()
			t.Logf("%d replicas: pods of a replica that stopped left within %v", c.replicas, time.Since(begin))

			w.evictedOnceBut(pods, unlogged, all...)
			var late []time.Duration
			for _, name := range all {
				told := left.of(name)
				if told.IsZero() {
					continue // it left while there was no watch
				}
				d := told.Sub(due[name])
				if d < 0 {
					t.Errorf("%s left %v before its deadline", name, -d)
				}
				late = append(late, d)
			}
			slices.Sort(late)
			t.Logf("%d replicas: %d pods, late by %v (median), %v (last)", c.replicas, len(late), late[len(late)/2], late[len(late)-1])
			t.Logf("requests for leases: %s", summary(w.requests(cluster.Filter{User: operator.User, Resource: "leases"})))
			w.rightsUsed([]string{"rbac-shards.yaml"})
		})
	}
}
