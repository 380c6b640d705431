package drain

import "github.com/fairlead/fairlead/internal/object"

// disruptions keeps track of the disruptions that are requested at the same time.
type disruptions struct {
	budgets []PodDisruptionBudget
	index   *object.Budgets // of budgets; nil means a linear search
	used    []int           // by budget, disruptions that are not in its status yet
}

// of appends the positions of a pod's budgets.
func (l *disruptions) of(p *Pod, dst []int32) []int32 {
	if l.index != nil {
		return l.index.Of(p, dst)
	}
	for i := range l.budgets {
		if l.budgets[i].Selects(p) {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

// judge returns what the eviction API would answer, and the budgets: dst with
// their positions appended.
func (l *disruptions) judge(p *Pod, dst []int32) (verdict object.EvictionVerdict, positions []int32) {
	positions = l.of(p, dst)
	return l.verdict(p, positions), positions
}

// verdict returns what the eviction API would answer about a pod with these
// budgets, once what was reserved is done.
func (l *disruptions) verdict(p *Pod, positions []int32) object.EvictionVerdict {
	switch len(positions) {
	case 0:
		return object.EvaluateEviction(p)
	case 1:
		b := &l.budgets[positions[0]]
		if l.used != nil && l.used[positions[0]] > 0 {
			less := *b
			less.Status.DisruptionsAllowed -= min(max(0, b.Status.DisruptionsAllowed), l.used[positions[0]])
			return object.EvaluateEviction(p, &less)
		}
		return object.EvaluateEviction(p, b)
	}
	return object.EvaluateEviction(p, &l.budgets[positions[0]], &l.budgets[positions[1]])
}

// reserve takes the eviction of a pod into account.
func (l *disruptions) reserve(p *Pod) {
	var space [4]int32
	if verdict, at := l.judge(p, space[:0]); verdict == object.EvictionAllowed {
		l.use(at[0])
	}
}

// use takes one disruption of a budget into account.
func (l *disruptions) use(at int32) {
	if l.used == nil {
		l.used = make([]int, len(l.budgets))
	}
	l.used[at]++
}
