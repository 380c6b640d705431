package rollout

import (
	"reflect"
	"testing"
)

// TestNodeReports: each node has its own part of the message, which may be the last or quoted.
func TestNodeReports(t *testing.T) {
	for message, want := range map[string][]NodeReport{
		"":                                      nil,
		"1 nodes are degraded: no report":       nil,
		`Node w-0 is reporting: "disk is full"`: {{"w-0", "disk is full"}},
		`node a is reporting: "x, y", Node b is reporting: z`: {{"a", "x, y"}, {"b", "z"}},
	} {
		if got := NodeReports(message); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", message, got, want)
		}
	}
}
