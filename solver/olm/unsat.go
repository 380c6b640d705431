package olm

import (
	"context"
	"strings"

	"github.com/fairlead/fairlead/solver"
)

// UnsatError reports that nothing satisfies a request, or a part of it. Details
// are worked out on demand.
type UnsatError struct {
	// Namespace is the namespace of the request.
	Namespace string

	problem  *encoding
	conflict *solver.UnsatError
	request  *Request // the request that advice is tried against; nil means that of the problem
}

// Error lists a minimal set of facts that contradict each other, unless it is
// too hard to find. Use Explain for text that users should read.
func (e *UnsatError) Error() string {
	_, facts, _ := strings.Cut(e.conflict.Error(), "solver: ")
	return "namespace " + e.Namespace + " cannot be resolved: " + facts
}

// Core returns facts that contradict each other, in the order in which the
// request leads to them, and whether none of them can be left out: see
// [solver.UnsatError.Core] for what bounds the work. The error is that of the
// context; the facts are then those that were found until it ended.
func (e *UnsatError) Core(ctx context.Context) (facts []string, minimal bool, err error) {
	core, minimal, err := e.conflict.Core(ctx, nil)
	for _, c := range core {
		facts = append(facts, c.String())
	}
	return facts, minimal, err
}
