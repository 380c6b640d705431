package solver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver"
)

// needsAPI is a structured reason, such as a resolver uses.
type needsAPI struct{ bundle, api string }

func (n needsAPI) String() string { return n.bundle + " requires API " + n.api }

// wanted is a reason that a user can remove.
type wanted struct {
	what   string
	effort int
}

func (w wanted) String() string        { return w.what + " exists" }
func (w wanted) Advice() (string, int) { return "remove " + w.what, w.effort }

func explain(t *testing.T, p *solver.Problem, opts *solver.ExplainOptions) *solver.Explanation {
	t.Helper()
	_, err := solver.Solve(context.Background(), p, nil)
	var unsat *solver.UnsatError
	if !errors.As(err, &unsat) {
		t.Fatalf("got %v", err)
	}
	x, err := unsat.Explain(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	most := 25
	if opts != nil && opts.MaxLines > 0 {
		most = opts.MaxLines
	}
	checkExplanation(t, x, most)
	return x
}

// TestReasons explains with reasons of every kind, and with names that several
// variables share: one bundle in two channels.
func TestReasons(t *testing.T) {
	p := &solver.Problem{}
	sub, other := p.Var("subscription:kafka"), p.Var("subscription:etcd")
	p.Require(sub, wanted{"subscription kafka", 5})
	p.Require(other, wanted{"subscription etcd", 7})
	var all, etcds []solver.Var
	for _, name := range []string{"kafka.v2/stable", "kafka.v2/fast", "kafka.v1/stable"} {
		v := p.Var(name)
		all = append(all, v)
		p.Depend(v, []solver.Var{p.Var("etcd.v1/stable")}, needsAPI{name, "Etcd"})
	}
	p.Depend(sub, all, nil)
	for _, name := range []string{"etcd.v3/stable", "etcd.v2/stable"} {
		etcds = append(etcds, p.Var(name))
	}
	p.Depend(other, etcds, solver.Text("subscription:etcd asks for etcd 2 or 3"))
	p.Limit(1, append(etcds, p.Var("etcd.v1/stable")), solver.Text("there can be only one etcd"))
	x := explain(t, p, &solver.ExplainOptions{Name: func(v solver.Var) string {
		name, _, _ := strings.Cut(p.Name(v), "/")
		return strings.Replace(name, "subscription:", "subscription ", 1)
	}})
	want := `These cannot be met together:
subscription kafka exists
└─ subscription kafka needs kafka.v2 or kafka.v1
   └─ kafka.v2 and kafka.v1: requires API Etcd (etcd.v1)
subscription etcd exists
└─ subscription etcd asks for etcd 2 or 3 (etcd.v3 or etcd.v2)
   └─ at most 1 of etcd.v3, etcd.v2 and etcd.v1: there can be only one etcd
What would help:
- remove subscription kafka
- or remove subscription etcd
`
	if got := x.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if f := x.Fixes[0]; f.Effort != 5 || f.Drop[0].Why != (wanted{"subscription kafka", 5}) {
		t.Errorf("the first fix is %+v", f)
	}
	if s := x.Fixes[0].Solution; s.Has(sub) || !s.Has(other) || !s.Has(etcds[0]) {
		t.Errorf("the first fix selects %s", selected(p, s))
	}
}

// fact is a reason that no one can change.
type fact string

func (f fact) String() string        { return string(f) }
func (f fact) Advice() (string, int) { return "", 0 }

func TestNothingHelps(t *testing.T) {
	p := &solver.Problem{}
	p.Require(p.Var("sun"), fact("it rises"))
	p.Forbid(p.Var("sun"), fact("it is night"))
	if x := explain(t, p, nil); len(x.Fixes) > 0 {
		t.Errorf("got fixes %v", x.Fixes)
	}
}

// TestManyToDrop needs a fix that is so large that the search for the cheapest
// one is given up.
func TestManyToDrop(t *testing.T) {
	p := &solver.Problem{}
	var all []solver.Var
	for i := range 30 {
		v := p.Var(fmt.Sprintf("guest %d", i))
		p.Require(v, nil)
		all = append(all, v)
	}
	p.Limit(10, all, solver.Text("the table has ten seats"))
	x := explain(t, p, nil)
	if len(x.Fixes) != 1 || len(x.Fixes[0].Drop) != 20 {
		t.Fatalf("got %d fixes", len(x.Fixes))
	}
	if text := x.String(); !strings.Contains(text, "and 16 more") {
		t.Errorf("not cut:\n%s", text)
	}
}

// TestLongExplanation has more to explain than fits.
func TestLongExplanation(t *testing.T) {
	p := &solver.Problem{}
	for i := range 12 { // conflicts
		v := p.Var(fmt.Sprintf("want %d", i))
		p.Require(v, nil)
		var all []solver.Var
		for k := range 30 {
			c := p.Var(fmt.Sprintf("thing %d.%d", i, k))
			all = append(all, c)
			p.Forbid(c, solver.Text(fmt.Sprintf("reason %d", k)))
		}
		p.Depend(v, all, nil)
	}
	x := explain(t, p, nil)
	if text := x.String(); len(x.Conflicts) != 10 || !strings.Contains(text, "more conflicts") || !strings.Contains(text, "... and ") {
		t.Errorf("%d conflicts:\n%s", len(x.Conflicts), text)
	}
	if x := explain(t, p, &solver.ExplainOptions{MaxConflicts: -1, MaxFixes: -1}); len(x.Conflicts) != 12 || x.Fixes != nil {
		t.Errorf("%d conflicts, %d fixes", len(x.Conflicts), len(x.Fixes))
	}
	deep := &solver.Problem{}
	deep.Require(deep.Var("0"), nil)
	for i := range 100 {
		deep.Depend(deep.Var(fmt.Sprint(i)), []solver.Var{deep.Var(fmt.Sprint(i + 1))}, nil)
	}
	deep.Forbid(deep.Var("100"), nil)
	if text := explain(t, deep, nil).String(); !strings.Contains(text, "more lines)") {
		t.Errorf("not cut:\n%s", text)
	}
	for _, most := range []int{5, 12, 40} {
		x := explain(t, deep, &solver.ExplainOptions{MaxFixes: -1, MaxLines: most})
		if text := x.String(); strings.Count(text, "\n") != most {
			t.Errorf("not %d lines:\n%s", most, text)
		}
	}
}

func TestErrorTexts(t *testing.T) {
	_, err := solver.Solve(context.Background(), parse(t, "require a\nforbid a: a is bad"), nil)
	_, hard := solver.Solve(context.Background(), pigeons(5, 4), nil)
	if text := hard.Error(); !strings.HasSuffix(text, "; and 2 more constraints: call Core or Explain") || text != hard.Error() {
		t.Errorf("got %q", text)
	}
	for want, err := range map[string]error{
		"solver: no selection meets all constraints: a is required; a is bad":                                        err,
		"solver: ended before any selection was found: the bound on conflicts was met; allow more time or conflicts": &solver.IncompleteError{},
		"solver: ended with 2 of 3 choices proven best: context canceled; allow more time or conflicts, or take the selection found": &solver.IncompleteError{
			Best: &solver.Solution{}, Choices: 3, Proven: 2, Err: context.Canceled},
		"solver: wrong certificate: step 2: odd":         &solver.CertificateError{Lemma: -1, Step: 2, What: "odd"},
		"solver: wrong certificate: odd":                 &solver.CertificateError{Lemma: -1, Step: -1, What: "odd"},
		"solver: wrong certificate: lemma 3: odd":        &solver.CertificateError{Lemma: 3, Step: -1, What: "odd"},
		"solver: malformed problem\n\tconstraint 3: odd": &solver.ProblemError{Flaws: []solver.Flaw{{Constraint: 3, What: "odd"}}},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}
