package cvo_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
)

// answer is an update service that answers everything alike.
type answer struct {
	status int
	body   string
	asked  string // the server that was asked
}

// RoundTrip implements http.RoundTripper.
func (a *answer) RoundTrip(r *http.Request) (*http.Response, error) {
	a.asked = r.URL.Host
	return &http.Response{StatusCode: a.status, Status: fmt.Sprint(a.status, " ", http.StatusText(a.status)), Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
}

// The nine rows of TestOperator_availableUpdatesSync: from a ClusterVersion over
// the question to the service to the lists and the condition RetrievedUpdates of
// its status. That a cluster without ClusterVersion is left alone is for Step.
func TestAvailableUpdatesSync(t *testing.T) {
	if d := cvo.Step(cvo.State{}, &cvo.World{}, noon, nil); len(d.Actions) > 0 {
		t.Errorf("when version is missing: %v", d.Actions)
	}
	const (
		alone = `{"nodes":[{"version":"4.0.1","payload":"image/image:v4.0.1","metadata":{"url":"https://example.com/v4.0.1","io.openshift.upgrades.graph.release.channels":"channel-a,channel-b,channel-c"}}]}`
		edges = `{"nodes":[{"version":"4.0.1","payload":"image/image:v4.0.1"},{"version":"4.0.2-prerelease","payload":"some.other.registry/image/image:v4.0.2"},{"version":"4.0.2","payload":"image/image:v4.0.2"}],"edges":[[0,1],[0,2]]}`
		bad   = "bad things"
	)
	for _, c := range []struct {
		name              string
		channel, version  string
		upstream, service string // of the ClusterVersion, and of the engine, which comes first
		status            int
		body              string
		last              graph.FetchState // what was asked before
		asked, want       string
	}{
		{"no operator or ClusterVersion upstream uses the default update service", "fast", "4.0.1", "", "", 200, `{"nodes":[{"version":"4.1.0"}]}`, graph.FetchState{}, "api.openshift.com", `False VersionNotFound Unable to retrieve available updates: currently reconciling cluster version 4.0.1 not found in the "fast" channel`},
		{"report an error condition when channel isn't set", "", "4.0.1", "", "", 500, bad, graph.FetchState{}, "", "False NoChannel Unable to retrieve available updates: no channel is set; set spec.channel"},
		{"report an error condition when no current version is set", "fast", "", "", "", 500, bad, graph.FetchState{}, "", "False NoCurrentVersion Unable to retrieve available updates: the cluster has no version yet, so its updates are unknown"},
		{"report an error condition when the http server reports an error", "fast", "4.0.1", "http://localhost:8080/graph", "", 500, bad, graph.FetchState{}, "localhost:8080", "False ResponseFailed Unable to retrieve available updates: unexpected HTTP status: 500 Internal Server Error"},
		{"set available updates and clear error state when success and empty", "fast", "4.0.1", "http://localhost:8080/graph", "", 200, alone, graph.FetchState{}, "localhost:8080", "4.0.1 https://example.com/v4.0.1 [channel-a channel-b channel-c], updates to, True  "},
		{"calculate available update edges", "fast", "4.0.1", "http://localhost:8080/graph", "", 200, edges, graph.FetchState{}, "localhost:8080", "4.0.1  [], updates to 4.0.2 4.0.2-prerelease, True  "},
		{"if last successful check time was too recent, do nothing", "fast", "4.0.1", "http://localhost:8080/graph", "", 500, bad, graph.FetchState{Upstream: "http://localhost:8080/graph", Channel: "fast", Version: "4.0.1", Architecture: "amd64", Attempt: noon.Add(-time.Minute), Success: noon.Add(-time.Minute)}, "", "not due"},
		{"operator update service takes precedence over ClusterVersion upstream", "fast", "4.0.1", "http://localhost:9090/graph", "http://localhost:8080/graph", 500, bad, graph.FetchState{}, "localhost:8080", "False ResponseFailed Unable to retrieve available updates: unexpected HTTP status: 500 Internal Server Error"},
	} {
		own := cvo.Release{Version: c.version, Image: "image/image:v4.0.1"}
		cv := &cvo.ClusterVersion{Spec: cvo.Spec{ClusterID: "01234567-0123-4123-8123-0123456789ab", Channel: c.channel, Upstream: c.upstream}}
		cv.Status.Desired = own
		q := cvo.Question(cv, "amd64")
		if c.service != "" {
			q.Upstream = c.service
		}
		service := &answer{status: c.status, body: c.body}
		got := "not due"
		if due, _ := c.last.Due(q, noon, nil); due {
			u, _, err := q.Fetch(t.Context(), &http.Client{Transport: service}, nil)
			w := &cvo.World{Cluster: cv, Own: own, Updates: u, UpdatesCondition: cvo.UpdatesCondition(err, noon)}
			got = updatesTold(cvo.Step(cvo.State{}, w, noon, nil))
			var failed *graph.FetchError
			if err != nil && !errors.As(err, &failed) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if got != c.want || service.asked != c.asked {
			t.Errorf("%s: %s\n%s, not\n%s", c.name, service.asked, got, c.want)
		}
	}
}

// updatesTold tells what a decision writes of updates.
func updatesTold(d cvo.Decision) string {
	for _, a := range d.Actions {
		w, ok := a.(cvo.WriteStatus)
		if !ok {
			continue
		}
		for _, c := range w.Status.Conditions {
			if c.Type != "RetrievedUpdates" {
				continue
			}
			told := fmt.Sprintf("%s %s %s", c.Status, c.Reason, c.Message)
			if c.Status != cvo.True {
				return told
			}
			d := w.Status.Desired
			text := fmt.Sprintf("%s %s %v, updates to", d.Version, d.URL, d.Channels)
			for _, r := range w.Status.AvailableUpdates {
				text += " " + r.Version
			}
			return text + ", " + told
		}
	}
	return "nothing"
}
