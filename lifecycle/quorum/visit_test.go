package quorum_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/quorum"
)

// seat is a machine of the control plane, with its member of etcd.
type seat struct {
	Name     string
	Member   string // "", learner or voter
	Caught   bool   // a learner has caught up
	Dead     bool   // the member does not answer, and never will
	Hook     bool
	Deleting bool
	Gone     bool // the machine
}

// panel is a control plane.
type panel struct {
	Seats    []seat
	Desired  int
	Revision int
	Deaths   int   // how many members may still die
	Deletes  int   // how many machines may still be deleted
	bad      error // the rule that an action broke
}

func newPanel(voters, spare, deaths, deletes int) *panel {
	w := &panel{Desired: voters, Deaths: deaths, Deletes: deletes}
	for i := range voters + spare {
		s := seat{Name: string(rune('a' + i)), Hook: true}
		if i < voters {
			s.Member = "voter"
		}
		w.Seats = append(w.Seats, s)
	}
	return w
}

// dead lets members have died before.
func (w *panel) dead(names ...string) *panel {
	for _, name := range names {
		w.seat(name).Dead = true
	}
	return w
}

func (w *panel) clone() *panel {
	n := *w
	n.Seats = slices.Clone(w.Seats)
	return &n
}

// Clone implements fairlead.SmallTrial.
func (w *panel) Clone() fairlead.SmallTrial[*panel, quorum.Action] { return w.clone() }

// Observe implements fairlead.Backend: all that there is, of which the guard sees a part.
func (w *panel) Observe(context.Context, string) (*panel, error) { return w.clone(), nil }

// Change implements fairlead.Trial.
func (w *panel) Change() {}

// Check implements fairlead.Trial.
func (w *panel) Check() error { return w.bad }

func (w *panel) voters() (all, healthy int) {
	for _, s := range w.Seats {
		if s.Member == "voter" {
			all++
			if !s.Dead {
				healthy++
			}
		}
	}
	return all, healthy
}

func (w *panel) quorate() bool {
	all, healthy := w.voters()
	return healthy >= all/2+1
}

// world is what the guard sees.
func (w *panel) world() *quorum.World {
	q := &quorum.World{Revision: fmt.Sprint(w.Revision), Desired: w.Desired}
	for i, s := range w.Seats {
		if s.Member != "" {
			q.Members = append(q.Members, quorum.Member{ID: s.Name, Name: s.Name, Addresses: []string{address(i)}, Learner: s.Member == "learner", Healthy: !s.Dead, CaughtUp: s.Caught})
		}
		if s.Gone {
			continue
		}
		var m lifecycle.Machine
		m.Name = s.Name
		m.Status.Phase, m.Status.Addresses = lifecycle.PhaseRunning, addressed[i]
		if s.Hook {
			m.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{quorum.Hook()}
		}
		if s.Deleting {
			m.DeletionTimestamp = &begin
		}
		q.Machines = append(q.Machines, m)
		q.Hosts = append(q.Hosts, quorum.Host{Node: s.Name, Addresses: []string{address(i)}, Waiting: s.Member == ""})
	}
	return q
}

func (w *panel) seat(name string) *seat {
	for i := range w.Seats {
		if w.Seats[i].Name == name {
			return &w.Seats[i]
		}
	}
	return &seat{Gone: true}
}

// Apply implements fairlead.Backend, as machines and etcd do.
func (w *panel) Apply(_ context.Context, _ string, a quorum.Action) error {
	old := w.clone()
	member := func(revision string, change func()) error {
		if revision != fmt.Sprint(w.Revision) {
			return errors.New("the membership has changed")
		}
		if !w.quorate() {
			return errors.New("there is no quorum")
		}
		change()
		w.Revision++
		if !w.quorate() {
			*w = *old
			return errors.New("that would cost the quorum")
		}
		return nil
	}
	switch a := a.(type) {
	case quorum.SetHook:
		if s := w.seat(a.Machine); !s.Gone && !s.Deleting {
			s.Hook = true
		}
	case quorum.RemoveHook:
		s := w.seat(a.Machine)
		if s.Member == "voter" {
			w.bad = errors.New("machine " + s.Name + " may go, and its member votes")
		}
		s.Hook = false
	case quorum.AddLearner:
		return member(a.Revision, func() { w.seat(a.Node).Member, w.seat(a.Node).Caught = "learner", false })
	case quorum.Promote:
		if !w.seat(a.ID).Caught {
			return errors.New("the learner has not caught up")
		}
		return member(a.Revision, func() { w.seat(a.ID).Member = "voter" })
	case quorum.RemoveMember:
		return member(a.Revision, func() { w.seat(a.ID).Member, w.seat(a.ID).Caught = "", false })
	}
	return nil
}

// Judge implements fairlead.Judge.
func (w *panel) Judge(_ quorum.State, seen *panel, _ time.Time, d quorum.Decision) error {
	n := seen.clone()
	for _, a := range d.Actions {
		before, _ := n.voters()
		err := n.Apply(context.Background(), "", a)
		after, _ := n.voters()
		switch {
		case n.bad != nil:
			return n.bad
		case err != nil && seen.quorate() && err.Error() == "that would cost the quorum":
			return fmt.Errorf("%T would cost the quorum", a)
		case after > seen.Desired+1:
			return fmt.Errorf("%T makes %d voters of %d", a, after, before)
		}
	}
	return nil
}

// Events implements fairlead.SmallTrial.
func (w *panel) Events() (all []fairlead.Event) {
	add := func(name string, sure bool, do func()) {
		all = append(all, fairlead.Event{Name: name, Sure: sure, Do: do})
	}
	for i, s := range w.Seats {
		switch {
		case s.Member == "learner" && !s.Caught && !s.Dead:
			add("caught "+s.Name, true, func() { w.Seats[i].Caught = true })
		case s.Deleting && !s.Hook && !s.Gone:
			add("gone "+s.Name, true, func() { w.Seats[i].Gone, w.Seats[i].Dead = true, w.Seats[i].Member != "" })
		}
		if s.Member != "" && !s.Dead && w.Deaths > 0 {
			add("dies "+s.Name, false, func() { w.Deaths--; w.Seats[i].Dead = true })
		}
		if !s.Deleting && !s.Gone && w.Deletes > 0 {
			add("deleted "+s.Name, false, func() { w.Deletes--; w.Seats[i].Deleting = true })
		}
	}
	return all
}

// Settled implements fairlead.Trial: no machine that is being deleted waits for the guard.
func (w *panel) Settled(string) error {
	if slices.ContainsFunc(w.Seats, func(s seat) bool { return s.Deleting && s.Hook }) {
		return errors.New("a machine that is being deleted waits for the guard")
	}
	return nil
}

// Excuses implements fairlead.Excuser: a block is a reason only where somebody else must act: the quorum is lost,
// a member is dead whose machine stays, or there are too few machines.
func (w *panel) Excuses(blocked []fairlead.Block) bool {
	free := 0
	for _, s := range w.Seats {
		if s.Dead && s.Member != "" && !s.Deleting {
			return len(blocked) > 0
		}
		if !s.Dead && !s.Deleting && !s.Gone {
			free++
		}
	}
	return len(blocked) > 0 && (!w.quorate() || free < w.Desired)
}

// visit visits every state of small worlds.
func visit(t *testing.T, faults int, options fairlead.VisitOptions, worlds ...*panel) {
	t.Helper()
	engine := fairlead.Engine[quorum.State, *panel, quorum.Action]{Name: "quorum", Version: 1, Step: func(s quorum.State, w *panel, now time.Time) quorum.Decision {
		return quorum.Step(s, w.world(), now, nil)
	}}
	options.Patience, options.Horizon, options.Log = 2*time.Minute, 3*time.Minute, t.Log
	for _, w := range worlds {
		open := func(*rand.Rand, *fairlead.ManualClock) fairlead.Trial[*panel, quorum.Action] { return w.clone() }
		if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: -1, Faults: faults, Visit: options}); err != nil {
			t.Error(err)
		}
	}
}

// TestVisit visits every state of small worlds.
func TestVisit(t *testing.T) {
	for _, o := range []struct {
		name   string
		faults int
		worlds []*panel
	}{
		{"three", 1, []*panel{newPanel(3, 1, 0, 1), newPanel(3, 1, 1, 1).dead("a")}},
		{"spare", 1, []*panel{newPanel(3, 2, 1, 2)}},
		{"late", 2, []*panel{newPanel(5, 1, 0, 1), newPanel(5, 2, 1, 2).dead("a")}},
		{"five", 1, []*panel{newPanel(5, 2, 0, 2).dead("a", "b")}},
	} {
		t.Run(o.name, func(t *testing.T) {
			visit(t, o.faults, fairlead.VisitOptions{States: long.N(8_000, 10_000_000)}, o.worlds...)
		})
	}
}

// TestPaths visits what follows on what visits have found.
func TestPaths(t *testing.T) {
	dead := newPanel(5, 2, 0, 2).dead("a", "b")
	late := newPanel(5, 2, 1, 2).dead("a")
	for _, o := range []struct {
		name, path string
		world      *panel
	}{
		{"a learner was added, and then nothing happened any more", "deleted a, step, apply, step, apply, deleted b, step", dead},
		{"what was decided late took a healthy voter", "deleted a, look, dies b, save, apply, step, apply, deleted b, look, save, apply, step", late},
	} {
		t.Run(o.name, func(t *testing.T) {
			visit(t, 2, fairlead.VisitOptions{States: 2_000, Path: strings.Split(o.path, ", ")}, o.world)
		})
	}
}
