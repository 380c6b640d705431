package kube_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestReconcilerRequeues(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock := &fairlead.ManualClock{}
	clock.Set(noon)
	for _, c := range []struct {
		what  string
		pass  fairlead.Pass
		after time.Duration
	}{
		{"nothing to do", fairlead.Pass{}, 0},
		{"looks at what it did", fairlead.Pass{Actions: 2}, time.Second},
		{"wakes", fairlead.Pass{Wake: noon.Add(time.Minute)}, time.Minute},
		{"wakes after acting", fairlead.Pass{Actions: 1, Wake: noon.Add(time.Minute)}, time.Minute},
		{"a wake in the past does not spin", fairlead.Pass{Wake: noon.Add(-time.Hour)}, time.Second},
	} {
		r := &kube.Reconciler{Clock: clock, Pass: func(_ context.Context, name string) fairlead.Pass {
			if name != "ns/a" {
				t.Errorf("name %q", name)
			}
			return c.pass
		}}
		got, err := r.Reconcile(t.Context(), kube.RequestOf("ns/a"))
		if err != nil || got.RequeueAfter != c.after {
			t.Errorf("%s: %v, %v, want %v", c.what, got.RequeueAfter, err, c.after)
		}
	}
}

func TestReconcilerErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		err      error
		terminal bool
	}{{broken, false}, {&fairlead.VersionError{Engine: "taints"}, true}} {
		r := &kube.Reconciler{Pass: func(context.Context, string) fairlead.Pass { return fairlead.Pass{Err: c.err} }}
		_, err := r.Reconcile(t.Context(), kube.RequestOf("a"))
		if !errors.Is(err, c.err) || errors.Is(err, reconcile.TerminalError(nil)) != c.terminal {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"a", "ns/a"} {
		ns, n := kube.SplitName(name)
		if r := kube.RequestOf(name); r.Namespace != ns || r.Name != n || strings.TrimPrefix(ns+"/"+n, "/") != name {
			t.Errorf("%s: %v", name, r)
		}
	}
}

func TestEventsTellWhatIsNew(t *testing.T) {
	recorder := events.NewFakeRecorder(10)
	var missing runtime.Object
	e := &kube.Events{Recorder: recorder, Action: "Drain", Object: func(_ context.Context, name string) runtime.Object {
		if name == "gone" {
			return missing
		}
		return &corev1.Node{}
	}}
	wait := fairlead.Block{Subject: "pod b/p", Reason: "DisruptionBudget", Message: "3 of 3 must stay", Owner: "team b", Unblock: "add a replica"}
	told := func(name string, p fairlead.Pass, want ...string) {
		t.Helper()
		e.Report(t.Context(), name, p)
		var got []string
		for len(recorder.Events) > 0 {
			got = append(got, <-recorder.Events)
		}
		if !slices.Equal(got, want) {
			t.Errorf("reported %q, want %q", got, want)
		}
	}
	sentence := "Normal DisruptionBudget pod b/p: 3 of 3 must stay (owner team b); to unblock: add a replica"
	told("a", fairlead.Pass{Blocked: []fairlead.Block{wait, wait}}, sentence)
	wait.Message = "2 of 3 must stay" // the same wait
	told("a", fairlead.Pass{Blocked: []fairlead.Block{wait}})
	told("a", fairlead.Pass{Err: errors.New("no server")}, "Warning PassFailed no server")
	told("a", fairlead.Pass{Err: errors.New("no server")})
	told("a", fairlead.Pass{Err: errors.New("forbidden")}, "Warning PassFailed forbidden")
	told("a", fairlead.Pass{})
	wait.Message = "3 of 3 must stay"
	told("a", fairlead.Pass{Blocked: []fairlead.Block{wait}}, sentence)
	told("gone", fairlead.Pass{Blocked: []fairlead.Block{wait}})
	missing = &corev1.Node{}
	told("gone", fairlead.Pass{Blocked: []fairlead.Block{wait}}, sentence)
}

// A wait is reported once, after it has lasted long enough, and not at all if
// it ends before that; a failure is reported at once.
func TestEventsPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder := events.NewFakeRecorder(10)
		e := &kube.Events{Recorder: recorder, Patience: 10 * time.Second, Object: func(context.Context, string) runtime.Object { return &corev1.Node{} }}
		told := func(want ...string) {
			t.Helper()
			synctest.Wait()
			var got []string
			for len(recorder.Events) > 0 {
				got = append(got, <-recorder.Events)
			}
			if !slices.Equal(got, want) {
				t.Errorf("reported %q, want %q", got, want)
			}
		}
		long, short := fairlead.Block{Reason: "Budget", Message: "1 left"}, fairlead.Block{Reason: "Moment", Message: "wait"}
		e.Report(t.Context(), "a", fairlead.Pass{Blocked: []fairlead.Block{long, short}, Err: errors.New("no server")})
		told("Warning PassFailed no server")
		time.Sleep(9 * time.Second)
		long.Message = "2 left"
		e.Report(t.Context(), "a", fairlead.Pass{Blocked: []fairlead.Block{long}})
		told()
		time.Sleep(time.Second) // without another pass
		told("Normal Budget 2 left")
		time.Sleep(time.Minute)
		e.Report(t.Context(), "a", fairlead.Pass{Blocked: []fairlead.Block{long}})
		e.Report(t.Context(), "a", fairlead.Pass{})
		told()
	})
}

// Changes soon after a pass are handled together with later ones.
func TestMinInterval(t *testing.T) {
	clock := new(fairlead.ManualClock)
	clock.Set(time.Unix(1000, 0))
	passes := 0
	r := &kube.Reconciler{Clock: clock, MinInterval: time.Second, Pass: func(context.Context, string) fairlead.Pass {
		passes++
		return fairlead.Pass{}
	}}
	reconcile := func(name string, want time.Duration, wantPasses int) {
		t.Helper()
		got, err := r.Reconcile(t.Context(), kube.RequestOf(name))
		if err != nil || got.RequeueAfter != want || passes != wantPasses {
			t.Errorf("again after %v, %v, %d passes, want %v and %d", got.RequeueAfter, err, passes, want, wantPasses)
		}
	}
	reconcile("a", 0, 1)
	clock.Advance(300 * time.Millisecond)
	reconcile("a", 700*time.Millisecond, 1)
	reconcile("b", 0, 2)
	clock.Advance(700 * time.Millisecond)
	reconcile("a", 0, 3)
	clock.Set(time.Unix(0, 0)) // back in time: nothing waits for the clock to catch up
	reconcile("a", 0, 4)
	for i := range 3000 {
		clock.Advance(time.Second)
		reconcile(fmt.Sprint(i), 0, 5+i)
	}
}

func TestSentencesFitEvents(t *testing.T) {
	s := kube.Sentence(fairlead.Block{Message: strings.Repeat("é", 1000)})
	if len(s) > 1024 || !strings.HasSuffix(s, "é...") {
		t.Errorf("%d bytes, ends in %q", len(s), s[len(s)-6:])
	}
}

type act struct{}

func (act) Key() fairlead.Key { return fairlead.Key{Kind: "act"} }
func (act) String() string    { return "act" }

func TestMetrics(t *testing.T) {
	m := kube.NewMetrics()
	tr := m.Trace("taints")
	wait := fairlead.Block{Reason: "TolerationLasts"}
	tr.End("a", fairlead.Pass{Blocked: []fairlead.Block{wait, wait}})
	tr.End("b", fairlead.Pass{Blocked: []fairlead.Block{wait}, Err: errors.New("x")})
	tr.End("a", fairlead.Pass{Blocked: []fairlead.Block{wait}})
	tr.Applied("a", act{}, nil)
	tr.Applied("a", &act{}, errors.New("x"))
	tr.Saved("a", "1")
	tr.Conflict("a")
	want := `
# HELP fairlead_actions_total Actions applied.
# TYPE fairlead_actions_total counter
fairlead_actions_total{action="act",engine="taints",result="error"} 1
fairlead_actions_total{action="act",engine="taints",result="ok"} 1
# HELP fairlead_blocked Waits reported by the last passes over all objects.
# TYPE fairlead_blocked gauge
fairlead_blocked{engine="taints",reason="TolerationLasts"} 2
# HELP fairlead_conflicts_total Passes restarted because another runner had changed the state.
# TYPE fairlead_conflicts_total counter
fairlead_conflicts_total{engine="taints"} 1
# HELP fairlead_passes_total Passes that ended.
# TYPE fairlead_passes_total counter
fairlead_passes_total{engine="taints",result="error"} 1
fairlead_passes_total{engine="taints",result="ok"} 2
# HELP fairlead_saves_total States written or deleted.
# TYPE fairlead_saves_total counter
fairlead_saves_total{engine="taints"} 1
`
	if err := testutil.CollectAndCompare(m, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.CollectAndLint(m); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}
