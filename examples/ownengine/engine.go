// Package ownengine is a custom engine, outside the module: it reboots machines on
// request. It has the parts of an engine and nothing else. docs/embedding.md
// explains it, part by part.
package ownengine

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
)

// State is what the engine remembers of a machine.
type State struct {
	Boot  string    `json:"boot,omitempty"` // the boot to end, empty for none
	Since time.Time `json:"since,omitzero"` // when that was decided
	fairlead.Pending
}

// Kinds returns the actions as which decisions are read back from JSON.
func (State) Kinds() []Action { return []Action{Reboot{}, Alert{}} }

// World is what is observed of a machine.
type World struct {
	Boot     string             `json:"boot"`               // identifies the current boot
	Wanted   string             `json:"wanted,omitempty"`   // the boot to end, as its user requests
	Outcomes []fairlead.Outcome `json:"outcomes,omitempty"` // the runner's
}

// Policy is how the engine decides.
type Policy struct {
	Patience time.Duration // how long a reboot may take before people are alerted
}

// Action is a Reboot or an Alert.
type Action interface {
	fairlead.Action
	action()
}

// Reboot ends a boot. A backend does nothing if another boot is already running.
type Reboot struct {
	Boot string `json:"boot"`
}

// Alert tells people once about a boot that does not end.
type Alert struct {
	Boot string `json:"boot"`
}

// Key implements fairlead.Action.
func (a Reboot) Key() fairlead.Key { return fairlead.Key{Kind: "Reboot", ID: a.Boot} }

// Key implements fairlead.Action.
func (a Alert) Key() fairlead.Key { return fairlead.Key{Kind: "Alert", ID: a.Boot} }

// String implements fairlead.Action.
func (a Reboot) String() string { return "end boot " + a.Boot }

// String implements fairlead.Action.
func (a Alert) String() string { return "tell people that boot " + a.Boot + " does not end" }

func (Reboot) action() {}
func (Alert) action()  {}

// The types of the parts, for this engine.
type (
	Decision = fairlead.Decision[State, Action]
	Backend  = fairlead.Backend[World, Action]
	Runner   = fairlead.Runner[State, World, Action]
)

// Step decides what to do next about a machine. It is a pure function.
func Step(state State, world World, now time.Time, policy Policy) Decision {
	if world.Wanted == "" || world.Wanted != world.Boot {
		return Decision{} // nothing is requested, or it is done
	}
	l := fairlead.NewLedger(state.Pending, world.Outcomes, now, fairlead.Backoff{Max: time.Minute})
	if state.Boot != world.Boot {
		state = State{Boot: world.Boot, Since: now}
	}
	state.Since = fairlead.Past(state.Since, now) // the clock may have been set back
	var d Decision
	reboot := Reboot{world.Boot}
	if l.Due(reboot.Key()) {
		d.Actions = append(d.Actions, reboot)
	}
	if late := state.Since.Add(policy.Patience); now.Before(late) {
		l.At(late)
	} else if alert := (Alert{world.Boot}); l.Due(alert.Key()) {
		d.Actions = append(d.Actions, alert)
	}
	l.Block(fairlead.Block{
		Subject: "machine", Reason: "Rebooting", Since: state.Since, Owner: "the machine",
		Message: l.Because(fmt.Sprintf("boot %s is to end", world.Boot), reboot.Key()), Unblock: "another boot is seen",
	})
	state.Pending = l.Pending()
	d.State, d.Blocked, d.Wake = state, l.Blocked(), l.Wake()
	return d
}

// Engine returns the engine, for a Runner or a simulation.
func Engine(backend Backend, policy Policy) fairlead.Engine[State, World, Action] {
	return fairlead.Engine[State, World, Action]{
		Name: "reboot", Version: 1, Backend: backend,
		Step: func(s State, w World, now time.Time) Decision { return Step(s, w, now, policy) },
		Done: func(s State) bool { return s.Boot == "" },
		Outcomes: func(w World, o []fairlead.Outcome) World {
			w.Outcomes = o
			return w
		},
	}
}

// NewRunner returns a Runner of the engine.
func NewRunner(backend Backend, policy Policy, options *fairlead.RunnerOptions) (*Runner, error) {
	return fairlead.NewRunner(Engine(backend, policy), options)
}
