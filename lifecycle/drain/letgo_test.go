package drain_test

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// TestLetGo: whoever else decides when a pod goes is named with a command; of pods whose number people
// choose there is nothing to say.
func TestLetGo(t *testing.T) {
	for _, tt := range []struct{ kind, command string }{
		{"", ""}, {"ReplicaSet", ""}, {"StatefulSet", ""}, {"Job", ""},
		{"VirtualMachineInstance", "virtctl -n ns migrate own"},
		{"InstanceManager", "kubectl -n ns get volumes.longhorn.io"},
		{"Widget", "kubectl -n ns describe widget own"},
	} {
		p := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: "p"}}
		if yes := true; tt.kind != "" {
			p.OwnerReferences = []fairlead.OwnerReference{{Kind: tt.kind, Name: "own", Controller: &yes}}
		}
		if do, command := drain.LetGo(p); command != tt.command || (do == "") != (command == "") {
			t.Errorf("%s: got %q, %q", tt.kind, do, command)
		}
	}
}
