package debian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bench/cost"
	"github.com/fairlead/fairlead/solver"
)

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"1.0", "1.0", 0}, {"1.0", "1.1", -1}, {"1.10", "1.9", 1}, {"1:0.1", "2.0", 1}, {"1.0~rc1", "1.0", -1},
		{"1.0-1", "1.0-2", -1}, {"1.0-1", "1.0", 1}, {"1.0a", "1.0+", -1}, {"1.0", "1.0-0", 0}, {"01.0", "1.00", 0},
		{"1.0~~", "1.0~", -1}, {"a", "1", 1}, {"1.2.3-4+b1", "1.2.3-4", 1},
	} {
		if got := compare(test.a, test.b); got != test.want {
			t.Errorf("%s and %s: got %d", test.a, test.b, got)
		}
		if got := compare(test.b, test.a); got != -test.want {
			t.Errorf("%s and %s: got %d", test.b, test.a, got)
		}
	}
}

// text is the Packages file, as bytes.
var text = sync.OnceValues(func() ([]byte, error) {
	if path := os.Getenv("FAIRLEAD_DEBIAN"); path != "" {
		return os.ReadFile(path)
	}
	lists, _ := filepath.Glob("/var/lib/apt/lists/*debian_dists_*_main_binary-amd64_Packages*")
	for _, path := range lists {
		if strings.Contains(path, "-security") || strings.Contains(path, "-updates") {
			continue
		}
		return exec.Command("/usr/lib/apt/apt-helper", "cat-file", path).Output()
	}
	return nil, errors.New("no Debian package list: run apt-get update on Debian, or name a Packages file in FAIRLEAD_DEBIAN")
})

func read(t testing.TB) ([]byte, *Fields) {
	t.Helper()
	raw, err := text()
	if err != nil {
		t.Skip(err)
	}
	all, err := Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return raw, Parse(all)
}

// broken returns the packages that cannot be installed.
func broken(t testing.TB, p *solver.Problem) []solver.Var {
	session, err := solver.NewSession(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	var bad []solver.Var
	for v := solver.Var(1); int(v) <= p.NumVars(); v++ {
		_, err := session.Solve(context.Background(), &solver.WhatIf{Require: []solver.Var{v}})
		var unsat *solver.UnsatError
		switch {
		case errors.As(err, &unsat):
			bad = append(bad, v)
		case err != nil:
			t.Fatal(err)
		}
	}
	return bad
}

// childCPU is the processor time that child programs used.
var childCPU time.Duration

// peer runs a program on the list, and returns the names after a mark.
func peer(t testing.TB, raw []byte, mark string, name string, args ...string) []string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%v: apt-get install libsolv-tools dose-distcheck", err)
	}
	file := filepath.Join(t.TempDir(), "amd64.Packages")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(path, append(args, file)...)
	out, _ := command.Output() // fails if something is broken
	childCPU += command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	var names []string
	for line := range strings.Lines(string(out)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
			names = append(names, strings.TrimSpace(rest))
		}
	}
	return names
}

func TestBrokenPackages(t *testing.T) {
	raw, f := read(t)
	var own, full []string
	for _, v := range broken(t, f.State()) {
		p := f.Packages[v-1]
		own = append(own, p.Name)
		full = append(full, fmt.Sprintf("%s-%s.%s", p.Name, p.Version, p.Architecture))
	}
	slices.Sort(own)
	slices.Sort(full)
	t.Logf("%d of %d packages: %s", len(own), len(f.Packages), strings.Join(own, " "))
	t.Run("libsolv", func(t *testing.T) {
		if theirs := libsolv(t, raw); !slices.Equal(theirs, full) {
			t.Errorf("got %v", theirs)
		}
	})
	t.Run("dose", func(t *testing.T) {
		if theirs := dose(t, raw); !slices.Equal(theirs, own) {
			t.Errorf("got %v", theirs)
		}
	})
}

// libsolv returns what installcheck finds broken, as NAME-VERSION.ARCHITECTURE.
func libsolv(t testing.TB, raw []byte) []string {
	var names []string
	for _, name := range peer(t, raw, "can't install ", "installcheck", "amd64") {
		names = append(names, strings.TrimSuffix(name, ":"))
	}
	slices.Sort(names)
	return names
}

// dose returns the names of what dose-debcheck finds broken.
func dose(t testing.TB, raw []byte) []string {
	names := peer(t, raw, "package: ", "dose-debcheck", "--failures", "--deb-native-arch=amd64")
	slices.Sort(names)
	return names
}

// measure runs something as a benchmark, and reports processor time.
func measure(b *testing.B, run func()) {
	if strings.Contains(b.Name(), "/fairlead/") { // unknown for other programs
		b.ReportAllocs()
	}
	start := cost.CPU() + childCPU
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(cost.CPU()+childCPU-start)/float64(b.N), "cpu-ns/op")
}

// BenchmarkDebian checks for every package of the release whether it can be
// installed. "check" includes reading the list, as the peers do, and its answers are
// compared before it is timed. The parts of ours are timed after that.
func BenchmarkDebian(b *testing.B) {
	raw, f := read(b)
	p := f.State()
	var own, full []string
	judged := func(b *testing.B) {
		if full == nil {
			for _, v := range broken(b, p) {
				p := f.Packages[v-1]
				own = append(own, p.Name)
				full = append(full, fmt.Sprintf("%s-%s.%s", p.Name, p.Version, p.Architecture))
			}
			slices.Sort(own)
			slices.Sort(full)
		}
	}
	b.Run("fairlead/check", func(b *testing.B) {
		measure(b, func() {
			all, err := Read(bytes.NewReader(raw))
			if err != nil {
				b.Fatal(err)
			}
			broken(b, Parse(all).State())
		})
		b.ReportMetric(float64(p.NumVars()), "questions")
	})
	b.Run("libsolv/check", func(b *testing.B) {
		if judged(b); !slices.Equal(libsolv(b, raw), full) {
			b.Fatal("the answers differ: run the tests")
		}
		measure(b, func() { libsolv(b, raw) })
	})
	b.Run("dose/check", func(b *testing.B) {
		if judged(b); !slices.Equal(dose(b, raw), own) {
			b.Fatal("the answers differ: run the tests")
		}
		measure(b, func() { dose(b, raw) })
	})
	b.Run("fairlead/stating", func(b *testing.B) { measure(b, func() { f.State() }) })
	b.Run("fairlead/asking", func(b *testing.B) {
		measure(b, func() { broken(b, p) })
		b.ReportMetric(float64(p.NumVars()), "questions")
	})
	for _, w := range []struct {
		name  string
		wants []string
	}{{"libc6", []string{"libc6"}}, {"desktops", []string{"gnome", "kde-full", "xfce4"}}} {
		b.Run("fairlead/"+w.name, func(b *testing.B) {
			session, err := solver.NewSession(p, nil)
			if err != nil {
				b.Fatal(err)
			}
			ask := &solver.WhatIf{}
			for _, name := range w.wants {
				v, ok := p.Lookup(name)
				if !ok {
					b.Skipf("there is no %s", name)
				}
				ask.Require = append(ask.Require, v)
			}
			var s *solver.Solution
			measure(b, func() {
				if s, err = session.Solve(context.Background(), ask); err != nil {
					b.Fatal(err)
				}
			})
			b.ReportMetric(float64(s.Len()), "packages")
		})
	}
}
