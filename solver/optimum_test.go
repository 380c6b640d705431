package solver_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver"
)

// compareOptimumCertificate verifies the certificate of an optimum, and checks
// that a damaged certificate that still passes claims nothing false.
func compareOptimumCertificate(t *testing.T, draw source, p *solver.Problem, criteria []solver.Criterion, best *solver.Optimum) {
	t.Helper()
	ctx := context.Background()
	cert, err := best.Certificate(ctx)
	if err != nil {
		t.Fatalf("%v\n%+v\n%s", err, criteria, describe(p))
	}
	got, err := solver.CheckOptimum(ctx, p, criteria, clone(t, cert))
	if err != nil || !slices.Equal(got, best.Costs) {
		raw, _ := json.Marshal(cert)
		t.Fatalf("%v, want %v: %v\n%+v\n%s\n%s", got, best.Costs, err, criteria, describe(best.Solution.Whole()), raw)
	}
	for range 4 {
		changed := clone(t, cert)
		what := damageOptimum(draw, best.Solution.Whole(), changed)
		got, err := solver.CheckOptimum(ctx, p, criteria, changed)
		var wrong *solver.CertificateError
		if err != nil && !errors.As(err, &wrong) {
			t.Fatalf("%s: %v", what, err)
		}
		if err != nil {
			continue
		}
		var selected []solver.Var
		for _, step := range changed.Steps {
			selected = append(selected, step.Pick)
		}
		slices.Sort(selected)
		if !slices.Equal(got, best.Costs) || !slices.Equal(selected, best.Solution.AllPicks()) {
			t.Fatalf("%s: %v at %v passes for the best one\n%+v\n%s", what, selected, got, criteria, describe(p))
		}
	}
}

// damageOptimum makes one change, and returns a description of it.
func damageOptimum(draw source, p *solver.Problem, c *solver.OptimumCertificate) string {
	if len(c.Payments) > 0 && draw(2) == 0 {
		all := &c.Payments[draw(len(c.Payments))]
		if len(*all) == 0 {
			*all = append(*all, solver.Payment{Lemma: draw(len(c.Lemmas) + 1), Weight: 1})
			return "a payment out of nothing"
		}
		at := draw(len(*all))
		one := &(*all)[at]
		switch draw(5) {
		case 0:
			*all = slices.Delete(*all, at, at+1)
			return "a payment less"
		case 1:
			*all = append(*all, *one)
			return "a payment twice"
		case 2:
			one.Weight += int64(draw(5) - 2)
			return "another weight"
		case 3:
			one.Sums = append(one.Sums, draw(len(c.Sums)+1)-1)
			return "another sum of a payment"
		}
		one.Lemma = draw(len(c.Lemmas)+2) - 1
		return "another lemma of a payment"
	}
	if len(c.Sums) > 0 && draw(2) == 0 {
		s := &c.Sums[draw(len(c.Sums))]
		if draw(2) == 0 {
			s.More += draw(3) - 1
			return "another number of a sum"
		}
		s.Vars[draw(len(s.Vars))] = solver.Var(draw(p.NumVars() + len(c.Sums) + 2))
		return "another variable of a sum"
	}
	plain := &solver.Certificate{Lemmas: c.Lemmas, Steps: c.Steps}
	what := damage(draw, p, plain)
	c.Lemmas, c.Steps = plain.Lemmas, plain.Steps
	return what
}

// heavy draws a problem whose optimum takes many payments: choices, each of which
// costs something.
func heavy(draw source) (*solver.Problem, []solver.Criterion) {
	p := &solver.Problem{}
	n := 8 + draw(6)
	first := p.NewVars(n)
	for range n + draw(n) {
		var vars []solver.Lit
		for range 2 + draw(3) {
			vars = append(vars, (first + solver.Var(draw(n))).Yes())
		}
		p.Any(vars, nil)
	}
	all := make([]solver.Criterion, 1+draw(2))
	for i := range all {
		for v := range n {
			l := (first + solver.Var(v)).Yes()
			if draw(5) == 0 {
				l = -l
			}
			all[i].Terms = append(all[i].Terms, solver.Term{Lit: l, Weight: int64(1 + draw(1+3*i))})
		}
	}
	return p, all
}

func TestOptimumCertified(t *testing.T) {
	sums := 0
	for seed := range uint64(300) {
		draw := randomly(rand.New(rand.NewPCG(seed, 23)))
		p, criteria := heavy(draw)
		best, err := solver.Minimize(context.Background(), p, criteria, nil)
		if err != nil {
			t.Fatal(err)
		}
		cert, err := best.Certificate(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		sums += len(cert.Sums)
		compareOptimumCertificate(t, draw, p, criteria, best)
	}
	if sums < 1000 {
		t.Errorf("%d sums are few", sums)
	}
}

// TestOptimumJudge checks certificates of an optimum that are each wrong in one
// respect.
func TestOptimumJudge(t *testing.T) {
	// a(1) b(2) c(3): at least two of them; each costs 1 by the first
	// criterion, and c costs 1 by the second.
	p := parse(t, "any a b\nany b c\nany a c")
	criteria := []solver.Criterion{
		{Name: "few", Terms: []solver.Term{{Lit: 1, Weight: 1}, {Lit: 2, Weight: 1}, {Lit: 3, Weight: 1}}},
		{Name: "no c", Terms: []solver.Term{{Lit: 3, Weight: 1}}},
	}
	// One of a and b; then one of c and "more than one of a and b".
	const good = `{"sums":[{"vars":[1,2],"more":1},{"vars":[3,4],"more":1}],` +
		`"lemmas":[{"lits":[1,2],"hints":[0]},{"lits":[4,3],"hints":[1,2,3]}],` +
		`"payments":[[{"lemma":0,"weight":1,"sums":[0]},{"lemma":1,"weight":1,"sums":[1]}],[]],` +
		`"steps":[{"demand":0,"pick":1},{"demand":1,"pick":2}]}`
	for _, test := range []struct{ from, to, want string }{
		{"", "", ""},
		{`"lemmas":[{"lits":[1,2],"hints":[0]}`, `"lemmas":[{"lits":[1],"hints":[0]}`, "lemma 0: the hints do not lead"},
		{`"hints":[1,2,3]`, `"hints":[1,2]`, "lemma 1: the hints do not lead"},
		{`"hints":[1,2,3]`, `"hints":[3,1,2]`, "lemma 1: the hints do not lead"}, // the sum has room
		{`"vars":[1,2],"more":1`, `"vars":[1,2],"more":0`, "payment 0: sum 0 is not one of its clause"},
		{`"hints":[1,2,3]`, `"hints":[1,2,5]`, "lemma 1: hint 2 (5) names nothing"},
		{`"vars":[1,2],"more":1`, `"vars":[1,2],"more":2`, "lemma 1: the hints do not lead"},
		{`"vars":[1,2],"more":1`, `"vars":[1,1],"more":1`, "sum 0 is of"},
		{`"vars":[1,2],"more":1`, `"vars":[1,4],"more":1`, "sum 0 is of"},
		{`"vars":[1,2],"more":1`, `"vars":[0,2],"more":1`, "sum 0 is of"},
		{`"vars":[1,2],"more":1`, `"vars":[1,2],"more":-1`, "sum 0 is of"},
		{`{"lemma":1,"weight":1,"sums":[1]}`, `{"lemma":1,"weight":1,"sums":[0]}`, "payment 1: sum 0 is not one of its clause"},
		{`{"lemma":1,"weight":1,"sums":[1]}`, `{"lemma":1,"weight":1,"sums":[2]}`, "payment 1: there is no sum 2"},
		{`{"lemma":0,"weight":1,"sums":[0]}`, `{"lemma":0,"weight":1,"sums":[0,0]}`, "payment 0: sum 0 is not one of its clause, or counts twice"},
		{`{"lemma":0,"weight":1,"sums":[0]}`, `{"lemma":0,"weight":1}`, "payment 1: literal 4 has not that much weight left"},
		{`,{"lemma":1,"weight":1,"sums":[1]}`, ``, "criterion 0 (few): the selection costs 2, 1 is paid for"},
		{`{"lemma":1,"weight":1,"sums":[1]}`, `{"lemma":0,"weight":1}`, "payment 1: literal 1 has not that much weight left"},
		{`{"lemma":1,"weight":1`, `{"lemma":1,"weight":0`, "payment 1 is of lemma 1 and of weight 0"},
		{`{"lemma":1,"weight":1`, `{"lemma":-1,"weight":1`, "payment 1 is of lemma -1"},
		{`,[]]`, `,[{"lemma":1,"weight":1}]]`, "criterion 1 (no c): payment 0: literal 4 has not"},
		{`,[]]`, `]`, "payments of 1 criteria, not of 2"},
		{`"steps":[{"demand":0,"pick":1},{"demand":1,"pick":2}]`, `"steps":[{"demand":0,"pick":1},{"demand":1,"pick":3,"refused":[{"var":2,"hints":[0]}]}]`, "criterion 1 (no c): the selection costs 1, 0 is paid"},
		{`"steps":[{"demand":0,"pick":1}`, `"steps":[{"demand":0,"pick":3}`, "step 0: c is not a candidate"},
		{`,{"demand":1,"pick":2}]`, `]`, "the selection breaks constraint 1"},
	} {
		text := strings.Replace(good, test.from, test.to, 1)
		if text == good && test.from != "" {
			t.Fatalf("%s is not there", test.from)
		}
		cert := &solver.OptimumCertificate{}
		if err := json.Unmarshal([]byte(text), cert); err != nil {
			t.Fatal(err)
		}
		costs, err := solver.CheckOptimum(context.Background(), p, criteria, cert)
		if test.want == "" {
			if err != nil || !slices.Equal(costs, []int64{2, 0}) {
				t.Errorf("%v, %v", costs, err)
			}
			continue
		}
		var wrong *solver.CertificateError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\ngot %v, want %s", text, err, test.want)
		}
	}
	if _, err := solver.CheckOptimum(context.Background(), p, criteria, nil); err == nil {
		t.Error("no certificate passes")
	}
	// Without criteria, a is wrongly refused: it costs no more than b.
	var wrong *solver.CertificateError
	cert := &solver.OptimumCertificate{Payments: [][]solver.Payment{}, Steps: []solver.CertifiedStep{{Demand: 0, Pick: 2, Refused: []solver.CertifiedRefusal{{Var: 1, Hints: []int{1}}}}, {Demand: 2, Pick: 1}}}
	if _, err := solver.CheckOptimum(context.Background(), p, nil, cert); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "step 0: refusal 0") {
		t.Errorf("got %v", err)
	}
}
