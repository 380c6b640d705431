package cvo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo"
)

// The rows of the operator's extractEnabledGates: gates count for their release.
func TestEnabledGates(t *testing.T) {
	var g cvo.FeatureGate
	if err := json.Unmarshal([]byte(`{"metadata":{"name":"cluster"},"spec":{"featureSet":"TechPreviewNoUpgrade"},"status":{"featureGates":[
{"version":"4.14.0","enabled":[{"name":"TechPreviewFeatureGate"},{"name":"ExperimentalFeature"}],"disabled":[{"name":"Other"}]},
{"version":"4.13.0","enabled":[{"name":"OldFeature"}]},
{"version":"4.12.0"},
{"version":"4.13.0","enabled":[{"name":"Again"}]}]}}`), &g); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, version, want string }{
		{"extract gates for matching version", "4.14.0", "ExperimentalFeature TechPreviewFeatureGate"},
		{"the first of a version counts", "4.13.0", "OldFeature"},
		{"no matching version - return empty", "4.15.0", ""},
		{"empty enabled gates", "4.12.0", ""},
	} {
		got := g.Enabled(c.version)
		if strings.Join(got, " ") != c.want || got == nil {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
