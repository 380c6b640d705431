package arch_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// TestOldStates gives every engine the state that its first version saved in the
// Store: the engine reads it, and saves its state in the current version. State of
// a later version is rejected with an error that names both versions, and is not
// changed.
func TestOldStates(t *testing.T) {
	for engine, c := range map[string]struct {
		file    string // in testdata/states, if it is not named after the engine
		key     string // then and now
		version int    // the current one
		kept    string // part of the old state that the saved one must contain
		since   string // the same for the state that 7905c90f saved
	}{
		"lifecycle": {key: "lifecycle.m", version: 3, kept: `"stage":"Drain","at":"2026-03-01T12:00:00Z"`, since: `"drain":{"cordoned":"n","cordonMark":"2026-03-01T12:00:10Z"}`},
		"drain":     {key: "drain.n", version: 2, since: `"progress":{"cordoned":"n","cordonMark":"2026-03-01T12:00:00Z"}`},
		"quorum":    {key: "quorum.etcd", version: 2}, // all of it is observed again
		"eviction":  {key: "taints.n", version: 2, kept: `{"key":"x"`},
		"zones":     {key: "taintzones._2a", version: 2, kept: `"since":"2026-03-01T12:00:00Z"`},
		"cvo":       {file: "../../../../cvo/testdata/state/v1.json", key: "cvo.c", version: 2, kept: `"startedTime":"2026-05-01T13:00:00Z"`, since: `"startedTime":"2026-03-01T12:00:40Z"`},
		"rollout":   {file: "../../../../cvo/rollout/testdata/state/v1.json", key: "rollout.worker", version: 3, since: `"begun":[{"node":"a","configuration":{"name":"two"},"since":"2026-03-01T12:00:00Z"`},
		"extension": {key: "extension.ferry", version: 1}, // there is no older one
		"install":   {key: "install.harbour", version: 2, kept: `"generation":1`},
	} {
		world := func(t *testing.T, saved []byte) *clockWorld {
			w := new(clockWorld)
			w.clock.Set(noon)
			for _, trial := range clockTrials() {
				if trial.name == engine {
					trial.open(t, w)
				}
			}
			w.clock.Set(noon.Add(time.Minute))
			if _, err := w.store.Put(t.Context(), c.key, saved, ""); err != nil {
				t.Fatal(err)
			}
			return w
		}
		saved := func(t *testing.T, w *clockWorld) string {
			record, err := w.store.Get(t.Context(), c.key)
			if err != nil {
				t.Fatal(err)
			}
			return string(record.Value)
		}
		t.Run(engine+"/7905c90f", func(t *testing.T) {
			old, err := os.ReadFile("testdata/states/released/" + engine + ".json")
			if err != nil {
				t.Fatal(err)
			}
			w := world(t, old)
			if _, err := w.reconcile(); err != nil {
				t.Fatal(err)
			}
			if text := saved(t, w); !strings.Contains(text, c.since) {
				t.Errorf("saved is\n%s\nwant part %s of\n%s", text, c.since, old)
			}
		})
		t.Run(engine+"/older", func(t *testing.T) {
			if c.version == 1 || engine == "drain" {
				t.Skip("7905c90f saved the oldest version")
			}
			old, err := os.ReadFile("testdata/states/" + cmp.Or(c.file, engine+".json"))
			if err != nil {
				t.Fatal(err)
			}
			w := world(t, old)
			if _, err := w.reconcile(); err != nil {
				t.Fatal(err)
			}
			var now struct{ Version int }
			text := saved(t, w)
			if err := json.Unmarshal([]byte(text), &now); err != nil || now.Version != c.version || !strings.Contains(text, c.kept) {
				t.Errorf("%v: saved is\n%s\nwant version %d with %s", err, text, c.version, c.kept)
			}
		})
		t.Run(engine+"/newer", func(t *testing.T) {
			_, name, _ := strings.Cut(c.key, ".")
			if engine == "zones" {
				name = "*"
			}
			newer, err := json.Marshal(map[string]any{"version": 9, "name": name, "state": map[string]any{}})
			if err != nil {
				t.Fatal(err)
			}
			w := world(t, newer)
			_, err = w.reconcile()
			var version *fairlead.VersionError
			if !errors.As(err, &version) || version.Version != 9 || version.Known != c.version {
				t.Errorf("%v: want an error that names versions 9 and %d", err, c.version)
			}
			if text := saved(t, w); text != string(newer) {
				t.Errorf("it became\n%s", text)
			}
		})
	}
}
