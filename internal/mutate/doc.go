// Command mutate breaks the code on purpose, one rule at a time, and runs the
// tests of the package: a mutant that they do not notice means a rule that no
// test guards.
//
//	go run ./internal/mutate ./taints ./lifecycle
//	go run ./internal/mutate -sample 100 -seed 1 ./taints
//	go run ./internal/mutate -match "clock was set back" -run TestVisit ./lifecycle
//
// The chosen mutants of each package are listed in its testdata/mutants/rows.txt, one
// per block:
//
//	# The rule that must notice it.
//	file match.go
//	test TestMatch
//	- if t.Key == "" {
//	+ if t.Key != "" {
//
// The lines after "-" must occur in the file exactly once, ignoring indentation, and
// those after "+" replace them. File names are relative to the package's directory. When
// you move code, update its rows: a row that no longer matches is an error. The tests
// named after "test" are run first; usually they notice, and then no others are run.
// Otherwise the package's tests are run once without a mutant, to see how long each
// takes, and then with the mutant, the quickest first, until one fails.
//
// With -sample, the given number of mutants is drawn from all places where a
// comparison, a logical operator, an addition or subtraction, a negation, a
// truth value or a continue can be changed.
//
// Nothing is written into the tree: go test is given the changed files as an overlay. The
// mutants of a package are in one build, except those that change anything but one
// function, and an environment variable selects the active one. For each mutant, a line
// reports that it was killed, and by which test, that it is ALIVE, that it does not
// build, or that it took too long: more than twenty seconds plus twenty times what the
// tests take without it. The exit status is 1 if a chosen one was not killed.
package main
