package extension_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm/extension"
)

// dock is a small cluster with one extension, and what may still happen to it.
type dock struct {
	Cluster   *extension.MemBackend
	Newest    int                      // what is published
	Sick      map[string]extension.Ref // objects that are not ready, by name
	Publishes int                      // how often another version may be published
	Flaps     int                      // how often the pods may fail for a while
	Hands     int                      // how often somebody may delete the deployment
	Backs     int                      // how often somebody may go back to the first revision
	Deletes   int                      // how often the extension may be deleted, and made again
	Uses      bool                     // there may be objects of the CRD for a while
	shop      *shop
}

func newDock(s *shop) *dock {
	d := &dock{Cluster: &extension.MemBackend{Bundles: contents()}, Newest: 1, Sick: map[string]extension.Ref{}, shop: s}
	d.Cluster.PutExtension(asks(""))
	return d.clone()
}

func (d *dock) clone() *dock {
	n := *d
	n.Cluster, n.Sick = d.Cluster.Fork(), maps.Clone(d.Sick)
	n.Cluster.Health = func(r extension.Ref) (bool, string) { _, sick := n.Sick[r.Name]; return !sick, "pulling" }
	return &n
}

func (d *dock) used() bool { return d.Cluster.World("a").Cluster.Resources != nil }

// Clone implements fairlead.SmallTrial.
func (d *dock) Clone() fairlead.SmallTrial[*extension.World, extension.Action] { return d.clone() }

// Observe implements fairlead.Backend.
func (d *dock) Observe(ctx context.Context, name string) (*extension.World, error) {
	h := &harbour{MemBackend: d.Cluster, shop: d.shop, newest: d.Newest}
	return extension.Look(ctx, d.Cluster, h.resolve, name)
}

// Apply implements fairlead.Backend.
func (d *dock) Apply(ctx context.Context, name string, a extension.Action) error {
	return d.Cluster.Apply(ctx, name, a)
}

// Change implements fairlead.Trial.
func (d *dock) Change() {}

// Check implements fairlead.Trial.
func (d *dock) Check() error { return nil }

// Events implements fairlead.SmallTrial.
func (d *dock) Events() (all []fairlead.Event) {
	add := func(name string, sure bool, do func()) {
		all = append(all, fairlead.Event{Name: name, Sure: sure, Do: do})
	}
	w := d.Cluster.World("a")
	if d.Publishes > 0 {
		add("a version is published", false, func() { d.Publishes--; d.Newest++ })
	}
	if len(d.Sick) > 0 {
		add("pods are back", true, func() { clear(d.Sick) })
	} else if d.Flaps > 0 {
		add("pods fail", false, func() { d.Flaps--; d.Sick[theDeployment.Name] = theDeployment })
	}
	if d.Hands > 0 && slices.ContainsFunc(w.Objects, func(o extension.Observed) bool { return o.Ref == theDeployment }) {
		add("the deployment is deleted", false, func() { d.Hands--; d.Cluster.DeleteObject(theDeployment) })
	}
	switch x := w.Extension; {
	case x == nil:
		add("the extension is made again", true, func() { d.Cluster.PutExtension(asks("")) })
	case d.Deletes > 0 && x.DeletionTimestamp == nil:
		add("the extension is deleted", false, func() { d.Deletes--; d.Cluster.DeleteExtension("a", time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) })
	case x.Annotations != nil:
		add("it may go on", true, func() { d.Cluster.PutExtension(asks("")) })
	case d.Backs > 0 && len(w.Revisions) > 1:
		add("somebody goes back", false, func() {
			d.Backs--
			y := asks("")
			y.Annotations = map[string]string{extension.RollbackAnnotation: "1"}
			d.Cluster.PutExtension(y)
		})
	}
	if d.used() {
		add("objects of the CRD go", true, func() { d.Cluster.SetCluster(extension.Cluster{}) })
	} else if d.Uses {
		add("there is an object of the CRD", false, func() {
			d.Uses = false
			d.Cluster.SetCluster(extension.Cluster{Resources: []extension.Resource{{CRD: theCRD.Name, Version: "v1"}}})
		})
	}
	return all
}

// Settled implements fairlead.Trial: the newest version is installed, and nothing else is there.
func (d *dock) Settled(string) error {
	w := d.Cluster.World("a")
	if w.Extension == nil || len(d.Sick) > 0 || w.Extension.Annotations != nil || w.Extension.DeletionTimestamp != nil {
		return errors.New("the extension is not as it is to be")
	}
	installed, rolling := extension.Current(w.Revisions)
	is := w.Extension.Status.Install
	want := fmt.Sprintf("a.v%d", d.Newest)
	if installed == nil || rolling != nil || installed.Annotations[extension.BundleAnnotation] != want || is == nil || is.Bundle.Name != want || len(w.Objects) != 4-d.Newest {
		return fmt.Errorf("%s is not all that is installed: %d objects", want, len(w.Objects))
	}
	return nil
}

// Judge implements fairlead.Judge.
func (d *dock) Judge(_ extension.State, seen *extension.World, _ time.Time, e extension.Decision) error {
	if e.State.Revision > 8 {
		return fmt.Errorf("%d revisions were made for a handful of events", e.State.Revision)
	}
	if rule := broken(seen, e.Actions); rule != "" {
		return errors.New(rule)
	}
	return nil
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

// Excuses implements fairlead.Excuser: a Block is an excuse as long as somebody else is
// about to do something.
func (d *dock) Excuses(blocked []fairlead.Block) bool {
	return slices.ContainsFunc(d.Events(), func(e fairlead.Event) bool { return e.Sure }) &&
		slices.ContainsFunc(blocked, func(b fairlead.Block) bool { return b.Unblock != "" })
}

// TestVisit visits every state of small worlds.
func TestVisit(t *testing.T) {
	engine := fairlead.Engine[extension.State, *extension.World, extension.Action]{
		Name: "extension", Version: 1,
		Step: func(s extension.State, w *extension.World, now time.Time) extension.Decision {
			return extension.Step(s, w, now, &extension.Policy{MaxBackoff: 20 * time.Second})
		},
		Outcomes: func(w *extension.World, all []fairlead.Outcome) *extension.World { w.Outcomes = all; return w },
	}
	s := newShop(t)
	for _, o := range []struct {
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
	} {
		t.Run(o.name, func(t *testing.T) {
			d := newDock(s)
			o.set(d)
			open := func(*rand.Rand, *fairlead.ManualClock) fairlead.Trial[*extension.World, extension.Action] {
				return d.clone()
			}
			visit := fairlead.VisitOptions{States: long.N(50, 10_000_000), Patience: 11 * time.Minute, Horizon: 25 * time.Minute, Log: t.Log}
			if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: -1, Visit: visit}); err != nil {
				t.Error(err)
			}
		})
	}
}
