package install

import (
	"slices"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/crd"
)

// repair adds the steps that restore what operators have lost.
func repair(p *InstallPlan, w *World, x *index) {
	written := make(map[Ref]bool)
	for _, c := range x.operators {
		if !x.stays(c) {
			continue
		}
		lost := slices.DeleteFunc(stepsOf(w, x, c), func(s PlanStep) bool { return written[stepRef(&s, w.Namespace)] || !x.lost(w, c, &s) })
		if len(lost) == 0 {
			continue
		}
		for i := range lost {
			written[stepRef(&lost[i], w.Namespace)] = true
		}
		p.Status.Plan = append(p.Status.Plan, lost...)
		p.Spec.ClusterServiceVersionNames = append(p.Spec.ClusterServiceVersionNames, c.Name)
	}
}

// stays reports whether an operator is neither being removed nor waiting for
// somebody to fix the plan that should install it.
func (x *index) stays(c *CSV) bool {
	return x.next[c.Name] == nil && c.Status.Phase != olm.PhaseReplacing && c.Status.Phase != PhaseDeleting && !x.stuck(c.Name)
}

// lost reports whether the object of a step is gone, or is still as the previous
// operator had it. A missing CSV is not repaired here, and users may delete their
// subscriptions.
func (x *index) lost(w *World, c *CSV, s *PlanStep) bool {
	ref := stepRef(s, w.Namespace)
	switch {
	case stageOf(&s.Resource) == 0, ref.Kind == kindSubscription && ref.Group == groupOLM:
		return false
	case stageOf(&s.Resource) == 1:
		return x.crds[ref.Name] == nil || x.behind(x.crds[ref.Name], c, s)
	}
	o := x.objects[ref]
	return o == nil || o.Owner != c.Name && x.latest(o.Owner) == c.Name
}

// behind reports whether a CRD does not serve a version that an operator owns and
// that the operator's step would serve.
func (x *index) behind(is *CRD, c *CSV, s *PlanStep) bool {
	var next *crd.Definition
	for _, d := range c.Spec.CustomResourceDefinitions.Owned {
		if d.Name != is.Name || d.Version == "" || slices.Contains(is.Served(), d.Version) {
			continue
		}
		if next == nil {
			var err error
			if next, err = decodeDefinition([]byte(s.Resource.Manifest)); err != nil {
				return false
			}
		}
		if slices.Contains(next.Served(), d.Version) {
			return true
		}
	}
	return false
}

// stepsOf returns the steps that installed an operator: those of plans, the
// newest for each object, or else those from the content of its bundle.
func stepsOf(w *World, x *index, c *CSV) []PlanStep {
	var steps []PlanStep
	whole := false
	seen := make(map[Ref]bool)
	for _, p := range x.plans {
		if p.Status.Phase == PlanRequiresApproval || !slices.Contains(p.Spec.ClusterServiceVersionNames, c.Name) {
			continue
		}
		for _, s := range p.Status.Plan {
			if ref := stepRef(&s, w.Namespace); s.Resolving == c.Name && !seen[ref] {
				seen[ref] = true
				s.Status = StepUnknown
				steps = append(steps, s)
				whole = whole || stageOf(&s.Resource) == 0
			}
		}
		if whole { // earlier plans installed it before it was reinstalled
			return steps
		}
	}
	for i := range w.Contents {
		if held := &w.Contents[i]; held.Bundle == c.Name && held.Error == "" {
			choice := &olm.Choice{Candidate: olm.Candidate{Name: c.Name, Source: held.Source}, Replaces: c.Spec.Replaces}
			if all, err := bundleSteps(w, choice); err == nil {
				return all
			}
		}
	}
	return steps
}
