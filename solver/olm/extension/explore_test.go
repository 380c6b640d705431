package extension_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/explore"
	"github.com/fairlead/fairlead/solver/olm/extension"
)

// dock is a small cluster with one extension, and what may still happen to it.
type dock struct {
	Cluster   *extension.MemBackend
	Outcomes  []fairlead.Outcome
	Newest    int                      // what is published
	Sick      map[string]extension.Ref // objects that are not ready, by name
	Publishes int                      // how often another version may be published
	Flaps     int                      // how often the pods may fail for a while
	Hands     int                      // how often somebody may delete the deployment
	Backs     int                      // how often somebody may go back to the first revision
	Deletes   int                      // how often the extension may be deleted, and made again
	Uses      bool                     // there may be objects of the CRD for a while
}

func newDock() *dock {
	d := &dock{Cluster: &extension.MemBackend{Bundles: contents()}, Newest: 1, Sick: map[string]extension.Ref{}}
	d.Cluster.PutExtension(asks(""))
	return d.clone()
}

func (d *dock) clone() *dock {
	n := *d
	n.Cluster, n.Sick, n.Outcomes = d.Cluster.Fork(), maps.Clone(d.Sick), slices.Clone(d.Outcomes)
	n.Cluster.Health = func(r extension.Ref) (bool, string) { _, sick := n.Sick[r.Name]; return !sick, "pulling" }
	return &n
}

func (d *dock) used() bool { return d.Cluster.World("a").Cluster.Resources != nil }

func (d *dock) moves(now time.Time) (all []explore.Move[*dock]) {
	add := func(name string, sure bool, do func(d *dock)) {
		all = append(all, explore.Move[*dock]{Name: name, Sure: sure, Do: do})
	}
	w := d.Cluster.World("a")
	if d.Publishes > 0 {
		add("a version is published", false, func(d *dock) { d.Publishes--; d.Newest++ })
	}
	if len(d.Sick) > 0 {
		add("pods are back", true, func(d *dock) { clear(d.Sick) })
	} else if d.Flaps > 0 {
		add("pods fail", false, func(d *dock) { d.Flaps--; d.Sick[theDeployment.Name] = theDeployment })
	}
	if d.Hands > 0 && slices.ContainsFunc(w.Objects, func(o extension.Observed) bool { return o.Ref == theDeployment }) {
		add("the deployment is deleted", false, func(d *dock) { d.Hands--; d.Cluster.DeleteObject(theDeployment) })
	}
	switch x := w.Extension; {
	case x == nil:
		add("the extension is made again", true, func(d *dock) { d.Cluster.PutExtension(asks("")) })
	case d.Deletes > 0 && x.DeletionTimestamp == nil:
		add("the extension is deleted", false, func(d *dock) { d.Deletes--; d.Cluster.DeleteExtension("a", explore.Begin()) })
	case x.Annotations != nil:
		add("it may go on", true, func(d *dock) { d.Cluster.PutExtension(asks("")) })
	case d.Backs > 0 && len(w.Revisions) > 1:
		add("somebody goes back", false, func(d *dock) {
			d.Backs--
			y := asks("")
			y.Annotations = map[string]string{extension.RollbackAnnotation: "1"}
			d.Cluster.PutExtension(y)
		})
	}
	if d.used() {
		add("objects of the CRD go", true, func(d *dock) { d.Cluster.SetCluster(extension.Cluster{}) })
	} else if d.Uses {
		add("there is an object of the CRD", false, func(d *dock) {
			d.Uses = false
			d.Cluster.SetCluster(extension.Cluster{Resources: []extension.Resource{{CRD: theCRD.Name, Version: "v1"}}})
		})
	}
	return all
}

// rest: the newest version is installed, and nothing else is there.
func (d *dock) rest() bool {
	w := d.Cluster.World("a")
	if w.Extension == nil || len(d.Sick) > 0 || w.Extension.Annotations != nil || w.Extension.DeletionTimestamp != nil {
		return false
	}
	installed, rolling := extension.Current(w.Revisions)
	is := w.Extension.Status.Install
	want := fmt.Sprintf("a.v%d", d.Newest)
	return installed != nil && rolling == nil && installed.Annotations[extension.BundleAnnotation] == want && is != nil && is.Bundle.Name == want &&
		len(w.Objects) == 4-d.Newest
}

// broken returns the rule that a decision breaks.
func broken(w *extension.World, actions []extension.Action) string {
	going := w.Extension != nil && w.Extension.DeletionTimestamp != nil
	for _, action := range actions {
		switch a := action.(type) {
		case extension.CreateRevision:
			for i := range w.Revisions {
				if w.Revisions[i].Spec.Revision >= a.Revision.Spec.Revision {
					return fmt.Sprintf("revision %d is made, and %d is there", a.Revision.Spec.Revision, w.Revisions[i].Spec.Revision)
				}
			}
		case extension.DeleteObject:
			switch {
			case a.Ref == theCRD && w.Cluster.Resources != nil:
				return "a CRD is deleted of which there are objects"
			case a.Ref == theDeployment && !going:
				return "the deployment is deleted, and the extension stays"
			}
		case extension.ArchiveRevision:
			if installed, _ := extension.Current(w.Revisions); !going && (installed == nil || installed.Name == a.Name) {
				return "revision " + a.Name + " is archived, and nothing has taken its place"
			}
		case extension.SetFinalizer:
			if !a.Present && len(w.Objects) > 0 {
				return "the extension goes, and its objects are there"
			}
		}
	}
	return ""
}

type extensionModel = explore.Model[*dock, extension.State, extension.Action]

func exploreModels(t *testing.T) []*extensionModel {
	s := newShop(t)
	worlds := []struct {
		name string
		set  func(*dock)
	}{
		{"plain", func(*dock) {}},
		{"update", func(d *dock) { d.Publishes = 1 }},
		{"two updates", func(d *dock) { d.Publishes = 2 }},
		{"flaps", func(d *dock) { d.Publishes, d.Flaps = 1, 1 }},
		{"by hand", func(d *dock) { d.Hands = 1 }},
		{"back", func(d *dock) { d.Publishes, d.Backs = 1, 1 }},
		{"made again", func(d *dock) { d.Deletes = 1 }},
		{"in use", func(d *dock) { d.Deletes, d.Uses = 1, true }},
	}
	var models []*extensionModel
	for _, o := range worlds {
		d := newDock()
		o.set(d)
		models = append(models, &extensionModel{
			Name: o.name, Worlds: []*dock{d}, Clone: (*dock).clone, Moves: (*dock).moves, Rest: (*dock).rest,
			Step: func(state extension.State, d *dock, now time.Time) explore.Decision[extension.State, extension.Action] {
				h := &harbour{MemBackend: d.Cluster, shop: s, newest: d.Newest}
				w, err := extension.Look(context.Background(), d.Cluster, h.resolve, "a")
				if err != nil {
					return explore.Decision[extension.State, extension.Action]{Broken: err.Error()}
				}
				w.Outcomes = d.Outcomes
				e := extension.Step(state, w, now, &extension.Policy{MaxBackoff: 20 * time.Second})
				return explore.Decision[extension.State, extension.Action]{State: e.State, Actions: e.Actions, Blocked: e.Blocked, Wake: e.Wake, Broken: broken(w, e.Actions)}
			},
			Apply: func(d *dock, a extension.Action, _ time.Time) error {
				return d.Cluster.Apply(context.Background(), "a", a)
			},
			Answer: func(d *dock, a extension.Action, err error, now time.Time) {
				key := a.Key()
				d.Outcomes = slices.DeleteFunc(slices.Clone(d.Outcomes), func(o fairlead.Outcome) bool { return o.Key == key })
				if err != nil {
					d.Outcomes = append(d.Outcomes, fairlead.OutcomeOf(key, err, now))
				}
			},
			Forget: func(d *dock) { d.Outcomes = nil },
			Check: func(d *dock, s extension.State, _ *explore.Decision[extension.State, extension.Action]) error {
				if s.Revision > 8 {
					return fmt.Errorf("%d revisions were made for a handful of events", s.Revision)
				}
				return nil
			},
			// A Block is an excuse as long as somebody else is about to do something.
			Told: func(d *dock, blocked []fairlead.Block) bool {
				return slices.ContainsFunc(d.moves(time.Time{}), func(m explore.Move[*dock]) bool { return m.Sure }) &&
					slices.ContainsFunc(blocked, func(b fairlead.Block) bool { return b.Unblock != "" })
			},
			Faults:   explore.Faults{Crash: 1, Lost: 1, Fail: 1, Late: 1, Second: 1, Back: 1},
			Patience: 11 * time.Minute, Horizon: 25 * time.Minute, Max: 50,
		})
	}
	return models
}

// TestExplore visits every state of small worlds.
func TestExplore(t *testing.T) { explore.Test(t, 10_000_000, exploreModels(t)...) }
