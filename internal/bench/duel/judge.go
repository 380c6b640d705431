package duel

import (
	"errors"
	"fmt"
	"slices"
)

// Verdict says what is wrong with a peer's answer.
type Verdict int

// The verdicts, the better ones first.
const (
	Optimal  Verdict = iota // as good as ours
	Worse                   // meets all constraints, but ours is better
	Violates                // breaks a constraint, without an error
	Disagree                // says satisfiable if ours says not, or the other way round
)

// Judge compares the answer of a peer with ours. An error says that ours is wrong:
// it breaks a constraint, or the peer's is valid and better.
func Judge(p *Problem, ours, peer Answer) (Verdict, error) {
	if ours.Satisfiable {
		if err := p.Check(ours.Selected); err != nil {
			return 0, fmt.Errorf("our answer is wrong: %w", err)
		}
	}
	if !peer.Satisfiable {
		if ours.Satisfiable {
			return Disagree, nil
		}
		return Optimal, nil
	}
	if err := p.Check(peer.Selected); err != nil {
		if !ours.Satisfiable {
			return Disagree, nil
		}
		return Violates, nil
	}
	if !ours.Satisfiable {
		return 0, errors.New("our answer is wrong: the peer has an answer that meets all constraints")
	}
	switch slices.Compare(p.Ranks(ours.Selected), p.Ranks(peer.Selected)) {
	case -1:
		return Worse, nil
	case 0:
		return Optimal, nil
	}
	return 0, errors.New("our answer is wrong: the peer has a better one")
}
