package sim_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/sim"
)

// TestSameSeed checks that a seed has the same faults each time.
func TestSameSeed(t *testing.T) {
	draw := func() (all []bool) {
		s := sim.New(7)
		for range 100 {
			all = append(all, s.Fault("x", 3))
		}
		return all
	}
	first := draw()
	if !slices.Equal(first, draw()) || !slices.Contains(first, true) || !slices.Contains(first, false) {
		t.Errorf("got %v and %v", first, draw())
	}
}

// TestHeal checks that no fault happens after Heal, also in calls of a store.
func TestHeal(t *testing.T) {
	s := sim.New(1)
	store := s.Store(new(fairlead.MemStore))
	failed := 0
	for range 200 {
		if _, err := store.Put(t.Context(), "k", nil, ""); errors.Is(err, sim.ErrFault) {
			failed++
		}
	}
	s.Heal()
	for range 200 {
		if s.Fault("x", 1) {
			t.Fatal("a fault after Heal")
		}
		if _, err := store.Get(t.Context(), "k"); err != nil {
			t.Fatal(err)
		}
	}
	if failed == 0 {
		t.Error("no call failed before")
	}
}

// TestRun checks that Run counts the faults of all its seeds.
func TestRun(t *testing.T) {
	faults := sim.Run(t, 5, func(s *sim.Sim) error {
		s.Fault("always", 1)
		s.Pass()
		return nil
	})
	if faults["always"] != 5 && len(faults) > 0 {
		t.Errorf("got %v", faults)
	}
}
