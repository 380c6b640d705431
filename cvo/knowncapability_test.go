package cvo_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
)

// TestKnownCapabilities: the sets grow as the releases do, and nothing that a
// real payload asks for is missing.
func TestKnownCapabilities(t *testing.T) {
	known := cvo.KnownCapabilities()
	var before []string
	for i, name := range strings.Fields("None v4.11 v4.12 v4.13 v4.14 v4.15 v4.16 v4.17 v4.18 vCurrent") {
		set := known.Sets[name]
		if want := []int{0, 4, 8, 9, 12, 14, 16, 16, 17, 19}[i]; len(set) != want || !slices.IsSorted(set) {
			t.Errorf("%s: %v, want %d", name, set, want)
		}
		for _, c := range before {
			if !slices.Contains(set, c) {
				t.Errorf("%s has no %s", name, c)
			}
		}
		before = set
	}
	if !slices.Equal(before, known.Known) || len(known.Sets) != 10 {
		t.Errorf("%d sets, vCurrent %v, known %v", len(known.Sets), before, known.Known)
	}
	for name := range known.Gated {
		if !slices.Contains(known.Known, name) {
			t.Errorf("%s is gated and not known", name)
		}
	}
	known.Sets["v4.11"][0] = "another"
	if cvo.KnownCapabilities().Sets["v4.11"][0] == "another" {
		t.Error("two results share memory")
	}
	p := asRelease(t, realFiles(t), "4.22.0")
	for _, m := range p.Manifests {
		for _, c := range m.Capabilities() {
			if !slices.Contains(known.Known, c) {
				t.Errorf("%s needs %s, which is not known", m.ID, c)
			}
		}
	}
	f := payload.NewFilter()
	f.Capabilities = &payload.Capabilities{Known: known.Known, Enabled: known.Known}
	if n := len(p.Select(f).Tasks); n != 910 {
		t.Errorf("with all capabilities %d manifests apply, want 910", n)
	}
}
