package whatif_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/taints/whatif"
)

// A prediction can be read from JSON. If it says that an evicted pod tolerated the taint
// without an end, no number of seconds is made up.
func TestTextOfEndlessToleration(t *testing.T) {
	const entry = `{"at":"2026-03-01T12:00:00Z","kind":"Evict","node":"n","pod":{"namespace":"ns","name":"p"},"taint":{"key":"x","effect":"NoExecute"},"toleration":{"key":"x","operator":"Exists"}}`
	var p whatif.Prediction
	if err := json.Unmarshal([]byte(`{"start":"2026-03-01T12:00:00Z","entries":[`+entry+`]}`), &p); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := p.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "  evict ns/p from n for x:NoExecute\n"; !strings.Contains(got, want) {
		t.Errorf("got %q, want a line that ends with %q", got, want)
	}
}
