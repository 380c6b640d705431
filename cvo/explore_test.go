package cvo_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/explore"
)

// tiny is a cluster that is asked to go from one release to the next, with three
// manifests and one operator.
type tiny struct {
	Cluster   cvo.ClusterVersion
	Retrieved map[string]int    // attempts, by image
	Applied   map[string]string // release, by label of the manifest
	Version   string            // that the operator has
	Wants     string            // that it is on its way to
	Down      bool              // it is not available
	Flaps     int               // how often it may be down
	Changes   int               // how often the request may be taken back
	Spoils    int               // how often somebody may change what was applied
	Outcomes  []fairlead.Outcome
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
	began := explore.Begin().Add(-time.Hour)
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
	n.Retrieved, n.Applied, n.Outcomes = maps.Clone(w.Retrieved), maps.Clone(w.Applied), slices.Clone(w.Outcomes)
	return &n
}

func (w *tiny) world() *cvo.World {
	cluster := w.Cluster
	o := &cvo.World{Cluster: &cluster, Own: cvo.Release{Version: "4.18.0", Image: imageOne}, Outcomes: slices.Clone(w.Outcomes)}
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

func (w *tiny) apply(action cvo.Action, _ time.Time) error {
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

// broken returns the rule that a decision breaks: no manifest of a release is
// applied before its payload was verified, and a release is completed only when its
// operator has reached it.
func (w *tiny) broken(actions []cvo.Action) string {
	for _, action := range actions {
		switch a := action.(type) {
		case cvo.Apply:
			if _, ok := w.Retrieved[a.Release.Image]; !ok {
				return "a manifest is applied of a release that was not retrieved"
			}
		case cvo.WriteStatus:
			h := a.Status.History
			if len(h) == 0 {
				return "the history is lost"
			}
			if was := w.Cluster.Status.History; h[0].State == cvo.Completed && was[0].State != cvo.Completed && w.Version != h[0].Version {
				return "the update is completed, and the operator is at " + w.Version
			}
		}
	}
	return ""
}

func (w *tiny) moves(time.Time) (all []explore.Move[*tiny]) {
	add := func(name string, sure bool, do func(w *tiny)) {
		all = append(all, explore.Move[*tiny]{Name: name, Sure: sure, Do: do})
	}
	if w.Version != w.Wants && !w.Down {
		add("operator reaches it", true, func(w *tiny) { w.Version = w.Wants })
	}
	if w.Down {
		add("operator is back", true, func(w *tiny) { w.Down = false })
	} else if w.Flaps > 0 {
		add("operator goes down", false, func(w *tiny) { w.Flaps--; w.Down = true })
	}
	if labels := slices.Sorted(maps.Keys(w.Applied)); w.Spoils > 0 && len(labels) > 0 {
		add("somebody changes "+labels[0], false, func(w *tiny) { w.Spoils--; w.Applied[labels[0]] = spoilt })
	}
	if w.Changes > 0 {
		add("request is taken back", false, func(w *tiny) {
			w.Changes--
			w.Cluster.Spec.DesiredUpdate = &cvo.Update{Version: "4.18.0", Image: imageOne}
			w.Cluster.Generation++
		})
	}
	return all
}

func (w *tiny) answer(a cvo.Action, err error, now time.Time) {
	key := a.Key()
	w.Outcomes = slices.DeleteFunc(slices.Clone(w.Outcomes), func(o fairlead.Outcome) bool { return o.Key == key })
	w.Outcomes = append(w.Outcomes, fairlead.OutcomeOf(key, err, now))
}

// rest: the release that is asked for is the one that was completed last, and all is as
// it was applied.
func (w *tiny) rest() bool {
	h := w.Cluster.Status.History
	for _, release := range w.Applied {
		if release == spoilt {
			return false
		}
	}
	return len(h) > 0 && h[0].State == cvo.Completed && h[0].Image == w.Cluster.Spec.DesiredUpdate.Image && w.Version == h[0].Version && !w.Down
}

type cvoModel = explore.Model[*tiny, cvo.State, cvo.Action]

func exploreModels() []*cvoModel {
	var models []*cvoModel
	prepared := map[string]*cvo.Prepared{} // by image, as a runner keeps them
	for i, w := range []*tiny{newTiny(0, 0), newTiny(1, 0), newTiny(0, 1), newKept()} {
		m := &cvoModel{
			Name: []string{"update", "flaps", "back", "kept"}[i], Worlds: []*tiny{w}, Clone: (*tiny).clone, Apply: (*tiny).apply, Moves: (*tiny).moves, Rest: (*tiny).rest, Answer: (*tiny).answer,
			Forget: func(w *tiny) { w.Outcomes = nil },
			Step: func(s cvo.State, w *tiny, now time.Time) explore.Decision[cvo.State, cvo.Action] {
				world, image := w.world(), ""
				if s.Work != nil {
					image = s.Work.Release.Image
				}
				world.Prepared = prepared[image]
				if p := cvo.Prepare(s, world, nil); p != nil {
					world.Prepared, prepared[image] = p, p
				}
				d := cvo.Step(s, world, now, nil)
				return explore.Decision[cvo.State, cvo.Action]{State: d.State, Actions: d.Actions, Blocked: d.Blocked, Wake: d.Wake, Broken: w.broken(d.Actions)}
			},
			Told: func(*tiny, []fairlead.Block) bool { return false }, // nobody else has to act
			Ends: w.Spoils == 0, Patience: 30 * time.Minute, Horizon: 3 * time.Hour, Max: []int{4_200, 1_000, 1_000, 700}[i],
			Faults: []explore.Faults{{Fail: 1, Back: 1}, {Crash: 1, Lost: 1}, {Late: 1}, {Back: 1}}[i],
		}
		models = append(models, m)
	}
	return models
}

// TestExplore visits every state of small worlds.
func TestExplore(t *testing.T) { explore.Test(t, 10_000_000, exploreModels()...) }

// TestTraces replays what exploring has found.
func TestTraces(t *testing.T) { explore.Scripts(t, "testdata/traces/*.txt", exploreModels()...) }
