package extension_test

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/extension"
)

// passage drives the extension of a harbour.
type passage struct {
	*harbour
	t      *testing.T
	clock  fairlead.ManualClock
	runner *extension.Runner
	blocks []fairlead.Block
}

func newPassage(t *testing.T) *passage {
	t.Helper()
	p := &passage{harbour: newHarbour(newShop(t)), t: t}
	p.clock.Set(noon)
	var err error
	if p.runner, err = extension.NewRunner(p.harbour, p.resolve, nil, &fairlead.RunnerOptions{Clock: &p.clock}); err != nil {
		t.Fatal(err)
	}
	return p
}

// until makes passes, a second apart, until something holds, for a minute at most.
func (p *passage) until(what string, holds func() bool) {
	p.t.Helper()
	for range 60 {
		if holds() {
			return
		}
		d, err := p.runner.Reconcile(p.t.Context(), "a")
		if err != nil {
			p.t.Fatal(err)
		}
		p.blocks = d.Blocks()
		p.clock.Advance(time.Second)
	}
	p.t.Fatalf("not %s after a minute: %v", what, p.blocks)
}

func (p *passage) has(bundle string) func() bool {
	return func() bool {
		is := p.World("a").Extension.Status.Install
		return is != nil && is.Bundle.Name == bundle
	}
}

func (p *passage) blocked(reason string) func() bool {
	return func() bool {
		return slices.ContainsFunc(p.blocks, func(b fairlead.Block) bool { return b.Reason == reason })
	}
}

// TestCRDInUseLate makes an object of a CRD when the revision that would break it is
// there and not applied: the CRD stays as it is until the object is gone.
func TestCRDInUseLate(t *testing.T) {
	p := newPassage(t)
	bundles := contents()
	strict := []byte(`"storage":true,"schema":{"openAPIV3Schema":{"type":"object","required":["size"]}}`)
	bundles["a.v2"][1] = bytes.Replace(bundles["a.v2"][1], []byte(`"storage":true`), strict, 1)
	p.Bundles = bundles
	p.PutExtension(asks(""))
	p.until("installed", p.has("a.v1"))
	p.newest = 2
	p.until("decided", func() bool { return len(p.World("a").Revisions) == 2 })
	p.SetCluster(extension.Cluster{Resources: []extension.Resource{{CRD: theCRD.Name, Version: "v1", Object: crd.Object{Namespace: "ns", Name: "one", Data: []byte(`{}`)}}}})
	p.until("held up", p.blocked(extension.ReasonPreflight))
	for _, o := range p.World("a").Objects {
		if o.Ref == theCRD && o.Controller != "a-1" {
			t.Errorf("the CRD is of %s: an object of it breaks", o.Controller)
		}
	}
	p.use()
	p.until("updated", p.has("a.v2"))
}

// TestDeadlineSetBack sets the clock back during a rollout: its deadline does not
// move away with it.
func TestDeadlineSetBack(t *testing.T) {
	p := newPassage(t)
	p.sick[theDeployment] = "pulling"
	x := asks("")
	x.Spec.ProgressLimit = 10
	p.PutExtension(x)
	p.until("rolling out", p.blocked(extension.ReasonRollingOut))
	p.clock.Set(noon.Add(-time.Hour))
	if p.until("looked at", p.blocked(extension.ReasonRollingOut)); p.blocked(extension.ReasonDeadline)() {
		t.Error("it is late at once")
	}
	if _, err := p.runner.Reconcile(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	p.clock.Advance(11 * time.Minute)
	p.until("late", p.blocked(extension.ReasonDeadline))
}

// forged is a backend whose extension has the status that somebody has written.
type forged struct{ extension.Backend }

func (f forged) Observe(ctx context.Context, name string) (*extension.World, error) {
	w, err := f.Backend.Observe(ctx, name)
	if err == nil {
		w.Extension.Status.Install = &extension.Installed{Bundle: extension.BundleName{Name: "a.v9", Version: "9.0.0"}}
	}
	return w, err
}

// TestInstalledByRevisions has the resolver asked from what the revisions say, and
// not from a status that somebody has written.
func TestInstalledByRevisions(t *testing.T) {
	p := newPassage(t)
	p.PutExtension(asks(""))
	p.until("installed", p.has("a.v1"))
	var asked *extension.Installed
	_, err := extension.Look(t.Context(), forged{p.MemBackend}, func(_ context.Context, x *extension.ClusterExtension) (*extension.Answer, error) {
		asked = x.Status.Install
		return &extension.Answer{}, nil
	}, "a")
	if err != nil || asked == nil || asked.Bundle.Name != "a.v1" {
		t.Errorf("asked from %+v, %v", asked, err)
	}
}
