package install

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// permitted reports whether a plan may start: its namespace has one operator
// group, which suits the operators, the group's service account may perform every step and write all that
// follows from its CSVs, no step would change an object of others, and none would
// break a CRD that is in use. Otherwise nothing of the plan is applied.
func (s *stepper) permitted(seen *InstallPlan) bool {
	ok := s.fits(seen)
	if err := s.may(s.scoped(seen)...); err != nil {
		s.refuse(planSubject(s.state.Plan), err, "fix this first; nothing of the plan is applied until then")
		ok = false
	}
	for i := range seen.Status.Plan {
		step := &s.state.Plan.Steps[i]
		if text := s.foreign(step.Ref, step.Digest); text != "" {
			s.foreignBlock(planSubject(s.state.Plan)+" step "+step.Ref.String(), text)
			ok = false
		}
		if text := s.calling(&seen.Status.Plan[i].Resource); text != "" {
			s.block(planSubject(s.state.Plan)+" step "+step.Ref.String(), ReasonNotPermitted, text, theAccount,
				"use a version of the operator that leaves spec.conversion out: it follows from the webhooks of the CSV; nothing of the plan is applied until then")
			ok = false
		}
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

// scoped returns what a plan needs permissions for: its steps, and what is written for
// its CSVs.
func (s *stepper) scoped(seen *InstallPlan) []scope.Step {
	if s.as == "" {
		return nil
	}
	var all []scope.Step
	for i := range seen.Status.Plan {
		p := &seen.Status.Plan[i]
		all = append(all, s.taking(p))
		if stageOf(&p.Resource) != 0 {
			continue
		}
		if csv, err := decodeCSV([]byte(p.Resource.Manifest)); err == nil { // otherwise it cannot be deployed, and fails then
			csv.Namespace = s.Namespace
			all = append(all, s.writes(&CSV{ClusterServiceVersion: csv})...)
		}
	}
	return all
}

// taking is a step of a plan, as package scope needs it.
func (s *stepper) taking(p *PlanStep) scope.Step {
	ref := stepRef(p, s.Namespace)
	_, exists := s.mark(ref)
	step, err := scope.StepOf([]byte(p.Resource.Manifest), ref.Namespace, exists)
	if err != nil { // it has neither rules nor a role
		step = scope.Step{Group: ref.Group, Kind: ref.Kind, Resource: scope.Plural(ref.Kind), Name: ref.Name, Exists: exists}
	}
	step.Namespace = ref.Namespace
	return step
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

// calling says what the API server would call to convert the objects of a CRD, if its manifest says
// so, or returns "". A CRD is written with the rights of the backend: a namespace that is limited
// to an account may have nothing called but its own services.
func (s *stepper) calling(r *StepResource) string {
	if s.as == "" || stageOf(r) != 1 {
		return ""
	}
	type config struct {
		URL     *string `json:"url"`
		Service *struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"service"`
	}
	var crd struct {
		Spec struct {
			Conversion struct {
				Old     config `json:"webhookClientConfig"` // of v1beta1
				Webhook struct {
					Config config `json:"clientConfig"`
				} `json:"webhook"`
			} `json:"conversion"`
		} `json:"spec"`
	}
	if err := json.Unmarshal([]byte(r.Manifest), &crd); err != nil {
		return fmt.Sprintf("CRD %s: %v", r.Name, err)
	}
	for _, c := range []config{crd.Spec.Conversion.Old, crd.Spec.Conversion.Webhook.Config} {
		what := ""
		switch {
		case c.URL != nil:
			what = *c.URL
		case c.Service != nil && c.Service.Namespace != s.Namespace:
			what = "service " + c.Service.Namespace + "/" + c.Service.Name
		default:
			continue
		}
		return fmt.Sprintf("CRD %s would have the API server call %s; namespace %s is limited to service account %s, and to its own services", r.Name, what, s.Namespace, s.as)
	}
	return ""
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
// namespaces; one that is being replaced and its successor count as one. Operators that are limited
// to an account count where that account may create CSVs, see claims: whoever may write a CSV in its
// own namespace cannot keep others from updating their CRDs.
func (s *stepper) owners(name string) int {
	n := 0
	if c := s.crds[name]; c != nil {
		for _, other := range c.OwnedIn {
			g, err := group.Sole(s.groups, other)
			switch {
			case err != nil:
				if !s.policy.limits(other) {
					n++
				}
			case g.Spec.ServiceAccountName == "" && len(g.Status.Namespaces) > 0:
				n++
			case slices.Contains(g.Status.Namespaces, s.Namespace), slices.Contains(g.Status.Namespaces, group.AllNamespaces):
				n++
			}
		}
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
