package situation_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/snapshot"
)

// The machines of a dump are those of the situation; an empty list beside all pods means
// that there are none.
func TestMachines(t *testing.T) {
	of := func(text string) func(*snapshot.Reader) error {
		return func(r *snapshot.Reader) error { return r.Stream(strings.NewReader(text), "dump") }
	}
	if s := situationOf(t, of(`{"kind":"PodList","items":[{"metadata":{"name":"a","namespace":"x"}}]}`)); s.Machines != nil || s.Pods == nil {
		t.Errorf("%v, %v", s.Machines, s.Pods)
	}
	if s := situationOf(t, of(`{"kind":"MachineList","items":[]}{"kind":"PodList","items":[{"metadata":{"name":"a","namespace":"x"}},{"metadata":{"name":"a","namespace":"y"}}]}`)); s.Machines == nil {
		t.Error("nil")
	}
	if s := situationOf(t, of(`{"kind":"MachineList","items":[]}`)); s.Machines != nil { // of a namespace that nobody knows
		t.Errorf("%v", s.Machines)
	}
	s := situationOf(t, of(`{"kind":"Machine","metadata":{"name":"m0"},"status":{"nodeRef":{"kind":"Node","name":"n0"}}}`))
	if len(s.Machines) != 1 || s.Machines[0].Status.NodeRef.Name != "n0" {
		t.Errorf("%+v", s.Machines)
	}
}

// Pods without a UID, as in a dump from which they were removed, can be drained: their names are unique.
func TestWithoutUIDs(t *testing.T) {
	s := situationOf(t, func(r *snapshot.Reader) error {
		return r.Stream(strings.NewReader(`{"kind":"PodList","items":[{"metadata":{"name":"a","namespace":"x"}},{"metadata":{"name":"b","namespace":"x","uid":"u"}}]}`), "x.json")
	})
	if len(s.Pods) != 2 || s.Pods[0].UID != "x/a" || s.Pods[1].UID != "u" || s.Snapshot.Pods.Items[0].UID != "" {
		t.Errorf("%+v", s.Pods)
	}
}
