package quorum_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	small "github.com/fairlead/fairlead/internal/explore"
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
	Deaths   int // how many members may still die
	Deletes  int // how many machines may still be deleted
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

// apply carries out an action as machines and etcd do.
func (w *panel) apply(a quorum.Action, _ time.Time) error {
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
			return &small.Broken{Rule: "machine " + s.Name + " may go, and its member votes"}
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

// broken returns the rule that a decision breaks, given what was seen.
func (w *panel) broken(actions []quorum.Action) string {
	n := w.clone()
	for _, a := range actions {
		before, _ := n.voters()
		err := n.apply(a, begin)
		after, _ := n.voters()
		var rule *small.Broken
		switch {
		case errors.As(err, &rule):
			return rule.Rule
		case err != nil && w.quorate() && err.Error() == "that would cost the quorum":
			return fmt.Sprintf("%T would cost the quorum", a)
		case after > w.Desired+1:
			return fmt.Sprintf("%T makes %d voters of %d", a, after, before)
		}
	}
	return ""
}

func (w *panel) moves(time.Time) (all []small.Move[*panel]) {
	add := func(name string, sure bool, do func(w *panel)) {
		all = append(all, small.Move[*panel]{Name: name, Sure: sure, Do: do})
	}
	for i, s := range w.Seats {
		switch {
		case s.Member == "learner" && !s.Caught && !s.Dead:
			add("caught "+s.Name, true, func(w *panel) { w.Seats[i].Caught = true })
		case s.Deleting && !s.Hook && !s.Gone:
			add("gone "+s.Name, true, func(w *panel) { w.Seats[i].Gone, w.Seats[i].Dead = true, w.Seats[i].Member != "" })
		}
		if s.Member != "" && !s.Dead && w.Deaths > 0 {
			add("dies "+s.Name, false, func(w *panel) { w.Deaths--; w.Seats[i].Dead = true })
		}
		if !s.Deleting && !s.Gone && w.Deletes > 0 {
			add("deleted "+s.Name, false, func(w *panel) { w.Deletes--; w.Seats[i].Deleting = true })
		}
	}
	return all
}

// rest: no machine that is being deleted waits for the guard.
func (w *panel) rest() bool {
	return !slices.ContainsFunc(w.Seats, func(s seat) bool { return s.Deleting && s.Hook })
}

// told: a block is a reason only where somebody else must act: the quorum is lost,
// a member is dead whose machine stays, or there are too few machines.
func (w *panel) told(blocked []fairlead.Block) bool {
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

type quorumModel = small.Model[*panel, quorum.State, quorum.Action]

func quorumModels() []*quorumModel {
	var models []*quorumModel
	add := func(name string, f small.Faults, worlds ...*panel) {
		models = append(models, &quorumModel{
			Name: name, Worlds: worlds, Clone: (*panel).clone, Apply: (*panel).apply, Moves: (*panel).moves, Rest: (*panel).rest, Told: (*panel).told,
			Step: func(s quorum.State, w *panel, now time.Time) small.Decision[quorum.State, quorum.Action] {
				d := quorum.Step(s, w.world(), now, nil)
				return small.Decision[quorum.State, quorum.Action]{State: d.State, Actions: d.Actions, Blocked: d.Blocked, Wake: d.Wake, Broken: w.broken(d.Actions)}
			},
			Faults: f, Patience: 2 * time.Minute, Horizon: 3 * time.Minute, Max: 8_000,
		})
	}
	all := small.Faults{Crash: 1, Lost: 1, Fail: 1, Late: 1, Second: 1, Back: 1}
	add("three", all, newPanel(3, 1, 0, 1), newPanel(3, 1, 1, 1).dead("a"))
	add("spare", small.Faults{}, newPanel(3, 2, 1, 2))
	add("late", small.Faults{Late: 2}, newPanel(5, 1, 0, 1), newPanel(5, 2, 1, 2).dead("a"))
	add("five", all, newPanel(5, 2, 0, 2).dead("a", "b"))
	return models
}

// TestWorlds visits every state of small worlds.
func TestWorlds(t *testing.T) { small.Test(t, 10_000_000, quorumModels()...) }

// TestTraces replays what exploring has found.
func TestTraces(t *testing.T) { small.Scripts(t, "testdata/traces/*.txt", quorumModels()...) }
