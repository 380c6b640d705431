package rollout

import (
	"slices"
	"time"
)

// StateVersion is the version of the form of State.
const StateVersion = 1

// State is what the engine remembers of a pool. The zero State is that of a pool
// it has not seen before.
type State struct {
	Begun   []Begun `json:"begun,omitempty"`   // nodes that were begun and are not seen to be through, by name
	Waits   []Wait  `json:"waits,omitempty"`   // since when what waits does, by subject and reason
	Retries []Retry `json:"retries,omitempty"` // actions whose effect was not seen yet, by key
}

// Begun is a node that was begun. It takes its place in the budget from before
// it is told so until it is seen to be through: what was decided counts, even if
// the world that is seen is old.
type Begun struct {
	Node          string        `json:"node"`           // its name
	Configuration Configuration `json:"configuration"`  // what it is to run
	Since         time.Time     `json:"since"`          // when that was decided
	Told          bool          `json:"told,omitempty"` // whether it was seen to know
}

// Wait is since when a Block stands.
type Wait struct {
	Subject string    `json:"subject"` // the Block's
	Reason  string    `json:"reason"`  // the Block's
	Since   time.Time `json:"since"`   // when it was first told of
}

// Retry is an action whose effect has not been seen.
type Retry struct {
	Key      string    `json:"key"`      // the action's
	Attempts int       `json:"attempts"` // how often it was decided on
	Next     time.Time `json:"next"`     // not again before that
}

// isZero reports whether nothing need be remembered.
func (s *State) isZero() bool { return len(s.Begun) == 0 && len(s.Waits) == 0 && len(s.Retries) == 0 }

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
