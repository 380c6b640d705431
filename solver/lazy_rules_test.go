package solver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver"
)

// lines is a source of a few lines, such as "need x: a.1/a c" and "c: y !z", and records
// what it is asked in one call.
type lines struct {
	meets map[string][]solver.Candidate
	asks  map[string]solver.Requirements
	calls []string
}

func newLines(text string) *lines {
	s := &lines{meets: make(map[string][]solver.Candidate), asks: make(map[string]solver.Requirements)}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		need, is := strings.CutPrefix(name, "need ")
		for _, word := range strings.Fields(rest) {
			candidate, slot, _ := strings.Cut(word, "/")
			excluded, bars := strings.CutPrefix(word, "!")
			r := s.asks[name]
			switch {
			case is:
				s.meets[need] = append(s.meets[need], solver.Candidate{Name: candidate, Slot: slot})
			case bars:
				r.Excludes = append(r.Excludes, excluded)
				s.asks[name] = r
			default:
				r.Needs = append(r.Needs, word)
				s.asks[name] = r
			}
		}
	}
	return s
}

func (s *lines) Candidates(_ context.Context, needs []string) (all [][]solver.Candidate, _ error) {
	for _, n := range needs {
		all = append(all, s.meets[n])
	}
	return all, nil
}

func (s *lines) Requirements(_ context.Context, candidates []string) (all []solver.Requirements, _ error) {
	s.calls = append(s.calls, strings.Join(candidates, " "))
	for _, c := range candidates {
		all = append(all, s.asks[c])
	}
	return all, nil
}

// TestLazySlotGrows: a slot that was stated is stated again whenever more candidates take it up.
func TestLazySlotGrows(t *testing.T) {
	s := newLines("need a: a.3/a a.2/a\nneed b: b\nb: x\nneed x: a.1/a c d\nc: nothing\n")
	got, err := solver.NewLazy(s).Solve(context.Background(), []string{"a", "b"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for v := range got.Selected() {
		names = append(names, got.Problem().Name(v))
	}
	if slices.Sort(names); fmt.Sprint(names) != "[a.3 b d]" {
		t.Errorf("got %v", names)
	}
}

// TestLazyAsksOneChoice: what only an open choice needs is as open as that: in the first rounds one such
// candidate is asked about at a time.
func TestLazyAsksOneChoice(t *testing.T) {
	s := newLines("need p: p.1 p.2\nneed s: s.1 s.2\np.1: q\nneed q: q\n")
	if _, err := solver.NewLazy(s).Solve(context.Background(), []string{"p", "s"}, nil); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.calls, ", "); got != "p.1, s.1, q" && got != "p.1, q, s.1" {
		t.Errorf("asked for %s", got)
	}
}

// TestLazyAsksWhatIsSure: what is in every selection is asked about in one call, however much it is.
func TestLazyAsksWhatIsSure(t *testing.T) {
	s := newLines("need a: a\nneed b: b\na: c\nneed c: c\nb: d\nneed d: d\n")
	if _, err := solver.NewLazy(s).Solve(context.Background(), []string{"a", "b"}, nil); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.calls, ", "); got != "a b, c d" {
		t.Errorf("asked for %s", got)
	}
}

// TestLazyAsksNothingLate: once the context has ended, the source is not asked any
// more, even if it would answer, and the error says so.
func TestLazyAsksNothingLate(t *testing.T) {
	needs := holes{3, 3}.needs()
	calls := map[string]func(ctx context.Context, l *solver.Lazy) error{
		"Solve":      func(ctx context.Context, l *solver.Lazy) error { _, err := l.Solve(ctx, needs, nil); return err },
		"Explain":    func(ctx context.Context, l *solver.Lazy) error { _, err := l.Explain(ctx, needs, nil); return err },
		"Everything": func(ctx context.Context, l *solver.Lazy) error { _, err := l.Everything(ctx, needs); return err },
	}
	for name, call := range calls {
		for most := range 2 {
			ctx, cancel := context.WithCancel(context.Background())
			s := &cancelling{holes: holes{3, 3}, left: most, cancel: cancel}
			if most == 0 {
				cancel()
			}
			var incomplete *solver.IncompleteError
			if err := call(ctx, solver.NewLazy(s)); !errors.As(err, &incomplete) || incomplete.Err == nil || s.late > 0 {
				t.Errorf("%s, ended after %d calls: %v, and the source was asked %d times after that", name, most, err, s.late)
			}
		}
	}
}

// A cancelling source ends a context with one of its answers.
type cancelling struct {
	holes
	left, late int
	cancel     func()
}

func (c *cancelling) count() {
	if c.left == 0 {
		c.late++
		return
	}
	if c.left--; c.left == 0 {
		c.cancel()
	}
}

func (c *cancelling) Candidates(ctx context.Context, needs []string) ([][]solver.Candidate, error) {
	c.count()
	return c.holes.Candidates(ctx, needs)
}

func (c *cancelling) Requirements(ctx context.Context, candidates []string) ([]solver.Requirements, error) {
	c.count()
	return c.holes.Requirements(ctx, candidates)
}
