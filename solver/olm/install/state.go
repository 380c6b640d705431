package install

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
)

// StateVersion is the version of the format of [State].
const StateVersion = 2

// State is what the engine remembers about a namespace. The zero State is empty.
// It survives encoding/json.
type State struct {
	Generation int      `json:"generation,omitempty"` // of the newest plan
	Plan       *Plan    `json:"plan,omitempty"`       // the plan under way, nil for none
	Removal    *Removal `json:"removal,omitempty"`    // a removal under way, nil for none
	fairlead.Pending
}

// Plan is an install plan under way. The manifests are in the cluster's plan;
// their digests are here, so that only what was planned is applied.
type Plan struct {
	Name       string       `json:"name"`             // of the InstallPlan
	Generation int          `json:"generation"`       // counts the plans of the namespace
	Approval   olm.Approval `json:"approval"`         // whether it needs approval
	Current    []Current    `json:"current"`          // the subscriptions that it serves, by name
	Steps      []StepState  `json:"steps"`            // in the plan's order
	Started    bool         `json:"started"`          // whether a step may have been applied
	Since      time.Time    `json:"since,omitzero"`   // when it was made
	Began      time.Time    `json:"began,omitzero"`   // when it was started, zero before
	Failed     string       `json:"failed,omitempty"` // why it has failed, "" if it has not
}

// Current is the CSV that a subscription should have.
type Current struct {
	Subscription string `json:"subscription"` // its name
	CSV          string `json:"csv"`          // the name
}

// StepState is the state of a step of a plan.
type StepState struct {
	Resolving string `json:"resolving"`      // the CSV that it is for
	Ref       Ref    `json:"ref"`            // the object
	Digest    string `json:"digest"`         // its desired content
	Done      bool   `json:"done,omitempty"` // whether the object was observed so
}

// UpgradeState reads a State saved by an older version. What version 1 recorded
// about actions without an effect is dropped: they are due at once.
func UpgradeState(version int, state []byte) (State, error) {
	var s State
	if version != 1 {
		return s, fmt.Errorf("there is no version %d", version)
	}
	var old struct {
		Generation int              `json:"generation"`
		Plan       *Plan            `json:"plan"`
		Removal    *Removal         `json:"removal"`
		Waits      []fairlead.Block `json:"waits"`
	}
	if err := json.Unmarshal(state, &old); err != nil {
		return s, err
	}
	return State{Generation: old.Generation, Plan: old.Plan, Removal: old.Removal, Pending: fairlead.Pending{Waits: old.Waits}}, nil
}

func (s *State) isZero() bool {
	return s.Generation == 0 && s.Plan == nil && s.Removal == nil && s.Pending.IsZero()
}

// done reports whether all steps are.
func (p *Plan) done() bool {
	return !slices.ContainsFunc(p.Steps, func(s StepState) bool { return !s.Done })
}

// same reports whether another plan would do the same.
func (p *Plan) same(o *Plan) bool {
	return p.Approval == o.Approval && slices.Equal(p.Current, o.Current) && p.sameSteps(o)
}

func (p *Plan) sameSteps(o *Plan) bool {
	return slices.EqualFunc(p.Steps, o.Steps, func(a, b StepState) bool {
		return a.Resolving == b.Resolving && a.Ref == b.Ref && a.Digest == b.Digest
	})
}

func (p *Plan) clone() *Plan {
	if p == nil {
		return nil
	}
	c := *p
	c.Steps = slices.Clone(p.Steps)
	return &c
}

func (r *Removal) clone() *Removal {
	if r == nil {
		return nil
	}
	c := *r
	c.Steps = slices.Clone(r.Steps)
	return &c
}
