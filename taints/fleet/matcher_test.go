package fleet_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/fleet"
)

// TestMatcherAgrees changes fleets at random, with room in the table and without,
// and compares every answer with Evaluate, which is compared with a plain reading
// of the rules; rows that were asked for before must stay as they were.
func TestMatcherAgrees(t *testing.T) {
	for seed := range uint64(long.N(60, 20000)) {
		d := newDraw(seed)
		o := &fleet.Options{MaxCells: []int{0, 1, 40, 300}[d.IntN(4)]}
		o.ComparisonOperators = d.IntN(2) == 0
		f := play{m: fleet.NewMatcher(o), nodes: map[string]*fairlead.Node{}, pods: map[string]*fairlead.Pod{}, options: &o.Options}
		for range 60 {
			f.change(d)
			if d.IntN(5) == 0 {
				f.compare(t)
			}
		}
		if f.compare(t); t.Failed() {
			t.Fatalf("seed %d, options %+v", seed, *o)
		}
	}
}

type play struct {
	m       *fleet.Matcher
	options *taints.Options
	nodes   map[string]*fairlead.Node
	pods    map[string]*fairlead.Pod
	rows    []kept
}

// kept is a row, and what it said when it was asked for.
type kept struct {
	row  fleet.Row
	said map[string]taints.Verdict
}

func (f *play) change(d draw) {
	node, pod := fmt.Sprint("n", d.IntN(12)), fmt.Sprint("p", d.IntN(12))
	switch d.IntN(6) {
	case 0, 1:
		n := d.node()
		f.nodes[node] = n
		f.m.SetNode(node, n.Spec.Taints, n.Spec.Unschedulable)
	case 2, 3:
		p := d.pod()
		f.pods[pod] = p
		f.m.SetPod(pod, p.Spec.Tolerations)
	case 4:
		delete(f.nodes, node)
		f.m.DeleteNode(node)
	case 5:
		delete(f.pods, pod)
		f.m.DeletePod(pod)
	}
}

func (f *play) compare(t *testing.T) {
	t.Helper()
	for i := range 12 {
		p := fmt.Sprint("p", i)
		pod := f.pods[p]
		row, known := f.m.Row(p)
		if known != (pod != nil) {
			t.Fatalf("pod %s is known: %v", p, known)
		}
		if !known {
			if _, known := f.m.Verdict(p, "n0"); known || f.m.Schedulable(p) != 0 || f.m.PodClass(p) != 0 {
				t.Errorf("pod %s is gone, and known", p)
			}
			continue
		}
		said, open := map[string]taints.Verdict{}, 0
		for n, node := range f.nodes {
			want := taints.Evaluate(pod, node, f.options)
			got, known := f.m.Verdict(p, n)
			inRow, there := row.Verdict(n)
			if got != want || !known || inRow != want || !there {
				t.Errorf("pod %v node %v: got %b (%v), in the row %b (%v), want %b", pod, node, got, known, inRow, there, want)
			}
			said[n] = want
			if want.Schedulable() {
				open++
			}
		}
		if got := maps.Collect(row.All()); !maps.Equal(got, said) {
			t.Errorf("the row has %v, want %v", got, said)
		}
		for i := range row.Len() {
			if n, v := row.At(i); n == "" && (v.Schedulable() || v.Stays()) || n != "" && v != said[n] {
				t.Errorf("place %d has %q and %b, want %b", i, n, v, said[n])
			}
		}
		other := f.m.RowFor(pod.Spec.Tolerations)
		if got := maps.Collect(other.All()); !maps.Equal(got, said) {
			t.Errorf("by its tolerations the row has %v, want %v", got, said)
		}
		if got := f.m.Schedulable(p); got != open {
			t.Errorf("%s can be placed on %d nodes, want %d", p, got, open)
		}
		f.rows = append(f.rows, kept{row, said}, kept{other, said})
	}
	for _, k := range f.rows[max(0, len(f.rows)-40):] {
		if got := maps.Collect(k.row.All()); !maps.Equal(got, k.said) {
			t.Errorf("a row has changed to %v from %v", got, k.said)
		}
	}
}

// TestEvaluate compares with the plain reading.
func TestEvaluate(t *testing.T) {
	d := newDraw(3)
	for range long.N(20_000, 2_000_000) {
		p, n, o := d.pod(), d.node(), &taints.Options{ComparisonOperators: d.IntN(2) == 0}
		schedulable, stays, avoided := plainVerdict(p, n, o.ComparisonOperators)
		if v := taints.Evaluate(p, n, o); v.Schedulable() != schedulable || v.Stays() != stays || v.Avoided() != avoided {
			t.Fatalf("%+v on %+v: %b, want %v %v %d", p, n, v, schedulable, stays, avoided)
		}
	}
}

// TestMatcherParallel is how a scheduler's plugin uses it: nodes change while pods
// are asked about (run it with -race).
func TestMatcherParallel(t *testing.T) {
	m := fleet.NewMatcher(nil)
	tolerations := []fairlead.Toleration{{Key: "a", Operator: fairlead.TolerationExists}}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			d := newDraw(uint64(g))
			for i := range 300 {
				name := fmt.Sprint("n", d.IntN(20))
				n := d.node()
				m.SetNode(name, n.Spec.Taints, n.Spec.Unschedulable)
				if i%10 == 0 {
					m.DeleteNode(name)
				}
				m.SetPod(fmt.Sprint("p", g), tolerations)
			}
		})
		all.Go(func() {
			for range 300 {
				row := m.RowFor(tolerations)
				for n, v := range row.All() {
					if again, known := row.Verdict(n); !known || again != v {
						t.Errorf("%s: %b, then %b (%v)", n, v, again, known)
					}
				}
				if _, known := row.Verdict("nobody"); known {
					t.Error("a node that was never there is known")
				}
				m.Verdict(fmt.Sprint("p", g), "n1")
				m.Schedulable(fmt.Sprint("p", g))
			}
		})
	}
	all.Wait()
}

// TestMatcherClasses: what does not matter makes no class, and classes go with
// their last member.
func TestMatcherClasses(t *testing.T) {
	five := int64(5)
	exists, one := fairlead.Toleration{Key: "a", Operator: fairlead.TolerationExists}, fairlead.Toleration{Key: "b", Value: "1"}
	longer, equal := exists, one
	longer.Value, longer.TolerationSeconds, equal.Operator = "ignored", &five, fairlead.TolerationEqual
	m := fleet.NewMatcher(nil)
	for i, list := range [][]fairlead.Toleration{
		{exists, one}, {equal, longer}, {one, one, exists, {Key: "c", Operator: fairlead.TolerationGt, Value: "1"}, {Key: "c", Operator: "Is"}},
		{longer, exists, one}, // what comes after a repetition counts
	} {
		m.SetPod(fmt.Sprint(i), list)
	}
	a, b := fairlead.Taint{Key: "a", Value: "1", Effect: fairlead.NoSchedule}, fairlead.Taint{Key: "b", Effect: fairlead.NoExecute}
	for i, list := range [][]fairlead.Taint{{a, b}, {b, a}, {b, a, {Key: "c", Effect: "Unknown"}}} {
		m.SetNode(fmt.Sprint(i), list, false)
	}
	expect := func(pods, nodes int) {
		t.Helper()
		if p, n := m.Classes(); p != pods || n != nodes {
			t.Errorf("%d classes of pods and %d of nodes, want %d and %d", p, n, pods, nodes)
		}
	}
	expect(1, 1)
	m.SetPod("1", nil)
	a.Value = "2"
	m.SetNode("2", []fairlead.Taint{a, b}, false)
	expect(2, 2)
	if m.PodClass("0") != m.PodClass("2") || m.PodClass("0") == m.PodClass("1") || m.NodeClass("0") != m.NodeClass("1") || m.NodeClass("0") == m.NodeClass("2") {
		t.Error("the classes are mixed up")
	}
	for i := range 4 {
		m.DeletePod(fmt.Sprint(i))
		m.DeleteNode(fmt.Sprint(i))
		m.DeletePod(fmt.Sprint(i)) // again: nothing
	}
	expect(0, 0)
}

// TestQuestionsDoNotAllocate: what a scheduler asks most often.
func TestQuestionsDoNotAllocate(t *testing.T) {
	m, tolerations := benchmarkFleet(10)
	m.SetPod("p", tolerations)
	row, _ := m.Row("p")
	for name, f := range map[string]func(){
		"Verdict":     func() { m.Verdict("p", "n1") },
		"Row":         func() { m.Row("p") },
		"Row.Verdict": func() { row.Verdict("n1") },
	} {
		if n := testing.AllocsPerRun(10, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func ExampleMatcher() {
	m := fleet.NewMatcher(nil)
	m.SetNode("gpu-1", []fairlead.Taint{{Key: "gpu", Effect: fairlead.NoSchedule}}, false)
	m.SetNode("web-1", nil, false)
	m.SetNode("web-2", nil, true) // cordoned
	m.SetPod("lab/training", []fairlead.Toleration{{Key: "gpu", Operator: fairlead.TolerationExists}})
	row, _ := m.Row("lab/training")
	for node, v := range row.All() {
		fmt.Println(node, v.Schedulable())
	}
	m.SetNode("web-2", nil, false)
	fmt.Println(m.Schedulable("lab/training"))
	// Output:
	// gpu-1 true
	// web-1 true
	// web-2 false
	// 3
}

// A scheduler's plugin scores the nodes that are left for a pod.
func ExampleMatcher_RowFor() {
	m := fleet.NewMatcher(nil)
	m.SetNode("spot-1", []fairlead.Taint{{Key: "spot", Effect: fairlead.PreferNoSchedule}}, false)
	m.SetNode("web-1", nil, false)
	row := m.RowFor(nil)
	var avoided []int
	for _, v := range row.All() {
		avoided = append(avoided, v.Avoided())
	}
	fmt.Println(slices.Clip(taints.Scores(avoided)))
	// Output:
	// [0 100]
}

// benchmarkFleet is a Matcher of nodes with three taints each, and the tolerations
// of a pod that tolerates two of them.
func benchmarkFleet(nodes int) (*fleet.Matcher, []fairlead.Toleration) {
	m := fleet.NewMatcher(nil)
	for i := range nodes {
		m.SetNode(fmt.Sprint("n", i), []fairlead.Taint{
			{Key: "dedicated", Value: fmt.Sprint("team-", i%7), Effect: fairlead.NoSchedule},
			{Key: "example.com/gpu", Value: "true", Effect: fairlead.NoExecute},
			{Key: "example.com/spot", Effect: fairlead.PreferNoSchedule},
		}, false)
	}
	return m, []fairlead.Toleration{
		{Key: "node.kubernetes.io/not-ready", Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute},
		{Key: "node.kubernetes.io/unreachable", Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute},
		{Key: "dedicated", Operator: fairlead.TolerationExists},
		{Key: "example.com/gpu", Operator: fairlead.TolerationEqual, Value: "true"},
	}
}

func BenchmarkMatcherRow(b *testing.B) {
	m, tolerations := benchmarkFleet(5000)
	m.SetPod("p", tolerations)
	b.ReportAllocs()
	for b.Loop() {
		row, _ := m.Row("p")
		for i := range row.Len() {
			if _, v := row.At(i); !v.Schedulable() {
				b.Fatal("not tolerated")
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5000, "ns/pair")
}

// BenchmarkMatcherFilter asks as a scheduler's plugin does: node by node, by name.
func BenchmarkMatcherFilter(b *testing.B) {
	m, tolerations := benchmarkFleet(5000)
	names := make([]string, 5000)
	for i := range names {
		names[i] = fmt.Sprint("n", i)
	}
	b.ReportAllocs()
	for b.Loop() {
		row := m.RowFor(tolerations)
		for _, n := range names {
			if v, _ := row.Verdict(n); !v.Schedulable() {
				b.Fatal("not tolerated")
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5000, "ns/pair")
}
