package lifecycle

import "time"

// Step decides what to do next about a machine.
func Step(state State, world *World, now time.Time, policy *Policy) Decision {
	m := world.Machine
	if m == nil || !m.Deleting() {
		return Decision{}
	}
	if policy == nil {
		policy = new(Policy)
	}
	w := waitList{old: state.Waits, now: now}
	d := Decision{State: state}
	d.State.UID = m.UID
	for _, h := range m.Spec.LifecycleHooks.PreDrain {
		w.add(Wait{Reason: ReasonHookPending, Point: PreDrain, Name: h.Name, Owner: h.Owner})
	}
	if w.n == 0 && world.Node != nil {
		x := drain(state.Drain, &world.DrainWorld, now, &policy.Drain, &w)
		d.State.Drain, d.Actions, d.Wake = x.state, x.actions, x.wake
	}
	d.State.Waits = w.all()
	d.Waits = d.State.Waits
	return d
}
