package rollout_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
)

// TestQuorumOfEven: of an even control plane less than half may be down.
func TestQuorumOfEven(t *testing.T) {
	three := &rollout.Pool{}
	three.Name, three.Spec.MaxUnavailable = rollout.PoolMaster, &rollout.IntOrString{Int: 3}
	for size, want := range map[int]int{1: 1, 2: 1, 3: 1, 4: 1, 5: 2, 6: 2, 7: 3} {
		if n, err := rollout.MaxUnavailable(three, size); err != nil || n != want {
			t.Errorf("of %d: %d may be down, %v", size, n, err)
		}
	}
}

// TestAgainst: of several conditions against a node Ready comes first, then the disk.
func TestAgainst(t *testing.T) {
	n := &rollout.Node{}
	for _, kind := range []string{"NetworkUnavailable", "DiskPressure", "Ready"} {
		c := fairlead.NodeCondition{Type: kind, Status: fairlead.ConditionTrue}
		if kind == "Ready" {
			c.Status = fairlead.ConditionUnknown
		}
		n.Status.Conditions = append(n.Status.Conditions, c)
		if got := rollout.Against(n); got == nil || got.Type != kind {
			t.Errorf("of %d conditions: %v", len(n.Status.Conditions), got)
		}
	}
}

// TestBegunInFuture: a node that was selected in the future, because the clock was set back,
// counts as selected now.
func TestBegunInFuture(t *testing.T) {
	w := workers()
	d := rollout.Step(rollout.State{}, w, start.Add(time.Hour), nil)
	if len(d.State.Begun) == 0 {
		t.Fatal("nothing was begun")
	}
	d = rollout.Step(d.State, w, start, nil)
	if since := d.State.Begun[0].Since; !since.Equal(start) {
		t.Errorf("since %v", since)
	}
}

// TestSlowWakes: a node that is being changed is looked at again when that takes longer than
// normal, and then it says so.
func TestSlowWakes(t *testing.T) {
	policy := &rollout.Policy{SlowUpdate: 20 * time.Minute, MinBackoff: time.Hour, MaxBackoff: time.Hour}
	w := workers()
	n := &w.Nodes[0]
	n.Annotations[rollout.AnnotationDesired] = w.Pool.Spec.Configuration.Name
	n.Annotations[rollout.AnnotationState] = rollout.StateWorking
	w.Nodes = w.Nodes[:1]
	d := rollout.Step(rollout.State{}, w, start, policy)
	if want := start.Add(20 * time.Minute); rollout.Stage(n) != rollout.StageUpdate || d.Wake.IsZero() || d.Wake.After(want) {
		t.Errorf("stage %s, wake %v: %s", rollout.Stage(n), d.Wake, fmt.Sprint(d.Blocked))
	}
}
