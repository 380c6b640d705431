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

// broken asks of every package whether it can be installed.
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
	out, _ := exec.Command(path, append(args, file)...).Output() // fails where something is broken
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
		var theirs []string
		for _, name := range peer(t, raw, "can't install ", "installcheck", "amd64") {
			theirs = append(theirs, strings.TrimSuffix(name, ":"))
		}
		slices.Sort(theirs)
		if !slices.Equal(theirs, full) {
			t.Errorf("got %v", theirs)
		}
	})
	t.Run("dose", func(t *testing.T) {
		theirs := peer(t, raw, "package: ", "dose-debcheck", "--failures", "--deb-native-arch=amd64")
		slices.Sort(theirs)
		if !slices.Equal(theirs, own) {
			t.Errorf("got %v", theirs)
		}
	})
}

// BenchmarkDebian asks, of every package of the release, whether it can be
// installed. The peers read the list, too, and so does "fairlead/reading".
func BenchmarkDebian(b *testing.B) {
	raw, f := read(b)
	b.Run("fairlead/stating", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f.State()
		}
	})
	b.Run("fairlead/questions", func(b *testing.B) {
		p := f.State()
		b.ReportAllocs()
		for b.Loop() {
			broken(b, p)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*p.NumVars()), "ns/question")
	})
	b.Run("fairlead/libc6", func(b *testing.B) {
		p := f.State()
		session, err := solver.NewSession(p, nil)
		if err != nil {
			b.Fatal(err)
		}
		v, _ := p.Lookup("libc6")
		w := &solver.WhatIf{Require: []solver.Var{v}}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := session.Solve(context.Background(), w); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("fairlead/desktops", func(b *testing.B) {
		p := f.State()
		session, err := solver.NewSession(p, nil)
		if err != nil {
			b.Fatal(err)
		}
		w := &solver.WhatIf{}
		for _, name := range []string{"gnome", "kde-full", "xfce4"} {
			v, ok := p.Lookup(name)
			if !ok {
				b.Skipf("there is no %s", name)
			}
			w.Require = append(w.Require, v)
		}
		var s *solver.Solution
		b.ReportAllocs()
		for b.Loop() {
			if s, err = session.Solve(context.Background(), w); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(s.Len()), "packages")
	})
	b.Run("fairlead/reading", func(b *testing.B) {
		for b.Loop() {
			all, err := Read(bytes.NewReader(raw))
			if err != nil {
				b.Fatal(err)
			}
			broken(b, Parse(all).State())
		}
	})
	b.Run("libsolv", func(b *testing.B) {
		for b.Loop() {
			peer(b, raw, "can't install ", "installcheck", "amd64")
		}
	})
	b.Run("dose", func(b *testing.B) {
		for b.Loop() {
			peer(b, raw, "package: ", "dose-debcheck", "--failures", "--deb-native-arch=amd64")
		}
	})
}
