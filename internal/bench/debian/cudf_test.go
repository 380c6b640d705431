package debian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bench/cost"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
	"github.com/fairlead/fairlead/solver/cudf"
)

// request makes an upgrade problem of the release: some packages are installed,
// with what they need, and others are asked for. It holds what those reach. A
// package has one version, relations are lists of names.
func request(t testing.TB, s *statement, session *solver.Session, r *rand.Rand) *cudf.Document {
	draw := func(n int) *solver.WhatIf {
		w := &solver.WhatIf{}
		for range n {
			w.Require = append(w.Require, solver.Var(1+r.IntN(len(s.Packages))))
		}
		return w
	}
	var have *solver.Solution
	for have == nil {
		solution, err := session.Solve(context.Background(), draw(10))
		if err != nil && !errors.As(err, new(*solver.UnsatError)) {
			t.Fatal(err)
		}
		have = solution
	}
	wanted := draw(3)
	in := make([]bool, len(s.Packages)+1)
	var queue []solver.Var
	reach := func(v solver.Var) {
		if !in[v] {
			in[v] = true
			queue = append(queue, v)
		}
	}
	for v := range have.Selected() {
		reach(v)
	}
	for _, v := range wanted.Require {
		reach(v)
	}
	for at := 0; at < len(queue); at++ {
		for _, clause := range s.Needs[queue[at]-1] {
			for _, relation := range clause {
				for _, v := range s.meets(relation) {
					reach(v)
				}
			}
		}
	}
	slices.Sort(queue)
	name := func(v solver.Var) cudf.Relation { return cudf.Relation{Name: fmt.Sprint("p", v)} }
	d := &cudf.Document{}
	for _, v := range queue {
		p := cudf.Package{Name: name(v).Name, Version: 1, Installed: have.Has(v)}
		for _, needs := range s.Needs[v-1] {
			var clause cudf.Clause
			for _, relation := range needs {
				for _, c := range s.meets(relation) {
					clause = append(clause, name(c))
				}
			}
			p.Depends = append(p.Depends, clause)
		}
		for _, relation := range s.Bars[v-1] {
			for _, other := range s.meets(relation) {
				if other != v && in[other] {
					p.Conflicts = append(p.Conflicts, name(other))
				}
			}
		}
		d.Packages = append(d.Packages, p)
	}
	for _, v := range wanted.Require {
		d.Request.Install = append(d.Request.Install, name(v))
	}
	return d
}

const threeCriteria = "-removed,-new,-changed"

// aspcud returns what its upgrade of a document in a file measures by the three
// criteria, or nil where there is none.
func aspcud(t testing.TB, path, file string, d *cudf.Document) []int64 {
	command := exec.Command(path, "-c", threeCriteria, file)
	out, err := command.Output()
	childCPU += command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	if err != nil {
		t.Fatal(err)
	}
	text := string(out)
	if strings.Contains(text, "FAIL") {
		return nil
	}
	installed := make(map[string]bool)
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "package: "); ok {
			installed[strings.TrimSpace(name)] = true
		}
	}
	values := make([]int64, 3)
	for _, p := range d.Packages {
		switch {
		case p.Installed && !installed[p.Name]:
			values[0]++
		case !p.Installed && installed[p.Name]:
			values[1]++
		default:
			continue
		}
		values[2]++
	}
	return values
}

// requests returns what makes them, by number, each with its file.
func requests(t testing.TB) (next func(i int) (*cudf.Document, string)) {
	_, f := read(t)
	s := f.statement()
	session, err := solver.NewSession(f.State(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return func(i int) (*cudf.Document, string) {
		d := request(t, s, session, rand.New(rand.NewPCG(uint64(i), 63440)))
		var text bytes.Buffer
		if err := d.Write(&text); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, fmt.Sprint(i, ".cudf"))
		if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return d, file
	}
}

// upgrade reads a document and solves it; nil where there is no upgrade.
func upgrade(t testing.TB, file string) *cudf.Result {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := cudf.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	criteria, err := cudf.ParseCriteria(threeCriteria)
	if err != nil {
		t.Fatal(err)
	}
	result, err := d.Solve(context.Background(), criteria, nil)
	if errors.As(err, new(*solver.UnsatError)) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// values are what an upgrade measures by the criteria, or nil where there is none.
func values(r *cudf.Result) []int64 {
	if r == nil {
		return nil
	}
	return r.Values
}

// certified verifies the proof that an upgrade is the best.
func certified(t testing.TB, d *cudf.Document, r *cudf.Result) {
	cert, err := r.Certificate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	criteria, err := cudf.ParseCriteria(threeCriteria)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := d.Check(context.Background(), criteria, cert)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(shown.Values, r.Values) || !slices.Equal(shown.Installed, r.Installed) {
		t.Errorf("the certificate is of another upgrade: %v, not %v", shown.Values, r.Values)
	}
}

func tool(t testing.TB) string {
	path, err := exec.LookPath("aspcud")
	if err != nil {
		t.Skipf("%v: apt-get install aspcud", err)
	}
	return path
}

// TestUpgrades compares the optimum of requests with that of aspcud, and has the
// proofs of all of them verified.
func TestUpgrades(t *testing.T) {
	path := tool(t)
	next, count := requests(t), long.N(3, 1000)
	met := 0
	var ours time.Duration
	before := childCPU
	for i := range count {
		d, file := next(i)
		start := cost.CPU()
		own := upgrade(t, file)
		ours += cost.CPU() - start
		if theirs := aspcud(t, path, file, d); !slices.Equal(values(own), theirs) {
			t.Errorf("request %d: %v, aspcud %v", i, values(own), theirs)
		}
		if own != nil {
			met++
			certified(t, d, own)
		}
		if n := i + 1; n%50 == 0 || n == count {
			t.Logf("%d requests, %d of them met and certified, the optimum of %s compared with aspcud's: %v of the processors, aspcud %v",
				n, met, threeCriteria, ours, childCPU-before)
		}
	}
}

// BenchmarkCUDF finds the best upgrade for requests made of the release, with
// reading them.
func BenchmarkCUDF(b *testing.B) {
	path := tool(b)
	var all []*cudf.Document
	var files []string
	next := requests(b)
	for i := range 10 {
		d, file := next(i)
		all, files = append(all, d), append(files, file)
		if own, theirs := values(upgrade(b, files[i])), aspcud(b, path, files[i], d); !slices.Equal(own, theirs) {
			b.Fatalf("request %d: %v, aspcud %v", i, own, theirs)
		}
	}
	b.Run("fairlead/debian", func(b *testing.B) {
		measure(b, func() {
			for _, file := range files {
				upgrade(b, file)
			}
		})
		b.ReportMetric(float64(len(files)), "requests")
	})
	b.Run("aspcud/debian", func(b *testing.B) {
		measure(b, func() {
			for i, d := range all {
				aspcud(b, path, files[i], d)
			}
		})
	})
}
