package ownengine

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// Trial is a machine in memory: a Backend, and the world of a simulation.
type Trial struct {
	chance *rand.Rand
	boot   int
	wanted int
	ended  int // boots that the engine has ended
	asked  int // reboots that were requested
}

// NewTrial returns a machine whose random events come from chance.
func NewTrial(chance *rand.Rand) *Trial { return &Trial{chance: chance, wanted: -1} }

// Observe implements fairlead.Backend.
func (t *Trial) Observe(context.Context, string) (World, error) {
	return World{Boot: fmt.Sprint(t.boot), Wanted: fmt.Sprint(t.wanted)}, nil
}

// Apply implements fairlead.Backend.
func (t *Trial) Apply(_ context.Context, _ string, action Action) error {
	if a, ok := action.(Reboot); ok && a.Boot == fmt.Sprint(t.boot) {
		t.boot, t.ended = t.boot+1, t.ended+1
	}
	return nil
}

// Change implements fairlead.Trial: a user asks for a reboot, or the machine
// reboots by itself.
func (t *Trial) Change() {
	if t.chance.IntN(3) == 0 {
		t.boot++
	} else if t.wanted != t.boot {
		t.wanted, t.asked = t.boot, t.asked+1
	}
}

// Check implements fairlead.Trial: no boot ends twice, or without a request.
func (t *Trial) Check() error {
	if t.ended > t.asked {
		return fmt.Errorf("%d boots were ended, and %d reboots asked for", t.ended, t.asked)
	}
	return nil
}

// Settled implements fairlead.Trial.
func (t *Trial) Settled(string) error {
	if t.boot == t.wanted {
		return fmt.Errorf("boot %d still runs", t.boot)
	}
	return nil
}
