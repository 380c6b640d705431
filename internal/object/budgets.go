package object

import (
	"slices"

	"github.com/fairlead/fairlead"
)

// Budgets finds the budgets that select a pod. It refers to the budgets that it
// was made from. Its methods may be called by several goroutines.
type Budgets struct {
	all        []fairlead.PodDisruptionBudget
	namespaces map[string]*namespaceBudgets
}

// namespaceBudgets are the budgets of a namespace, by one of the labels that
// each requires.
type namespaceBudgets struct {
	loose []candidate // those that require no label with a value
	keys  []string    // of these labels
	pairs []map[string][]candidate
}

// candidate is a budget that may select a pod. It certainly does if it requires
// only the label that it was found by.
type candidate struct {
	at   int32
	sure bool
}

// NewBudgets returns an index of budgets, which must not change while it is
// used. The errors are those of Check, in the order of budgets; a budget with
// an error is indexed, and selects what its valid parts select.
func NewBudgets(budgets []fairlead.PodDisruptionBudget) (*Budgets, []error) {
	x := &Budgets{all: budgets, namespaces: map[string]*namespaceBudgets{}}
	var errs []error
	for i := range budgets {
		b := &budgets[i]
		if err := b.Check(); err != nil {
			errs = append(errs, err)
		}
		if b.Spec.Selector == nil {
			continue
		}
		n := x.namespaces[b.Namespace]
		if n == nil {
			n = &namespaceBudgets{}
			x.namespaces[b.Namespace] = n
		}
		n.add(b, int32(i))
	}
	return x, errs
}

// add indexes the budget at a position.
func (n *namespaceBudgets) add(b *fairlead.PodDisruptionBudget, at int32) {
	label := ""
	for key := range b.Spec.Selector.MatchLabels {
		if label == "" || key < label {
			label = key
		}
	}
	if label == "" {
		n.loose = append(n.loose, candidate{at: at})
		return
	}
	i := slices.Index(n.keys, label)
	if i < 0 {
		i = len(n.keys)
		n.keys = append(n.keys, label)
		n.pairs = append(n.pairs, map[string][]candidate{})
	}
	selector := b.Spec.Selector
	value, sure := selector.MatchLabels[label], len(selector.MatchLabels) == 1 && len(selector.MatchExpressions) == 0
	n.pairs[i][value] = append(n.pairs[i][value], candidate{at, sure})
}

// Of appends to dst the positions of the budgets that select a pod, in
// ascending order, and returns it. A nil receiver has no budgets.
func (x *Budgets) Of(p *fairlead.Pod, dst []int32) []int32 {
	if x == nil {
		return dst
	}
	n := x.namespaces[p.Namespace]
	if n == nil {
		return dst
	}
	from := len(dst)
	dst = x.matching(n.loose, p, dst)
	for i, key := range n.keys {
		if value, has := p.Labels[key]; has {
			dst = x.matching(n.pairs[i][value], p, dst)
		}
	}
	slices.Sort(dst[from:])
	return dst
}

// matching appends the positions of those candidates that select the pod.
func (x *Budgets) matching(candidates []candidate, p *fairlead.Pod, dst []int32) []int32 {
	for _, c := range candidates {
		if c.sure || x.all[c.at].Spec.Selector.Matches(p.Labels) {
			dst = append(dst, c.at)
		}
	}
	return dst
}

// At returns the budget at a position, shared with the index.
func (x *Budgets) At(i int32) *fairlead.PodDisruptionBudget { return &x.all[i] }

// Len returns the number of budgets.
func (x *Budgets) Len() int {
	if x == nil {
		return 0
	}
	return len(x.all)
}
