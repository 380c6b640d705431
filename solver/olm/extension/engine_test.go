package extension_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm/extension"
)

// trial is a harbour in which things happen by chance.
type trial struct {
	*harbour
	chance *rand.Rand
	clock  *fairlead.ManualClock
	seen   map[string]int
	given  map[string]bool // revisions that were made, with the UID of their extension
	wrong  error
	foul   bool // somebody else's object is in the way
}

func openTrial(s *shop, r *rand.Rand, clock *fairlead.ManualClock, seen map[string]int) *trial {
	t := &trial{harbour: newHarbour(s), chance: r, clock: clock, seen: seen, given: map[string]bool{}}
	t.PutExtension(asks(""))
	return t
}

// Observe implements fairlead.Backend.
func (t *trial) Observe(ctx context.Context, name string) (*extension.World, error) {
	return extension.Look(ctx, t.MemBackend, t.resolve, name)
}

// Apply implements fairlead.Backend.
func (t *trial) Apply(ctx context.Context, name string, a extension.Action) error {
	before := t.World(name)
	t.judge(before, a)
	err := t.MemBackend.Apply(ctx, name, a)
	if err == nil {
		t.seen[a.Key().Kind]++
	}
	if x := before.Extension; (x == nil || x.DeletionTimestamp != nil) && len(t.World(name).Revisions) > len(before.Revisions) {
		t.wrong = fmt.Errorf("%s although the extension goes", a)
	}
	return err
}

// judge looks at an action that is about to be carried out.
func (t *trial) judge(w *extension.World, action extension.Action) {
	object := func(r extension.Ref) *extension.Observed {
		for i := range w.Objects {
			if w.Objects[i].Ref == r {
				return &w.Objects[i]
			}
		}
		return nil
	}
	switch a := action.(type) {
	case extension.CreateRevision:
		if x := w.Extension; x == nil || x.DeletionTimestamp != nil || x.UID != a.Revision.OwnerReferences[0].UID {
			return // it is refused
		}
		key := w.Extension.UID + a.Revision.Name
		for i := range w.Revisions {
			if w.Revisions[i].Name == a.Revision.Name {
				return // the same once more
			}
		}
		if t.given[key] {
			t.wrong = fmt.Errorf("revision %s is made again", a.Revision.Name)
		}
		t.given[key] = true
	case extension.ApplyObject:
		if o := object(a.Ref); o != nil && o.ResourceVersion == a.ResourceVersion && o.Owner == "" {
			t.wrong = fmt.Errorf("%s of somebody else is written over", a.Ref)
		}
	case extension.DeleteObject:
		o := object(a.Ref)
		if o == nil || o.ResourceVersion != a.ResourceVersion || w.Extension == nil {
			return
		}
		if o.Owner != "a" {
			t.wrong = fmt.Errorf("%s of somebody else is deleted", a.Ref)
		}
		for i := range w.Revisions {
			if w.Extension.DeletionTimestamp != nil && w.Revisions[i].Spec.Lifecycle != extension.Archived {
				t.wrong = fmt.Errorf("%s is deleted, and %s may make it again", a.Ref, w.Revisions[i].Name)
			}
		}
		if a.Ref == theDeployment && w.Extension != nil && w.Extension.DeletionTimestamp == nil {
			t.wrong = fmt.Errorf("%s is deleted, and every version has it", a.Ref)
		}
	case extension.SetFinalizer:
		if a.Present {
			return
		}
		for i := range w.Objects {
			if w.Objects[i].Owner == "a" && a.ResourceVersion == w.Extension.ResourceVersion {
				t.wrong = fmt.Errorf("the extension goes, and %s is there", w.Objects[i].Ref)
			}
		}
	}
}

// Change implements fairlead.Trial.
func (t *trial) Change() {
	x := t.World("a").Extension
	switch n := t.chance.IntN(12); {
	case x == nil:
		t.PutExtension(asks(""))
	case n == 0 && t.chance.IntN(6) == 0:
		t.seen["deleted"]++
		t.DeleteExtension("a", t.clock.Now())
	case n < 3:
		t.newest = t.chance.IntN(4)
	case n == 3:
		y := asks([]string{"", "1.0.0", "2.0.0", "<3.0.0", "9.9.9"}[t.chance.IntN(5)])
		y.Spec.ProgressLimit = int32(t.chance.IntN(2) * 10)
		y.Spec.Source.Catalog.Policy = []extension.UpgradePolicy{"", extension.SelfCertified}[t.chance.IntN(2)]
		t.PutExtension(y)
	case n == 4:
		t.seen["rollback"]++
		y := *x
		y.Annotations = map[string]string{extension.RollbackAnnotation: fmt.Sprint(1 + t.chance.IntN(4))}
		t.PutExtension(y)
	case n == 5:
		y := *x
		y.Annotations = nil
		t.PutExtension(y)
	case n == 6:
		t.sick[theDeployment] = "pulling"
	case n == 7:
		clear(t.sick)
	case n == 8:
		for _, o := range t.World("a").Objects {
			if o.Owner == "a" && o.Ref != theCRD {
				t.MemBackend.DeleteObject(o.Ref)
			}
		}
	case n == 9:
		t.use([][]string{nil, {"as.g.example"}}[t.chance.IntN(2)]...)
	case n == 10 && t.World("a").Revisions == nil:
		t.foul = true
		_ = t.PutObject([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"ns"}}`))
	case n == 11 && t.foul:
		t.foul = false
		t.MemBackend.DeleteObject(theConfigMap)
	}
}

// Check implements fairlead.Trial.
func (t *trial) Check() error { return t.wrong }

// Settled implements fairlead.Trial: what is installed is what is asked for, and
// the status says so. What cannot be, a Block has to tell.
func (t *trial) Settled(string) error {
	w, err := t.Observe(context.Background(), "a")
	if err != nil {
		return err
	}
	x := w.Extension
	switch {
	case x == nil && len(w.Objects) > 0 && !t.foul:
		return fmt.Errorf("the extension is gone, and %s is there", w.Objects[0].Ref)
	case x == nil && len(w.Revisions) > 0:
		return fmt.Errorf("the extension is gone, and %s is there", w.Revisions[0].Name)
	case x == nil:
		return nil
	case x.DeletionTimestamp != nil:
		return fmt.Errorf("the extension is not gone")
	case len(t.sick) > 0:
		return fmt.Errorf("pods are not ready")
	}
	want := ""
	if n, ok := x.Annotations[extension.RollbackAnnotation]; ok {
		for i := range w.Revisions {
			if fmt.Sprint(w.Revisions[i].Spec.Revision) == n {
				want = w.Revisions[i].Annotations[extension.BundleAnnotation]
			}
		}
	} else if w.Answer.Choice != nil {
		want = w.Answer.Choice.Name
	}
	if want == "" {
		return fmt.Errorf("what is asked for is not there")
	}
	installed, rolling := extension.Current(w.Revisions)
	c := fairlead.FindCondition(x.Status.Conditions, extension.TypeProgressing)
	objects := map[string]int{"a.v1": 3, "a.v2": 2, "a.v3": 1}[want]
	switch {
	case installed == nil || len(rolling) > 0 || installed.Annotations[extension.BundleAnnotation] != want:
		return fmt.Errorf("%s is not installed", want)
	case x.Status.Install == nil || x.Status.Install.Bundle.Name != want || c == nil || c.Reason != "Succeeded":
		return fmt.Errorf("the status is %+v", x.Status)
	case len(w.Objects) != objects && !(t.foul && want != "a.v1"):
		return fmt.Errorf("there is %+v", w.Objects)
	case len(w.Revisions) > 7:
		return fmt.Errorf("%d revisions are kept", len(w.Revisions))
	}
	for _, o := range w.Objects {
		if o.Owner == "a" && o.Controller != installed.Name || o.Owner == "a" && o.Digest == "" {
			return fmt.Errorf("%s is not as %s wants it", o.Ref, installed.Name)
		}
	}
	t.seen["settled at "+want]++
	return nil
}

// TestEngine plays an extension with faults of all kinds, and checks that nothing
// of others is touched, that no revision is given twice, that an extension goes
// when all that it has is gone, and that it always ends.
func TestEngine(t *testing.T) {
	s := newShop(t)
	seen := map[string]int{}
	open := func(r *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*extension.World, extension.Action] {
		return openTrial(s, r, clock, seen)
	}
	h := newHarbour(s)
	engine, err := extension.NewEngine(h, h.resolve, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: long.N(40, 10_000)}); err != nil {
		t.Fatal(err)
	}
	for _, a := range (extension.State{}).Kinds() {
		if kind := a.Key().Kind; seen[kind] == 0 {
			t.Errorf("there was no %s: %v", kind, seen)
		}
	}
	for _, what := range []string{"rollback", "deleted", "settled at a.v1", "settled at a.v2", "settled at a.v3"} {
		if seen[what] == 0 {
			t.Errorf("there was no %q", what)
		}
	}
	t.Log(seen)
}
