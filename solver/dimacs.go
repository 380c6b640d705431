package solver

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A DIMACSError reports text that is not a problem in DIMACS format.
type DIMACSError struct {
	Line int    // from 1
	What string // what is wrong, and how to fix it
}

// Error reports what is wrong, and in which line.
func (e *DIMACSError) Error() string {
	return fmt.Sprintf("solver: DIMACS line %d: %s", e.Line, e.What)
}

// ReadDIMACS reads a problem in the format that SAT solvers share: comment
// lines that begin with c, a header "p cnf VARIABLES CLAUSES", then the
// clauses, each a list of variables, negative if denied, terminated by 0. The
// variables are named by their numbers. Each clause becomes a [Problem.Any]
// with its literals in the order given.
//
// The problem has an answer if and only if the clauses can be satisfied. The
// answer selects no variable that is not called for.
//
// The error is [*DIMACSError] or that of r.
func ReadDIMACS(r io.Reader) (*Problem, error) {
	d := dimacs{p: &Problem{}}
	lines := bufio.NewReader(r)
	for {
		text, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		d.line++
		if bad := d.read(strings.Fields(text)); bad != nil {
			return nil, bad
		}
		if err == io.EOF {
			break
		}
	}
	switch {
	case !d.header:
		return nil, d.wrong(`the header is missing: begin with "p cnf VARIABLES CLAUSES"`)
	case len(d.clause) > 0:
		return nil, d.wrong("the last clause has no end: put a 0 after it")
	case d.p.NumConstraints() != d.clauses:
		return nil, d.wrong(fmt.Sprintf("%d clauses, but the header says %d: is the file cut off?", d.p.NumConstraints(), d.clauses))
	case d.clauses == 0:
		return nil, d.wrong("there are no clauses")
	}
	return d.p, nil
}

type dimacs struct {
	p       *Problem
	line    int
	header  bool
	clauses int
	clause  []Lit
}

// dimacsMax is how many variables a header may announce.
const dimacsMax = 1 << 24

func (d *dimacs) wrong(what string) *DIMACSError { return &DIMACSError{d.line, what} }

func (d *dimacs) read(words []string) error {
	switch {
	case len(words) == 0 || words[0][0] == 'c':
		return nil
	case words[0] == "p":
		return d.begin(words)
	case !d.header:
		return d.wrong(`a clause before the header "p cnf VARIABLES CLAUSES"`)
	}
	for _, w := range words {
		n, err := strconv.ParseInt(w, 10, 64)
		switch {
		case err != nil:
			return d.wrong(fmt.Sprintf("%q is not a number", w))
		case n == 0:
			d.p.Any(d.clause, nil)
			d.clause = d.clause[:0]
		case n < -int64(d.p.NumVars()) || n > int64(d.p.NumVars()):
			return d.wrong(fmt.Sprintf("variable %s: the header announces %d", w, d.p.NumVars()))
		default:
			d.clause = append(d.clause, Lit(n))
		}
	}
	return nil
}

func (d *dimacs) begin(words []string) error {
	if d.header {
		return d.wrong("a second header")
	}
	var vars int
	var err1, err2 error
	if len(words) == 4 {
		vars, err1 = strconv.Atoi(words[2])
		d.clauses, err2 = strconv.Atoi(words[3])
	}
	if len(words) != 4 || words[1] != "cnf" || err1 != nil || err2 != nil || vars < 0 || d.clauses < 0 {
		return d.wrong(`the header is not of the form "p cnf VARIABLES CLAUSES"`)
	}
	if vars > dimacsMax {
		return d.wrong(fmt.Sprintf("%d variables: at most %d are read", vars, dimacsMax))
	}
	for i := range vars {
		d.p.Var(strconv.Itoa(i + 1))
	}
	d.header = true
	return nil
}
