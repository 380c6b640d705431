# Shorthands for commands that are long to type; .ci/run is the gate.

.PHONY: check test long update e2e bench mutants help

help: ## this list
	@sed -n 's/^\([a-z0-9]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 10

check: ## everything that must hold before a change is sent
	.ci/run

test: ## the tests, in about a minute
	go test ./...

long: ## the tests of P (./...) at the size of a release; hours for all
	FAIRLEAD_LONG=1 go test -timeout 0 $(or $(P),./...)

update: ## the expected output of the scripts of P, such as P=./solver; read the diff
	go test $(P) -update

e2e: ## the adapters on a real Kubernetes API server, which is built first
	examples/kubernetes/e2e/run

bench: ## the headline figures of every engine
	go test -run '^$$' -bench '^BenchmarkHeadline' ./...

mutants: ## changes that break one rule each, in the packages P (./...)
	PACKAGES='$(or $(P),./...)' .ci/run mutants
