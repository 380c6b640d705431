package cost

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

// Task is work that is measured in a process of its own.
type Task struct {
	Name string                                      // by which the process finds the task
	Run  func(ctx context.Context, arg string) error // does it
}

// Process is what a process used for a task.
type Process struct {
	CPU, Clock time.Duration // for the task alone
	Peak       int64         // bytes of memory, the program's own included
}

// childEnv is the environment variable that names the task for [Child].
const childEnv = "FAIRLEAD_BENCH_TASK"

// Child runs the task that the environment names, prints what it used, and returns
// true; it returns false in a process that [Run] did not start.
func Child(ctx context.Context, tasks ...Task) (bool, error) {
	name := os.Getenv(childEnv)
	if name == "" {
		return false, nil
	}
	i := slices.IndexFunc(tasks, func(t Task) bool { return t.Name == name })
	if i < 0 {
		return true, fmt.Errorf("there is no task %q", name)
	}
	clock, cpu := time.Now(), CPU()
	if err := tasks[i].Run(ctx, os.Args[1]); err != nil {
		return true, fmt.Errorf("%s: %w", name, err)
	}
	cpu = CPU() - cpu
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprintln(out, int64(cpu), int64(time.Since(clock)), Peak())
	return true, out.Flush()
}

// Run runs a task in a process of its own: the same program, which must call Child.
func Run(ctx context.Context, task, arg string) (Process, error) {
	self, err := os.Executable()
	if err != nil {
		return Process{}, err
	}
	var out, fault bytes.Buffer
	cmd := exec.CommandContext(ctx, self, arg)
	cmd.Env = append(os.Environ(), childEnv+"="+task)
	cmd.Stdout, cmd.Stderr = &out, &fault
	if err := cmd.Run(); err != nil {
		return Process{}, fmt.Errorf("%s: %w: %s", task, err, fault.Bytes())
	}
	var cpu, clock, peak int64
	if _, err := fmt.Fscan(&out, &cpu, &clock, &peak); err != nil {
		return Process{}, fmt.Errorf("%s: %w", task, err)
	}
	return Process{time.Duration(cpu), time.Duration(clock), peak}, nil
}

// RunAll runs tasks several times, in turns, after a first round that warms the
// system's file cache, and returns the medians of each.
func RunAll(ctx context.Context, rounds int, arg string, tasks ...string) ([]Process, error) {
	all := make([][]Process, len(tasks))
	for round := range rounds + 1 {
		for i, t := range tasks {
			p, err := Run(ctx, t, arg)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				all[i] = append(all[i], p)
			}
		}
	}
	medians := make([]Process, len(tasks))
	for i, ps := range all {
		medians[i].CPU = median(ps, func(p Process) time.Duration { return p.CPU })
		medians[i].Clock = median(ps, func(p Process) time.Duration { return p.Clock })
		medians[i].Peak = median(ps, func(p Process) int64 { return p.Peak })
	}
	return medians, nil
}

func median[T int64 | time.Duration](ps []Process, of func(Process) T) T {
	var values []T
	for _, p := range ps {
		values = append(values, of(p))
	}
	slices.Sort(values)
	return values[len(values)/2]
}
