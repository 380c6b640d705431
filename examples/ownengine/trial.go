package ownengine

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/fairlead/fairlead"
)

// Trial is a machine in memory: a Backend, and the world of a simulation. It is small: its
// fields are all that matters, so that every state can be visited.
type Trial struct {
	Boot   int // the number of the current boot
	Wanted int // the boot that a user wants to end; -1 for none
	Ended  int // boots that the engine has ended
	Asked  int // reboots that were requested
	Left   int // events that may still happen in a visit

	chance *rand.Rand
}

// NewTrial returns a machine whose random events come from chance.
func NewTrial(chance *rand.Rand) *Trial { return &Trial{Wanted: -1, Left: 4, chance: chance} }

// Observe implements fairlead.Backend.
func (t *Trial) Observe(context.Context, string) (World, error) {
	return World{Boot: fmt.Sprint(t.Boot), Wanted: fmt.Sprint(t.Wanted)}, nil
}

// Apply implements fairlead.Backend.
func (t *Trial) Apply(_ context.Context, _ string, action Action) error {
	if a, ok := action.(Reboot); ok && a.Boot == fmt.Sprint(t.Boot) {
		t.Boot, t.Ended = t.Boot+1, t.Ended+1
	}
	return nil
}

// Change implements fairlead.Trial: a user asks for a reboot, or the machine
// reboots by itself.
func (t *Trial) Change() {
	if t.chance.IntN(3) == 0 {
		t.Boot++
	} else if t.Wanted != t.Boot {
		t.Wanted, t.Asked = t.Boot, t.Asked+1
	}
}

// Events implements fairlead.SmallTrial: what Change does, one by one.
func (t *Trial) Events() (all []fairlead.Event) {
	if t.Left == 0 {
		return nil
	}
	if t.Wanted != t.Boot {
		all = append(all, fairlead.Event{Name: "user asks", Do: func() { t.Left--; t.Wanted, t.Asked = t.Boot, t.Asked+1 }})
	}
	return append(all, fairlead.Event{Name: "machine reboots", Do: func() { t.Left--; t.Boot++ }})
}

// Clone implements fairlead.SmallTrial.
func (t *Trial) Clone() fairlead.SmallTrial[World, Action] {
	n := *t
	return &n
}

// Check implements fairlead.Trial: no boot ends twice, or without a request.
func (t *Trial) Check() error {
	if t.Ended > t.Asked {
		return fmt.Errorf("%d boots were ended, and %d reboots asked for", t.Ended, t.Asked)
	}
	return nil
}

// Settled implements fairlead.Trial.
func (t *Trial) Settled(string) error {
	if t.Boot == t.Wanted {
		return fmt.Errorf("boot %d still runs", t.Boot)
	}
	return nil
}
