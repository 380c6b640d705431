package cvo_test

import (
	"context"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
)

// site is a backend in memory: a cluster that runs what is applied at once, and
// the one release that can be had.
type site struct {
	cluster cvo.ClusterVersion
	release cvo.Retrieved
	have    bool
}

func (s *site) Observe(context.Context, string) (*cvo.World, error) {
	cluster := s.cluster
	w := &cvo.World{Cluster: &cluster, Own: cvo.Release{Version: "4.18.0", Image: s.release.Image}}
	if s.have {
		w.Retrieved = []cvo.Retrieved{s.release}
	}
	return w, nil
}

func (s *site) Apply(_ context.Context, _ string, action cvo.Action) error {
	switch a := action.(type) {
	case cvo.Retrieve:
		s.have = true
	case cvo.WriteStatus:
		s.cluster.Status = a.Status
		return nil // there are many
	}
	fmt.Println(action)
	return nil
}

// A cluster is brought to its release.
func ExampleRunner() {
	const marks = "  annotations: {include.release.openshift.io/self-managed-high-availability: \"true\"}\n"
	p, err := payload.Load(fstest.MapFS{
		"manifests/README":                                {},
		"release-manifests/release-metadata":              {Data: []byte(`{"kind":"cincinnati-metadata-v0","version":"4.18.0"}`)},
		"release-manifests/image-references":              {Data: []byte(`{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"4.18.0"}}`)},
		"release-manifests/0000_10_dns_01_namespace.yaml": {Data: []byte("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: dns\n" + marks)},
		"release-manifests/0000_20_web_01_configmap.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: dns\n" + marks)},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := &site{release: cvo.Retrieved{Image: "quay.io/release@sha256:01", Payload: p, Verified: true}}
	s.cluster.Name = "version"

	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	runner, err := cvo.NewRunner(s, nil, &fairlead.RunnerOptions{Clock: clock, Store: new(fairlead.MemStore)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for { // as a reconciler does; runner.Run(ctx) does it by itself
		d, err := runner.Reconcile(context.Background(), "version")
		if err != nil {
			fmt.Println(err)
			return
		}
		if len(d.Actions) == 0 {
			break
		}
	}
	for _, h := range s.cluster.Status.History {
		fmt.Println(h.Version, h.State)
	}
	// Output:
	// retrieve quay.io/release@sha256:01
	// apply namespace "dns" (1 of 2)
	// apply configmap "dns/web" (2 of 2)
	// 4.18.0 Completed
}
