package drain_test

import (
	"slices"
	"testing"

	"github.com/fairlead/fairlead/internal/drainplay"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// stuckPods returns the pods that a plan says are stuck.
func stuckPods(p *drain.Plan) (names []string) {
	for _, n := range p.Nodes {
		for _, x := range n.Pods {
			if x.Why != "" {
				names = append(names, x.Namespace+"/"+x.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// TestPlanIsPlayed: what is predicted of a drain is what happens when the engine drains
// the node in memory: a plan that completes does; one that is stuck is not done, and the
// pods that are left are those that it names. The replacements of two pods may go to other nodes
// than predicted, which is seldom, and never the case for what is said to complete.
func TestPlanIsPlayed(t *testing.T) {
	for name, o := range map[string]drainplay.Options{
		"plain": {}, "priorities": {Priorities: true}, "volumes": {Volumes: true}, "finalizers": {Finalizers: true}, "dead nodes": {DeadNodes: true},
		"all": {Priorities: true, Volumes: true, Finalizers: true, DeadNodes: true},
	} {
		t.Run(name, func(t *testing.T) {
			yes, no, wrongly, others, elsewhere := 0, 0, 0, 0, 0
			for seed := range uint64(long.N(40, 5_000)) {
				plan, got, wrong := drainplay.Draw(seed, o).Compare(t, nil)
				stuck := stuckPods(plan)
				switch {
				case wrong:
					wrongly++
				case plan.Stuck > 0 && !slices.Equal(stuck, got.Left):
					others++
					t.Logf("seed %d: predicted to be stuck: %v; left: %v, %v", seed, stuck, got.Left, got.Blocked)
				case plan.Stuck == 0 && got.Done && plan.Homeless == 0 && got.Homeless > 0:
					elsewhere++
				}
				if plan.Stuck == 0 {
					yes++
				} else {
					no++
				}
			}
			if all := yes + no; yes < 10 || no < 5 || wrongly+others > all/100 || elsewhere > max(2, all/50) {
				t.Error("that is too many, or too few")
			}
			t.Logf("%d complete, %d stuck, %d of these wrongly, %d other pods; %d with pods that have no node", yes, no, wrongly, others, elsewhere)
		})
	}
}
