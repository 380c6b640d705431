package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
)

// A registry is a source that knows everything, and counts its answers.
type registry struct {
	meets map[string][]solver.Candidate
	asks  map[string]solver.Requirements
	order []string // of the candidates
	told  map[string]int
	fail  error
}

func (r *registry) Candidates(_ context.Context, needs []string) ([][]solver.Candidate, error) {
	all := make([][]solver.Candidate, len(needs))
	for i, n := range needs {
		r.told["need "+n]++
		all[i] = r.meets[n]
	}
	return all, r.fail
}

func (r *registry) Requirements(_ context.Context, candidates []string) ([]solver.Requirements, error) {
	all := make([]solver.Requirements, len(candidates))
	for i, c := range candidates {
		r.told[c]++
		all[i] = r.asks[c]
	}
	return all, r.fail
}

// registryOf draws packages with a few versions each, and features that several
// of them offer.
func registryOf(draw source) *registry {
	r := &registry{meets: make(map[string][]solver.Candidate), asks: make(map[string]solver.Requirements), told: make(map[string]int)}
	packages := 2 + draw(6)
	var texts []string
	var all []solver.Candidate
	for p := range packages {
		versions := 1 + draw(4)
		var own []solver.Candidate
		for v := versions; v > 0; v-- {
			c := solver.Candidate{Name: fmt.Sprintf("p%d.%d", p, v)}
			if p%3 > 0 {
				c.Slot = fmt.Sprint("p", p)
			}
			own = append(own, c)
			r.meets[fmt.Sprintf("p%d >= %d", p, v)] = slices.Clone(own)
			texts = append(texts, fmt.Sprintf("p%d >= %d", p, v))
		}
		all = append(all, own...)
	}
	for f := range 1 + draw(3) {
		text := fmt.Sprint("feature ", f)
		for range draw(4) {
			r.meets[text] = append(r.meets[text], all[draw(len(all))])
		}
		texts = append(texts, text)
	}
	few := func(n int) []string {
		list := make([]string, max(0, draw(n)))
		for i := range list {
			list[i] = texts[draw(len(texts))]
		}
		return list
	}
	for _, c := range all {
		r.asks[c.Name] = solver.Requirements{Needs: few(4), Excludes: few(3)}
		r.order = append(r.order, c.Name)
	}
	for i := len(r.order) - 1; i > 0; i-- {
		j := draw(i + 1)
		r.order[i], r.order[j] = r.order[j], r.order[i]
	}
	return r
}

// whole states the whole registry, candidate by candidate in an arbitrary
// order.
func (r *registry) whole(needs []string) *solver.Problem {
	p := &solver.Problem{}
	for _, name := range r.order {
		p.Var(name)
	}
	vars := func(need string) []solver.Var {
		var vars []solver.Var
		for _, c := range r.meets[need] {
			vars = append(vars, p.Var(c.Name))
		}
		return vars
	}
	for _, n := range needs {
		var lits []solver.Lit
		for _, v := range vars(n) {
			lits = append(lits, v.Yes())
		}
		p.Any(lits, solver.Advised(n+" is wanted", "do without "+n, 20))
	}
	slots := make(map[string][]solver.Var)
	for _, all := range r.meets {
		for _, c := range all {
			if v := p.Var(c.Name); c.Slot != "" && !slices.Contains(slots[c.Slot], v) {
				slots[c.Slot] = append(slots[c.Slot], v)
			}
		}
	}
	for _, name := range r.order {
		v := p.Var(name)
		for _, n := range r.asks[name].Needs {
			p.Depend(v, vars(n), solver.Text(name+" needs "+n))
		}
		for _, n := range r.asks[name].Excludes {
			for _, other := range vars(n) {
				if other != v {
					p.Exclude(v, other, nil)
				}
			}
		}
	}
	for i := range len(slots) + 8 {
		if own := slots[fmt.Sprint("p", i)]; len(own) > 1 {
			slices.Sort(own)
			p.Limit(1, own, nil)
		}
	}
	return p
}

// picks returns the names of what is selected, in the order of the choices.
func picks(s *solver.Solution) []string {
	var names []string
	for _, step := range s.Steps() {
		names = append(names, s.Problem().Name(step.Pick))
	}
	return names
}

// efforts returns the efforts of the fixes.
func efforts(x *solver.Explanation) []int {
	var all []int
	for _, f := range x.Fixes {
		all = append(all, f.Effort)
	}
	return all
}

// dropped returns the change that drops the constraints with the given texts.
func dropped(p *solver.Problem, texts []string) *solver.WhatIf {
	w := &solver.WhatIf{}
	for id := range p.NumConstraints() {
		if slices.Contains(texts, p.Constraint(id).String()) {
			w.Drop = append(w.Drop, id)
		}
	}
	return w
}

// TestLazyAgainstWhole asks random registries, and compares verdicts, answers,
// explanations and fixes with those for a problem that states the whole
// registry.
func TestLazyAgainstWhole(t *testing.T) {
	ctx := context.Background()
	answers, refusals, spared, fixed := 0, 0, 0, 0
	for seed := range uint64(long.N(300, 200_000)) {
		draw := randomly(rand.New(rand.NewPCG(seed, 17)))
		r := registryOf(draw)
		needs := []string{fmt.Sprintf("p%d >= 1", draw(2)), fmt.Sprint("feature ", draw(2)), fmt.Sprintf("p%d >= 1", draw(5))}[:1+draw(3)]
		p := r.whole(needs)
		want, wantErr := solver.Solve(ctx, p, nil)
		for _, ahead := range []bool{false, true} {
			clear(r.told)
			l := solver.NewLazy(r)
			got, err := l.Solve(ctx, needs, &solver.LazyOptions{Ahead: ahead})
			if (err == nil) != (wantErr == nil) || err == nil && !slices.Equal(picks(got), picks(want)) {
				t.Fatalf("seed %d: got %v, want %v\n%s", seed, err, wantErr, describe(p))
			}
			for what, n := range r.told {
				if n > 1 {
					t.Fatalf("seed %d: asked %d times about %s", seed, n, what)
				}
			}
			if asked := l.Asked(); asked.Needs+asked.Candidates != len(r.told) {
				t.Fatalf("seed %d: %+v, but told of %d", seed, asked, len(r.told))
			}
			if err == nil {
				answers++
				for _, name := range r.order {
					if r.told[name] == 0 {
						spared++
					}
				}
				continue
			}
			refusals++
			fixed += compareLazily(t, l, r, p, needs)
		}
	}
	if answers < 200 || refusals < 200 || spared < 1000 || fixed < 200 {
		t.Errorf("%d answers, %d refusals, %d candidates not asked about and %d fixes are few", answers, refusals, spared, fixed)
	}
	t.Logf("%d answers, %d refusals, %d fixes; %d candidates not asked about", answers, refusals, fixed, spared)
}

// compareLazily explains why there is no answer, and checks the explanation
// against the whole registry. It returns how many fixes there are.
func compareLazily(t *testing.T, l *solver.Lazy, r *registry, p *solver.Problem, needs []string) int {
	t.Helper()
	ctx := context.Background()
	x, err := l.Explain(ctx, needs, &solver.ExplainOptions{MaxConflicts: -1})
	if err != nil {
		t.Fatal(err)
	}
	session, err := solver.NewSession(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, c := range x.Conflicts {
		told = append(told, compareConflict(t, session, p, c.Core)...)
	}
	if _, err := session.Solve(ctx, dropped(p, told)); err != nil {
		t.Fatalf("a conflict is missing: %v\n%s\n%s", err, x, describe(p))
	}
	_, err = solver.Solve(ctx, p, nil)
	var unsat *solver.UnsatError
	if !errors.As(err, &unsat) {
		t.Fatal(err)
	}
	want, err := unsat.Explain(ctx, &solver.ExplainOptions{MaxConflicts: -1})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(efforts(x), efforts(want)) {
		t.Fatalf("fixes of efforts %v, want %v\n%s\n%s", efforts(x), efforts(want), x, want)
	}
	for _, f := range x.Fixes {
		var texts []string
		for _, c := range f.Drop {
			texts = append(texts, c.String())
		}
		s, err := session.Solve(ctx, dropped(p, texts))
		if err != nil || !slices.Equal(picks(s), picks(f.Solution)) {
			t.Fatalf("fix %v: %v\n%s", texts, err, describe(p))
		}
	}
	q, err := l.Everything(ctx, needs)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := solver.Solve(ctx, q, nil); !errors.As(err, &unsat) {
		t.Fatalf("everything that can be reached has an answer\n%s", describe(q))
	}
	return len(x.Fixes)
}

// compareConflict checks that a core is also a minimal core of the whole
// registry, and returns the texts of its constraints. A slot is known only as
// far as the source was asked about it: its limitation is taken for that of the
// whole slot.
func compareConflict(t *testing.T, session *solver.Session, p *solver.Problem, core []solver.Constraint) []string {
	t.Helper()
	var texts []string
	for _, c := range core {
		text := c.String()
		if c.Kind != solver.Limitation {
			texts = append(texts, text)
			continue
		}
		names := strings.Fields(strings.NewReplacer(",", " ", "at most 1 of ", "").Replace(text))
		found := false
		for id := range p.NumConstraints() {
			k := p.Constraint(id)
			if k.Kind != c.Kind || !slices.ContainsFunc(k.Lits, func(l solver.Lit) bool { return p.Name(l.Var()) == names[0] }) ||
				!slices.ContainsFunc(k.Lits, func(l solver.Lit) bool { return p.Name(l.Var()) == names[len(names)-1] }) {
				continue
			}
			found = true
			texts = append(texts, k.String())
		}
		if !found {
			t.Fatalf("there is no %s\n%s", text, describe(p))
		}
	}
	only := func(without string) []int {
		var drop []int
		for id := range p.NumConstraints() {
			if text := p.Constraint(id).String(); text == without || !slices.Contains(texts, text) {
				drop = append(drop, id)
			}
		}
		return drop
	}
	if _, err := session.Solve(context.Background(), &solver.WhatIf{Drop: only("")}); err == nil {
		t.Fatalf("the conflict %v can be met\n%s", texts, describe(p))
	}
	for _, text := range texts {
		if _, err := session.Solve(context.Background(), &solver.WhatIf{Drop: only(text)}); err != nil {
			t.Fatalf("the conflict %q does not need %q: %v\n%s", texts, text, err, describe(p))
		}
	}
	return texts
}

// TestLazyAsksTheLeast counts the questions when the newest versions need what
// does not exist.
func TestLazyAsksTheLeast(t *testing.T) {
	r := &registry{meets: make(map[string][]solver.Candidate), asks: make(map[string]solver.Requirements), told: make(map[string]int)}
	put := func(need string, asks solver.Requirements, names ...string) {
		for _, name := range names {
			r.meets[need] = append(r.meets[need], solver.Candidate{Name: name, Slot: need})
			r.asks[name] = asks
		}
	}
	put("app", solver.Requirements{Needs: []string{"tool", "lib", "base"}}, "app.1")
	put("tool", solver.Requirements{Needs: []string{"gone"}}, "tool.3", "tool.2")
	put("tool", solver.Requirements{Needs: []string{"lib 1"}}, "tool.1")
	put("lib", solver.Requirements{}, "lib.2", "lib.1")
	put("base", solver.Requirements{}, "base.1")
	r.meets["lib 1"] = []solver.Candidate{{Name: "lib.1", Slot: "lib"}}
	for _, test := range []struct {
		ahead bool
		want  solver.Asked
	}{
		// app; app.1, and what meets its needs; base.1, which is certain, with tool.3, and
		// what meets their needs; tool.2; tool.1, and what meets its need; lib.1
		{false, solver.Asked{Calls: 9, Needs: 6, Candidates: 6}},
		{true, solver.Asked{Calls: 9, Needs: 6, Candidates: 7}}, // lib.2 with tool.3
	} {
		l := solver.NewLazy(r)
		s, err := l.Solve(context.Background(), []string{"app"}, &solver.LazyOptions{Ahead: test.ahead})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(picks(s), " "); got != "app.1 tool.1 lib.1 base.1" {
			t.Errorf("got %s", got)
		}
		if l.Asked() != test.want {
			t.Errorf("ahead %t: %+v, want %+v", test.ahead, l.Asked(), test.want)
		}
		before := l.Asked()
		if _, err := l.Solve(context.Background(), []string{"app"}, nil); err != nil || l.Asked() != before {
			t.Errorf("asked again: %v, %+v", err, l.Asked())
		}
		if _, err := l.Explain(context.Background(), []string{"app"}, nil); err == nil || !strings.Contains(err.Error(), "can be met") {
			t.Errorf("got %v", err)
		}
	}
}

// TestLazyErrors checks the errors that failing sources lead to.
func TestLazyErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	broken := errors.New("no route to the registry")
	r := registryOf(randomly(rand.New(rand.NewPCG(1, 1))))
	r.fail = broken
	if _, err := solver.NewLazy(r).Solve(ctx, []string{"p0 >= 1"}, nil); !errors.Is(err, broken) || !strings.Contains(err.Error(), `candidates of ["p0 >= 1"]`) {
		t.Errorf("got %v", err)
	}
	for _, source := range []funcs{
		{func([]string) [][]solver.Candidate { return nil }},
		{func(n []string) [][]solver.Candidate {
			return [][]solver.Candidate{{{Name: "a", Slot: "x"}, {Name: "a"}}}
		}},
	} {
		if _, err := solver.NewLazy(source).Solve(ctx, []string{"a"}, nil); err == nil || !strings.Contains(err.Error(), "the source") {
			t.Errorf("got %v", err)
		}
	}
	endless := 0
	_, err := solver.NewLazy(funcs{func(n []string) [][]solver.Candidate {
		if endless++; endless == 50 {
			cancel()
		}
		return [][]solver.Candidate{{{Name: n[0] + "+"}}}
	}}).Solve(ctx, []string{"a"}, nil)
	var incomplete *solver.IncompleteError
	if !errors.As(err, &incomplete) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// funcs is a source whose candidates each need something with their own name.
type funcs struct {
	candidates func(needs []string) [][]solver.Candidate
}

func (f funcs) Candidates(_ context.Context, needs []string) ([][]solver.Candidate, error) {
	return f.candidates(needs), nil
}

func (f funcs) Requirements(_ context.Context, names []string) ([]solver.Requirements, error) {
	all := make([]solver.Requirements, len(names))
	for i, name := range names {
		all[i].Needs = []string{name}
	}
	return all, nil
}
