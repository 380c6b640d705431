package cvo_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
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

// begin is when simulations begin.
var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var errDown = errors.New("connection refused")

// play is a cluster in memory that is installed and updated, and its operators.
type play struct {
	*rand.Rand
	*cvo.MemBackend
	t         *testing.T
	releases  map[string]*payload.Payload
	tasks     map[string][]*payload.Manifest   // by image: what belongs to the cluster
	wants     map[string][]cvo.ClusterOperator // by image: what is waited for
	parts     []part
	history   []cvo.History
	prepared  *cvo.Prepared      // as a process keeps it
	passed    map[string]bool    // by "image operator": it was seen to be well and at its version
	last      cvo.Apply          // what was decided on last
	effects   map[string]int     // changes by release and resource
	again     int                // how often states were lost, so that what was done may be done again
	overtaken map[payload.ID]int // how often an action for another release than the last one changed it
	forgets   bool               // the state is about to be lost
	empty     bool               // the state is lost
	odd       bool               // what is observed may be wrong, until all heals
	seen      map[string]int     // what was done, by kind, and what came of it
	wrong     error
}

// drawn makes a play of releases that are drawn.
func drawn(t *testing.T, r *rand.Rand, clock *fairlead.ManualClock, seen map[string]int) *play {
	var parts []part
	for range 1 + r.IntN(3) {
		level := 10 * (1 + r.IntN(4))
		for c := range 1 + r.IntN(3) {
			parts = append(parts, part{runlevel: level, component: fmt.Sprintf("c%d-%c%d", level, 'a'+c, len(parts)), objects: r.IntN(3), operator: r.IntN(2) == 0})
		}
	}
	return newPlay(t, r, clock, seen, parts, func(version string) *payload.Payload {
		mark := ""
		if version == "4.19.0" {
			mark = `, release.openshift.io/delete: "true"`
		}
		gone := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: gone\n  namespace: old\n" +
			"  annotations: {include.release.openshift.io/self-managed-high-availability: \"true\"" + mark + "}\n"
		return release(t, version, parts, map[string]string{"0000_25_old_00_configmap.yaml": gone})
	})
}

// newPlay makes a play of releases, whose operators are called as the parts.
func newPlay(t *testing.T, r *rand.Rand, clock *fairlead.ManualClock, seen map[string]int, parts []part, load func(version string) *payload.Payload) *play {
	p := &play{
		Rand: r, MemBackend: cvo.NewMemBackend(clock), t: t, releases: map[string]*payload.Payload{}, parts: parts, passed: map[string]bool{}, effects: map[string]int{}, overtaken: map[payload.ID]int{}, odd: true, seen: seen,
		tasks: map[string][]*payload.Manifest{}, wants: map[string][]cvo.ClusterOperator{},
	}
	for i, image := range []string{imageOne, imageTwo} {
		p.releases[image] = load(fmt.Sprintf("4.%d.0", 18+i))
		p.SetRelease(image, p.releases[image], true, time.Duration(r.IntN(60))*time.Second)
	}
	p.SetRelease(imageBad, load("4.18.9"), false, 0)
	for _, part := range p.parts {
		p.Operators[part.component] = time.Duration(r.IntN(20)) * time.Minute
		p.Rollouts[part.component] = time.Duration(r.IntN(90)) * time.Second
	}
	for image, r := range p.releases {
		p.tasks[image] = r.Select(payload.NewFilter()).Tasks
		for _, m := range p.tasks[image] {
			var want cvo.ClusterOperator
			if m.ClusterOperator() && json.Unmarshal(m.JSON, &want) == nil {
				p.wants[image] = append(p.wants[image], want)
			}
		}
	}
	p.ask(cvo.Spec{})
	return p
}

func (p *play) ask(spec cvo.Spec) {
	p.SetCluster("east", spec, cvo.Release{Version: "4.18.0", Image: imageOne})
}

func (p *play) fail(format string, args ...any) {
	if p.wrong == nil {
		p.wrong = fmt.Errorf(format, args...)
	}
}

// Change implements fairlead.Trial.
func (p *play) Change() {
	c := p.parts[p.IntN(len(p.parts))].component
	switch p.IntN(9) {
	case 0, 1:
		spec := cvo.Spec{DesiredUpdate: &cvo.Update{Image: imageTwo, Version: "4.19.0"}}
		if p.IntN(4) == 0 {
			spec.DesiredUpdate = &cvo.Update{Image: imageBad}
			p.seen["not verified"]++
		}
		if p.IntN(4) == 0 {
			spec.Overrides = []payload.Override{{Group: "", Kind: "ConfigMap", Namespace: p.parts[0].component, Name: p.parts[0].component + "-0", Unmanaged: true}}
		}
		p.ask(spec)
	case 2:
		p.Degrade("east", c, "its pods crash")
	case 3, 4:
		for _, x := range p.parts {
			if x.operator && p.IntN(2) == 0 {
				p.Interrupt("east", x.component, "its pods are gone")
				p.Finish("east", x.component) // so that nothing else holds the update up
			}
		}
	case 5, 6:
		p.recover()
	case 7:
		if p.IntN(4) == 0 {
			p.Operators[c] = 1000 * time.Hour // it never finishes
		}
	case 8:
		p.forgets = p.IntN(3) == 0
	}
}

func (p *play) recover() {
	for _, c := range p.parts {
		p.Degrade("east", c.component, "")
		p.Interrupt("east", c.component, "")
	}
}

// Heal implements fairlead.Healer: all operators do their work, and the second release is
// requested.
func (p *play) Heal(string) {
	if !p.odd {
		return
	}
	p.odd, p.forgets = false, false
	p.recover()
	for _, c := range p.parts {
		p.Operators[c.component] = time.Minute
		p.Finish("east", c.component)
	}
	p.ask(cvo.Spec{DesiredUpdate: &cvo.Update{Image: imageTwo, Version: "4.19.0"}})
}

// Settled implements fairlead.Trial.
func (p *play) Settled(string) error {
	v := p.Version("east")
	if h := v.Status.History; len(h) == 0 || h[0].Image != imageTwo || h[0].State != cvo.Completed {
		return fmt.Errorf("it has not come to its release: %+v", h)
	}
	return p.settled(v)
}

// Check implements fairlead.Trial: what was written stays, and no release is accepted that
// nobody vouches for.
func (p *play) Check() error {
	now := p.Version("east").Status.History
	if err := grows(p.history, now); err != nil {
		return err
	}
	if p.history = now; len(now) > 0 && now[0].State == cvo.Completed {
		p.seen[map[string]string{imageOne: "installed", imageTwo: "updated"}[now[0].Image]]++
	}
	for _, h := range now {
		if h.Image == imageBad {
			return fmt.Errorf("a release that nobody vouches for was accepted: %+v", h)
		}
	}
	return p.wrong
}

// turns is how often the cluster went to a release.
func (p *play) turns(image string) int {
	n := 0
	for _, h := range p.Version("east").Status.History {
		if h.Image == image {
			n++
		}
	}
	return n + 1 + p.again // the history may not be written yet
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

// settled checks a cluster that is where it should be.
func (p *play) settled(v cvo.ClusterVersion) error {
	for _, m := range p.tasks[imageTwo] {
		if !m.Delete() && !p.Has("east", m.ID) {
			return fmt.Errorf("%s was never applied", m.ID)
		}
		if m.Delete() && p.Has("east", m.ID) {
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
