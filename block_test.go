package fairlead_test

import (
	"encoding/json"
	"testing"

	"github.com/fairlead/fairlead"
)

func TestBlock(t *testing.T) {
	tests := []struct {
		block      fairlead.Block
		text, json string
	}{
		{
			fairlead.Block{Subject: "machine worker-1", Reason: "PreDrainHook", Message: `hook "migrate" is not done`,
				Owner: "storage-team", Since: start, Unblock: "remove the annotation when the data has moved"},
			`machine worker-1: PreDrainHook: hook "migrate" is not done (owner storage-team, since 2026-03-01T12:00:00Z); to unblock: remove the annotation when the data has moved`,
			`{"subject":"machine worker-1","reason":"PreDrainHook","message":"hook \"migrate\" is not done","owner":"storage-team","since":"2026-03-01T12:00:00Z","unblock":"remove the annotation when the data has moved"}`,
		},
		{
			fairlead.Block{Subject: "node n1", Reason: "RateLimit", Message: "its zone has no token left", Since: start},
			`node n1: RateLimit: its zone has no token left (since 2026-03-01T12:00:00Z)`,
			`{"subject":"node n1","reason":"RateLimit","message":"its zone has no token left","since":"2026-03-01T12:00:00Z"}`,
		},
		{
			fairlead.Block{Subject: "release 4.20", Reason: "Paused", Message: "the pool is paused", Unblock: "unpause it"},
			`release 4.20: Paused: the pool is paused; to unblock: unpause it`,
			`{"subject":"release 4.20","reason":"Paused","message":"the pool is paused","unblock":"unpause it"}`,
		},
	}
	for _, tt := range tests {
		if got := tt.block.String(); got != tt.text {
			t.Errorf("text\n got %s\nwant %s", got, tt.text)
		}
		got, err := json.Marshal(tt.block)
		if err != nil || string(got) != tt.json {
			t.Errorf("JSON (%v)\n got %s\nwant %s", err, got, tt.json)
		}
		var back fairlead.Block
		if err := json.Unmarshal(got, &back); err != nil || back != tt.block {
			t.Errorf("decoded as %+v (%v), want %+v", back, err, tt.block)
		}
	}
}
