package install

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// permitted reports whether a plan may start: its namespace has one operator
// group, the group's service account may perform every step, and no step would
// break a CRD that is in use. Otherwise nothing of the plan is applied.
func (s *stepper) permitted(seen *InstallPlan) bool {
	ok := true
	if err := scope.Check(s.groups, s.Namespace, s.Accounts, &s.Access, s.scoped(seen)); err != nil {
		reason, owner := ReasonNotPermitted, "whoever owns the operator group and its service account"
		var sole *group.SoleError
		var account *scope.AccountError
		switch {
		case errors.As(err, &sole):
			reason, owner = string(sole.Reason()), "whoever owns the operator groups"
		case errors.As(err, &account):
			reason = group.ServiceAccountMissing
		}
		s.block(planSubject(s.state.Plan), reason, err.Error(), owner, "fix this first; nothing of the plan is applied until then")
		ok = false
	}
	for i := range seen.Status.Plan {
		if text := s.unsafe(seen, i); text != "" {
			s.unsafeBlock(s.state.Plan.Steps[i].Ref, text)
			ok = false
		}
	}
	return ok
}

func (s *stepper) unsafeBlock(ref Ref, text string) {
	s.block(planSubject(s.state.Plan)+" step "+ref.String(), ReasonUnsafeCRD, text, "whoever owns the objects of the CRD",
		"fix this first; the step is not applied until then")
}

// scoped returns what a plan needs permissions for: its steps, and the
// deployments of its operators.
func (s *stepper) scoped(seen *InstallPlan) []scope.Step {
	var all []scope.Step
	for i := range seen.Status.Plan {
		p := &seen.Status.Plan[i]
		ref := stepRef(p, s.Namespace)
		_, exists := s.mark(ref)
		step, err := scope.StepOf([]byte(p.Resource.Manifest), ref.Namespace, exists)
		if err != nil { // it has neither rules nor a role
			step = scope.Step{Group: ref.Group, Kind: ref.Kind, Resource: scope.Plural(ref.Kind), Namespace: ref.Namespace, Name: ref.Name, Exists: exists}
		}
		step.Namespace = ref.Namespace
		all = append(all, step)
		if stageOf(&p.Resource) == 0 {
			all = append(all, s.deployments(p)...)
		}
	}
	return all
}

// deployments are those that the CSV of a step will have.
func (s *stepper) deployments(p *PlanStep) []scope.Step {
	csv, err := decodeCSV([]byte(p.Resource.Manifest))
	if err != nil {
		return nil // it cannot be deployed, and fails then
	}
	var all []scope.Step
	for _, d := range csv.Spec.Install.Spec.Deployments {
		all = append(all, scope.Step{Group: "apps", Kind: "Deployment", Resource: "deployments", Namespace: s.Namespace, Name: d.Name})
	}
	return all
}

// unsafe says what a step of a plan would break, if it writes an existing CRD;
// otherwise "".
func (s *stepper) unsafe(seen *InstallPlan, i int) string {
	step := &seen.Status.Plan[i]
	old := s.crds[step.Resource.Name]
	if stageOf(&step.Resource) != 1 || old == nil || old.Digest == s.state.Plan.Steps[i].Digest {
		return ""
	}
	next, err := decodeDefinition([]byte(step.Resource.Manifest))
	if err != nil {
		return fmt.Sprintf("CRD %s: %v; the authors of the bundle have to correct it", step.Resource.Name, err)
	}
	v := crd.Replace(&old.Definition, next, s.owners(old.Name)+s.joining(seen, step.Resolving), resources(s.Resources), crd.Structural{}, nil)
	return v.String()
}

// joining is 1 for an operator in a plan that neither exists nor replaces one
// that does: it becomes another owner of the CRDs of the plan.
func (s *stepper) joining(seen *InstallPlan, csv string) int {
	for i := range seen.Status.Plan {
		p := &seen.Status.Plan[i]
		if stageOf(&p.Resource) != 0 || p.Resource.Name != csv || s.csvs[csv] != nil {
			continue
		}
		if c, err := decodeCSV([]byte(p.Resource.Manifest)); err == nil && s.csvs[c.Spec.Replaces] == nil {
			return 1
		}
	}
	return 0
}

// owners counts the operators that own a CRD, including those of other
// namespaces; one that is being replaced and its successor count as one.
func (s *stepper) owners(name string) int {
	n := 0
	if c := s.crds[name]; c != nil {
		n = c.OwnedElsewhere
	}
	for _, c := range s.operators {
		owns := slices.ContainsFunc(c.Spec.CustomResourceDefinitions.Owned, func(d olm.CRDDescription) bool { return d.Name == name })
		if owns && s.next[c.Name] == nil {
			n++
		}
	}
	return n
}

// resources are custom resources, as package crd needs them.
type resources []Resource

// Objects implements crd.World.
func (r resources) Objects(definition, version string) ([]crd.Object, error) {
	var found []crd.Object
	for i := range r {
		if r[i].CRD == definition && r[i].Version == version {
			found = append(found, r[i].Object)
		}
	}
	slices.SortFunc(found, func(a, b crd.Object) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return found, nil
}
