package fleet_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/fleet"
)

// TestAdmitHolds plays random fleets: no limit is exceeded, nobody who is being
// drained loses a slot, everybody is drained in the end, nobody waits without a
// reason, and the order of the arguments does not matter.
func TestAdmitHolds(t *testing.T) {
	for seed := range uint64(long.N(300, 20_000)) {
		r := rand.New(rand.NewPCG(seed, 1))
		limits := []fleet.Limit{{Name: "all", Max: 1 + r.IntN(4)}, {Name: "masters", Role: "master", Max: 1}, {Name: "zone", Role: "worker", PerDomain: true, Max: 1 + r.IntN(2)}}
		var waiting []fleet.Candidate
		for i := range 1 + r.IntN(12) {
			waiting = append(waiting, fleet.Candidate{
				Name: fmt.Sprint("m", i), UID: fmt.Sprint("u", i), Role: []string{"master", "worker"}[r.IntN(2)], Domain: []string{"east", "west"}[r.IntN(2)],
				Asked: noon.Add(-time.Duration(r.IntN(3)) * time.Minute),
			})
		}
		now := noon
		var slots []fleet.Slot
		var before []string
		for round := 0; len(waiting) > 0; round++ {
			if round > 100 {
				t.Fatalf("seed %d: %v wait for ever", seed, waiting)
			}
			a, err := fleet.Admit(slots, waiting, limits, now)
			if err != nil {
				t.Fatal(err)
			}
			shuffled := slices.Clone(waiting)
			r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			if b, _ := fleet.Admit(slots, shuffled, limits, now); fmt.Sprint(a) != fmt.Sprint(b) {
				t.Fatalf("seed %d: the order matters:\n%v\n%v", seed, a, b)
			}
			if len(a.Admitted) == 0 || len(a.Admitted)+len(a.Blocked) != len(waiting) || len(a.Waiting) != len(a.Blocked) {
				t.Fatalf("seed %d: %d wait, %+v", seed, len(waiting), a)
			}
			count := map[string]int{}
			for _, c := range waiting {
				if !slices.Contains(a.Admitted, c.Name) {
					if slices.Contains(before, c.Name) {
						t.Fatalf("seed %d: %s is drained no more", seed, c.Name)
					}
					if len(a.SlotsOf(c.Name)) == 0 {
						t.Fatalf("seed %d: %s waits for nothing", seed, c.Name)
					}
					continue
				}
				count["all"]++
				if c.Role == "master" {
					count["masters"]++
				} else {
					count["zone"+c.Domain]++
				}
			}
			if count["all"] > limits[0].Max || count["masters"] > 1 || count["zoneeast"] > limits[2].Max || count["zonewest"] > limits[2].Max {
				t.Fatalf("seed %d: %v with %v", seed, count, limits)
			}
			slots, before = a.Slots, nil
			done := a.Admitted[r.IntN(len(a.Admitted))]
			waiting = slices.DeleteFunc(waiting, func(c fleet.Candidate) bool { return c.Name == done })
			for _, name := range a.Admitted {
				if name != done {
					before = append(before, name)
				}
			}
			now = now.Add(time.Minute)
		}
	}
}

// TestAdmitStarvesNobody: machines that need several limits are drained although
// younger ones that need fewer keep coming.
func TestAdmitStarvesNobody(t *testing.T) {
	for seed := range uint64(long.N(200, 5_000)) {
		r := rand.New(rand.NewPCG(seed, 2))
		limits := []fleet.Limit{{Name: "all", Max: 2}, {Name: "masters", Role: "master", Max: 1}}
		old := fleet.Candidate{Name: "old", UID: "old", Role: "master", Asked: noon.Add(-time.Hour)}
		waiting := []fleet.Candidate{old}
		slots := []fleet.Slot{ // the limits are full when it comes
			{Limit: "all", Machine: "x", UID: "x", Since: noon}, {Limit: "masters", Machine: "x", UID: "x", Since: noon},
			{Limit: "all", Machine: "y", UID: "y", Since: noon},
		}
		waiting = append(waiting, fleet.Candidate{Name: "x", UID: "x", Role: "master", Asked: noon.Add(-2 * time.Hour)},
			fleet.Candidate{Name: "y", UID: "y", Role: "worker", Asked: noon.Add(-2 * time.Hour)})
		for round := 0; ; round++ {
			if round > 30 {
				t.Fatalf("seed %d: it waits for ever", seed)
			}
			waiting = append(waiting, fleet.Candidate{Name: fmt.Sprint("w", round), UID: fmt.Sprint("w", round), Role: "worker", Asked: noon.Add(time.Duration(round) * time.Second)})
			a, err := fleet.Admit(slots, waiting, limits, noon.Add(time.Duration(round)*time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(a.Admitted, "old") {
				break
			}
			slots = a.Slots
			done := a.Admitted[r.IntN(len(a.Admitted))]
			waiting = slices.DeleteFunc(waiting, func(c fleet.Candidate) bool { return c.Name == done })
		}
	}
}

// TestWaitsForSlot: a machine whose limit is full is not cordoned, and says who
// is in its way.
func TestWaitsForSlot(t *testing.T) {
	m := &lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Name: "m1", UID: "u1", DeletionTimestamp: &noon}}
	m.Status.NodeRef = &lifecycle.NodeRef{Name: "n1"}
	m.Status.Phase = lifecycle.PhaseDeleting
	m.Status.Conditions = []lifecycle.Condition{{Type: lifecycle.ConditionDrainable, Status: "True"}, {Type: lifecycle.ConditionTerminable, Status: "True"}}
	n := &lifecycle.Node{ObjectMeta: lifecycle.ObjectMeta{Name: "n1", UID: "un"}}
	candidates := append(fleet.DrainCandidates([]lifecycle.Machine{*m}, "role", "zone"), fleet.Candidate{Name: "m0", UID: "u0", Asked: noon.Add(-time.Hour)})
	a, err := fleet.Admit(nil, candidates, []fleet.Limit{{Name: "one", Max: 1}}, noon)
	if err != nil {
		t.Fatal(err)
	}
	w := &lifecycle.World{Machine: m, Instance: lifecycle.InstanceExists, Slots: a.SlotsOf("m1")}
	w.Node = n
	d := lifecycle.Step(lifecycle.State{}, w, noon.Add(time.Hour), nil)
	blocks := d.Blocks()
	if len(d.Actions) > 0 || len(blocks) != 1 || blocks[0].Reason != lifecycle.ReasonSlotTaken || blocks[0].Owner != "machine m0" || !blocks[0].Since.Equal(noon) {
		t.Fatalf("%v, %v", d.Actions, blocks)
	}
	w.Slots = nil
	if d = lifecycle.Step(d.State, w, noon.Add(2*time.Hour), nil); len(d.Actions) != 1 {
		t.Fatalf("%v", d.Actions)
	}
}

// TestSlotUntilGone: a machine that is drained is still on its way out, and keeps
// its slot until it is gone, also where the slots were lost. One that is excluded
// from draining goes all the same, and counts.
func TestSlotUntilGone(t *testing.T) {
	limits := []fleet.Limit{{Name: "masters", Max: 1}}
	machine := func(name string, asked time.Time) lifecycle.Machine {
		return lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Name: name, UID: "u-" + name, DeletionTimestamp: &asked}}
	}
	first, second := machine("first", noon.Add(time.Minute)), machine("second", noon)
	first.Status.Conditions = []lifecycle.Condition{{Type: lifecycle.ConditionDrained, Status: "True"}}
	check := func(what, want string, slots []fleet.Slot, machines ...lifecycle.Machine) []fleet.Slot {
		t.Helper()
		a, err := fleet.Admit(slots, fleet.DrainCandidates(machines, "", ""), limits, noon.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(a.Admitted); got != want {
			t.Errorf("%s: %s are admitted, want %s", what, got, want)
		}
		return a.Slots
	}
	held := check("drained, with a slot", "[first]", []fleet.Slot{{Limit: "masters", Machine: "first", UID: "u-first", Since: noon}}, first, second)
	check("drained, the slots are lost", "[first]", nil, second, first)
	check("gone", "[second]", held, second)
	first.Status.Conditions = nil
	first.Annotations = map[string]string{lifecycle.ExcludeDrainAnnotation: ""}
	check("excluded", "[first]", nil, second, first)
	alive := first
	alive.DeletionTimestamp = nil
	check("not deleted", "[second]", nil, second, alive)
}
