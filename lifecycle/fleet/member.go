package fleet

import (
	"fmt"

	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Members returns machines in the form that [drain.Admit] counts, by their labels.
// One that is being deleted should go until it is gone: a drained machine is not
// gone. But as long as a preDrain hook prevents its drain it does not take part, so
// that a hook that nobody removes holds up nobody else. A machine whose drain has
// begun keeps its slots, and Held says which hook it waits for.
//
// A machine that is updated in place is down: its node may restart at any time. The
// caller must fill in whether the nodes of others are down, and whether replacements
// can come first.
func Members(machines []lifecycle.Machine) []drain.Member {
	all := make([]drain.Member, 0, len(machines))
	for i := range machines {
		m := &machines[i]
		k := drain.Member{Kind: "machine", Name: m.ObjectMeta.String(), UID: m.UID, Labels: m.Labels}
		if m.UpdatingInPlace() {
			k.Down = "updated in place"
			if c := lifecycle.FindCondition(m.Status.Conditions, "Updating"); c != nil && c.Status == "True" {
				k.DownSince = c.LastTransitionTime
			}
		}
		if m.Deleting() {
			k.Begun = m.DrainExcluded() || lifecycle.FindCondition(m.Status.Conditions, lifecycle.ConditionDrained) != nil
			if k.Begun || len(m.Spec.LifecycleHooks.PreDrain) == 0 {
				k.Asked, k.Held = *m.DeletionTimestamp, heldBy(m)
			}
		}
		all = append(all, k)
	}
	return all
}

// heldBy names the hook that a machine waits for.
func heldBy(m *lifecycle.Machine) string {
	for _, p := range [...]lifecycle.Point{lifecycle.PreDrain, lifecycle.PreTerminate} {
		hooks := m.Spec.LifecycleHooks.At(p)
		if len(hooks) == 0 {
			continue
		}
		text := fmt.Sprintf("%s hook %s", p, hooks[0].Name)
		if owner := hooks[0].Owner; owner != "" {
			text += " of " + owner
		}
		return text
	}
	return ""
}
