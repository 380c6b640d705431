package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// carry advances the plan by a step. current reports whether the subscriptions
// show what it installs.
func (s *stepper) carry(current bool) {
	p := s.state.Plan
	seen := s.plan(p.Name)
	switch {
	case seen == nil:
		since := s.block(planSubject(p), ReasonPlanMissing, "it was deleted while it was being applied", "whoever deleted it",
			"restore it, or wait: the rest is then planned again")
		if limit := since.Add(s.policy.MissingPlanTimeout); s.now.Before(limit) {
			s.At(limit)
		} else {
			s.state.Plan = nil
			s.At(s.now)
		}
		return
	case !planApproved(seen):
		message := "it requires approval: it installs " + strings.Join(seen.Spec.ClusterServiceVersionNames, ", ")
		if names := namesIn(seen.Annotations[ApproveAnnotation]); len(names) > 0 {
			message += "; approved is " + strings.Join(names, ", ")
		}
		s.block(planSubject(p), ReasonApproval, message, "whoever may approve install plans", "set spec.approved to true")
		return
	case !s.faithful(seen):
		s.block(planSubject(p), ReasonPlanChanged, "its steps were changed after it was made, so it is not applied", "whoever changed it", "delete it: a new plan is then made")
		return
	case !current, !p.Started && !s.permitted(seen):
		return
	case s.barred != nil: // since it has begun
		s.refuse(planSubject(p), s.barred, "fix this first; nothing more of the plan is applied until then")
		return
	}
	if p.Started = true; p.Began.IsZero() {
		p.Began = s.now
	}
	for i := range p.Steps {
		if m, ok := s.mark(p.Steps[i].Ref); ok && m.Digest == p.Steps[i].Digest {
			p.Steps[i].Done = true
		}
	}
	if !p.done() && p.Failed == "" {
		p.Failed = s.exhausted(p)
	}
	switch {
	case p.done():
		s.writePhase(seen, PlanComplete)
	case p.Failed != "":
		s.writePhase(seen, PlanFailed)
	default:
		s.writePhase(seen, PlanInstalling)
		s.apply(seen)
	}
}

// faithful reports whether a plan in the cluster still has the planned steps.
func (s *stepper) faithful(seen *InstallPlan) bool {
	return s.state.Plan.same(memoryOf(seen, s.state.Plan.Current))
}

// writePhase updates the status of the plan in the cluster if its phase
// differs.
func (s *stepper) writePhase(seen *InstallPlan, phase PlanPhase) {
	if seen.Status.Phase == phase {
		return
	}
	p := s.state.Plan
	next := *seen
	next.Spec.Approved, next.Status.Phase = true, phase
	next.Status.Plan = slices.Clone(seen.Status.Plan)
	for i := range next.Status.Plan {
		if p.Steps[i].Done {
			next.Status.Plan[i].Status = StepCreated
		}
	}
	installed := olm.Condition{Type: PlanInstalled, Status: fairlead.ConditionTrue, LastTransitionTime: s.now}
	if phase == PlanFailed {
		installed.Status, installed.Reason, installed.Message = fairlead.ConditionFalse, ReasonPlanFailed, p.Failed
	}
	if phase != PlanInstalling {
		next.Status.Conditions = fairlead.SetCondition(seen.Status.Conditions, installed)
	}
	s.block(planSubject(p), ReasonActionPending, s.doing(WritePlan{Plan: next}, fmt.Sprintf("its phase is being set to %s", phase)), theBackend, "wait until its phase is "+string(phase))
}

// apply applies the steps of the first stage that is not complete.
func (s *stepper) apply(seen *InstallPlan) {
	p := s.state.Plan
	at := 3
	for _, step := range p.Steps {
		if !step.Done {
			at = min(at, stage(step.Ref.Group, step.Ref.Kind))
		}
	}
	for i, step := range p.Steps {
		if step.Done || stage(step.Ref.Group, step.Ref.Kind) != at {
			continue
		}
		if s.refused(seen, i) { // since the plan began
			continue
		}
		m, _ := s.mark(step.Ref)
		write := ApplyStep{
			Plan: p.Name, Generation: p.Generation, Resolving: step.Resolving, Ref: step.Ref,
			Manifest: []byte(seen.Status.Plan[i].Resource.Manifest), Digest: step.Digest, Revision: m.Revision,
		}
		if at != 1 { // CRDs are the cluster's
			write.As = s.as
		}
		s.do(write)
		message := fmt.Sprintf("%s is being applied, attempt %d", step.Ref, s.Attempts(write.Key()))
		s.block(planSubject(p)+" step "+step.Ref.String(), ReasonStepPending, s.Because(message, write.Key()), theBackend, "wait until the object is observed as planned")
	}
}

// refused reports whether a step of a plan that has begun must not be applied any
// longer, and says why.
func (s *stepper) refused(seen *InstallPlan, i int) bool {
	step := &s.state.Plan.Steps[i]
	subject := planSubject(s.state.Plan) + " step " + step.Ref.String()
	if text := s.unsafe(seen, i); text != "" {
		s.unsafeBlock(step.Ref, text)
		return true
	}
	if text := s.foreign(step.Ref, step.Digest); text != "" {
		s.foreignBlock(subject, text)
		return true
	}
	if s.as == "" {
		return false
	}
	var mine []scope.Step // with the roles that bindings refer to
	for j := range seen.Status.Plan {
		if p := &seen.Status.Plan[j]; p.Resource.Group == groupRBAC || j == i {
			mine = append(mine, s.taking(p))
		}
	}
	err := s.may(mine...)
	if steps, all := refusedOf(err); all || steps[step.Ref] {
		s.refuse(subject, err, "fix this first; the step is not applied until then")
		return true
	}
	return false
}
