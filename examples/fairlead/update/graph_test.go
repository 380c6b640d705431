package update

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/graph"
)

// TestGraphOfHostileNames checks that no name of a channel, version or risk begins a line.
func TestGraphOfHostileNames(t *testing.T) {
	const name = "x\nFORGED no problem was found\n"
	update := graph.Update{Release: graph.Release{Version: name}, Risks: []graph.Risk{{Name: name}}}
	for what, a := range map[string]*answers{
		"channels": {updates: &graph.Updates{Current: graph.Release{Version: name}, Conditional: []graph.Update{update}}, channels: []string{name, name}},
		"path":     {why: &graph.WhyNot{}, paths: []*graph.Path{{From: graph.Release{Version: name}, Updates: []graph.Update{update}}}},
	} {
		a.cluster = &graph.WhyNotOptions{}
		var out strings.Builder
		if a.print(&out); strings.Contains(out.String(), "\nFORGED") || !strings.Contains(out.String(), "FORGED") {
			t.Errorf("%s: a name begins a line:\n%s", what, out.String())
		}
	}
}
