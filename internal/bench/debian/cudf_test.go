package debian

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/bench/cudf"
	"github.com/fairlead/fairlead/internal/bench/upgrade"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
)

// A requester makes upgrade problems of the release.
type requester struct {
	*statement
	session *solver.Session
	byName  map[string][]solver.Var
}

func newRequester(t testing.TB) *requester {
	_, f := read(t)
	session, err := solver.NewSession(f.State(), nil)
	if err != nil {
		t.Fatal(err)
	}
	q := &requester{f.statement(), session, make(map[string][]solver.Var)}
	for i, p := range f.Packages {
		q.byName[p.Name] = append(q.byName[p.Name], solver.Var(i+1))
	}
	return q
}

// recommends returns what meets each clause that a package recommends, by name only.
func (q *requester) recommends(v solver.Var) [][]solver.Var {
	var all [][]solver.Var
	for clause := range strings.SplitSeq(q.Packages[v-1].Recommends, ",") {
		var any []solver.Var
		for alternative := range strings.SplitSeq(clause, "|") {
			any = append(any, q.byName[relation(alternative).Name]...)
		}
		all = append(all, any)
	}
	return all
}

// request makes a problem: some packages are installed, with what they need, and
// others are requested; sometimes one of the former is to be upgraded. It contains
// everything that these reach. The release has one version of each package, which
// becomes version 2. Every third also has a version 1, which needs one thing less
// and bars nothing, and which is the installed one for some of them.
func (q *requester) request(t testing.TB, i int) *cudf.Document {
	r := rand.New(rand.NewPCG(uint64(i), 63440))
	have := upgrade.Installable(t, q.session, r, len(q.Packages), 10)
	in := make([]bool, len(q.Packages)+1)
	var queue []solver.Var
	reach := func(vars ...solver.Var) {
		for _, v := range vars {
			if !in[v] {
				in[v] = true
				queue = append(queue, v)
			}
		}
	}
	reach(slices.Collect(have.Selected())...)
	d := &cudf.Document{}
	for range 3 {
		v := solver.Var(1 + r.IntN(len(q.Packages)))
		reach(v)
		reach(slices.Concat(q.recommends(v)...)...)
		d.Request.Install = append(d.Request.Install, q.name(v))
	}
	for at := 0; at < len(queue); at++ {
		for _, clause := range q.Needs[queue[at]-1] {
			for _, number := range clause {
				reach(q.meets(number)...)
			}
		}
	}
	slices.Sort(queue)
	for _, v := range queue {
		p := q.version(v, in)
		p.Installed = have.Has(v)
		if r.IntN(3) == 0 {
			older := p
			older.Version, older.Depends = 1, p.Depends[:max(0, len(p.Depends)-1)]
			older.Conflicts = p.Conflicts[:1]
			older.Installed = p.Installed && r.IntN(2) == 0
			p.Installed = p.Installed && !older.Installed
			if d.Packages = append(d.Packages, older); older.Installed && d.Request.Upgrade == nil && r.IntN(10) == 0 {
				d.Request.Upgrade = []cudf.Relation{q.name(v)}
			}
		}
		d.Packages = append(d.Packages, p)
	}
	return d
}

func (q *requester) name(v solver.Var) cudf.Relation { return cudf.Relation{Name: fmt.Sprint("p", v)} }

// version returns the package of the release as version 2, with relations to the
// packages that are in.
func (q *requester) version(v solver.Var, in []bool) cudf.Package {
	p := cudf.Package{Name: q.name(v).Name, Version: 2, Conflicts: []cudf.Relation{q.name(v)}}
	for _, needs := range q.Needs[v-1] {
		var clause cudf.Clause
		for _, number := range needs {
			for _, c := range q.meets(number) {
				clause = append(clause, q.name(c))
			}
		}
		p.Depends = append(p.Depends, clause)
	}
	for _, number := range q.Bars[v-1] {
		for _, other := range q.meets(number) {
			if other != v && in[other] {
				p.Conflicts = append(p.Conflicts, q.name(other))
			}
		}
	}
	for _, any := range q.recommends(v) {
		var clause cudf.Clause
		for _, c := range any {
			if in[c] {
				clause = append(clause, q.name(c))
			}
		}
		if clause != nil {
			p.Recommends = append(p.Recommends, clause)
		}
	}
	return p
}

// TestUpgrades compares the best upgrades of requests with aspcud's.
func TestUpgrades(t *testing.T) {
	upgrade.Tool(t)
	q := newRequester(t)
	upgrade.Compare(t, long.N(1, 500), func(i int) *cudf.Document { return q.request(t, i) })
}

// BenchmarkCUDF finds the best upgrade for requests made from the release, including
// the time to read them.
func BenchmarkCUDF(b *testing.B) {
	const criteria = "-removed,-new,-changed"
	path := upgrade.Tool(b)
	q := newRequester(b)
	var all []*cudf.Document
	var files []string
	for i := range 10 {
		d, file := q.request(b, i), filepath.Join(b.TempDir(), fmt.Sprint(i, ".cudf"))
		upgrade.Save(b, d, file)
		all, files = append(all, d), append(files, file)
		_, own := upgrade.Solve(b, file, criteria)
		theirs, _ := upgrade.Aspcud(b, path, file, d, criteria)
		if (own == nil) != (theirs == nil) || own != nil && !slices.Equal(own.Values, upgrade.Measure(d, criteria, theirs)) {
			b.Fatalf("request %d: another optimum than aspcud's", i)
		}
	}
	b.Run("fairlead/debian", func(b *testing.B) {
		measure(b, func() {
			for _, file := range files {
				upgrade.Solve(b, file, criteria)
			}
		})
		b.ReportMetric(float64(len(files)), "requests")
	})
	b.Run("aspcud/debian", func(b *testing.B) {
		measure(b, func() {
			for i, d := range all {
				_, took := upgrade.Aspcud(b, path, files[i], d, criteria)
				childCPU += took
			}
		})
	})
}
