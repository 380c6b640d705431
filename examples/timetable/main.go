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
	"os"
	"strings"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/solver"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program but for the process around it.
func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("timetable", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	why := flags.String("why", "", "")
	files, err := args.Parse(flags, arguments)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stdout, "usage: timetable FILE [-why COURSE]")
		return 0
	case err == nil && len(files) != 1:
		err = errors.New("name one file (-h shows the usage)")
	}
	var s *school
	if err == nil {
		s, err = open(files[0])
	}
	if err == nil {
		err = answer(ctx, stdout, s, *why)
	}
	var unsat *solver.UnsatError
	switch {
	case errors.As(err, &unsat):
		return 1 // it has been explained
	case err != nil:
		fmt.Fprintln(stderr, "timetable:", err)
		return 2
	}
	return 0
}

func open(file string) (*school, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// answer prints a timetable, or why there is none; then the error is the
// *solver.UnsatError.
func answer(ctx context.Context, w io.Writer, s *school, why string) error {
	if why != "" && !s.has(why) {
		return fmt.Errorf("-why %s: there is no such course", why)
	}
	p := s.state()
	solution, err := solver.Solve(ctx, &p.Problem, nil)
	var unsat *solver.UnsatError
	if errors.As(err, &unsat) {
		explanation, err := unsat.Explain(ctx, nil)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, strings.TrimSpace(explanation.String())); err != nil {
			return err
		}
		return unsat
	}
	if err != nil {
		return err
	}
	if why != "" {
		return p.printWhy(ctx, w, solution, why)
	}
	return p.print(w, solution)
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
