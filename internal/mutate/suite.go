package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// suite is the tests of a package, in the order in which they are run: who notices a
// mutant soon keeps the others from being run at all.
type suite struct {
	dir     string
	timeout time.Duration // for the tests whose own time is not known
	groups  []group       // nil until they were measured
}

// group is tests that are run together.
type group struct {
	pattern string
	limit   time.Duration
}

// verdict is what became of a mutant.
type verdict string

const (
	killed verdict = "killed"
	alive  verdict = "ALIVE"
	unfit  verdict = "does not build"
	late   verdict = "took too long" // no test has failed, and not all have ended
)

// patience is how much longer than without a mutant tests may take on a busy machine.
func patience(d time.Duration) time.Duration { return 20*time.Second + 20*d }

// try runs the tests with a mutant in the package, first those that its row names, until
// one fails. It returns that test.
func (s *suite) try(ctx context.Context, m mutant) (v verdict, by string, err error) {
	temp, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(temp)
	binary, err := s.build(ctx, temp, &m)
	if err != nil || binary == "" {
		return unfit, "", err
	}
	if len(m.tests) > 0 {
		if v, by = s.run(ctx, binary, group{"^(" + strings.Join(m.tests, "|") + ")$", s.timeout}); v != alive {
			return v, by, ctx.Err()
		}
	}
	if s.groups == nil {
		if s.groups, err = s.measure(ctx); err != nil {
			return "", "", err
		}
	}
	for _, g := range s.groups {
		if v, by = s.run(ctx, binary, g); v != alive {
			return v, by, ctx.Err()
		}
	}
	return alive, "", ctx.Err()
}

// build builds the tests with a mutant, or as they are, and returns the binary; "" if they
// do not build with the mutant.
func (s *suite) build(ctx context.Context, temp string, m *mutant) (string, error) {
	binary := filepath.Join(temp, "package.test")
	args := []string{"test", "-c", "-ldflags=-s -w", "-o", binary}
	if m != nil {
		changed, list := filepath.Join(temp, "changed.go"), filepath.Join(temp, "overlay.json")
		overlay, err := json.Marshal(map[string]map[string]string{"Replace": {m.file: changed}})
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(changed, m.text, 0o600); err != nil {
			return "", err
		}
		if err := os.WriteFile(list, overlay, 0o600); err != nil {
			return "", err
		}
		args = append(args, "-overlay", list)
	}
	c := exec.CommandContext(ctx, "go", append(args, ".")...)
	c.Dir = s.dir
	switch out, err := c.CombinedOutput(); {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil && m == nil:
		return "", fmt.Errorf("the tests of %s do not build: %s", s.dir, out)
	case err != nil:
		return "", nil
	}
	return binary, nil
}

// Lines of a test's output: what ended, and what has failed.
const (
	endedLine = `(?m)^--- (?:PASS|SKIP): (\S+) \((\S+)\)$`
	failLine  = `(?m)^--- FAIL: (\S+)`
)

// run runs a group of tests. A mutant with which none fails is alive.
func (s *suite) run(ctx context.Context, binary string, g group) (v verdict, by string) {
	out, err := s.start(ctx, binary, "-test.failfast", "-test.timeout="+g.limit.String(), "-test.run="+g.pattern)
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

func (s *suite) start(ctx context.Context, binary string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, binary, args...)
	c.Dir = s.dir
	return c.CombinedOutput()
}

// measure runs all tests as they are, and puts them into groups, the quickest first.
func (s *suite) measure(ctx context.Context) ([]group, error) {
	temp, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	binary, err := s.build(ctx, temp, nil)
	if err != nil {
		return nil, err
	}
	out, err := s.start(ctx, binary, "-test.v", "-test.timeout=20m")
	if err != nil {
		fails := regexp.MustCompile(failLine).FindAll(out, -1)
		return nil, fmt.Errorf("the tests of %s fail without a mutant, so that nothing can be said of mutants: %s %w", s.dir, fails, err)
	}
	return groups(string(out))
}

// groups puts the tests that an output tells of into groups: those that take no time,
// those that take a little, and each other by itself.
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
	slices.SortStableFunc(tests, func(a, b test) int { return int(a.takes - b.takes) })
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
