package duel

import (
	"fmt"
	"math/rand"
	"slices"
	"strconv"
)

// Upstream returns the workload of the benchmark that both peers ship, with the same
// random draws, for any size and seed (theirs: 256 and 9).
func Upstream(n int, seed int64) *Problem {
	const (
		pRequired, pNeeds, pConflicts = .1, .15, .05
		mostNeeds, mostConflicts      = 6, 3
	)
	random := rand.New(rand.NewSource(seed))
	others := func(i, most int) []int {
		drawn := make([]int, random.Intn(most-1)+1)
		for k := range drawn {
			for drawn[k] = i; drawn[k] == i; {
				drawn[k] = random.Intn(n)
			}
		}
		return drawn
	}
	p := &Problem{}
	for i := range n {
		v := Variable{Name: strconv.Itoa(i), Required: random.Float64() < pRequired}
		if random.Float64() < pNeeds {
			v.Needs = [][]int{others(i, mostNeeds)}
		}
		if random.Float64() < pConflicts {
			v.Conflicts = others(i, mostConflicts)
		}
		p.Vars = append(p.Vars, v)
	}
	return p
}

// Graph describes random package graphs like those of a catalog.
type Graph struct {
	Packages, Versions int // packages, and versions of each
	Needs              int // packages that each version needs, all of later packages
	Subscriptions      int // packages that are subscribed to
	Window             int // how many consecutive versions of a needed package will do, cut off at the oldest
	Seeds              int // how many graphs there are of this kind
}

// String names the graph by its numbers.
func (g Graph) String() string {
	return fmt.Sprintf("%d,%d,%d,%d,%d", g.Packages, g.Versions, g.Needs, g.Subscriptions, g.Window)
}

// Problem makes the graph of one seed: at most one version of each package, and
// subscriptions to random packages that prefer newer versions.
func (g Graph) Problem(seed int64) *Problem {
	random := rand.New(rand.NewSource(seed))
	p := &Problem{}
	first := g.Subscriptions // the variable of package 0, newest version
	version := func(pkg, age int) int { return first + pkg*g.Versions + age }
	window := func(pkg, from, n int) []int {
		var vs []int
		for age := range n {
			vs = append(vs, version(pkg, from+age))
		}
		return vs
	}
	for _, pkg := range random.Perm(g.Packages)[:g.Subscriptions] {
		p.Vars = append(p.Vars, Variable{
			Name:     fmt.Sprintf("subscription-%d", pkg),
			Required: true,
			Needs:    [][]int{window(pkg, 0, g.Versions)},
		})
	}
	for pkg := range g.Packages {
		for age := range g.Versions {
			v := Variable{Name: fmt.Sprintf("package-%d.v%d", pkg, g.Versions-age)}
			for range g.Needs {
				if pkg+1 < g.Packages {
					needed := pkg + 1 + random.Intn(g.Packages-pkg-1)
					from := random.Intn(g.Versions)
					v.Needs = append(v.Needs, window(needed, from, min(g.Window, g.Versions-from)))
				}
			}
			p.Vars = append(p.Vars, v)
		}
		p.Limits = append(p.Limits, window(pkg, 0, g.Versions))
	}
	return p
}

// Versions returns a problem of one subscription to a package of n versions, which
// all provide the same API: at most one of the package, and at most one of the API.
func Versions(n int) *Problem {
	p := Graph{Packages: 1, Versions: n, Subscriptions: 1}.Problem(1)
	p.Limits = append(p.Limits, slices.Clone(p.Limits[0]))
	return p
}

// Pigeonhole returns the problem of putting n pigeons into n-1 holes, at most one in
// each, which conflicts of pairs say, not limits, so that there is nothing to count. It
// is unsatisfiable, and finding that out takes time exponential in n.
func Pigeonhole(n int) *Problem {
	p := &Problem{}
	for pigeon := range n {
		v := Variable{Name: fmt.Sprintf("pigeon-%d", pigeon), Required: true, Needs: [][]int{nil}}
		for hole := range n - 1 {
			at := n + pigeon*(n-1) + hole
			v.Needs[0] = append(v.Needs[0], at)
		}
		p.Vars = append(p.Vars, v)
	}
	for pigeon := range n {
		for hole := range n - 1 {
			v := Variable{Name: fmt.Sprintf("pigeon-%d-in-%d", pigeon, hole)}
			for other := range pigeon {
				v.Conflicts = append(v.Conflicts, n+other*(n-1)+hole)
			}
			p.Vars = append(p.Vars, v)
		}
	}
	return p
}
