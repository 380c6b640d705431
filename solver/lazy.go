package solver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// A Source answers questions about a registry that is not known as a whole. See
// [Lazy].
//
// Needs and candidates are identified by texts that the source chooses, such as
// "libc >= 2" and "libc 2.36"; equal texts mean the same thing. Each method is
// given several of them at once, and returns one answer for each, in the same
// order. Answers must not change during the life of the Lazy.
type Source interface {
	// Candidates returns, for each need, the candidates that meet it, the most
	// preferred first; none if nothing does.
	Candidates(ctx context.Context, needs []string) ([][]Candidate, error)
	// Requirements returns the requirements of each of the candidates.
	Requirements(ctx context.Context, candidates []string) ([]Requirements, error)
}

// A Candidate is something that a [Source] offers.
type Candidate struct {
	// Name identifies it, to the source and in answers.
	Name string
	// Slot is the slot that it takes up: of all candidates with the same slot,
	// such as the versions of a package, at most one is selected. It is "" if
	// there is no such bound. A candidate must have the same slot wherever it
	// is named.
	Slot string
}

// Requirements are what a candidate requires.
type Requirements struct {
	// Needs must all be met if the candidate is selected.
	Needs []string
	// Excludes are needs that no other selected candidate may meet.
	Excludes []string
}

// Asked counts the questions to a [Source].
type Asked struct {
	Calls      int // calls of both methods
	Needs      int // needs whose candidates are known
	Candidates int // candidates whose requirements are known
}

// A Lazy finds what to select to meet needs, and asks its [Source] only for
// what that takes. It remembers the answers. It is not safe for concurrent use.
type Lazy struct {
	source     Source
	needs      map[string]*need
	candidates map[string]*offered
	asked      Asked
}

// A need is the text of a need and, once known, its candidates.
type need struct {
	text  string
	known bool
	meets []*offered
	left  []Candidate // of an answer that was not taken in to the end
}

// An offered is a candidate and, once known, its requirements.
type offered struct {
	Candidate
	known           bool // its requirements are known
	needs, excludes []*need
	meets           []*need // what it is known to meet
}

// complete reports whether everything about its requirements is known.
func (o *offered) complete() bool {
	unknown := func(n *need) bool { return !n.known }
	return o.known && !slices.ContainsFunc(o.needs, unknown) && !slices.ContainsFunc(o.excludes, unknown)
}

// NewLazy returns a Lazy that has not asked anything yet.
func NewLazy(source Source) *Lazy {
	return &Lazy{source: source, needs: make(map[string]*need), candidates: make(map[string]*offered)}
}

// Asked returns how much the source has been asked so far.
func (l *Lazy) Asked() Asked { return l.asked }

// LazyOptions configure how [Lazy.Solve] asks. The zero value, like nil, asks
// about little that is not selected in the end.
type LazyOptions struct {
	// Options bound the search: MaxConflicts applies to each of its runs,
	// Timeout to the whole, including the time that the source takes.
	Options
	// Ahead asks at once about everything that the best selection so far
	// contains. That takes the fewest calls, but asks about some candidates that
	// are not selected in the end. Without it, each call asks about what is in
	// every selection that meets the needs, as far as is known, and about the
	// next unknown choices: one at a time at first, and from the fifth call on
	// twice as many each time.
	Ahead bool
}

// Solve returns the best selection that meets the needs: the one that [Solve]
// would return for a problem that states the whole registry, with the needs
// required in the given order, and the needs of each candidate in theirs.
// [Solution.Problem] states the known part.
//
// It solves the known part, assuming that what is unknown has no requirements.
// If that has no answer, there is none. If everything that the best answer
// selects is known, it is the best of all, because knowing more cannot make a
// candidate possible that was passed over. Otherwise it asks the source and
// solves again.
//
// The errors are those of [Solve], and those of the source, wrapped. An
// [*UnsatError] is about the known part: its conflicts are real, but its fixes
// may fail for reasons that are not known yet; those of [Lazy.Explain] do not.
//
// Cost: a search of the known part for each call of the source, of which there
// are about as many as the longest chain of needs has links, and a few more. A
// source may be endless: the search ends with ctx at the latest.
func (l *Lazy) Solve(ctx context.Context, needs []string, opts *LazyOptions) (*Solution, error) {
	if opts == nil {
		opts = &LazyOptions{}
	}
	ctx, cancel := bounded(ctx, &opts.Options)
	defer cancel()
	poll := &poll{ctx: ctx}
	roots, err := l.wanted(poll, needs)
	if err != nil {
		return nil, err
	}
	own := opts.Options
	own.Timeout = 0
	k := l.state(poll, roots)
	for round := 0; ; round++ {
		s, err := Solve(ctx, k.p, &own)
		var open []*offered
		if err == nil {
			open = k.open(s, batch(round, opts.Ahead))
		} else if !errors.As(err, new(*UnsatError)) {
			return nil, err
		}
		if poll.ended {
			return nil, &IncompleteError{Err: ctx.Err()}
		}
		if len(open) == 0 && round > 0 { // what was added bit by bit is stated as if it had been known
			s, err = Solve(ctx, l.state(poll, roots).p, &own)
		}
		if len(open) == 0 {
			return s, err
		}
		if err := l.learn(poll, open); err != nil {
			return nil, err
		}
		k.grow()
	}
}

// few is how many times one choice is asked about alone.
const few = 4

// batch returns how many unknown choices to ask about in a round.
func batch(round int, ahead bool) int {
	if ahead || round > 30 {
		return math.MaxInt
	}
	return 1 << max(0, round-few+1)
}

// Explain works out why the needs cannot be met, and what would help. It asks
// the source until every fix is known to work and no conflict can still be
// hidden. It differs from [UnsatError.Explain] for the whole registry in one
// way: if several conflicts, or several fixes of equal effort, are equally
// good, it may name others.
//
// The error is that of Solve, or reports that the needs can be met.
func (l *Lazy) Explain(ctx context.Context, needs []string, options *ExplainOptions) (*Explanation, error) {
	poll := &poll{ctx: ctx}
	roots, err := l.wanted(poll, needs)
	if err != nil {
		return nil, err
	}
	for {
		if _, err := l.Solve(ctx, needs, nil); err == nil {
			return nil, errors.New("solver: nothing to explain: the needs can be met")
		} else if !errors.As(err, new(*UnsatError)) {
			return nil, err
		}
		k := l.state(poll, roots)
		x, err := newUnsatError(k.p, nil, func(Var) bool { return true }).Explain(ctx, options)
		if err != nil {
			return nil, err
		}
		var open []*offered
		var told change
		for _, c := range x.Conflicts {
			for _, k := range c.Core {
				told.drop = append(told.drop, int32(k.ID))
			}
		}
		slices.Sort(told.drop)
		without := k.p.changed(poll, &told)
		if without == nil {
			return nil, &IncompleteError{Err: ctx.Err()}
		}
		rest, err := Solve(ctx, without, nil)
		switch {
		case err == nil:
			open = k.open(rest, math.MaxInt)
		case !errors.As(err, new(*UnsatError)): // there are more conflicts than were requested
			return nil, err
		}
		for _, f := range x.Fixes {
			open = append(open, k.open(f.Solution, math.MaxInt)...)
		}
		switch {
		case poll.ended:
			return nil, &IncompleteError{Err: ctx.Err()}
		case len(open) == 0:
			return x, nil
		}
		if err := l.learn(poll, open); err != nil {
			return nil, err
		}
	}
}

// Everything asks the source about everything that the needs can lead to, and
// returns it as a problem. The error is that of the source, wrapped, or of ctx.
func (l *Lazy) Everything(ctx context.Context, needs []string) (*Problem, error) {
	poll := &poll{ctx: ctx}
	roots, err := l.wanted(poll, needs)
	if err != nil {
		return nil, err
	}
	for {
		k := l.state(poll, roots)
		var open []*offered
		for _, o := range k.vars {
			if !poll.spend(1+len(o.needs)+len(o.excludes)) && !o.complete() {
				open = append(open, o)
			}
		}
		switch {
		case poll.ended:
			return nil, &IncompleteError{Err: ctx.Err()}
		case len(open) == 0:
			return k.p, nil
		}
		if err := l.learn(poll, open); err != nil {
			return nil, err
		}
	}
}

// wanted returns the needs, with their candidates.
func (l *Lazy) wanted(poll *poll, texts []string) ([]*need, error) {
	needs := l.find(poll, texts)
	return needs, l.meet(poll, needs)
}

// textSteps is what it takes to find something by its text.
const textSteps = 16

// find returns the needs with the given texts, or only some if the poll is over.
func (l *Lazy) find(poll *poll, texts []string) []*need {
	all := make([]*need, 0, len(texts))
	for _, text := range texts {
		if poll.spend(textSteps) {
			break
		}
		if l.needs[text] == nil {
			l.needs[text] = &need{text: text}
		}
		all = append(all, l.needs[text])
	}
	return all
}

// learn asks for the requirements of the candidates, and for what meets them.
func (l *Lazy) learn(poll *poll, open []*offered) error {
	var ask []*offered
	var names []string
	in := make(map[*offered]bool)
	for _, o := range open {
		if poll.spend(textSteps); !o.known && !in[o] {
			in[o] = true
			ask, names = append(ask, o), append(names, o.Name)
		}
	}
	if len(ask) > 0 && !poll.look() {
		l.asked.Calls++
		all, err := l.source.Requirements(poll.ctx, names)
		if err := answered(poll.ctx, "requirements", names, len(all), err); err != nil {
			return err
		}
		for i, o := range ask {
			needs, excludes := l.find(poll, all[i].Needs), l.find(poll, all[i].Excludes)
			if poll.ended {
				break
			}
			o.known, o.needs, o.excludes = true, needs, excludes
			l.asked.Candidates++
		}
	}
	var needs []*need
	for _, o := range open {
		poll.spend(len(o.needs) + len(o.excludes))
		needs = append(append(needs, o.needs...), o.excludes...)
	}
	return l.meet(poll, needs)
}

// meet asks for the candidates of the needs, if they are not known yet.
func (l *Lazy) meet(poll *poll, needs []*need) error {
	var open, ask []*need
	var texts []string
	in := make(map[*need]bool)
	for _, n := range needs {
		if poll.spend(textSteps); n.known || in[n] {
			continue
		}
		in[n] = true
		if open = append(open, n); n.left == nil {
			ask, texts = append(ask, n), append(texts, n.text)
		}
	}
	if len(ask) > 0 && !poll.look() {
		l.asked.Calls++
		all, err := l.source.Candidates(poll.ctx, texts)
		if err := answered(poll.ctx, "candidates", texts, len(all), err); err != nil {
			return err
		}
		for i, n := range ask {
			n.left = all[i]
		}
	}
	for _, n := range open {
		if err := l.take(poll, n); err != nil {
			return err
		}
	}
	if poll.ended {
		return &IncompleteError{Err: poll.ctx.Err()}
	}
	return nil
}

// take takes in the answer about a need. If the poll ends, calling it again
// continues.
func (l *Lazy) take(poll *poll, n *need) error {
	for ; len(n.left) > 0; n.left = n.left[1:] {
		if poll.spend(2 * textSteps) {
			return nil
		}
		c := n.left[0]
		o := l.candidates[c.Name]
		if o == nil {
			o = &offered{Candidate: c}
			l.candidates[c.Name] = o
		}
		if o.Slot != c.Slot {
			return fmt.Errorf("solver: the source says that %q takes up %q, and before that it takes up %q: it must say the same each time", c.Name, c.Slot, o.Slot)
		}
		n.meets = append(n.meets, o)
		o.meets = append(o.meets, n)
	}
	if !poll.ended {
		n.known, n.left = true, nil
		l.asked.Needs++
	}
	return nil
}

// answered returns the error of a call of the source, if any.
func answered(ctx context.Context, what string, of []string, n int, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return &IncompleteError{Err: ctx.Err()}
	case err != nil:
		return fmt.Errorf("solver: asking for the %s of %q: %w", what, of, err)
	case n != len(of):
		return fmt.Errorf("solver: the source was asked for the %s of %d things, and told those of %d", what, len(of), n)
	}
	return nil
}

// wanted is the reason why something must meet a need.
type wanted string

func (w wanted) String() string        { return string(w) + " is wanted" }
func (w wanted) Advice() (string, int) { return "do without " + string(w), effortForgo }

// sourced is the reason for a need of a candidate.
type sourced struct {
	of   *offered
	need *need
}

func (s sourced) String() string { return s.of.Name + " needs " + s.need.text }
