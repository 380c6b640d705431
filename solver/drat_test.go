package solver_test

import (
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

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
)

// numbers parses clauses or lemmas from their text form.
func numbers(t *testing.T, text string) (all [][]int) {
	var clause []int
	for line := range strings.Lines(text) {
		if line[0] == 'p' {
			continue
		}
		for _, w := range strings.Fields(line) {
			n := 0
			if _, err := fmt.Sscan(w, &n); err != nil {
				t.Fatal(err)
			}
			if clause = append(clause, n); n == 0 {
				all, clause = append(all, clause[:len(clause)-1]), nil
			}
		}
	}
	return all
}

// follows reports whether a clause follows from others by unit propagation.
func follows(clauses [][]int, clause []int) bool {
	holds := make(map[int]bool)
	for _, l := range clause {
		holds[-l] = true
	}
	for changed := true; changed; {
		changed = false
		for _, c := range clauses {
			if slices.ContainsFunc(c, func(l int) bool { return holds[l] }) {
				continue
			}
			open := slices.DeleteFunc(slices.Clone(c), func(l int) bool { return holds[-l] })
			switch len(slices.Compact(open)) {
			case 0:
				return true
			case 1:
				holds[open[0]], changed = true, true
			}
		}
	}
	return false
}

// TestDRAT checks proofs of random problems without an answer, from their texts
// alone: lemma by lemma with a naive checker, and with drat-trim if it is
// installed.
func TestDRAT(t *testing.T) {
	trim, _ := exec.LookPath("drat-trim")
	refuted, lemmas := 0, 0
	for seed := range uint64(long.N(15, 2000)) {
		r := rand.New(rand.NewPCG(seed, 3))
		vars := 6 + r.IntN(20)
		var cnf strings.Builder
		clauses := vars * 5
		fmt.Fprintf(&cnf, "p cnf %d %d\n", vars, clauses)
		for range clauses {
			for _, v := range r.Perm(vars)[:3] {
				fmt.Fprintf(&cnf, "%d ", (v+1)*(1-2*r.IntN(2)))
			}
			cnf.WriteString("0\n")
		}
		p, err := solver.ReadDIMACS(strings.NewReader(cnf.String()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := solver.Solve(context.Background(), p, nil); !errors.As(err, new(*solver.UnsatError)) {
			continue
		}
		refutation, err := p.Refute(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var proof strings.Builder
		if err := refutation.WriteDRAT(&proof); err != nil {
			t.Fatal(err)
		}
		refuted++
		known := numbers(t, cnf.String())
		all := numbers(t, proof.String())
		if last := all[len(all)-1]; len(last) > 0 {
			t.Errorf("seed %d: the proof ends with %v", seed, last)
		}
		for _, lemma := range all {
			if !follows(known, lemma) {
				t.Fatalf("seed %d: %v does not follow\n%s%s", seed, lemma, cnf.String(), proof.String())
			}
			known = append(known, lemma)
			lemmas++
		}
		if trim == "" {
			continue
		}
		dir := t.TempDir()
		files := []string{filepath.Join(dir, "cnf"), filepath.Join(dir, "drat")}
		for i, text := range []string{cnf.String(), proof.String()} {
			if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if out, _ := exec.Command(trim, files...).CombinedOutput(); !strings.Contains(string(out), "s VERIFIED") {
			t.Errorf("seed %d: drat-trim: %s", seed, out)
		}
	}
	t.Logf("%d proofs of %d lemmas; drat-trim: %q", refuted, lemmas, trim)
	if refuted < 5 {
		t.Errorf("%d problems without an answer are few", refuted)
	}
}
