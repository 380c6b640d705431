package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

func main() {
	sample := flag.Int("sample", 0, "draw this many mutants of each package, instead of the chosen ones")
	seed := flag.Uint64("seed", 1, "the seed that mutants are drawn from")
	timeout := flag.Duration("timeout", 2*time.Minute, "limit for tests that -run or a row names")
	match := flag.String("match", "", "only mutants whose rule contains this text")
	tests := flag.String("run", "", "only tests that match this pattern, as with go test")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed, err := run(ctx, flag.Args(), *sample, *seed, *timeout, *match, *tests)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

// run tries the mutants of packages and prints a line for each. It reports
// whether a chosen one was not killed.
func run(ctx context.Context, patterns []string, sample int, seed uint64, timeout time.Duration, match, tests string) (failed bool, err error) {
	dirs, err := packages(patterns)
	if err != nil {
		return false, err
	}
	for _, dir := range dirs {
		var all []mutant
		if sample > 0 {
			all, err = draw(dir, sample, seed)
		} else {
			all, err = chosen(dir)
		}
		if err != nil {
			return false, err
		}
		all = slices.DeleteFunc(all, func(m mutant) bool { return !strings.Contains(m.rule, match) })
		if len(all) == 0 {
			continue
		}
		survived, err := judge(ctx, dir, all, timeout, tests)
		if err != nil {
			return false, err
		}
		failed = failed || survived && sample == 0
	}
	return failed, nil
}

// judge tries the mutants of a package, and prints a line for each. It reports whether one
// was not killed.
func judge(ctx context.Context, dir string, all []mutant, timeout time.Duration, tests string) (survived bool, err error) {
	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(temp)
	var clock fairlead.SystemClock
	start := clock.Now()
	s, err := newSuite(ctx, dir, all, temp, timeout)
	if err != nil {
		return false, err
	}
	if tests != "" {
		s.groups = []group{{tests, timeout}}
	}
	counts := map[verdict]int{}
	for i, m := range all {
		if tests != "" {
			m.tests = []string{"none"}
		}
		began := clock.Now()
		v, by, err := s.try(ctx, strconv.Itoa(i+1), &m)
		if err != nil {
			return false, err
		}
		counts[v]++
		survived = survived || v != killed
		fmt.Printf("%-14s %5.1f s  %s: %s  %s\n", v, clock.Now().Sub(began).Seconds(), m.where, m.rule, by)
	}
	fmt.Printf("%s: %d killed, %d alive, %d do not build, %d took too long, in %.0f s\n", dir, counts[killed], counts[alive], counts[unfit], counts[late], clock.Now().Sub(start).Seconds())
	return survived, nil
}

// packages returns the directories of the packages that match, or of all below
// the working directory if there are no patterns.
func packages(patterns []string) ([]string, error) {
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	out, err := exec.Command("go", append([]string{"list", "-f", "{{.Dir}}"}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", strings.Join(patterns, " "), err)
	}
	return strings.Fields(string(out)), nil
}
