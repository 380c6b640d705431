package install

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// generate reconciles what follows from the operator group and its members: the
// cluster roles of the group and of the APIs, the roles of members in the
// namespaces that they watch, and copies of their CSVs there. Obsolete ones are
// deleted.
func (s *stepper) generate() {
	var pending []string
	want := s.consequences()
	slices.SortStableFunc(want, func(a, b derived) int { return compareRefs(a.ref, b.ref) })
	want = slices.CompactFunc(want, func(a, b derived) bool { return a.ref == b.ref })
	seen := sorted(s.Generated, func(o *Object) string { return o.Ref.sortKey() })
	for len(want) > 0 || len(seen) > 0 {
		c := 0
		switch {
		case len(seen) == 0:
			c = -1
		case len(want) == 0:
			c = 1
		default:
			c = compareRefs(want[0].ref, seen[0].Ref)
		}
		switch {
		case c < 0:
			pending = append(pending, s.write(want[0], Mark{}))
		case c > 0 && seen[0].Owner == s.Namespace: // else another namespace wants it
			pending = append(pending, s.discard(seen[0]))
		case c == 0 && seen[0].Ref.Namespace != "" && seen[0].Owner != s.Namespace:
			s.taken(seen[0])
		case c == 0 && want[0].digest != seen[0].Digest:
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
		s.block(s.namespaceSubject(), ReasonGenerated, fmt.Sprintf("%d of the roles and copies for the operator group are not up to date; the first: %s", len(pending), pending[0]),
			theBackend, "wait until they are written")
	}
}

// taken says that an object is not written, because it belongs to another
// namespace.
func (s *stepper) taken(o *Object) {
	s.block(s.namespaceSubject(), ReasonNameTaken, fmt.Sprintf("%s cannot be written: the object of that name belongs to namespace %s", o.Ref, o.Owner),
		"whoever owns the operator groups", "delete that object, or remove namespace "+o.Ref.Namespace+" from the targets of the operator group")
}

// derived is an object that follows from the group and its members. Most are up
// to date, so manifests are made on demand; the digest covers everything that
// goes into one.
type derived struct {
	ref    Ref
	digest string
	meta   olm.ObjectMeta
	parts  func() map[string]any // other than apiVersion, kind and metadata
}

// derive returns a derived object, of parts that depend on the key and on what
// meta says.
func derive(apiGroup, kind string, meta olm.ObjectMeta, key string, parts func() map[string]any) derived {
	ref := Ref{Group: apiGroup, Kind: kind, Namespace: meta.Namespace, Name: meta.Name}
	return derived{ref, digestOf([]json.RawMessage{[]byte("1"), []byte(key)}), meta, parts}
}

// manifest returns the object as JSON.
func (d *derived) manifest() json.RawMessage {
	version := d.ref.Group + "/v1"
	switch d.ref.Group {
	case groupOLM:
		version = groupOLM + "/v1alpha1"
	case "":
		version = "v1"
	}
	all := d.parts()
	all["apiVersion"], all["kind"], all["metadata"] = version, d.ref.Kind, d.meta
	text, _ := json.Marshal(all) // what was decoded from JSON, and strings: cannot fail
	return text
}

func (r Ref) sortKey() string {
	return strings.Join([]string{r.Kind, r.Namespace, r.Name, r.Group}, "\x00")
}

func compareRefs(a, b Ref) int {
	return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.Group, b.Group))
}

// write and discard say what is being done.
func (s *stepper) write(d derived, old Mark) string {
	return s.doing(WriteObject{Ref: d.ref, Manifest: d.manifest(), Digest: d.digest, Owner: s.Namespace, Revision: old.Revision}, d.ref.String()+" is being written")
}

func (s *stepper) discard(o *Object) string {
	return s.doing(DeleteObject{Ref: o.Ref, Owner: o.Owner, Revision: o.Revision}, o.Ref.String()+" is being deleted")
}

// consequences are the objects that follow from the group and its members, in
// any order.
func (s *stepper) consequences() []derived {
	if s.own == nil {
		return nil
	}
	all := s.reached()
	for _, r := range s.own.ClusterRoles() {
		all = append(all, clusterRole(r, s.own.Annotations[group.ProvidedAPIsAnnotation]))
	}
	for _, c := range s.operators {
		op, err := c.Member()
		if err != nil || !s.active(c) {
			continue
		}
		for _, r := range op.ClusterRoles() {
			all = append(all, clusterRole(r, ""))
		}
		all = append(all, s.grants(c, &op)...)
		op.Annotations = s.own.MemberAnnotations(&op)
		for _, made := range s.own.Copies(&op, s.Namespaces, nil, s.Copies).Create {
			all = append(all, copyOf(c, &made))
		}
	}
	return all
}

// active reports whether a CSV is a processed member of its group, and stays.
func (s *stepper) active(c *CSV) bool {
	switch c.Status.Phase {
	case PhasePending, PhaseInstallReady, PhaseInstalling, olm.PhaseSucceeded, olm.PhaseReplacing:
		return true
	case olm.PhaseFailed:
		r := group.Reason(c.Status.Reason)
		return !r.Failure() && r != ReasonInvalidCRDName
	}
	return false
}

// grants give a member its permissions where it watches; those in its own
// namespace are steps of its plan.
func (s *stepper) grants(c *CSV, op *group.Operator) []derived {
	var all []derived
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
		all = append(all, // the name of the role names its rules
			derive(groupRBAC, kind, g.Role, kind, func() map[string]any { return map[string]any{"rules": g.Rules} }),
			derive(groupRBAC, kind+"Binding", g.Role, kind+" "+g.Account+" "+s.Namespace, func() map[string]any {
				return map[string]any{
					"roleRef":  map[string]any{"apiGroup": groupRBAC, "kind": kind, "name": g.Role.Name},
					"subjects": []scope.Subject{subject},
				}
			}))
	}
	return all
}

// clusterRole is a role of the group, which aggregates those of the APIs that
// it provides, or the role of one API.
func clusterRole(r group.ClusterRole, provided string) derived {
	return derive(groupRBAC, "ClusterRole", r.ObjectMeta, r.Name+" "+provided, func() map[string]any {
		parts := map[string]any{"rules": r.Rules}
		if r.AggregationRule != nil {
			parts["aggregationRule"] = r.AggregationRule
		}
		return parts
	})
}

// copyOf is the copy of an operator's CSV for another namespace.
func copyOf(c *CSV, made *group.Operator) derived {
	meta := olm.ObjectMeta{Name: made.Name, Namespace: made.Namespace, Labels: made.Labels, Annotations: made.Annotations}
	status := olm.CSVStatus{Phase: olm.Phase(made.Phase), Reason: string(made.Reason)}
	key, _ := json.Marshal([]any{meta, status, c.Spec}) // it was decoded from JSON: cannot fail
	return derive(groupOLM, kindCSV, meta, string(key), func() map[string]any {
		return map[string]any{"spec": c.Spec, "status": status}
	})
}
