package fairlead

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Action is something for a [Backend] to do, as plain data. An engine declares
// its own interface that embeds Action and seals it, and lists the types that
// implement it. Actions are structs, passed by value. They survive encoding/json
// and are idempotent: applying one a second time changes nothing.
type Action interface {
	// Key identifies the action: equal if the same thing is to be done, and
	// different otherwise.
	Key() Key

	// String describes the action in one line, for logs and people.
	String() string
}

// Key names an action on an object. Keys are compared with ==.
type Key struct {
	Kind string `json:"kind"`         // the action's, in CamelCase, as in "Evict": constant for each Go type
	ID   string `json:"id,omitempty"` // of the object that it acts on: its UID, if it has one
}

// String returns kind and ID, separated by a space.
func (k Key) String() string {
	if k.ID == "" {
		return k.Kind
	}
	return k.Kind + " " + k.ID
}

// kindField is the member of an action's JSON object that holds its kind.
const kindField = "kind"

// MarshalAction returns the action as a JSON object whose first member, "kind",
// is the kind of its key. The other members are those of its Go type, which must
// not have a member of that name.
func MarshalAction(a Action) ([]byte, error) {
	data, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil || members == nil {
		return nil, fmt.Errorf("action %T is written as %.40s: an action must be a JSON object", a, data)
	}
	if _, taken := members[kindField]; taken {
		return nil, fmt.Errorf("action %T has its own member %q, which is reserved for its kind: rename it", a, kindField)
	}
	kind, err := json.Marshal(a.Key().Kind)
	if err != nil {
		return nil, err
	}
	out := slices.Concat([]byte(`{"`+kindField+`":`), kind)
	if len(members) > 0 {
		out = append(out, ',')
	}
	return append(out, data[1:]...), nil
}

// UnmarshalAction reads what [MarshalAction] wrote. Kinds has one action of each
// possible kind; their values do not matter.
func UnmarshalAction[A Action](data []byte, kinds []A) (A, error) {
	var none A
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return none, err
	}
	for _, k := range kinds {
		if k.Key().Kind != head.Kind {
			continue
		}
		into := reflect.New(reflect.TypeOf(k))
		if err := json.Unmarshal(data, into.Interface()); err != nil {
			return none, fmt.Errorf("action %s: %w", head.Kind, err)
		}
		return into.Elem().Interface().(A), nil
	}
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Key().Kind
	}
	return none, fmt.Errorf("action of unknown kind %q: the kinds are %q", head.Kind, names)
}
