package olm

import (
	"context"
	"strings"

	"github.com/fairlead/fairlead/solver"
)

// UnsatError says that nothing satisfies a request, or a part of it. What it
// can tell is worked out when it is asked for.
type UnsatError struct {
	// Namespace is the namespace of the request.
	Namespace string

	problem  *encoding
	conflict *solver.UnsatError
	request  *Request // that advice is tried against; nil means that of the problem
}

// Error lists the facts that cannot stand together, unless they are too hard to
// find. Use Explain for what a user should read.
func (e *UnsatError) Error() string {
	_, facts, _ := strings.Cut(e.conflict.Error(), "solver: ")
	return "namespace " + e.Namespace + " cannot be resolved: " + facts
}

// Core returns the facts that cannot stand together, of which every one is
// needed for that, in the order in which the request leads to them. The error
// is that of the context.
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
