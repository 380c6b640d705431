package olm_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm"
)

// TestCheckerAgainstOracle corrupts answers in every way that takes one step
// (remove one operator, add one, replace one with another) and compares the
// checker's verdict with the oracle's.
func TestCheckerAgainstOracle(t *testing.T) {
	refused, accepted := 0, 0
	for b := range batches(t, long.N(100, 20_000)) {
		r, err := olm.NewResolver(b.sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range b.worlds {
			o := newOracle(w)
			best, ok := o.best()
			if !ok {
				continue
			}
			for selected := range corruptions(o, best) {
				var ids []string
				for _, x := range selected {
					ids = append(ids, x.id())
				}
				err := r.Evaluate(context.Background(), w.request(), ids)
				if want := o.valid(selected); want != (err == nil) {
					t.Fatalf("%v: oracle says %v, checker says %v\n%s", ids, want, err, w)
				}
				if err != nil {
					refused++
				} else {
					accepted++
				}
			}
		}
	}
	t.Logf("%d corrupted answers refused, %d valid ones accepted", refused, accepted)
	if refused < 1000 || accepted < 100 {
		t.Errorf("%d refused and %d accepted: too few to mean something", refused, accepted)
	}
}

// corruptions yields a selection and every variant that is one step away.
func corruptions(o *oracle, best []*option) iter.Seq[[]*option] {
	all := slices.Clone(o.existing)
	for _, x := range o.options {
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b *option) int { return strings.Compare(a.id(), b.id()) })
	return func(yield func([]*option) bool) {
		if !yield(best) {
			return
		}
		for i := range best {
			if !yield(slices.Concat(best[:i], best[i+1:])) {
				return
			}
		}
		for _, x := range all {
			if slices.Contains(best, x) {
				continue
			}
			if !yield(append(slices.Clone(best), x)) {
				return
			}
			for i := range best {
				swapped := slices.Clone(best)
				swapped[i] = x
				if !yield(swapped) {
					return
				}
			}
		}
	}
}

// checkerWorld contains one example of each kind of mistake that a corrupted
// answer can have.
const checkerWorld = `
catalog c
a stable*: a.v3 -> a.v2 -> a.v1
a.v3: skips a.v2; requires api K; provides A
a.v2: provides A
b stable*: b.v2 -> b.v1
b.v1: provides K
b.v2: provides K
l stable*: l.v1
l.v1: provides K
d stable*: d.v1
d.v1: provides K; deprecated
m stable*: m.v1
m.v1: provides K; requires package x ^1
f stable*: f.v1
f.v1: provides K
e stable*: e.v3 -> e.v2 -> e.v1
o stable*: o.v1
catalog hidden ns=elsewhere
h stable*: h.v1
h.v1: provides K
subscription s a/stable
subscription t e/stable installed=e.v1
csv e.v1: package former 1.0.0
csv free.v1: provides F
`

// TestCheckerRefusesSkipped checks that a skipped entry, which one subscription may
// name as its startingCSV, does not serve another.
func TestCheckerRefusesSkipped(t *testing.T) {
	s := parseScenario(t, `
catalog c
p stable*: p.v3 -> p.v2 -> p.v1
p.v3: skips p.v2
subscription u p starting=p.v2
subscription v p
`)
	r, err := olm.NewResolver(s.sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Evaluate(t.Context(), s.request, []string{"c//stable/p.v2"})
	if err == nil || err.Error() != "subscription v is not served" {
		t.Errorf("got %v", err)
	}
	s.request.Subscriptions = s.request.Subscriptions[:1]
	if err := r.Evaluate(t.Context(), s.request, []string{"c//stable/p.v2"}); err != nil {
		t.Error(err)
	}
}

// TestCheckerRefuses shows each mistake that the checker rejects, in answers
// that are otherwise right.
func TestCheckerRefuses(t *testing.T) {
	const right = "c//stable/a.v3 c//stable/b.v2 c//stable/e.v2 @existing/ns//free.v1"
	tests := []struct{ name, selected, want string }{
		{"right", right, ""},
		{"lower version", strings.ReplaceAll(right, "b.v2", "b.v1"), ""},
		{"stays", strings.ReplaceAll(right, "c//stable/e.v2", "@existing/ns//e.v1"), ""},
		{"twice", right + " c//stable/b.v2", "c//stable/b.v2 is selected twice"},
		{"no subscription served", strings.ReplaceAll(right, "c//stable/a.v3 c//stable/b.v2 ", ""), "subscription s is not served"},
		{"requirement unmet", strings.ReplaceAll(right, " c//stable/b.v2", ""), "c//stable/a.v3 requires API K (g/v1), which nothing selected meets"},
		{"unwanted", right + " c//stable/o.v1", "c//stable/o.v1 is selected, but nothing wants it"},
		{"skipped", strings.ReplaceAll(right, "a.v3", "a.v2"), "c//stable/a.v2 is not in the chain of its channel"},
		{"package twice", right + " c//stable/b.v1", "c//stable/b.v2 and c//stable/b.v1 are both of package b"},
		{"API twice", right + " c//stable/l.v1", "c//stable/b.v2 and c//stable/l.v1 both provide K (g/v1)"},
		{"deprecated", strings.ReplaceAll(right, "b.v2", "d.v1"), "c//stable/d.v1 is deprecated"},
		{"malformed", strings.ReplaceAll(right, "b.v2", "m.v1"), "c//stable/m.v1 is malformed: "},
		{"forbidden", strings.ReplaceAll(right, "b.v2", "f.v1"), "c//stable/f.v1 is forbidden"},
		{"unseen catalog", strings.ReplaceAll(right, "c//stable/b.v2", "hidden/elsewhere/stable/h.v1"), "hidden/elsewhere/stable/h.v1: catalog elsewhere/hidden is not visible in the namespace"},
		{"no update", strings.ReplaceAll(right, "e.v2", "e.v3"), "subscription t is not served"},
		{"replaced stays", right + " @existing/ns//e.v1", "subscription t: c//stable/e.v2 replaces e.v1, but both are selected"},
		{"installed dropped", strings.ReplaceAll(right, " @existing/ns//free.v1", ""), "csv free.v1 is installed without a subscription, but was dropped"},
	}
	s := parseScenario(t, checkerWorld)
	r, err := olm.NewResolver(s.sources, &olm.Options{Forbid: func(c olm.Candidate) string {
		if c.Package == "f" {
			return "not here"
		}
		return ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		err := r.Evaluate(context.Background(), s.request, strings.Fields(test.selected))
		if got := errorText(err); test.want == "" && err != nil || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
