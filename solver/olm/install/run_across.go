package install

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
)

// ConflictError says that operators of a namespace conflict with those of
// others.
type ConflictError struct {
	Namespace string                  // the resolved namespace
	Conflicts []olm.NamespaceConflict // those that involve it
}

// Error implements error. It has a line for every conflict.
func (e *ConflictError) Error() string {
	lines := make([]string, len(e.Conflicts))
	for i, c := range e.Conflicts {
		lines[i] = c.Text
		if c.Advice != "" {
			lines[i] += "; " + c.Advice
		}
	}
	return fmt.Sprintf("namespace %s: %s", e.Namespace, strings.Join(lines, "\n"))
}

// Across returns a Resolve that prevents conflicts between namespaces: it
// resolves the namespace and the others, and rejects new conflicts with a
// *ConflictError. The other requests are fetched each time;
// [MemBackend.Requests] fits. See [olm.Resolver.ResolveNamespaces].
func Across(r *olm.Resolver, others func(ctx context.Context, namespace string) ([]*olm.Request, error)) Resolve {
	return func(ctx context.Context, req *olm.Request) (*olm.Resolution, error) {
		reqs, err := others(ctx, req.Namespace)
		if err != nil {
			return nil, err
		}
		all, err := r.ResolveNamespaces(ctx, append([]*olm.Request{req}, reqs...))
		if err != nil {
			return nil, err
		}
		conflict := &ConflictError{Namespace: req.Namespace}
		for _, c := range all.Conflicts {
			if slices.Contains(c.Wait, req.Namespace) {
				conflict.Conflicts = append(conflict.Conflicts, c)
			}
		}
		if conflict.Conflicts != nil {
			return nil, conflict
		}
		for _, n := range all.Namespaces {
			if n.Namespace == req.Namespace && n.Unsat != nil {
				return nil, n.Unsat
			}
		}
		i := slices.IndexFunc(all.Namespaces, func(n olm.NamespaceResolution) bool { return n.Namespace == req.Namespace })
		return all.Namespaces[i].Resolution, nil
	}
}
