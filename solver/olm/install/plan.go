package install

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/gate"
	"github.com/fairlead/fairlead/solver/olm/internal/manifest"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// The types of an install plan are those of package resource.
type (
	InstallPlan       = resource.InstallPlan       // what a plan installs
	InstallPlanSpec   = resource.InstallPlanSpec   // what it is for
	InstallPlanStatus = resource.InstallPlanStatus // how far it is
	PlanStep          = resource.PlanStep          // one object of it
	StepResource      = resource.StepResource      // the object
	PlanPhase         = resource.PlanPhase         // of the whole plan
	StepStatus        = resource.StepStatus        // of a step
)

// The phases of an install plan and the statuses of its steps that are written.
const (
	PlanRequiresApproval = resource.PlanRequiresApproval // it waits for someone to approve it
	PlanInstalling       = resource.PlanInstalling       // its steps are being applied
	PlanComplete         = resource.PlanComplete         // all its steps have been applied
	PlanFailed           = resource.PlanFailed           // it took too long, or a step too many attempts
	StepUnknown          = resource.StepUnknown          // it has not been applied, as far as is known
	StepCreated          = resource.StepCreated          // it has been applied
)

// PlanInstalled is the condition of a plan that says whether its steps were
// applied. False comes with ReasonPlanFailed and the cause.
const PlanInstalled = resource.PlanInstalled

// ContentError says that no plan can be made from the content of a bundle.
type ContentError struct {
	Bundle string // the bundle's name
	Err    error  // what is wrong
}

// Error implements error.
func (e *ContentError) Error() string { return fmt.Sprintf("bundle %s: %v", e.Bundle, e.Err) }

// Unwrap returns the cause.
func (e *ContentError) Unwrap() error { return e.Err }

// NewInstallPlan makes the plan for the bundles in World.Resolution, whose
// contents must all be in World.Contents.
//
//  1. Each bundle adds the steps of its manifests and of its CSV's permissions: a
//     service account, unless it is the one named default, and roles and
//     bindings.
//  2. A CSV is put into the namespace, with the CSV that it replaces and the
//     bundle's properties. So are all other objects that have a namespace.
//  3. A bundle chosen only because others require it adds one more step, its
//     subscription, whose approval is Automatic and whose startingCSV is the
//     chosen one.
//  4. CSVs come first, then CRDs, then the rest; within each, bundles in the
//     order of the resolution and objects in that of the bundle.
//  5. If operators have lost objects that earlier plans installed, the plan
//     restores these and nothing else of the operators; not those of operators
//     that are being removed, or whose plan has failed, nor subscriptions.
//  6. Approval is Manual if any subscription of the namespace is; otherwise the
//     plan is approved. So is one that installs only what was approved of another
//     one under way ([ApproveAnnotation]).
//
// The error is a *ContentError: a bundle that is not unpacked, has no CSV of
// its name, holds an object without a name or kind, or writes an object of
// another bundle of the plan. Without a Resolution only 5 gives steps.
func NewInstallPlan(w *World, generation int) (*InstallPlan, error) {
	p, _, err := newPlan(w, newIndex(w), w.Resolution, generation)
	return p, err
}

// newPlan is NewInstallPlan for a resolution, which may be nil. Current are the
// subscriptions that the plan serves.
func newPlan(w *World, x *index, res *olm.Resolution, generation int) (p *InstallPlan, current []Current, err error) {
	p = &InstallPlan{
		ObjectMeta: olm.ObjectMeta{Name: planName(generation), Namespace: w.Namespace},
		Spec:       InstallPlanSpec{Approval: planApproval(w.Subscriptions), Generation: generation},
		Status:     InstallPlanStatus{Phase: PlanInstalling},
	}
	p.Spec.Approved = p.Spec.Approval == olm.ApprovalAutomatic
	if !p.Spec.Approved {
		p.Status.Phase = PlanRequiresApproval
	}
	repair(p, w, x)
	if len(p.Status.Plan) == 0 && res != nil {
		if err := bring(p, w, res); err != nil {
			return nil, nil, err
		}
		current = currents(res)
	}
	approvePart(p, w)
	slices.SortStableFunc(p.Status.Plan, func(a, b PlanStep) int { return stageOf(&a.Resource) - stageOf(&b.Resource) })
	for i := range p.Status.Plan {
		p.Status.CatalogSources = append(p.Status.CatalogSources, p.Status.Plan[i].Resource.SourceName)
	}
	slices.Sort(p.Status.CatalogSources)
	p.Status.CatalogSources = slices.Compact(p.Status.CatalogSources)
	return p, current, nil
}

// bring adds the steps for the chosen bundles.
func bring(p *InstallPlan, w *World, res *olm.Resolution) error {
	writer := make(map[Ref]string)
	for i := range res.Chosen {
		choice := &res.Chosen[i]
		steps, err := bundleSteps(w, choice)
		if err != nil {
			return &ContentError{choice.Name, err}
		}
		for _, s := range steps {
			if other, taken := writer[stepRef(&s, w.Namespace)]; taken && other != choice.Name {
				return &ContentError{choice.Name, fmt.Errorf("%s is also in bundle %s: remove it from one of them", stepRef(&s, w.Namespace), other)}
			}
			writer[stepRef(&s, w.Namespace)] = choice.Name
		}
		p.Status.Plan = append(p.Status.Plan, steps...)
		p.Spec.ClusterServiceVersionNames = append(p.Spec.ClusterServiceVersionNames, choice.Name)
	}
	for i := range res.Generated {
		p.Status.Plan = append(p.Status.Plan, subscriptionStep(w.Namespace, &res.Generated[i]))
	}
	return nil
}

func planApproval(all []Subscription) olm.Approval {
	subs := make([]olm.Subscription, len(all))
	for i := range all {
		subs[i] = all[i].Subscription
	}
	approval, _ := gate.Approval(subs)
	return approval
}

// subscriptionStep is the step that subscribes to a dependency.
func subscriptionStep(namespace string, sub *olm.Subscription) PlanStep {
	s := *sub
	s.Namespace = namespace
	s.Spec.InstallPlanApproval = olm.ApprovalAutomatic
	text, _ := json.Marshal(struct { // strings only: cannot fail
		APIVersion string               `json:"apiVersion"`
		Kind       string               `json:"kind"`
		Metadata   olm.ObjectMeta       `json:"metadata"`
		Spec       olm.SubscriptionSpec `json:"spec"`
	}{groupOLM + "/v1alpha1", kindSubscription, s.ObjectMeta, s.Spec})
	return PlanStep{
		Resolving: s.Spec.StartingCSV,
		Resource: StepResource{
			SourceName: s.Spec.Source, SourceNamespace: s.Spec.SourceNamespace,
			Group: groupOLM, Version: "v1alpha1", Kind: kindSubscription, Name: s.Name, Manifest: string(text),
		},
		Status: StepUnknown,
	}
}

// stageOf says when a resource is applied: 0 for CSVs, 1 for CRDs, 2 for the rest.
func stageOf(r *StepResource) int { return stage(r.Group, r.Kind) }

func stage(group, kind string) int {
	switch {
	case kind == kindCSV && group == groupOLM:
		return 0
	case kind == kindCRD && group == groupCRD:
		return 1
	}
	return 2
}

// stepRef names the step's object, in a namespace unless its kind has none.
func stepRef(s *PlanStep, namespace string) Ref {
	r := Ref{Group: s.Resource.Group, Kind: s.Resource.Kind, Namespace: namespace, Name: s.Resource.Name}
	if !manifest.Namespaced(r.Kind) {
		r.Namespace = ""
	}
	return r
}

// memoryOf returns what the engine remembers about a plan. current are the
// subscriptions that it serves.
func memoryOf(p *InstallPlan, current []Current) *Plan {
	m := &Plan{Name: p.Name, Generation: p.Spec.Generation, Approval: p.Spec.Approval, Current: current}
	for i := range p.Status.Plan {
		s := &p.Status.Plan[i]
		m.Steps = append(m.Steps, StepState{Resolving: s.Resolving, Ref: stepRef(s, p.Namespace), Digest: stepDigest(s)})
	}
	return m
}

// currents returns the subscriptions that a resolution serves again, by name.
func currents(res *olm.Resolution) []Current {
	var all []Current
	for i := range res.Chosen {
		for _, sub := range res.Chosen[i].Subscriptions {
			all = append(all, Current{Subscription: sub, CSV: res.Chosen[i].Name})
		}
	}
	slices.SortFunc(all, func(a, b Current) int { return strings.Compare(a.Subscription, b.Subscription) })
	return all
}
