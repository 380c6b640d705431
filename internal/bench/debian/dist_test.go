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
	"testing"

	"github.com/fairlead/fairlead/solver"
)

// A machine runs one release of Debian, and is to be upgraded to the next.
type machine struct {
	status []byte // its packages, as paragraphs of the list of its release
	next   []byte // the list of the next release
}

// A move is what becomes of the names that are installed, and what is added.
type move struct {
	behind  int // names that the next release has, and that are not at its version afterwards
	removed int // names of which no version remains
	added   int // names that were not installed
}

// report adds the move to a benchmark's line.
func (m move) report(b *testing.B) {
	b.ReportMetric(float64(m.behind), "behind")
	b.ReportMetric(float64(m.removed), "removed")
	b.ReportMetric(float64(m.added), "added")
}

// costs are what is counted, the most important first.
func (m move) costs() []int { return []int{m.behind, m.removed, m.added} }

// desktop returns a machine that has three desktops, a compiler, two databases and a
// web server. The list of the next release is named by FAIRLEAD_DEBIAN_NEXT.
func desktop(t testing.TB) machine {
	t.Helper()
	path := os.Getenv("FAIRLEAD_DEBIAN_NEXT")
	if path == "" {
		t.Skip("FAIRLEAD_DEBIAN_NEXT names no Packages file of the release after this machine's")
	}
	next, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw, f := read(t)
	p := f.State()
	ask := &solver.WhatIf{}
	for _, name := range []string{"init", "apt", "bash", "coreutils", "login", "util-linux", "gnome", "kde-full", "xfce4",
		"build-essential", "postgresql", "mariadb-server", "apache2", "php", "python3-django"} {
		v, ok := p.Lookup(name)
		if !ok {
			t.Skipf("the list of this machine has no %s", name)
		}
		ask.Require = append(ask.Require, v)
	}
	session, err := solver.NewSession(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	have, err := session.Solve(context.Background(), ask)
	if err != nil {
		t.Fatal(err)
	}
	var status bytes.Buffer
	at := 0
	for paragraph := range bytes.SplitSeq(raw, []byte("\n\n")) {
		if !bytes.HasPrefix(paragraph, []byte("Package: ")) {
			continue
		}
		if at++; have.Has(solver.Var(at)) {
			line, rest, _ := bytes.Cut(paragraph, []byte("\n"))
			fmt.Fprintf(&status, "%s\nStatus: install ok installed\n%s\n\n", line, rest)
		}
	}
	return machine{status.Bytes(), next}
}

// A question is the machine and the next release as one universe: the packages that
// the next release has in the same version count as its own.
type question struct {
	*statement
	installed []bool // by package
	latest    []bool // by package: it is the highest of its name in the next release
	next      int    // how many packages are of the next release; the others follow
}

func (m machine) question(t testing.TB) *question {
	old, err := Read(bytes.NewReader(m.status))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Read(bytes.NewReader(m.next))
	if err != nil {
		t.Fatal(err)
	}
	at := make(map[string]int, len(all))      // by name and version
	highest := make(map[string]int, len(all)) // by name
	for i, p := range all {
		at[p.Name+" "+p.Version] = i
		if h, ok := highest[p.Name]; !ok || compare(all[h].Version, p.Version) < 0 {
			highest[p.Name] = i
		}
	}
	q := &question{installed: make([]bool, len(all), len(all)+len(old)), latest: make([]bool, len(all), len(all)+len(old))}
	for _, i := range highest {
		q.latest[i] = true
	}
	q.next = len(all)
	for _, p := range old {
		if i, ok := at[p.Name+" "+p.Version]; ok {
			q.installed[i] = true
			continue
		}
		all = append(all, p)
		q.installed, q.latest = append(q.installed, true), append(q.latest, false)
	}
	q.statement = Parse(all).statement()
	return q
}

// move returns what a selection means for the machine.
func (q *question) move(has func(solver.Var) bool) move {
	var m move
	for _, versions := range q.named {
		had, remains, known, newest := false, false, false, false
		for _, v := range versions {
			had = had || q.installed[v-1]
			remains = remains || has(v)
			known = known || q.latest[v-1]
			newest = newest || q.latest[v-1] && has(v)
		}
		switch {
		case !had && remains:
			m.added++
		case had && known && !newest:
			m.behind++
		}
		if had && !remains {
			m.removed++
		}
	}
	return m
}

// solve leaves as few behind as can be, then removes as few, then adds as few.
func (q *question) solve(t testing.TB) *solver.Optimum {
	behind, removed, added := solver.Criterion{Name: "behind"}, solver.Criterion{Name: "removed"}, solver.Criterion{Name: "added"}
	for _, versions := range q.named {
		if !slices.ContainsFunc(versions, func(v solver.Var) bool { return q.installed[v-1] }) {
			for _, v := range versions {
				added.Terms = append(added.Terms, solver.Term{Lit: v.Yes(), Weight: 1})
			}
			continue
		}
		remains := q.p.NewVar("a version of it")
		q.p.Depend(remains, versions, nil)
		removed.Terms = append(removed.Terms, solver.Term{Lit: remains.No(), Weight: 1})
		for _, v := range versions {
			if q.latest[v-1] {
				behind.Terms = append(behind.Terms, solver.Term{Lit: v.No(), Weight: 1})
			}
		}
	}
	best, err := solver.Minimize(context.Background(), q.p, []solver.Criterion{behind, removed, added}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return best
}

// broken returns the first relation that a selection breaks, or "". It shares nothing
// with the solver.
func (q *question) broken(has func(solver.Var) bool) string {
	for i := range q.Packages {
		v := solver.Var(i + 1)
		if !has(v) {
			continue
		}
		for _, clause := range q.Needs[i] {
			if !slices.ContainsFunc(clause, func(r int32) bool { return slices.ContainsFunc(q.meets(r), has) }) {
				return fmt.Sprintf("%s %s lacks %v", q.Packages[i].Name, q.Packages[i].Version, q.Relations[clause[0]])
			}
		}
		for _, r := range q.Bars[i] {
			for _, other := range q.meets(r) {
				if other != v && has(other) {
					return fmt.Sprintf("%s %s beside %s %s", q.Packages[i].Name, q.Packages[i].Version, q.Packages[other-1].Name, q.Packages[other-1].Version)
				}
			}
		}
	}
	for _, versions := range q.named {
		n := 0
		for _, v := range versions {
			if has(v) {
				n++
			}
		}
		if n > 1 {
			return q.Packages[versions[0]-1].Name + " in two versions"
		}
	}
	return ""
}

// selection returns what a peer leaves installed: names to versions.
func (q *question) selection(t testing.TB, versions map[string]string) func(solver.Var) bool {
	has := make([]bool, len(q.Packages)+1)
	found := 0
	for i, p := range q.Packages {
		if versions[p.Name] == p.Version {
			has[i+1] = true
			found++
		}
	}
	if found != len(versions) {
		t.Fatalf("%d of the %d packages that it selects are known", found, len(versions))
	}
	return func(v solver.Var) bool { return int(v) < len(has) && has[v] }
}

// before returns what is installed.
func (q *question) before() map[string]string {
	have := make(map[string]string)
	for i, p := range q.Packages {
		if q.installed[i] {
			have[p.Name] = p.Version
		}
	}
	return have
}

// apt prepares the machine for "apt-get dist-upgrade", and returns what asks, up to the
// question whether to go on: what follows is ordering, which the others do not do.
func (m machine) apt(t testing.TB) func() []byte {
	path, err := exec.LookPath("apt-get")
	if err != nil {
		t.Skip(err)
	}
	root := t.TempDir()
	write := func(name string, text []byte) {
		name = filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, text, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write("status", m.status)
	write("next/Packages", m.next)
	write("sources.list", []byte("deb [trusted=yes] file:"+root+"/next ./\n"))
	write("lists/partial/.keep", nil)
	write("cache/archives/partial/.keep", nil)
	options := []string{"-o", "Dir::State=" + root, "-o", "Dir::State::status=" + root + "/status", "-o", "Dir::State::lists=" + root + "/lists",
		"-o", "Dir::Cache=" + root + "/cache", "-o", "Dir::Etc::sourcelist=" + root + "/sources.list", "-o", "Dir::Etc::sourceparts=/dev/null",
		"-o", "Dir::Etc::preferencesparts=/dev/null", "-o", "APT::Architecture=amd64", "-o", "APT::Architectures=amd64",
		"-o", "APT::Install-Recommends=false", "-o", "APT::Sandbox::User=root", "-o", "Debug::NoLocking=true"}
	run := func(args ...string) []byte {
		command := exec.Command(path, append(options[:len(options):len(options)], args...)...)
		command.Env = append(os.Environ(), "LC_ALL=C")
		var said bytes.Buffer
		command.Stderr = &said
		out, err := command.Output()
		if err != nil && !bytes.Contains(out, []byte("Do you want to continue?")) {
			t.Fatalf("%v\n%s", err, said.Bytes())
		}
		childCPU += command.ProcessState.UserTime() + command.ProcessState.SystemTime()
		return out
	}
	run("update")
	return func() []byte { return run("-V", "--assume-no", "dist-upgrade") }
}

// applyApt applies what "apt-get -V" lists to names and their versions.
func applyApt(out []byte, have map[string]string) {
	section := ""
	for line := range strings.Lines(string(out)) {
		name, versions, ok := strings.Cut(strings.TrimSpace(line), " (")
		if !strings.HasPrefix(line, "   ") || !ok {
			section = line
			continue
		}
		versions = strings.TrimSuffix(versions, ")")
		if _, next, ok := strings.Cut(versions, " => "); ok {
			versions = next
		}
		name = strings.TrimSuffix(name, "*")
		switch {
		case strings.Contains(section, "will be REMOVED"):
			delete(have, name)
		case strings.Contains(section, "will be installed"), strings.Contains(section, "will be upgraded"), strings.Contains(section, "DOWNGRADED"):
			have[name] = versions
		}
	}
}

// testtags writes packages in the format of libsolv's tests.
func (q *question) testtags(keep func(int) bool) []byte {
	var out bytes.Buffer
	out.WriteString("=Ver: 3.0\n")
	dep := func(r *Relation) string {
		if r.Op == "" {
			return r.Name
		}
		op := map[string]string{"<<": "<", "<": "<=", "<=": "<=", "=": "=", ">=": ">=", ">": ">=", ">>": ">"}[r.Op]
		return r.Name + " " + op + " " + r.Version
	}
	for i, p := range q.Packages {
		if !keep(i) {
			continue
		}
		fmt.Fprintf(&out, "=Pkg: %s %s - %s\n=Prv: %[1]s = %[2]s\n", p.Name, p.Version, p.Architecture)
		for _, r := range q.Offers[i] {
			fmt.Fprintf(&out, "=Prv: %s\n", dep(&q.Relations[r]))
		}
		for _, clause := range q.Needs[i] {
			var any []string
			for _, r := range clause {
				any = append(any, dep(&q.Relations[r]))
			}
			fmt.Fprintf(&out, "=Req: %s\n", strings.Join(any, " | "))
		}
		for _, r := range q.Bars[i] {
			fmt.Fprintf(&out, "=Con: %s\n", dep(&q.Relations[r]))
		}
	}
	return out.Bytes()
}

// libsolv prepares libsolv's testsolv, and returns what asks.
func (q *question) libsolv(t testing.TB) func() []byte {
	path, err := exec.LookPath("testsolv")
	if err != nil {
		t.Skipf("%v: apt-get install libsolv-tools", err)
	}
	root := t.TempDir()
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(root, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("system.repo", q.testtags(func(i int) bool { return q.installed[i] }))
	write("next.repo", q.testtags(func(i int) bool { return i < q.next }))
	write("case.t", []byte("repo system 0 testtags system.repo\nrepo next 0 testtags next.repo\nsystem amd64 deb system\n"+
		"solverflags allowuninstall ignorerecommended\njob distupgrade all packages\nresult transaction,problems <inline>\n"))
	return func() []byte {
		command := exec.Command(path, "-r", filepath.Join(root, "case.t"))
		out, err := command.Output()
		if err != nil && len(out) == 0 {
			t.Fatal(err)
		}
		childCPU += command.ProcessState.UserTime() + command.ProcessState.SystemTime()
		return out
	}
}

// applyLibsolv applies what "testsolv -r" prints to names and their versions.
func (q *question) applyLibsolv(out []byte, have map[string]string) {
	named := make(map[string]int, len(q.Packages))
	for i, p := range q.Packages {
		named[p.Name+"-"+p.Version+"."+p.Architecture] = i
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		for i, word := range words[1:] {
			name, repo, _ := strings.Cut(word, "@")
			at, ok := named[name]
			switch {
			case !ok:
			case repo == "next":
				have[q.Packages[at].Name] = q.Packages[at].Version
			case words[0] == "erase" && i == 0:
				delete(have, q.Packages[at].Name)
			}
		}
	}
}

// BenchmarkDistUpgrade upgrades a machine to the next release of Debian, including
// reading both lists. Every answer is checked, and ours has to be the best.
func BenchmarkDistUpgrade(b *testing.B) {
	m := desktop(b)
	q := m.question(b)
	own := q.move(q.solve(b).Solution.Has)
	b.Run("fairlead/desktop", func(b *testing.B) {
		var has func(solver.Var) bool
		measure(b, func() { has = m.question(b).solve(b).Solution.Has })
		if what := q.broken(has); what != "" {
			b.Fatal(what)
		}
		own.report(b)
	})
	peer := func(name string, ask func() []byte, apply func([]byte, map[string]string)) {
		b.Run(name+"/desktop", func(b *testing.B) {
			var out []byte
			measure(b, func() { out = ask() })
			have := q.before()
			apply(out, have)
			has := q.selection(b, have)
			theirs := q.move(has)
			if theirs.report(b); q.broken(has) != "" {
				b.ReportMetric(1, "broken")
				return
			}
			if slices.Compare(theirs.costs(), own.costs()) < 0 {
				b.Errorf("%s leaves behind, removes and adds %d, ours %d", name, theirs.costs(), own.costs())
			}
		})
	}
	peer("libsolv", q.libsolv(b), q.applyLibsolv)
	peer("apt", m.apt(b), applyApt)
}
