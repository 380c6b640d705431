package solver

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// An OptimumCertificate is a proof that a selection costs the least, and is the
// best one of those that do. It contains only numbers, and can be stored and
// sent as JSON; [CheckOptimum] verifies it.
//
// It refers to the given problem and, after its variables and constraints, to
// one of each for every variable that a criterion wants to be selected, in the
// order of the terms: "that, or this one instead". Sums are numbered after these:
// the first sum is the variable after the last one.
type OptimumCertificate struct {
	// Sums are variables that hold if more than a given number of others do. As
	// a hint, a sum is identified by the number of constraints plus its
	// position.
	Sums []Sum `json:"sums,omitempty"`
	// Lemmas follow from the constraints, and from the definitions of the sums.
	Lemmas []Lemma `json:"lemmas,omitempty"`
	// Payments prove, by criterion, that its cost is at least their sum.
	Payments [][]Payment `json:"payments"`
	// Steps are the choices, in order. Their refusals may also rest on what was
	// not paid for.
	Steps []CertifiedStep `json:"steps"`
}

// A Sum is a variable that holds if more than a given number of others do.
type Sum struct {
	// Vars are the others, each once: variables of the problem, or earlier
	// sums.
	Vars []Var `json:"vars"`
	// More is that number.
	More int `json:"more"`
}

// A Payment says that one of several literals that cost something must hold.
//
// Initially, each variable has the weight that the criterion's terms give it.
// At a payment, all literals of the lemma that are not proven to fail must have
// at least the payment's weight left; they lose it, because one of them holds.
// If more than one does, that costs again: the sums of the payment gain the
// weight. At the end, what has weight left fails in all selections that are
// optimal by the criteria up to this one.
type Payment struct {
	// Lemma is the position of the clause.
	Lemma int `json:"lemma"`
	// Weight is what is paid, more than 0.
	Weight int64 `json:"weight"`
	// Sums are the positions of the sums over the clause.
	Sums []int `json:"sums,omitempty"`
}

// Certificate computes the proof that nothing costs less than o, and that its
// selection is the best one of those that cost no more.
//
// Cost: that of [Minimize] without bounds, and of a [Solution.Certificate]. The
// error is [*IncompleteError] if ctx ended first.
func (o *Optimum) Certificate(ctx context.Context) (*OptimumCertificate, error) {
	z := newMinimization(ctx, o.criteria, &budget{})
	z.proof = &OptimumCertificate{Payments: [][]Payment{}}
	best, err := z.run(o.given)
	if err != nil {
		return nil, err
	}
	of := make([]int32, len(z.c.vars)) // all are of one part, the sums included
	for v := range of {
		of[v] = 1
	}
	z.c.back(0)
	f := &certifier{ctx: ctx, x: z.x, of: of, log: best.Solution.log, cdcl: z.c, picks: z.hard}
	choices, err := f.certify(best.Solution)
	if err != nil {
		return nil, err
	}
	cert := z.proof
	cert.Steps = choices.Steps
	var used []int32
	for _, own := range cert.Payments {
		for _, p := range own {
			used = append(used, int32(-1-p.Lemma))
		}
	}
	var number []int
	cert.Lemmas, number = trim(&z.c.poll, z.c.proof, used, cert.Steps)
	if z.c.poll.ended {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	for _, own := range cert.Payments {
		for i := range own {
			own[i].Lemma = number[own[i].Lemma]
		}
	}
	return cert, nil
}

// CheckOptimum verifies that the selection of the certificate meets all
// constraints of p, that no selection costs less by the criteria, and that it
// is the best one, by the rule of [Minimize], of those that cost the same. It
// returns the costs. It shares no code with the search.
//
// Cost: linear in the size of the problem, of the certificate, and of the
// constraints that its hints name. The error is [*CertificateError] if
// something is wrong, [*ProblemError] if p or a criterion is malformed, or that
// of ctx.
func CheckOptimum(ctx context.Context, p *Problem, criteria []Criterion, cert *OptimumCertificate) (costs []int64, err error) {
	if err := p.malformed(); err != nil {
		return nil, err
	}
	q, absent, err := stateCriteria(ctx, p, criteria)
	if err != nil {
		return nil, err
	}
	if cert == nil {
		return nil, &CertificateError{-1, -1, "there is none"}
	}
	choices := &Certificate{Steps: cert.Steps}
	if err := checkSelection(ctx, q, choices); err != nil {
		return nil, err
	}
	v := newVerifier(ctx, q)
	if err := v.define(cert.Sums); err != nil {
		return nil, err
	}
	if err := v.lemmas(cert.Lemmas); err != nil {
		return nil, err
	}
	if len(cert.Payments) != len(criteria) {
		return nil, &CertificateError{-1, -1, fmt.Sprintf("it has payments of %d criteria, not of %d", len(cert.Payments), len(criteria))}
	}
	selected := newBitset(q.vars)
	for _, step := range cert.Steps {
		selected.put(step.Pick)
	}
	for i, k := range criteria {
		cost, weight := int64(0), make(map[Var]int64)
		for _, t := range k.Terms {
			if v.poll.spend(64) { // it may make a map grow
				return nil, ctx.Err()
			}
			if selected.has(t.Lit.Var()) == t.Lit.Selects() {
				cost += t.Weight
			}
			if t.Lit.Selects() {
				weight[t.Lit.Var()] += t.Weight
			} else {
				weight[absent[t.Lit.Var()]] += t.Weight
			}
		}
		bound, err := v.payments(cert.Payments[i], weight)
		if v.poll.ended {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, &CertificateError{-1, -1, fmt.Sprintf("criterion %d (%s): %v", i, k.Name, err)}
		}
		if bound != cost {
			return nil, &CertificateError{-1, -1, fmt.Sprintf("criterion %d (%s): the selection costs %d, %d is paid for", i, k.Name, cost, bound)}
		}
		costs = append(costs, cost)
	}
	return costs, v.choices(choices)
}

// define adds the sums.
func (v *verifier) define(sums []Sum) error {
	for i, s := range sums {
		known := make(map[Var]bool)
		for _, own := range s.Vars {
			if v.poll.spend(64) {
				return v.poll.ctx.Err()
			}
			if own < 1 || int(own) > v.p.vars+i || known[own] || s.More < 0 {
				return &CertificateError{-1, -1, fmt.Sprintf("sum %d is of what is not before it, or of something twice, or more than %d", i, s.More)}
			}
			known[own] = true
		}
	}
	v.sums = sums
	v.value = append(v.value, make([]int8, len(sums))...)
	return nil
}

// payments returns the lower bound that the payments prove, and marks as
// failing what has weight left.
func (v *verifier) payments(all []Payment, weight map[Var]int64) (bound int64, err error) {
	for i, p := range all {
		if p.Lemma < 0 || p.Lemma >= len(v.known) || p.Weight <= 0 {
			return 0, fmt.Errorf("payment %d is of lemma %d and of weight %d", i, p.Lemma, p.Weight)
		}
		var core []Var
		for _, l := range v.known[p.Lemma].Lits {
			if v.poll.spend(16); v.state(l) < 0 {
				continue
			}
			if !l.Selects() || weight[l.Var()] < p.Weight {
				return 0, fmt.Errorf("payment %d: literal %d has not that much weight left", i, l)
			}
			weight[l.Var()] -= p.Weight
			core = append(core, l.Var())
		}
		if p.Weight > math.MaxInt64-bound {
			return 0, fmt.Errorf("payment %d: more is paid than fits 64 bits", i)
		}
		bound += p.Weight
		slices.Sort(core)
		counted := make(map[int]bool)
		for _, at := range p.Sums {
			if at < 0 || at >= len(v.sums) {
				return 0, fmt.Errorf("payment %d: there is no sum %d", i, at)
			}
			s := v.sums[at]
			v.poll.spend(64 * len(s.Vars)) // they are sorted
			if s.More < 1 || counted[s.More] || !slices.Equal(slices.Sorted(slices.Values(s.Vars)), core) {
				return 0, fmt.Errorf("payment %d: sum %d is not one of its clause, or counts twice", i, at)
			}
			counted[s.More] = true
			own := Var(v.p.vars + 1 + at)
			if p.Weight > math.MaxInt64-weight[own] {
				return 0, fmt.Errorf("payment %d: sum %d weighs more than fits 64 bits", i, at)
			}
			weight[own] += p.Weight
		}
	}
	for own, w := range weight {
		v.poll.spend(4)
		if w > 0 {
			v.value[own] = -1
		}
	}
	return bound, nil
}

// sum applies the definition of a sum: it holds, or at most s.More of its
// variables do. It reports whether that can no longer be met.
func (v *verifier) sum(at int) (over bool) {
	s, own := v.sums[at], Var(v.p.vars+1+at).Yes()
	v.poll.spend(1 + len(s.Vars))
	in := 0
	for _, k := range s.Vars {
		if v.value[k] > 0 {
			in++
		}
	}
	switch {
	case in < s.More:
		return false
	case in > s.More && v.state(own) < 0:
		return true
	case in > s.More:
		v.set(own)
	case v.state(own) < 0:
		for _, k := range s.Vars {
			v.set(k.No())
		}
	}
	return false
}
