package install

import (
	"maps"
	"slices"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// ReasonInvalidCRDName is that of a CSV with a CRD name that is not
// PLURAL.GROUP.
const ReasonInvalidCRDName = "InvalidCRDName"

// membership are the annotations of a CSV that name its operator group.
var membership = []string{group.NameAnnotation, group.NamespaceAnnotation, group.TargetsAnnotation}

// selectTargets starts with the operator groups: their targets are determined
// before any operator is checked against them.
func (s *stepper) selectTargets() {
	s.groups = s.operatorGroups()
	limited := s.limited()
	for i := range s.groups {
		g := &s.groups[i]
		if g.Namespace != s.Namespace {
			g.Status.Namespaces = s.claims(g, limited)
			continue
		}
		g.Annotations = maps.Clone(g.Annotations)
		targets, err := g.Targets(s.Namespaces)
		if err != nil {
			s.block(groupSubject(g), ReasonGroupInvalid, err.Error(), "whoever owns the operator group", "correct spec.selector of the operator group")
			continue
		}
		g.Status.Namespaces = targets
	}
	s.own, _ = group.Sole(s.groups, s.Namespace)
	s.as, s.barred = s.acting()
}

func groupSubject(g *group.OperatorGroup) string { return "operatorgroup " + g.Name }

// judge says what the operator groups mean for a CSV, and records changes to
// the group's list of APIs.
func (s *stepper) judge(c *CSV) group.Verdict {
	op, err := c.Member()
	if err != nil {
		return group.Verdict{Reason: ReasonInvalidCRDName, Message: err.Error()}
	}
	v := group.Evaluate(&op, s.groups)
	if v.Annotate {
		setProvided(v.Group, v.Annotation)
	}
	return v
}

func setProvided(g *group.OperatorGroup, apis group.APIs) {
	if len(apis) == 0 {
		delete(g.Annotations, group.ProvidedAPIsAnnotation)
		return
	}
	if g.Annotations == nil {
		g.Annotations = make(map[string]string)
	}
	g.Annotations[group.ProvidedAPIsAnnotation] = apis.String()
}

// notes returns the annotations of a CSV about its group.
func notes(g *group.OperatorGroup, c *CSV) map[string]string {
	if g == nil {
		return nil
	}
	all := g.MemberAnnotations(&group.Operator{ObjectMeta: olm.ObjectMeta{Name: c.Name}})
	mine := make(map[string]string)
	for _, key := range membership {
		mine[key] = all[key]
	}
	return mine
}

// noted reports whether a CSV has the annotations about its group, and writes
// them if not.
func (s *stepper) noted(c *CSV, g *group.OperatorGroup) bool {
	want := notes(g, c)
	if !slices.ContainsFunc(membership, func(key string) bool { return c.Annotations[key] != want[key] }) {
		return true
	}
	s.doCSV(c, Annotate{CSV: c.Name, Revision: c.Revision, Annotations: want}, "its operator group is being written to its annotations", "wait until its annotations name its group")
	return false
}

// listed reports whether the observed group lists the APIs of a member, which
// keeps others from providing them.
func (s *stepper) listed(c *CSV, v group.Verdict) bool {
	op, err := c.Member()
	if err != nil || v.Relation == group.RemoveAPIs {
		return false
	}
	seen, err := group.Sole(s.operatorGroups(), s.Namespace)
	return err == nil && op.Provided().SubsetOf(seen.Provided())
}

// writeGroups writes the status of the operator groups of the namespace.
func (s *stepper) writeGroups() {
	if s.own != nil {
		setProvided(s.own, s.own.Sync(s.members()).Annotation)
	}
	for _, seen := range sorted(s.Groups, func(g *OperatorGroup) string { return g.Name }) {
		if seen.Namespace != s.Namespace {
			continue
		}
		want := &s.groups[slices.IndexFunc(s.groups, func(g group.OperatorGroup) bool { return g.Name == seen.Name && g.Namespace == seen.Namespace })]
		want.Status.Conditions = want.Conditions(s.groups, s.accounts(), s.now)
		want.Status.ServiceAccountRef = s.accountRef(want)
		if sameGroup(want, &seen.OperatorGroup) {
			continue
		}
		want.Status.LastUpdated = s.now
		s.block(groupSubject(want), ReasonActionPending, s.doing(UpdateGroup{Name: seen.Name, Revision: seen.Revision, Provided: want.Provided(), Status: want.Status}, "its status and its list of APIs are being written"), theBackend, "wait until they are observed")
	}
}

// members are the operators of the namespace, as its group sees them.
func (s *stepper) members() []group.Operator {
	var all []group.Operator
	for _, c := range s.operators {
		if op, err := c.Member(); err == nil {
			all = append(all, op)
		}
	}
	return all
}

// accounts are the names of the service accounts of the namespace.
func (s *stepper) accounts() []string {
	var names []string
	for _, a := range s.Accounts {
		if a.Namespace == s.Namespace {
			names = append(names, a.Name)
		}
	}
	return names
}

func (s *stepper) accountRef(g *group.OperatorGroup) *group.AccountReference {
	if name := g.Spec.ServiceAccountName; name != "" && slices.Contains(s.accounts(), name) {
		return &group.AccountReference{Kind: "ServiceAccount", Namespace: s.Namespace, Name: name}
	}
	return nil
}

func sameGroup(a, b *group.OperatorGroup) bool {
	x, y := a.Status.ServiceAccountRef, b.Status.ServiceAccountRef
	return (x == nil) == (y == nil) && (x == nil || *x == *y) &&
		slices.Equal(a.Status.Namespaces, b.Status.Namespaces) && slices.Equal(a.Status.Conditions, b.Status.Conditions) &&
		a.Annotations[group.ProvidedAPIsAnnotation] == b.Annotations[group.ProvidedAPIsAnnotation]
}
