package solver_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver"
)

// compareCertificate checks the certificate, and that a damaged certificate
// that still passes claims nothing false.
func compareCertificate(t testing.TB, draw source, p *solver.Problem, s *solver.Solution, sets []uint32) {
	ctx := context.Background()
	cert, err := s.Certificate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := solver.Check(ctx, p, cert); err != nil {
		t.Fatalf("%v\n%s", err, describe(p))
	}
	want := selected(p, s)
	for range 4 {
		changed := clone(t, cert)
		what := damage(draw, p, changed)
		err := solver.Check(ctx, p, changed)
		var wrong *solver.CertificateError
		if err != nil && !errors.As(err, &wrong) {
			t.Fatalf("%s: got error %v\n%s", what, err, describe(p))
		}
		if err != nil {
			continue
		}
		names := []string{"selected:"}
		var picked uint32
		for _, step := range changed.Steps {
			picked |= 1 << (step.Pick - 1)
		}
		for v := range p.NumVars() {
			if picked>>v&1 == 1 {
				names = append(names, p.Name(solver.Var(v+1)))
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Fatalf("%s: %s passes for the best one, which is %s\n%s", what, got, want, describe(p))
		}
		for _, m := range changed.Lemmas {
			if !implied(sets, m.Lits) {
				t.Fatalf("%s: %v passes for what follows\n%s", what, m, describe(p))
			}
		}
	}
}

func clone[T any](t testing.TB, v *T) *T {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	again := new(T)
	if err := json.Unmarshal(raw, again); err != nil {
		t.Fatal(err)
	}
	return again
}

// implied reports whether each of the sets satisfies one of the literals.
func implied(sets []uint32, lits []solver.Lit) bool {
	return !slices.ContainsFunc(sets, func(set uint32) bool {
		return !slices.ContainsFunc(lits, func(l solver.Lit) bool { return set>>(l.Var()-1)&1 == 1 == l.Selects() })
	})
}

// damage makes one change to a certificate, and returns a description of it.
func damage(draw source, p *solver.Problem, c *solver.Certificate) string {
	someVar := func() solver.Var { return solver.Var(1 + draw(p.NumVars())) }
	hints := func(all *[]int) string {
		h := *all
		switch k := draw(4); {
		case k == 0 || len(h) == 0:
			*all = slices.Insert(h, draw(len(h)+1), draw(p.NumConstraints()+2)-1)
			return "a hint more"
		case k == 1:
			at := draw(len(h))
			*all = slices.Delete(h, at, at+1)
			return "a hint less"
		case k == 2:
			h[draw(len(h))] = draw(p.NumConstraints()+3) - 2
			return "another hint"
		}
		i, j := draw(len(h)), draw(len(h))
		h[i], h[j] = h[j], h[i]
		return "hints in another order"
	}
	if len(c.Lemmas) > 0 && draw(3) == 0 {
		m := &c.Lemmas[draw(len(c.Lemmas))]
		switch {
		case draw(2) == 0:
			return "of a lemma, " + hints(&m.Hints)
		case len(m.Lits) > 0:
			at := draw(len(m.Lits))
			m.Lits = slices.Delete(m.Lits, at, at+1)
			return "a lemma with a literal less"
		}
	}
	if len(c.Steps) == 0 {
		c.Steps = append(c.Steps, solver.CertifiedStep{Demand: draw(p.NumConstraints() + 1), Pick: someVar()})
		return "a step out of nothing"
	}
	i := draw(len(c.Steps))
	step := &c.Steps[i]
	switch k := draw(8); {
	case k == 0:
		step.Pick = someVar()
		return "another pick"
	case k == 1:
		c.Steps = slices.Delete(c.Steps, i, i+1)
		return "a step less"
	case k == 2:
		c.Steps = append(c.Steps, *step)
		return "a step more"
	case k == 3:
		step.Demand = draw(p.NumConstraints() + 1)
		return "another demand"
	case len(step.Refused) == 0:
		step.Refused = append(step.Refused, solver.CertifiedRefusal{Var: someVar()})
		return "a refusal out of nothing"
	}
	r := &step.Refused[draw(len(step.Refused))]
	if len(r.Given) > 0 && draw(2) == 0 {
		r.Given = r.Given[1:]
		return "a refusal with an earlier pick less"
	}
	return "of a refusal, " + hints(&r.Hints)
}
