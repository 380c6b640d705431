package clusterversion_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/worlds"
)

// monitoring is a server with alerts, which is down if err is set.
type monitoring struct {
	asked int
	err   error
}

func (m *monitoring) Alerts(context.Context) ([]cvo.Alert, error) {
	m.asked++
	return []cvo.Alert{{Labels: map[string]string{"alertname": "KubeNodeNotReady"}, State: "firing"}}, m.err
}

// TestFacts checks that every field of the engine's World is filled in.
func TestFacts(t *testing.T) {
	gates := set(object("v1", "ConfigMap", "openshift-config-managed/admin-gates"), "data", "{ack-4.18-x-in-4.19: know that}")
	features := set(set(object("config.openshift.io/v1", "FeatureGate", "cluster"), "spec", "{featureSet: TechPreviewNoUpgrade}"),
		"status", "{featureGates: [{version: 1.0.0, enabled: [{name: B}]}]}")
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, updateGraph) }))
	defer service.Close()
	report := object("config.openshift.io/v1", "ClusterOperator", "api")
	c := newCluster(t, clusterversion.Options{Own: releaseA, Alerts: &monitoring{}, Updates: &clusterversion.Updates{Architecture: "amd64", Evaluator: exposed(true), HTTP: service.Client()}},
		set(set(clusterVersion(), "spec", "{channel: stable-1, clusterID: 5ec312f9-f729-429d-a454-61d4906896ca, upstream: "+service.URL+"}"), "status", "{desired: {version: 1.0.0, image: x}}"), gates, features, report)
	c.source[imageA] = files("1.0.0", map[string]string{
		"0000_50_x_a": `{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: ns}, spec: {replicas: 1}}`,
	})
	kept := object("v1", "ConfigMap", "ns/e")
	kept.SetUID("u1")
	kept.SetFinalizers([]string{"example.com/stays"})
	if err := c.WithWatch.Create(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	c.wants(cvo.Delete{Manifest: manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: e, namespace: ns, annotations: {release.openshift.io/delete: "true"}}}`)}, "delete ConfigMap/e uid=u1")
	m := manage(c, nil)
	var observed []*cvo.World
	for range 40 {
		m.passes()
		observed = append(observed, m.observe())
		m.clock.Set(m.clock.Now().Add(time.Second))
		time.Sleep(5 * time.Millisecond)
	}
	// The Runner sets Outcomes and Prepared.
	if unset := worlds.Unset(observed...); !slices.Equal(unset, []string{"Outcomes", "Prepared"}) {
		t.Errorf("unset fields: %q", unset)
	}
}

// TestAlerts checks that alerts are requested from time to time, and that an
// old answer is dropped.
func TestAlerts(t *testing.T) {
	m := &monitoring{}
	c := newCluster(t, clusterversion.Options{Alerts: m}, clusterVersion())
	known := func(want, asked int) {
		t.Helper()
		if got := len(c.observe().Alerts); got != want || m.asked != asked {
			t.Errorf("%d alerts after %d questions, want %d after %d", got, m.asked, want, asked)
		}
	}
	known(1, 1)
	known(1, 1)
	m.err = errors.New("down")
	c.clock.Advance(time.Minute)
	known(1, 2)
	c.clock.Advance(5 * time.Minute)
	known(0, 3)
	m.err = nil
	c.clock.Advance(time.Minute)
	known(1, 4)
	c.clock.Set(noon.Add(-24 * time.Hour)) // set back
	known(1, 5)
}

// TestOwn checks that the own release is taken from the pod's image, and not
// from the options.
func TestOwn(t *testing.T) {
	for _, c := range []struct{ spec, status, image, version, err string }{
		{"{containers: [{name: m, image: " + imageA + "}]}", "{}", imageA, "1.0.0", ""},
		{"{containers: [{name: x, image: other}, {name: m, image: " + imageB + "}]}", "{}", imageB, "", ""},
		{"{containers: [{name: m, image: 'registry.example/release:tag'}]}", "{containerStatuses: [{name: m, image: z, imageID: 'docker-pullable://" + imageA + "'}]}", imageA, "1.0.0", ""},
		{"{containers: [{name: m, image: 'registry.example/release:tag'}]}", "{containerStatuses: [{name: m, image: z, imageID: " + imageB + "}]}", imageB, "", ""},
		{"{containers: [{name: m, image: 'registry.example/release:tag'}]}", "{}", "registry.example/release:tag", "", ""},
		{"{containers: [{name: other, image: x}]}", "{}", "", "", `pod ns/p has no container "m"`},
	} {
		k := newCluster(t, clusterversion.Options{Own: releaseA, Pod: &clusterversion.Pod{Namespace: "ns", Name: "p", Container: "m"}},
			clusterVersion(), set(set(object("v1", "Pod", "ns/p"), "spec", c.spec), "status", c.status))
		w, err := k.backend.Observe(t.Context(), "version")
		if c.err != "" {
			if err == nil || len(err.Error()) < len(c.err) || err.Error()[:len(c.err)] != c.err {
				t.Errorf("%s: %v, want %s", c.spec, err, c.err)
			}
			continue
		}
		if err != nil || w.Own.Image != c.image || w.Own.Version != c.version {
			t.Errorf("%s %s: %+v, %v", c.spec, c.status, w, err)
		}
	}
	k := newCluster(t, clusterversion.Options{Pod: &clusterversion.Pod{Namespace: "ns", Name: "gone"}}, clusterVersion())
	if _, err := k.backend.Observe(t.Context(), "version"); err == nil {
		t.Error("a pod that is not there")
	}
}
