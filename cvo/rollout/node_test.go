package rollout_test

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
)

// TestNode: how a node is, by what it and its agent say. What nobody says is neither an update nor trouble,
// and a cordon alone is somebody else's.
func TestNode(t *testing.T) {
	for _, c := range []struct {
		name                                                            string
		current, desired, currentImage, desiredImage, state, drainedFor string
		cordoned                                                        bool
		updating, away, stuck, failing, unavailable                     bool
	}{
		{name: "an agent that says nothing", unavailable: true},
		{name: "no state", current: "v1", desired: "v1", unavailable: true},
		{name: "done", current: "v1", desired: "v1", state: "Done"},
		{name: "done, with an image", current: "v1", desired: "v1", currentImage: "i", desiredImage: "i", state: "Done"},
		{name: "cordoned by somebody", current: "v1", desired: "v1", state: "Done", cordoned: true, unavailable: true},
		{name: "told another one, without a state", current: "v1", desired: "v2", updating: true, away: true, unavailable: true},
		{name: "told another one", current: "v1", desired: "v2", state: "Done", updating: true, away: true, unavailable: true},
		{name: "told another image", current: "v1", desired: "v1", currentImage: "i", desiredImage: "j", state: "Done", updating: true, away: true, unavailable: true},
		{name: "at work on the same", current: "v1", desired: "v1", state: "Working", updating: true, away: true, unavailable: true},
		{name: "at work, with nothing else known", state: "Working", updating: true, away: true, unavailable: true},
		{name: "stuck in another", current: "v1", desired: "v2", state: "Degraded", updating: true, away: true, stuck: true, failing: true},
		{name: "another it cannot run", current: "v1", desired: "v2", state: "Unreconcilable", updating: true, away: true, stuck: true, failing: true},
		{name: "stuck in what it runs", current: "v1", desired: "v1", state: "Degraded", updating: true, away: true, stuck: true, unavailable: true},
		{name: "stuck in an image", current: "v1", desired: "v1", desiredImage: "j", state: "Degraded", updating: true, away: true, stuck: true, failing: true},
		{name: "to be uncordoned", current: "v2", desired: "v2", state: "Done", drainedFor: "drain-v2", cordoned: true, away: true, unavailable: true},
		{name: "uncordoned for the update", current: "v2", desired: "v2", state: "Done", drainedFor: "uncordon-v2"},
		{name: "cordoned by somebody after an update", current: "v2", desired: "v2", state: "Done", drainedFor: "uncordon-v2", cordoned: true, unavailable: true},
	} {
		n := &rollout.Node{ObjectMeta: rollout.ObjectMeta{Annotations: map[string]string{}}}
		for key, value := range map[string]string{
			rollout.AnnotationCurrent: c.current, rollout.AnnotationDesired: c.desired, rollout.AnnotationCurrentImage: c.currentImage,
			rollout.AnnotationDesiredImage: c.desiredImage, rollout.AnnotationState: c.state, rollout.AnnotationDesiredDrain: c.drainedFor,
		} {
			if value != "" {
				n.Annotations[key] = value
			}
		}
		n.Spec.Unschedulable = c.cordoned
		for _, is := range []struct {
			what      string
			got, want bool
		}{
			{"updating", rollout.Updating(n), c.updating}, {"away", rollout.Away(n), c.away}, {"stuck", rollout.Stuck(n), c.stuck},
			{"failing", rollout.Failing(n), c.failing}, {"unavailable", rollout.Unavailable(n), c.unavailable},
		} {
			if is.got != is.want {
				t.Errorf("%s: %s is %v", c.name, is.what, is.got)
			}
		}
	}
}

// TestTrouble: of what a pool says, what says why comes first; what is not known to hold is no trouble.
func TestTrouble(t *testing.T) {
	all := []string{"Degraded", "BuildDegraded", "NodeDegraded", "RenderDegraded"}
	for i, want := range all {
		p := new(rollout.Pool)
		for _, kind := range all[:i+1] {
			p.Status.Conditions = append(p.Status.Conditions, rollout.Condition{Type: kind, Status: fairlead.ConditionTrue})
		}
		for _, kind := range all[i+1:] {
			p.Status.Conditions = append(p.Status.Conditions, rollout.Condition{Type: kind, Status: []fairlead.ConditionStatus{fairlead.ConditionUnknown, fairlead.ConditionFalse, ""}[i%3]})
		}
		c := rollout.Trouble(p)
		if c == nil || c.Type != want {
			t.Errorf("of %v: %+v, want %s", p.Status.Conditions, c, want)
			continue
		}
		if c.Status = fairlead.ConditionFalse; p.Status.Conditions[i].Status != fairlead.ConditionFalse {
			t.Errorf("%s is a copy", want)
		}
	}
	p := new(rollout.Pool)
	if c := rollout.Trouble(p); c != nil {
		t.Errorf("of nothing: %+v", c)
	}
	for _, kind := range append(all, "Updated", "Updating") {
		p.Status.Conditions = append(p.Status.Conditions, rollout.Condition{Type: kind, Status: fairlead.ConditionUnknown})
	}
	p.Status.Conditions[4].Status, p.Status.Conditions[5].Status = fairlead.ConditionTrue, fairlead.ConditionTrue
	if c := rollout.Trouble(p); c != nil {
		t.Errorf("nothing is known to be wrong: %+v", c)
	}
}
