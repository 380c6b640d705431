package machines

import (
	"slices"

	"github.com/fairlead/fairlead"
)

// Cause is one reason why machines still exist, with the owner who would have to act.
type Cause struct {
	First    *fairlead.Block // the first wait for it
	Machines []int           // the numbers of the explanations, each once
}

// Causes returns what blocks machines; the cause that blocks most of them is first.
func Causes(all []Explanation) []*Cause {
	var list []*Cause
	known := map[[2]string]*Cause{}
	for i := range all {
		for j := range all[i].Blocked {
			b := &all[i].Blocked[j]
			k := known[[2]string{b.Reason, b.Owner}]
			if k == nil {
				k = &Cause{First: b}
				known[[2]string{b.Reason, b.Owner}], list = k, append(list, k)
			}
			if n := len(k.Machines); n == 0 || k.Machines[n-1] != i {
				k.Machines = append(k.Machines, i)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *Cause) int { return len(b.Machines) - len(a.Machines) })
	return list
}

// Wait is a wait, with the names of everything that waits for the same.
type Wait struct {
	*fairlead.Block          // the first of them
	Also            []string // the pods, hooks or volumes that wait for the same
}

// Waits returns the waits of a machine. Waits that end together are merged, unless all are
// requested.
func (x *Explanation) Waits(all bool) []*Wait {
	var list []*Wait
	known := map[fairlead.Block]*Wait{}
	for i := range x.Blocked {
		b := &x.Blocked[i]
		key := fairlead.Block{Reason: b.Reason, Owner: b.Owner, Unblock: b.Unblock, Since: b.Since}
		if i < len(x.details) {
			key.Message = x.details[i] // pods that need not end yet are not those that should have
		}
		if w := known[key]; w != nil && !all && x.Names[i] != "" {
			w.Also = append(w.Also, x.Names[i])
			continue
		}
		known[key] = &Wait{Block: b}
		list = append(list, known[key])
	}
	return list
}
