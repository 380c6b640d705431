package cvo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
)

// The seven rows of TestOperator_mergeReleaseMetadata, and what they leave open.
func TestDescribed(t *testing.T) {
	full := func(version, image string) graph.Release {
		return graph.Release{Version: version, Payload: image, Metadata: map[string]string{
			"url": "https://example.com/v" + version, "io.openshift.upgrades.graph.release.channels": "channel-a,channel-b,channel-c",
		}}
	}
	to := func(r graph.Release) []graph.Update { return []graph.Update{{Release: r}} }
	const image = "image/image:v1.0.0"
	for _, c := range []struct {
		name string
		r    cvo.Release
		u    *graph.Updates
		want string
	}{
		{"does not crash with empty inputs", cvo.Release{}, nil, "   []"},
		{"minimal release with no available updates", cvo.Release{Image: image}, nil, image + "   []"},
		{"minimal release with empty available updates", cvo.Release{Image: image}, &graph.Updates{}, image + "   []"},
		{"minimal release with full, current available update", cvo.Release{Image: image}, &graph.Updates{Current: full("1.0.1", image)}, image + " 1.0.1 https://example.com/v1.0.1 [channel-a channel-b channel-c]"},
		{"minimal release with full, next-hop available update", cvo.Release{Image: image}, &graph.Updates{Available: to(full("1.0.1", image))}, image + " 1.0.1 https://example.com/v1.0.1 [channel-a channel-b channel-c]"},
		{"minimal release with non-matching available updates", cvo.Release{Image: image}, &graph.Updates{Current: full("1.0.1", "image/image:v1.0.1"), Available: to(full("1.0.2", "image/image:v1.0.2"))}, image + "   []"},
		{"fill release with full, current available update", cvo.Release{Image: image, Version: "1.0.0", URL: "https://example.com/v1.0.0", Channels: []string{"channel-z"}}, &graph.Updates{Current: full("1.0.1", image)}, image + " 1.0.0 https://example.com/v1.0.0 [channel-z]"},
		// What they leave open.
		{"by digest, from another registry", cvo.Release{Image: "mirror/image@sha256:1"}, &graph.Updates{Current: full("1.0.1", "image/image@sha256:1")}, "mirror/image@sha256:1 1.0.1 https://example.com/v1.0.1 [channel-a channel-b channel-c]"},
		{"a conditional update", cvo.Release{Image: image, Version: "1.0.0"}, &graph.Updates{Conditional: to(full("1.0.1", image))}, image + " 1.0.0 https://example.com/v1.0.1 [channel-a channel-b channel-c]"},
	} {
		got := cvo.Described(c.r, c.u)
		if text := fmt.Sprintf("%s %s %s %v", got.Image, got.Version, got.URL, got.Channels); text != c.want {
			t.Errorf("%s: %s, not %s", c.name, text, c.want)
		}
	}
}

// The five rows of TestNextUpdate: the newest of the updates that nothing speaks
// against is the one to take.
func TestNextUpdate(t *testing.T) {
	for _, c := range []struct{ available, want string }{
		{"0.0.0 0.0.1 0.0.2", "0.0.2"},
		{"0.0.2 0.0.0 0.0.1", "0.0.2"},
		{"0.0.1 0.0.0 0.0.2", "0.0.2"},
		{"0.0.0 0.0.0+new.2 0.0.0+new.3", "0.0.0+new.3"},
		{"0.0.0 0.0.0-new.2 0.0.0-new.3", "0.0.0"},
	} {
		cv := &cvo.ClusterVersion{}
		cv.Status.Desired = cvo.Release{Version: "0.0.0-0", Image: "current"}
		for v := range strings.FieldsSeq(c.available) {
			cv.Status.AvailableUpdates = append(cv.Status.AvailableUpdates, cvo.Release{Version: v, Image: "image-" + v})
		}
		if a := cvo.Advise(cv, nil, nil); a.Take != c.want {
			t.Errorf("%s: %q is to be taken, not %s (%s)", c.available, a.Take, c.want, a.Why)
		}
	}
}
