package install

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// generate keeps what follows from the operator group and its members: the
// cluster roles of the group and of the APIs, the roles of members in the
// namespaces that they watch, and copies of their CSVs there. What follows no
// more goes.
func (s *stepper) generate() {
	var pending []string
	want := s.consequences()
	slices.SortStableFunc(want, func(a, b WriteObject) int { return compareRefs(a.Ref, b.Ref) })
	want = slices.CompactFunc(want, func(a, b WriteObject) bool { return a.Ref == b.Ref })
	seen := sorted(s.Generated, func(o *Object) string { return o.Ref.sortKey() })
	for len(want) > 0 || len(seen) > 0 {
		c := 0
		switch {
		case len(seen) == 0:
			c = -1
		case len(want) == 0:
			c = 1
		default:
			c = compareRefs(want[0].Ref, seen[0].Ref)
		}
		if c < 0 {
			pending = append(pending, s.write(want[0], Mark{}))
		} else if c > 0 && seen[0].Owner == s.Namespace { // else another namespace wants it
			pending = append(pending, s.discard(seen[0]))
		} else if c == 0 && want[0].Digest != seen[0].Digest {
			pending = append(pending, s.write(want[0], seen[0].Mark))
		}
		if c <= 0 {
			want = want[1:]
		}
		if c >= 0 {
			seen = seen[1:]
		}
	}
	if len(pending) > 0 {
		s.block(s.namespaceSubject(), ReasonGenerated, fmt.Sprintf("of the roles and copies that follow from the operator group %d are not as they shall be; the first: %s", len(pending), pending[0]),
			"", "they are seen so")
	}
}

func (r Ref) sortKey() string {
	return strings.Join([]string{r.Kind, r.Namespace, r.Name, r.Group}, "\x00")
}

func compareRefs(a, b Ref) int { return strings.Compare(a.sortKey(), b.sortKey()) }

// write and discard say what is being done.
func (s *stepper) write(w WriteObject, old Mark) string {
	w.Revision = old.Revision
	_, failure := s.do(w)
	return because(w.Ref.String()+" is being written", failure)
}

func (s *stepper) discard(o *Object) string {
	_, failure := s.do(DeleteObject{Ref: o.Ref, Owner: o.Owner, Revision: o.Revision})
	return because(o.Ref.String()+" is being deleted", failure)
}

// consequences are what follows from the group and its members, in any order.
func (s *stepper) consequences() []WriteObject {
	if s.own == nil {
		return nil
	}
	var all []WriteObject
	for _, r := range s.own.ClusterRoles() {
		all = append(all, s.clusterRole(&r))
	}
	for _, c := range s.operators {
		op, err := c.Member()
		if err != nil || !s.active(c) {
			continue
		}
		for _, r := range op.ClusterRoles() {
			all = append(all, s.clusterRole(&r))
		}
		all = append(all, s.grants(c, &op)...)
		op.Annotations = withNotes(c, s.own)
		for _, made := range s.own.Copies(&op, s.Namespaces, nil, s.Copies).Create {
			all = append(all, s.copy(c, &made))
		}
	}
	return all
}

// active reports whether a CSV is a member of its group that was looked at, and
// stays.
func (s *stepper) active(c *CSV) bool {
	switch c.Status.Phase {
	case PhaseNone, PhaseDeleting:
		return false
	case olm.PhaseFailed:
		r := group.Reason(c.Status.Reason)
		return !r.Failure() && r != ReasonInvalidCRDName
	}
	return true
}

func withNotes(c *CSV, g *group.OperatorGroup) map[string]string {
	op := group.Operator{ObjectMeta: c.ObjectMeta}
	return g.MemberAnnotations(&op)
}

// grants give a member its permissions where it watches; those in its own
// namespace are steps of its plan.
func (s *stepper) grants(c *CSV, op *group.Operator) []WriteObject {
	var all []WriteObject
	for _, g := range s.own.Grants(op, c.Spec.Install.Spec.Permissions) {
		exists := g.Namespace == "" || slices.ContainsFunc(s.Namespaces, func(n olm.ObjectMeta) bool { return n.Name == g.Namespace })
		if g.Namespace == s.Namespace || !exists {
			continue
		}
		kind := "Role"
		if g.Namespace == "" {
			kind = "ClusterRole"
		}
		subject := scope.Subject{Kind: "ServiceAccount", Name: g.Account, Namespace: s.Namespace}
		all = append(all,
			s.object(groupRBAC, kind, g.Role, map[string]any{"rules": g.Rules}),
			s.object(groupRBAC, kind+"Binding", g.Role, map[string]any{
				"roleRef":  map[string]any{"apiGroup": groupRBAC, "kind": kind, "name": g.Role.Name},
				"subjects": []scope.Subject{subject},
			}))
	}
	return all
}

func (s *stepper) clusterRole(r *group.ClusterRole) WriteObject {
	parts := map[string]any{"rules": r.Rules}
	if r.AggregationRule != nil {
		parts["aggregationRule"] = r.AggregationRule
	}
	return s.object(groupRBAC, "ClusterRole", r.ObjectMeta, parts)
}

// copy tells another namespace of an operator.
func (s *stepper) copy(c *CSV, made *group.Operator) WriteObject {
	meta := made.ObjectMeta
	meta.UID, meta.OwnerReferences = "", nil
	return s.object(groupOLM, kindCSV, meta, map[string]any{
		"spec":   c.Spec,
		"status": olm.CSVStatus{Phase: olm.Phase(made.Phase), Reason: string(made.Reason)},
	})
}

// object returns the action that writes an object.
func (s *stepper) object(apiGroup, kind string, meta olm.ObjectMeta, parts map[string]any) WriteObject {
	version := "/v1"
	if apiGroup == groupOLM {
		version = "/v1alpha1"
	}
	parts["apiVersion"], parts["kind"], parts["metadata"] = apiGroup+version, kind, meta
	text, _ := json.Marshal(parts) // what was decoded from JSON, and strings: cannot fail
	return WriteObject{
		Ref:      Ref{Group: apiGroup, Kind: kind, Namespace: meta.Namespace, Name: meta.Name},
		Manifest: text, Digest: digestOf([]json.RawMessage{text}), Owner: s.Namespace,
	}
}
