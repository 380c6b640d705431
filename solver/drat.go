package solver

import (
	"bufio"
	"io"
	"strconv"
)

// WriteDRAT writes the proof in the form that checkers of SAT solvers' proofs take
// (DRAT: Wetzler, Heule and Hunt 2014): the lemmas, each a list of variables,
// negative where denied, up to a 0. The checker is given the problem as
// [ReadDIMACS] reads it. It finds the hints itself, by unit propagation on clauses,
// and so cannot follow what rests on a Limitation.
//
// The error is that of w.
func (r *Refutation) WriteDRAT(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, m := range r.Lemmas {
		for _, l := range m.Lits {
			out.WriteString(strconv.Itoa(int(l)))
			out.WriteByte(' ')
		}
		out.WriteString("0\n")
	}
	return out.Flush()
}
