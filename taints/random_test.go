package taints_test

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
