package cvo_test

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/sim"
)

// faulty is the backend of a simulation: its calls fail at times, before or
// after they took effect, and it checks each thing that is applied.
type faulty struct {
	p      *play
	nested bool
	wrong  error
	last   cvo.Apply       // what was applied last
	passed map[string]bool // by "image operator": it was seen to be well and at its version
}

// Observe implements cvo.Backend.
func (f *faulty) Observe(ctx context.Context, name string) (*cvo.World, error) {
	if f.p.Fault("observe fails", 15) {
		return nil, sim.ErrFault
	}
	if !f.nested && f.p.Fault("other runner", 15) {
		// Another runner has its pass between this one's look and its save.
		w, err := f.p.backend.Observe(ctx, name)
		if err == nil {
			f.see(w)
		}
		f.nested = true
		_, other := f.p.runners[1-f.p.at].Reconcile(ctx, name)
		f.nested = false
		f.p.Note("another runner had a pass: %v", other)
		return w, err
	}
	w, err := f.p.backend.Observe(ctx, name)
	if err == nil && len(w.Operators) > 0 && f.p.Fault("reports an old version", 25) {
		w.Operators[f.p.IntN(len(w.Operators))].Status.Versions = []cvo.Operand{{Name: "operator", Version: "4.17.0"}}
	}
	if err == nil {
		f.see(w)
	}
	if err == nil && len(w.Retrieved) > 0 && f.p.Fault("payload is lost", 40) {
		w.Retrieved = nil
	}
	return w, err
}

// Apply implements cvo.Backend.
func (f *faulty) Apply(ctx context.Context, name string, a cvo.Action) error {
	if f.p.Fault("apply fails", 12) {
		return cvo.Refuse(cvo.ClassDown, errDown)
	}
	f.p.Note("%s", a)
	before := f.p.backend.Writes(name)
	if apply, ok := a.(cvo.Apply); ok && f.wrong == nil {
		f.wrong = f.inOrder(name, apply)
	}
	if err := f.p.backend.Apply(ctx, name, a); err != nil {
		return err
	}
	f.p.act(a, !maps.Equal(before, f.p.backend.Writes(name)))
	if apply, ok := a.(cvo.Apply); ok && f.wrong == nil {
		f.wrong = f.once(name, apply, before)
	}
	if f.p.Fault("apply is not confirmed", 12) {
		return cvo.Refuse(cvo.ClassDown, errDown)
	}
	return nil
}

// see notes which operators let a release go on, as a runner sees them now. The
// rules are those of Gate, written once more. Another release that is applied in
// between begins again.
func (f *faulty) see(w *cvo.World) {
	for image, operators := range f.p.wants {
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
				f.passed[key] = true
			case there && says["Degraded"] == cvo.False && image == f.last.Release.Image && f.last.Mode == cvo.Updating && !f.passed[key]:
				f.p.Reach("held by an outage alone")
			}
		}
	}
}

// inOrder checks, while updating, that all lower runlevels are applied and their
// operators were where they should be, and that of its own component what comes
// before is.
func (f *faulty) inOrder(name string, a cvo.Apply) error {
	if a.Release.Image != f.last.Release.Image {
		maps.DeleteFunc(f.passed, func(key string, _ bool) bool { return strings.HasPrefix(key, f.last.Release.Image+" ") })
	}
	f.last = a
	if a.Mode != cvo.Updating {
		return nil
	}
	w, err := f.p.backend.Observe(context.Background(), name)
	if err != nil {
		return err
	}
	skip := map[payload.ID]bool{}
	for _, o := range w.Cluster.Spec.Overrides {
		skip[payload.ID{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}] = true
	}
	seen := false
	for _, m := range f.p.tasks[a.Release.Image] {
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
		if !m.Delete() && !f.p.backend.Has(name, m.ID) {
			return fmt.Errorf("%s is applied before %s", a.Manifest.ID, m.ID)
		}
		if m.ClusterOperator() && !f.passed[a.Release.Image+" "+m.ID.Name] {
			return fmt.Errorf("%s is applied, and operator %s of %s was never seen to be well and at its version", a.Manifest.ID, m.ID.Name, m.Name.Runlevel)
		}
	}
	return nil
}

func find(w *cvo.World, name string) *cvo.ClusterOperator {
	for i := range w.Operators {
		if w.Operators[i].Name == name {
			return &w.Operators[i]
		}
	}
	return nil
}

// once checks that nothing is applied twice for effect in one release.
func (f *faulty) once(name string, a cvo.Apply, before map[payload.ID]int) error {
	after := f.p.backend.Writes(name)
	if after[a.Manifest.ID] > before[a.Manifest.ID] {
		key := a.Release.Image + " " + a.Manifest.ID.String()
		if f.p.effects == nil {
			f.p.effects = map[string]int{}
		}
		if f.p.effects[key]++; f.p.effects[key] > f.p.turns(a.Release.Image) {
			return fmt.Errorf("%s was changed %d times by one release", a.Manifest.ID, f.p.effects[key])
		}
	}
	return nil
}
