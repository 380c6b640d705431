package install

import (
	"slices"
)

// prune removes plans that will not be carried out, and those too old.
func (s *stepper) prune() {
	for i, p := range s.plans {
		under := s.state.Plan != nil && s.state.Plan.Name == p.Name || s.state.Removal != nil && s.state.Removal.Generation == p.Spec.Generation
		dead := p.Status.Phase != PlanComplete && p.Status.Phase != PlanFailed
		old := i >= s.policy.KeepPlans || p.Status.Phase == PlanFailed
		if part, _ := s.part(); part == p && s.state.Plan != nil && s.plan(s.state.Plan.Name) == nil {
			continue // it says what was approved, until the plan for that is observed
		}
		if !under && (dead || old && !s.unmended(p) && !s.brings(p)) {
			s.do(DeletePlan{Name: p.Name, Revision: p.Revision})
		}
	}
}

// brings reports whether a plan is the newest that installed an existing
// operator: lost objects are restored from it.
func (s *stepper) brings(p *InstallPlan) bool {
	for i := range p.Status.Plan {
		if step := &p.Status.Plan[i]; stageOf(&step.Resource) == 0 && s.csvs[step.Resource.Name] != nil && s.bringer(step.Resource.Name) == p {
			return true
		}
	}
	return false
}

// bringer returns the newest plan with the step of a CSV.
func (s *stepper) bringer(csv string) *InstallPlan {
	for _, p := range s.plans {
		if slices.ContainsFunc(p.Status.Plan, func(x PlanStep) bool { return stageOf(&x.Resource) == 0 && x.Resource.Name == csv }) {
			return p
		}
	}
	return nil
}
