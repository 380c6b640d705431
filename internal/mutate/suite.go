package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// suite is the tests of a package, in the order in which they are run: once one of
// them notices a mutant, the others are not run.
type suite struct {
	dir     string
	temp    string            // directory for builds
	timeout time.Duration     // for tests whose own time is not known
	groups  []group           // nil until measured
	binary  string            // of the batch
	own     map[string]string // binaries of mutants that are not in the batch, by number; "" if they do not build
}

// group is a set of tests that are run together.
type group struct {
	pattern string
	limit   time.Duration
}

// verdict is the result for a mutant.
type verdict string

const (
	killed verdict = "killed"
	alive  verdict = "ALIVE"
	unfit  verdict = "does not build"
	late   verdict = "took too long" // no test has failed, and not all have finished
)

// patience returns how long tests that take d without a mutant may take with one, on
// a busy machine.
func patience(d time.Duration) time.Duration { return 20*time.Second + 20*d }

// newSuite builds the tests of a package with mutants, which are numbered from 1.
func newSuite(ctx context.Context, dir string, mutants []mutant, temp string, timeout time.Duration) (*suite, error) {
	s := &suite{dir: dir, temp: temp, timeout: timeout, own: map[string]string{}}
	together := map[string]mutant{}
	for i, m := range mutants {
		together[strconv.Itoa(i+1)] = m
	}
	b, err := newBatch(together, os.ReadFile)
	if err != nil {
		return nil, err
	}
	in := map[string]bool{}
	for _, lines := range b.lines {
		for _, number := range lines {
			in[number] = true
		}
	}
	for number, m := range together {
		if in[number] {
			continue
		}
		delete(together, number)
		if s.own[number], _, err = s.build(ctx, "alone"+number, map[string][]byte{m.file: m.text}); err != nil {
			return nil, err
		}
	}
	for {
		var out []byte
		if s.binary, out, err = s.build(ctx, "batch", b.files); err != nil || s.binary != "" {
			return s, err
		}
		bad := b.blame(out)
		if len(bad) == 0 {
			return nil, fmt.Errorf("the tests of %s do not build: %s", dir, out)
		}
		for _, number := range bad {
			s.own[number] = ""
			delete(together, number)
		}
		if b, err = newBatch(together, os.ReadFile); err != nil {
			return nil, err
		}
	}
}

// blame returns the mutants that the output of the compiler complains about.
func (b *batch) blame(out []byte) (numbers []string) {
	files := slices.Sorted(maps.Keys(b.files))
	for _, m := range regexp.MustCompile(`(?m)\bbatch-(\d+)\.go:(\d+):`).FindAllSubmatch(out, -1) {
		at, _ := strconv.Atoi(string(m[1]))
		line, _ := strconv.Atoi(string(m[2]))
		if number := b.lines[files[at]][line]; number != "" && !slices.Contains(numbers, number) {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// try runs the tests with a mutant active until one fails, and returns that test. It
// begins with the tests that the mutant's row names, or with script tests if it names
// none.
func (s *suite) try(ctx context.Context, number string, m *mutant) (v verdict, by string, err error) {
	binary := s.binary
	if own, is := s.own[number]; is {
		binary = own
	}
	if binary == "" {
		return unfit, "", nil
	}
	first := "Script"
	if len(m.tests) > 0 {
		first = "^(" + strings.Join(m.tests, "|") + ")$"
	}
	if v, by = s.run(ctx, binary, number, group{first, s.timeout}); v != alive {
		return v, by, ctx.Err()
	}
	if s.groups == nil {
		if s.groups, err = s.measure(ctx); err != nil {
			return "", "", err
		}
	}
	for _, g := range s.groups {
		if v, by = s.run(ctx, binary, number, g); v != alive {
			return v, by, ctx.Err()
		}
	}
	return alive, "", ctx.Err()
}

// build builds the tests with other contents in place of files, and returns the path
// of the binary; or "" and the output of the compiler.
func (s *suite) build(ctx context.Context, name string, files map[string][]byte) (string, []byte, error) {
	overlay := map[string]string{}
	for i, file := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(s.temp, fmt.Sprintf("%s-%d.go", name, i))
		if err := os.WriteFile(path, files[file], 0o600); err != nil {
			return "", nil, err
		}
		overlay[file] = path
	}
	data, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return "", nil, err
	}
	list, binary := filepath.Join(s.temp, name+".json"), filepath.Join(s.temp, name+".test")
	if err := os.WriteFile(list, data, 0o600); err != nil {
		return "", nil, err
	}
	c := exec.CommandContext(ctx, "go", "test", "-c", "-ldflags=-s -w", "-overlay", list, "-o", binary, ".")
	c.Dir = s.dir
	if out, err := c.CombinedOutput(); err != nil {
		return "", out, ctx.Err()
	}
	return binary, nil, nil
}

// Lines of a test's output: tests that ended without a failure, and tests that
// failed.
const (
	endedLine = `(?m)^--- (?:PASS|SKIP): (\S+) \((\S+)\)$`
	failLine  = `(?m)^--- FAIL: (\S+)`
)

// run runs a group of tests. If none fails, the mutant is alive.
func (s *suite) run(ctx context.Context, binary, number string, g group) (v verdict, by string) {
	out, err := s.start(ctx, binary, number, "-test.failfast", "-test.timeout="+g.limit.String(), "-test.run="+g.pattern)
	switch by := regexp.MustCompile(failLine).FindSubmatch(out); {
	case err == nil:
		return alive, ""
	case strings.Contains(string(out), "panic: test timed out"):
		return late, ""
	case by != nil:
		return killed, string(by[1])
	}
	return killed, "a crash"
}

func (s *suite) start(ctx context.Context, binary, number string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, binary, args...)
	c.Dir, c.Env = s.dir, append(os.Environ(), numberVariable+"="+number)
	return c.CombinedOutput()
}

// measure runs all tests with no mutant active, and puts them into groups, the quickest
// first. It leaves out those that fail: a test that counts allocations may, because
// functions that select a mutant are not inlined.
func (s *suite) measure(ctx context.Context) ([]group, error) {
	binary := s.binary
	if len(s.own) > 0 && binary == "" {
		return nil, fmt.Errorf("there is no build of %s without a mutant", s.dir)
	}
	out, err := s.start(ctx, binary, "0", "-test.v", "-test.timeout=20m")
	if err != nil {
		fmt.Fprintf(os.Stderr, "mutate: %s: left out, because they fail without a mutant: %s\n", s.dir, regexp.MustCompile(failLine).FindAll(out, -1))
	}
	all, bad := groups(string(out))
	if bad == nil && len(all) == 0 && err != nil {
		bad = fmt.Errorf("the tests of %s fail without a mutant, so mutants cannot be judged: %w", s.dir, err)
	}
	return all, bad
}

// groups puts the tests in the output into groups: those under 100 milliseconds,
// those under a second, and each of the others by itself.
func groups(out string) ([]group, error) {
	type test struct {
		name  string
		takes time.Duration
	}
	var tests []test
	for _, line := range regexp.MustCompile(endedLine).FindAllStringSubmatch(out, -1) {
		takes, err := time.ParseDuration(line[2])
		if err != nil {
			return nil, fmt.Errorf("the time of %q: %w", line[0], err)
		}
		tests = append(tests, test{line[1], takes})
	}
	slices.SortStableFunc(tests, func(a, b test) int { return cmp.Compare(a.takes, b.takes) })
	all := []group{}
	var names []string
	var sum time.Duration
	end := func() {
		if len(names) > 0 {
			all = append(all, group{"^(" + strings.Join(names, "|") + ")$", patience(sum)})
		}
		names, sum = nil, 0
	}
	for i, t := range tests {
		if i > 0 && (t.takes >= time.Second || t.takes >= 100*time.Millisecond && tests[i-1].takes < 100*time.Millisecond) {
			end()
		}
		names, sum = append(names, t.name), sum+t.takes
	}
	end()
	return all, nil
}
