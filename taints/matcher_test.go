package taints_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/taints"
)

// TestMatcherAgrees changes fleets at random, with room in the table and without,
// and compares every answer with a plain comparison and with Judge.
func TestMatcherAgrees(t *testing.T) {
	for seed := range uint64(long.N(60, 20000)) {
		d := newDraw(seed)
		o := &taints.MatcherOptions{MaxCells: []int{0, 1, 40, 300}[d.IntN(4)]}
		o.ComparisonOperators = d.IntN(2) == 0
		f := fleet{m: taints.NewMatcher(o), nodes: map[taints.NodeID]*taints.Node{}, pods: map[taints.PodID]*taints.Pod{}}
		for range 60 {
			f.change(d)
			if d.IntN(5) == 0 {
				f.compare(t, &o.Options)
			}
		}
		if f.compare(t, &o.Options); t.Failed() {
			t.Fatalf("seed %d, options %+v", seed, *o)
		}
	}
}

type fleet struct {
	m     *taints.Matcher
	nodes map[taints.NodeID]*taints.Node
	pods  map[taints.PodID]*taints.Pod
}

func (f *fleet) change(d draw) {
	switch node, pod := taints.NodeID(d.IntN(12)), taints.PodID(d.IntN(12)); d.IntN(8) {
	case 0, 1:
		n := d.node()
		id := f.m.AddNode(n)
		if f.nodes[id] != nil {
			panic("a number that is in use is given again")
		}
		f.nodes[id] = n
	case 2, 3:
		p := d.pod()
		f.pods[f.m.AddPod(p)] = p
	case 4:
		if _, given := f.nodes[node]; given { // removed or not
			f.nodes[node] = d.node()
			f.m.SetNode(node, f.nodes[node])
		}
	case 5:
		if _, given := f.pods[pod]; given {
			f.pods[pod] = d.pod()
			f.m.SetPod(pod, f.pods[pod])
		}
	case 6:
		if f.nodes[node] != nil {
			f.m.RemoveNode(node)
			f.nodes[node] = nil
		}
	case 7:
		if f.pods[pod] != nil {
			f.m.RemovePod(pod)
			f.pods[pod] = nil
		}
	}
}

func (f *fleet) compare(t *testing.T, o *taints.Options) {
	t.Helper()
	for p, pod := range f.pods {
		row, open := f.m.Row(p), []taints.NodeID(nil)
		for n, node := range f.nodes {
			got := f.m.Verdict(p, n)
			schedulable, stays, avoided := false, false, got.Avoided()
			if pod != nil && node != nil {
				schedulable, stays, avoided = plainVerdict(pod, node, o.ComparisonOperators)
				if j := taints.Judge(pod, node, o); j != got {
					t.Errorf("pod %d node %d: Matcher %b, Judge %b", p, n, got, j)
				}
			}
			if got.Schedulable() != schedulable || got.Stays() != stays || got.Avoided() != avoided || row.Verdict(n) != got {
				t.Errorf("pod %v node %v: got %b, row %b, want schedulable %v stays %v avoided %d", pod, node, got, row.Verdict(n), schedulable, stays, avoided)
			}
			if schedulable {
				open = append(open, n)
			}
		}
		slices.Sort(open)
		if got := slices.Collect(f.m.SchedulableNodes(p)); !slices.Equal(got, open) || f.m.Schedulable(p) != len(open) {
			t.Errorf("pod %d: schedulable on %v (%d), want %v", p, got, f.m.Schedulable(p), open)
		}
	}
}

// TestMatcherClasses: what does not matter makes no class, and classes go with
// their last member.
func TestMatcherClasses(t *testing.T) {
	m := taints.NewMatcher(nil)
	for _, line := range []string{
		"key:a op:Exists | key:b value:1", "key:b op:Equal value:1 | key:a op:Exists value:ignored seconds:5", "key:b value:1 | key:b value:1 | key:a op:Exists | key:c op:Gt value:1 | key:c op:Is",
	} {
		m.AddPod(&taints.Pod{Spec: taints.PodSpec{Tolerations: tolerationsOf(line)}})
	}
	for _, line := range []string{"a=1:NoSchedule b:NoExecute@5", "b:NoExecute@7 a=1:NoSchedule", "b:NoExecute a=1:NoSchedule c:Unknown"} {
		m.AddNode(&taints.Node{Spec: taints.NodeSpec{Taints: taintsOf(line)}})
	}
	expect := func(pods, nodes int) {
		t.Helper()
		if p, n := m.Classes(); p != pods || n != nodes {
			t.Errorf("%d classes of pods and %d of nodes, want %d and %d", p, n, pods, nodes)
		}
	}
	expect(1, 1)
	m.SetPod(1, &taints.Pod{})
	m.SetNode(2, &taints.Node{Spec: taints.NodeSpec{Taints: taintsOf("a=2:NoSchedule b:NoExecute")}})
	expect(2, 2)
	if m.PodClass(0) != m.PodClass(2) || m.PodClass(0) == m.PodClass(1) || m.NodeClass(0) != m.NodeClass(1) || m.NodeClass(0) == m.NodeClass(2) {
		t.Error("the classes are mixed up")
	}
	for i := range 3 {
		m.RemovePod(taints.PodID(i))
		m.RemoveNode(taints.NodeID(i))
		m.RemovePod(taints.PodID(i)) // again: nothing
	}
	expect(0, 0)
	if a, b, c := m.AddPod(&taints.Pod{}), m.AddPod(&taints.Pod{}), m.AddPod(&taints.Pod{}); a != 0 || b != 1 || c != 2 || m.AddPod(&taints.Pod{}) != 3 {
		t.Errorf("numbers %d %d %d: not the least that are free", a, b, c)
	}
}

// TestJudgeDoesNotAllocate: neither do the questions of a Matcher.
func TestJudgeDoesNotAllocate(t *testing.T) {
	nodes, tolerations := benchmarkFleet(10)
	pod := &taints.Pod{Spec: taints.PodSpec{Tolerations: tolerations}}
	m := taints.NewMatcher(nil)
	m.AddNode(&nodes[0])
	m.AddPod(pod)
	for name, f := range map[string]func(){
		"FirstUntolerated": func() { taints.FirstUntolerated(tolerations, nodes[0].Spec.Taints, taints.OnScheduling, nil) },
		"Judge":            func() { taints.Judge(pod, &nodes[0], nil) },
		"Verdict":          func() { m.Verdict(0, 0) },
		"Row":              func() { r := m.Row(0); r.Verdict(0) },
	} {
		if n := testing.AllocsPerRun(10, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// TestScores: the scheduler's scores, reference §1.5 and its TestTaintTolerationScore.
func TestScores(t *testing.T) {
	for _, c := range [][2][]int{
		{{0, 1, 2}, {100, 50, 0}},
		{{0, 1, 3}, {100, 67, 0}},
		{{0, 0, 0}, {100, 100, 100}},
		{{2}, {0}},
		{{}, {}},
		{{1 << 30, 1}, {0, 100}},
	} {
		if got := taints.Scores(c[0]); !slices.Equal(got, c[1]) {
			t.Errorf("Scores(%v) = %v, want %v", c[0], got, c[1])
		}
	}
}

func ExampleMatcher() {
	m := taints.NewMatcher(nil)
	for _, n := range []taints.Node{
		{ObjectMeta: taints.ObjectMeta{Name: "gpu-1"}, Spec: taints.NodeSpec{Taints: []taints.Taint{{Key: "gpu", Effect: taints.NoSchedule}}}},
		{ObjectMeta: taints.ObjectMeta{Name: "web-1"}},
		{ObjectMeta: taints.ObjectMeta{Name: "web-2"}, Spec: taints.NodeSpec{Unschedulable: true}},
	} {
		m.AddNode(&n)
	}
	web := m.AddPod(&taints.Pod{})
	training := m.AddPod(&taints.Pod{Spec: taints.PodSpec{Tolerations: []taints.Toleration{{Key: "gpu", Operator: taints.Exists}}}})
	fmt.Println(slices.Collect(m.SchedulableNodes(web)), slices.Collect(m.SchedulableNodes(training)))
	m.SetNode(2, &taints.Node{}) // uncordoned
	fmt.Println(m.Schedulable(web), m.Schedulable(training))
	// Output:
	// [1] [0 1]
	// 2 3
}
