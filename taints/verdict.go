package taints

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// Verdict is what the taints of a node mean for a pod. The zero value is that of
// a node all of whose taints the pod tolerates.
type Verdict uint16

const (
	closed  Verdict = 1 << 15 // an untolerated taint keeps new pods off
	evicts  Verdict = 1 << 14 // an untolerated taint evicts running ones
	avoided         = evicts - 1
)

// Schedulable reports whether the taints let the pod be placed on the node.
func (v Verdict) Schedulable() bool { return v&closed == 0 }

// Stays reports whether the pod may stay if it runs there: whether it tolerates
// every taint of effect NoExecute, even if only for a time.
func (v Verdict) Stays() bool { return v&evicts == 0 }

// Avoided returns how many taints of effect PreferNoSchedule the pod does not
// tolerate, 16383 at most. The scheduler prefers nodes where they are fewer.
func (v Verdict) Avoided() int { return int(v & avoided) }

// Evaluate returns what the taints of a node mean for a pod; a node that is
// marked unschedulable counts as one with the taint [KeyUnschedulable] of effect
// NoSchedule. It allocates nothing.
func Evaluate(p *fairlead.Pod, n *fairlead.Node, o *Options) Verdict {
	return EvaluateLists(p.Spec.Tolerations, n.Spec.Taints, n.Spec.Unschedulable, o)
}

// EvaluateLists is Evaluate for callers with other types of nodes and pods: by a
// pod's tolerations, a node's taints, and whether the node is marked
// unschedulable.
func EvaluateLists(tolerations []fairlead.Toleration, taints []fairlead.Taint, unschedulable bool, o *Options) Verdict {
	var v Verdict
	numbers := o.numbers()
	for i := range taints {
		v = v.with(&taints[i], tolerations, numbers)
	}
	if unschedulable {
		cordon := unschedulableTaint()
		v = v.with(&cordon, tolerations, numbers)
	}
	return v
}

// with returns the verdict when one more taint counts.
func (v Verdict) with(t *fairlead.Taint, tolerations []fairlead.Toleration, numbers bool) Verdict {
	mark := Verdict(0)
	switch t.Effect {
	case fairlead.NoSchedule:
		mark = closed
	case fairlead.NoExecute:
		mark = closed | evicts
	case fairlead.PreferNoSchedule:
		mark = 1
	default:
		return v
	}
	if mark == 1 && v&avoided == avoided || object.FirstMatch(tolerations, t, numbers) >= 0 {
		return v
	}
	if mark == 1 {
		return v + 1
	}
	return v | mark
}

// Scores converts the numbers of taints that a pod prefers to avoid (see
// [Verdict]), one for each node, into the scheduler's scores from 0 to 100: 100
// for none, 0 for the most, proportional in between, rounded up. If all are 0,
// all score 100. The argument is not changed.
func Scores(avoided []int) []int {
	most := 0
	for _, n := range avoided {
		most = max(most, n)
	}
	scores := make([]int, len(avoided))
	for i, n := range avoided {
		scores[i] = 100
		if most > 0 {
			scores[i] = 100 - int(100*int64(n)/int64(most))
		}
	}
	return scores
}
