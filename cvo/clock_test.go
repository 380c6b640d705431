package cvo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
)

// A clock that is set back delays nothing beyond what would be waited for anyway.
func TestClockSetBack(t *testing.T) {
	at := func(d time.Duration) time.Time { return noon.Add(d) }
	for _, c := range []struct {
		name string
		back time.Duration
		do   func(s *stage)
		most time.Duration
		want string
	}{
		{"an attempt failed", 6 * time.Hour, func(s *stage) {
			s.backend.fails["configmap a-0"] = cvo.Refuse(cvo.ClassDown, errDown)
			s.want(&cvo.Update{Version: "4.18.1", Image: "r@4.18.1"}, 5*time.Second)
			delete(s.backend.fails, "configmap a-0")
		}, 10 * time.Second, `apply configmap "a/a-0" (1 of 3)`},
		{"at rest", 24 * time.Hour, func(s *stage) { s.run(time.Minute) }, 3 * time.Minute, `apply configmap "a/a-0" (1 of 3)`},
		{"an image that is not there", 6 * time.Hour, func(s *stage) {
			s.want(&cvo.Update{Image: "r@none"}, 5*time.Second)
		}, 10 * time.Second, "retrieve r@none"},
		{"an image that does not come", 6 * time.Hour, func(s *stage) {
			s.backend.SetRelease("r@slow", release(t, "4.18.9", nil, nil), true, 1000*time.Hour)
			s.want(&cvo.Update{Image: "r@slow"}, 5*time.Second)
		}, 4 * time.Minute, "retrieve r@slow"},
		{"a status is kept back", 6 * time.Hour, func(s *stage) {
			s.backend.Degrade("c", "a", "first")
			s.run(time.Second)
			s.backend.Degrade("c", "a", "second")
			s.run(time.Second)
		}, 15 * time.Second, "write the status"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := updatedStage(t)
			c.do(s)
			s.clock.Set(at(-c.back))
			out := ""
			for _, d := range []time.Duration{0, c.most} {
				s.clock.Set(at(-c.back + d))
				for {
					decision, err := s.runner.Reconcile(t.Context(), "c")
					if err != nil {
						t.Fatal(err)
					}
					if decision.Wake.After(s.clock.Now().Add(time.Hour)) {
						t.Errorf("the next step comes at %v, and it is %v", decision.Wake, s.clock.Now())
					}
					for _, a := range decision.Actions {
						out += a.String() + "\n"
					}
					if len(decision.Actions) == 0 {
						break
					}
				}
			}
			if !bytes.Contains([]byte(out), []byte(c.want)) {
				t.Errorf("within %v there was no %q:\n%s", c.most, c.want, out)
			}
		})
	}
}

// seconds is a backend that keeps the status as an API server does: as JSON, with
// whole seconds.
type seconds struct {
	*rig
	written int
}

// Apply implements cvo.Backend.
func (b *seconds) Apply(ctx context.Context, name string, a cvo.Action) error {
	if w, ok := a.(cvo.WriteStatus); ok {
		b.written++
		kept, err := asServer(w.Status)
		if err != nil {
			return err
		}
		a = cvo.WriteStatus{Status: kept}
	}
	return b.rig.Apply(ctx, name, a)
}

// asServer returns what is read back of a status: times lose what is below a
// second, and are in the zone of whoever reads.
func asServer(s cvo.Status) (out cvo.Status, err error) {
	text, err := json.Marshal(s)
	if err != nil {
		return out, err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return out, err
	}
	text, err = json.Marshal(truncated(tree))
	if err != nil {
		return out, err
	}
	err = json.Unmarshal(text, &out)
	return out, err
}

func truncated(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, one := range v {
			v[key] = truncated(one)
		}
	case []any:
		for i, one := range v {
			v[i] = truncated(one)
		}
	case string:
		if t, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return t.In(time.FixedZone("", 7200)).Format(time.RFC3339)
		}
	}
	return v
}

// An idle hour writes no status where the store keeps whole seconds.
func TestIdleWritesNothing(t *testing.T) {
	s := updatedStage(t)
	b := &seconds{rig: s.backend}
	s.clock.Set(noon.Add(123456789 * time.Nanosecond))
	s.backend.offer(t, "current 4.18.0 r@4.18.0\n4.18.1 r@4.18.1 risk=A:False\n4.19.0 r@4.19.0 risk=B:True\n")
	runner := newRunner(t, b, nil, &fairlead.RunnerOptions{Store: s.store, Clock: s.clock})
	for range 1000 {
		d, err := runner.Reconcile(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Actions) == 0 {
			break
		}
	}
	before := b.written
	for range 3600 {
		s.clock.Set(s.clock.Now().Add(time.Second))
		if _, err := runner.Reconcile(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
	}
	if b.written != before {
		t.Errorf("%d writes in an idle hour", b.written-before)
	}
	if before == 0 {
		t.Error("the status was never written")
	}
}
