package rollout

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// StateVersion is the version of the format of State. In version 1 retries had
// keys of another form.
const StateVersion = 2

// State is what the engine remembers of a pool. The zero State is that of a pool
// it has not seen before.
type State struct {
	fairlead.Pending         // since when what waits does, and actions whose effect was not seen yet
	Begun            []Begun `json:"begun,omitempty"` // nodes that were begun and are not seen to be through, by name
}

// Kinds returns one action of each kind.
func (State) Kinds() []Action {
	return []Action{Begin{}, Mark{}, Cordon{}, Drain{}, drain.Evict{}, drain.DeletePod{}, Drained{}, Update{}, Uncordon{}, Report{}}
}

// upgradeState reads a state of an older version. Its retries are forgotten: what
// they are for is decided on again.
func upgradeState(_ int, text []byte) (State, error) {
	var old struct {
		Begun []Begun         `json:"begun"`
		Waits []fairlead.Wait `json:"waits"`
	}
	if err := json.Unmarshal(text, &old); err != nil {
		return State{}, err
	}
	return State{Begun: old.Begun, Pending: fairlead.Pending{Waits: old.Waits}}, nil
}

// Begun is a node whose update was begun. It has its place in the budget from before
// its annotations say so until it is seen to be done: what was decided counts, even if
// the world that is seen is old.
type Begun struct {
	Node          string        `json:"node"`           // its name
	Configuration Configuration `json:"configuration"`  // what it is to run
	Since         time.Time     `json:"since"`          // when that was decided
	Told          bool          `json:"told,omitempty"` // whether it was seen to know
	// Drain is where its drain stands, if the engine drains it itself.
	Drain drain.Progress `json:"drain,omitzero"`
}

// isZero reports whether nothing need be remembered.
func (s *State) isZero() bool { return len(s.Begun) == 0 && s.Pending.IsZero() }

// names returns the names of the nodes that were begun.
func (s *State) names() []string {
	names := make([]string, len(s.Begun))
	for i, b := range s.Begun {
		names[i] = b.Node
	}
	return names
}

// find returns what is remembered of a node that was begun, or nil. It points
// into the state.
func (s *State) find(node string) *Begun {
	i := slices.IndexFunc(s.Begun, func(b Begun) bool { return b.Node == node })
	if i < 0 {
		return nil
	}
	return &s.Begun[i]
}
