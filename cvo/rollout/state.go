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
const StateVersion = 3

// State is what the engine remembers of a pool. The zero State is that of a new pool.
type State struct {
	fairlead.Pending         // waits with their start, and actions whose effect is not yet visible
	Begun            []Begun `json:"begun,omitempty"` // nodes that were selected and are not seen to be done, by name
}

// Kinds returns one action of each kind.
func (State) Kinds() []Action {
	return []Action{Begin{}, Mark{}, Cordon{}, Drain{}, drain.Evict{}, drain.DeletePod{}, Drained{}, Update{}, Uncordon{}, Report{}}
}

// upgradeState reads a state of an older version. The retries of version 1 are
// forgotten: their actions are decided on again. Before version 3 each node had the
// progress of its drain.
func upgradeState(version int, text []byte) (State, error) {
	var old struct {
		State
		Begun []struct {
			Begun
			Drain json.RawMessage `json:"drain"`
		} `json:"begun"`
		Retries json.RawMessage `json:"retries"`
	}
	if err := json.Unmarshal(text, &old); err != nil {
		return State{}, err
	}
	s := old.State
	if version > 1 && len(old.Retries) > 0 {
		if err := json.Unmarshal(old.Retries, &s.Retries); err != nil {
			return State{}, err
		}
	}
	for _, b := range old.Begun {
		p, err := drain.UpgradeProgress(b.Drain)
		if err != nil {
			return State{}, err
		}
		s.Begun = append(s.Begun, b.Begun)
		s.Waits, s.Retries = append(s.Waits, p.Waits...), append(s.Retries, p.Retries...)
	}
	return s, nil
}

// Begun is a node whose update was decided on. It counts against the budget from
// before its annotations say so until it is seen to be done: the decision counts, even
// if the observed world is old.
type Begun struct {
	Node          string        `json:"node"`           // its name
	Configuration Configuration `json:"configuration"`  // what it should run
	Since         time.Time     `json:"since"`          // when that was decided
	Told          bool          `json:"told,omitempty"` // whether its annotations were seen to say so
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
