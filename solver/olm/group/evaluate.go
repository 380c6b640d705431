package group

import (
	"errors"
	"fmt"
	"strings"
)

// Relation is how the APIs of an operator relate to those of its group and of
// overlapping groups.
type Relation string

// The relations. "Elsewhere" means in a group whose namespaces overlap with those
// of the operator's group.
const (
	NoAPIConflict Relation = "NoAPIConflict" // nothing provided elsewhere, all in the group's annotation
	AddAPIs       Relation = "AddAPIs"       // nothing provided elsewhere, some not yet in the annotation
	APIConflict   Relation = "APIConflict"   // some provided elsewhere, and not all in the annotation
	RemoveAPIs    Relation = "RemoveAPIs"    // some provided elsewhere, although all in the annotation
)

// Conflict is another group that provides APIs of an operator in some of the same
// namespaces.
type Conflict struct {
	Group      ObjectMeta // the other group
	APIs       APIs       // what both provide
	Namespaces Namespaces // where they overlap; [""] means everywhere
}

// String says which group provides which APIs, and where.
func (c Conflict) String() string {
	where := "all namespaces"
	if !c.Namespaces.All() {
		where = list(c.Namespaces)
	}
	return fmt.Sprintf("operator group %s provides %s in %s", c.Group, list(c.APIs), where)
}

// Intersecting returns the groups among others whose namespaces overlap with those
// of the group, in the order given. A group's own namespace counts as selected by
// it. A group that selects nothing overlaps with none. The group itself, if it is
// among the others, is skipped.
func (g *OperatorGroup) Intersecting(others []OperatorGroup) []*OperatorGroup {
	var found []*OperatorGroup
	surface := g.Surface()
	for i := range others {
		o := &others[i]
		if o.Name == g.Name && o.Namespace == g.Namespace {
			continue
		}
		if len(surface.Intersection(o.Surface())) > 0 {
			found = append(found, o)
		}
	}
	return found
}

// Relate compares the APIs of an operator with its group's annotation and with
// those of all other groups. The conflicts are in the order of the groups.
func (g *OperatorGroup) Relate(provided APIs, others []OperatorGroup) (Relation, []Conflict) {
	var conflicts []Conflict
	for _, o := range g.Intersecting(others) {
		if both := provided.Intersection(o.Provided()); len(both) > 0 {
			conflicts = append(conflicts, Conflict{
				Group:      ObjectMeta{Name: o.Name, Namespace: o.Namespace},
				APIs:       both,
				Namespaces: g.Surface().Intersection(o.Surface()),
			})
		}
	}
	listed := provided.SubsetOf(g.Provided())
	switch {
	case len(conflicts) == 0 && listed:
		return NoAPIConflict, nil
	case len(conflicts) == 0:
		return AddAPIs, nil
	case listed:
		return RemoveAPIs, conflicts
	}
	return APIConflict, conflicts
}

// Verdict is what a group means for one operator.
type Verdict struct {
	// Group is the group that it belongs to, or nil.
	Group *OperatorGroup
	// Relation is how its APIs relate to the groups'; "" if they were not compared.
	Relation Relation
	// Reason is why it fails, or "".
	Reason Reason
	// Message explains Reason, and ends with how to fix it.
	Message string
	// Conflicts are the groups that provide the same APIs, in the order given.
	Conflicts []Conflict
	// CleanUp says that the operator's deployments must be deleted.
	CleanUp bool
	// Annotation is what ProvidedAPIsAnnotation of the group must contain; it is
	// what it contains already unless Annotate is set.
	Annotation APIs
	Annotate   bool // see Annotation
	// Phase is what the CSV's phase becomes: "Failed", "Pending" if the cause of
	// its failure is gone, or "" if the group does not change it.
	Phase string
}

// Evaluate says what the groups of a cluster mean for an operator:
//
//  1. A copy is left alone.
//  2. Its namespace must have exactly one group.
//  3. The group must select namespaces, and the operator's install modes must
//     support them.
//  4. If some of its APIs are not in the group's annotation and no overlapping
//     group provides any of them, they are added to the annotation. If they are
//     provided elsewhere, the operator fails; but if the annotation already
//     contains all of them, they are removed from it first, and the operator fails
//     at its next evaluation.
//  5. If the annotation of a static group would have to change, the operator
//     fails. If it has already failed for a conflict, that reason stays.
//
// The group's status.namespaces must be what Targets returns. The arguments are
// not modified.
func Evaluate(op *Operator, groups []OperatorGroup) Verdict {
	if op.Copied() {
		return Verdict{}
	}
	g, err := Sole(groups, op.Namespace)
	if err != nil {
		var sole *SoleError
		errors.As(err, &sole) // the only error that Sole returns
		return fail(op, Verdict{}, sole.Reason(), err.Error())
	}
	v := Verdict{Group: g, Annotation: g.Provided()}
	if err := op.InstallModes.Check(); err != nil {
		return fail(op, v, ReasonInvalidInstallModes, err.Error())
	}
	if len(g.Status.Namespaces) == 0 {
		return fail(op, v, ReasonNoTargetNamespaces, fmt.Sprintf(
			"operator group %s selects no namespaces; label a namespace so that spec.selector matches it, or name some in spec.targetNamespaces", g.ObjectMeta))
	}
	if err := op.InstallModes.Supports(op.Namespace, g.Status.Namespaces); err != nil {
		return fail(op, v, ReasonUnsupportedOperatorGroup, fmt.Sprintf("operator group %s: %v", g.ObjectMeta, err))
	}
	provided := op.Provided()
	v.Relation, v.Conflicts = g.Relate(provided, groups)
	switch {
	case v.Relation == NoAPIConflict:
		return accept(op, v)
	case v.Relation == APIConflict:
		v.CleanUp = true
		return fail(op, v, ReasonInterOperatorGroupOwnerConflict, conflictText(v.Conflicts))
	case g.Spec.StaticProvidedAPIs:
		v.CleanUp = true
		return fail(op, v, ReasonCannotModifyStatic, staticText(g, v))
	case v.Relation == AddAPIs:
		v.Annotation = v.Annotation.Union(provided)
	default:
		v.Annotation = v.Annotation.Minus(provided)
	}
	v.Annotate = true
	return accept(op, v)
}

func fail(op *Operator, v Verdict, r Reason, message string) Verdict {
	v.Reason, v.Message = r, message
	v.Phase = "Failed"
	if r == ReasonCannotModifyStatic && op.Phase == "Failed" && op.Reason == ReasonInterOperatorGroupOwnerConflict {
		v.Reason = op.Reason
	}
	return v
}

// accept lets an operator proceed, even if it had failed. One that lost its APIs to
// another group is evaluated again first.
func accept(op *Operator, v Verdict) Verdict {
	if v.Relation != RemoveAPIs && op.Phase == "Failed" && op.Reason.Failure() {
		v.Phase = "Pending"
	}
	return v
}

func conflictText(conflicts []Conflict) string {
	parts := make([]string, len(conflicts))
	for i, c := range conflicts {
		parts[i] = c.String()
	}
	return strings.Join(parts, "; ") +
		"; delete the operator there, or make the groups select namespaces that do not overlap (a group's own namespace counts)"
}

func staticText(g *OperatorGroup, v Verdict) string {
	if v.Relation == AddAPIs {
		return fmt.Sprintf("operator group %s is static, and its annotation %s lacks APIs of the operator; add them there, or set spec.staticProvidedAPIs to false",
			g.ObjectMeta, ProvidedAPIsAnnotation)
	}
	return fmt.Sprintf("operator group %s is static, and its annotation %s claims what others provide: %s",
		g.ObjectMeta, ProvidedAPIsAnnotation, conflictText(v.Conflicts))
}

// list joins the texts of items with commas.
func list[T any](items []T) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = fmt.Sprint(item)
	}
	return strings.Join(parts, ", ")
}
