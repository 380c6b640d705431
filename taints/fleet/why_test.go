package fleet_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/fleet"
)

// Why names the taints that Explain names for that pod and node, with table and without, and
// Rejections counts, for each taint, the nodes where it is named.
func TestWhyAgrees(t *testing.T) {
	for seed := range uint64(long.N(200, 20000)) {
		d := newDraw(seed)
		o := &fleet.Options{MaxCells: []int{0, 1}[d.IntN(2)]}
		o.ComparisonOperators = d.IntN(2) == 0
		m := fleet.NewMatcher(o)
		nodes := map[string]*fairlead.Node{}
		for i := range 8 {
			n := d.node()
			n.Name = fmt.Sprint("n", i)
			nodes[n.Name] = n
			m.SetNode(n.Name, n.Spec.Taints, n.Spec.Unschedulable)
		}
		for i := range 4 {
			p := d.pod()
			p.Name = fmt.Sprint("p", i)
			m.SetPod(p.Name, p.Spec.Tolerations)
			want := map[fairlead.Taint]fleet.Rejection{}
			for _, name := range slices.Sorted(maps.Keys(nodes)) {
				x := taints.Explain(p, nodes[name], &taints.ExplainOptions{Options: o.Options})
				ours, known := m.Why(p.Name, name)
				if !known || named(ours) != named(x.Untolerated) {
					t.Fatalf("seed %d: %s on %s: %q, known %t; Explain says %q", seed, p.Name, name, named(ours), known, named(x.Untolerated))
				}
				seen := map[fairlead.Taint]bool{}
				for _, u := range x.Untolerated {
					if !taints.OnScheduling.Has(u.Taint.Effect) || seen[u.Taint] {
						continue
					}
					seen[u.Taint] = true
					r := want[u.Taint]
					if r.Nodes == 0 {
						r.Taint, r.Node = u.Taint, name
					}
					r.Nodes++
					want[u.Taint] = r
				}
			}
			got := map[fairlead.Taint]fleet.Rejection{}
			last := len(nodes)
			for _, r := range m.Rejections(p.Name) {
				got[r.Taint] = r
				if r.Nodes > last {
					t.Fatalf("seed %d: the most frequent is not first", seed)
				}
				last = r.Nodes
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: %s: %v, want %v", seed, p.Name, got, want)
			}
		}
	}
	m := fleet.NewMatcher(nil)
	if _, known := m.Why("p", "n"); known || m.Rejections("p") != nil {
		t.Error("an answer about nobody")
	}
}

// named returns the taints, in order, each with whether a toleration would help.
func named(all []taints.UntoleratedTaint) string {
	var list []string
	for _, u := range all {
		if u.Taint.Effect == "Unknown" {
			continue
		}
		list = append(list, fmt.Sprint(u.Taint.String(), " ", u.Fix != nil))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// A pod that fits nowhere, and the taints that keep it off.
func ExampleMatcher_Rejections() {
	m := fleet.NewMatcher(nil)
	gpu := fairlead.Taint{Key: "gpu", Effect: fairlead.NoSchedule}
	m.SetNode("gpu-1", []fairlead.Taint{gpu}, false)
	m.SetNode("gpu-2", []fairlead.Taint{gpu}, true)
	m.SetPod("shop/web", nil)
	for _, r := range m.Rejections("shop/web") {
		fmt.Println(r.Taint, r.Nodes, r.Node)
	}
	why, _ := m.Why("shop/web", "gpu-1")
	fmt.Println(*why[0].Fix)
	// Output:
	// gpu:NoSchedule 2 gpu-1
	// node.kubernetes.io/unschedulable:NoSchedule 1 gpu-2
	// {key: gpu, operator: Equal, effect: NoSchedule}
}

// When a taint was added does not make another one of it; of several nodes the first by name is told, whatever
// class it is in; a node that is gone keeps nobody off.
func TestRejectionsCount(t *testing.T) {
	m := fleet.NewMatcher(nil)
	gone := func(at time.Time) fairlead.Taint {
		return fairlead.Taint{Key: "gone", Effect: fairlead.NoExecute, TimeAdded: &at}
	}
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	m.SetNode("c", []fairlead.Taint{gone(day)}, false)
	m.SetNode("b", []fairlead.Taint{gone(day.Add(time.Hour)), {Key: "gpu", Effect: fairlead.NoSchedule}}, false)
	m.SetNode("a", []fairlead.Taint{{Key: "old", Effect: fairlead.NoSchedule}}, false)
	m.DeleteNode("a")
	m.SetPod("p", nil)
	got := m.Rejections("p")
	want := []fleet.Rejection{
		{Taint: fairlead.Taint{Key: "gone", Effect: fairlead.NoExecute}, Nodes: 2, Node: "b"},
		{Taint: fairlead.Taint{Key: "gpu", Effect: fairlead.NoSchedule}, Nodes: 1, Node: "b"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
