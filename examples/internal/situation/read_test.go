package situation_test

import (
	"encoding/json"
	"testing"

	"github.com/fairlead/fairlead/examples/internal/dump"
	"github.com/fairlead/fairlead/examples/internal/situation"
)

// The machines of a dump are those of the situation; an empty list means that there are
// none.
func TestMachines(t *testing.T) {
	s := &situation.Situation{}
	if err := s.Add(dump.Object{Kind: "MachineList"}); err != nil || s.Machines == nil {
		t.Errorf("%v, %v", s.Machines, err)
	}
	text := json.RawMessage(`{"kind":"Machine","metadata":{"name":"m0"},"status":{"nodeRef":{"kind":"Node","name":"n0"}}}`)
	if err := s.Add(dump.Object{Kind: "Machine", JSON: text}); err != nil || len(s.Machines) != 1 || s.Machines[0].Status.NodeRef.Name != "n0" {
		t.Errorf("%+v, %v", s.Machines, err)
	}
}
