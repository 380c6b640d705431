package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/quorum"
)

// withMachines is the question of TestImpossible, with a machine for each node of the
// control plane, whose first member does not answer.
func withMachines(t *testing.T, lines ...string) *question {
	t.Helper()
	q := newQuestion()
	for _, line := range append(lines, "sick 1", "pause-workers") {
		if err := q.change(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		m := lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Namespace: "machines", Name: fmt.Sprint("m", i), Labels: map[string]string{quorum.RoleLabel: "master"}, Finalizers: []string{lifecycle.Finalizer}}}
		m.Status.Phase, m.Status.NodeRef = lifecycle.PhaseRunning, &lifecycle.NodeRef{Kind: "Node", Name: fmt.Sprint("master-", i), UID: "as it was seen"}
		m.Status.Addresses = []lifecycle.NodeAddress{{Type: "InternalIP", Address: fmt.Sprint("10.0.0.", i)}}
		m.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{quorum.Hook()}
		q.s.Machines = append(q.s.Machines, m)
	}
	return q
}

// play plans, and plays the plan.
func (q *question) play(t *testing.T, opts *plan.PlayOptions) (*plan.Plan, *plan.Played) {
	t.Helper()
	p, err := plan.Make(t.Context(), q.s, q.goal, q.policy)
	if err != nil {
		t.Fatal(err)
	}
	got, err := plan.Play(t.Context(), q.s, q.goal, q.policy, p, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p, got
}

// TestPlayMember replaces a member of etcd by deleting its machine, as the plan tells
// people to: the engines drain and delete it, and the member of the new machine votes
// before anything else begins. With faults it ends the same.
func TestPlayMember(t *testing.T) {
	for seed := range uint64(20) {
		q := withMachines(t)
		p, got := q.play(t, &plan.PlayOptions{Faults: seed > 0, Seed: seed})
		if p.Steps[0].Kind != plan.ReplaceMember || p.Steps[0].Command != "oc -n machines delete machine m0" {
			t.Fatal(p)
		}
		if !got.Done || len(got.Waits) > 0 || len(got.Estimated) > 0 || seed == 0 && got.Replans > 0 {
			t.Fatalf("seed %d: %v%+v", seed, got, got.Waits)
		}
		gone := slices.IndexFunc(got.Restarts, func(r plan.PlayedRestart) bool { return r.Node == "master-0" })
		if gone < 0 || !got.Restarts[gone].Until.IsZero() {
			t.Errorf("seed %d: the node of the machine does not go: %+v", seed, got.Restarts)
		}
		// people take half an hour, the new node ten minutes, and its member two
		if s := got.Steps[0]; seed == 0 && (s.Step.Kind != plan.ReplaceMember || s.Ended.Sub(s.Began) < 42*time.Minute || s.Ended.Sub(s.Began) > 50*time.Minute) {
			t.Errorf("%s took %s", s.Step, s.Ended.Sub(s.Began))
		}
	}
}

// TestPlayMemberHindered has something keep a machine that the plan has people delete:
// the play tells what is left, and of whom.
func TestPlayMemberHindered(t *testing.T) {
	for _, c := range []struct {
		name, text string
		change     func(q *question)
	}{
		{"hook that nobody removes", "machine machines/m0: preDrain hook MoveData is not removed", func(q *question) {
			h := &q.s.Machines[0].Spec.LifecycleHooks
			h.PreDrain = append(h.PreDrain, lifecycle.Hook{Name: "MoveData", Owner: "nobody"})
		}},
		{"machine without address", "etcd: machine machines/m0 has no InternalIP", func(q *question) {
			q.s.Machines[0].Status.Addresses = nil
		}},
		{"machine that nobody lists", "etcd: no machine of the control plane is known for the member etcd-0", func(q *question) {
			q.s.Machines = q.s.Machines[1:]
		}},
		{"machines that nobody has looked at", "etcd: the machines were not observed", func(q *question) { q.s.Machines = nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := withMachines(t)
			c.change(q)
			_, got := q.play(t, nil)
			if text := got.String(); !got.Done || !strings.Contains(text, c.text) {
				t.Errorf("%v\nwant %q", text, c.text)
			}
		})
	}
}

// TestLeavingMember has the machine of another member be deleted, and nobody bring a new
// one: what restarts the control plane has no plan.
func TestLeavingMember(t *testing.T) {
	q := withMachines(t)
	q.s.Machines[1].DeletionTimestamp = &q.s.At
	p, err := plan.Make(t.Context(), q.s, q.goal, q.policy)
	if err == nil || !strings.Contains(err.Error(), "etcd keeps only 2 voting members once machines/m1 is deleted: it would lose quorum") {
		t.Errorf("%v, %v", p, err)
	}
}

// TestPlayDrainOfMachine has the machine of a worker be deleted when the play begins: its
// drain waits for the budget that the plan has people change, and for nothing in the end.
func TestPlayDrainOfMachine(t *testing.T) {
	q := withMachines(t, "pod db-1 worker-1 100m", "budget db db 1")
	m := &q.s.Machines[0]
	q.s.Machines, q.s.Members[0].Healthy = q.s.Machines[:1], fairlead.ConditionTrue
	m.Status.NodeRef.Name, m.Labels, m.Spec.LifecycleHooks, m.DeletionTimestamp = "worker-1", nil, lifecycle.LifecycleHooks{}, &q.s.At
	p, got := q.play(t, nil)
	gone := slices.IndexFunc(got.Restarts, func(r plan.PlayedRestart) bool { return r.Node == "worker-1" })
	if p.Steps[0].Kind != plan.FixBudget || !got.Done || got.Replans > 0 || len(got.Waits) > 0 || gone < 0 || !got.Restarts[gone].Until.IsZero() {
		t.Errorf("%v%+v", got, got.Restarts)
	}
	q.policy.KeepBudgets, q.goal.Release, q.goal.Nodes = true, "", []string{"worker-0"}
	if err := q.change(strings.Fields("pod web-1 worker-0 100m")); err != nil {
		t.Fatal(err)
	}
	if _, got := q.play(t, nil); !got.Done || len(got.Waits) != 1 || !strings.Contains(got.String(), "still waiting: machine machines/m0: ") || !strings.Contains(got.String(), "shop/db") {
		t.Error(got)
	}
}

// TestRestartingMember has a member not answer because its node restarts into a release:
// nobody is asked to replace it.
func TestRestartingMember(t *testing.T) {
	q := newQuestion()
	p, err := plan.Make(t.Context(), q.s, q.goal, q.policy)
	if err != nil {
		t.Fatal(err)
	}
	n := &q.s.Nodes[0]
	n.Spec.Unschedulable = true
	n.Annotations[rollout.AnnotationDesired], n.Annotations[rollout.AnnotationState] = "new", rollout.StateWorking
	q.s.Members[0].Healthy = fairlead.ConditionFalse
	again, err := plan.Make(t.Context(), q.s, q.goal, q.policy)
	if err != nil || len(again.Steps) != len(p.Steps) {
		t.Errorf("%v, %v\n%v", err, again, p)
	}
}

// TestMemberOnItsWay has etcd have two of three members: what restarts the control plane
// waits, whatever the plan was, and other goals do not.
func TestMemberOnItsWay(t *testing.T) {
	q := newQuestion()
	q.s.Members = q.s.Members[1:]
	w := &plan.World{Situation: *q.s, Goal: *q.goal}
	d := plan.Step(plan.State{}, w, q.s.At, nil)
	if len(d.Actions) > 0 || len(d.Blocked) != 1 || d.Blocked[0].Reason != plan.ReasonUnderWay || !strings.Contains(d.Blocked[0].Message, "etcd has only 2 voting members: it would lose quorum") {
		t.Errorf("%+v", d)
	}
	w.Goal = plan.Goal{Nodes: []string{"worker-0"}}
	if d := plan.Step(plan.State{}, w, q.s.At, nil); len(d.Actions) != 1 {
		t.Errorf("%+v", d)
	}
}
