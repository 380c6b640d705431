package install

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// advance makes a plan if there is none, and carries it out.
func (s *stepper) advance() {
	ready := s.adopt()
	current := s.subscriptions()
	if s.state.Plan != nil && ready {
		s.carry(current)
	}
}

// finish drops the plan from the state when the cluster shows it as complete or failed.
func (s *stepper) finish() {
	p := s.state.Plan
	if p == nil {
		return
	}
	p.Since, p.Began = fairlead.Past(p.Since, s.now), fairlead.Past(p.Began, s.now)
	seen := s.plan(p.Name)
	if seen != nil && (seen.Status.Phase == PlanFailed || seen.Status.Phase == PlanComplete && p.done()) {
		s.state.Plan = nil
	}
}

func planSubject(p *Plan) string { return "installplan " + p.Name }

// namespaceSubject is the subject of Blocks about all operators.
func (s *stepper) namespaceSubject() string { return "namespace " + s.Namespace }

// adopt makes a plan from what the resolver has chosen and what operators have lost, unless
// one has started. It reports whether there is a plan that may proceed.
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
		s.block(s.namespaceSubject(), ReasonContentInvalid, err.Error(), "the authors of the bundle", "publish a corrected bundle in the catalog")
		return false
	}
	memory := memoryOf(fresh, current)
	if stays := s.partial(len(memory.Steps) > 0); stays && settled {
		return false
	}
	if len(memory.Steps) == 0 && !settled {
		if p != nil {
			s.block(planSubject(p), ReasonPlanHeld, "it does not start until the resolver confirms that it is still wanted", s.namespaceSubject(), "see the other blocks of the namespace: it must be resolved, and its bundles unpacked")
		}
		return false
	}
	if len(memory.Steps) == 0 || s.failedBefore(memory) {
		s.state.Plan = nil
		return false
	}
	if p != nil && p.same(memory) {
		if fresh, _, err = newPlan(s.World, s.index, res, p.Generation); err != nil { // under its old name
			return false
		}
	} else {
		memory.Since = s.now
		s.state.Plan, s.state.Generation = memory, memory.Generation
	}
	return s.published(fresh)
}

// usable returns what the resolver has chosen, if all of it can be planned. Settled is false
// if the choice is not known, or not yet unpacked.
func (s *stepper) usable() (res *olm.Resolution, settled bool) {
	s.conflicts()
	if r := s.Refusal; r != nil {
		s.block(s.namespaceSubject(), r.Reason, r.Message, "whoever owns the subscriptions and catalogs", "change the subscriptions or the installed operators, or update the catalogs")
		if r.Again {
			s.At(s.now.Add(time.Minute))
		}
		if s.Resolution == nil {
			return nil, r.Reason != ReasonResolutionError
		}
	}
	if s.Resolution == nil || len(s.Resolution.Chosen) == 0 {
		s.held()
		return nil, true
	}
	if s.occupied() || !s.unpacked() {
		return nil, false
	}
	return s.Resolution, true
}

// occupied reports whether the namespace has a copied CSV in place of a chosen operator: an
// object of its name, which another namespace's operator group keeps there.
func (s *stepper) occupied() bool {
	is := false
	for i := range s.Resolution.Chosen {
		name := s.Resolution.Chosen[i].Name
		at := slices.IndexFunc(s.CSVs, func(c CSV) bool { return c.Copied() && c.Name == name })
		if at < 0 {
			continue
		}
		is = true
		from := s.CSVs[at].Labels[group.CopiedFromLabel]
		s.block("csv "+name, ReasonNameTaken, fmt.Sprintf("it cannot be installed: %s has a copy of the one in %s, whose operator group also selects this namespace", s.Namespace, from),
			"whoever owns the subscriptions", fmt.Sprintf("delete the subscription here and use the operator of %s, or remove %s from the targets of the operator group in %s", from, s.Namespace, from))
	}
	return is
}

// published reports whether the plan is in the cluster, and writes it if not.
func (s *stepper) published(fresh *InstallPlan) bool {
	if s.plan(fresh.Name) != nil {
		return true
	}
	s.block(planSubject(s.state.Plan), ReasonPlanPending, s.doing(WritePlan{Plan: *fresh}, "it is being written"), theBackend, "wait until it exists")
	return false
}

// nextGeneration is one more than the highest generation that any plan has or had.
func (s *stepper) nextGeneration() int {
	newest := s.old.Generation
	for i := range s.Plans {
		newest = max(newest, s.Plans[i].Spec.Generation)
	}
	return newest + 1
}

// held reports which operators are not at the head of their channel, and why.
func (s *stepper) held() {
	if s.Resolution == nil {
		return
	}
	for _, o := range s.Resolution.Subscriptions {
		if o.Operator != "" && o.Operator != o.Head && len(o.Why) > 0 {
			s.block("subscription "+o.Subscription, ReasonHeld, fmt.Sprintf("it stays at %s: %s", o.Operator, o.Why[0]),
				"whoever owns the subscriptions and catalogs", "remove the obstacle; "+o.Head+" can then be installed")
		}
	}
}

// conflicts reports the subscriptions that the resolution left out.
func (s *stepper) conflicts() {
	if s.Resolution == nil {
		return
	}
	for i := range s.Resolution.Subscriptions {
		if o := &s.Resolution.Subscriptions[i]; o.Operator == "" {
			s.block("subscription "+o.Subscription, ReasonUnsatisfiable, leftOut(o), "whoever owns the subscriptions", "change the subscriptions or the catalogs")
		}
	}
}

// unpacked reports whether the contents of all chosen bundles are unpacked, and requests the
// missing ones.
func (s *stepper) unpacked() bool {
	all := true
	for i := range s.Resolution.Chosen {
		c := s.Resolution.Chosen[i].Candidate
		content := s.content(c.Source, c.Name)
		if content != nil && content.Error == "" {
			continue
		}
		all = false
		ask := Unpack{Source: c.Source, Package: c.Package, Bundle: c.Name}
		if s.Due(ask.Key()) {
			s.unpacks = append(s.unpacks, ask)
		}
		reason, message := ReasonUnpacking, "it is being unpacked"
		if content != nil {
			reason, message = ReasonUnpackFailed, message+": the last attempt failed: "+content.Error
		} else if o := s.Outcome(ask.Key()); o != nil && o.Failed {
			reason, message = ReasonUnpackFailed, s.Because(message, ask.Key())
		}
		s.block("bundle "+c.Name, reason, message, "catalog "+c.Source.String(), "make its content available")
	}
	return all
}
