package install

import (
	"fmt"
	"slices"
	"strings"
)

// advance makes a plan if there is none, and carries it out.
func (s *stepper) advance() {
	s.finish()
	ready := s.adopt()
	current := s.subscriptions()
	if s.state.Plan != nil && ready {
		s.carry(current)
	}
}

// finish forgets the plan when the cluster shows it as complete.
func (s *stepper) finish() {
	if p := s.state.Plan; p != nil && p.done() {
		if seen := s.plan(p.Name); seen != nil && seen.Status.Phase == PlanComplete {
			s.state.Plan = nil
		}
	}
}

func planSubject(p *Plan) string { return "installplan " + p.Name }

// namespaceSubject is the subject of what is about all operators.
func (s *stepper) namespaceSubject() string { return "namespace " + s.Namespace }

// adopt makes a plan of what the resolver has chosen, unless one has begun, and
// reports whether there is a plan that may go on.
func (s *stepper) adopt() bool {
	p := s.state.Plan
	if p != nil && p.Started {
		return true
	}
	for _, b := range s.conflicts() {
		s.block(b.subject, ReasonUnsatisfiable, b.message, "whoever owns the subscriptions", "the subscriptions or the catalogs change")
	}
	if r := s.Refusal; r != nil {
		if r.Reason == ReasonUnsatisfiable {
			s.state.Plan = nil
		}
		s.block(s.namespaceSubject(), r.Reason, r.Message, "whoever owns the subscriptions and catalogs", "the subscriptions, the operators or the catalogs change")
		return false
	}
	if s.Resolution == nil || len(s.Resolution.Chosen) == 0 {
		s.held()
		s.state.Plan = nil
		return false
	}
	if !s.unpacked() {
		return false
	}
	fresh, err := NewInstallPlan(s.World, s.nextGeneration())
	if err != nil {
		s.state.Plan = nil
		s.block(s.namespaceSubject(), ReasonContentInvalid, err.Error(), "the authors of the bundle", "the catalog offers a sound bundle")
		return false
	}
	memory := fresh.memory(currents(s.Resolution))
	if p != nil && p.same(memory) {
		fresh, err = NewInstallPlan(s.World, p.Generation) // under the name that it has
		if err != nil {
			return false
		}
	} else {
		memory.Since = s.now
		s.state.Plan, s.state.Generation = memory, memory.Generation
	}
	return s.published(fresh)
}

// published reports whether the plan is seen in the cluster, and writes it if
// it is not.
func (s *stepper) published(fresh *InstallPlan) bool {
	if s.plan(fresh.Name) != nil {
		return true
	}
	_, failure := s.do(WritePlan{Plan: *fresh})
	s.block(planSubject(s.state.Plan), ReasonPlanPending, because("it is being written", failure), "", "it is there")
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
	case !current:
		return
	}
	p.Started = true
	for i := range p.Steps {
		if m, ok := s.mark(p.Steps[i].Ref); ok && m.Digest == p.Steps[i].Digest {
			p.Steps[i].Done = true
		}
	}
	phase := PlanInstalling
	if p.done() {
		phase = PlanComplete
	}
	if seen.Status.Phase != phase {
		s.writePhase(seen, phase)
	}
	s.apply(seen)
}

// faithful reports whether a plan that is seen has the steps that were planned.
func (s *stepper) faithful(seen *InstallPlan) bool {
	return s.state.Plan.same(seen.memory(s.state.Plan.Current))
}

// writePhase updates the status of the plan in the cluster.
func (s *stepper) writePhase(seen *InstallPlan, phase PlanPhase) {
	next := *seen
	next.Status.Phase = phase
	next.Status.Plan = slices.Clone(seen.Status.Plan)
	for i := range next.Status.Plan {
		if s.state.Plan.Steps[i].Done {
			next.Status.Plan[i].Status = StepCreated
		}
	}
	_, failure := s.do(WritePlan{Plan: next})
	s.block(planSubject(s.state.Plan), ReasonActionPending, because(fmt.Sprintf("its phase is being set to %s", phase), failure), "", "its phase is "+string(phase))
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
		m, _ := s.mark(step.Ref)
		attempts, failure := s.do(ApplyStep{
			Plan: p.Name, Generation: p.Generation, Resolving: step.Resolving, Ref: step.Ref,
			Manifest: []byte(seen.Status.Plan[i].Resource.Manifest), Digest: step.Digest, Revision: m.Revision,
		})
		message := fmt.Sprintf("%s is being applied, attempt %d", step.Ref, attempts)
		s.block(planSubject(p)+" step "+step.Ref.String(), ReasonStepPending, because(message, failure), "", "the object is seen as planned")
	}
}

// prune removes plans that will not be carried out, and those too old.
func (s *stepper) prune() {
	plans := make([]*InstallPlan, len(s.Plans))
	for i := range s.Plans {
		plans[i] = &s.Plans[i]
	}
	slices.SortFunc(plans, func(a, b *InstallPlan) int { return b.Spec.Generation - a.Spec.Generation })
	for i, p := range plans {
		under := s.state.Plan != nil && s.state.Plan.Name == p.Name
		if dead := p.Status.Phase != PlanComplete; !under && (dead || i >= s.policy.KeepPlans) {
			s.do(DeletePlan{Name: p.Name, Revision: p.Revision})
		}
	}
}
