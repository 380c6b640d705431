package debian

import (
	"context"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/fairlead/fairlead/solver"
)

// A watched context records the processor time that a thread uses between two checks
// of the context, which is the longest delay before it would notice cancellation.
type watched struct {
	context.Context
	thread int
	before time.Duration
	gaps   []time.Duration
}

func (w *watched) look() {
	if syscall.Gettid() != w.thread {
		return // the SAT engine, which nothing waits for
	}
	now := threadCPU()
	w.gaps = append(w.gaps, now-w.before)
	w.before = threadCPU()
}

func (w *watched) Err() error {
	w.look()
	return w.Context.Err()
}

func (w *watched) Done() <-chan struct{} {
	w.look()
	return w.Context.Done()
}

func threadCPU() time.Duration {
	const ofThread = 3 // CLOCK_THREAD_CPUTIME_ID
	var t syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, ofThread, uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano())
}

// BenchmarkStop reports the longest time between two checks of the context, as the
// median of the runs and the longest of all: for three desktops, for those with
// something that cannot be installed, and for the whole release.
func BenchmarkStop(b *testing.B) {
	_, f := read(b)
	stated := func(wants ...solver.Var) *solver.Problem {
		p := f.State()
		for _, v := range wants {
			p.Require(v, nil)
		}
		return p
	}
	p := f.State()
	desktops, everything := []solver.Var(nil), []solver.Var(nil)
	for _, name := range []string{"gnome", "kde-full", "xfce4"} {
		if v, ok := p.Lookup(name); ok {
			desktops = append(desktops, v)
		}
	}
	for v := range p.NumVars() {
		everything = append(everything, solver.Var(v+1))
	}
	fails := broken(b, p)[0]
	fewest := solver.Criterion{Name: "selected"}
	for v := range p.NumVars() {
		fewest.Terms = append(fewest.Terms, solver.Term{Lit: solver.Var(v + 1).Yes(), Weight: 1})
	}
	criteria := []solver.Criterion{fewest}
	type ask = func(ctx context.Context) error
	solved := func() *solver.Solution {
		s, err := solver.Solve(context.Background(), stated(desktops...), nil)
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	solve := func(wants []solver.Var) func() ask {
		return func() ask {
			p := stated(wants...)
			return func(ctx context.Context) error { _, err := solver.Solve(ctx, p, nil); return err }
		}
	}
	for _, w := range []struct {
		name  string
		begin func() ask
	}{
		{"Solve", solve(desktops)},
		{"Solve/broken", solve(append(slices.Clip(desktops), fails))},
		{"Solve/everything", solve(everything)},
		{"Session", func() ask {
			s, err := solver.NewSession(f.State(), nil)
			if err != nil {
				b.Fatal(err)
			}
			return func(ctx context.Context) error {
				_, err := s.Solve(ctx, &solver.WhatIf{Require: append(slices.Clip(desktops), fails)})
				return err
			}
		}},
		{"Refute", func() ask {
			p := stated(everything...)
			return func(ctx context.Context) error { _, err := p.Refute(ctx); return err }
		}},
		{"Certificate", func() ask {
			s := solved()
			return func(ctx context.Context) error { _, err := s.Certificate(ctx); return err }
		}},
		{"Check", func() ask {
			s := solved()
			cert, err := s.Certificate(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			p := stated(desktops...)
			return func(ctx context.Context) error { return solver.Check(ctx, p, cert) }
		}},
		{"WhyNot", func() ask {
			s := solved()
			var other solver.Var
			for _, step := range s.Steps() {
				if step.Rank > 0 {
					other = step.Demand.Lits[slices.IndexFunc(step.Demand.Lits, solver.Lit.Selects)].Var()
				}
			}
			return func(ctx context.Context) error { _, err := s.WhyNot(ctx, other, nil); return err }
		}},
		{"Minimize", func() ask {
			p := stated(desktops...)
			return func(ctx context.Context) error { _, err := solver.Minimize(ctx, p, criteria, nil); return err }
		}},
		{"Optimum", func() ask {
			p := stated(desktops...)
			o, err := solver.Minimize(context.Background(), p, criteria, nil)
			if err != nil {
				b.Fatal(err)
			}
			return func(ctx context.Context) error {
				cert, err := o.Certificate(ctx)
				if err == nil {
					_, err = solver.CheckOptimum(ctx, p, criteria, cert)
				}
				return err
			}
		}},
	} {
		b.Run(w.name, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var longest []time.Duration
			for b.Loop() {
				do := w.begin()
				runtime.GC()
				ctx, cancel := context.WithCancel(context.Background())
				own := &watched{Context: ctx, thread: syscall.Gettid(), before: threadCPU()}
				if err := do(own); ctx.Err() != nil {
					b.Fatal(err)
				}
				own.look()
				cancel()
				longest = append(longest, slices.Max(own.gaps))
			}
			slices.Sort(longest)
			b.ReportMetric(float64(longest[len(longest)/2]), "median-ns")
			b.ReportMetric(float64(longest[len(longest)-1]), "longest-ns")
		})
	}
}
