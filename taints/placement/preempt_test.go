package placement_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/taints/placement"
)

// weighted returns a pod with a priority that asks for cpu.
func weighted(name, node string, priority int32, cpu int) *fairlead.Pod {
	p := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "d", Name: name, Labels: map[string]string{"app": name[:1]}}}
	p.Spec.NodeName, p.Spec.Priority = node, &priority
	p.Spec.Containers = []fairlead.Container{{Name: "c", Resources: fairlead.Resources{Requests: map[string]string{"cpu": fmt.Sprint(cpu)}}}}
	return p
}

func sized(name string, cpu int) *fairlead.Node {
	n := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}}}
	n.Status.Allocatable = map[string]string{"cpu": fmt.Sprint(cpu), "pods": "10"}
	return n
}

func allowing(app string, n int) fairlead.PodDisruptionBudget {
	b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "d", Name: app}}
	b.Spec.Selector = &fairlead.LabelSelector{MatchLabels: map[string]string{"app": app}}
	b.Status.DisruptionsAllowed = n
	return b
}

// TestPreempt: the victims are as few as possible, the budgets decide between nodes
// before priorities do, and a pod that never preempts has none.
func TestPreempt(t *testing.T) {
	for _, tt := range []struct {
		name    string
		pods    []*fairlead.Pod
		budgets []fairlead.PodDisruptionBudget
		pod     *fairlead.Pod
		want    string
	}{
		{
			"the least important goes", []*fairlead.Pod{weighted("a0", "n1", 5, 2), weighted("b0", "n1", 1, 2), weighted("c0", "n2", 9, 4)}, nil,
			weighted("x", "", 9, 2), "n1 [d/b0] 0",
		},
		{
			"equals stay", []*fairlead.Pod{weighted("a0", "n1", 9, 4), weighted("c0", "n2", 9, 4)}, nil,
			weighted("x", "", 9, 2), "none",
		},
		{
			"a budget counts more than a priority", []*fairlead.Pod{weighted("a0", "n1", 1, 4), weighted("c0", "n2", 5, 4)}, []fairlead.PodDisruptionBudget{allowing("a", 0)},
			weighted("x", "", 9, 2), "n2 [d/c0] 0",
		},
		{
			"and is violated if nothing else helps", []*fairlead.Pod{weighted("a0", "n1", 1, 4), weighted("a1", "n2", 5, 4)}, []fairlead.PodDisruptionBudget{allowing("a", 0)},
			weighted("x", "", 9, 2), "n1 [d/a0] 1",
		},
		{
			"fewer are better", []*fairlead.Pod{weighted("a0", "n1", 1, 2), weighted("a1", "n1", 1, 2), weighted("c0", "n2", 1, 4)}, nil,
			weighted("x", "", 9, 4), "n2 [d/c0] 0",
		},
		{"it would fit nowhere", []*fairlead.Pod{weighted("a0", "n1", 1, 4)}, nil, weighted("x", "", 9, 40), "none"},
	} {
		c := placement.New(nil)
		for _, n := range []*fairlead.Node{sized("n1", 4), sized("n2", 4)} {
			if err := c.SetNode(n); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range tt.pods {
			if err := c.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		for _, never := range []bool{false, true} {
			pod, want := *tt.pod, tt.want
			if never {
				pod.Spec.PreemptionPolicy, want = fairlead.PreemptNever, "none"
			}
			got := "none"
			if found, ok := c.Preempt(&pod, tt.budgets, nil); ok {
				got = fmt.Sprint(found.Node, " ", names(found.Victims), " ", found.Violations)
			}
			if got != want {
				t.Errorf("%s: got %s, want %s", tt.name, got, want)
			}
		}
	}
}

func names(pods []*fairlead.Pod) (all []string) {
	for _, p := range pods {
		all = append(all, p.ObjectMeta.String())
	}
	return all
}

// TestPreemptHelps: in random clusters the pod fits without the victims, and not with
// all but one of them; all have a lower priority; no node with fewer violations would
// do; and the cluster is unchanged.
func TestPreemptHelps(t *testing.T) {
	seen := 0
	for seed := range uint64(long.N(2_000, 200_000)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := placement.New(nil)
		var all []*fairlead.Pod
		for i := range 1 + rng.IntN(4) {
			n := sized(fmt.Sprint("n", i), 4+rng.IntN(5))
			if err := c.SetNode(n); err != nil {
				t.Fatal(err)
			}
			for free := 4; free > 0; {
				p := weighted(fmt.Sprintf("%c%d", 'a'+rng.IntN(3), len(all)), n.Name, int32(rng.IntN(4)), 1+rng.IntN(3))
				at := time.Unix(int64(rng.IntN(5)), 0)
				p.Status.StartTime = &at
				if !c.Fits(p, n.Name) {
					break
				}
				free -= rng.IntN(2)
				all = append(all, p)
				_ = c.Add(p)
			}
		}
		budgets := []fairlead.PodDisruptionBudget{allowing("a", rng.IntN(2)), allowing("b", rng.IntN(3))}
		pod := weighted("x", "", int32(1+rng.IntN(4)), 1+rng.IntN(8))
		if _, fits := c.First(pod, nil); fits {
			continue
		}
		found, ok := c.Preempt(pod, budgets, nil)
		if _, fits := c.First(pod, nil); fits {
			t.Fatalf("seed %d: the cluster has changed", seed)
		}
		helps := false
		for node := range 4 {
			name := fmt.Sprint("n", node)
			if c.Node(name) == nil {
				continue
			}
			for _, p := range all {
				if p.Spec.NodeName == name && *p.Spec.Priority < *pod.Spec.Priority {
					c.Remove(p)
				}
			}
			helps = helps || c.Fits(pod, name)
			for _, p := range all {
				_ = c.Add(p)
			}
		}
		if ok != helps {
			t.Fatalf("seed %d: preemption found %v, and removing all helps %v", seed, ok, helps)
		}
		if !ok {
			continue
		}
		seen++
		for _, v := range found.Victims {
			c.Remove(v)
			if v.Spec.NodeName != found.Node || *v.Spec.Priority >= *pod.Spec.Priority {
				t.Fatalf("seed %d: victim %s on %s", seed, v.Name, v.Spec.NodeName)
			}
		}
		if !c.Fits(pod, found.Node) {
			t.Fatalf("seed %d: the victims do not suffice: %v", seed, names(found.Victims))
		}
		for _, v := range found.Victims {
			_ = c.Add(v)
			if c.Fits(pod, found.Node) && !slices.ContainsFunc(budgets, func(b fairlead.PodDisruptionBudget) bool { return b.Selects(v) }) {
				t.Fatalf("seed %d: %s need not go: %v", seed, v.Name, names(found.Victims))
			}
			c.Remove(v)
		}
	}
	if seen < 100 {
		t.Errorf("only %d preemptions", seen)
	}
}
