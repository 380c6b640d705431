package cvo_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
)

// waiting is a cluster on its way to 1.2.3: each operator is applied and waited
// for, and whatever else is in trouble is a ConfigMap of its own.
type waiting struct {
	operators map[string]string // name, and what it says, see operator
	since     map[string]int    // minutes for which an operator is waited for; default 0
	rolling   []string          // those whose Deployment has not rolled out, so that they are not waited for yet
	errors    []string          // messages of tasks that failed
}

// after is when the cluster is looked at.
var after = noon.Add(3 * time.Hour)

// decide makes a decision about the cluster and returns what it tells.
func (c *waiting) decide(t *testing.T, mode cvo.Mode) cvo.Status {
	t.Helper()
	state, w := c.build(t, mode)
	d := cvo.Step(state, w, after, nil)
	for _, a := range d.Actions {
		if s, ok := a.(cvo.WriteStatus); ok {
			return s.Status
		}
	}
	t.Fatalf("nothing is told: %v", d.Actions)
	return cvo.Status{}
}

// build makes the cluster and the state of its engine.
func (c *waiting) build(t *testing.T, mode cvo.Mode) (cvo.State, *cvo.World) {
	t.Helper()
	const image = "r@sha256:a"
	now := after
	var parts []part
	for _, name := range slices.Sorted(keys(c.operators)) {
		parts = append(parts, part{runlevel: 10, component: name, operator: true})
	}
	for i := range c.errors {
		parts = append(parts, part{runlevel: 10, component: fmt.Sprintf("x%d", i), objects: 1})
	}
	p := release(t, "1.2.3", parts, nil)
	w := &cvo.World{
		Cluster: &cvo.ClusterVersion{}, Own: cvo.Release{Version: "1.2.3", Image: image},
		Retrieved: []cvo.Retrieved{{Image: image, Payload: p}},
	}
	for _, name := range slices.Sorted(keys(c.operators)) {
		if o := operator(c.operators[name]); o != nil {
			o.Name = name
			w.Operators = append(w.Operators, *o)
		}
	}
	state := cvo.State{Work: &cvo.Work{Release: w.Own, Mode: mode, Begun: noon}, History: []cvo.History{{State: cvo.Partial, Version: "1.2.3", Image: image}}}
	if mode != cvo.Initializing {
		state.History = append(state.History, cvo.History{State: cvo.Completed, Version: "1.2.2", Image: "r@sha256:old"})
	}
	failed := 0
	i := 0
	for _, part := range parts {
		if slices.Contains(c.rolling, part.component) {
			id := payload.ID{Group: "apps", Kind: "Deployment", Namespace: part.component, Name: part.component}
			w.Workloads = append(w.Workloads, cvo.Workload{ID: id, Waiting: "its pods start"})
			state.Work.Running = append(state.Work.Running, cvo.Running{Task: i, Sent: true, Since: noon})
			i += 2
			continue
		}
		if part.operator { // its Deployment is done, its ClusterOperator is waited for
			state.Work.Done = state.Work.Done.With(i)
			state.Work.Running = append(state.Work.Running, cvo.Running{Task: i + 1, Sent: true, Since: noon})
			since := now.Add(-time.Duration(c.since[part.component]) * time.Minute)
			state.Waits = append(state.Waits, fairlead.Block{Subject: "clusteroperator " + part.component, Reason: "Reached", Since: since})
			i += 2
			continue
		}
		e := &cvo.TaskError{Message: c.errors[failed], Effect: cvo.EffectFail}
		state.Work.Running = append(state.Work.Running, cvo.Running{Task: i, Try: 1, Last: now, Error: e})
		failed++
		i++
	}
	return state, w
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// said is a condition in one line.
func said(s cvo.Status, kind string) string {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return strings.TrimRight(fmt.Sprintf("%s %s: %s", c.Status, c.Reason, strings.ReplaceAll(c.Message, "\n", "|")), ": ")
		}
	}
	return ""
}

// What is waited for is told in the words of its kind.
func TestCourse(t *testing.T) {
	for kind, want := range map[string]string{
		"CustomResourceDefinition": "is not established; the API server must accept its names and serve it; cannot be established",
		"Job":                      "has not completed; its pods must succeed; cannot complete",
		"DaemonSet":                "has not rolled out; wait until its pods are ready; cannot roll out",
	} {
		if got := cvo.Course(kind); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// The 15 rows of TestUpdateClusterVersionStatus_FilteringMultipleErrors…, on the
// way to a release and at it. While a release is installed the same holds as on
// the way, but that versions are not waited for. Work without an entry in the
// history does not exist here.
func TestVerdict(t *testing.T) {
	const (
		behind  = "available=True degraded=False operator=0"
		away    = "available=False degraded=False operator=1.2.3"
		bad     = "available=True degraded=True operator=1.2.3"
		at      = "available=True degraded=False operator=1.2.3"
		because = ": Because: of something"
	)
	for _, c := range []struct {
		name                 string
		world                waiting
		failing, progressing string    // on the way
		steady               [2]string // at the release; empty: Failing as on the way
	}{
		{
			"no errors are present", waiting{operators: map[string]string{"a": at}}, // then it is at its release
			"False", "False : Cluster version is 1.2.3", [2]string{"", "False : Cluster version is 1.2.3"},
		},
		{
			"single generic error", waiting{errors: []string{"error has happened"}},
			"True : error has happened", "True : Unable to apply 1.2.3: an error occurred", [2]string{"", "False : Error while reconciling 1.2.3: an error occurred"},
		},
		{
			"single UpdateEffectNone error", waiting{operators: map[string]string{"a": behind}},
			"False", "True ClusterOperatorUpdating: Working towards 1.2.3: 1 of 2 done (50% complete), waiting on a",
			[2]string{"True ClusterOperatorUpdating: Cluster operator a is updating versions", "False ClusterOperatorUpdating: Error while reconciling 1.2.3: the cluster operator a has not reached the new version"},
		},
		{
			"single UpdateEffectNone error and timeout", waiting{operators: map[string]string{"a": behind}, since: map[string]int{"a": 60}},
			"Unknown SlowClusterOperator: waiting on a over 30 minutes which is longer than expected",
			"True ClusterOperatorUpdating: Working towards 1.2.3: 1 of 2 done (50% complete), waiting on a over 30 minutes which is longer than expected",
			[2]string{"True ClusterOperatorUpdating: Cluster operator a is updating versions", "False ClusterOperatorUpdating: Error while reconciling 1.2.3: the cluster operator a has not reached the new version"},
		},
		{
			"single UpdateEffectNone error and machine-config", waiting{operators: map[string]string{"machine-config": behind}, since: map[string]int{"machine-config": 60}},
			"False", "True ClusterOperatorUpdating: Working towards 1.2.3: 1 of 2 done (50% complete), waiting on machine-config",
			[2]string{"True ClusterOperatorUpdating: Cluster operator machine-config is updating versions", "False ClusterOperatorUpdating: Error while reconciling 1.2.3: the cluster operator machine-config has not reached the new version"},
		},
		{
			"single UpdateEffectNone error and machine-config timeout", waiting{operators: map[string]string{"machine-config": behind}, since: map[string]int{"machine-config": 120}},
			"Unknown SlowClusterOperator: waiting on machine-config over 90 minutes which is longer than expected",
			"True ClusterOperatorUpdating: Working towards 1.2.3: 1 of 2 done (50% complete), waiting on machine-config over 90 minutes which is longer than expected",
			[2]string{"True ClusterOperatorUpdating: Cluster operator machine-config is updating versions", "False ClusterOperatorUpdating: Error while reconciling 1.2.3: the cluster operator machine-config has not reached the new version"},
		},
		{
			"single condensed UpdateEffectFail UpdateError", waiting{operators: map[string]string{"a": away, "b": away}},
			"True ClusterOperatorsNotAvailable: Cluster operators a, b are not available",
			"True ClusterOperatorsNotAvailable: Unable to apply 1.2.3: some cluster operators are not available",
			[2]string{"", "False ClusterOperatorsNotAvailable: Error while reconciling 1.2.3: some cluster operators are not available"},
		},
		{
			"MultipleErrors of UpdateEffectFail and UpdateEffectFailAfterInterval", waiting{operators: map[string]string{"a": away, "b": bad}},
			"True MultipleErrors: Multiple errors are preventing progress:|* Cluster operator a is not available" + because + "|* Cluster operator b is degraded" + because,
			"True MultipleErrors: Unable to apply 1.2.3: several errors, some about a, b",
			[2]string{"", "False MultipleErrors: Error while reconciling 1.2.3: several errors, some about a, b"},
		},
		{
			"MultipleErrors of UpdateEffectFail and UpdateEffectNone", waiting{operators: map[string]string{"a": away, "b": behind}},
			"True ClusterOperatorNotAvailable: Cluster operator a is not available" + because,
			"True ClusterOperatorNotAvailable: Unable to apply 1.2.3: the cluster operator a is not available",
			[2]string{"True MultipleErrors: Multiple errors are preventing progress:|* Cluster operator a is not available" + because + "|* Cluster operator b is updating versions", "False MultipleErrors: Error while reconciling 1.2.3: several errors, some about a, b"},
		},
		{
			"MultipleErrors of UpdateEffectFail, UpdateEffectFailAfterInterval, and UpdateEffectNone", waiting{operators: map[string]string{"a": away, "b": behind, "c": bad}},
			"True MultipleErrors: Multiple errors are preventing progress:|* Cluster operator a is not available" + because + "|* Cluster operator c is degraded" + because,
			"True MultipleErrors: Unable to apply 1.2.3: several errors, some about a, c",
			[2]string{"True MultipleErrors: Multiple errors are preventing progress:|* Cluster operator a is not available" + because + "|* Cluster operator b is updating versions|* Cluster operator c is degraded" + because, "False MultipleErrors: Error while reconciling 1.2.3: several errors, some about a, b, c"},
		},
		{
			"MultipleErrors of UpdateEffectNone and UpdateEffectNone", waiting{operators: map[string]string{"a": behind, "b": at}, rolling: []string{"b"}},
			"False", "True ClusterOperatorUpdating: Working towards 1.2.3: 1 of 4 done (25% complete), waiting on a, b",
			[2]string{"True MultipleErrors: Multiple errors are preventing progress:|* Cluster operator a is updating versions|* deployment \"b/b\" (3 of 4) has not rolled out yet: its pods start", "False MultipleErrors: Error while reconciling 1.2.3: several errors, some about a"},
		},
		{
			"MultipleErrors: all updating and none slow", waiting{operators: map[string]string{"a": behind, "b": behind, "c": behind}},
			"False", "True ClusterOperatorsUpdating: Working towards 1.2.3: 3 of 6 done (50% complete), waiting on a, b, c",
			[2]string{"True ClusterOperatorsUpdating: Cluster operators a, b, c are updating versions", "False ClusterOperatorsUpdating: Error while reconciling 1.2.3: some cluster operators have not reached the new version"},
		},
		{
			"MultipleErrors: all updating and one slow", waiting{operators: map[string]string{"a": behind, "b": behind, "c": behind}, since: map[string]int{"a": 60}},
			"Unknown SlowClusterOperator: waiting on a over 30 minutes which is longer than expected",
			"True ClusterOperatorsUpdating: Working towards 1.2.3: 3 of 6 done (50% complete), waiting on a over 30 minutes which is longer than expected",
			[2]string{"True ClusterOperatorsUpdating: Cluster operators a, b, c are updating versions", "False ClusterOperatorsUpdating: Error while reconciling 1.2.3: some cluster operators have not reached the new version"},
		},
		{
			"MultipleErrors: all updating and some slow", waiting{operators: map[string]string{"a": behind, "b": behind, "c": behind}, since: map[string]int{"a": 60, "b": 31}},
			"Unknown SlowClusterOperator: waiting on a, b over 30 minutes which is longer than expected",
			"True ClusterOperatorsUpdating: Working towards 1.2.3: 3 of 6 done (50% complete), waiting on a, b over 30 minutes which is longer than expected",
			[2]string{"True ClusterOperatorsUpdating: Cluster operators a, b, c are updating versions", "False ClusterOperatorsUpdating: Error while reconciling 1.2.3: some cluster operators have not reached the new version"},
		},
		{
			"MultipleErrors: all updating and all slow", waiting{operators: map[string]string{"a": behind, "b": behind, "machine-config": behind}, since: map[string]int{"a": 60, "b": 60, "machine-config": 120}},
			"Unknown SlowClusterOperator: waiting on a, b over 30 minutes and machine-config over 90 minutes which is longer than expected",
			"True ClusterOperatorsUpdating: Working towards 1.2.3: 3 of 6 done (50% complete), waiting on a, b over 30 minutes and machine-config over 90 minutes which is longer than expected",
			[2]string{"True ClusterOperatorsUpdating: Cluster operators a, b, machine-config are updating versions", "False ClusterOperatorsUpdating: Error while reconciling 1.2.3: some cluster operators have not reached the new version"},
		},
		// What the rows leave open.
		{
			"degraded, and not for long", waiting{operators: map[string]string{"a": bad, "b": behind}, since: map[string]int{"a": 39}},
			"False", "True ClusterOperatorUpdating: Working towards 1.2.3: 2 of 4 done (50% complete), waiting up to 40 minutes on a, waiting on b",
			[2]string{"True MultipleErrors: Multiple errors are preventing progress:|* Cluster operator a is degraded" + because + "|* Cluster operator b is updating versions", "False MultipleErrors: Error while reconciling 1.2.3: several errors, some about a, b"},
		},
		{
			"degraded for long, and another not for long", waiting{operators: map[string]string{"a": bad, "b": bad}, since: map[string]int{"a": 40, "b": 39}},
			"True ClusterOperatorsDegraded: Cluster operators a, b are degraded",
			"True ClusterOperatorsDegraded: Unable to apply 1.2.3: wait has exceeded 40 minutes for these operators: a",
			[2]string{"", "False ClusterOperatorsDegraded: Error while reconciling 1.2.3: some cluster operators are degraded"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(mode cvo.Mode, kind, want string) {
				if got := said(c.world.decide(t, mode), kind); got != want {
					t.Errorf("%s: %s\n%s, not\n%s", mode, kind, got, want)
				}
			}
			check(cvo.Updating, "Failing", c.failing)
			check(cvo.Updating, "Progressing", c.progressing)
			if c.steady[0] == "" {
				c.steady[0] = c.failing
			}
			check(cvo.Reconciling, "Failing", c.steady[0])
			check(cvo.Reconciling, "Progressing", c.steady[1])
		})
	}
}

// The row of Test_reconciliationIssueFromError. The list of errors between a
// kind and its operators, which the reference has, says nothing and is not here.
func TestExplain(t *testing.T) {
	const behind = "available=True degraded=False operator=0"
	world := waiting{operators: map[string]string{"etcd": behind, "kube-apiserver": behind}, since: map[string]int{"etcd": 5, "kube-apiserver": 7}}
	tree := func() string {
		state, w := world.build(t, cvo.Updating)
		text, err := json.MarshalIndent(cvo.Explain(state, w, after, nil), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const want = `{
 "message": "Cluster operators etcd, kube-apiserver are updating versions",
 "reason": "ClusterOperatorsUpdating",
 "effect": "None",
 "children": [
  {
   "message": "Cluster operator etcd is updating versions",
   "reason": "ClusterOperatorUpdating",
   "effect": "None",
   "manifest": {
    "originalFilename": "release-manifests/0000_10_etcd_99_clusteroperator.yaml",
    "group": "config.openshift.io",
    "kind": "ClusterOperator",
    "name": "etcd"
   },
   "transitionStart": "2026-05-01T14:55:00Z",
   "children": [
    {
     "message": "operator from 0 to 1.2.3"
    }
   ]
  },
  {
   "message": "Cluster operator kube-apiserver is updating versions",
   "reason": "ClusterOperatorUpdating",
   "effect": "None",
   "manifest": {
    "originalFilename": "release-manifests/0000_10_kube-apiserver_99_clusteroperator.yaml",
    "group": "config.openshift.io",
    "kind": "ClusterOperator",
    "name": "kube-apiserver"
   },
   "transitionStart": "2026-05-01T14:53:00Z",
   "children": [
    {
     "message": "operator from 0 to 1.2.3"
    }
   ]
  }
 ]
}`
	if got := tree(); got != want {
		t.Errorf("%s, not\n%s", got, want)
	}
	world.errors = []string{"it broke"}
	state, w := world.build(t, cvo.Updating)
	if i := cvo.Explain(state, w, after, nil); i.Reason != cvo.ReasonMultiple || len(i.Children) != 2 || i.Children[0].Message != "it broke" || i.Children[1].Reason != "ClusterOperatorsUpdating" {
		t.Errorf("with an error besides: %+v", i)
	}
	world = waiting{operators: map[string]string{"etcd": "available=True degraded=False operator=1.2.3"}}
	if got := tree(); got != "null" {
		t.Errorf("nothing is the matter: %s", got)
	}
}
