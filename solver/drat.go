package solver

import (
	"bufio"
	"io"
	"strconv"
)

// WriteDRAT writes the proof in the format that checkers of SAT solvers' proofs
// read (DRAT: Wetzler, Heule and Hunt 2014): the lemmas, each a list of
// variables, negative if denied, terminated by 0. The checker is given the
// problem in the format that [ReadDIMACS] reads. It finds the hints itself, by
// unit propagation on clauses, and so cannot follow steps that rest on a
// Limitation.
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
