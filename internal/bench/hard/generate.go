package hard

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/fairlead/fairlead/solver"
)

// A problem is one of a kind.
type problem struct {
	kind string // what problems of its kind are
	name string // the kind, the size and the seed
	*solver.Problem
}

// A kind makes problems, of which the size is drawn from a range near the threshold.
type kind struct {
	name       string
	make       func(r *rand.Rand, size int) *solver.Problem
	least, end int // sizes: from least, before end
	count      int // how many of them there are among 300
}

var kinds = []kind{
	{"clauses of three literals", clauses, 150, 220, 60},
	{"webs of packages", web, 40, 100, 60},
	{"subscriptions to a catalog", catalog, 60, 100, 40},
	{"three colours", colours, 190, 230, 40},
	{"latin squares", latin, 16, 22, 30},
	{"parities", parities, 26, 34, 30},
	{"operators that compete for APIs", compete, 7, 12, 20},
	{"pigeons, by pairs", pigeons, 7, 9, 20},
}

// problems returns count problems of all kinds, in proportion, always the same ones.
func problems(count int) []problem {
	total := 0
	for _, k := range kinds {
		total += k.count
	}
	var all []problem
	for at, k := range kinds {
		for i := range (k.count*count + total - 1) / total {
			r := rand.New(rand.NewPCG(uint64(at), uint64(i)))
			size := k.least + i%(k.end-k.least)
			if k.end-k.least > k.count {
				size = k.least + r.IntN(k.end-k.least)
			}
			all = append(all, problem{k.name, fmt.Sprintf("%s, size %d, seed %d", k.name, size, i), k.make(r, size)})
		}
	}
	return all
}

// clauses makes a random 3-SAT problem of 4.26 clauses for each variable.
func clauses(r *rand.Rand, vars int) *solver.Problem {
	p := &solver.Problem{}
	p.NewVars(vars)
	for range vars * 426 / 100 {
		var lits []solver.Lit
		for _, v := range r.Perm(vars)[:3] {
			l := solver.Var(v + 1).Yes()
			if r.IntN(2) == 0 {
				l = -l
			}
			lits = append(lits, l)
		}
		p.Any(lits, nil)
	}
	return p
}

// versioned adds packages of which at most one version each can be chosen.
func versioned(p *solver.Problem, packages, versions int) [][]solver.Var {
	all := make([][]solver.Var, packages)
	for i := range all {
		first := p.NewVars(versions)
		for v := range versions {
			all[i] = append(all[i], first+solver.Var(v))
		}
		p.Limit(1, all[i], nil)
	}
	return all
}

// subscribe requires one of some versions.
func subscribe(p *solver.Problem, among []solver.Var) {
	s := p.NewVars(1)
	p.Require(s, nil)
	p.Depend(s, among, nil)
}

// web makes packages of random versions, each of which needs a range of versions of
// others, and one subscription.
func web(r *rand.Rand, packages int) *solver.Problem {
	const versions = 20
	window := 5 + r.IntN(5)
	p := &solver.Problem{}
	all := versioned(p, packages, versions)
	for i, own := range all {
		for _, v := range own {
			for range 3 {
				if on, from := r.IntN(packages), r.IntN(versions); on != i {
					p.Depend(v, all[on][from:min(versions, from+1+r.IntN(window))], nil)
				}
			}
		}
	}
	subscribe(p, all[0])
	return p
}

// catalog makes packages whose versions need windows of versions of later packages,
// and 20 subscriptions.
func catalog(r *rand.Rand, packages int) *solver.Problem {
	const versions, window = 10, 4
	p := &solver.Problem{}
	all := versioned(p, packages, versions)
	for i, own := range all[:packages-1] {
		for _, v := range own {
			for range 2 {
				on, from := i+1+r.IntN(packages-i-1), r.IntN(versions)
				p.Depend(v, all[on][from:min(versions, from+window)], nil)
			}
		}
	}
	for _, at := range r.Perm(packages)[:20] {
		subscribe(p, all[at])
	}
	return p
}

// colours gives the nodes of a random graph of average degree 4.6 one of three colours.
func colours(r *rand.Rand, nodes int) *solver.Problem {
	p := &solver.Problem{}
	p.NewVars(3 * nodes)
	of := func(node, colour int) solver.Var { return solver.Var(3*node + colour + 1) }
	for n := range nodes {
		own := []solver.Var{of(n, 0), of(n, 1), of(n, 2)}
		p.Any([]solver.Lit{own[0].Yes(), own[1].Yes(), own[2].Yes()}, nil)
		p.Limit(1, own, nil)
	}
	for range nodes * 23 / 10 {
		a, b := r.IntN(nodes), r.IntN(nodes)
		for c := range 3 {
			if a != b {
				p.Exclude(of(a, c), of(b, c), nil)
			}
		}
	}
	return p
}

// latin completes a latin square of which three fifths are missing, or in which two
// cells were exchanged first.
func latin(r *rand.Rand, n int) *solver.Problem {
	p := &solver.Problem{}
	p.NewVars(n * n * n)
	of := func(row, col, value int) solver.Var { return solver.Var((row*n+col)*n + value + 1) }
	some := func(f func(i int) solver.Var) {
		var vars []solver.Var
		var lits []solver.Lit
		for i := range n {
			vars, lits = append(vars, f(i)), append(lits, f(i).Yes())
		}
		p.Any(lits, nil)
		p.Limit(1, vars, nil)
	}
	for a := range n {
		for b := range n {
			some(func(i int) solver.Var { return of(a, b, i) })
			some(func(i int) solver.Var { return of(a, i, b) })
			some(func(i int) solver.Var { return of(i, a, b) })
		}
	}
	rows, cols, values := r.Perm(n), r.Perm(n), r.Perm(n)
	hint := func(row, col int) int { return values[(rows[row]+cols[col])%n] }
	known := r.Perm(n * n)[:n*n*42/100]
	odd := known[r.IntN(len(known))]
	for _, at := range known {
		value := hint(at/n, at%n)
		if at == odd && r.IntN(2) == 0 {
			value = (value + 1) % n
		}
		p.Require(of(at/n, at%n, value), nil)
	}
	return p
}

// parities asks for bits on the edges of a random graph of degree three, of which
// those at each node have a given parity; the parities have an odd sum, or an even one.
func parities(r *rand.Rand, nodes int) *solver.Problem {
	nodes += nodes % 2
	p := &solver.Problem{}
	at := make([][]solver.Var, nodes)
	for range 3 {
		order := r.Perm(nodes)
		for i := 0; i < nodes; i += 2 {
			v := p.NewVars(1)
			at[order[i]], at[order[i+1]] = append(at[order[i]], v), append(at[order[i+1]], v)
		}
	}
	odd := r.IntN(4) > 0
	for n, own := range at {
		parity := 0
		if n == 0 && odd {
			parity = 1
		}
		for set := range 8 {
			if bits.OnesCount(uint(set))%2 == parity {
				continue
			}
			var lits []solver.Lit // not this set
			for i, v := range own {
				if set>>i&1 == 1 {
					lits = append(lits, v.No())
				} else {
					lits = append(lits, v.Yes())
				}
			}
			p.Any(lits, nil)
		}
	}
	return p
}

// compete makes n operators whose versions each provide one of n-1 APIs, in random
// order.
func compete(r *rand.Rand, n int) *solver.Problem {
	p := &solver.Problem{}
	apis := make([][]solver.Var, n-1)
	for range n {
		var own []solver.Var
		for _, api := range r.Perm(n - 1) {
			v := p.NewVars(1)
			own, apis[api] = append(own, v), append(apis[api], v)
		}
		subscribe(p, own)
	}
	for _, vars := range apis {
		p.Limit(1, vars, nil)
	}
	return p
}

// pigeons makes n+1 pigeons for n holes, with an exclusion for each pair.
func pigeons(r *rand.Rand, n int) *solver.Problem {
	p := &solver.Problem{}
	in := make([][]solver.Var, n)
	for range n + 1 {
		var places []solver.Lit
		for _, hole := range r.Perm(n) {
			v := p.NewVars(1)
			for _, other := range in[hole] {
				p.Exclude(v, other, nil)
			}
			in[hole], places = append(in[hole], v), append(places, v.Yes())
		}
		p.Any(places, nil)
	}
	return p
}
