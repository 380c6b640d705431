package fairlead_test

import (
	"context"
	"encoding/base64"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// A large state is stored compressed, read back as it was, and saved again only if it has
// changed. One that is too large even so is a LimitError, and nothing is applied.
func TestLargeState(t *testing.T) {
	clock, store := new(fairlead.ManualClock), new(fairlead.MemStore)
	clock.Set(noon)
	e := farmEngine(func(s *farmState, _ farmWorld, d *farmDecision) {
		if len(s.Seen) == 0 {
			d.State.Seen = strings.Split(strings.Repeat("worker was seen,", 100_000), ",")
		}
		d.Wake = time.Time{}
	})
	world := &farm{wanted: 1, running: []bool{true}}
	e.Backend = world
	saves := 0
	r, err := fairlead.NewRunner(e, &fairlead.RunnerOptions{Store: store, Clock: clock, Trace: &fairlead.Trace{Saved: func(string, fairlead.Revision) { saves++ }}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		d, err := r.Reconcile(t.Context(), "a")
		if err != nil || len(d.State.Seen) != 100_001 {
			t.Fatal(len(d.State.Seen), err)
		}
	}
	rec, err := store.Get(t.Context(), fairlead.StateKey("farm", "a"))
	if err != nil || len(rec.Value) > 20_000 || saves != 1 || !strings.HasPrefix(string(rec.Value), `{"version":1,"name":"a",`) {
		t.Errorf("%v: %d bytes after %d saves: %.60s", err, len(rec.Value), saves, rec.Value)
	}
	if s, err := r.State(t.Context(), "a"); err != nil || len(s.Seen) != 100_001 {
		t.Errorf("%d, %v", len(s.Seen), err)
	}
	for damaged, want := range map[string]string{`{"version":1,"name":"a","packed":"AAAA"}`: "cannot be unpacked", `{"version":1,"name":"a"}`: "delete"} {
		rec, _ := store.Get(t.Context(), fairlead.StateKey("farm", "a"))
		if _, err := store.Put(t.Context(), rec.Key, []byte(damaged), rec.Revision); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Reconcile(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", damaged, err)
		}
	}
}

// A state that compresses well is still limited: one that could not be read back is not stored.
func TestStateThatCannotBeReadBack(t *testing.T) {
	engine := funcs[string, world]{
		Name: "large", Version: 1,
		Observe: func(context.Context, string) (world, error) { return world{}, nil },
		Step: func(string, world, time.Time) fairlead.Decision[string, climb] {
			return fairlead.Decision[string, climb]{State: strings.Repeat("x", 64*fairlead.MaxValueSize), Actions: []climb{{1}}}
		},
		Apply: func(context.Context, string, climb) error { t.Error("applied"); return nil },
	}
	_, err := runner(t, engine, nil).Reconcile(t.Context(), "a")
	if limit := new(fairlead.LimitError); !errors.As(err, &limit) || !strings.Contains(err.Error(), "before it is compressed") {
		t.Errorf("got %v, want a *LimitError", err)
	}
}

// dense returns n characters that cannot be compressed to less than three quarters.
func dense(n int) string {
	bytes := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(bytes)
	return base64.StdEncoding.EncodeToString(bytes)[:n]
}
