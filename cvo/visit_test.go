package cvo_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/long"
)

// tiny is a cluster that is asked to go from one release to the next, with three
// manifests and one operator.
type tiny struct {
	Cluster   cvo.ClusterVersion
	Retrieved map[string]int     // attempts, by image
	Applied   map[string]string  // release, by label of the manifest
	Version   string             // that the operator has
	Wants     string             // that it is on its way to
	Down      bool               // it is not available
	Flaps     int                // how often it may be down
	Changes   int                // how often the request may be taken back
	Spoils    int                // how often somebody may change what was applied
	Outcomes  []fairlead.Outcome // as a runner knows them
}

var tinyReleases = map[string]*payload.Payload{}

func tinyRelease(version string) *payload.Payload {
	if tinyReleases[version] == nil {
		tinyReleases[version] = release(quiet{}, version, []part{{runlevel: 10, component: "etcd", objects: 1, operator: true}}, nil)
	}
	return tinyReleases[version]
}

func newTiny(flaps, changes int) *tiny {
	w := &tiny{Retrieved: map[string]int{}, Applied: map[string]string{}, Version: "4.18.0", Wants: "4.18.0", Flaps: flaps, Changes: changes}
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(-time.Hour)
	ended := began.Add(time.Minute)
	w.Cluster.Name = "version"
	w.Cluster.Spec.DesiredUpdate = &cvo.Update{Version: "4.19.0", Image: imageTwo}
	w.Cluster.Status.Desired = cvo.Release{Version: "4.18.0", Image: imageOne}
	w.Cluster.Status.History = []cvo.History{{State: cvo.Completed, Version: "4.18.0", Image: imageOne, StartedTime: began, CompletionTime: &ended, Verified: true}}
	return w
}

// newKept makes a cluster that has its release, where somebody may change what was applied.
func newKept() *tiny {
	w := newTiny(0, 0)
	w.Spoils = 1
	w.Cluster.Spec.DesiredUpdate = &cvo.Update{Version: "4.18.0", Image: imageOne}
	return w
}

// spoilt is the release of what somebody has changed.
const spoilt = "somebody's"

func (w *tiny) clone() *tiny {
	n := *w
	n.Retrieved, n.Applied = maps.Clone(w.Retrieved), maps.Clone(w.Applied)
	return &n
}

// Clone implements fairlead.SmallTrial.
func (w *tiny) Clone() fairlead.SmallTrial[*tiny, cvo.Action] { return w.clone() }

// Observe implements fairlead.Backend.
func (w *tiny) Observe(context.Context, string) (*tiny, error) { return w.clone(), nil }

// Change implements fairlead.Trial.
func (w *tiny) Change() {}

// Check implements fairlead.Trial.
func (w *tiny) Check() error { return nil }

func (w *tiny) world() *cvo.World {
	cluster := w.Cluster
	o := &cvo.World{Cluster: &cluster, Own: cvo.Release{Version: "4.18.0", Image: imageOne}, Outcomes: w.Outcomes}
	for _, image := range slices.Sorted(maps.Keys(w.Retrieved)) {
		version := map[string]string{imageOne: "4.18.0", imageTwo: "4.19.0"}[image]
		o.Retrieved = append(o.Retrieved, cvo.Retrieved{Image: image, Try: w.Retrieved[image], Payload: tinyRelease(version), Verified: true})
	}
	available, progressing := cvo.True, cvo.False
	if w.Down {
		available = cvo.False
	}
	if w.Version != w.Wants {
		progressing = cvo.True
	}
	c := cvo.ClusterOperator{ObjectMeta: cvo.ObjectMeta{Name: "etcd"}}
	c.Status.Versions = []cvo.Operand{{Name: "operator", Version: w.Version}}
	c.Status.Conditions = []cvo.Condition{{Type: "Available", Status: available}, {Type: "Progressing", Status: progressing}, {Type: "Degraded", Status: cvo.False}}
	o.Operators = []cvo.ClusterOperator{c}
	return o
}

// Apply implements fairlead.Backend.
func (w *tiny) Apply(_ context.Context, _ string, action cvo.Action) error {
	switch a := action.(type) {
	case cvo.Retrieve:
		w.Retrieved[a.Release.Image] = a.Try
	case cvo.Apply:
		if a.Manifest.ClusterOperator() {
			return nil // its status is the operator's
		}
		w.Applied[a.Label] = a.Release.Version
		if a.Manifest.ID.Kind == "Deployment" {
			w.Wants = a.Release.Version
		}
	case cvo.WriteStatus:
		w.Cluster.Status = a.Status
	default:
		return errors.New("there is no such action")
	}
	return nil
}

// Judge implements fairlead.Judge: no manifest of a release is
// applied before its payload was verified, and a release is completed only when its
// operator has reached it.
func (w *tiny) Judge(_ cvo.State, seen *tiny, _ time.Time, d cvo.Decision) error {
	for _, action := range d.Actions {
		switch a := action.(type) {
		case cvo.Apply:
			if _, ok := seen.Retrieved[a.Release.Image]; !ok {
				return errors.New("a manifest is applied of a release that was not retrieved")
			}
		case cvo.WriteStatus:
			h := a.Status.History
			if len(h) == 0 {
				return errors.New("the history is lost")
			}
			if was := seen.Cluster.Status.History; h[0].State == cvo.Completed && was[0].State != cvo.Completed && seen.Version != h[0].Version {
				return errors.New("the update is completed, and the operator is at " + seen.Version)
			}
		}
	}
	return nil
}

// Events implements fairlead.SmallTrial.
func (w *tiny) Events() (all []fairlead.Event) {
	add := func(name string, sure bool, do func()) {
		all = append(all, fairlead.Event{Name: name, Sure: sure, Do: do})
	}
	if w.Version != w.Wants && !w.Down {
		add("operator reaches it", true, func() { w.Version = w.Wants })
	}
	if w.Down {
		add("operator is back", true, func() { w.Down = false })
	} else if w.Flaps > 0 {
		add("operator goes down", false, func() { w.Flaps--; w.Down = true })
	}
	if labels := slices.Sorted(maps.Keys(w.Applied)); w.Spoils > 0 && len(labels) > 0 {
		add("somebody changes "+labels[0], false, func() { w.Spoils--; w.Applied[labels[0]] = spoilt })
	}
	if w.Changes > 0 {
		add("request is taken back", false, func() {
			w.Changes--
			w.Cluster.Spec.DesiredUpdate = &cvo.Update{Version: "4.18.0", Image: imageOne}
			w.Cluster.Generation++
		})
	}
	return all
}

// Settled implements fairlead.Trial: the release that is asked for is the one that was completed last, and all is as
// it was applied.
func (w *tiny) Settled(string) error {
	h := w.Cluster.Status.History
	for _, release := range w.Applied {
		if release == spoilt {
			return errors.New("what somebody has changed is not applied again")
		}
	}
	if len(h) > 0 && h[0].State == cvo.Completed && h[0].Image == w.Cluster.Spec.DesiredUpdate.Image && w.Version == h[0].Version && !w.Down {
		return nil
	}
	return fmt.Errorf("the history is %+v, the operator at %s", h, w.Version)
}

// Excuses implements fairlead.Excuser: nobody else has to act.
func (w *tiny) Excuses([]fairlead.Block) bool { return false }

// visit visits the states of a small cluster.
func (w *tiny) visit(t *testing.T, o fairlead.VisitOptions) {
	t.Helper()
	prepared := map[string]*cvo.Prepared{} // by image, as a runner keeps them
	engine := fairlead.Engine[cvo.State, *tiny, cvo.Action]{Name: "cvo", Version: 1, Successes: true}
	engine.Step = func(s cvo.State, w *tiny, now time.Time) cvo.Decision {
		world, image := w.world(), ""
		if s.Work != nil {
			image = s.Work.Release.Image
		}
		world.Prepared = prepared[image]
		if p := cvo.Prepare(s, world, nil); p != nil {
			world.Prepared, prepared[image] = p, p
		}
		return cvo.Step(s, world, now, nil)
	}
	engine.Outcomes = func(w *tiny, all []fairlead.Outcome) *tiny { w.Outcomes = all; return w }
	o.Ends, o.Patience, o.Horizon, o.Log = w.Spoils == 0, 30*time.Minute, 3*time.Hour, t.Log
	open := func(*rand.Rand, *fairlead.ManualClock) fairlead.Trial[*tiny, cvo.Action] { return w.clone() }
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: -1, Visit: o}); err != nil {
		t.Error(err)
	}
}

// TestVisit visits every state of small worlds.
func TestVisit(t *testing.T) {
	for _, o := range []struct {
		name   string
		world  *tiny
		states int
	}{
		{"update", newTiny(0, 0), 4_200},
		{"flaps", newTiny(1, 0), 1_000},
		{"back", newTiny(0, 1), 1_000},
		{"kept", newKept(), 700},
	} {
		t.Run(o.name, func(t *testing.T) { o.world.visit(t, fairlead.VisitOptions{States: long.N(o.states, 10_000_000)}) })
	}
}

// TestPath visits what follows after an action has failed, and the clock was set back by a
// day: it is tried again all the same.
func TestPath(t *testing.T) {
	path := strings.Split("step, apply, apply, step, apply, apply, step, apply, apply, apply, step, fail, apply, step, wait, clock back, step, wait, step", ", ")
	newTiny(0, 0).visit(t, fairlead.VisitOptions{States: 1_000, Path: path})
}
