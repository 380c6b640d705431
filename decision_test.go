package fairlead_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

type (
	lampState  struct{ On bool }
	lampAction interface{ fairlead.Action }
	turn       struct{ On bool }
	replace    struct {
		Bulb string `json:"bulb,omitempty"`
	}
	impostor     struct{ Kind string }
	lampDecision = fairlead.Decision[lampState, lampAction]
)

func (turn) Key() fairlead.Key     { return fairlead.Key{Kind: "Turn"} }
func (turn) String() string        { return "turn" }
func (replace) Key() fairlead.Key  { return fairlead.Key{Kind: "Replace"} }
func (replace) String() string     { return "replace" }
func (impostor) Key() fairlead.Key { return fairlead.Key{Kind: "Impostor"} }
func (impostor) String() string    { return "impostor" }

// Kinds is how a lampDecision is read.
func (lampState) Kinds() []lampAction { return []lampAction{turn{}, replace{}} }

// A decision goes through JSON and comes back equal, with its actions.
func TestDecisionJSON(t *testing.T) {
	for _, d := range []lampDecision{
		{},
		{
			State: lampState{true}, Actions: []lampAction{turn{true}, replace{}, replace{"60 W"}},
			Blocked: []fairlead.Block{{Subject: "lamp", Reason: "Dark", Message: "it is dark", Since: noon}}, Wake: noon.Add(time.Hour),
		},
	} {
		data, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var back lampDecision
		if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(d, back) {
			t.Errorf("%s\ncame back as %+v, %v", data, back, err)
		}
	}
	data, err := json.Marshal(lampDecision{Actions: []lampAction{turn{true}, replace{}}})
	if want := `{"state":{"On":false},"actions":[{"kind":"Turn","On":true},{"kind":"Replace"}]}`; err != nil || string(data) != want {
		t.Errorf("got %s, %v\nwant %s", data, err, want)
	}
}

func TestDecisionJSONErrors(t *testing.T) {
	if _, err := json.Marshal(lampDecision{Actions: []lampAction{impostor{}}}); err != nil {
		t.Errorf("a field Kind is not a member kind: %v", err)
	}
	type named struct {
		impostor
		Clash string `json:"kind"`
	}
	if _, err := json.Marshal(lampDecision{Actions: []lampAction{named{}}}); err == nil || !strings.Contains(err.Error(), "rename it") {
		t.Errorf("an action with a member kind of its own: %v", err)
	}
	for in, want := range map[string]string{
		`{"state":{},"actions":[{"kind":"Explode"}]}`:       `decision: actions[0]: action of unknown kind "Explode": the kinds are ["Turn" "Replace"]`,
		`{"state":{},"actions":[{"kind":"Turn","On":"x"}]}`: `decision: actions[0]: action Turn: json: cannot unmarshal`,
		`{"state":{},"actions":[7]}`:                        `decision: actions[0]: json: cannot unmarshal`,
	} {
		var d lampDecision
		if err := json.Unmarshal([]byte(in), &d); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", in, err, want)
		}
	}
	var mute fairlead.Decision[int, lampAction]
	if err := json.Unmarshal([]byte(`{"state":1,"actions":[{"kind":"Turn"}]}`), &mute); err == nil || !strings.Contains(err.Error(), "has no method Kinds") {
		t.Errorf("a state without Kinds: %v", err)
	}
}

func TestOutcomeOf(t *testing.T) {
	refused := &fairlead.RefusedError{Code: 429, Reason: "TooManyRequests", Message: "not now", RetryAfter: 99 * time.Hour}
	got := fairlead.OutcomeOf(evict, fmt.Errorf("wrapped: %w", refused), noon)
	if want := (fairlead.Outcome{Key: evict, At: noon, Failed: true, Code: 429, Reason: "TooManyRequests", Message: "not now", RetryAfter: time.Hour}); got != want {
		t.Errorf("got %+v", got)
	}
	if got := fairlead.OutcomeOf(evict, errors.New("x"), noon); !got.Failed || got.Message != "x" {
		t.Errorf("got %+v", got)
	}
	if got := fairlead.OutcomeOf(evict, nil, noon); got.Failed {
		t.Errorf("got %+v", got)
	}
}
