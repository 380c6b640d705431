package solver

import (
	"fmt"
	"slices"
)

// A Lemma is a clause that follows from the constraints of a problem: in every
// selection that meets them, at least one of its literals holds.
//
// The hints prove this by unit propagation. If all literals of the lemma fail,
// each hint in turn forces further literals, until one hint can no longer be
// met. A hint is the ID of a constraint, or -1 for the first lemma of the
// proof, -2 for the second, and so on; only earlier lemmas may be used. A
// clause forces the one literal that has not failed; a limitation that is used
// up forces all its other variables out. A hint that forces nothing is skipped.
type Lemma struct {
	// Lits are the literals of the clause, each once, in no particular order.
	Lits []Lit `json:"lits"`
	// Hints prove that it follows.
	Hints []int `json:"hints"`
	// Counts says that the hints are not followed but added up. They are the IDs
	// of clauses and of limitations, each once. If all literals of the lemma
	// fail, only candidates are left in the clauses, each candidate is in at
	// least as many of the limitations as of the clauses, and there are more
	// clauses than the limitations allow together.
	Counts bool `json:"counts,omitempty"`
}

// A Certificate is a proof that a selection is the best one. It contains only
// numbers, and can be stored and sent as JSON; [Check] verifies it.
type Certificate struct {
	// Lemmas are what the refusals rest on in addition to the constraints.
	Lemmas []Lemma `json:"lemmas,omitempty"`
	// Steps are the choices, in order. Their picks are the selection.
	Steps []CertifiedStep `json:"steps"`
}

// A CertifiedStep is one choice of a [Certificate].
type CertifiedStep struct {
	// Demand is the ID of the constraint that the step meets.
	Demand int `json:"demand"`
	// Pick is the variable picked for it.
	Pick Var `json:"pick"`
	// Refused gives, for each better candidate in order, the reason why it is
	// impossible.
	Refused []CertifiedRefusal `json:"refused,omitempty"`
}

// A CertifiedRefusal is the reason why a candidate was passed over.
type CertifiedRefusal struct {
	// Var is the candidate.
	Var Var `json:"var"`
	// Given are the positions of the earlier steps, ascending, whose picks it
	// is impossible with.
	Given []int `json:"given,omitempty"`
	// Hints prove it, like those of a [Lemma].
	Hints []int `json:"hints"`
}

// Core returns the IDs of the constraints that a refusal of the certificate
// rests on, ascending: together with the given picks, they alone rule the
// candidate out. The set need not be minimal; [Refusal.Core] is.
func (cert *Certificate) Core(r CertifiedRefusal) []int {
	var core []int
	need := make([]bool, len(cert.Lemmas))
	use := func(hints []int) {
		for _, h := range hints {
			if h >= 0 {
				core = append(core, h)
			} else if h >= -len(need) {
				need[-1-h] = true
			}
		}
	}
	use(r.Hints)
	for i := len(need) - 1; i >= 0; i-- {
		if need[i] {
			use(cert.Lemmas[i].Hints)
		}
	}
	slices.Sort(core)
	return slices.Compact(core)
}

// A Refutation is a proof that constraints cannot be met together, see
// [Problem.Refute]. It contains only numbers, and can be stored and sent as
// JSON; [CheckRefutation] verifies it.
type Refutation struct {
	// Lemmas lead to the last one, which has no literals and therefore cannot
	// hold.
	Lemmas []Lemma `json:"lemmas"`
}

// Core returns the IDs of the constraints that the proof uses, ascending: they
// alone cannot be met together. The set need not be minimal; [UnsatError.Core]
// is.
func (r *Refutation) Core() []int {
	var core []int
	for _, m := range r.Lemmas {
		for _, h := range m.Hints {
			if h >= 0 {
				core = append(core, h)
			}
		}
	}
	slices.Sort(core)
	return slices.Compact(core)
}

// A CertificateError reports that a certificate or refutation is not valid.
type CertificateError struct {
	// Lemma is the position of the lemma that is wrong, or -1.
	Lemma int
	// Step is the position of the step that is wrong, or -1 if the error is not
	// in a single step.
	Step int
	// What describes what is wrong.
	What string
}

// Error reports what is wrong and where.
func (e *CertificateError) Error() string {
	switch {
	case e.Lemma >= 0:
		return fmt.Sprintf("solver: wrong certificate: lemma %d: %s", e.Lemma, e.What)
	case e.Step >= 0:
		return fmt.Sprintf("solver: wrong certificate: step %d: %s", e.Step, e.What)
	}
	return "solver: wrong certificate: " + e.What
}
