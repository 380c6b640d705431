package fairlead

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Decision is what an engine's Step returns. S is the engine's State, A its
// interface of actions.
//
// A Decision survives encoding/json. To be read back, S needs a method
//
//	Kinds() []A
//
// that returns one action of each kind; their values do not matter. If the engine
// gives its Blocks as data, S needs a method
//
//	Words(Block) Block
//
// that returns a Block with Message, Owner and Unblock, whatever the state is.
type Decision[S any, A Action] struct {
	// State is saved before any action is applied.
	State S

	// Actions are applied next, in this order. Each is valid on its own with
	// the saved State, whether those before it succeed or fail.
	Actions []A

	// Blocked says why nothing (more) happens, in the engine's documented order.
	// They may be data only, and must not be changed: Blocks returns them in words.
	Blocked []Block

	// Wake is the latest time for the next Step. Zero means that only an event
	// can change anything.
	Wake time.Time
}

// Blocks returns Blocked in words, in the same order.
func (d Decision[S, A]) Blocks() []Block {
	if len(d.Blocked) == 0 {
		return nil
	}
	all := slices.Clone(d.Blocked)
	if speaks, is := any(d.State).(interface{ Words(Block) Block }); is {
		for i := range all {
			if all[i].Message == "" {
				all[i] = speaks.Words(all[i])
			}
		}
	}
	return all
}

// written is the JSON form of a Decision.
type written[S any] struct {
	State   S                 `json:"state"`
	Actions []json.RawMessage `json:"actions,omitempty"`
	Blocked []Block           `json:"blocked,omitempty"`
	Wake    time.Time         `json:"wake,omitzero"`
}

// MarshalJSON writes each action with its kind, see [MarshalAction].
func (d Decision[S, A]) MarshalJSON() ([]byte, error) {
	w := written[S]{State: d.State, Blocked: d.Blocked, Wake: d.Wake}
	for _, a := range d.Actions {
		data, err := MarshalAction(a)
		if err != nil {
			return nil, err
		}
		w.Actions = append(w.Actions, data)
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *Decision[S, A]) UnmarshalJSON(data []byte) error {
	var w written[S]
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	out := Decision[S, A]{State: w.State, Blocked: w.Blocked, Wake: w.Wake}
	if len(w.Actions) > 0 {
		known, ok := any(w.State).(interface{ Kinds() []A })
		if !ok {
			return fmt.Errorf("decision: %T has no method Kinds() []%T, so its actions cannot be read", w.State, *new(A))
		}
		kinds := known.Kinds()
		for i, data := range w.Actions {
			a, err := UnmarshalAction(data, kinds)
			if err != nil {
				return fmt.Errorf("decision: actions[%d]: %w", i, err)
			}
			out.Actions = append(out.Actions, a)
		}
	}
	*d = out
	return nil
}
