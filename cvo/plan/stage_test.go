package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/cluster"
)

// stage is one cluster on which the engines carry a plan out, each by its view of it:
// cvo applies releases, cvo/rollout takes nodes through their pools, and the plan's engine
// tells them what is wanted.
type stage struct {
	t        *testing.T
	clock    *fairlead.ManualClock
	c        *cluster.Cluster
	releases *cvo.MemBackend
	state    cvo.State
	outcomes []fairlead.Outcome
	pools    *rollout.MemBackend
	rollouts map[string]rollout.State
	configs  map[string]string
	backend  *plan.MemBackend
	goal     plan.Goal
	policy   plan.Policy
	saved    plan.State
}

var stageReleases = []string{"4.18.1", "4.19.2", "4.20.3"}

func imageOf(version string) string {
	return "r@sha256:" + strings.Repeat(fmt.Sprint(minorOf(version)%10), 64)
}

func newStage(t *testing.T) *stage {
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC))
	shared := &fairlead.MemCluster{Clock: clock}
	y := &stage{
		t: t, clock: clock, configs: map[string]string{},
		c: cluster.Of(shared, nil, nil), releases: cvo.NewMemBackend(clock), rollouts: map[string]rollout.State{},
		pools: &rollout.MemBackend{Cluster: shared, UpdateTime: func(string, string) (time.Duration, error) { return 8 * time.Minute, nil }},
	}
	y.releases.Cluster = shared
	y.releases.Operators["b"] = 20 * time.Minute
	for _, v := range stageReleases {
		y.releases.SetRelease(imageOf(v), stageRelease(t, v), true, time.Minute)
	}
	y.releases.SetCluster("version", cvo.Spec{ClusterID: "f0e1d2c3-b4a5-4968-8776-5a4b3c2d1e0f"}, cvo.Release{Version: stageReleases[0], Image: imageOf(stageReleases[0])})
	y.backend = &plan.MemBackend{Cluster: shared, Releases: y.releases, Show: y.show, Others: func(a plan.Action) error {
		t.Errorf("nobody has asked for %s", a)
		return nil
	}}
	for name, size := range map[string]int{rollout.PoolMaster: 3, rollout.PoolWorker: 4} {
		for i := range size {
			n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, i), Labels: map[string]string{"pool": name}}}
			n.Annotations = map[string]string{}
			for _, k := range []string{rollout.AnnotationCurrent, rollout.AnnotationDesired} {
				n.Annotations[k] = "rendered-" + name + "-" + stageReleases[0]
			}
			n.Annotations[rollout.AnnotationState] = rollout.StateDone
			n.Status.Allocatable = map[string]string{"cpu": "4", "memory": "16Gi", "pods": "100"}
			if name == rollout.PoolMaster {
				n.Spec.Taints = []fairlead.Taint{{Key: "node-role.kubernetes.io/master", Effect: fairlead.NoSchedule}}
			}
			if err := y.c.Join(n); err != nil {
				t.Fatal(err)
			}
		}
		if err := y.pools.Edit(name, func(w *rollout.World) error {
			w.Pool.Spec.NodeSelector = &fairlead.LabelSelector{MatchLabels: map[string]string{"pool": name}}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	labels := map[string]string{"app": "web"}
	b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "web"}}
	b.Spec.MinAvailable, b.Spec.Selector = &fairlead.IntOrString{Int: 3}, &fairlead.LabelSelector{MatchLabels: labels}
	if _, err := cluster.Create(y.c, cluster.Budgets(), b); err != nil {
		t.Fatal(err)
	}
	y.c.AddWorkload(cluster.Workload{Namespace: "shop", Name: "web", Replicas: 4, Labels: labels, Template: fairlead.PodSpec{
		Containers: []fairlead.Container{{Name: "c", Resources: fairlead.Resources{Requests: map[string]string{"cpu": "1"}}}},
	}})
	return y
}

// stageRelease is a release with one operator.
func stageRelease(t *testing.T, version string) *payload.Payload {
	const marks = "  annotations: {include.release.openshift.io/self-managed-high-availability: \"true\"}\n"
	files := fstest.MapFS{
		"manifests/README":                   {Data: []byte("none")},
		"release-manifests/release-metadata": {Data: fmt.Appendf(nil, `{"kind":"cincinnati-metadata-v0","version":%q}`, version)},
		"release-manifests/image-references": {Data: fmt.Appendf(nil, `{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":%q}}`, version)},
		"release-manifests/0000_20_b_99_clusteroperator.yaml": {Data: []byte(
			"apiVersion: config.openshift.io/v1\nkind: ClusterOperator\nmetadata:\n  name: b\n" + marks + "status: {versions: [{name: operator, version: " + version + "}]}\n")},
	}
	p, err := payload.Load(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// show completes what is seen of the cluster.
func (y *stage) show(s *plan.Situation) {
	if len(s.Cluster.Status.History) == 0 {
		s.Cluster.Status.Desired.Version = stageReleases[0]
	}
	s.Moves = []plan.Move{{From: "4.18.1", To: "4.19.2"}, {From: "4.19.2", To: "4.20.3"}}
	s.Gates, s.Configs, s.Members, s.Operators = &cvo.AdminGates{}, y.configs, []plan.Member{}, []plan.Operator{}
}

// cluster lets all but the plan's engine act once.
func (y *stage) cluster() {
	y.release()
	for _, p := range y.pools.List() {
		y.rollout(p.Name)
	}
}

// round lets all act once, and ten seconds pass.
func (y *stage) round() plan.Decision {
	y.cluster()
	y.backend.Ask(y.goal, false)
	w, err := y.backend.Observe(y.t.Context(), "version")
	if err != nil {
		y.t.Fatal(err)
	}
	d := plan.Step(y.saved, w, y.clock.Now(), &y.policy)
	y.saved = d.State
	for _, a := range d.Actions {
		_ = y.backend.Apply(y.t.Context(), "version", a) // what fails is tried again
	}
	y.clock.Set(y.clock.Now().Add(10 * time.Second))
	return d
}

// release is a pass of cvo.
func (y *stage) release() {
	w, err := y.releases.Observe(y.t.Context(), "version")
	if err != nil {
		y.t.Fatal(err)
	}
	w.Outcomes = y.outcomes
	d := cvo.Step(y.state, w, y.clock.Now(), nil)
	y.state, y.outcomes = d.State, nil
	for _, a := range d.Actions {
		err := y.releases.Apply(y.t.Context(), "version", a)
		y.outcomes = append(y.outcomes, fairlead.OutcomeOf(a.Key(), err, y.clock.Now()))
	}
}

// rollout gives a pool what the release has, and is a pass of cvo/rollout.
func (y *stage) rollout(pool string) {
	if h := y.releases.Version("version").Status.History; len(h) > 0 && h[0].State == cvo.Completed {
		config := "rendered-" + pool + "-" + h[0].Version
		y.configs[config] = h[0].Version
		if err := y.pools.Edit(pool, func(w *rollout.World) error {
			w.Pool.Spec.Configuration.Name = config
			return nil
		}); err != nil {
			y.t.Fatal(err)
		}
	}
	w, err := y.pools.Observe(y.t.Context(), pool)
	if err != nil {
		return
	}
	d := rollout.Step(y.rollouts[pool], w, y.clock.Now(), nil)
	y.rollouts[pool] = d.State
	for _, a := range d.Actions {
		_ = y.pools.Apply(y.t.Context(), pool, a) // what fails is tried again
	}
}
