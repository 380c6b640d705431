package object

import "slices"

// Budgets finds the budgets of pods. It refers to the budgets that it was made
// from.
type Budgets struct {
	all   []PodDisruptionBudget
	pairs map[budgetPair][]int32 // by one label that the selector asks for
	loose map[string][]int32     // by namespace: those whose selector names no pair
}

// budgetPair is a label in a namespace.
type budgetPair struct{ namespace, key, value string }

// NewBudgets returns an index of budgets, which must not change while it is
// used. The errors are those of Check, in the order of budgets; a budget with
// an error is indexed and selects what its sound parts select.
func NewBudgets(budgets []PodDisruptionBudget) (*Budgets, []error) {
	x := &Budgets{all: budgets, pairs: map[budgetPair][]int32{}, loose: map[string][]int32{}}
	var errs []error
	for i := range budgets {
		b := &budgets[i]
		if err := b.Check(); err != nil {
			errs = append(errs, err)
		}
		if b.Spec.Selector == nil {
			continue
		}
		pair := budgetPair{namespace: b.Namespace}
		for key, value := range b.Spec.Selector.MatchLabels {
			if pair.key == "" || key < pair.key {
				pair.key, pair.value = key, value
			}
		}
		if pair.key == "" {
			x.loose[b.Namespace] = append(x.loose[b.Namespace], int32(i))
		} else {
			x.pairs[pair] = append(x.pairs[pair], int32(i))
		}
	}
	return x, errs
}

// Of appends to dst the positions of the budgets that select a pod, ascending,
// and returns it. A nil receiver has none.
func (x *Budgets) Of(p *Pod, dst []int32) []int32 {
	if x == nil {
		return dst
	}
	from := len(dst)
	try := func(candidates []int32) {
		for _, i := range candidates {
			if x.all[i].Spec.Selector.Matches(p.Labels) {
				dst = append(dst, i)
			}
		}
	}
	try(x.loose[p.Namespace])
	if len(x.pairs) > 0 {
		for key, value := range p.Labels {
			if found := x.pairs[budgetPair{p.Namespace, key, value}]; found != nil {
				try(found)
			}
		}
	}
	slices.Sort(dst[from:])
	return dst
}

// At returns the budget at a position, shared with the index.
func (x *Budgets) At(i int32) *PodDisruptionBudget { return &x.all[i] }

// Len returns the number of budgets.
func (x *Budgets) Len() int {
	if x == nil {
		return 0
	}
	return len(x.all)
}
