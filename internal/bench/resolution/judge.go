package resolution

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"

	"github.com/fairlead/fairlead/solver/olm"
)

// Verdict is how good an answer of OLM's resolver is.
type Verdict string

// The verdicts; a Fault is also one.
const (
	Same       Verdict = "the same answer"
	OtherOrder Verdict = "the best for another order of the subscriptions"
	Worse      Verdict = "keeps the rules, but a better answer exists in any order"
	Refused    Verdict = "no answer, although there is one"
	Failed     Verdict = "an error other than that there is no answer"
)

// Judgement is the outcome of one task.
type Judgement struct {
	Satisfiable bool               // whether there is an answer
	Hard        bool               // a better-looking candidate had to be rejected
	Proven      bool               // the brute-force search was small enough to finish
	Peer        []Verdict          // of each run of OLM's resolver
	Unstable    bool               // its runs differ
	Details     map[Verdict]string // what is wrong with the first answer of each kind
}

// limit is how many selections the brute-force search rejects at most.
const limit = 20_000

// Judge resolves a task once with our resolver and several times with OLM's. An error
// says that our answer is wrong: it breaks a rule, or is not what the brute-force
// search finds, or OLM's keeps all rules and is preferred.
func Judge(ctx context.Context, t *Task, runs int) (*Judgement, error) {
	u, err := readRules(t)
	if err != nil {
		return nil, err
	}
	r, err := olm.NewResolver(t.Sources, &olm.Options{GlobalNamespace: t.Global})
	if err != nil {
		return nil, err
	}
	ours, satisfiable, err := u.ours(ctx, r)
	if err != nil {
		return nil, err
	}
	j := &Judgement{Satisfiable: satisfiable, Details: make(map[Verdict]string)}
	anchors := u.anchors()
	best, found, done, rejected := u.brute(anchors, limit)
	j.Proven, j.Hard = done, satisfiable && rejected > 0
	if done {
		if found != satisfiable {
			return nil, fmt.Errorf("we say satisfiable %v, the brute force %v", satisfiable, found)
		}
		if found && describe(ours) != describe(best) {
			return nil, fmt.Errorf("our answer is %s, the best %s", describe(ours), describe(best))
		}
	}
	if satisfiable {
		if err := u.check(ours); err != nil {
			return nil, fmt.Errorf("our answer is wrong: %w", err)
		}
	}
	return j, u.judgePeer(j, anchors, ours, runs)
}

// ours resolves with our resolver, and returns what is selected then.
func (u *rules) ours(ctx context.Context, r *olm.Resolver) (selected []*operator, satisfiable bool, err error) {
	res, err := r.Resolve(ctx, u.task.Request)
	if errors.As(err, new(*olm.UnsatError)) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("our resolver: %w", err)
	}
	var chosen []*operator
	for _, c := range res.Chosen {
		o := u.find(c.Source, c.Package, c.Channel, c.Name)
		if o == nil {
			return nil, false, fmt.Errorf("our resolver chose %s, which no catalog has", c.Candidate)
		}
		chosen = append(chosen, o)
	}
	return u.stay(chosen), true, nil
}

// agree compares both answers to a task on a real catalog: they must be the same, or
// ours the preferred one.
func (t *Task) agree(ctx context.Context, r *olm.Resolver, resolve func() ([]*cache.Entry, error)) error {
	res, err := r.Resolve(ctx, t.Request)
	unsat := errors.As(err, new(*olm.UnsatError))
	if err != nil && !unsat {
		return err
	}
	entries, err := resolve()
	if err != nil && !unsatisfiable(err) {
		return err
	}
	if err == nil && !unsat {
		var ours []string
		for _, c := range res.Chosen {
			ours = append(ours, fmt.Sprintf("%s/%s from %s", c.Package, c.Name, c.Source))
		}
		if slices.Sort(ours); strings.Join(ours, ", ") == describeEntries(entries) {
			return nil
		}
	}
	u, readErr := readRules(t)
	if readErr != nil {
		return readErr
	}
	selected, satisfiable, oursErr := u.ours(ctx, r)
	if oursErr != nil {
		return oursErr
	}
	if satisfiable {
		if err := u.check(selected); err != nil {
			return fmt.Errorf("our answer is wrong: %w", err)
		}
	}
	_, _, err = u.verdict(u.anchors(), selected, satisfiable, entries, err)
	return err
}

// describe names a selection, in order.
func describe(selected []*operator) string {
	var names []string
	for _, o := range selected {
		names = append(names, o.String())
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// judgePeer runs OLM's resolver, and judges each distinct answer once.
func (u *rules) judgePeer(j *Judgement, anchors []anchor, ours []*operator, runs int) error {
	p, err := newPeer(u.task.Global, u.task.Sources)
	if err != nil {
		return err
	}
	resolve, err := p.prepare(u.task.Request)
	if err != nil {
		return err
	}
	known := make(map[string]Verdict)
	for range runs {
		entries, err := resolve()
		text := "error"
		if err == nil {
			text = describeEntries(entries)
		} else if unsatisfiable(err) {
			text = "unsatisfiable"
		}
		verdict, ok := known[text]
		if !ok {
			var detail string
			if verdict, detail, err = u.verdict(anchors, ours, j.Satisfiable, entries, err); err != nil {
				return err
			}
			known[text] = verdict
			if j.Details[verdict] == "" {
				j.Details[verdict] = detail
			}
		}
		j.Peer = append(j.Peer, verdict)
	}
	j.Unstable = len(known) > 1
	return nil
}

func describeEntries(entries []*cache.Entry) string {
	var names []string
	for _, e := range entries {
		names = append(names, fmt.Sprintf("%s/%s from %s", e.Package(), e.Name, olm.SourceKey(e.SourceInfo.Catalog)))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// verdict judges one answer of OLM's resolver. An error says that ours is
// wrong.
func (u *rules) verdict(anchors []anchor, ours []*operator, satisfiable bool, entries []*cache.Entry, err error) (Verdict, string, error) {
	switch {
	case unsatisfiable(err) && satisfiable:
		return Refused, err.Error(), nil
	case unsatisfiable(err):
		return Same, "", nil
	case err != nil:
		return Failed, err.Error(), nil
	}
	var chosen []*operator
	for _, e := range entries {
		o := u.find(olm.SourceKey(e.SourceInfo.Catalog), e.Package(), e.Channel(), e.Name)
		if o == nil {
			return "", "", fmt.Errorf("OLM chose %s, which no catalog has", e.Name)
		}
		chosen = append(chosen, o)
	}
	theirs := u.stay(chosen)
	var broken *faultError
	if err := u.check(theirs); errors.As(err, &broken) {
		return Verdict(broken.fault), fmt.Sprintf("chose %s: %v", describe(chosen), err), nil
	}
	if !satisfiable {
		return "", "", fmt.Errorf("we say unsatisfiable, but OLM's answer keeps all rules: %s", describe(theirs))
	}
	switch slices.Compare(u.ranks(anchors, ours), u.ranks(anchors, theirs)) {
	case 0:
		return Same, "", nil
	case 1:
		return "", "", fmt.Errorf("our answer is %s, but OLM has a better one: %s", describe(ours), describe(theirs))
	}
	detail := fmt.Sprintf("chose %s; better is %s", describe(theirs), describe(ours))
	if u.bestInSomeOrder(anchors, theirs) {
		return OtherOrder, detail, nil
	}
	return Worse, detail, nil
}

// bestInSomeOrder reports whether an answer would be the best if the anchors were
// served in another order, since OLM's order is random.
func (u *rules) bestInSomeOrder(anchors []anchor, theirs []*operator) bool {
	found := false
	permute(anchors, 0, func(order []anchor) bool {
		best, ok, done, _ := u.brute(order, limit)
		found = !done || ok && slices.Equal(u.ranks(order, theirs), u.ranks(order, best))
		return found
	})
	return found
}

// permute calls fn with every order of a list until it returns true.
func permute[T any](list []T, from int, fn func([]T) bool) bool {
	if from == len(list) {
		return fn(list)
	}
	for i := from; i < len(list); i++ {
		next := slices.Clone(list)
		next[from], next[i] = next[i], next[from]
		if permute(next, from+1, fn) {
			return true
		}
	}
	return false
}
