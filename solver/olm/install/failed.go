package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
)

// failures reports failed plans that nothing has superseded.
func (s *stepper) failures() {
	for _, p := range s.plans {
		if !s.unmended(p) {
			continue
		}
		message := "it has failed"
		if c := fairlead.FindCondition(p.Status.Conditions, PlanInstalled); c != nil {
			message = c.Message
		}
		s.block("installplan "+p.Name, ReasonPlanFailed, message, "whoever owns the subscriptions of "+strings.Join(p.Spec.ClusterServiceVersionNames, ", "),
			"fix the cause and delete the plan, so that the rest is planned again; or publish another version in the catalog")
	}
}

// unmended reports whether a plan has failed, and something that it should have
// installed is still wanted, and not in a newer plan.
func (s *stepper) unmended(p *InstallPlan) bool {
	return p.Status.Phase == PlanFailed && slices.ContainsFunc(p.Spec.ClusterServiceVersionNames, func(name string) bool {
		return s.brought[name] == p && s.wanted(name)
	})
}

// wanted reports whether an operator is installed to stay, or chosen.
func (s *stepper) wanted(name string) bool {
	if s.csvs[name] != nil {
		return s.next[name] == nil
	}
	return s.Resolution == nil || s.Refusal != nil || slices.ContainsFunc(s.Resolution.Chosen, func(c olm.Choice) bool { return c.Name == name })
}

// failedBefore reports whether a plan that has failed would have done the same.
func (s *stepper) failedBefore(memory *Plan) bool {
	return slices.ContainsFunc(s.plans, func(p *InstallPlan) bool {
		return s.unmended(p) && memoryOf(p, nil).sameSteps(memory)
	})
}

// exhausted says why a plan has failed, or "".
func (s *stepper) exhausted(p *Plan) string {
	if limit := p.Began.Add(s.policy.PlanTimeout); s.policy.PlanTimeout > 0 {
		if !s.now.Before(limit) {
			return fmt.Sprintf("after %v %s", s.policy.PlanTimeout, s.pendingStep(p))
		}
		s.At(limit)
	}
	for i := range p.Steps {
		key := stepKey(p, &p.Steps[i])
		if n := s.policy.StepAttempts; n > 0 && !p.Steps[i].Done && s.Attempts(key) >= n && s.inVain(key) {
			return s.Because(fmt.Sprintf("%s was not applied after %d attempts", p.Steps[i].Ref, s.Attempts(key)), key)
		}
	}
	return ""
}

// inVain reports whether the effect of an action should have been observed
// since it was last decided on.
func (s *stepper) inVain(key fairlead.Key) bool {
	for _, r := range s.old.Retries {
		if r.Key == key {
			return !fairlead.Past(r.Last, s.now).Add(s.policy.backoff().After(r.Attempts)).After(s.now)
		}
	}
	return false
}

// pendingStep reports the first step that is not done.
func (s *stepper) pendingStep(p *Plan) string {
	for i := range p.Steps {
		if step := &p.Steps[i]; !step.Done {
			return s.Because(step.Ref.String()+" was not applied", stepKey(p, step))
		}
	}
	return "nothing was applied"
}

func stepKey(p *Plan, step *StepState) fairlead.Key {
	return ApplyStep{Plan: p.Name, Ref: step.Ref}.Key()
}
