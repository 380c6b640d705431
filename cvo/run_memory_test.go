package cvo_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/cluster"
)

// TestMemOperators has an operator follow the pods of its Deployment on a cluster that
// others see as well: it reaches its version with them, and is neither available nor, in
// time, well without them.
func TestMemOperators(t *testing.T) {
	clock := new(fairlead.ManualClock)
	clock.Set(noon)
	shared := &fairlead.MemCluster{Clock: clock}
	all := cluster.Of(shared, nil, nil)
	b := cvo.NewMemBackend(clock)
	b.Cluster = shared
	b.SetCluster("version", cvo.Spec{}, cvo.Release{})
	release := func(version string) {
		for _, m := range operatorRelease(t, version).Select(payload.NewFilter()).Tasks {
			if err := b.Apply(t.Context(), "version", cvo.Apply{Manifest: m}); err != nil {
				t.Fatal(err)
			}
		}
	}
	// seen is what the operator says after some time.
	seen := func(after time.Duration) string {
		clock.Set(clock.Now().Add(after))
		w, err := b.Observe(t.Context(), "version")
		if err != nil || len(w.Operators) != 1 {
			t.Fatal(w.Operators, err)
		}
		var text []string
		for _, v := range w.Operators[0].Status.Versions {
			text = append(text, v.Version)
		}
		for _, c := range w.Operators[0].Status.Conditions {
			if c.Status == cvo.True {
				text = append(text, c.Type)
			}
		}
		return strings.Join(text, " ")
	}
	do := func(f func()) {
		all.Lock()
		defer all.Unlock()
		f()
	}
	join := func(node string) {
		do(func() {
			if err := all.Join(fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: node}}); err != nil {
				t.Fatal(err)
			}
		})
	}
	release("4.18.0")
	for _, x := range []struct {
		what  string
		do    func()
		after time.Duration
		want  string
	}{
		{"there is no node", nil, time.Minute, "Available Progressing"},
		{"there is one", func() { join("a") }, time.Second, "Available Progressing"},
		{"its pod is ready", nil, time.Minute, "4.18.0 Available"},
		{"an update: the old pod serves until the new one is ready", func() { release("4.18.1") }, time.Second, "4.18.0 Available Progressing"},
		{"the new one is ready", nil, time.Minute, "4.18.1 Available"},
		{"its node is gone", func() { do(func() { all.RemoveNode("a") }) }, time.Second, "4.18.1 Progressing"},
		{"for nine minutes", nil, 9 * time.Minute, "4.18.1 Progressing"},
		{"for ten", nil, time.Minute, "4.18.1 Progressing Degraded"},
		{"a node comes", func() { join("b") }, time.Second, "4.18.1 Progressing Degraded"},
		{"the pod runs there", nil, time.Minute, "4.18.1 Available"},
	} {
		if x.do != nil {
			x.do()
		}
		if got := seen(x.after); got != x.want {
			t.Errorf("%s: the operator says %q, want %q", x.what, got, x.want)
		}
	}
}

// operatorRelease is a release of one operator with one pod.
func operatorRelease(t *testing.T, version string) *payload.Payload {
	const marks = "  annotations: {include.release.openshift.io/self-managed-high-availability: \"true\"}\n"
	p, err := payload.Load(fstest.MapFS{
		"release-manifests/release-metadata": {Data: []byte(`{"kind":"cincinnati-metadata-v0","version":"` + version + `"}`)},
		"release-manifests/image-references": {Data: []byte(`{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"` + version + `"}}`)},
		"manifests/README":                   {Data: []byte("none")},
		"release-manifests/0000_20_b_10_deployment.yaml": {Data: []byte("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  namespace: b\n  name: b-operator\n" + marks +
			"spec:\n  template:\n    metadata: {labels: {app: b}}\n    spec: {containers: [{name: b, image: b:" + version + "}]}\n")},
		"release-manifests/0000_20_b_99_clusteroperator.yaml": {Data: []byte("apiVersion: config.openshift.io/v1\nkind: ClusterOperator\nmetadata:\n  name: b\n" + marks +
			"status: {versions: [{name: operator, version: " + version + "}]}\n")},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMemRevision: a status is written for the revision that was looked at: one that changes nothing leaves
// that revision, and after a change by anybody it is another.
func TestMemRevision(t *testing.T) {
	b := cvo.NewMemBackend(new(fairlead.ManualClock))
	b.SetCluster("version", cvo.Spec{}, cvo.Release{})
	look := func() *cvo.ClusterVersion {
		w, err := b.Observe(t.Context(), "version")
		if err != nil || w.Cluster == nil {
			t.Fatal(err)
		}
		return w.Cluster
	}
	first := look()
	write := cvo.WriteStatus{Status: first.Status, Revision: first.ResourceVersion}
	for range 2 {
		if err := b.Apply(t.Context(), "version", write); err != nil {
			t.Error(err)
		}
	}
	write.Status.ObservedGeneration++
	if err := b.Apply(t.Context(), "version", write); err != nil {
		t.Error(err)
	}
	if err := b.Apply(t.Context(), "version", write); err == nil {
		t.Error("a status is written for a revision of before")
	}
	write.Revision = look().ResourceVersion
	b.SetStatus("version", func(s *cvo.Status) { s.ObservedGeneration = 9 })
	if err := b.Apply(t.Context(), "version", write); err == nil || look().Status.ObservedGeneration != 9 {
		t.Error("a status of somebody else is written over")
	}
}
