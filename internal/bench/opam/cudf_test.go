package opam

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/internal/bench/cudf"
	"github.com/fairlead/fairlead/internal/bench/upgrade"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
)

// versionsOffered is how many versions of a package a request contains, the newest
// ones, besides those that are installed.
const versionsOffered = 2

// request makes an upgrade problem from the repository: some versions are installed,
// with what they need, and packages are requested; sometimes one of the former is to
// be upgraded. It contains everything that these reach.
func request(t testing.TB, r *Repository, session *solver.Session, seed int) *cudf.Document {
	random := rand.New(rand.NewPCG(uint64(seed), 18500))
	have := upgrade.Installable(t, session, random, len(r.Packages), 5)
	in := make([]bool, len(r.Packages))
	var queue []int
	reach := func(i int) {
		if !in[i] {
			in[i] = true
			queue = append(queue, i)
		}
	}
	offer := func(name string) {
		own := r.named[name]
		for _, i := range own[:min(len(own), versionsOffered)] {
			reach(i)
		}
	}
	for v := range have.Selected() {
		reach(int(v - 1))
	}
	var wanted []int
	for range 2 {
		i := random.IntN(len(r.Packages))
		reach(i)
		wanted = append(wanted, i)
	}
	for at := 0; at < len(queue); at++ {
		own := r.Packages[queue[at]]
		offer(own.Name)
		for _, c := range own.Needs {
			for _, a := range c {
				offer(a.name)
			}
			if found := r.candidates(c); len(found) > 0 {
				reach(found[0])
			}
		}
	}
	d := r.Document(func(i int) bool { return in[i] })
	slices.Sort(queue)
	for at, i := range queue { // the packages of the document
		p := &d.Packages[at]
		p.Installed = have.Has(solver.Var(i + 1))
		if slices.Contains(wanted, i) {
			d.Request.Install = append(d.Request.Install, cudf.Relation{Name: p.Name})
		}
		if p.Installed && d.Request.Upgrade == nil && random.IntN(100) == 0 {
			d.Request.Upgrade = []cudf.Relation{{Name: p.Name}}
		}
	}
	return d
}

// TestUpgrades compares the best upgrades of requests with aspcud's.
func TestUpgrades(t *testing.T) {
	upgrade.Tool(t)
	r := load(t)
	session, err := solver.NewSession(r.State(), nil)
	if err != nil {
		t.Fatal(err)
	}
	upgrade.Compare(t, long.N(1, 500), func(i int) *cudf.Document { return request(t, r, session, i) })
}
