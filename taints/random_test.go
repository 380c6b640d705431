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
