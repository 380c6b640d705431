package taints_test

import (
	"math/rand/v2"

	"github.com/fairlead/fairlead/taints"
)

// draw picks taints and tolerations from few words, so that many match.
type draw struct{ *rand.Rand }

func newDraw(seed uint64) draw { return draw{rand.New(rand.NewPCG(seed, 1))} }

func (d draw) of(words ...string) string { return words[d.IntN(len(words))] }

func (d draw) taint() taints.Taint {
	return taints.Taint{
		Key:    d.of("a", "b", "c", taints.KeyUnschedulable),
		Value:  d.of("", "1", "2", "07", "x"),
		Effect: taints.TaintEffect(d.of("NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule", "Unknown")),
	}
}

func (d draw) toleration() taints.Toleration {
	t := taints.Toleration{
		Key:      d.of("", "a", "b", "c", taints.KeyUnschedulable),
		Operator: taints.TolerationOperator(d.of("", "Equal", "Exists", "Exists", "Lt", "Gt", "exists")),
		Value:    d.of("", "1", "2", "07", "x"),
		Effect:   taints.TaintEffect(d.of("", "", "NoSchedule", "NoExecute", "PreferNoSchedule")),
	}
	if d.IntN(3) == 0 {
		seconds := int64(d.IntN(5) - 1)
		t.TolerationSeconds = &seconds
	}
	return t
}

func (d draw) taints(most int) []taints.Taint {
	list := make([]taints.Taint, d.IntN(most+1))
	for i := range list {
		list[i] = d.taint()
	}
	return list
}

func (d draw) tolerations(most int) []taints.Toleration {
	list := make([]taints.Toleration, d.IntN(most+1))
	for i := range list {
		list[i] = d.toleration()
	}
	return list
}

func (d draw) node() *taints.Node {
	return &taints.Node{Spec: taints.NodeSpec{Taints: d.taints(4), Unschedulable: d.IntN(4) == 0}}
}

func (d draw) pod() *taints.Pod {
	return &taints.Pod{Spec: taints.PodSpec{Tolerations: d.tolerations(4)}}
}

// plainVerdict judges without haste: which taints are left when those that any
// toleration tolerates are taken away.
func plainVerdict(p *taints.Pod, n *taints.Node, numbers bool) (schedulable, stays bool, avoided int) {
	list := n.Spec.Taints
	if n.Spec.Unschedulable {
		list = append(append([]taints.Taint(nil), list...), taints.Taint{Key: taints.KeyUnschedulable, Effect: taints.NoSchedule})
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
		schedulable = schedulable && taint.Effect != taints.NoSchedule && taint.Effect != taints.NoExecute
		stays = stays && taint.Effect != taints.NoExecute
		if taint.Effect == taints.PreferNoSchedule {
			avoided++
		}
	}
	return schedulable, stays, avoided
}
