package plan

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is the kind of plans. They are cluster-scoped.
var Kind = schema.GroupVersionKind{Group: "fairlead.io", Version: "v1alpha1", Kind: "ClusterPlan"}

// Name is the name of the only plan that is used.
const Name = "cluster"

// ClusterPlan is a plan for the whole cluster.
type ClusterPlan struct {
	fairlead.ObjectMeta `json:"metadata"`

	Spec   Spec   `json:"spec"`   // the desired state
	Status Status `json:"status"` // the progress
}

// Spec is the desired state.
type Spec struct {
	Goal   plan.Goal `json:"goal"`             // the desired state of the cluster
	Paused bool      `json:"paused,omitempty"` // no further step is begun
}

// Types of conditions.
const (
	Completed   = "Completed"   // the cluster meets the goal
	Progressing = "Progressing" // something is under way; the reason is that of a block of the engine
)

// Status is the progress of a plan.
type Status struct {
	ObservedGeneration int64                `json:"observedGeneration,omitempty"` // the generation of the spec that this is about
	Conditions         []fairlead.Condition `json:"conditions,omitempty"`         // Completed and Progressing
	Goal               plan.Goal            `json:"goal,omitzero"`                // the goal of Steps
	Began              *time.Time           `json:"began,omitempty"`              // when they were first planned
	Steps              []Step               `json:"steps,omitempty"`              // completed ones first
}

// Step is a step as planned, and as carried out. Planned times are missing for steps
// that were added later, actual times for those that have not begun or ended.
type Step struct {
	Do           string     `json:"do"`                     // what to do
	Why          string     `json:"why,omitempty"`          // the reason
	Owner        string     `json:"owner,omitempty"`        // who does it
	Command      string     `json:"command,omitempty"`      // the command
	PlannedBegin *time.Time `json:"plannedBegin,omitempty"` // as planned
	PlannedEnd   *time.Time `json:"plannedEnd,omitempty"`   // likewise
	Began        *time.Time `json:"began,omitempty"`        // when it became the next one
	Ended        *time.Time `json:"ended,omitempty"`        // when it was observed to be done
	// Kind and the following fields identify the step; see plan.PlanStep.
	Kind    plan.Kind `json:"kind"`
	Subject string    `json:"subject,omitempty"` // see Kind
	From    string    `json:"from,omitempty"`    // likewise
	To      string    `json:"to,omitempty"`      // likewise
	With    []string  `json:"with,omitempty"`    // likewise
}

// Played returns the status in the engine's form for played plans.
func (s *Status) Played() *plan.Played {
	p := &plan.Played{}
	if s.Began != nil {
		p.Began, p.Ended = *s.Began, *s.Began
	}
	at := func(t *time.Time) time.Time {
		if t == nil {
			return time.Time{}
		}
		return *t
	}
	last := p.Began
	for _, x := range s.Steps {
		p.Steps = append(p.Steps, plan.PlayedStep{
			Step:         plan.PlanStep{Kind: x.Kind, Subject: x.Subject, From: x.From, To: x.To, With: x.With, Why: x.Why, Owner: x.Owner, Command: x.Command},
			PlannedBegin: at(x.PlannedBegin), PlannedEnd: at(x.PlannedEnd), Began: at(x.Began), Ended: at(x.Ended),
		})
		if end := at(x.PlannedEnd); end.After(last) {
			last = end
		}
		if end := at(x.Ended); end.After(p.Ended) {
			p.Ended = end
		}
	}
	p.Planned = last.Sub(p.Began)
	p.Done = isTrue(s.Conditions, Completed)
	return p
}

// take takes over the progress.
func (s *Status) take(p *plan.Played) {
	at := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		t = t.UTC().Truncate(time.Second) // as objects store it
		return &t
	}
	s.Began, s.Steps = at(p.Began), nil
	for i := range p.Steps {
		x := &p.Steps[i]
		s.Steps = append(s.Steps, Step{
			Do: x.Step.String(), Why: x.Step.Why, Owner: x.Step.Owner, Command: x.Step.Command,
			PlannedBegin: at(x.PlannedBegin), PlannedEnd: at(x.PlannedEnd), Began: at(x.Began), Ended: at(x.Ended),
			Kind: x.Step.Kind, Subject: x.Step.Subject, From: x.Step.From, To: x.Step.To, With: x.Step.With,
		})
	}
}

// isTrue reports whether a condition is true.
func isTrue(list []fairlead.Condition, kind string) bool {
	c := fairlead.FindCondition(list, kind)
	return c != nil && c.Status == fairlead.ConditionTrue
}
