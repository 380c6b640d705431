package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/solver"
)

// school is what a timetable is made for.
type school struct {
	rooms   int
	courses []course
	apart   [][]string // courses that the same students take
}

type course struct {
	name, teacher string
	times         []string // that suit, best first
}

// read reads a school, a line a fact:
//
//	rooms 2
//	course algebra Noether Mon-9 Mon-11 Tue-9
//	apart algebra physics
//
// Empty lines and what follows a # are skipped.
func read(r io.Reader) (*school, error) {
	s := &school{rooms: 1}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if words := strings.Fields(text); len(words) > 0 {
			if err := s.add(words[0], words[1:]); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
	}
	return s, lines.Err()
}

func (s *school) add(fact string, words []string) error {
	switch {
	case fact == "rooms" && len(words) == 1:
		n, err := strconv.Atoi(words[0])
		if err != nil || n < 1 {
			return fmt.Errorf("rooms %s: want a number of at least 1", words[0])
		}
		s.rooms = n
	case fact == "course" && len(words) >= 3:
		if s.has(words[0]) {
			return fmt.Errorf("course %s is there already", words[0])
		}
		s.courses = append(s.courses, course{words[0], words[1], words[2:]})
	case fact == "apart" && len(words) >= 2:
		for _, name := range words {
			if !s.has(name) {
				return fmt.Errorf("apart: there is no course %s above", name)
			}
		}
		s.apart = append(s.apart, words)
	default:
		return fmt.Errorf(`%q: want "rooms N", "course NAME TEACHER TIME ..." or "apart COURSE COURSE ..."`, fact)
	}
	return nil
}

func (s *school) has(name string) bool {
	return slices.ContainsFunc(s.courses, func(c course) bool { return c.name == name })
}

// fact is a reason of which a head of school can say what would do away with
// it; effort tells how much that asks.
type fact struct {
	text, advice string
	effort       int
}

func (f fact) String() string        { return f.text }
func (f fact) Advice() (string, int) { return f.advice, f.effort }

// lesson is a course at a time: what the solver selects.
type lesson struct {
	course course
	time   string
}

// plan is a school as the solver sees it.
type plan struct {
	solver.Problem
	lessons []lesson
	vars    []solver.Var // of the lessons
	times   []string     // in the order in which courses name them
}

// state states the school as a problem. The first course chooses first.
func (s *school) state() *plan {
	p := &plan{}
	for _, c := range s.courses {
		subject := p.Var(c.name)
		p.Require(subject, fact{c.name + " must be taught", "drop " + c.name, 5})
		var times []solver.Var
		for _, time := range c.times {
			v := p.Var(c.name + " at " + time)
			times = append(times, v)
			if !slices.Contains(p.vars, v) {
				p.lessons, p.vars = append(p.lessons, lesson{c, time}), append(p.vars, v)
			}
			if !slices.Contains(p.times, time) {
				p.times = append(p.times, time)
			}
		}
		p.Depend(subject, times, fact{
			fmt.Sprintf("%s suits %s at %s only", c.name, c.teacher, strings.Join(c.times, ", ")),
			"find another time for " + c.name, 1,
		})
	}
	for _, time := range p.times {
		s.limit(p, time)
	}
	return p
}

// limit says what cannot be at the same time.
func (s *school) limit(p *plan, time string) {
	at := func(where func(course) bool) (vars []solver.Var) {
		for i, l := range p.lessons {
			if l.time == time && where(l.course) {
				vars = append(vars, p.vars[i])
			}
		}
		return vars
	}
	all := at(func(course) bool { return true })
	if len(all) > s.rooms {
		p.Limit(s.rooms, all, fact{fmt.Sprintf("rooms at %s: %d", time, s.rooms), "find one more room at " + time, 2})
	}
	var teachers []string
	for _, c := range s.courses {
		if slices.Contains(teachers, c.teacher) {
			continue
		}
		teachers = append(teachers, c.teacher)
		if busy := at(func(o course) bool { return o.teacher == c.teacher }); len(busy) > 1 {
			p.Limit(1, busy, solver.Text(c.teacher+" teaches one course at a time"))
		}
	}
	for _, courses := range s.apart {
		if shared := at(func(c course) bool { return slices.Contains(courses, c.name) }); len(shared) > 1 {
			names := strings.Join(courses, " and ")
			p.Limit(1, shared, fact{"the same students take " + names, "let no student take both of " + names, 4})
		}
	}
}
