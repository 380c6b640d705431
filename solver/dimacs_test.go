package solver_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fairlead/fairlead/solver"
)

func TestReadDIMACS(t *testing.T) {
	p, err := solver.ReadDIMACS(strings.NewReader("c three\np cnf 3 1\n1 2 3 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	if p.NumVars() != 3 || p.NumConstraints() != 1 || p.Constraint(0).Demand() != "1, 2 or 3 is required" {
		t.Errorf("got %d variables and\n%s", p.NumVars(), describe(p))
	}
	p, err = solver.ReadDIMACS(strings.NewReader("p cnf 3 4\n1 -2\n 0 2 3 0 -3\n0\n-1 -2 3 0"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := solver.Solve(context.Background(), p, nil); err == nil {
		t.Errorf("an answer to\n%s", describe(p))
	}
}

func TestReadDIMACSErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "line 1: the header is missing",
		"c nothing\n":               "line 2: the header is missing",
		"1 2 0\n":                   "line 1: a clause before the header",
		"p cnf 3 0\n":               "line 2: there are no clauses",
		"p cnf 3\n":                 "line 1: the header is not of the form",
		"p dnf 3 1\n":               "line 1: the header is not of the form",
		"p cnf x 1\n":               "line 1: the header is not of the form",
		"p cnf 3 -1\n":              "line 1: the header is not of the form",
		"p cnf 99999999 1\n":        "line 1: 99999999 variables: at most",
		"p cnf 3 1\np cnf 3 1\n":    "line 2: a second header",
		"p cnf 3 1\n1 2\n":          "line 3: the last clause has no end",
		"p cnf 3 2\n1 2 0\n":        "line 3: 1 clauses, but the header says 2",
		"p cnf 3 1\n1 4 0\n":        "line 2: variable 4: the header announces 3",
		"p cnf 3 1\n1 -4 0\n":       "line 2: variable -4: the header announces 3",
		"p cnf 3 1\n1 two 0\n":      `line 2: "two" is not a number`,
		"p cnf 3 1\n1 2147483650 0": "line 2: variable 2147483650",
	} {
		_, err := solver.ReadDIMACS(strings.NewReader(text))
		var wrong *solver.DIMACSError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	broken := errors.New("broken")
	if _, err := solver.ReadDIMACS(iotest.ErrReader(broken)); err != broken {
		t.Errorf("got %v", err)
	}
}

func FuzzReadDIMACS(f *testing.F) {
	f.Add("c x\np cnf 2 2\n1 -2 0\n2 0\n")
	f.Add("p cnf 0 1\n0\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			return
		}
		p, err := solver.ReadDIMACS(strings.NewReader(text))
		if err != nil || p.NumVars() > 12 {
			return
		}
		compare(t, func(n int) int { return len(text) % n }, p)
	})
}
