package cvo_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/long"
)

// Observe implements cvo.Backend. Sometimes an operator reports an old version, a payload is
// lost, or the state.
func (p *play) Observe(ctx context.Context, name string) (*cvo.World, error) {
	w, err := p.MemBackend.Observe(ctx, name)
	if err != nil {
		return nil, err
	}
	if p.odd && len(w.Operators) > 0 && p.IntN(25) == 0 {
		p.seen["reports an old version"]++
		w.Operators[p.IntN(len(w.Operators))].Status.Versions = []cvo.Operand{{Name: "operator", Version: "4.17.0"}}
	}
	p.see(w)
	if p.odd && len(w.Retrieved) > 0 && p.IntN(40) == 0 {
		p.seen["payload is lost"]++
		w.Retrieved = nil
	}
	if p.empty = p.forgets; p.forgets {
		p.seen["state is lost"]++
		p.forgets, p.prepared = false, nil
		p.again++
	}
	return w, nil
}

// Apply implements cvo.Backend: nothing is applied twice for effect in one release.
func (p *play) Apply(ctx context.Context, name string, a cvo.Action) error {
	before := p.Writes(name)
	if err := p.MemBackend.Apply(ctx, name, a); err != nil {
		return err
	}
	p.seen[a.Key().Kind]++
	apply, ok := a.(cvo.Apply)
	if !ok {
		return nil
	}
	if apply.Release.Image != p.last.Release.Image {
		p.overtaken[apply.Manifest.ID]++ // and what it overwrites is applied again
	}
	if p.Writes(name)[apply.Manifest.ID] > before[apply.Manifest.ID] {
		p.seen["changes"]++
		key := apply.Release.Image + " " + apply.Manifest.ID.String()
		if p.effects[key]++; p.effects[key] > p.turns(apply.Release.Image)+p.overtaken[apply.Manifest.ID] {
			p.fail("%s was changed %d times by one release", apply.Manifest.ID, p.effects[key])
		}
	}
	return nil
}

// step is that of the engine, with what a process keeps of a payload, and checks.
func (p *play) step(state cvo.State, w *cvo.World, now time.Time) cvo.Decision {
	if p.empty {
		state = cvo.State{}
	}
	world := *w
	world.Prepared = p.prepared
	if made := cvo.Prepare(state, &world, nil); made != nil {
		world.Prepared, p.prepared = made, made
	}
	d := cvo.Step(state, &world, now, nil)
	p.forward(state.Work, d.State.Work)
	done := map[payload.ID]bool{}
	for _, a := range d.Actions {
		if apply, ok := a.(cvo.Apply); ok {
			p.inOrder(apply, w, done)
			done[apply.Manifest.ID] = true
		}
	}
	return d
}

// forward checks that what is done in a pass stays done, whatever happens to the
// engines.
func (p *play) forward(old, now *cvo.Work) {
	if old == nil || now == nil {
		return
	}
	pass := func(w *cvo.Work) string { return fmt.Sprint(w.Release.Image, w.Hash, w.Mode, w.Pass, w.Begun) }
	if pass(old) == pass(now) && now.Done.Count() < old.Done.Count() {
		p.fail("of the pass %s there were %d tasks done, and now %d are", pass(now), old.Done.Count(), now.Done.Count())
	}
}

// see notes which operators let a release go on, as a runner sees them now. The
// rules are those of Gate, written once more. Another release that is applied in
// between begins again.
func (p *play) see(w *cvo.World) {
	for image, operators := range p.wants {
		for _, want := range operators {
			live := find(w, want.Name)
			if live == nil {
				continue
			}
			there := !slices.ContainsFunc(want.Status.Versions, func(o cvo.Operand) bool { return !slices.Contains(live.Status.Versions, o) })
			says := map[string]cvo.ConditionStatus{}
			for _, c := range live.Status.Conditions {
				says[c.Type] = c.Status
			}
			key := image + " " + want.Name
			switch {
			case there && says["Available"] == cvo.True && says["Degraded"] == cvo.False:
				p.passed[key] = true
			case there && says["Degraded"] == cvo.False && image == p.last.Release.Image && p.last.Mode == cvo.Updating && !p.passed[key]:
				p.seen["held by an outage alone"]++
			}
		}
	}
}

// inOrder checks, while updating, that all lower runlevels are applied and their
// operators were where they should be, and that of its own component what comes
// before is.
func (p *play) inOrder(a cvo.Apply, w *cvo.World, done map[payload.ID]bool) {
	if a.Release.Image != p.last.Release.Image {
		maps.DeleteFunc(p.passed, func(key string, _ bool) bool { return strings.HasPrefix(key, p.last.Release.Image+" ") })
		p.last = a
		p.see(w)
	}
	if p.last = a; a.Mode != cvo.Updating {
		return
	}
	skip := map[payload.ID]bool{}
	for _, o := range w.Cluster.Spec.Overrides {
		skip[payload.ID{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}] = true
	}
	seen := false
	for _, m := range p.tasks[a.Release.Image] {
		if m.ID == a.Manifest.ID {
			seen = true
		}
		lower := m.Name.Runlevel < a.Manifest.Name.Runlevel
		before := m.Name == a.Manifest.Name && !seen
		if dir, other := path.Dir(a.Manifest.File), path.Dir(m.File); dir != other { // all of manifests goes first
			lower, before = other < dir, false
		}
		if !lower && !before || skip[m.ID] {
			continue
		}
		if !m.Delete() && !p.Has("east", m.ID) && (lower || !done[m.ID]) {
			p.fail("%s is applied before %s", a.Manifest.ID, m.ID)
		}
		if m.ClusterOperator() && !p.passed[a.Release.Image+" "+m.ID.Name] {
			p.fail("%s is applied, and operator %s of %s was never seen to be well and at its version", a.Manifest.ID, m.ID.Name, m.Name.Runlevel)
		}
	}
}

func find(w *cvo.World, name string) *cvo.ClusterOperator {
	for i := range w.Operators {
		if w.Operators[i].Name == name {
			return &w.Operators[i]
		}
	}
	return nil
}

// check runs the engine on clusters, and returns what was seen.
func check(t *testing.T, runs int, open func(r *rand.Rand, clock *fairlead.ManualClock, seen map[string]int) *play) {
	seen := map[string]int{}
	var at *play
	engine, err := cvo.NewEngine(cvo.NewMemBackend(new(fairlead.ManualClock)), nil)
	if err != nil {
		t.Fatal(err)
	}
	engine.Step = func(state cvo.State, w *cvo.World, now time.Time) cvo.Decision { return at.step(state, w, now) }
	err = fairlead.CheckEngine(t.Context(), engine, func(r *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*cvo.World, cvo.Action] {
		at = open(r, clock, seen)
		return at
	}, &fairlead.TrialOptions{Runs: runs, Names: []string{"east"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(seen)
	for _, what := range append(strings.Fields("Retrieve Apply WriteStatus changes updated installed"), "held by an outage alone", "not verified", "payload is lost", "state is lost", "reports an old version") {
		if seen[what] == 0 {
			t.Errorf("there was no %q", what)
		}
	}
}

// TestEngine installs and updates clusters with faults of all kinds, and checks at the
// backend, after each change, what always holds. At last all is well again, and the
// cluster must come to its release.
func TestEngine(t *testing.T) {
	check(t, long.N(30, 10_000), func(r *rand.Rand, clock *fairlead.ManualClock, seen map[string]int) *play {
		return drawn(t, r, clock, seen)
	})
}
