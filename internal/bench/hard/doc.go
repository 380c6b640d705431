// Package hard gives the solver, and the SAT solvers minisat, cadical and gini,
// problems that are hard for their size: random ones near the threshold between
// those with and without an answer, and crafted ones. Verdicts are compared, and
// each of ours is proven, before anything is reported.
//
// minisat and cadical are those of the machine (apt-get install minisat cadical);
// what is not installed is left out.
package hard
