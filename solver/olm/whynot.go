package olm

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Rejection says why a request does not resolve to a bundle.
type Rejection struct {
	// Candidate is the bundle, as one channel of one catalog offers it.
	Candidate
	// Chosen reports that the request does resolve to it.
	Chosen bool `json:"chosen"`
	// Why is the reason, as text to follow the bundle's name. It is empty if the
	// bundle is chosen.
	Why string `json:"why,omitempty"`
}

// WhyNot reports, for every place where the visible catalogs have a bundle of
// that name, why the request does not resolve to it: no subscription requests
// it there, its channel does not offer it, it is not a direct update, what it
// lacks, what it excludes, or which choice was preferred to it. The reasons are
// found by trial resolutions. The places are in the order of preference; there
// are none if no catalog has the bundle.
//
// The errors are those of Resolver.Resolve except *UnsatError: for a request
// that cannot be satisfied, nothing is chosen.
func (r *Resolver) WhyNot(ctx context.Context, req *Request, name string) ([]Rejection, error) {
	ctx, end := r.budgeted(ctx)
	out, err := r.whyNot(ctx, req, name)
	return out, end(err)
}

func (r *Resolver) whyNot(ctx context.Context, req *Request, name string) ([]Rejection, error) {
	q, err := r.begin(ctx, req)
	if err != nil {
		return nil, err
	}
	selected, err := q.solve(ctx)
	var unsat *UnsatError
	if err != nil && !errors.As(err, &unsat) {
		return nil, err
	}
	has := make(map[*entry]bool)
	for _, e := range selected {
		has[e] = true
	}
	var out []Rejection
	for _, src := range q.sources {
		for p := range src.Catalog.Packages() {
			if _, ok := p.Bundle(name); !ok {
				continue
			}
			for _, ch := range src.pkg(p.Name()).channels {
				e := ch.named(name)
				if e == nil {
					continue
				}
				j := Rejection{Candidate: candidateOf(e), Chosen: has[e]}
				if j.Why, err = q.whyNotChosen(ctx, e, has, unsat); err != nil {
					return nil, err
				}
				out = append(out, j)
			}
		}
	}
	return out, nil
}

// whyNotChosen finds the first obstacle to an entry, from what the catalogs
// state to what only a trial shows.
func (q *query) whyNotChosen(ctx context.Context, e *entry, has map[*entry]bool, unsat *UnsatError) (string, error) {
	if has[e] {
		return "", nil
	}
	if text, err := q.obstacle(ctx, e); text != "" || err != nil {
		return text, err
	}
	if unsat != nil {
		return "is not chosen because nothing is: the request cannot be satisfied", nil
	}
	for _, s := range q.subs {
		at := slices.Index(s.candidates, e)
		if at < 0 {
			continue
		}
		for _, better := range s.candidates[:at] {
			if has[better] {
				return fmt.Sprintf("is less preferred than %s for subscription %s", better.name, s.Name), nil
			}
		}
		return q.whyNot(ctx, e, choicesBefore(q.subs, s, has))
	}
	for _, s := range q.subs {
		if s.refersTo(e) {
			return whyNoCandidate(s, e), nil
		}
	}
	return q.whyNotRequired(ctx, e, has)
}

// whyNotRequired returns why an entry that no subscription is for was not
// chosen for a requirement.
func (q *query) whyNotRequired(ctx context.Context, e *entry, has map[*entry]bool) (string, error) {
	for _, by := range slices.Concat(q.installed, q.candidates()) {
		if !has[by] {
			continue
		}
		for _, n := range by.facts().needs {
			candidates, err := q.candidatesFor(ctx, by, n)
			if err != nil {
				return "", err
			}
			at := slices.Index(candidates, e)
			if at < 0 {
				continue
			}
			for _, better := range candidates[:at] {
				if has[better] {
					return fmt.Sprintf("would meet what %s requires (%s), but is less preferred than %s", by.name, n, better.name), nil
				}
			}
			return q.whyNot(ctx, e, choicesBefore(q.subs, nil, has))
		}
	}
	return "is requested by no subscription, and required by nothing that is chosen for one", nil
}

// candidates lists the candidates of all subscriptions, in the order of these.
func (q *query) candidates() []*entry {
	var all []*entry
	for _, s := range q.subs {
		all = append(all, s.candidates...)
	}
	return all
}

// whyNoCandidate returns why an entry cannot serve a subscription that refers
// to it.
func whyNoCandidate(s *subscription, e *entry) string {
	switch {
	case s.current == nil && s.Spec.StartingCSV != "":
		return fmt.Sprintf("is not the startingCSV %s of subscription %s", s.Spec.StartingCSV, s.Name)
	case e.rank < 0:
		return fmt.Sprintf("is not offered by channel %s: an entry skips it, or the chain of replaces does not lead to it", e.channel.name)
	case s.current != nil && s.current.name == e.name:
		return "is installed"
	case s.current != nil:
		return fmt.Sprintf("is not a direct update of %s: none of its replaces, skips and skipRange names that", s.current.name)
	}
	return "cannot serve subscription " + s.Name
}

// choicesBefore returns what was chosen for the subscriptions that are served
// before s, or for all if s is nil.
func choicesBefore(subs []*subscription, s *subscription, has map[*entry]bool) []*entry {
	var chosen []*entry
	for _, o := range subs {
		if o == s {
			break
		}
		at := slices.IndexFunc(o.candidates, func(e *entry) bool { return has[e] })
		if at >= 0 {
			chosen = append(chosen, o.candidates[at])
		}
	}
	return chosen
}
