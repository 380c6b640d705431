package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

func main() {
	sample := flag.Int("sample", 0, "draw so many mutants of each package, instead of the chosen ones")
	seed := flag.Uint64("seed", 1, "what they are drawn from")
	timeout := flag.Duration("timeout", 2*time.Minute, "for the tests of one mutant")
	match := flag.String("match", "", "only those whose rule has this text in it")
	tests := flag.String("run", "", "only the tests of this pattern, as go test has it")
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

// verdict is what became of a mutant.
type verdict string

const (
	killed verdict = "killed"
	alive  verdict = "ALIVE"
	unfit  verdict = "does not build"
	late   verdict = "took too long" // to build and to test: nobody knows
)

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
		var clock fairlead.SystemClock
		counts := map[verdict]int{}
		start := clock.Now()
		for _, m := range all {
			if !strings.Contains(m.rule, match) {
				continue
			}
			v, err := try(ctx, dir, m, timeout, tests)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return false, err
			}
			counts[v]++
			failed = failed || v != killed && sample == 0
			fmt.Printf("%-14s  %s: %s\n", v, m.where, m.rule)
		}
		if len(counts) > 0 {
			fmt.Printf("%s: %d killed, %d alive, %d do not build, %d took too long, in %.0f s\n", dir, counts[killed], counts[alive], counts[unfit], counts[late], clock.Now().Sub(start).Seconds())
		}
	}
	return failed, nil
}

// packages returns the directories of packages, those with chosen mutants if none
// is named.
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

// try runs the tests of a package, those of a pattern, with a mutant in it.
func try(ctx context.Context, dir string, m mutant, timeout time.Duration, tests string) (verdict, error) {
	temp, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	changed := filepath.Join(temp, "changed.go")
	if err := os.WriteFile(changed, m.text, 0o600); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {m.file: changed}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout+time.Minute)
	defer cancel()
	// A mutant may loop for ever: the time limit of go test counts as noticed.
	c := exec.CommandContext(ctx, "go", "test", "-overlay", list, "-failfast", "-timeout", timeout.String(), "-run", tests, ".")
	c.Dir = dir
	out, err := c.CombinedOutput()
	switch {
	case err == nil:
		return alive, nil
	case strings.Contains(string(out), "[build failed]"), strings.Contains(string(out), "[setup failed]"):
		return unfit, nil
	case ctx.Err() != nil && !strings.Contains(string(out), "FAIL"):
		return late, nil
	}
	return killed, nil
}
