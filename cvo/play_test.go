package cvo_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/sim"
)

// part is one component of a release.
type part struct {
	runlevel  int
	component string
	objects   int    // ConfigMaps before the operator
	operator  bool   // a Deployment, and a ClusterOperator at its end
	notes     string // further annotations
	crds      bool   // the objects are CustomResourceDefinitions
	profile   string // the cluster profile that it belongs to, if not the default one
}

// release makes the payload of a release from its components.
func release(tb testing.TB, version string, parts []part, more map[string]string) *payload.Payload {
	tb.Helper()
	files := fstest.MapFS{
		"manifests/README":                   {},
		"release-manifests/release-metadata": {Data: fmt.Appendf(nil, `{"kind":"cincinnati-metadata-v0","version":%q}`, version)},
		"release-manifests/image-references": {Data: fmt.Appendf(nil, `{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":%q}}`, version)},
	}
	for _, p := range parts {
		marks := "  annotations: {include.release.openshift.io/" + cmp.Or(p.profile, "self-managed-high-availability") + ": \"true\"" + p.notes + "}\n"
		file := func(n int, kind, api, rest string) {
			name := fmt.Sprintf("release-manifests/0000_%02d_%s_%02d_%s.yaml", p.runlevel, p.component, n, strings.ToLower(kind))
			text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", api, kind, cmp.Or(map[bool]string{true: p.component}[n >= 50], fmt.Sprintf("%s-%d", p.component, n)))
			if kind != "ClusterOperator" && kind != "CustomResourceDefinition" {
				text += "  namespace: " + p.component + "\n"
			}
			files[name] = &fstest.MapFile{Data: []byte(text + marks + rest)}
		}
		for n := range p.objects {
			if p.crds {
				file(n, "CustomResourceDefinition", "apiextensions.k8s.io/v1", "spec: {release: "+version+"}\n")
				continue
			}
			file(n, "ConfigMap", "v1", "data: {release: "+version+"}\n")
		}
		if p.operator {
			file(50, "Deployment", "apps/v1", "spec: {release: "+version+"}\n")
			file(99, "ClusterOperator", "config.openshift.io/v1", "status: {versions: [{name: operator, version: "+version+"}]}\n")
		}
	}
	for name, text := range more {
		files["release-manifests/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	p, err := payload.Load(files, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

const (
	imageOne = "registry/release@sha256:one"
	imageTwo = "registry/release@sha256:two"
	imageBad = "registry/release@sha256:bad"
)

var errDown = errors.New("connection refused")

// TestSimulation installs and updates clusters while whatever can go wrong does,
// and checks at the backend, after each change, what always holds. At last all
// is well again, and the cluster must come to its release.
func TestSimulation(t *testing.T) {
	counts := sim.Run(t, long.N(40, 10_000), func(s *sim.Sim) error { return newPlay(t, s).run() })
	t.Logf("%v", counts)
	sim.Reached(t, counts,
		"crash", "apply fails", "apply is not confirmed", "observe fails", "other runner", "degraded", "unavailable", "held by an outage alone", "never finishes", "recovers",
		"retarget", "not verified", "put is not confirmed", "clock jumps back", "updated", "installed", "overrides", "reconciled", "payload is lost", "state is lost", "reports an old version",
		"act: retrieve", "act: apply", "act: delete", "act: write", "act: changes",
	)
}

// play is one simulation.
type play struct {
	*sim.Sim
	t        *testing.T
	store    *fairlead.MemStore
	backend  *cvo.MemBackend
	faulty   *faulty
	at       int // the runner at work
	runners  []*cvo.Runner
	releases map[string]*payload.Payload
	tasks    map[string][]*payload.Manifest   // by image: what belongs to the cluster
	wants    map[string][]cvo.ClusterOperator // by image: what is waited for
	most     int                              // passes in which it must come to its release
	parts    []part
	history  []cvo.History
	effects  map[string]int // changes by release and resource
	lost     int            // how often all states were lost
	done     struct {       // how far the last pass was
		pass  string
		tasks int
	}
}

func newPlay(t *testing.T, s *sim.Sim) *play {
	var parts []part
	for range 1 + s.IntN(3) {
		level := 10 * (1 + s.IntN(4))
		for c := range 1 + s.IntN(3) {
			parts = append(parts, part{runlevel: level, component: fmt.Sprintf("c%d-%c%d", level, 'a'+c, len(parts)), objects: s.IntN(3), operator: s.OneIn(2)})
		}
	}
	return playOf(t, s, parts, func(version string) *payload.Payload {
		mark := ""
		if version == "4.19.0" {
			mark = `, release.openshift.io/delete: "true"`
		}
		gone := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: gone\n  namespace: old\n" +
			"  annotations: {include.release.openshift.io/self-managed-high-availability: \"true\"" + mark + "}\n"
		return release(t, version, parts, map[string]string{"0000_25_old_00_configmap.yaml": gone})
	})
}

// playOf makes a play of releases, whose operators are called as the parts.
func playOf(t *testing.T, s *sim.Sim, parts []part, load func(version string) *payload.Payload) *play {
	p := &play{Sim: s, t: t, store: new(fairlead.MemStore), backend: cvo.NewMemBackend(s.Clock), releases: map[string]*payload.Payload{}, parts: parts, most: 2000}
	for i, image := range []string{imageOne, imageTwo} {
		p.releases[image] = load(fmt.Sprintf("4.%d.0", 18+i))
		p.backend.SetRelease(image, p.releases[image], true, time.Duration(s.IntN(60))*time.Second)
	}
	p.backend.SetRelease(imageBad, load("4.18.9"), false, 0)
	for _, part := range p.parts {
		p.backend.Operators[part.component] = time.Duration(s.IntN(20)) * time.Minute
		p.backend.Rollouts[part.component] = time.Duration(s.IntN(90)) * time.Second
	}
	p.tasks, p.wants = map[string][]*payload.Manifest{}, map[string][]cvo.ClusterOperator{}
	for image, r := range p.releases {
		p.tasks[image] = r.Select(payload.NewFilter()).Tasks
		for _, m := range p.tasks[image] {
			var want cvo.ClusterOperator
			if m.ClusterOperator() && json.Unmarshal(m.JSON, &want) == nil {
				p.wants[image] = append(p.wants[image], want)
			}
		}
	}
	p.faulty = &faulty{p: p, passed: map[string]bool{}}
	p.runners = []*cvo.Runner{p.runner(), p.runner()}
	p.backend.SetCluster("east", cvo.Spec{}, cvo.Release{Version: "4.18.0", Image: imageOne})
	return p
}

func (p *play) runner() *cvo.Runner {
	return newRunner(p.t, p.faulty, nil, &fairlead.RunnerOptions{Store: p.Store(p.store), Clock: p.Clock})
}

// run lets things happen, then heals all and waits for the end.
func (p *play) run() error {
	crashed := false
	for n := range 120 {
		if err := p.happen(n); err != nil {
			return err
		}
		if p.Fault("crash", 12) || n == 60 && !crashed {
			crashed = true
			p.runners[p.IntN(2)] = p.runner()
		}
		if p.Fault("state is lost", 60) {
			p.forget()
		}
		p.at = p.IntN(2)
		if err := p.pass(p.runners[p.at]); err != nil {
			return err
		}
		p.Pass()
	}
	return p.settle()
}

// act counts what reached the backend: by the first word of what the action says,
// and whether a resource changed.
func (p *play) act(a cvo.Action, changes bool) {
	verb, _, _ := strings.Cut(a.String(), " ")
	p.Reach("act: " + verb)
	if changes {
		p.Reach("act: changes")
	}
}

// forget loses the states of all engines, and what their processes know: they go
// on by what the cluster tells.
func (p *play) forget() {
	for r, err := range p.store.List(p.t.Context(), "") {
		if err == nil {
			err = p.store.Delete(p.t.Context(), r.Key, r.Revision)
		}
		if err != nil {
			p.t.Error(err)
		}
	}
	p.runners = []*cvo.Runner{p.runner(), p.runner()}
	p.done.pass = ""
	p.lost++
}

// happen changes the world.
func (p *play) happen(n int) error {
	own := cvo.Release{Version: "4.18.0", Image: imageOne}
	switch {
	case n == 30 || n > 30 && p.OneIn(25):
		spec := cvo.Spec{DesiredUpdate: &cvo.Update{Image: imageTwo, Version: "4.19.0"}}
		if p.OneIn(4) {
			spec.DesiredUpdate = &cvo.Update{Image: imageBad}
			p.Reach("not verified")
		}
		if p.OneIn(4) {
			spec.Overrides = []payload.Override{{Group: "", Kind: "ConfigMap", Namespace: p.parts[0].component, Name: p.parts[0].component + "-0", Unmanaged: true}}
			p.Reach("overrides")
		}
		p.Note("asks for %v", spec.DesiredUpdate)
		p.Reach("retarget")
		p.backend.SetCluster("east", spec, own)
	case p.OneIn(20):
		c := p.parts[p.IntN(len(p.parts))].component
		p.Note("%s is degraded", c)
		p.Reach("degraded")
		p.backend.Degrade("east", c, "its pods crash")
	case p.OneIn(20):
		c := p.parts[p.IntN(len(p.parts))].component
		p.Note("%s is not available", c)
		p.Reach("unavailable")
		p.backend.Interrupt("east", c, "its pods are gone")
		if p.OneIn(2) {
			p.backend.Finish("east", c) // so that nothing else holds the update up
		}
	case p.OneIn(10):
		for _, c := range p.parts {
			p.backend.Degrade("east", c.component, "")
			p.backend.Interrupt("east", c.component, "")
		}
		p.Reach("recovers")
	case p.OneIn(40):
		c := p.parts[p.IntN(len(p.parts))].component
		p.backend.Operators[c] = 1000 * time.Hour
		p.Reach("never finishes")
	}
	return nil
}

// pass is one pass of a runner; what it returns may be a fault.
func (p *play) pass(r *cvo.Runner) error {
	p.faulty.wrong = nil
	d, err := r.Reconcile(p.t.Context(), "east")
	if p.faulty.wrong != nil {
		return p.faulty.wrong
	}
	if err == nil {
		if err := p.forward(d.State.Work); err != nil {
			return err
		}
	}
	var refused *fairlead.RefusedError
	if err != nil && !errors.Is(err, sim.ErrFault) && !errors.As(err, &refused) && !errors.Is(err, fairlead.ErrConflict) {
		return err
	}
	return p.check()
}

// check looks at what always holds.
func (p *play) check() error {
	v := p.backend.Version("east")
	if err := grows(p.history, v.Status.History); err != nil {
		return err
	}
	p.history = v.Status.History
	if len(v.Status.History) > 0 && v.Status.History[0].State == cvo.Completed {
		p.Reach(map[string]string{imageOne: "installed", imageTwo: "updated"}[v.Status.History[0].Image])
	}
	for _, h := range v.Status.History {
		if h.Image == imageBad {
			return fmt.Errorf("a release that nobody vouches for was accepted: %+v", h)
		}
	}
	return nil
}

// forward checks that what is done in a pass stays done, whatever happens to the
// engines.
func (p *play) forward(w *cvo.Work) error {
	if w == nil {
		return nil
	}
	pass := fmt.Sprint(w.Release.Image, w.Hash, w.Mode, w.Pass, w.Begun)
	n := w.Done.Count()
	if pass == p.done.pass && n < p.done.tasks {
		return fmt.Errorf("of the pass %s there were %d tasks done, and now %d are", pass, p.done.tasks, n)
	}
	p.done.pass, p.done.tasks = pass, n
	return nil
}

// turns is how often the cluster went to a release.
func (p *play) turns(image string) int {
	n := 0
	for _, h := range p.backend.Version("east").Status.History {
		if h.Image == image {
			n++
		}
	}
	return n + 1 + p.lost // the history may not be written yet
}

// grows checks that a history only grows at its head.
func grows(old, now []cvo.History) error {
	if len(now) < len(old) {
		return fmt.Errorf("the history shrank from %d to %d", len(old), len(now))
	}
	for i := range old {
		a, b := old[len(old)-1-i], now[len(now)-1-i]
		if a.Image != b.Image || !a.StartedTime.Equal(b.StartedTime) || a.State == cvo.Completed && b.State != cvo.Completed {
			return fmt.Errorf("an entry of the history became another: %+v, %+v", a, b)
		}
	}
	return nil
}

// settle ends all trouble; then the cluster must come to what it is asked for.
func (p *play) settle() error {
	p.Heal()
	for _, c := range p.parts {
		p.backend.Degrade("east", c.component, "")
		p.backend.Interrupt("east", c.component, "")
		p.backend.Operators[c.component] = time.Minute
		p.backend.Finish("east", c.component)
	}
	p.backend.SetCluster("east", cvo.Spec{DesiredUpdate: &cvo.Update{Image: imageTwo, Version: "4.19.0"}}, cvo.Release{Version: "4.18.0", Image: imageOne})
	p.at = 0
	r := p.runners[0]
	last := errors.New("the cluster does not come to its release")
	for range p.most {
		d, err := r.Reconcile(p.t.Context(), "east")
		if p.faulty.wrong != nil {
			return p.faulty.wrong
		}
		if err != nil {
			return err
		}
		if err := p.check(); err != nil {
			return err
		}
		v := p.backend.Version("east")
		if h := v.Status.History; len(h) > 0 && h[0].Image == imageTwo && h[0].State == cvo.Completed && len(d.Actions) == 0 {
			if last = p.settled(v); last == nil {
				p.Reach("reconciled")
				return nil
			}
		}
		if len(d.Actions) == 0 {
			if d.Wake.IsZero() || !d.Wake.After(p.Clock.Now()) {
				return fmt.Errorf("nothing more happens, and nobody knows why: %v", d.Blocked)
			}
			p.Clock.Set(earliest(d.Wake, p.backend.Next("east")))
		}
	}
	return last
}

// settled checks a cluster that is where it should be.
func (p *play) settled(v cvo.ClusterVersion) error {
	for _, m := range p.tasks[imageTwo] {
		if !m.Delete() && !p.backend.Has("east", m.ID) {
			return fmt.Errorf("%s was never applied", m.ID)
		}
		if m.Delete() && p.backend.Has("east", m.ID) {
			return fmt.Errorf("%s was never deleted", m.ID)
		}
	}
	for _, c := range v.Status.Conditions {
		if c.Type == "Failing" && c.Status != cvo.False || c.Type == "Progressing" && c.Status != cvo.False || c.Type == "Available" && c.Status != cvo.True {
			return fmt.Errorf("all is well, and %s is %s: %s", c.Type, c.Status, c.Message)
		}
	}
	return nil
}

// quiet is a testing.TB for examples, which have none.
type quiet struct{ testing.TB }

// Helper does nothing.
func (quiet) Helper() {}
