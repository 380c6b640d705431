package solver

import (
	"fmt"
	"slices"
)

// A Lemma is a clause that follows from the constraints of a problem: in every
// selection that meets them one of its literals holds.
//
// The hints show it by unit propagation: where all its literals fail, the hints
// in turn force something, until one cannot be met any more. A hint is the ID of a
// constraint, or -1 for the first lemma of the proof, -2 for the second, and so on:
// of those before it. A clause forces the one literal that has not failed; a
// limitation that is used up forces all its other variables out. A hint that
// forces nothing is passed over.
type Lemma struct {
	// Lits are the literals of the clause, each once, in no particular order.
	Lits []Lit `json:"lits"`
	// Hints show that it follows.
	Hints []int `json:"hints"`
}

// A Certificate is a proof that a selection is the best one. It holds nothing
// but numbers, and can be stored and sent as JSON; [Check] verifies it.
type Certificate struct {
	// Lemmas are what the refusals rest on besides the constraints.
	Lemmas []Lemma `json:"lemmas,omitempty"`
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
	// Given are positions of earlier steps, ascending, with whose picks it is
	// impossible.
	Given []int `json:"given,omitempty"`
	// Hints show it, as those of a [Lemma] do.
	Hints []int `json:"hints"`
}

// Core returns the IDs of the constraints that a refusal of the certificate rests
// on, ascending: they alone rule the candidate out, together with the picks
// given. It need not be minimal; [Refusal.Core] is.
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
// [Problem.Refute]. It holds nothing but numbers, and can be stored and sent as
// JSON; [CheckRefutation] verifies it.
type Refutation struct {
	// Lemmas lead to the last one, which has no literals: nothing can hold.
	Lemmas []Lemma `json:"lemmas"`
}

// Core returns the IDs of the constraints that the proof uses, ascending: they
// alone cannot be met together. It need not be minimal; [UnsatError.Core] is.
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

// A CertificateError reports that a certificate, or a refutation, proves
// nothing.
type CertificateError struct {
	// Lemma is the position of the lemma that is wrong, or -1.
	Lemma int
	// Step is the position of the step that is wrong, or -1 where it is not one
	// step.
	Step int
	// What says what is wrong.
	What string
}

// Error says what is wrong, and where.
func (e *CertificateError) Error() string {
	switch {
	case e.Lemma >= 0:
		return fmt.Sprintf("solver: wrong certificate: lemma %d: %s", e.Lemma, e.What)
	case e.Step >= 0:
		return fmt.Sprintf("solver: wrong certificate: step %d: %s", e.Step, e.What)
	}
	return "solver: wrong certificate: " + e.What
}
