package duel_test

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bench/duel"
)

func solve(t testing.TB, s duel.Solver, p *duel.Problem) duel.Answer {
	t.Helper()
	answer, err := s.Prepare(p)(context.Background())
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	return answer
}

// brute tries every selection.
func brute(p *duel.Problem) (best []bool) {
	for set := range 1 << len(p.Vars) {
		selected := make([]bool, len(p.Vars))
		for i := range selected {
			selected[i] = set>>i&1 == 1
		}
		if p.Check(selected) == nil && (best == nil || slices.Compare(p.Ranks(selected), p.Ranks(best)) < 0) {
			best = selected
		}
	}
	return best
}

// small makes random problems that brute can solve.
func small(seed int64) *duel.Problem {
	random := rand.New(rand.NewSource(seed))
	n := 3 + random.Intn(8)
	some := func(most int) []int { return random.Perm(n)[:1+random.Intn(most)] }
	p := &duel.Problem{}
	for i := range n {
		v := duel.Variable{Name: fmt.Sprint(i), Required: random.Intn(4) == 0}
		for random.Intn(2) == 0 {
			v.Needs = append(v.Needs, some(3))
		}
		if random.Intn(4) == 0 {
			if c := random.Intn(n); c != i {
				v.Conflicts = []int{c}
			}
		}
		p.Vars = append(p.Vars, v)
	}
	for random.Intn(2) == 0 {
		p.Limits = append(p.Limits, some(3))
	}
	return p
}

// TestAgainstBruteForce checks ours, and thereby the judge, which takes ours to be
// the best answer.
func TestAgainstBruteForce(t *testing.T) {
	for seed := range int64(1500) {
		p := small(seed)
		best := brute(p)
		answer := solve(t, duel.Solvers()[0], p)
		if answer.Satisfiable != (best != nil) {
			t.Fatalf("seed %d: satisfiable %v, by brute force %v", seed, answer.Satisfiable, best != nil)
		}
		if best == nil {
			continue
		}
		if err := p.Check(answer.Selected); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got, want := p.Ranks(answer.Selected), p.Ranks(best); !slices.Equal(got, want) {
			t.Fatalf("seed %d: ranks %v, by brute force %v", seed, got, want)
		}
	}
}

// TestPeersAgreeOnVerdicts: all solvers agree on what is satisfiable, and ours is
// never the worse answer.
func TestPeersAgreeOnVerdicts(t *testing.T) {
	problems := map[string]*duel.Problem{
		"upstream 256":  duel.Upstream(256, 9),
		"upstream 1024": duel.Upstream(1024, 9),
		"versions":      duel.Versions(50),
		"pigeonhole":    duel.Pigeonhole(6),
	}
	for seed := range int64(20) {
		problems[fmt.Sprint("graph ", seed)] = duel.Graph{Packages: 20, Versions: 4, Needs: 2, Subscriptions: 4, Window: 2}.Problem(seed)
	}
	solvers := duel.Solvers()
	for name, p := range problems {
		ours := solve(t, solvers[0], p)
		for _, peer := range solvers[1:] {
			verdict, err := duel.Judge(p, ours, solve(t, peer, p))
			if err != nil || verdict == duel.Disagree {
				t.Errorf("%s: %s: %v, %v", name, peer.Name, verdict, err)
			}
		}
	}
}

// TestKnownDefect is the smallest known problem on which the peers break a
// constraint without an error. If a later version of theirs solves it, the tables
// must be regenerated.
func TestKnownDefect(t *testing.T) {
	p := &duel.Problem{}
	index := map[string]int{}
	add := func(name string, required bool) int {
		if i, ok := index[name]; ok {
			p.Vars[i].Required = p.Vars[i].Required || required
			return i
		}
		index[name] = len(p.Vars)
		p.Vars = append(p.Vars, duel.Variable{Name: name, Required: required})
		return index[name]
	}
	all := func(names ...string) (is []int) {
		for _, name := range names {
			is = append(is, add(name, false))
		}
		return is
	}
	need := func(v string, names ...string) {
		i, is := add(v, false), all(names...)
		p.Vars[i].Needs = append(p.Vars[i].Needs, is)
	}
	for _, name := range []string{"sA", "sI", "sX", "sY"} {
		add(name, true)
	}
	need("sA", "a1", "a2")
	need("sI", "i1")
	need("sX", "x1", "x2")
	need("sY", "y1", "y2")
	conflicts := all("z11", "z22", "w12", "w21")
	p.Vars[add("a1", false)].Conflicts = conflicts
	need("i1", "k1", "k2")
	need("x1", "z11", "z12")
	need("x1", "w11", "w12")
	need("x2", "z21", "z22")
	need("x2", "w21", "w22")
	need("y1", "z11", "z21")
	need("y1", "w11", "w21")
	need("y2", "z12", "z22")
	need("y2", "w12", "w22")
	p.Limits = [][]int{all("z11", "z12", "z21", "z22"), all("w11", "w12", "w21", "w22")}

	solvers := duel.Solvers()
	ours := solve(t, solvers[0], p)
	want := all("sA", "sI", "sX", "sY", "a2", "i1", "k1", "x1", "y1", "z11", "w11")
	for i, v := range p.Vars {
		if ours.Selected[i] != slices.Contains(want, i) {
			t.Errorf("%s selected: %v", v.Name, ours.Selected[i])
		}
	}
	for _, peer := range solvers[1:] {
		if verdict, err := duel.Judge(p, ours, solve(t, peer, p)); verdict != duel.Violates || err != nil {
			t.Errorf("%s: verdict %v, %v; want %v", peer.Name, verdict, err, duel.Violates)
		}
	}
}

// TestWhatIf: a session gives the same answers as Solve.
func TestWhatIf(t *testing.T) {
	s, err := duel.RunWhatIf(t.Context(), duel.Graph{Packages: 30, Versions: 5, Needs: 2, Subscriptions: 10, Window: 3, Seeds: 10})
	if err != nil || s.Count == 0 {
		t.Errorf("%d suppositions, %v", s.Count, err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := duel.Solvers()[0].Prepare(duel.Pigeonhole(11))(ctx); err == nil {
		t.Error("eleven pigeons were done within 20 ms")
	}
}
