package lifecycle

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// StateVersion is the version of the format of [State].
const StateVersion = 3

// Stage is the stage of a deletion. A completed stage comes back only for a node
// that was not drained, see [Step].
type Stage string

// The stages, in order. The empty Stage comes before: no deletion is seen yet.
const (
	StagePreDrain     Stage = "PreDrain"        // waits for preDrain hooks
	StageDrain        Stage = "Drain"           // empties the node
	StageVolumes      Stage = "DetachVolumes"   // waits for volumes to be detached from the node
	StagePreTerminate Stage = "PreTerminate"    // waits for preTerminate hooks
	StageTerminate    Stage = "Terminate"       // deletes the instance
	StageDeleteNode   Stage = "DeleteNode"      // removes the node object
	StageFinalize     Stage = "RemoveFinalizer" // removes the finalizer
	StageDone         Stage = "Done"            // the finalizer is gone
)

// stages is their order.
var stages = [...]Stage{"", StagePreDrain, StageDrain, StageVolumes, StagePreTerminate, StageTerminate, StageDeleteNode, StageFinalize, StageDone}

// rank is the position of a stage in their order; -1 if it is not a stage.
func (s Stage) rank() int {
	for i := range stages {
		if stages[i] == s {
			return i
		}
	}
	return -1
}

// Past reports whether a deletion at s has left stage t behind.
func (s Stage) Past(t Stage) bool { return s.rank() > t.rank() }

// State is what the engine remembers of the deletion of a machine. The zero
// State knows nothing. It survives encoding/json.
type State struct {
	// UID is the machine's. State of another machine of the same name is ignored.
	UID   string         `json:"uid,omitempty"`
	Stage Stage          `json:"stage,omitempty"` // its stage
	Began []Beginning    `json:"began,omitempty"` // the stages that were entered, in order
	Node  *NodeRef       `json:"node,omitempty"`  // the machine's node, as last seen
	Hooks []HookState    `json:"hooks,omitempty"` // hooks that the machine waited for, in order of discovery
	Drain drain.Progress `json:"drain,omitzero"`  // the progress of the drain
	// Drained says how the stage Drain ended: a sentence for the condition.
	Drained string `json:"drained,omitempty"`
	// DrainedNode is the UID of the node that it ended for; empty if there was none.
	DrainedNode      string `json:"drainedNode,omitempty"`
	Notes            []Note `json:"notes,omitempty"` // exceptions, the latest last, at most 20
	fairlead.Pending        // why it does not proceed, and actions whose effect is not yet visible
}

// Words returns a Block of the engine in words, see [Words].
func (State) Words(b fairlead.Block) fairlead.Block { return Words(b) }

// Beginning is when a stage was entered.
type Beginning struct {
	Stage Stage     `json:"stage"` // which
	At    time.Time `json:"at"`    // when
}

// HookState is what is remembered about a hook that the machine waits for.
type HookState struct {
	Point  Point     `json:"point"`            // where it waits
	Name   string    `json:"name"`             // the hook's
	Owner  string    `json:"owner"`            // the hook's
	Since  time.Time `json:"since"`            // when the machine began to wait for it
	Warned bool      `json:"warned,omitempty"` // its soft deadline was reported
	Forced bool      `json:"forced,omitempty"` // its hard deadline was reported
}

// Note records an exception: a stage that was skipped, a hook that was removed
// by force.
type Note struct {
	At     time.Time `json:"at"`     // when
	Reason string    `json:"reason"` // a word, that of its event
	Text   string    `json:"text"`   // a sentence
}

// Done reports whether the state need not be kept.
func (s *State) Done() bool { return s.Stage == "" && s.Pending.IsZero() }

// since returns when a stage was entered; zero if it never was.
func (s *State) since(stage Stage) time.Time {
	for i := len(s.Began) - 1; i >= 0; i-- { // mostly the last one is requested
		if s.Began[i].Stage == stage {
			return s.Began[i].At
		}
	}
	return time.Time{}
}

// before returns a copy of the list of stages that were entered before one.
func (s *State) before(stage Stage) []Beginning {
	rank := stage.rank()
	return slices.DeleteFunc(slices.Clone(s.Began), func(b Beginning) bool { return b.Stage.rank() >= rank })
}

// began returns the beginnings of the stages. One in the future comes from a clock
// that was set back since, and counts as now. They are in order, so that the last
// shows whether any is.
func (s *State) began(now time.Time) []Beginning {
	if n := len(s.Began); n == 0 || !s.Began[n-1].At.After(now) {
		return s.Began
	}
	all := slices.Clone(s.Began)
	for i := range all {
		all[i].At = fairlead.Past(all[i].At, now)
	}
	return all
}

// upgrade reads a state of version 1 or 2. Version 1 had no retries, and did not say
// which node was drained: that is not drained again. Before version 3 waits named the
// machine only, and those about pods were in the progress of the drain.
func upgrade(version int, data []byte) (State, error) {
	var s State
	var old struct {
		*State
		Machine string           `json:"machine"`
		Drain   json.RawMessage  `json:"drain"`
		Waits   []fairlead.Block `json:"waits"`
		Retries []fairlead.Retry `json:"retries"`
	}
	old.State = &s
	if err := json.Unmarshal(data, &old); err != nil {
		return State{}, err
	}
	p, err := drain.UpgradeProgress(old.Drain)
	if err != nil {
		return State{}, err
	}
	s.Drain, s.Retries = drain.Progress{Cordoned: p.Cordoned, CordonMark: p.CordonMark}, p.Retries
	if version == 1 {
		if s.Drained != "" && s.Node != nil {
			s.DrainedNode = s.Node.UID
		}
		return s, nil
	}
	s.Waits, s.Retries = append(old.Waits, p.Waits...), append(old.Retries, p.Retries...)
	for i := range s.Waits {
		s.Waits[i].Subject = "machine " + old.Machine
	}
	return s, nil
}
