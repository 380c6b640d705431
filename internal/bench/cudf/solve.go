package cudf

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/fairlead/fairlead/solver"
)

// A Result is an upgrade.
type Result struct {
	// Installed are the positions in Document.Packages of what is installed at
	// the end, ascending.
	Installed []int
	// Values are the values of the criteria for it, in their order.
	Values []int64
	// Proven says that no other upgrade is better by the criteria.
	Proven bool

	optimum *solver.Optimum
}

// Solve returns the best upgrade by the criteria. Earlier criteria take
// precedence over later ones, and all must be those of [ParseCriteria]. Among
// upgrades that are equal by all criteria, it returns the best one by the rule
// of [solver.Solve]: requests in the order install, remove, upgrade; then what
// must be kept; candidates with the newest version first. Nothing is installed
// that nothing calls for.
//
// The errors are those of [solver.Minimize]. With a [*solver.IncompleteError],
// Solve also returns the best upgrade that was found, if there is one.
func (d *Document) Solve(ctx context.Context, criteria []Criterion, opts *solver.Options) (*Result, error) {
	p, all, err := d.question(criteria)
	if err != nil {
		return nil, err
	}
	best, err := solver.Minimize(ctx, p, all, opts)
	var incomplete *solver.IncompleteError
	if best == nil || err != nil && !errors.As(err, &incomplete) {
		return nil, err
	}
	r := d.result(criteria, all, best.Solution.Selected(), best.Costs)
	r.Proven, r.optimum = err == nil, best
	return r, err
}

// Certificate computes the proof that no other upgrade is better, for
// [Document.Check].
//
// Cost and errors are those of [solver.Optimum.Certificate]; an upgrade that is
// not Proven, or was not returned by [Document.Solve], has none.
func (r *Result) Certificate(ctx context.Context) (*solver.OptimumCertificate, error) {
	if !r.Proven || r.optimum == nil {
		return nil, errors.New("cudf: the upgrade has no certificate, because it is not proven to be the best: solve with larger bounds")
	}
	return r.optimum.Certificate(ctx)
}

// Check verifies that a certificate proves an upgrade of d to be the best by
// the criteria, and returns that upgrade. It shares no code with the search,
// but it states the document and the criteria as constraints in the same way as
// [Document.Solve].
//
// Cost and errors are those of [solver.CheckOptimum]; a criterion that d cannot
// be measured by is also an error.
func (d *Document) Check(ctx context.Context, criteria []Criterion, cert *solver.OptimumCertificate) (*Result, error) {
	p, all, err := d.question(criteria)
	if err != nil {
		return nil, err
	}
	costs, err := solver.CheckOptimum(ctx, p, all, cert)
	if err != nil {
		return nil, err
	}
	picks := make([]solver.Var, len(cert.Steps))
	for i, step := range cert.Steps {
		picks[i] = step.Pick
	}
	slices.Sort(picks)
	r := d.result(criteria, all, slices.Values(picks), costs)
	r.Proven = true
	return r, nil
}

// question states the document and the criteria as a problem.
func (d *Document) question(criteria []Criterion) (*solver.Problem, []solver.Criterion, error) {
	u := d.state()
	var all []solver.Criterion
	for _, c := range criteria {
		k, err := u.criterion(c)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, k)
	}
	return u.p, all, nil
}

// result returns the upgrade with what is selected, ascending, at the given
// costs.
func (d *Document) result(criteria []Criterion, all []solver.Criterion, selected iter.Seq[solver.Var], costs []int64) *Result {
	r := &Result{}
	for v := range selected {
		if int(v) <= len(d.Packages) {
			r.Installed = append(r.Installed, int(v)-1)
		}
	}
	for i, k := range all {
		value := costs[i]
		if criteria[i].Much { // what does not hold was counted
			value = -value
			for _, t := range k.Terms {
				value += t.Weight
			}
		}
		r.Values = append(r.Values, value)
	}
	return r
}
