package fleet_test

import (
	"math/rand/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
)

// draw picks taints and tolerations from few words, so that many match.
type draw struct{ *rand.Rand }

func newDraw(seed uint64) draw { return draw{rand.New(rand.NewPCG(seed, 1))} }

func (d draw) of(words ...string) string { return words[d.IntN(len(words))] }

func (d draw) taint() fairlead.Taint {
	return fairlead.Taint{
		Key:    d.of("a", "b", "c", taints.KeyUnschedulable),
		Value:  d.of("", "1", "2", "07", "x"),
		Effect: fairlead.TaintEffect(d.of("NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule", "Unknown")),
	}
}

func (d draw) toleration() fairlead.Toleration {
	t := fairlead.Toleration{
		Key:      d.of("", "a", "b", "c", taints.KeyUnschedulable),
		Operator: fairlead.TolerationOperator(d.of("", "Equal", "Exists", "Exists", "Lt", "Gt", "exists")),
		Value:    d.of("", "1", "2", "07", "x"),
		Effect:   fairlead.TaintEffect(d.of("", "", "NoSchedule", "NoExecute", "PreferNoSchedule")),
	}
	if d.IntN(3) == 0 {
		seconds := int64(d.IntN(5) - 1)
		t.TolerationSeconds = &seconds
	}
	return t
}

func (d draw) taints(most int) []fairlead.Taint {
	list := make([]fairlead.Taint, d.IntN(most+1))
	for i := range list {
		list[i] = d.taint()
	}
	return list
}

func (d draw) tolerations(most int) []fairlead.Toleration {
	list := make([]fairlead.Toleration, d.IntN(most+1))
	for i := range list {
		list[i] = d.toleration()
	}
	return list
}

func (d draw) node() *fairlead.Node {
	return &fairlead.Node{Spec: fairlead.NodeSpec{Taints: d.taints(4), Unschedulable: d.IntN(4) == 0}}
}

func (d draw) pod() *fairlead.Pod {
	return &fairlead.Pod{Spec: fairlead.PodSpec{Tolerations: d.tolerations(4)}}
}

// plainVerdict judges without haste: which taints are left when those that any
// toleration tolerates are taken away.
func plainVerdict(p *fairlead.Pod, n *fairlead.Node, numbers bool) (schedulable, stays bool, avoided int) {
	list := n.Spec.Taints
	if n.Spec.Unschedulable {
		list = append(append([]fairlead.Taint(nil), list...), fairlead.Taint{Key: taints.KeyUnschedulable, Effect: fairlead.NoSchedule})
	}
	schedulable, stays = true, true
	for _, taint := range list {
		tolerated := false
		for _, t := range p.Spec.Tolerations {
			tolerated = tolerated || t.Tolerates(taint) || numbers && t.ToleratesNumber(taint)
		}
		if tolerated {
			continue
		}
		schedulable = schedulable && taint.Effect != fairlead.NoSchedule && taint.Effect != fairlead.NoExecute
		stays = stays && taint.Effect != fairlead.NoExecute
		if taint.Effect == fairlead.PreferNoSchedule {
			avoided++
		}
	}
	return schedulable, stays, avoided
}
