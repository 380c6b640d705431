package cvo_test

import (
	"context"
	"fmt"
	"io/fs"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
)

// A cluster in memory is installed, and updated when that is asked for. Only the
// update waits for operators to reach their versions.
func Example() {
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	backend := cvo.NewMemBackend(clock)
	parts := []part{{runlevel: 10, component: "etcd", objects: 1, operator: true}, {runlevel: 20, component: "dns", operator: true}}
	backend.SetRelease(imageOne, release(quiet{}, "4.18.0", parts, nil), true, 0)
	backend.SetRelease(imageTwo, release(quiet{}, "4.19.0", parts, nil), true, 0)
	backend.Operators["etcd"] = 10 * time.Minute
	installed := cvo.Release{Version: "4.18.0", Image: imageOne}
	backend.SetCluster("east", cvo.Spec{}, installed)

	runner, err := cvo.NewRunner(backend, nil, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		fmt.Println(err)
		return
	}
	for hour := range 2 {
		if hour == 1 {
			backend.SetCluster("east", cvo.Spec{DesiredUpdate: &cvo.Update{Version: "4.19.0", Image: imageTwo}}, installed)
		}
		end := clock.Now().Add(time.Hour)
		for clock.Now().Before(end) {
			d, err := runner.Reconcile(context.Background(), "east")
			if err != nil {
				fmt.Println(err)
				return
			}
			if len(d.Actions) == 0 {
				clock.Set(earliest(d.Wake, backend.Next("east")))
			}
		}
		for _, h := range backend.Version("east").Status.History {
			fmt.Println(h.Version, h.State, h.CompletionTime.Sub(h.StartedTime).Round(time.Minute))
		}
	}
	// Output:
	// 4.18.0 Completed 0s
	// 4.19.0 Completed 10m0s
	// 4.18.0 Completed 0s
}

// earliest returns the earlier of two instants, of which the second may be zero.
func earliest(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}

// What keeps an update waiting for an operator?
func ExampleGate() {
	want := []cvo.Operand{{Name: "operator", Version: "4.19.0"}}
	dns := &cvo.ClusterOperator{Status: cvo.OperatorStatus{
		Conditions: []cvo.Condition{{Type: "Available", Status: cvo.True}, {Type: "Degraded", Status: cvo.False}},
		Versions:   []cvo.Operand{{Name: "operator", Version: "4.18.0"}},
	}}
	e := cvo.Gate("dns", want, dns, cvo.Updating)
	fmt.Println(e, "-", e.Detail)
	dns.Status.Versions[0].Version = "4.19.0"
	fmt.Println(cvo.Gate("dns", want, dns, cvo.Updating) == nil)
	// Output:
	// Cluster operator dns is updating versions - operator from 4.18.0 to 4.19.0
	// true
}

// A Backend has releases fetched by a Fetcher. Here one digest is trusted; a
// Verifier of one's own looks for signatures by the keys of its keyrings.
func ExampleFetcher() {
	files := fstest.MapFS{
		"manifests/README":                   {},
		"release-manifests/release-metadata": {Data: []byte(`{"kind":"cincinnati-metadata-v0","version":"4.19.0"}`)},
		"release-manifests/image-references": {Data: []byte(`{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"4.19.0"}}`)},
	}
	fetcher := &cvo.Fetcher{
		Verifier: cvo.Digests{"sha256:8c04"},
		Download: func(context.Context, string) (fs.FS, error) { return files, nil },
	}
	for _, image := range []string{"registry/release@sha256:8c04", "registry/release@sha256:e1fa"} {
		r := fetcher.Fetch(context.Background(), cvo.Retrieve{Release: cvo.Release{Image: image}})
		if r.Payload == nil {
			fmt.Println(r.VerifyError)
			continue
		}
		fmt.Println(r.Payload.Release.Version, "verified:", r.Verified)
	}
	// Output:
	// 4.19.0 verified: true
	// unable to verify "sha256:e1fa": it is not among the trusted digests
}
