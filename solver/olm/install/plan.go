package install

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/gate"
	"github.com/fairlead/fairlead/solver/olm/internal/manifest"
)

// PlanPhase is the phase of an install plan.
type PlanPhase string

// The phases of an install plan that are written.
const (
	PlanRequiresApproval PlanPhase = "RequiresApproval" // it waits for someone to approve it
	PlanInstalling       PlanPhase = "Installing"       // its steps are being applied
	PlanComplete         PlanPhase = "Complete"         // all its steps have been applied
	PlanFailed           PlanPhase = "Failed"           // it took too long, or a step too many attempts
)

// StepStatus is the status of a step of an install plan.
type StepStatus string

// The statuses of a step that are written.
const (
	StepUnknown StepStatus = "Unknown" // it has not been applied, as far as is known
	StepCreated StepStatus = "Created" // it has been applied
)

// InstallPlan lists the objects needed to install or update some operators of a
// namespace. Its JSON form is that of the API.
type InstallPlan struct {
	olm.ObjectMeta `json:"metadata"`
	Spec           InstallPlanSpec   `json:"spec"`   // what it is for
	Status         InstallPlanStatus `json:"status"` // its steps
	// Revision is the observed revision of the plan, see Mark.
	Revision string `json:"revision,omitempty"`
}

// InstallPlanSpec is what an install plan is for.
type InstallPlanSpec struct {
	// Approval is Manual if any subscription of the namespace is, because a plan
	// serves all of them.
	Approval olm.Approval `json:"approval"`
	// Approved lets the plan run. Users set it on a plan that is Manual.
	Approved bool `json:"approved"`
	// ClusterServiceVersionNames are the CSVs that it installs, in plan order.
	ClusterServiceVersionNames []string `json:"clusterServiceVersionNames"`
	// Generation counts the plans of a namespace.
	Generation int `json:"generation,omitempty"`
}

// InstallPlanStatus is the progress of an install plan.
type InstallPlanStatus struct {
	Phase PlanPhase `json:"phase"` // of the whole plan
	// CatalogSources are the names of the catalogs that it takes from, sorted.
	CatalogSources []string `json:"catalogSources"`
	// Plan lists the steps: CSVs, then CRDs, then the rest. Each of the three is
	// complete before the next starts.
	Plan []PlanStep `json:"plan,omitempty"`
	// Conditions has PlanInstalled once the plan is complete, or has failed.
	Conditions []olm.Condition `json:"conditions,omitempty"`
}

// PlanInstalled is the condition of a plan that says whether its steps were
// applied. False comes with ReasonPlanFailed and the cause.
const PlanInstalled = "Installed"

// PlanStep is one object of an install plan.
type PlanStep struct {
	Resolving string       `json:"resolving"` // the CSV that it belongs to
	Resource  StepResource `json:"resource"`  // the object
	Status    StepStatus   `json:"status"`    // where it stands
}

// StepResource is the object of a step.
type StepResource struct {
	SourceName      string `json:"sourceName"`      // the catalog that it is from
	SourceNamespace string `json:"sourceNamespace"` // where the catalog lives
	Group           string `json:"group"`           // the object's API group
	Version         string `json:"version"`         // its API version
	Kind            string `json:"kind"`            // its kind
	Name            string `json:"name"`            // its name
	Manifest        string `json:"manifest"`        // the object, as JSON
}

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
	p.repair(w, x)
	if len(p.Status.Plan) == 0 && res != nil {
		if err := p.bring(w, res); err != nil {
			return nil, nil, err
		}
		current = currents(res)
	}
	p.approve(w)
	slices.SortStableFunc(p.Status.Plan, func(a, b PlanStep) int { return a.Resource.stage() - b.Resource.stage() })
	for i := range p.Status.Plan {
		p.Status.CatalogSources = append(p.Status.CatalogSources, p.Status.Plan[i].Resource.SourceName)
	}
	slices.Sort(p.Status.CatalogSources)
	p.Status.CatalogSources = slices.Compact(p.Status.CatalogSources)
	return p, current, nil
}

// bring adds the steps for the chosen bundles.
func (p *InstallPlan) bring(w *World, res *olm.Resolution) error {
	writer := make(map[Ref]string)
	for i := range res.Chosen {
		choice := &res.Chosen[i]
		steps, err := bundleSteps(w, choice)
		if err != nil {
			return &ContentError{choice.Name, err}
		}
		for _, s := range steps {
			if other, taken := writer[s.ref(w.Namespace)]; taken && other != choice.Name {
				return &ContentError{choice.Name, fmt.Errorf("%s is also in bundle %s: remove it from one of them", s.ref(w.Namespace), other)}
			}
			writer[s.ref(w.Namespace)] = choice.Name
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

// stage says when a resource is applied: 0 for CSVs, 1 for CRDs, 2 for the rest.
func (r *StepResource) stage() int { return stage(r.Group, r.Kind) }

func stage(group, kind string) int {
	switch {
	case kind == kindCSV && group == groupOLM:
		return 0
	case kind == kindCRD && group == groupCRD:
		return 1
	}
	return 2
}

// ref names the step's object, in a namespace unless its kind has none.
func (s *PlanStep) ref(namespace string) Ref {
	r := Ref{Group: s.Resource.Group, Kind: s.Resource.Kind, Namespace: namespace, Name: s.Resource.Name}
	if !manifest.Namespaced(r.Kind) {
		r.Namespace = ""
	}
	return r
}

// memory returns what the engine remembers about a plan. current are the
// subscriptions that it serves.
func (p *InstallPlan) memory(current []Current) *Plan {
	m := &Plan{Name: p.Name, Generation: p.Spec.Generation, Approval: p.Spec.Approval, Current: current}
	for i := range p.Status.Plan {
		s := &p.Status.Plan[i]
		m.Steps = append(m.Steps, StepState{Resolving: s.Resolving, Ref: s.ref(p.Namespace), Digest: s.digest()})
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
