package lifecycle_test

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
)

// TestNodeUnseen: without any node a drain is not known, unless what is reported says that it does not matter.
func TestNodeUnseen(t *testing.T) {
	condition := func(kind string, status fairlead.ConditionStatus) func(*lifecycle.Machine) {
		return func(m *lifecycle.Machine) {
			m.Status.Conditions = []lifecycle.Condition{{Type: kind, Status: status}}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*lifecycle.Machine)
		nodes  []lifecycle.Node
		want   bool
	}{
		{"nothing is reported", func(*lifecycle.Machine) {}, nil, true},
		{"other nodes are known: it is gone", func(*lifecycle.Machine) {}, []lifecycle.Node{{ObjectMeta: fairlead.ObjectMeta{Name: "other"}}}, false},
		{"it is not being deleted", func(m *lifecycle.Machine) { m.DeletionTimestamp = nil }, nil, false},
		{"it never had a node", func(m *lifecycle.Machine) { m.Status.NodeRef = nil }, nil, false},
		{"it is drained", condition(lifecycle.ConditionDrained, "True"), nil, false},
		{"it is not drained", condition(lifecycle.ConditionDrained, "False"), nil, true},
		{"its instance is gone", condition("InstanceExists", "False"), nil, false},
		{"its instance is there", condition("InstanceExists", "True"), nil, true},
		{"its controller has let it go", func(m *lifecycle.Machine) { m.Finalizers = []string{"example.com/dns"} }, nil, false},
		{"its drain is skipped", func(m *lifecycle.Machine) {
			m.Annotations = map[string]string{"machine.openshift.io/exclude-node-draining": ""}
		}, nil, false},
	} {
		m := *draining().Machine
		m.APIVersion, m.Finalizers, m.Status.Conditions = "machine.openshift.io/v1beta1", []string{lifecycle.Finalizer}, nil
		m.Status.NodeRef = &lifecycle.NodeRef{Name: "n1"}
		c.change(&m)
		if got := lifecycle.NodeUnseen(&m, c.nodes); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}
