package hard

import (
	"bufio"
	"fmt"
	"io"

	"github.com/fairlead/fairlead/solver"
)

// A cnf is a problem in clauses. Those of at most one of more than five are stated by
// giving each variable a number in binary.
type cnf struct {
	vars    int
	clauses [][]solver.Lit
}

func clausesOf(p *solver.Problem) *cnf {
	c := &cnf{vars: p.NumVars()}
	for id := range p.NumConstraints() {
		k := p.Constraint(id)
		if k.Kind != solver.Limitation {
			c.clauses = append(c.clauses, k.Lits)
			continue
		}
		if k.N != 1 {
			panic("hard: a limit of more than one")
		}
		c.atMostOne(k.Lits)
	}
	return c
}

func (c *cnf) atMostOne(lits []solver.Lit) {
	if len(lits) <= 5 {
		for i, a := range lits {
			for _, b := range lits[:i] {
				c.clauses = append(c.clauses, []solver.Lit{-a, -b})
			}
		}
		return
	}
	for bit := 0; 1<<bit < len(lits); bit++ {
		c.vars++
		for i, l := range lits {
			own := solver.Lit(c.vars)
			if i>>bit&1 == 0 {
				own = -own
			}
			c.clauses = append(c.clauses, []solver.Lit{-l, own})
		}
	}
}

// write writes the clauses in the format of DIMACS.
func (c *cnf) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "p cnf %d %d\n", c.vars, len(c.clauses))
	for _, clause := range c.clauses {
		for _, l := range clause {
			fmt.Fprint(out, int(l), " ")
		}
		fmt.Fprintln(out, 0)
	}
	return out.Flush()
}
