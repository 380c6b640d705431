package opam

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
)

// A registry is a solver.Source that reveals what a repository contains on request.
// Packages are named by their index in the repository.
type registry struct {
	*Repository
	needs   map[string][]int
	classes map[string][]int
}

func newRegistry(r *Repository) *registry {
	g := &registry{Repository: r, needs: make(map[string][]int), classes: make(map[string][]int)}
	for i, p := range r.Packages {
		for _, c := range p.Classes {
			g.classes[c] = append(g.classes[c], i)
		}
	}
	return g
}

// need returns the text that represents "one of these".
func (g *registry) need(candidates []int) string {
	text := fmt.Sprint(candidates)
	g.needs[text] = candidates
	return text
}

// of returns what a package needs, and what must not be installed with it.
func (g *registry) of(i int) (needs, bars [][]int) {
	own := &g.Packages[i]
	for _, c := range own.Needs {
		needs = append(needs, g.candidates(c))
	}
	for _, a := range own.Bars {
		if a.name != own.Name {
			bars = append(bars, g.meeting(a))
		}
	}
	for _, c := range own.Classes {
		bars = append(bars, g.classes[c])
	}
	return needs, bars
}

func (g *registry) Candidates(_ context.Context, needs []string) ([][]solver.Candidate, error) {
	var all [][]solver.Candidate
	for _, text := range needs {
		var own []solver.Candidate
		for _, i := range g.needs[text] {
			own = append(own, solver.Candidate{Name: fmt.Sprint(i), Slot: g.Packages[i].Name})
		}
		all = append(all, own)
	}
	return all, nil
}

func (g *registry) Requirements(_ context.Context, candidates []string) ([]solver.Requirements, error) {
	var all []solver.Requirements
	for _, name := range candidates {
		var i int
		if _, err := fmt.Sscan(name, &i); err != nil {
			return nil, err
		}
		needs, bars := g.of(i)
		var own solver.Requirements
		for _, n := range needs {
			own.Needs = append(own.Needs, g.need(n))
		}
		for _, b := range bars {
			own.Excludes = append(own.Excludes, g.need(b))
		}
		all = append(all, own)
	}
	return all, nil
}

// A fewest resolves by the rule of PubGrub (Weizenbaum 2018): of all open decisions it
// first takes the one with the fewest candidates left, and of these the newest. It asks
// for the requirements of what it picks, and learns from conflicts.
type fewest struct {
	*registry
	clauses [][]int       // of literals: 1 + a package, negative where it is left out
	with    map[int][]int // by literal: the clauses that contain it
	demands [][]int       // the clauses that are needs
	value   map[int]bool  // by literal: it is true
	level   map[int]int   // by package + 1
	reason  map[int]int   // by package + 1: the clause that forced it, or -1
	trail   []int
	seen    int // how much of the trail was propagated
	now     int // the current level
	asked   map[int]bool
	fresh   []int // clauses to check
}

func (f *fewest) add(clause []int) {
	at := len(f.clauses)
	f.clauses = append(f.clauses, clause)
	for _, l := range clause {
		f.with[l] = append(f.with[l], at)
	}
	f.fresh = append(f.fresh, at)
}

func (f *fewest) put(l, reason int) {
	f.value[l], f.level[max(l, -l)], f.reason[max(l, -l)] = true, f.now, reason
	f.trail = append(f.trail, l)
}

// propagate returns a clause that fails, or -1.
func (f *fewest) propagate() int {
	for len(f.fresh) > 0 || f.seen < len(f.trail) {
		look, fresh := f.fresh, f.fresh
		if f.fresh = nil; look == nil {
			look = f.with[-f.trail[f.seen]]
			f.seen++
		}
		for _, at := range look {
			open, held := 0, false
			count := 0
			for _, l := range f.clauses[at] {
				if f.value[l] {
					held = true
					break
				}
				if !f.value[-l] {
					open, count = l, count+1
				}
			}
			switch {
			case held || count > 1:
			case count == 0:
				f.fresh = fresh
				return at
			default:
				f.put(open, at)
			}
		}
	}
	return -1
}

func (f *fewest) back(level int) {
	for n := len(f.trail) - 1; n >= 0 && f.level[max(f.trail[n], -f.trail[n])] > level; n-- {
		delete(f.value, f.trail[n])
		f.trail = f.trail[:n]
	}
	f.seen, f.now = min(f.seen, len(f.trail)), level
}

// learn derives a clause from one that fails (the first unique implication point),
// and backtracks to where it forces something. It returns false if the problem is
// unsatisfiable.
func (f *fewest) learn(at int) bool {
	top := 0
	for _, l := range f.clauses[at] {
		top = max(top, f.level[max(l, -l)])
	}
	if f.back(top); top == 0 {
		return false
	}
	marked, open := make(map[int]bool), 0
	var learned []int
	mark := func(clause []int, but int) {
		for _, l := range clause {
			v := max(l, -l)
			if l == but || marked[v] || f.level[v] == 0 {
				continue
			}
			if marked[v] = true; f.level[v] == top {
				open++
			} else {
				learned = append(learned, l)
			}
		}
	}
	mark(f.clauses[at], 0)
	n := len(f.trail) - 1
	for ; ; n-- {
		l := f.trail[n]
		if !marked[max(l, -l)] {
			continue
		}
		if open--; open == 0 {
			learned = append(learned, -l)
			break
		}
		mark(f.clauses[f.reason[max(l, -l)]], l)
	}
	level := 0
	for _, l := range learned[:len(learned)-1] {
		level = max(level, f.level[max(l, -l)])
	}
	f.back(level)
	f.add(learned)
	return true
}

// solve reports whether the package can be installed.
func (f *fewest) solve(root int) bool {
	f.demand([]int{root}, 0)
	for {
		if at := f.propagate(); at >= 0 {
			if !f.learn(at) {
				return false
			}
			continue
		}
		best, left := 0, 0
		for _, d := range f.demands {
			first, n := 0, 0
			for _, l := range d {
				if f.value[l] || l < 0 && !f.value[-l] {
					n = 0 // it is met, or nothing needs it
					break
				}
				if l > 0 && !f.value[-l] {
					if n++; first == 0 {
						first = l
					}
				}
			}
			if n > 0 && (left == 0 || n < left) {
				best, left = first, n
			}
		}
		if best == 0 {
			return true
		}
		f.now++
		f.put(best, -1)
		f.ask(best - 1)
	}
}

// demand adds a need of the owner, which is a literal, or 0 for none.
func (f *fewest) demand(candidates []int, owner int) {
	var clause []int
	if owner != 0 {
		clause = append(clause, owner)
	}
	for _, i := range candidates {
		if clause = append(clause, i+1); owner == 0 {
			f.ask(i)
		}
	}
	f.demands = append(f.demands, clause)
	f.add(clause)
}

// ask adds the needs and conflicts of a package; its versions exclude each other.
func (f *fewest) ask(i int) {
	if f.asked[i] {
		return
	}
	f.asked[i] = true
	needs, bars := f.of(i)
	for _, n := range needs {
		f.demand(n, -(i + 1))
	}
	for _, all := range append(bars, f.named[f.Packages[i].Name]) {
		for _, other := range all {
			if other != i {
				f.add([]int{-(i + 1), -(other + 1)})
			}
		}
	}
}

// TestLazy counts the queries that are needed to install packages in their newest
// version: by a Lazy, and by the rule of PubGrub. The verdicts must be equal.
func TestLazy(t *testing.T) {
	r := load(t)
	g := newRegistry(r)
	var least, ahead solver.Asked
	theirs, questions, refused := 0, 0, 0
	fewer, more := 0, 0
	for n, v := range r.Newest() {
		if n%long.N(100, 10) != 0 {
			continue
		}
		questions++
		root := []string{g.need([]int{int(v) - 1})}
		ask := func(sum *solver.Asked, opts *solver.LazyOptions) (ok bool, candidates int) {
			l := solver.NewLazy(g)
			_, err := l.Solve(context.Background(), root, opts)
			if err != nil && !errors.As(err, new(*solver.UnsatError)) {
				t.Fatal(err)
			}
			own := l.Asked()
			sum.Calls, sum.Needs, sum.Candidates = sum.Calls+own.Calls, sum.Needs+own.Needs, sum.Candidates+own.Candidates
			return err == nil, own.Candidates
		}
		can, asked := ask(&least, nil)
		if also, _ := ask(&ahead, &solver.LazyOptions{Ahead: true}); also != can {
			t.Errorf("%s: ahead the verdict differs", r.Packages[v-1].Name)
		}
		f := &fewest{registry: g, with: make(map[int][]int), value: make(map[int]bool), level: make(map[int]int), reason: make(map[int]int), asked: make(map[int]bool)}
		if f.solve(int(v)-1) != can {
			t.Errorf("%s: by PubGrub's rule the verdict differs", r.Packages[v-1].Name)
		}
		if theirs += len(f.asked); !can {
			refused++
		}
		switch d := asked - len(f.asked); {
		case d < 0:
			fewer++
		case d > 0:
			more++
		}
	}
	t.Logf("%d packages, %d of them refused; the requirements of so many candidates were asked for:", questions, refused)
	t.Logf("| Lazy | Lazy, ahead | PubGrub's rule | Lazy asks for fewer | as many | more |")
	t.Logf("| %d in %d calls | %d in %d calls | %d | %d | %d | %d |", least.Candidates, least.Calls, ahead.Candidates, ahead.Calls, theirs,
		fewer, questions-fewer-more, more)
}
