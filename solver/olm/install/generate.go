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
	var due []dueWrite
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
			due = append(due, dueWrite{derived: want[0]})
		case c > 0 && seen[0].Owner == s.Namespace: // else another namespace wants it
			due = append(due, dueWrite{gone: seen[0]})
		case c == 0 && seen[0].Owner != s.Namespace && (seen[0].Ref.Namespace != "" || want[0].digest != seen[0].Digest):
			s.taken(seen[0])
		case c == 0 && want[0].digest != seen[0].Digest:
			due = append(due, dueWrite{derived: want[0], old: seen[0].Mark})
		}
		if c <= 0 {
			want = want[1:]
		}
		if c >= 0 {
			seen = seen[1:]
		}
	}
	if pending := s.writeDue(due); len(pending) > 0 {
		s.block(s.namespaceSubject(), ReasonGenerated, fmt.Sprintf("%d of the roles and copies for the operator group are not up to date; the first: %s", len(pending), pending[0]),
			theBackend, "wait until they are written")
	}
}

// dueWrite is an object to write, with its mark if it exists, or one that goes.
type dueWrite struct {
	derived
	old  Mark
	gone *Object
}

// writeDue writes the objects that may be written, deletes those that go, and says what
// is being done; what is refused is reported.
func (s *stepper) writeDue(all []dueWrite) (pending []string) {
	var steps []scope.Step
	limited := false
	for i := range all {
		d := &all[i]
		if d.gone != nil || d.own && !s.unowned() {
			continue
		}
		if limited = true; s.as != "" {
			steps = append(steps, s.stepOf(&d.derived))
		}
	}
	var err error
	if limited {
		err = s.may(steps...)
	}
	refused, none := refusedOf(err)
	if err != nil {
		s.refuse(s.namespaceSubject(), err, "fix this first; these objects are not written until then")
	}
	for i := range all {
		switch d := &all[i]; {
		case d.gone != nil:
			pending = append(pending, s.discard(d.gone))
		case d.own && !s.unowned() || !none && !refused[d.ref]:
			pending = append(pending, s.write(d.derived, d.old))
		}
	}
	return pending
}

// taken says that an object is not written, because it belongs to another
// namespace, or to nobody known.
func (s *stepper) taken(o *Object) {
	if o.Ref.Namespace == "" {
		s.foreignBlock(s.namespaceSubject(), fmt.Sprintf("%s exists and belongs to %s, so it cannot be written for namespace %s", o.Ref, whose(o.Owner), s.Namespace))
		return
	}
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
	own    bool                  // it is written with the rights of the backend
}

// derive returns a derived object, of parts that depend on the key and on what
// meta says.
func derive(apiGroup, kind string, meta olm.ObjectMeta, key string, parts func() map[string]any) derived {
	ref := Ref{Group: apiGroup, Kind: kind, Namespace: meta.Namespace, Name: meta.Name}
	return derived{ref: ref, digest: digestOf([]json.RawMessage{[]byte("1"), []byte(key)}), meta: meta, parts: parts}
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
	as := s.as
	if d.own {
		as = ""
	}
	return s.doing(WriteObject{Ref: d.ref, Manifest: d.manifest(), Digest: d.digest, Owner: s.Namespace, As: as, Revision: old.Revision}, d.ref.String()+" is being written")
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
		mine := op
		mine.Owned = slices.DeleteFunc(slices.Clone(op.Owned), func(o group.Owned) bool { return !s.ownAPI(&o) })
		for _, r := range mine.ClusterRoles() {
			all = append(all, clusterRole(r, ""))
		}
		all = append(all, s.grants(c, &op)...)
		all = append(all, s.copies(c, op)...)
	}
	return all
}

// copies are the copies of a member's CSV in the namespaces that it watches.
func (s *stepper) copies(c *CSV, op group.Operator) []derived {
	var all []derived
	op.Annotations = s.own.MemberAnnotations(&op)
	for _, made := range s.own.Copies(&op, s.Namespaces, nil, s.Copies).Create {
		all = append(all, copyOf(c, &made))
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
	d := derive(groupRBAC, "ClusterRole", r.ObjectMeta, r.Name+" "+provided, func() map[string]any {
		parts := map[string]any{"rules": r.Rules}
		if r.AggregationRule != nil {
			parts["aggregationRule"] = r.AggregationRule
		}
		return parts
	})
	d.own = true
	return d
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
