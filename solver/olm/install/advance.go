package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/object"
	"github.com/fairlead/fairlead/solver/olm"
)

// advance makes a plan if there is none, and carries it out.
func (s *stepper) advance() {
	ready := s.adopt()
	current := s.subscriptions()
	if s.state.Plan != nil && ready {
		s.carry(current)
	}
}

// finish forgets the plan when the cluster shows it as complete, or failed.
func (s *stepper) finish() {
	p := s.state.Plan
	if p == nil {
		return
	}
	seen := s.plan(p.Name)
	if seen != nil && (seen.Status.Phase == PlanFailed || seen.Status.Phase == PlanComplete && p.done()) {
		s.state.Plan = nil
	}
}

func planSubject(p *Plan) string { return "installplan " + p.Name }

// namespaceSubject is the subject of what is about all operators.
func (s *stepper) namespaceSubject() string { return "namespace " + s.Namespace }

// adopt makes a plan of what the resolver has chosen, and of what operators have
// lost, unless one has begun. It reports whether there is a plan that may go on.
func (s *stepper) adopt() bool {
	s.failures()
	p := s.state.Plan
	if p != nil && p.Started {
		return true
	}
	res, settled := s.usable()
	fresh, current, err := newPlan(s.World, s.index, res, s.nextGeneration())
	if err != nil {
		s.state.Plan = nil
		s.block(s.namespaceSubject(), ReasonContentInvalid, err.Error(), "the authors of the bundle", "the catalog offers a sound bundle")
		return false
	}
	memory := fresh.memory(current)
	if len(memory.Steps) == 0 && !settled {
		return false
	}
	if len(memory.Steps) == 0 || s.failedBefore(memory) {
		s.state.Plan = nil
		return false
	}
	if p != nil && p.same(memory) {
		if fresh, _, err = newPlan(s.World, s.index, res, p.Generation); err != nil { // under the name that it has
			return false
		}
	} else {
		memory.Since = s.now
		s.state.Plan, s.state.Generation = memory, memory.Generation
	}
	return s.published(fresh)
}

// usable returns what the resolver has chosen, if all of it can be planned.
// Settled is false if it is not known what to choose, or not yet unpacked.
func (s *stepper) usable() (res *olm.Resolution, settled bool) {
	for _, b := range s.conflicts() {
		s.block(b.subject, ReasonUnsatisfiable, b.message, "whoever owns the subscriptions", "the subscriptions or the catalogs change")
	}
	if r := s.Refusal; r != nil {
		s.block(s.namespaceSubject(), r.Reason, r.Message, "whoever owns the subscriptions and catalogs", "the subscriptions, the operators or the catalogs change")
		return nil, r.Reason != ReasonResolutionError
	}
	if s.Resolution == nil || len(s.Resolution.Chosen) == 0 {
		s.held()
		return nil, true
	}
	if !s.unpacked() {
		return nil, false
	}
	return s.Resolution, true
}

// failures tells of plans that have failed and that nothing has made good.
func (s *stepper) failures() {
	for _, p := range s.plans {
		if !s.unmended(p) {
			continue
		}
		message := "it has failed"
		if c := object.FindCondition(p.Status.Conditions, PlanInstalled); c != nil {
			message = c.Message
		}
		s.block("installplan "+p.Name, ReasonPlanFailed, message, "whoever owns the subscriptions of "+strings.Join(p.Spec.ClusterServiceVersionNames, ", "),
			"its cause is mended and the plan deleted: then what remains is planned anew; or the catalog offers another version")
	}
}

// unmended reports whether a plan has failed, and something that it was to bring
// is still wanted, and not brought by a newer one.
func (s *stepper) unmended(p *InstallPlan) bool {
	return p.Status.Phase == PlanFailed && slices.ContainsFunc(p.Spec.ClusterServiceVersionNames, func(name string) bool {
		return s.brought[name] == p && s.wanted(name)
	})
}

// wanted reports whether an operator is there to stay, or chosen.
func (s *stepper) wanted(name string) bool {
	if s.csvs[name] != nil {
		return s.next[name] == nil
	}
	return s.Resolution == nil || slices.ContainsFunc(s.Resolution.Chosen, func(c olm.Choice) bool { return c.Name == name })
}

// failedBefore reports whether a plan that has failed would have done the same.
func (s *stepper) failedBefore(memory *Plan) bool {
	return slices.ContainsFunc(s.plans, func(p *InstallPlan) bool {
		return s.unmended(p) && p.memory(nil).sameSteps(memory)
	})
}

// published reports whether the plan is seen in the cluster, and writes it if
// it is not.
func (s *stepper) published(fresh *InstallPlan) bool {
	if s.plan(fresh.Name) != nil {
		return true
	}
	_, failure := s.do(WritePlan{Plan: *fresh})
	s.block(planSubject(s.state.Plan), ReasonPlanPending, because("it is being written", failure), theBackend, "it is there")
	return false
}

// nextGeneration is one more than any plan has or had.
func (s *stepper) nextGeneration() int {
	newest := s.old.Generation
	for i := range s.Plans {
		newest = max(newest, s.Plans[i].Spec.Generation)
	}
	return newest + 1
}

// held tells which operators are not the newest of their channel, and why.
func (s *stepper) held() {
	if s.Resolution == nil {
		return
	}
	for _, o := range s.Resolution.Subscriptions {
		if o.Operator != "" && o.Operator != o.Head && len(o.Why) > 0 {
			s.block("subscription "+o.Subscription, ReasonHeld, fmt.Sprintf("it stays at %s: %s", o.Operator, o.Why[0]),
				"whoever owns the subscriptions and catalogs", "that is changed; "+o.Head+" is then within reach")
		}
	}
}

type conflict struct{ subject, message string }

// conflicts are those that the resolution has left out.
func (s *stepper) conflicts() []conflict {
	if s.Resolution == nil {
		return nil
	}
	var all []conflict
	for _, o := range s.Resolution.Subscriptions {
		if o.Operator == "" {
			all = append(all, conflict{"subscription " + o.Subscription, "it cannot be served together with others"})
		}
	}
	return all
}

// unpacked reports whether the contents of all that was chosen are there, and
// asks for those that are not.
func (s *stepper) unpacked() bool {
	all := true
	for i := range s.Resolution.Chosen {
		c := s.Resolution.Chosen[i].Candidate
		content := s.content(c.Source, c.Name)
		if content != nil && content.Error == "" {
			continue
		}
		all = false
		_, failure := s.do(Unpack{Candidate: c})
		if content != nil {
			failure = content.Error
		}
		reason := ReasonUnpacking
		if failure != "" {
			reason = ReasonUnpackFailed
		}
		s.block("bundle "+c.Name, reason, because("it is being unpacked", failure), "catalog "+c.Source.String(), "its content can be had")
	}
	return all
}

// carry takes the plan a step further. current tells whether the subscriptions
// show what it brings.
func (s *stepper) carry(current bool) {
	p := s.state.Plan
	seen := s.plan(p.Name)
	switch {
	case seen == nil:
		since := s.block(planSubject(p), ReasonPlanMissing, "it has gone while it was carried out", "whoever deleted it",
			"it comes back; otherwise what remains is planned anew")
		if limit := since.Add(s.policy.MissingPlanTimeout); s.now.Before(limit) {
			s.at(limit)
		} else {
			s.state.Plan = nil
			s.at(s.now)
		}
		return
	case !seen.Spec.Approved:
		s.block(planSubject(p), ReasonApproval, "it waits for approval: it brings "+strings.Join(seen.Spec.ClusterServiceVersionNames, ", "),
			"whoever may approve install plans", "its spec.approved is true")
		return
	case !s.faithful(seen):
		s.block(planSubject(p), ReasonPlanChanged, "its steps are not those that were planned", "whoever changed it", "it is deleted; then it is planned anew")
		return
	case !current, !p.Started && !s.permitted(seen):
		return
	}
	if p.Started = true; p.Began.IsZero() || p.Began.After(s.now) {
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

// exhausted says why a plan has failed, or "".
func (s *stepper) exhausted(p *Plan) string {
	if limit := p.Began.Add(s.policy.PlanTimeout); s.policy.PlanTimeout > 0 {
		if !s.now.Before(limit) {
			return fmt.Sprintf("after %v %s", s.policy.PlanTimeout, s.pendingStep(p))
		}
		s.at(limit)
	}
	for i := range p.Steps {
		r := s.retry(stepKey(p, &p.Steps[i]))
		if n := s.policy.StepAttempts; n > 0 && !p.Steps[i].Done && r.Attempts >= n && !r.Next.After(s.now) {
			return because(fmt.Sprintf("%s was not applied after %d attempts", p.Steps[i].Ref, r.Attempts), s.failure(r.Key))
		}
	}
	return ""
}

// pendingStep tells of the first step that is not done.
func (s *stepper) pendingStep(p *Plan) string {
	for i := range p.Steps {
		if step := &p.Steps[i]; !step.Done {
			return because(step.Ref.String()+" was not applied", s.failure(stepKey(p, step)))
		}
	}
	return "nothing was applied"
}

func stepKey(p *Plan, step *StepState) string {
	return Key(ApplyStep{Plan: p.Name, Ref: step.Ref})
}

// faithful reports whether a plan that is seen has the steps that were planned.
func (s *stepper) faithful(seen *InstallPlan) bool {
	return s.state.Plan.same(seen.memory(s.state.Plan.Current))
}

// writePhase updates the status of the plan in the cluster, if that is at
// another phase.
func (s *stepper) writePhase(seen *InstallPlan, phase PlanPhase) {
	if seen.Status.Phase == phase {
		return
	}
	p := s.state.Plan
	next := *seen
	next.Status.Phase = phase
	next.Status.Plan = slices.Clone(seen.Status.Plan)
	for i := range next.Status.Plan {
		if p.Steps[i].Done {
			next.Status.Plan[i].Status = StepCreated
		}
	}
	installed := olm.Condition{Type: PlanInstalled, Status: object.ConditionTrue, LastTransitionTime: s.now}
	if phase == PlanFailed {
		installed.Status, installed.Reason, installed.Message = object.ConditionFalse, ReasonPlanFailed, p.Failed
	}
	if phase != PlanInstalling {
		next.Status.Conditions = object.SetCondition(seen.Status.Conditions, installed)
	}
	_, failure := s.do(WritePlan{Plan: next})
	s.block(planSubject(p), ReasonActionPending, because(fmt.Sprintf("its phase is being set to %s", phase), failure), theBackend, "its phase is "+string(phase))
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
		if text := s.unsafe(seen, i); text != "" { // since the plan began
			s.unsafeBlock(step.Ref, text)
			continue
		}
		m, _ := s.mark(step.Ref)
		attempts, failure := s.do(ApplyStep{
			Plan: p.Name, Generation: p.Generation, Resolving: step.Resolving, Ref: step.Ref,
			Manifest: []byte(seen.Status.Plan[i].Resource.Manifest), Digest: step.Digest, Revision: m.Revision,
		})
		message := fmt.Sprintf("%s is being applied, attempt %d", step.Ref, attempts)
		s.block(planSubject(p)+" step "+step.Ref.String(), ReasonStepPending, because(message, failure), theBackend, "the object is seen as planned")
	}
}

// prune removes plans that will not be carried out, and those too old.
func (s *stepper) prune() {
	for i, p := range s.plans {
		under := s.state.Plan != nil && s.state.Plan.Name == p.Name || s.state.Removal != nil && s.state.Removal.Generation == p.Spec.Generation
		dead := p.Status.Phase != PlanComplete && p.Status.Phase != PlanFailed
		old := i >= s.policy.KeepPlans || p.Status.Phase == PlanFailed
		if !under && (dead || old && !s.unmended(p) && !s.brings(p)) {
			s.do(DeletePlan{Name: p.Name, Revision: p.Revision})
		}
	}
}

// brings reports whether a plan has brought an operator that is there, and is
// the newest that has: what that loses is taken from it.
func (s *stepper) brings(p *InstallPlan) bool {
	for i := range p.Status.Plan {
		if step := &p.Status.Plan[i]; step.Resource.stage() == 0 && s.csvs[step.Resource.Name] != nil && s.bringer(step.Resource.Name) == p {
			return true
		}
	}
	return false
}

// bringer returns the newest plan with the step of a CSV.
func (s *stepper) bringer(csv string) *InstallPlan {
	for _, p := range s.plans {
		if slices.ContainsFunc(p.Status.Plan, func(x PlanStep) bool { return x.Resource.stage() == 0 && x.Resource.Name == csv }) {
			return p
		}
	}
	return nil
}
