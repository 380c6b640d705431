package cvo_test

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
)

// again puts a value through JSON.
func again[T any](t *testing.T, v T) T {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

// What Step takes and returns goes through JSON and comes back equal, with the
// manifests that are applied: on what came back it decides the same.
func TestThroughJSON(t *testing.T) {
	s := updatedStage(t)
	more := map[string]string{"0000_10_a_70_odd.json": "{ \"apiVersion\": \"v1\",\n \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"odd\", \"namespace\": \"a\", \"annotations\": {\"include.release.openshift.io/self-managed-high-availability\": \"true\"}},\n \"data\": {\"a\": \"<&>\"}}\n"}
	s.backend.SetRelease("r@4.18.1", release(t, "4.18.1", []part{{runlevel: 10, component: "a", objects: 1, operator: true}}, more), true, 0)
	s.backend.gates = []string{}
	s.backend.offer(t, "current 4.18.0 r@4.18.0\n4.18.1 r@4.18.1 risk=A:False url=https://example.com\n4.19.0 r@4.19.0 risk=B:True\n4.20.0 r@4.20.0\n")
	s.backend.fails["configmap a-0"] = cvo.Refuse(cvo.ClassDown, errDown)
	s.backend.Operators["a"] = 10 * time.Minute
	s.spec.DesiredUpdate = &cvo.Update{Version: "4.18.1", Image: "r@4.18.1"}
	s.backend.SetCluster("c", s.spec, s.own)
	policy := &cvo.Policy{
		Filter: payload.NewFilter(), Capabilities: cvo.KnownCapabilities(), Retry: 5 * time.Second, SlowOperators: map[string]time.Duration{"a": time.Minute},
		Estimates: payload.Estimates{Operators: map[string]time.Duration{"a": time.Hour}}, ClusterRisks: true,
	}
	kinds := map[string]int{}
	for range 400 {
		state, err := s.runner.State(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.backend.Observe(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*cvo.Policy{nil, policy} {
			d := cvo.Step(state, w, s.clock.Now(), p)
			for _, a := range d.Actions {
				kinds[a.Key().Kind]++
			}
			if back := again(t, d); !reflect.DeepEqual(back, d) {
				t.Fatalf("%+v\nbecame\n%+v", d, back)
			}
			if back := cvo.Step(again(t, state), again(t, w), s.clock.Now(), again(t, p)); !reflect.DeepEqual(back, d) {
				t.Fatalf("%+v\nbecame\n%+v", d, back)
			}
		}
		d, err := s.runner.Reconcile(t.Context(), "c")
		var refused *fairlead.RefusedError
		if err != nil && !errors.As(err, &refused) {
			t.Fatal(err)
		}
		if len(d.Actions) == 0 {
			if clear(s.backend.fails); d.State.Work.Mode == cvo.Reconciling && d.State.Work.Pass > 1 {
				break
			}
			s.clock.Set(earliest(d.Wake, s.backend.Next("c")))
		}
	}
	if kinds["Retrieve"] == 0 || kinds["Apply"] == 0 || kinds["WriteStatus"] == 0 {
		t.Errorf("there were only %v", kinds)
	}
}

// A manifest is equal when it is read back, also one that is kept as its file has
// it, and so is the hash of all.
func TestManifestThroughJSON(t *testing.T) {
	p := release(t, "4.18.0", []part{{runlevel: 10, component: "a", objects: 2, operator: true}}, map[string]string{
		"0000_20_b_00_x.json": "{ \"apiVersion\": \"v1\", \"kind\": \"Service\", \"metadata\": {\"name\": \"<x>\"} }",
	})
	if back := again(t, p); !reflect.DeepEqual(back, p) || payload.Hash(back.Manifests) != payload.Hash(p.Manifests) {
		t.Errorf("%+v", back)
	}
}

// Durations of policies are text, and what makes no sense in one is told.
func TestPolicyJSON(t *testing.T) {
	text, err := json.Marshal(&cvo.Policy{Interval: 5 * time.Minute, SlowOperators: map[string]time.Duration{"etcd": 90 * time.Minute}, StopBefore: "30"})
	if err != nil || string(text) != `{"interval":"5m0s","slowOperators":{"etcd":"1h30m0s"},"stopBefore":"30"}` {
		t.Errorf("%s, %v", text, err)
	}
	for path, p := range map[string]*cvo.Policy{
		"":                     nil,
		"retry":                {Retry: -1},
		"workers":              {Workers: -1},
		"slowOperators.etcd":   {SlowOperators: map[string]time.Duration{"etcd": -time.Minute}},
		"stopBefore":           {StopBefore: "ten"},
		"estimates.operator":   {Estimates: payload.Estimates{Operator: -1}},
		"capabilities.current": {Capabilities: &cvo.CapabilitySets{Current: "v9", Sets: map[string][]string{"v1": nil}}},
		"capabilities.sets.v1": {Capabilities: &cvo.CapabilitySets{Sets: map[string][]string{"v1": {"Build"}}}},
	} {
		err := p.Check()
		if (err == nil) != (path == "") || err != nil && !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: %v", path, err)
		}
		if _, failed := cvo.NewRunner(cvo.NewMemBackend(nil), p, nil); (failed == nil) != (err == nil) {
			t.Errorf("%s: a runner: %v", path, failed)
		}
	}
	if err := (&cvo.Policy{Capabilities: cvo.KnownCapabilities()}).Check(); err != nil {
		t.Error(err)
	}
}

// A state that version 1 has saved is read: an update goes on where it was, and
// the wait for an operator has begun when it has.
func TestOldState(t *testing.T) {
	text, err := os.ReadFile("testdata/state/v1.json")
	if err != nil {
		t.Fatal(err)
	}
	s := updatedStage(t)
	record, err := s.store.Get(t.Context(), fairlead.StateKey("cvo", "c"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.Put(t.Context(), record.Key, text, record.Revision); err != nil {
		t.Fatal(err)
	}
	s.backend.Operators["a"] = 30 * time.Minute
	s.spec.DesiredUpdate = &cvo.Update{Version: "4.18.1", Image: "r@4.18.1"}
	s.backend.SetCluster("c", s.spec, s.own)
	s.backend.SetStatus("c", func(st *cvo.Status) { st.Desired = cvo.Release{Version: "4.18.1", Image: "r@4.18.1"} })
	s.run(time.Minute)
	w := s.last.State.Waits
	if s.last.State.Work.Release.Version != "4.18.1" || waitsFor(s.last.State) != 1 || !w[0].Since.Equal(noon.Add(time.Hour)) && !w[len(w)-1].Since.Equal(noon.Add(time.Hour)) {
		t.Errorf("%+v", s.last.State)
	}
}
