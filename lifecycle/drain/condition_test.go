package drain_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// TestNodeConditions has a row for each state of requests that the KEP names.
func TestNodeConditions(t *testing.T) {
	request := func(purpose drain.Purpose, phase drain.Phase) drain.Request {
		return drain.Request{Name: "r", UID: "r", Requester: "kured", Purpose: purpose, Asked: noon, Status: drain.Status{Phase: phase}}
	}
	window := request(drain.Maintenance, drain.PhaseWaiting)
	window.Until, window.Why = noon.Add(time.Hour), "new disks"
	other := request(drain.Maintenance, drain.PhaseDrained)
	other.NodeUID = "other"
	cancelled := request(drain.Reboot, "")
	cancelled.Cancelled = true
	for _, c := range []struct {
		name     string
		has      string // conditions that are True at present
		requests []drain.Request
		want     string
	}{
		{"nothing", "", nil, ""},
		{"planned", "", []drain.Request{window}, "MaintenancePlanned=True/MaintenanceWindow"},
		{"just made", "", []drain.Request{request(drain.Reboot, "")}, "MaintenancePlanned=True/AdminRequested"},
		{"draining", "MaintenancePlanned", []drain.Request{request(drain.Reboot, drain.PhaseDraining)}, "DrainInProgress=True/AdminRequested MaintenancePlanned=True/AdminRequested"},
		{"draining for its removal", "", []drain.Request{request(drain.Removal, drain.PhaseDraining)}, "DrainInProgress=True/AdminRequested"},
		{"drained", "DrainInProgress MaintenancePlanned", []drain.Request{request(drain.Maintenance, drain.PhaseDrained)}, "DrainInProgress=False/NotRequested Drained=True/DrainCompleted MaintenancePlanned=False/NotRequested MaintenanceInProgress=True/AdminRequested"},
		{"one drained, another draining", "", []drain.Request{request(drain.Reboot, drain.PhaseDrained), request(drain.Removal, drain.PhaseDraining)}, "DrainInProgress=True/AdminRequested MaintenanceInProgress=True/AdminRequested"},
		{"over", "Drained MaintenanceInProgress", []drain.Request{request(drain.Maintenance, drain.PhaseOver)}, "Drained=False/NotRequested MaintenanceInProgress=False/NotRequested"},
		{"cancelled before it was looked at", "", []drain.Request{cancelled}, ""},
		{"of another node", "", []drain.Request{other}, ""},
	} {
		n := &drain.Node{ObjectMeta: drain.ObjectMeta{Name: "n", UID: "u"}}
		for _, kind := range strings.Fields(c.has) {
			n.Status.Conditions = append(n.Status.Conditions, fairlead.NodeCondition{Type: kind, Status: "True", LastTransitionTime: noon})
		}
		var all []string
		conditions := drain.NodeConditions(n, c.requests, noon.Add(time.Minute))
		for _, k := range conditions {
			all = append(all, fmt.Sprintf("%s=%s/%s", k.Type, k.Status, k.Reason))
			want := "request r of kured"
			switch {
			case k.Status == "False":
				want = "there is no request for it"
			case c.name == "planned":
				want += ", until 2026-03-01T13:00:00Z: new disks"
			}
			if k.Message != want {
				t.Errorf("%s: %q, want %q", c.name, k.Message, want)
			}
		}
		if got := strings.Join(all, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		for _, k := range conditions { // once they are written nothing is left to write
			i := 0
			for ; i < len(n.Status.Conditions) && n.Status.Conditions[i].Type != k.Type; i++ {
			}
			n.Status.Conditions = append(n.Status.Conditions[:i:i], append([]fairlead.NodeCondition{k}, n.Status.Conditions[min(i+1, len(n.Status.Conditions)):]...)...)
		}
		if again := drain.NodeConditions(n, c.requests, noon.Add(time.Hour)); len(again) > 0 {
			t.Errorf("%s: written again: %v", c.name, again)
		}
	}
}
