package group

import (
	"fmt"
	"slices"
)

// TargetError says why a group's selection of namespaces is refused.
type TargetError struct {
	Group   ObjectMeta // the group
	Problem string     // what is wrong, and what to write
	Err     error      // the underlying error, or nil
}

// Error implements error.
func (e *TargetError) Error() string {
	text := fmt.Sprintf("operator group %s: %s", e.Group, e.Problem)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *TargetError) Unwrap() error { return e.Err }

// Targets returns the namespaces that the group selects, for its
// status.namespaces:
//
//  1. If spec.targetNamespaces names any, those. An empty name among them is an
//     error.
//  2. Otherwise, if spec.selector is empty, all: [""].
//  3. Otherwise those of the given namespaces whose labels match, possibly none.
//
// The error is a *TargetError.
func (g *OperatorGroup) Targets(namespaces []ObjectMeta) (Namespaces, error) {
	if len(g.Spec.TargetNamespaces) > 0 {
		if slices.Contains(g.Spec.TargetNamespaces, AllNamespaces) {
			return nil, &TargetError{Group: g.ObjectMeta,
				Problem: "spec.targetNamespaces has an empty name; to select all namespaces leave out targetNamespaces and selector"}
		}
		return NewNamespaces(g.Spec.TargetNamespaces...), nil
	}
	if g.Spec.Selector.Empty() {
		return Namespaces{AllNamespaces}, nil
	}
	if err := g.Spec.Selector.Check(); err != nil {
		return nil, &TargetError{Group: g.ObjectMeta, Problem: "spec.selector cannot be read", Err: err}
	}
	var names []string
	for _, n := range namespaces {
		if g.Spec.Selector.Matches(n.Labels) {
			names = append(names, n.Name)
		}
	}
	return NewNamespaces(names...), nil
}
