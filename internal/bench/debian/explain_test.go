package debian

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver"
)

// explanationLines is the maximum number of lines that explain why a package cannot
// be installed.
const explanationLines = 12

// TestExplanations explains every broken package of the release in a few lines that
// name it, and what is missing if that is the cause.
func TestExplanations(t *testing.T) {
	_, f := read(t)
	p := f.State()
	session, err := solver.NewSession(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range broken(t, p) {
		_, err := session.Solve(context.Background(), &solver.WhatIf{Require: []solver.Var{v}})
		var unsat *solver.UnsatError
		if !errors.As(err, &unsat) {
			t.Fatal(err)
		}
		e, err := unsat.Explain(context.Background(), &solver.ExplainOptions{MaxConflicts: 1, MaxFixes: -1})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSpace(e.String())
		if lines := strings.Count(text, "\n") + 1; lines > explanationLines {
			t.Errorf("%s: %d lines", p.Name(v), lines)
		}
		if !strings.Contains(text, p.Name(v)) {
			t.Errorf("%s is not named:\n%s", p.Name(v), text)
		}
		if strings.Contains(text, "does not exist") {
			t.Errorf("%s: what is missing has no name:\n%s", p.Name(v), text)
		}
		t.Log(text)
	}
}
