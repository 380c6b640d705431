// Command mutate breaks the code on purpose, one rule at a time, and runs the
// tests of the package: a mutant that they do not notice is a rule that nothing
// guards.
//
//	go run ./internal/mutate ./taints ./lifecycle
//	go run ./internal/mutate -sample 100 -seed 1 ./taints
//	go run ./internal/mutate -match "clock was set back" -run TestExplore ./lifecycle
//
// Chosen mutants stand beside the code, in testdata/mutants/rows.txt of each package,
// one in each block:
//
//	# The rule that must notice it.
//	file match.go
//	test TestMatch
//	- if t.Key == "" {
//	+ if t.Key != "" {
//
// The lines after "-" must stand in the file exactly once, indentation aside, and
// those after "+" take their place. Files are named as from the package's
// directory. Whoever moves code moves the rows along: a row that does not fit any
// more is an error. The tests named after "test" are run first; most often they notice, and
// then no other is run. Otherwise the package's tests are run as they are, once, to see how
// long each takes, and then with the mutant, the quickest first, until one fails.
//
// With -sample so many mutants are drawn from all places where an operator of a
// comparison, a logical operator, a negation or a constant can be changed.
//
// Nothing is written into the tree: go test is given the changed files as an
// overlay. All mutants of a package are in one build, and an environment variable
// says which of them is at work. For each mutant a line says whether it was killed, and by which test, is
// ALIVE, does not build, or took too long: more than twenty times what the tests take
// without it. The exit status is 1 if a chosen one was not killed.
package main
