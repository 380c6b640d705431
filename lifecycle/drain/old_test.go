package drain_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// TestOldView shows the engine views from before the request, and from before the node
// was cordoned, after it has cordoned the node: what it has cordoned it uncordons all
// the same when the request is over.
func TestOldView(t *testing.T) {
	for _, which := range []string{"before the request", "before the cordon", "before the cordon, late"} {
		clock := new(fairlead.ManualClock)
		clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		b := &drain.MemBackend{Clock: clock}
		n := drain.Node{ObjectMeta: drain.ObjectMeta{Name: "n"}}
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True"}}
		b.PutNode(n)
		see := func() *drain.World {
			w, err := b.Observe(t.Context(), "n")
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		var state drain.State
		step := func(w *drain.World) {
			clock.Set(clock.Now().Add(time.Second))
			d := drain.Step(state, w, clock.Now(), nil)
			state = d.State
			for _, a := range d.Actions {
				if err := b.Apply(t.Context(), "n", a); err != nil {
					t.Fatal(err)
				}
			}
		}
		old := see()
		b.PutRequest("n", drain.Request{Name: "r", Requester: "jane"})
		if which != "before the request" {
			old = see()
		}
		step(see())
		if which == "before the cordon, late" {
			step(see()) // it has seen that it is cordoned
		}
		step(old)
		step(see())
		r := b.Requests("n")[0]
		r.Cancelled = true
		b.PutRequest("n", r)
		step(see())
		if n := b.Node("n"); n.Spec.Unschedulable {
			t.Errorf("after a view from %s the node stays cordoned forever: %+v", which, state)
		}
		clock.Set(clock.Now().Add(time.Hour))
		b.RemoveRequest("n", "r")
		if step(see()); !state.Done() {
			t.Errorf("%+v is kept for nothing", state)
		}
	}
}

// Of a node that was given back nothing is remembered in the end, though nobody
// asks about it any more.
func TestForgets(t *testing.T) {
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	b := &drain.MemBackend{Clock: clock}
	n := drain.Node{ObjectMeta: drain.ObjectMeta{Name: "n"}}
	n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True"}}
	b.PutNode(n)
	b.PutRequest("n", drain.Request{Name: "r", Requester: "jane"})
	var d drain.Decision
	step := func() {
		w, err := b.Observe(t.Context(), "n")
		if err != nil {
			t.Fatal(err)
		}
		d = drain.Step(d.State, w, clock.Now(), nil)
		for _, a := range d.Actions {
			if err := b.Apply(t.Context(), "n", a); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 5 {
		step()
		clock.Advance(time.Second)
	}
	b.RemoveRequest("n", "r")
	for range 5 {
		step()
		clock.Advance(time.Second)
	}
	if b.Node("n").Spec.Unschedulable {
		t.Fatal("the node was not given back")
	}
	for range 10 {
		if d.State.Done() {
			return
		}
		if d.Wake.IsZero() {
			break
		}
		clock.Set(d.Wake)
		step()
	}
	t.Errorf("it is still remembered at %v, to be looked at again at %v: %+v", clock.Now(), d.Wake, d.State)
}
