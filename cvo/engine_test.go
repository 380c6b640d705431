package cvo_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/long"
)

// hosted is a cluster in memory that is installed and updated, and its operators.
type hosted struct {
	*rand.Rand
	*cvo.MemBackend
	parts   []part
	history []cvo.History
	seen    map[string]int // what was done, by kind
	wants   string         // the image that it is to run
	bad     bool           // another one is requested, which nobody vouches for
}

// hostedReleases are what such a cluster may run.
type hostedReleases struct {
	parts []part
	one   *payload.Payload
	two   *payload.Payload
	bad   *payload.Payload
}

func openHosted(of *hostedReleases, r *rand.Rand, clock *fairlead.ManualClock) *hosted {
	h := &hosted{Rand: r, MemBackend: cvo.NewMemBackend(clock), parts: of.parts, seen: map[string]int{}, wants: imageOne}
	h.SetRelease(imageOne, of.one, true, time.Duration(r.IntN(60))*time.Second)
	h.SetRelease(imageTwo, of.two, true, time.Duration(r.IntN(60))*time.Second)
	h.SetRelease(imageBad, of.bad, false, 0)
	for _, p := range h.parts {
		h.Operators[p.component] = time.Duration(r.IntN(20)) * time.Minute
		h.Rollouts[p.component] = time.Duration(r.IntN(90)) * time.Second
	}
	h.ask(nil)
	return h
}

func (h *hosted) ask(update *cvo.Update) {
	h.SetCluster("east", cvo.Spec{DesiredUpdate: update}, cvo.Release{Version: "4.18.0", Image: imageOne})
}

// update returns the request for what it is to run.
func (h *hosted) update() *cvo.Update {
	if h.wants == imageTwo {
		return &cvo.Update{Image: imageTwo, Version: "4.19.0"}
	}
	return nil
}

// Apply implements cvo.Backend.
func (h *hosted) Apply(ctx context.Context, name string, a cvo.Action) error {
	err := h.MemBackend.Apply(ctx, name, a)
	if err == nil {
		h.seen[a.Key().Kind]++
	}
	return err
}

// Change implements fairlead.Trial.
func (h *hosted) Change() {
	c := h.parts[h.IntN(len(h.parts))].component
	switch h.IntN(6) {
	case 0:
		if h.IntN(4) == 0 {
			h.wants, h.bad = imageTwo, false
			h.ask(h.update())
		}
	case 1:
		if h.wants == imageOne && h.IntN(4) == 0 {
			h.bad = true
			h.ask(&cvo.Update{Image: imageBad})
		}
	case 2:
		h.Degrade("east", c, "its pods crash")
	case 3:
		h.Interrupt("east", c, "its pods are gone")
	case 4:
		h.heal()
	}
}

func (h *hosted) heal() {
	for _, p := range h.parts {
		h.Degrade("east", p.component, "")
		h.Interrupt("east", p.component, "")
	}
}

// Check implements fairlead.Trial: what was written stays, and no release is accepted that
// nobody vouches for.
func (h *hosted) Check() error {
	now := h.Version("east").Status.History
	if err := grows(h.history, now); err != nil {
		return err
	}
	h.history = now
	for _, x := range now {
		if x.Image == imageBad {
			return fmt.Errorf("a release that nobody vouches for was accepted: %+v", x)
		}
	}
	return nil
}

// Settled implements fairlead.Trial.
func (h *hosted) Settled(string) error {
	h.heal()
	if h.bad {
		h.bad = false
		h.ask(h.update())
	}
	if now := h.Version("east").Status.History; len(now) == 0 || now[0].State != cvo.Completed || now[0].Image != h.wants {
		return fmt.Errorf("it is to run %s, and the history is %+v", h.wants, now)
	}
	return nil
}

// TestEngine installs and updates a cluster with faults of all kinds.
func TestEngine(t *testing.T) {
	of := &hostedReleases{parts: []part{{runlevel: 10, component: "a", objects: 1, operator: true}, {runlevel: 20, component: "b", objects: 1}, {runlevel: 20, component: "c", operator: true}}}
	of.one, of.two, of.bad = release(t, "4.18.0", of.parts, nil), release(t, "4.19.0", of.parts, nil), release(t, "4.18.9", of.parts, nil)
	seen := map[string]int{}
	var last *hosted
	open := func(r *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*cvo.World, cvo.Action] {
		if last != nil {
			for k, n := range last.seen {
				seen[k] += n
			}
		}
		last = openHosted(of, r, clock)
		return last
	}
	engine, err := cvo.NewEngine(openHosted(of, rand.New(rand.NewPCG(1, 1)), new(fairlead.ManualClock)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: long.N(30, 10_000), Names: []string{"east"}}); err != nil {
		t.Fatal(err)
	}
	if t.Log(seen); seen["Apply"] == 0 {
		t.Errorf("nothing was applied: %v", seen)
	}
}
