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

// State is what the engine remembers of a pool. The zero State is that of a new pool.
type State struct {
	fairlead.Pending         // waits with their start, and actions whose effect is not yet visible
	Begun            []Begun `json:"begun,omitempty"` // nodes that were selected and are not seen to be done, by name
}

// Kinds returns one action of each kind.
func (State) Kinds() []Action {
	return []Action{Begin{}, Mark{}, Cordon{}, Drain{}, drain.Evict{}, drain.DeletePod{}, Drained{}, Update{}, Uncordon{}, Report{}}
}

// upgradeState reads a state of an older version. Its retries are forgotten: their
// actions are decided on again.
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

// Begun is a node whose update was decided on. It counts against the budget from
// before its annotations say so until it is seen to be done: the decision counts, even
// if the observed world is old.
type Begun struct {
	Node          string        `json:"node"`           // its name
	Configuration Configuration `json:"configuration"`  // what it should run
	Since         time.Time     `json:"since"`          // when that was decided
	Told          bool          `json:"told,omitempty"` // whether its annotations were seen to say so
	// Drain is the progress of its drain, if the engine drains it itself.
	Drain drain.Progress `json:"drain,omitzero"`
}

// isZero reports whether there is nothing to remember.
func (s *State) isZero() bool { return len(s.Begun) == 0 && s.Pending.IsZero() }

// names returns the names of the selected nodes.
func (s *State) names() []string {
	names := make([]string, len(s.Begun))
	for i, b := range s.Begun {
		names[i] = b.Node
	}
	return names
}

// find returns what is remembered of a selected node, or nil. It points into the
// state.
func (s *State) find(node string) *Begun {
	i := slices.IndexFunc(s.Begun, func(b Begun) bool { return b.Node == node })
	if i < 0 {
		return nil
	}
	return &s.Begun[i]
}
