package group

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// CopiedFromLabel on a copied CSV names the namespace of the original.
const CopiedFromLabel = "olm.copiedFrom"

// DefaultCopyNamespace is the namespace that has copies of operators that watch
// all namespaces even if copies are disabled.
const DefaultCopyNamespace = "openshift"

// MemberAnnotations returns the annotations of an operator's CSV as a member of
// the group: those it has, plus the group's name, its namespace and the
// namespaces that it selects.
func (g *OperatorGroup) MemberAnnotations(op *Operator) map[string]string {
	notes := make(map[string]string, len(op.Annotations)+3)
	maps.Copy(notes, op.Annotations)
	notes[NameAnnotation] = g.Name
	notes[NamespaceAnnotation] = g.Namespace
	notes[TargetsAnnotation] = NewNamespaces(g.Status.Namespaces...).String()
	return notes
}

// CopyOptions say which namespaces get copies. With nil or the zero value, all do.
type CopyOptions struct {
	// Disabled keeps operators that watch all namespaces from being copied, except
	// to one namespace. It is spec.features.disableCopiedCSVs of OLMConfig.
	Disabled bool
	// Namespace is that namespace; empty means DefaultCopyNamespace. It need not
	// exist.
	Namespace string
}

// Copies is what must be done so that users see which operators watch their
// namespaces. Each list is sorted by namespace.
type Copies struct {
	Create []Operator // copies that are missing
	Update []Operator // the new state of copies that differ from their original
	Delete []Operator // the current state of copies that should not exist
	// Event is the warning to report in the operator's namespace, or "".
	Event string
}

// Copies compares the copies of one operator with what they should be. Every
// namespace that the group selects gets one, except the operator's own; if the
// group is nil (the operator belongs to none), none does. namespaces are those
// that exist, and existing the CSVs of the operator's name in other namespaces,
// of which those that are not copies of this operator are left alone.
//
// A copy has the original's annotations without TargetsAnnotation, so that
// tenants do not learn of each other, and its phase, with ReasonCopied.
func (g *OperatorGroup) Copies(op *Operator, namespaces []ObjectMeta, existing []Operator, opts *CopyOptions) Copies {
	if opts == nil {
		opts = &CopyOptions{}
	}
	var c Copies
	want := g.copyTargets(op, namespaces, opts)
	if g != nil && opts.Disabled && NewNamespaces(g.Status.Namespaces...).All() {
		c.Event = fmt.Sprintf("DisabledCopiedCSVs: CSV copying disabled for %s", op.ObjectMeta)
	}
	have := make(map[string]*Operator)
	for i := range existing {
		e := &existing[i]
		if e.Name == op.Name && e.Copied() && e.Labels[CopiedFromLabel] == op.Namespace {
			have[e.Namespace] = e
		}
	}
	for _, ns := range want {
		made := copyOf(op, ns)
		switch old := have[ns]; {
		case old == nil:
			c.Create = append(c.Create, made)
		case !reflect.DeepEqual(normal(*old), normal(made)):
			c.Update = append(c.Update, made)
		}
		delete(have, ns)
	}
	for _, ns := range slices.Sorted(maps.Keys(have)) {
		c.Delete = append(c.Delete, *have[ns])
	}
	return c
}

func (g *OperatorGroup) copyTargets(op *Operator, namespaces []ObjectMeta, opts *CopyOptions) []string {
	if g == nil {
		return nil
	}
	targets := NewNamespaces(g.Status.Namespaces...)
	keep := opts.Namespace
	if keep == "" {
		keep = DefaultCopyNamespace
	}
	var names []string
	for _, n := range namespaces {
		hidden := targets.All() && opts.Disabled && n.Name != keep
		if n.Name != op.Namespace && targets.Contains(n.Name) && !hidden {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func copyOf(op *Operator, namespace string) Operator {
	made := *op
	made.Namespace = namespace
	made.Annotations = maps.Clone(op.Annotations)
	delete(made.Annotations, TargetsAnnotation)
	made.Labels = make(map[string]string, len(op.Labels)+1)
	maps.Copy(made.Labels, op.Labels)
	made.Labels[CopiedFromLabel] = op.Namespace
	made.Generation = 0
	made.Reason = ReasonCopied
	return made
}

// normal clears the fields that may differ between a copy and its original.
func normal(op Operator) Operator {
	op.Generation = 0
	op.InstallModes, op.Owned = nil, nil
	if len(op.Annotations) == 0 {
		op.Annotations = nil
	}
	return op
}
