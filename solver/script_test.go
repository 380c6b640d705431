package solver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/solver"
)

// The scripts under testdata state a problem, one constraint per line,
//
//	require a               forbid a
//	a needs b c             exclude a b
//	limit 1 a b c           any !a b c
//	var a                   (only makes the variable)
//
// each optionally with a reason after a colon, and run one of:
//
//	solve     the names selected, or the explanation as text
//	core      the core, one constraint per line
//	json dot mermaid        the explanation in that form
//	why v     how v came to be selected, one step per line
//	whynot v  why v is not
//	certificate             the proof that the answer is the best one
func TestScripts(t *testing.T) {
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string { return script(t, c) }
	})
}

func script(t *testing.T, c *golden.Command) string {
	p := parse(t, c.Input)
	var out strings.Builder
	s, err := solver.Solve(context.Background(), p, nil)
	var unsat *solver.UnsatError
	switch {
	case errors.As(err, &unsat):
		x, err := unsat.Explain(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		checkExplanation(t, x, 25)
		switch c.Name {
		case "solve":
			err = x.WriteText(&out)
		case "core":
			for _, k := range x.Conflicts[0].Core {
				fmt.Fprintln(&out, k)
			}
		case "json":
			err = x.WriteJSON(&out)
		case "dot":
			err = x.WriteDOT(&out)
		case "mermaid":
			err = x.WriteMermaid(&out)
		default:
			t.Fatalf("%s: unknown command %s", c.Pos, c.Name)
		}
		if err != nil {
			t.Fatal(err)
		}
	case err != nil:
		return err.Error()
	default:
		return inspect(t, c, p, s)
	}
	return out.String()
}

// inspect runs a command on an answer.
func inspect(t *testing.T, c *golden.Command, p *solver.Problem, s *solver.Solution) string {
	var out strings.Builder
	var v solver.Var
	if words := c.Words(); len(words) > 0 {
		v, _ = p.Lookup(words[0])
	}
	switch c.Name {
	case "why":
		for _, step := range s.Why(v) {
			fmt.Fprintln(&out, step)
		}
	case "whynot":
		r, err := s.WhyNot(context.Background(), v, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r == nil {
			return p.Name(v) + " is selected"
		}
		fmt.Fprintf(&out, "%s: %s", r.Kind, r)
	case "certificate":
		cert, err := s.Certificate(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if err := solver.Check(context.Background(), p, cert); err != nil {
			t.Error(err)
		}
		text, err := json.Marshal(cert)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	default:
		return selected(p, s)
	}
	return out.String()
}

func selected(p *solver.Problem, s *solver.Solution) string {
	names := []string{"selected:"}
	for v := range s.Selected() {
		names = append(names, p.Name(v))
	}
	return strings.Join(names, " ")
}

// checkExplanation checks what must hold for every explanation.
func checkExplanation(t testing.TB, x *solver.Explanation, linesMax int) {
	t.Helper()
	text := x.String()
	if n := strings.Count(text, "\n"); n > linesMax {
		t.Errorf("%d lines:\n%s", n, text)
	}
	for _, c := range x.Conflicts {
		stated := make(map[int]int)
		var count func(all []*solver.Statement)
		count = func(all []*solver.Statement) {
			for _, s := range all {
				for _, k := range s.Constraints {
					stated[k.ID]++
				}
				if s.Text == "" {
					t.Errorf("an empty line in\n%s", text)
				}
				count(s.Children)
			}
		}
		count(c.Tree)
		for _, k := range c.Core {
			if stated[k.ID] != 1 {
				t.Errorf("constraint %d (%v) is stated %d times:\n%s", k.ID, k, stated[k.ID], text)
			}
		}
		if len(stated) != len(c.Core) {
			t.Errorf("%d constraints stated of a core of %d", len(stated), len(c.Core))
		}
	}
}

func parse(t testing.TB, text string) *solver.Problem {
	p := &solver.Problem{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line, why, _ := strings.Cut(lines.Text(), ":")
		var reason fmt.Stringer
		if why != "" {
			reason = solver.Text(strings.TrimSpace(why))
		}
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		switch why := strings.TrimSpace(why); {
		case why == "":
		case w[0] == "require":
			reason = solver.Advised(why, "do not require "+strings.Join(w[1:], " "), 20)
		case w[0] == "forbid":
			reason = solver.Advised(why, "allow "+strings.Join(w[1:], " "), 10)
		}
		vars := func(names []string) []solver.Var {
			var all []solver.Var
			for _, name := range names {
				all = append(all, p.Var(name))
			}
			return all
		}
		switch {
		case w[0] == "var":
			vars(w[1:])
		case w[0] == "require":
			p.Require(p.Var(w[1]), reason)
		case w[0] == "forbid":
			p.Forbid(p.Var(w[1]), reason)
		case w[0] == "exclude":
			p.Exclude(p.Var(w[1]), p.Var(w[2]), reason)
		case w[0] == "limit":
			n, err := strconv.Atoi(w[1])
			if err != nil {
				t.Fatal(err)
			}
			p.Limit(n, vars(w[2:]), reason)
		case w[0] == "any":
			var lits []solver.Lit
			for _, name := range w[1:] {
				if denied, ok := strings.CutPrefix(name, "!"); ok {
					lits = append(lits, p.Var(denied).No())
				} else {
					lits = append(lits, p.Var(name).Yes())
				}
			}
			p.Any(lits, reason)
		case len(w) > 1 && w[1] == "needs":
			v := p.Var(w[0])
			p.Depend(v, vars(w[2:]), reason)
		default:
			t.Fatalf("unknown constraint %q", line)
		}
	}
	return p
}
