// Timetable finds times for the courses of a school, such that nobody and no
// room is in two places at once, and the courses that are named first get the
// best times:
//
//	timetable FILE [-why COURSE]
//
// Where there is no such timetable it says why not, and what would help. With
// -why it says why a course is not at a better time. Flags may stand before or
// after the file; its lines are described at the function read.
//
// The exit status is 0 if there is a timetable, 1 if there is none, and 2 if
// the input is bad.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/solver"
)

func main() { args.Main(run) }

// run is the program but for the process around it.
func run(ctx context.Context, arguments []string, _ io.Reader, stdout, stderr io.Writer) int {
	var why *string
	program := args.File[*school]{
		Name:  "timetable",
		Usage: "usage: timetable FILE [-why COURSE]",
		Flags: func(flags *flag.FlagSet) { why = flags.String("why", "", "") },
		Read:  read,
		Do:    func(ctx context.Context, w io.Writer, s *school) (int, error) { return answer(ctx, w, s, *why) },
	}
	return program.Run(ctx, arguments, stdout, stderr)
}

// answer prints a timetable, or why there is none.
func answer(ctx context.Context, w io.Writer, s *school, why string) (int, error) {
	if why != "" && !s.has(why) {
		return 0, fmt.Errorf("-why %s: there is no such course", why)
	}
	p := s.state()
	solution, err := solver.Solve(ctx, &p.Problem, nil)
	var unsat *solver.UnsatError
	if errors.As(err, &unsat) {
		explanation, err := unsat.Explain(ctx, nil)
		if err == nil {
			_, err = fmt.Fprintln(w, strings.TrimSpace(explanation.String()))
		}
		return args.StatusFindings, err
	}
	if err != nil {
		return 0, err
	}
	if why != "" {
		return args.StatusFine, p.printWhy(ctx, w, solution, why)
	}
	return args.StatusFine, p.print(w, solution)
}

func (p *plan) print(w io.Writer, solution *solver.Solution) error {
	for _, time := range p.times {
		var lessons []string
		for i, l := range p.lessons {
			if l.time == time && solution.Has(p.vars[i]) {
				lessons = append(lessons, fmt.Sprintf("%s (%s)", l.course.name, l.course.teacher))
			}
		}
		line := fmt.Sprintf("%-8s%s", time, strings.Join(lessons, ", "))
		if _, err := fmt.Fprintln(w, strings.TrimSpace(line)); err != nil {
			return err
		}
	}
	return nil
}

// printWhy says why a course has none of the times that would suit it better.
func (p *plan) printWhy(ctx context.Context, w io.Writer, solution *solver.Solution, name string) error {
	for i, l := range p.lessons {
		if l.course.name != name {
			continue
		}
		if solution.Has(p.vars[i]) {
			_, err := fmt.Fprintf(w, "%s is at %s.\n", name, l.time)
			return err
		}
		refusal, err := solution.WhyNot(ctx, p.vars[i], nil)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, strings.TrimSpace(refusal.String())); err != nil {
			return err
		}
	}
	return nil
}
