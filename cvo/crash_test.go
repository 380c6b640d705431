package cvo_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/long"
)

// mortal is a process that dies at one of its calls to the store and to the
// backend: before or after the call took effect. From then on all calls fail,
// until another process begins, which has none of the payloads. Or that call
// alone is refused.
type mortal struct {
	fairlead.Store
	cvo.Backend
	calls, at int // how many there were; at which it dies, 0 for never
	how       string
	dead      bool
	applied   int             // manifests that reached the cluster
	have      map[string]bool // images that this process retrieved
}

// What happens at the call.
const (
	diesBefore = "dies before its effect"
	diesAfter  = "dies after its effect"
	refused    = "is refused"
	diesAgain  = "dies before its effect, and so does the fourth one after it"
	thenFails  = "dies before its effect, and the fourth one after it is refused"
)

// untroubled is how many calls a new process makes before the first action: it
// gets its state, looks, and saves.
const untroubled = 3

// call makes one call.
func (m *mortal) call(do func() error) error {
	if m.dead {
		return errDown
	}
	m.calls++
	first, second := m.calls == m.at, m.calls == m.at+untroubled+1
	m.dead = first && m.how != refused || second && m.how == diesAgain
	now := first || second && (m.how == diesAgain || m.how == thenFails)
	if now && m.how != diesAfter {
		return errDown
	}
	if err := do(); err != nil || !m.dead {
		return err
	}
	return errDown
}

// Get implements fairlead.Store.
func (m *mortal) Get(ctx context.Context, key string) (r fairlead.Record, err error) {
	err = m.call(func() (err error) { r, err = m.Store.Get(ctx, key); return err })
	return r, err
}

// Put implements fairlead.Store.
func (m *mortal) Put(ctx context.Context, key string, value []byte, prev fairlead.Revision) (rev fairlead.Revision, err error) {
	err = m.call(func() (err error) { rev, err = m.Store.Put(ctx, key, value, prev); return err })
	return rev, err
}

// Observe implements cvo.Backend.
func (m *mortal) Observe(ctx context.Context, name string) (w *cvo.World, err error) {
	err = m.call(func() (err error) { w, err = m.Backend.Observe(ctx, name); return err })
	if err == nil {
		w.Retrieved = slices.DeleteFunc(w.Retrieved, func(r cvo.Retrieved) bool { return !m.have[r.Image] })
	}
	return w, err
}

// Apply implements cvo.Backend.
func (m *mortal) Apply(ctx context.Context, name string, a cvo.Action) error {
	return m.call(func() error {
		switch a := a.(type) {
		case cvo.Apply, cvo.Delete:
			m.applied++
		case cvo.Retrieve:
			m.have[a.Release.Image] = true
		}
		return m.Backend.Apply(ctx, name, a)
	})
}

// life is a cluster from its installation to the end of an update.
type life struct {
	calls, applied int                // in all
	most           int                // manifests that one pass brought
	writes         map[payload.ID]int // changes of each resource
	history        string             // how it came there
	took           time.Duration
}

// live installs and updates a cluster with a process that has trouble at a call.
func live(t *testing.T, one, two *payload.Payload, at int, how string) (life, error) {
	clock := new(fairlead.ManualClock)
	clock.Set(begin)
	backend := cvo.NewMemBackend(clock)
	backend.SetRelease(imageOne, one, true, time.Second)
	backend.SetRelease(imageTwo, two, true, time.Minute)
	backend.Operators["etcd"], backend.Operators["dns"] = time.Minute, 2*time.Minute
	own := cvo.Release{Version: "4.18.0", Image: imageOne}
	backend.SetCluster("east", cvo.Spec{}, own)
	m := &mortal{Store: new(fairlead.MemStore), Backend: backend, at: at, how: how}
	start := func() *cvo.Runner {
		m.dead, m.have = false, map[string]bool{}
		return newRunner(t, m, nil, &fairlead.RunnerOptions{Store: m, Clock: clock})
	}
	l := life{}
	for r, asked, n := start(), false, 0; n < 500; n++ {
		before := m.applied
		d, err := r.Reconcile(t.Context(), "east")
		l.most = max(l.most, m.applied-before)
		if m.dead {
			r = start()
			continue
		}
		if err != nil && (how != refused && how != thenFails || m.calls < at) {
			return l, err
		}
		if len(d.Actions) > 0 || err != nil {
			continue
		}
		h := backend.Version("east").Status.History
		switch {
		case len(h) > 0 && h[0].State == cvo.Completed && h[0].Image == imageTwo:
			l.calls, l.applied, l.writes, l.took = m.calls, m.applied, backend.Writes("east"), clock.Now().Sub(begin)
			for _, h := range h {
				l.history += fmt.Sprintln(h.State, h.Version, h.Verified)
			}
			return l, nil
		case len(h) > 0 && h[0].State == cvo.Completed && !asked:
			asked = true
			backend.SetCluster("east", cvo.Spec{DesiredUpdate: &cvo.Update{Image: imageTwo, Version: "4.19.0"}}, own)
		default:
			clock.Set(earliest(d.Wake, backend.Next("east")))
		}
	}
	return l, fmt.Errorf("the cluster does not come to its release")
}

// TestCrashAtEveryStep kills the engine at each of its calls, before and after
// the call took effect, once or twice, or has the call fail. The engine that goes
// on, goes on where it was: each resource changes as often as if nothing had
// happened, no more manifests are sent again than were under way, and a crash
// costs no time.
func TestCrashAtEveryStep(t *testing.T) {
	parts := []part{{runlevel: 10, component: "etcd", objects: 2, operator: true}, {runlevel: 20, component: "dns", objects: 1, operator: true}, {runlevel: 20, component: "console", objects: 3}}
	one, two := release(t, "4.18.0", parts, nil), release(t, "4.19.0", parts, nil)
	want, err := live(t, one, two, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	again, times := 0, 0
	for at := 1; at <= want.calls; at += long.N(3, 1) {
		for how, delay := range map[string]time.Duration{diesBefore: 0, diesAfter: 0, diesAgain: 0, refused: time.Minute, thenFails: 2 * time.Minute} {
			got, err := live(t, one, two, at, how)
			switch {
			case err != nil:
				t.Errorf("call %d of %d %s: %v", at, want.calls, how, err)
			case !maps.Equal(got.writes, want.writes) || got.history != want.history:
				t.Errorf("call %d %s, and something else is done: %v, not %v\n%s", at, how, got.writes, want.writes, got.history)
			case got.applied > want.applied+2*want.most:
				t.Errorf("call %d %s: %d manifests are sent again, and a pass has at most %d", at, how, got.applied-want.applied, want.most)
			case got.took > want.took+delay:
				t.Errorf("call %d %s: it takes %s, not %s", at, how, got.took, want.took)
			}
			again, times = again+got.applied-want.applied, times+1
		}
	}
	t.Logf("trouble at each of %d calls, %d times in all: of %d manifests %.2f were sent again at each", want.calls, times, want.applied, float64(again)/float64(times))
}
