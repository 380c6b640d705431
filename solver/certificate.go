package solver

import (
	"context"
	"fmt"
	"slices"
)

// A Certificate is a proof that a selection is the best one. It holds nothing
// but numbers, and can be stored and sent as JSON; [Check] verifies it.
type Certificate struct {
	// Steps are the choices, in their order. What they pick is the selection.
	Steps []CertifiedStep `json:"steps"`
}

// A CertifiedStep is one choice of a [Certificate].
type CertifiedStep struct {
	// Demand is the ID of the constraint that is met.
	Demand int `json:"demand"`
	// Pick is the variable picked for it.
	Pick Var `json:"pick"`
	// Refused says for each better candidate, in order, why it is impossible.
	Refused []CertifiedRefusal `json:"refused,omitempty"`
}

// A CertifiedRefusal is the reason why a candidate was passed over.
type CertifiedRefusal struct {
	// Var is the candidate.
	Var Var `json:"var"`
	// Core are the IDs of constraints that rule it out together with the picks
	// of the earlier steps in Given, ascending.
	Core []int `json:"core"`
	// Given are positions of earlier steps, ascending.
	Given []int `json:"given,omitempty"`
}

// Certificate works out the proof that s is the best selection. Every reason in
// it is minimal.
//
// Cost: some runs of the SAT engine for every candidate that was passed over.
// The error is [*IncompleteError] when ctx ended first. The Best of an
// IncompleteError has no certificate: the error says which choice is not proven.
func (s *Solution) Certificate(ctx context.Context) (*Certificate, error) {
	p := s.Problem()
	lits := make([]elit, p.vars+1)
	refusers := make(map[int]*refuser) // by part
	x := indexOf(ctx, p)
	if x == nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	all := parts(ctx, x)
	of := numbered(x, all)
	if ctx.Err() != nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	cert := &Certificate{Steps: []CertifiedStep{}}
	for i, d := range s.log {
		step := CertifiedStep{Demand: int(d.con), Pick: d.pick}
		for _, v := range candidates(s.step(i).Demand)[:s.step(i).Rank] {
			at := int(of[v]) - 1
			if refusers[at] == nil {
				m, err := newMinimizer(ctx, p, &all[at], lits, &budget{})
				if err != nil {
					return nil, err
				}
				refusers[at] = &refuser{m}
			}
			cons, given, err := refusers[at].why(ctx, s.picks(i), v)
			if err != nil {
				return nil, err
			}
			r := CertifiedRefusal{Var: v, Core: []int{}}
			for _, id := range cons {
				r.Core = append(r.Core, int(id))
			}
			for _, pick := range given {
				r.Given = append(r.Given, s.find(pick))
			}
			step.Refused = append(step.Refused, r)
		}
		cert.Steps = append(cert.Steps, step)
	}
	return cert, nil
}

// CheckOptions bound the work of [Check] and [CheckCore]. The zero value, like
// nil, is good.
type CheckOptions struct {
	// MaxSteps bounds the search for each reason, in constraints looked at. 0
	// means 10 million, less than 0 no bound.
	MaxSteps int
}

// A CertificateError reports that a certificate, or a core, proves nothing.
type CertificateError struct {
	// Step is the position of the step that is wrong, or -1 where it is not one
	// step.
	Step int
	// What says what is wrong.
	What string
}

// Error says what is wrong, and where.
func (e *CertificateError) Error() string {
	if e.Step < 0 {
		return "solver: wrong certificate: " + e.What
	}
	return fmt.Sprintf("solver: wrong certificate: step %d: %s", e.Step, e.What)
}

// An UndecidedError reports that a reason was neither verified nor refuted
// within the bound on steps.
type UndecidedError struct {
	// Step is the position of the step, or -1 where it is a core.
	Step int
	// Var is the candidate whose refusal is in question, or 0.
	Var Var
	// MaxSteps is the bound.
	MaxSteps int
}

// Error says what is undecided, and how to go on.
func (e *UndecidedError) Error() string {
	return fmt.Sprintf("solver: certificate undecided: step %d, variable %d: more than %d steps; raise CheckOptions.MaxSteps", e.Step, e.Var, e.MaxSteps)
}

// Check verifies that the selection of the certificate meets all constraints of
// p and is the best one by the rule of [Solve]. It uses nothing of what found
// the answer: it follows the rule, reads the constraints as they were given,
// and searches each reason by itself.
//
// The error is [*CertificateError] when something is wrong, [*UndecidedError]
// when a reason was too hard to verify within the bound, [*ProblemError] when p
// is malformed, or that of ctx.
func Check(ctx context.Context, p *Problem, cert *Certificate, opts *CheckOptions) error {
	if err := p.malformed(); err != nil {
		return err
	}
	if cert == nil {
		return &CertificateError{-1, "there is none"}
	}
	var picks []decision
	for i, step := range cert.Steps {
		if !p.has(step.Pick) || step.Demand < 0 || step.Demand >= len(p.cons) {
			return &CertificateError{i, "it names what is not in the problem"}
		}
		picks = append(picks, decision{pick: step.Pick})
	}
	if bad := examine(ctx, p, nil, nil, picks); bad != "" {
		return &CertificateError{-1, "the selection breaks " + bad}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkOrder(p, cert); err != nil {
		return err
	}
	for i, step := range cert.Steps {
		if err := checkRefusals(ctx, p, cert, i, step, opts); err != nil {
			return err
		}
	}
	return nil
}

// checkOrder verifies that the steps are the demands that come up, in order.
func checkOrder(p *Problem, cert *Certificate) error {
	picked := make(map[Var]bool)
	denies := make(map[Var][]int) // demands that deny the variable
	var queue []int
	for id := range p.cons {
		c := p.Constraint(id)
		if c.Kind == Limitation || len(candidates(c)) == 0 {
			continue
		}
		root := true
		for _, l := range c.Lits {
			if v := l.Var(); !l.Selects() {
				root = false
				if own := denies[v]; len(own) == 0 || own[len(own)-1] != id {
					denies[v] = append(own, id)
				}
			}
		}
		if root {
			queue = append(queue, id)
		}
	}
	next := 0
	for ; len(queue) > 0; queue = queue[1:] {
		c := p.Constraint(queue[0])
		if slices.ContainsFunc(candidates(c), func(v Var) bool { return picked[v] }) {
			continue
		}
		if next == len(cert.Steps) || cert.Steps[next].Demand != c.ID {
			return &CertificateError{next, fmt.Sprintf("the next choice is that of constraint %d (%s)", c.ID, c.Demand())}
		}
		pick := cert.Steps[next].Pick
		if !slices.Contains(candidates(c), pick) {
			return &CertificateError{next, p.Name(pick) + " is no candidate"}
		}
		picked[pick] = true
		next++
		for _, id := range denies[pick] {
			if !slices.ContainsFunc(p.Constraint(id).Lits, func(l Lit) bool { return !l.Selects() && !picked[l.Var()] }) {
				queue = append(queue, id)
			}
		}
	}
	if next < len(cert.Steps) {
		return &CertificateError{next, "there is no choice left"}
	}
	return nil
}

// checkRefusals verifies that each better candidate is impossible.
func checkRefusals(ctx context.Context, p *Problem, cert *Certificate, i int, step CertifiedStep, opts *CheckOptions) error {
	cands := candidates(p.Constraint(step.Demand))
	better := cands[:slices.Index(cands, step.Pick)]
	if len(better) != len(step.Refused) {
		return &CertificateError{i, fmt.Sprintf("%d better candidates, %d refusals", len(better), len(step.Refused))}
	}
	for k, r := range step.Refused {
		if r.Var != better[k] {
			return &CertificateError{i, fmt.Sprintf("refusal %d is not of candidate %s", k, p.Name(better[k]))}
		}
		facts := []Lit{r.Var.Yes()}
		for _, at := range r.Given {
			if at < 0 || at >= i {
				return &CertificateError{i, fmt.Sprintf("the refusal of %s rests on a step that is not before it", p.Name(r.Var))}
			}
			facts = append(facts, cert.Steps[at].Pick.Yes())
		}
		switch v, err := contradicts(ctx, p, r.Core, facts, opts); {
		case err != nil:
			return err
		case v == sat:
			return &CertificateError{i, p.Name(r.Var) + " is possible for all that its refusal says"}
		case v == unknown:
			return &UndecidedError{i, r.Var, opts.maxSteps()}
		}
	}
	return nil
}

// CheckCore verifies that the constraints with these IDs cannot be met together,
// as [UnsatError.Core] claims, in the manner and with the errors of [Check].
func CheckCore(ctx context.Context, p *Problem, core []int, opts *CheckOptions) error {
	if err := p.malformed(); err != nil {
		return err
	}
	switch v, err := contradicts(ctx, p, core, nil, opts); {
	case err != nil:
		return err
	case v == sat:
		return &CertificateError{-1, "the constraints can be met together"}
	case v == unknown:
		return &UndecidedError{-1, 0, opts.maxSteps()}
	}
	return nil
}

func (o *CheckOptions) maxSteps() int {
	switch {
	case o == nil || o.MaxSteps == 0:
		return 10_000_000
	case o.MaxSteps < 0:
		return int(^uint(0) >> 1)
	}
	return o.MaxSteps
}
