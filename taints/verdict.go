package taints

import "github.com/fairlead/fairlead/internal/object"

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
// every taint of effect NoExecute, be it only for a time.
func (v Verdict) Stays() bool { return v&evicts == 0 }

// Avoided returns how many taints of effect PreferNoSchedule the pod does not
// tolerate, 16383 at most. The scheduler prefers nodes where they are fewer.
func (v Verdict) Avoided() int { return int(v & avoided) }

// Judge returns what the taints of a node mean for a pod; a node that is marked
// unschedulable counts as one with the taint [KeyUnschedulable] of effect
// NoSchedule. It allocates nothing.
func Judge(p *Pod, n *Node, o *Options) Verdict {
	return judge(p.Spec.Tolerations, n.Spec.Taints, n.Spec.Unschedulable, o.numbers())
}

func judge(tolerations []Toleration, taints []Taint, unschedulable, numbers bool) Verdict {
	var v Verdict
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
func (v Verdict) with(t *Taint, tolerations []Toleration, numbers bool) Verdict {
	mark := Verdict(0)
	switch t.Effect {
	case NoSchedule:
		mark = closed
	case NoExecute:
		mark = closed | evicts
	case PreferNoSchedule:
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

// Scores turns the numbers of taints that a pod would rather avoid (see
// [Verdict]), one for each node, into the scheduler's scores from 0 to 100: 100
// for none, 0 for the most, in proportion between, rounded up. If all are 0, all
// score 100. The argument is not changed.
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

// ChangeHelps reports whether a pod that the taints of a node kept off can be
// placed there after a change of the node: what a scheduler asks before it tries
// a pod again. Before is nil if the node is new.
func ChangeHelps(p *Pod, before, after *Node, o *Options) bool {
	return Judge(p, after, o).Schedulable() && (before == nil || !Judge(p, before, o).Schedulable())
}
