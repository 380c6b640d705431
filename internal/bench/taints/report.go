package taints

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/bench/cost"
	"github.com/fairlead/fairlead/taints"
	matcher "github.com/fairlead/fairlead/taints/fleet"
)

// The size of the cluster: the largest that Kubernetes supports.
const (
	clusterNodes = 5_000
	clusterPods  = 150_000
)

// Report compares answers, and then writes what they cost.
func Report(ctx context.Context, w io.Writer) error {
	if err := reportRows(w); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return reportMatrix(w)
}

// hard reports whether a taint keeps new pods off a node.
func hard(t *v1.Taint) bool {
	return t.Effect == v1.TaintEffectNoSchedule || t.Effect == v1.TaintEffectNoExecute
}

// theirs asks Kubernetes whether a pod's tolerations admit it to a node.
func (f *fleet) theirs(pod, node int) bool {
	_, found := corev1.FindMatchingUntoleratedTaint(klog.Background(), f.taints[node], f.tolerations[pod], hard, false)
	return !found
}

// reportRows asks about one pod on every node.
func reportRows(w io.Writer) error {
	f := rowFleet(clusterNodes)
	m := matcher.NewMatcher(nil)
	f.load(m)
	fmt.Fprintln(w, "| one pod on 5,000 nodes; 3 taints, 4 tolerations | Kubernetes, a node | ours | ours, compiled | Kubernetes takes | compiled |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	for p, name := range []string{"it tolerates all", "it fails at the last taint", "it fails at the first taint"} {
		row := m.RowFor(f.pods[p].Spec.Tolerations)
		tolerations := f.pods[p].Spec.Tolerations
		open := func(answer func(node int) bool) func() error {
			return func() error {
				n := 0
				for i := range f.nodes {
					if answer(i) {
						n++
					}
				}
				if n != 0 && n != clusterNodes {
					return fmt.Errorf("%s: %d of %d nodes are open", name, n, clusterNodes)
				}
				return nil
			}
		}
		for i := range f.nodes {
			want := f.theirs(p, i)
			if got := taints.FirstUntolerated(tolerations, f.nodes[i].Spec.Taints, taints.OnScheduling, nil) == nil; got != want || schedulable(&row, i) != want {
				return fmt.Errorf("%s: node %d: Kubernetes says %v, ours otherwise", name, i, want)
			}
		}
		costs, err := cost.MeasureAll(rounds,
			open(func(i int) bool { return f.theirs(p, i) }),
			open(func(i int) bool {
				return taints.FirstUntolerated(tolerations, f.nodes[i].Spec.Taints, taints.OnScheduling, nil) == nil
			}),
			func() error {
				n := 0
				for i := range row.Len() {
					if schedulable(&row, i) {
						n++
					}
				}
				if n != 0 && n != clusterNodes {
					return fmt.Errorf("%s: %d of %d nodes are open", name, n, clusterNodes)
				}
				return nil
			},
		)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %.1f x | %.0f x |\n", name, perNode(costs[0]), perNode(costs[1]), perNode(costs[2]),
			float64(costs[0].Time)/float64(costs[1].Time), float64(costs[0].Time)/float64(costs[2].Time))
	}
	_, err := fmt.Fprintln(w)
	return err
}

func perNode(c cost.Cost) string {
	return fmt.Sprintf("%.1f ns, %d allocs", float64(c.Time.Nanoseconds())/clusterNodes, c.Allocs/clusterNodes)
}

// rounds is how often everything is measured; medians are reported.
const rounds = 7

// sample is how many pods Kubernetes is asked about: all would take minutes.
const sample = 300

// reportMatrix asks about every pod on every node.
func reportMatrix(w io.Writer) error {
	f := matrixFleet(clusterNodes, clusterPods)
	m := f.matcher()
	step := clusterPods / sample
	for p := 0; p < clusterPods; p += step {
		row, _ := m.Row(f.pods[p].Name)
		for n := range clusterNodes {
			if schedulable(&row, n) != f.theirs(p, n) {
				return fmt.Errorf("pod %d on node %d: the answers differ", p, n)
			}
		}
	}
	begin := time.Now()
	for p := 0; p < clusterPods; p += step {
		for n := range clusterNodes {
			f.theirs(p, n)
		}
	}
	theirs := time.Since(begin) * time.Duration(step)
	begin = time.Now()
	open := f.countOpen(m)
	clock := time.Since(begin)
	costs, err := cost.MeasureAll(rounds,
		func() error { f.matcher(); return nil },
		func() error { f.countOpen(m); return nil },
		func() error { f.countPods(m); return nil },
	)
	if err != nil {
		return err
	}
	change, err := nodeChange(m)
	if err != nil {
		return err
	}
	pods, nodes := m.Classes()
	fmt.Fprintf(w, "| every pod on every node: 150,000 x 5,000; %d and %d classes, %.1f %% open | processor time |\n|---|---|\n",
		pods, nodes, 100*float64(open)/clusterNodes/clusterPods)
	fmt.Fprintf(w, "| ours: taking in nodes and pods | %s |\n", costs[0].Time.Round(time.Millisecond))
	fmt.Fprintf(w, "| ours: asking 750 million times, 2 goroutines (on the clock %s) | %s |\n", clock.Round(time.Millisecond), costs[1].Time.Round(time.Millisecond))
	fmt.Fprintf(w, "| ours: how many nodes each pod fits | %s |\n", costs[2].Time.Round(100*time.Microsecond))
	fmt.Fprintf(w, "| Kubernetes, from %d pods, on the clock | %s |\n", sample, theirs.Round(time.Second))
	_, err = fmt.Fprintf(w, "| ours: one node gets taints that no other has; those that others have | %s, %s |\n\n", change[0].Time, change[1].Time)
	return err
}

// matcher returns a matcher with all nodes and pods.
func (f *fleet) matcher() *matcher.Matcher {
	m := matcher.NewMatcher(nil)
	f.load(m)
	for i := range f.pods {
		m.SetPod(f.pods[i].Name, f.pods[i].Spec.Tolerations)
	}
	return m
}

// load adds all nodes to a matcher.
func (f *fleet) load(m *matcher.Matcher) {
	for i := range f.nodes {
		n := &f.nodes[i]
		m.SetNode(n.Name, n.Spec.Taints, n.Spec.Unschedulable)
	}
}

func schedulable(row *matcher.Row, node int) bool {
	_, v := row.At(node)
	return v.Schedulable()
}

// countPods asks for each pod on how many nodes it can be placed.
func (f *fleet) countPods(m *matcher.Matcher) (total int) {
	for i := range f.pods {
		total += m.Schedulable(f.pods[i].Name)
	}
	return total
}

// countOpen asks every question one by one.
func (f *fleet) countOpen(m *matcher.Matcher) int64 {
	var total atomic.Int64
	var wait sync.WaitGroup
	for half := range 2 {
		wait.Go(func() {
			open := int64(0)
			for p := half; p < clusterPods; p += 2 {
				row, _ := m.Row(f.pods[p].Name)
				for n := range row.Len() {
					if schedulable(&row, n) {
						open++
					}
				}
			}
			total.Add(open)
		})
	}
	wait.Wait()
	return total.Load()
}

// nodeChange measures a change to a set of taints that is new to the fleet, and one to
// an existing set.
func nodeChange(m *matcher.Matcher) ([]cost.Cost, error) {
	const name = "node-7"
	serial := 0
	fresh := func() error {
		serial++
		m.SetNode(name, []fairlead.Taint{{Key: "example.com/pool-1", Value: fmt.Sprint("x", serial), Effect: fairlead.NoSchedule}}, false)
		return nil
	}
	turn := 0
	m.SetNode("open", nil, false)
	m.SetNode("cordoned", nil, true)
	known := func() error {
		turn++
		m.SetNode(name, nil, turn%2 == 0)
		return nil
	}
	return cost.MeasureAll(rounds, fresh, known)
}
