package hard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/go-air/gini"
	"github.com/go-air/gini/z"

	"github.com/fairlead/fairlead/internal/bench/cost"
	"github.com/fairlead/fairlead/solver"
)

// A verdict is whether a problem has an answer.
type verdict int

const (
	unknown verdict = iota
	yes
	no
)

// A peer decides problems.
type peer struct {
	name string
	// decide returns the verdict and what it cost, or unknown if ctx ended first.
	decide func(ctx context.Context, p *solver.Problem) (verdict, time.Duration, error)
}

// peers returns ours and those that the machine has.
func peers() []peer {
	all := []peer{{"fairlead", decide}, {"gini", askGini}}
	for _, name := range []string{"minisat", "cadical"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		all = append(all, peer{name, func(ctx context.Context, p *solver.Problem) (verdict, time.Duration, error) {
			return run(ctx, p, path)
		}})
	}
	return all
}

// decide asks for the best answer, as users do.
func decide(ctx context.Context, p *solver.Problem) (verdict, time.Duration, error) {
	before := cost.CPU()
	_, err := solver.Solve(ctx, p, nil)
	took := cost.CPU() - before
	switch {
	case err == nil:
		return yes, took, nil
	case errors.As(err, new(*solver.UnsatError)):
		return no, took, nil
	case errors.As(err, new(*solver.IncompleteError)):
		return unknown, took, nil
	}
	return unknown, took, err
}

func askGini(ctx context.Context, p *solver.Problem) (verdict, time.Duration, error) {
	c := clausesOf(p)
	before := cost.CPU()
	g := gini.NewVc(c.vars+2, len(c.clauses)+2)
	for _, clause := range c.clauses {
		for _, l := range clause {
			g.Add(z.Dimacs2Lit(int(l)))
		}
		g.Add(z.LitNull)
	}
	patience := time.Hour
	if end, ok := ctx.Deadline(); ok {
		patience = time.Until(end)
	}
	result := g.Try(patience)
	took := cost.CPU() - before
	switch {
	case result > 0:
		return yes, took, nil
	case result < 0:
		return no, took, nil
	}
	return unknown, took, nil
}

// run asks a program that reads DIMACS and whose status is 10 or 20.
func run(ctx context.Context, p *solver.Problem, path string) (verdict, time.Duration, error) {
	dir, err := os.MkdirTemp("", "hard")
	if err != nil {
		return unknown, 0, err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "problem.cnf")
	f, err := os.Create(name)
	if err != nil {
		return unknown, 0, err
	}
	if err := errors.Join(clausesOf(p).write(f), f.Close()); err != nil {
		return unknown, 0, err
	}
	cmd := exec.CommandContext(ctx, path, name)
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return unknown, 0, err
	}
	took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	switch code := cmd.ProcessState.ExitCode(); {
	case code == 10:
		return yes, took, nil
	case code == 20:
		return no, took, nil
	case ctx.Err() != nil:
		return unknown, took, nil
	default:
		return unknown, took, fmt.Errorf("%s: status %d", path, code)
	}
}
