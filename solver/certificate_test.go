package solver_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver"
)

// TestEvaluate checks certificates that are each wrong in one respect.
func TestEvaluate(t *testing.T) {
	// x(1) y(2) x2(3) x1(4) y2(5) y1(6)
	const choices = `require x
require y
x needs x2 x1
y needs y2 y1
exclude x2 y2
`
	const good = `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":2},{"demand":2,"pick":3},` +
		`{"demand":3,"pick":6,"refused":[{"var":5,"hints":[4],"given":[2]}]}]}`
	for _, test := range []struct{ problem, cert, want string }{
		{choices, good, ""},
		// The selection must meet every kind of constraint.
		{"require a\nrequire b", `{"steps":[{"demand":0,"pick":1}]}`, "breaks constraint 1"},
		{"require a\nforbid a", `{"steps":[{"demand":0,"pick":1}]}`, "breaks constraint 1"},
		{"require a\na needs b c", `{"steps":[{"demand":0,"pick":1}]}`, "breaks constraint 1"},
		{"require a\na needs", `{"steps":[{"demand":0,"pick":1}]}`, "breaks constraint 1"},
		{"require a\nrequire b\nexclude a b", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":2}]}`, "breaks constraint 2"},
		{"require a\nrequire b\nlimit 1 a b c", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":2}]}`, "breaks constraint 2"},
		{"require a\nrequire b\nany !a !b", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":2}]}`, "breaks constraint 2"},
		{"require a\nany", `{"steps":[{"demand":0,"pick":1}]}`, "breaks constraint 1"},
		// The choices must be those that arise, in order.
		{"require a\nrequire b", `{"steps":[{"demand":1,"pick":2},{"demand":0,"pick":1}]}`, "step 0: the next choice is that of constraint 0"},
		{"require a\na needs b", `{"steps":[{"demand":0,"pick":1},{"demand":0,"pick":2}]}`, "step 1: the next choice is that of constraint 1"},
		{"require a\nb needs c", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":3}]}`, "step 1: there is no choice left"},
		{"require a\nvar b", `{"steps":[{"demand":0,"pick":1},{"demand":0,"pick":2}]}`, "step 1: there is no choice left"},
		{"require a\nrequire b", `{"steps":[{"demand":0,"pick":2},{"demand":1,"pick":1}]}`, "step 0: b is not a candidate"},
		// Every better candidate must be refused.
		{"require a\na needs b c", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":3}]}`, "step 1: refusal 0 is not of candidate b"},
		{"require a\na needs b c", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":2,"refused":[{"var":3}]}]}`, "step 1: 0 better candidates, 1 refusals"},
		{"require a\na needs b c\nforbid b", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":3,"refused":[{"var":3,"hints":[2]}]}]}`, "refusal 0 is not of candidate b"},
		// For a valid reason.
		{"require a\na needs b c\nforbid b", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":3,"refused":[{"var":2}]}]}`, "step 1: refusal 0, of b: the hints do not lead"},
		{"require a\na needs b c\nforbid b", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":3,"refused":[{"var":2,"hints":[0,1]}]}]}`, "step 1: refusal 0, of b: the hints do not lead"},
		{"require a\na needs b c\nlimit 2 a b c", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":3,"refused":[{"var":2,"hints":[0,2]}]}]}`, "step 1: refusal 0, of b: the hints do not lead"},
		{choices, strings.Replace(good, `"given":[2]`, `"given":[3]`, 1), "rests on a step that is not before it"},
		{choices, strings.Replace(good, `"given":[2]`, `"given":[-1]`, 1), "rests on a step that is not before it"},
		// And everything in it must refer to the problem.
		{choices, strings.Replace(good, `"hints":[4]`, `"hints":[5]`, 1), "hint 0 (5) names nothing"},
		{choices, strings.Replace(good, `"hints":[4]`, `"hints":[-1]`, 1), "hint 0 (-1) names nothing"},
		{choices, strings.Replace(good, `"pick":6`, `"pick":7`, 1), "step 3: it names what is not in the problem"},
		{choices, strings.Replace(good, `"demand":3`, `"demand":5`, 1), "step 3: it names what is not in the problem"},
		{choices, strings.Replace(good, `"demand":3`, `"demand":-1`, 1), "step 3: it names what is not in the problem"},
	} {
		cert := &solver.Certificate{}
		if err := json.Unmarshal([]byte(test.cert), cert); err != nil {
			t.Fatal(err)
		}
		err := solver.Check(context.Background(), parse(t, test.problem), cert)
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", test.cert, err)
			}
			continue
		}
		var wrong *solver.CertificateError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\n%s\ngot %v, want %s", test.problem, test.cert, err, test.want)
		}
	}
}

// TestRefutation verifies refutations of what only a search can refute, and
// checks small ones, most of them wrong in one respect.
func TestRefutation(t *testing.T) {
	ctx := context.Background()
	for n := 2; n <= 7; n++ {
		p := pigeons(n, n-1)
		r, err := p.Refute(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := solver.CheckRefutation(ctx, p, r); err != nil {
			t.Errorf("%d pigeons: %v", n, err)
		}
		if got := len(r.Core()); got != p.NumConstraints() {
			t.Errorf("%d pigeons: the proof needs %d of %d constraints", n, got, p.NumConstraints())
		}
	}
	p := parse(t, "require a\na needs b c\nlimit 1 a b d\nforbid c\nlimit 0 d")
	for _, test := range []struct{ refutation, want string }{
		{`{"lemmas":[{"lits":[],"hints":[0,2,3,1]}]}`, ""},
		{`{"lemmas":[{"lits":[-1,3],"hints":[2,1]},{"lits":[],"hints":[0,3,-1]}]}`, ""},
		{`{"lemmas":[]}`, "does not end with a contradiction"},
		{`{"lemmas":[{"lits":[1],"hints":[0]}]}`, "does not end with a contradiction"},
		{`{"lemmas":[{"lits":[],"hints":[0,2,3]}]}`, "lemma 0: the hints do not lead"},
		{`{"lemmas":[{"lits":[],"hints":[]}]}`, "lemma 0: the hints do not lead"},
		{`{"lemmas":[{"lits":[],"hints":[2,0,3,1]}]}`, "lemma 0: the hints do not lead"},
		{`{"lemmas":[{"lits":[],"hints":[0,0,2,3,1]}]}`, ""},
		{`{"lemmas":[{"lits":[],"hints":[0,2,2,3,1]}]}`, ""},
		{`{"lemmas":[{"lits":[],"hints":[0,1]}]}`, "lemma 0: the hints do not lead"},
		{`{"lemmas":[{"lits":[],"hints":[0,0]}]}`, "lemma 0: the hints do not lead"},
		{`{"lemmas":[{"lits":[-1,3],"hints":[2,1]},{"lits":[],"hints":[-1]}]}`, "lemma 1: the hints do not lead"},
		{`{"lemmas":[{"lits":[],"hints":[0,5]}]}`, "lemma 0: hint 1 (5) names nothing"},
		{`{"lemmas":[{"lits":[],"hints":[-1]}]}`, "lemma 0: hint 0 (-1) names nothing"},
		{`{"lemmas":[{"lits":[5],"hints":[0]},{"lits":[],"hints":[-1]}]}`, "lemma 0: it names what is not"},
		{`{"lemmas":[{"lits":[0],"hints":[0]},{"lits":[],"hints":[-1]}]}`, "lemma 0: it names what is not"},
		{`{"lemmas":[{"lits":[-2147483648],"hints":[0]},{"lits":[],"hints":[-1]}]}`, "lemma 0: it names what is not"},
		{`{"lemmas":[{"lits":[3],"hints":[0,2,1]},{"lits":[2],"hints":[0,3,-2]},{"lits":[],"hints":[-2]}]}`, "lemma 1: hint 2 (-2) names nothing"},
	} {
		r := &solver.Refutation{}
		if err := json.Unmarshal([]byte(test.refutation), r); err != nil {
			t.Fatal(err)
		}
		err := solver.CheckRefutation(ctx, p, r)
		if test.want == "" && err != nil {
			t.Errorf("%s: %v", test.refutation, err)
		}
		var wrong *solver.CertificateError
		if test.want != "" && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %s", test.refutation, err, test.want)
		}
	}
	if _, err := p.Refute(ctx, 0, 1); err == nil || !strings.Contains(err.Error(), "can be met") {
		t.Errorf("got %v", err)
	}
	var malformed *solver.ProblemError
	if _, err := p.Refute(ctx, 7); !errors.As(err, &malformed) {
		t.Errorf("got %v", err)
	}
}

// TestSharedSets verifies proofs that rest on constraints that share their
// variables.
func TestSharedSets(t *testing.T) {
	p := &solver.Problem{}
	v := p.NewVars(5) // 1 and 2 need one of 3, 4 and 5
	set := p.Set([]solver.Var{v + 2, v + 3, v + 2, v + 4})
	p.Require(v, nil)
	p.Require(v+1, nil)
	p.DependOn(v, set, nil)
	p.DependOn(v+1, set, nil)
	p.LimitOf(1, set, nil)
	p.Exclude(v, v+2, nil)
	p.Any([]solver.Lit{(v + 3).No(), (v + 1).No()}, nil)
	s, err := solver.Solve(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := selected(p, s); got != "selected: variable 1 variable 2 variable 5" {
		t.Errorf("got %s", got)
	}
	cert, err := s.Certificate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := solver.Check(context.Background(), p, cert); err != nil {
		t.Error(err)
	}
	p.Forbid(v+4, nil)
	r, err := p.Refute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := solver.CheckRefutation(context.Background(), p, r); err != nil {
		t.Error(err)
	}
	p.DependOn(v, solver.Set(2), nil)
	p.LimitOf(1, solver.Set(-1), nil)
	var malformed *solver.ProblemError
	if _, err := solver.Solve(context.Background(), p, nil); !errors.As(err, &malformed) || len(malformed.Flaws) != 2 {
		t.Errorf("got %v", err)
	}
}
