package install

import (
	"slices"
	"strings"
)

// Annotations of install plans.
const (
	// ApproveAnnotation on a plan that waits for approval approves part of it: the CSVs that
	// it names, separated by commas or spaces. See [World.Request] and [NewInstallPlan].
	ApproveAnnotation = "fairlead.io/approve"
	// HeldAnnotation on the plan for such a part names the CSVs that were left out.
	HeldAnnotation = "fairlead.io/held"
)

func namesIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
}

// part returns the newest plan under way and its approved CSVs, if only some are approved; nil
// otherwise. Partial approvals of older plans no longer count: what to install has changed
// since.
func (w *World) part() (plan *InstallPlan, approved []string) {
	for i := range w.Plans {
		p := &w.Plans[i]
		if p.Status.Phase != PlanComplete && p.Status.Phase != PlanFailed && (plan == nil || p.Spec.Generation > plan.Spec.Generation) {
			plan = p
		}
	}
	if plan == nil {
		return nil, nil
	}
	approved = namesIn(plan.Annotations[ApproveAnnotation])
	if plan.Spec.Approved && plan.Annotations[HeldAnnotation] != "" {
		approved = plan.Spec.ClusterServiceVersionNames // what the part needs was approved, too
	}
	if len(approved) == 0 || plan.Spec.Approved && !covers(approved, plan.Spec.ClusterServiceVersionNames) {
		return nil, nil
	}
	return plan, approved
}

// covers reports whether one list of names contains all of another.
func covers(all, names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(all, n) })
}

// planApproved reports whether everything in a plan is approved: by its spec, or name by name.
func planApproved(p *InstallPlan) bool {
	names := namesIn(p.Annotations[ApproveAnnotation])
	return p.Spec.Approved || len(names) > 0 && len(p.Spec.ClusterServiceVersionNames) > 0 && covers(names, p.Spec.ClusterServiceVersionNames)
}

// approvePart carries over the approval of a part, as far as a plan installs what it names; a plan
// that installs nothing else is approved.
func approvePart(p *InstallPlan, w *World) {
	from, approved := w.part()
	if from == nil || p.Spec.Approved {
		return
	}
	brings := func(n string) bool { return slices.Contains(p.Spec.ClusterServiceVersionNames, n) }
	names := slices.DeleteFunc(namesIn(from.Annotations[ApproveAnnotation]), func(n string) bool { return !brings(n) })
	if len(names) == 0 {
		return
	}
	held := from.Annotations[HeldAnnotation]
	if left := slices.DeleteFunc(slices.Clone(from.Spec.ClusterServiceVersionNames), func(n string) bool { return slices.Contains(approved, n) }); len(left) > 0 {
		held = strings.Join(left, ",")
	}
	p.Annotations = map[string]string{ApproveAnnotation: strings.Join(names, ",")}
	if held != "" {
		p.Annotations[HeldAnnotation] = held
	}
	if p.Spec.Approved = planApproved(p); p.Spec.Approved {
		p.Status.Phase = PlanInstalling
	}
}

// partial says what a partial approval holds back, and reports whether the part cannot be
// planned by itself: then the plan stays.
func (s *stepper) partial(planned bool) (stays bool) {
	p, approved := s.part()
	if p == nil {
		return false
	}
	subject, names := "installplan "+p.Name, strings.Join(approved, ", ")
	if !planned {
		s.block(subject, ReasonApproval, "it is approved for "+names+", which cannot be installed without the rest of "+strings.Join(p.Spec.ClusterServiceVersionNames, ", "),
			"whoever may approve install plans", "set spec.approved to true, or add what they need to annotation "+ApproveAnnotation)
		return true
	}
	if held := namesIn(p.Annotations[HeldAnnotation]); len(held) > 0 && p.Spec.Approved {
		s.block(subject, ReasonApproval, "it was approved for "+names+"; still held back: "+strings.Join(held, ", "),
			"whoever may approve install plans", "wait until this plan is complete: a plan for the rest follows, and can be approved")
	}
	return false
}
