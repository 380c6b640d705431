package eviction_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints/eviction"
)

// line is a zone whose nodes are not ready, for a second longer each.
type line struct {
	t     *testing.T
	fleet eviction.ZoneWorld
	state eviction.ZoneState
	now   time.Time
	blame []fairlead.Block
}

// newLine is of nodes a, b, c... that wait, and as many that are ready.
func newLine(t *testing.T, waiting int) *line {
	l := &line{t: t, now: start.Add(time.Hour)}
	for i := range 2 * waiting {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: string(rune('a' + i)), UID: fmt.Sprint(i)}}
		c := fairlead.NodeCondition{Type: "Ready", Status: fairlead.ConditionFalse, LastTransitionTime: start.Add(time.Duration(i) * time.Second)}
		if i >= waiting {
			c.Status = fairlead.ConditionTrue
		}
		n.Status.Conditions = []fairlead.NodeCondition{c}
		l.fleet.Nodes = append(l.fleet.Nodes, n)
	}
	return l
}

func (l *line) set(name string, status fairlead.ConditionStatus) {
	for i := range l.fleet.Nodes {
		if l.fleet.Nodes[i].Name == name {
			l.fleet.Nodes[i].Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: status, LastTransitionTime: l.now}}
			l.fleet.Nodes[i].Spec.Taints = nil
		}
	}
}

// pass returns the nodes that are tainted now, after some seconds. What is
// written is seen from then on, but for the nodes named in broken.
func (l *line) pass(seconds int, broken string) string {
	l.now = l.now.Add(time.Duration(seconds) * time.Second)
	d := eviction.ZoneStep(l.state, &l.fleet, l.now, nil)
	l.state, l.blame = d.State, d.Blocked
	var names []string
	for _, a := range d.Actions {
		e := a.(eviction.EditTaints)
		names = append(names, e.Node)
		for i := range l.fleet.Nodes {
			if n := &l.fleet.Nodes[i]; n.Name == e.Node && !strings.Contains(broken, n.Name) {
				n.Spec.Taints = e.Add
			}
		}
	}
	return strings.Join(names, "")
}

func (l *line) want(seconds int, broken, want string) {
	l.t.Helper()
	if got := l.pass(seconds, broken); got != want {
		l.t.Errorf("after %s: %q is tainted, want %q", l.now.Sub(start), got, want)
	}
}

// TestZoneQueue has the cases of the reference's rate limited queue, by name.
func TestZoneQueue(t *testing.T) {
	t.Run("AddNode: in the order in which they have failed", func(t *testing.T) {
		l := newLine(t, 3)
		slices.Reverse(l.fleet.Nodes)
		l.want(0, "", "a")
		l.want(9, "", "")
		l.want(1, "", "b")
		l.want(100, "", "c") // tokens are not saved up
		l.want(100, "", "")
	})
	t.Run("UniqueQueue: a node that is listed twice", func(t *testing.T) {
		l := newLine(t, 2)
		l.fleet.Nodes = append(l.fleet.Nodes, l.fleet.Nodes[0])
		l.want(0, "a", "a")
		l.want(10, "a", "ab")
	})
	for _, gone := range []string{"b", "c", "d"} {
		t.Run("DelNode: "+gone+" is ready again", func(t *testing.T) {
			l := newLine(t, 4)
			l.want(0, "", "a")
			l.set(gone, fairlead.ConditionTrue)
			for _, next := range strings.Split("bcd", "") {
				if next != gone {
					l.want(10, "", next)
				}
			}
			l.want(10, "", "")
		})
	}
	t.Run("TryOrdering: who is tried again does not hold up the others", func(t *testing.T) {
		l := newLine(t, 3)
		l.want(0, "a", "a")
		l.want(10, "a", "ab")
		l.want(10, "", "ac")
		l.want(10, "", "")
	})
	t.Run("TryRemovingWhileTry: it is ready before the taint is written", func(t *testing.T) {
		l := newLine(t, 2)
		l.want(0, "a", "a")
		l.set("a", fairlead.ConditionTrue)
		l.want(5, "", "")
		l.want(5, "", "b")
		if len(l.state.Granted) != 1 || l.state.Granted[0].Node != "b" {
			t.Errorf("granted: %+v", l.state.Granted)
		}
	})
	t.Run("Clear: nothing is left of the queue when all is dark", func(t *testing.T) {
		l := newLine(t, 2)
		l.want(0, "a", "a")
		l.set("c", fairlead.ConditionUnknown)
		l.set("d", fairlead.ConditionUnknown)
		l.want(10, "", "")
		if len(l.state.Granted) != 0 || !l.state.Disrupted || len(l.blame) != 1 || l.blame[0].Reason != eviction.ReasonDisrupted {
			t.Errorf("%+v %v", l.state, l.blame)
		}
	})
	t.Run("AddAfterTry: it fails again", func(t *testing.T) {
		l := newLine(t, 2)
		l.want(0, "", "a")
		l.want(10, "", "b")
		l.set("a", fairlead.ConditionTrue)
		l.want(10, "", "")
		l.set("a", fairlead.ConditionFalse)
		l.want(0, "", "a")
	})
	t.Run("a zone that goes and comes back has no token for that", func(t *testing.T) {
		l := newLine(t, 2)
		l.want(0, "", "a")
		nodes := l.fleet.Nodes
		l.fleet.Nodes = nil
		l.want(1, "", "")
		l.fleet.Nodes = nodes
		l.want(1, "", "")
		l.want(8, "", "b")
	})
	t.Run("another node of the name needs a token of its own", func(t *testing.T) {
		l := newLine(t, 2)
		l.want(0, "a", "a")
		l.fleet.Nodes[0].UID = "another"
		l.want(5, "", "")
		if len(l.state.Granted) != 0 {
			t.Errorf("granted: %+v", l.state.Granted)
		}
		l.want(5, "", "a")
	})
	t.Run("a clock that is set back costs an interval at most", func(t *testing.T) {
		l := newLine(t, 2)
		l.want(0, "", "a")
		l.want(-3600, "", "")
		l.want(10, "", "b")
	})
	t.Run("writes that fail all the time are told, and take no more tokens", func(t *testing.T) {
		l := newLine(t, 120)
		for i := range l.fleet.Nodes {
			l.fleet.Nodes[i].Name = fmt.Sprintf("%03d", i)
		}
		for range 120 {
			l.pass(10, "0123456789000102030405060708091011")
			for i := range l.fleet.Nodes {
				l.fleet.Nodes[i].Spec.Taints = nil
			}
		}
		if n := len(l.state.Granted); n != 100 || !slices.ContainsFunc(l.blame, func(b fairlead.Block) bool { return b.Reason == eviction.ReasonWritesFailed }) {
			t.Errorf("%d tokens are out", n)
		}
	})
}

// TestSilence has the cases of UpdateStatus and UpdateNodeStatusWithLease: when a
// node counts as silent, by its age, its report and its lease.
func TestSilence(t *testing.T) {
	now := start.Add(time.Hour)
	ago := func(seconds int) time.Time { return now.Add(-time.Duration(seconds) * time.Second) }
	for _, c := range []struct {
		name           string
		created        time.Time
		status, lease  time.Time // the last report and renewal, in the node's time
		heard          time.Time // when the later of them was seen
		pressure       bool      // whether it has reported its memory
		unknown, never int
	}{
		{"young, never heard of", ago(10), time.Time{}, time.Time{}, time.Time{}, false, 0, 0},
		{"old, never heard of", ago(60), time.Time{}, time.Time{}, time.Time{}, false, 0, 4},
		{"old, just reported", ago(3600), ago(5), time.Time{}, ago(5), true, 0, 0},
		{"old, reported in time", ago(3600), ago(49), time.Time{}, ago(49), true, 0, 0},
		{"old, silent", ago(3600), ago(50), time.Time{}, ago(50), true, 2, 2},
		{"old, silent, its lease renewed", ago(3600), ago(300), ago(10), ago(10), true, 0, 0},
		{"old, silent, its lease run out", ago(3600), ago(300), ago(60), ago(60), true, 2, 2},
		{"young, with a lease alone", ago(10), time.Time{}, ago(5), ago(5), false, 0, 0},
		{"its clock is an hour behind", ago(9000), ago(3600), ago(3600), ago(5), true, 0, 0},
		{"its clock is an hour ahead", ago(9000), ago(-3600), ago(-3600), ago(55), true, 2, 2},
	} {
		n := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "n", UID: "u", CreationTimestamp: c.created}}
		if !c.status.IsZero() {
			n.Status.Conditions = append(n.Status.Conditions, fairlead.NodeCondition{Type: "Ready", Status: fairlead.ConditionTrue, LastHeartbeatTime: c.status})
		}
		if c.pressure {
			n.Status.Conditions = append(n.Status.Conditions, fairlead.NodeCondition{Type: "MemoryPressure", Status: fairlead.ConditionFalse, LastHeartbeatTime: c.status})
		}
		d := eviction.Step(eviction.State{}, &eviction.World{Name: "n", Node: n, LeaseRenewed: c.lease, Heard: c.heard}, now, &eviction.Policy{NodeLifecycle: &eviction.NodeLifecycle{}})
		unknown, never := 0, 0
		for _, a := range d.Actions {
			if s, ok := a.(eviction.SetConditions); ok {
				for _, k := range s.Conditions {
					if k.Reason == "NodeStatusNeverUpdated" {
						never++
					} else {
						unknown++
					}
				}
			}
		}
		if unknown != c.unknown || never != c.never {
			t.Errorf("%s: %d unknown, %d never updated, want %d and %d", c.name, unknown, never, c.unknown, c.never)
		}
		if unknown+never == 0 && (d.Wake.IsZero() || !d.Wake.After(now)) {
			t.Errorf("%s: looks again at %s", c.name, d.Wake)
		}
	}
}
