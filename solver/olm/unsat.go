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

// Core returns a minimal set of facts that contradict each other, in the order
// in which the request leads to them. The error is that of the context.
func (e *UnsatError) Core(ctx context.Context) ([]string, error) {
	core, err := e.conflict.Core(ctx)
	if err != nil {
		return nil, err
	}
	facts := make([]string, len(core))
	for i, c := range core {
		facts[i] = c.String()
	}
	return facts, nil
}
