package rollout_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
)

// reports returns what a Step writes of the pool's status, nil if nothing.
func reports(w *rollout.World) *rollout.PoolStatus {
	for _, a := range rollout.Step(rollout.State{}, w, start, nil).Actions {
		if r, ok := a.(rollout.Report); ok {
			return &r.Status
		}
	}
	return nil
}

// TestEveryFieldIsReported: a status that differs in any one field from what the nodes
// say is written, and one that does not is left alone.
func TestEveryFieldIsReported(t *testing.T) {
	w := workers()
	w.Pool.Spec.Paused = true
	want := reports(w)
	if want == nil {
		t.Fatal("nothing is reported of a pool without a status")
	}
	w.Pool.Status = *want
	if again := reports(w); again != nil {
		t.Fatalf("what is there is written again: %+v", again)
	}
	// change gives each part of v, which is addressable, another value in turn.
	var change func(path string, v reflect.Value)
	change = func(path string, v reflect.Value) {
		old := reflect.ValueOf(v.Interface())
		switch v.Kind() {
		case reflect.Int, reflect.Int64:
			v.SetInt(v.Int() + 1)
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Slice:
			for i := range v.Len() {
				change(path+"[]", v.Index(i))
			}
			v.SetLen(v.Len() - 1)
		case reflect.Struct:
			at, is := old.Interface().(time.Time)
			if !is {
				for i := range v.NumField() {
					change(path+"."+v.Type().Field(i).Name, v.Field(i))
				}
				return
			}
			v.Set(reflect.ValueOf(at.Add(time.Hour)))
		default:
			t.Fatalf("%s: %v", path, v.Kind())
		}
		if strings.HasSuffix(path, ".LastTransitionTime") || strings.HasSuffix(path, "[].ObservedGeneration") || strings.HasPrefix(path, "status.Configuration.") {
			// it is kept as it is
		} else if reports(w) == nil {
			t.Errorf("%s is %v instead of %v, and that is not written", path, v, old)
		}
		v.Set(old)
	}
	w.Pool.Status.Conditions = slices.Clone(want.Conditions)
	change("status", reflect.ValueOf(&w.Pool.Status).Elem())
}

// TestBuildDegraded: whoever builds images without this engine knowing may say that the
// pool is degraded; of a build that is known its own state counts.
func TestBuildDegraded(t *testing.T) {
	for _, c := range []struct {
		build *rollout.Build
		said  bool
		want  fairlead.ConditionStatus
	}{
		{nil, false, fairlead.ConditionFalse},
		{nil, true, fairlead.ConditionTrue},
		{&rollout.Build{State: rollout.BuildSucceeded}, true, fairlead.ConditionFalse},
		{&rollout.Build{State: rollout.BuildFailed}, false, fairlead.ConditionTrue},
	} {
		w := workers()
		w.Build = c.build
		if c.said {
			w.Pool.Status.Conditions = []rollout.Condition{{Type: "BuildDegraded", Status: fairlead.ConditionTrue}}
		}
		s := rollout.Status(w, start)
		if is := fairlead.FindCondition(s.Conditions, rollout.ConditionDegraded); is == nil || is.Status != c.want {
			t.Errorf("build %+v, said %v: %+v", c.build, c.said, is)
		}
	}
}

// TestUnreadyWords: a node that takes no pods is told of with the cause.
func TestUnreadyWords(t *testing.T) {
	for kind, want := range map[string]string{"Ready": "it is not ready", "DiskPressure": "its disk is full", "NetworkUnavailable": "it has no network"} {
		status := fairlead.ConditionTrue
		if kind == "Ready" {
			status = fairlead.ConditionFalse
		}
		w := workers()
		w.Nodes[0].Status.Conditions = []fairlead.NodeCondition{{Type: kind, Status: status}}
		d := rollout.Step(rollout.State{}, w, start, nil)
		if !slices.ContainsFunc(d.Blocked, func(b fairlead.Block) bool { return strings.Contains(b.Message, want) }) {
			t.Errorf("%s: %v", kind, d.Blocked)
		}
	}
}

// TestOthersAreRemembered: since when a node is on its way is not forgotten because
// another one is through.
func TestOthersAreRemembered(t *testing.T) {
	w := workers()
	target := rollout.Configuration{Name: "rendered-worker-2"}
	w.Nodes[0].Annotations[rollout.AnnotationCurrent], w.Nodes[0].Annotations[rollout.AnnotationDesired] = target.Name, target.Name // through
	w.Nodes[1].Annotations[rollout.AnnotationDesired] = target.Name
	since := start.Add(-time.Hour)
	s := rollout.State{Begun: []rollout.Begun{{Node: "a", Configuration: target, Since: since, Told: true}, {Node: "b", Configuration: target, Since: since, Told: true}}}
	d := rollout.Step(s, w, start, nil)
	if len(d.State.Begun) != 1 || d.State.Begun[0].Node != "b" || !d.State.Begun[0].Since.Equal(since) {
		t.Errorf("%+v", d.State.Begun)
	}
}
