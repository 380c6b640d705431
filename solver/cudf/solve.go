package cudf

import (
	"context"
	"errors"

	"github.com/fairlead/fairlead/solver"
)

// A Result is an upgrade.
type Result struct {
	// Installed are the positions in Document.Packages of what is installed at
	// the end, ascending.
	Installed []int
	// Values are what the criteria measure of it, in their order.
	Values []int64
	// Proven says that no other upgrade is better by the criteria.
	Proven bool
}

// Solve returns the best upgrade by the criteria, of which earlier ones count
// before later ones, and which must be those of [ParseCriteria]. Of those that
// are equal by all criteria it is the best one by the rule of [solver.Solve]:
// requests in the order install, remove, upgrade; then what is kept; candidates
// the newest version first. Nothing is installed that nothing calls for.
//
// The errors are those of [solver.Minimize]. With a [*solver.IncompleteError]
// comes the best upgrade that was found, if there is one.
func (d *Document) Solve(ctx context.Context, criteria []Criterion, opts *solver.Options) (*Result, error) {
	u := d.state()
	var all []solver.Criterion
	for _, c := range criteria {
		k, err := u.criterion(c)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	best, err := solver.Minimize(ctx, u.p, all, opts)
	var incomplete *solver.IncompleteError
	if best == nil || err != nil && !errors.As(err, &incomplete) {
		return nil, err
	}
	r := &Result{Proven: err == nil}
	for v := range best.Solution.Selected() {
		if int(v) <= len(d.Packages) {
			r.Installed = append(r.Installed, int(v)-1)
		}
	}
	for i, k := range all {
		value := best.Costs[i]
		if criteria[i].Much { // what does not hold was counted
			value = -value
			for _, t := range k.Terms {
				value += t.Weight
			}
		}
		r.Values = append(r.Values, value)
	}
	return r, err
}
