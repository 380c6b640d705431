package group

import (
	"errors"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// The conditions of groups and their reasons.
const (
	// MultipleOperatorGroup is true on each group of a namespace with several.
	MultipleOperatorGroup = "MultipleOperatorGroup"
	// ServiceAccountMissing is true on a group whose service account does not exist.
	// The name is that of the API.
	ServiceAccountMissing = "OperatorGroupServiceAccount"

	reasonMultipleGroups  = "MultipleOperatorGroupsFound"
	reasonAccountNotFound = "ServiceAccountNotFound"
)

// Conditions returns the conditions that the group's status must have: those it
// has, with the two of this package set while they apply and removed otherwise.
// groups are all groups of its namespace, and accounts the names of the service
// accounts there. The arguments are not modified.
func (g *OperatorGroup) Conditions(groups []OperatorGroup, accounts []string, now time.Time) []Condition {
	out := slices.Clone(g.Status.Conditions)
	report := func(applies bool, c Condition) {
		if applies {
			c.Status, c.LastTransitionTime = fairlead.ConditionTrue, now
			out = fairlead.SetCondition(out, c)
			return
		}
		out = slices.DeleteFunc(out, func(o Condition) bool { return o.Type == c.Type })
	}
	_, err := Sole(groups, g.Namespace)
	var sole *SoleError
	report(errors.As(err, &sole) && len(sole.Found) > 1, Condition{
		Type: MultipleOperatorGroup, Reason: reasonMultipleGroups,
		Message: "the namespace has several operator groups; delete all but one",
	})
	name := g.Spec.ServiceAccountName
	report(name != "" && !slices.Contains(accounts, name), Condition{
		Type: ServiceAccountMissing, Reason: reasonAccountNotFound,
		Message: "service account " + name + " is not in the namespace; create it, or correct spec.serviceAccountName",
	})
	return out
}

// Sync is what must be done about a group's annotation.
type Sync struct {
	// Annotation is what ProvidedAPIsAnnotation must contain.
	Annotation APIs
	// Removed are the APIs that no member provides any more.
	Removed APIs
	// Again are the operators to evaluate again, in the order given: those, in any
	// namespace, that provide one of the removed APIs, since the cause of their
	// failure may be gone.
	Again []*Operator
}

// Sync removes from the group's annotation the APIs that none of its members
// provides. operators are all operators of the cluster. Nothing is removed from a
// static group, nor while a member is pending or has not been processed yet.
// Copies are not members.
func (g *OperatorGroup) Sync(operators []Operator) Sync {
	s := Sync{Annotation: g.Provided()}
	if g.Spec.StaticProvidedAPIs {
		return s
	}
	var provided APIs
	for i := range operators {
		op := &operators[i]
		if op.Namespace != g.Namespace || op.Copied() {
			continue
		}
		if op.Phase == "" || op.Phase == "None" || op.Phase == "Pending" {
			return s
		}
		provided = provided.Union(op.Provided())
	}
	s.Removed = s.Annotation.Minus(provided)
	s.Annotation = s.Annotation.Intersection(provided)
	for i := range operators {
		op := &operators[i]
		if !op.Copied() && len(op.Provided().Intersection(s.Removed)) > 0 {
			s.Again = append(s.Again, op)
		}
	}
	return s
}
