package solver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
)

// candidates returns how many candidates the large problems have.
func candidates() int { return long.N(16_000, 60_000) }

// stretchMax returns how much work there may be between two checks of the
// context, in units of some nanoseconds (see withUnits): what takes some tenths
// of a millisecond, and one pass over the candidates and the constraints on
// them, which takes less.
func stretchMax() int64 { return 90_000 + 6*int64(candidates()) }

// TestStretch bounds how long the package works without checking the context.
// It tests a copy of the package with inserted statements that count every
// iteration of a loop and every call of a function: what counts is what the
// package does, not what it claims to do.
func TestStretch(t *testing.T) {
	if solver.Units() != nil {
		measureStretches(t)
		return
	}
	dir, files := t.TempDir(), make(map[string]string)
	put := func(name, text string) {
		at, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		files[at] = filepath.Join(dir, name)
		if err := os.WriteFile(files[at], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		if !strings.HasSuffix(name, "_test.go") && name != "poll.go" {
			put(name, withUnits(t, name))
		}
	}
	put("units.go", unitsOfLists)
	put("units_test.go", "package solver\n\nimport \"sync/atomic\"\n\nfunc Units() *atomic.Int64 { return &workDone }\n")
	list, err := json.Marshal(map[string]map[string]string{"Replace": files})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay", overlay, "-timeout", "0", "-run", "^TestStretch$", "-v", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// withUnits returns the text of a file with statements that count its work:
// iterations, calls, and what the standard library does to lists.
func withUnits(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	put := make(map[int]string) // by position
	around := func(x ast.Expr, by string) {
		put[fset.Position(x.Pos()).Offset] += by + "("
		put[fset.Position(x.End()).Offset] = ")" + put[fset.Position(x.End()).Offset]
	}
	ast.Inspect(file, func(n ast.Node) bool {
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.FuncDecl:
			body = n.Body
		case *ast.FuncLit:
			body = n.Body
		case *ast.ForStmt:
			body = n.Body
		case *ast.RangeStmt:
			body = n.Body
		case *ast.CallExpr:
			countLists(n, around)
		}
		if body != nil {
			put[fset.Position(body.Lbrace).Offset+1] += "workDone.Add(1);"
		}
		return true
	})
	for _, at := range slices.Backward(slices.Sorted(maps.Keys(put))) {
		text = slices.Insert(text, at, []byte(put[at])...)
	}
	return string(text)
}

// countLists has the lists counted that a call of a builtin, or of package
// slices, makes, copies or iterates over.
func countLists(call *ast.CallExpr, around func(x ast.Expr, by string)) {
	last := len(call.Args) - 1
	switch f := call.Fun.(type) {
	case *ast.Ident:
		list := last >= 1
		if list {
			_, list = call.Args[0].(*ast.ArrayType)
		}
		switch {
		case f.Name == "make" && list:
			around(call.Args[last], "workOf")
		case f.Name == "append" && last == 1:
			if call.Ellipsis.IsValid() {
				around(call.Args[1], "workIn")
			}
			around(call.Args[0], "workGrown")
		case f.Name == "copy":
			around(call.Args[1], "workIn")
		}
	case *ast.SelectorExpr:
		if of, ok := f.X.(*ast.Ident); !ok || of.Name != "slices" {
			return
		}
		switch f.Sel.Name {
		case "Clone", "Concat", "Contains", "ContainsFunc", "Equal", "Index", "IndexFunc", "Insert", "Reverse":
			around(call.Args[0], "workIn")
		case "Sort", "SortFunc", "SortStableFunc":
			around(call.Args[0], "workSorted")
		}
	}
}

// unitsOfLists defines how lists count: eight elements are one iteration;
// sorting n elements is n times the bit length of n.
const unitsOfLists = `package solver

import (
	"math/bits"
	"sync/atomic"
)

var workDone atomic.Int64

func workOf[T ~int | ~int32](n T) T { workDone.Add(int64(n) / 8); return n }

func workIn[S ~[]E, E any](s S) S { workDone.Add(int64(len(s)) / 8); return s }

func workSorted[S ~[]E, E any](s S) S { workDone.Add(int64(len(s) * bits.Len(uint(len(s))))); return s }

func workGrown[S ~[]E, E any](s S) S {
	if len(s) == cap(s) {
		workDone.Add(int64(len(s)) / 4)
	}
	return s
}
`

// A watched context records the longest stretches of work between two checks of
// it, by where they end. It ends at check number end, or never if that is 0.
type watched struct {
	context.Context
	cancel  context.CancelFunc
	end     int
	looks   int
	before  int64
	longest map[string]int64
	over    atomic.Bool // the call has returned: what it left behind looks in vain
}

func (w *watched) look() {
	w.looks++
	if w.looks == w.end {
		w.cancel()
	}
	w.note()
}

func (w *watched) note() {
	if w.over.Load() {
		return
	}
	now := solver.Units().Load()
	n := now - w.before
	w.before = now
	if n < stretchMax() {
		return
	}
	var callers [12]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers[:])])
	var where []string
	for len(where) < 5 {
		f, more := frames.Next()
		where = append(where, fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line))
		if !more {
			break
		}
	}
	at := strings.Join(where, " < ")
	w.longest[at] = max(w.longest[at], n)
}

func (w *watched) Err() error {
	w.look()
	return w.Context.Err()
}

func (w *watched) Done() <-chan struct{} {
	w.look()
	return w.Context.Done()
}

// measureStretches runs every kind of work, once to its end or for some time,
// and once stopped in the middle.
func measureStretches(t *testing.T) {
	most := long.N(1_000, 20_000)
	for _, w := range works() {
		longest := make(map[string]int64)
		looks := 0
		run := func(end int) {
			do := w.begin()
			if do == nil {
				return
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			own := &watched{Context: ctx, cancel: cancel, end: end, before: solver.Units().Load(), longest: longest}
			err := do(own)
			own.note()
			own.over.Store(true)
			if ended := errors.Is(err, context.Canceled); ended != (own.looks >= end) {
				t.Errorf("%s: to be ended at look %d, made %d, but got %v", w.name, end, own.looks, err)
			}
			looks = max(looks, own.looks)
		}
		run(most)
		run(1 + looks/2)
		t.Logf("%s: %d looks", w.name, looks)
		for at, n := range longest {
			t.Errorf("%s: %d units up to %s", w.name, n, at)
		}
	}
}

// A work is something that checks a context. What is done before it begins does
// not count; nil means that there is nothing to do.
type work struct {
	name  string
	what  string // is asked
	begin func() (do func(ctx context.Context) error)
}

// works returns every entry point, on random problems and on large ones.
func works() []work {
	n := candidates()
	all := slices.Concat(
		worksOn("upstream", upstream(256, 1)),
		worksOn("the last of many", func() *solver.Problem { return lastOf(n) }),
		worksOn("pigeons", func() *solver.Problem { return pigeons(10, 9) }),
		worksOn("a crowd", func() *solver.Problem { return crowd(10, 9) }),
		worksOn("everything", func() *solver.Problem {
			p := distribution(n)()
			for v := range n {
				p.Require(solver.Var(v+1), nil)
			}
			return p
		}),
	)
	for shape := range long.N(0, 5) {
		all = append(all, worksOn(fmt.Sprint("all fail ", shape), func() *solver.Problem { return allFail(n, shape) })...)
	}
	for seed := range uint64(long.N(4, 300)) {
		p := build(randomly(rand.New(rand.NewPCG(seed, 17))), 12)
		all = append(all, worksOn(fmt.Sprint("random ", seed), func() *solver.Problem { return p })...)
	}
	return all
}

// worksOn returns everything that can be asked about a problem.
func worksOn(name string, make func() *solver.Problem) []work {
	solved := sync.OnceValues(func() (*solver.Solution, error) {
		return solver.Solve(context.Background(), make(), &solver.Options{MaxConflicts: 1_000})
	})
	certified := sync.OnceValues(func() (*solver.Certificate, error) {
		s, err := solved()
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return s.Certificate(ctx)
	})
	var all []work
	add := func(what string, begin func() func(context.Context) error) {
		all = append(all, work{name + ", " + what, what, begin})
	}
	ask := func(what string, do func(ctx context.Context, p *solver.Problem) error) {
		add(what, func() func(context.Context) error {
			p := make()
			return func(ctx context.Context) error { return do(ctx, p) }
		})
	}
	of := func(what string, do func(ctx context.Context, s *solver.Solution) error) {
		add(what, func() func(context.Context) error {
			s, err := solved()
			if err != nil {
				return nil
			}
			return func(ctx context.Context) error { return do(ctx, s) }
		})
	}
	ask("Solve", func(ctx context.Context, p *solver.Problem) error { _, err := solver.Solve(ctx, p, nil); return err })
	ask("Refute", func(ctx context.Context, p *solver.Problem) error { _, err := p.Refute(ctx); return err })
	ask("Minimize", func(ctx context.Context, p *solver.Problem) error {
		_, err := solver.Minimize(ctx, p, everything(p), nil)
		return err
	})
	add("Session", func() func(context.Context) error {
		s, err := solver.NewSession(make(), nil)
		return func(ctx context.Context) error {
			if err != nil {
				return err
			}
			_, err := s.Solve(ctx, &solver.WhatIf{Drop: []int{0}})
			if errors.Is(err, context.Canceled) {
				return err
			}
			_, err = s.Solve(ctx, &solver.WhatIf{Forbid: []solver.Var{1}}) // may have no answer
			return err
		}
	})
	refused := func(what string, do func(ctx context.Context, e *solver.UnsatError) error) {
		add(what, func() func(context.Context) error {
			_, err := solved()
			var unsat *solver.UnsatError
			if !errors.As(err, &unsat) {
				return nil
			}
			return func(ctx context.Context) error { return do(ctx, unsat) }
		})
	}
	refused("Explain", func(ctx context.Context, e *solver.UnsatError) error { _, err := e.Explain(ctx, nil); return err })
	refused("Core", func(ctx context.Context, e *solver.UnsatError) error { _, _, err := e.Core(ctx, nil); return err })
	least := sync.OnceValues(func() (*solver.Optimum, error) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		p := make()
		return solver.Minimize(ctx, p, everything(p), nil)
	})
	proven := sync.OnceValues(func() (*solver.OptimumCertificate, error) {
		o, err := least()
		if err != nil {
			return nil, err
		}
		return o.Certificate(context.Background())
	})
	add("Optimum.Certificate", func() func(context.Context) error {
		o, err := least()
		if err != nil {
			return nil
		}
		return func(ctx context.Context) error { _, err := o.Certificate(ctx); return err }
	})
	add("CheckOptimum", func() func(context.Context) error {
		cert, err := proven()
		if err != nil {
			return nil
		}
		p := make()
		k := everything(p)
		return func(ctx context.Context) error { _, err := solver.CheckOptimum(ctx, p, k, cert); return err }
	})
	of("Certificate", func(ctx context.Context, s *solver.Solution) error { _, err := s.Certificate(ctx); return err })
	of("WhyNot", func(ctx context.Context, s *solver.Solution) error { _, err := s.WhyNot(ctx, 2, nil); return err })
	add("Check", func() func(context.Context) error {
		cert, err := certified()
		if err != nil {
			return nil
		}
		s, _ := solved()
		return func(ctx context.Context) error { return solver.Check(ctx, s.Problem(), cert) }
	})
	return all
}

// everything returns a criterion that counts what is selected.
func everything(p *solver.Problem) []solver.Criterion {
	k := solver.Criterion{Name: "selected"}
	for v := range p.NumVars() {
		k.Terms = append(k.Terms, solver.Term{Lit: solver.Var(v + 1).Yes(), Weight: int64(1 + v%3)})
	}
	return []solver.Criterion{k}
}

// lastOf makes a problem of one demand with n candidates, of which only the
// last one is possible.
func lastOf(n int) *solver.Problem {
	p := &solver.Problem{}
	s := p.NewVars(1)
	all := make([]solver.Var, n)
	for i := range all {
		all[i] = p.NewVars(1)
	}
	p.Require(s, nil)
	p.Depend(s, all, nil)
	p.Limit(1, all, nil)
	for _, v := range all[:n-1] {
		x, y := p.NewVars(1), p.NewVars(1)
		p.Depend(v, []solver.Var{x, y}, nil)
		p.Exclude(x, s, nil)
		p.Exclude(y, s, nil)
	}
	return p
}
