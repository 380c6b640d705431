package plan_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// stage is one cluster on which the engines themselves carry a plan out: cvo applies
// releases, cvo/rollout takes nodes through their pools, lifecycle/drain empties them,
// and the plan's engine tells them what is wanted.
type stage struct {
	t        *testing.T
	r        *rand.Rand
	clock    *fairlead.ManualClock
	c        *cluster.Cluster
	seen     []fairlead.Node // as they were looked at last
	releases *cvo.MemBackend
	state    cvo.State
	outcomes []fairlead.Outcome
	pools    []cvo.Pool
	rollouts map[string]rollout.State
	drains   map[string]drain.Progress
	begun    map[string]time.Time // when nodes began to restart
	configs  map[string]string
	goal     plan.Goal
	policy   plan.Policy
	saved    plan.State
	faults   bool

	ready map[string]int           // replicas wanted, by app
	least map[string]int           // the fewest that were ready
	short map[string]time.Duration // how long there were fewer than wanted
	moved bool                     // what people were asked for is done
}

var stageReleases = []string{"4.18.1", "4.19.2", "4.20.3"}

func imageOf(version string) string {
	return "r@sha256:" + strings.Repeat(fmt.Sprint(minorOf(version)%10), 64)
}

func newStage(t *testing.T, seed uint64, faults bool) *stage {
	y := &stage{
		t: t, r: rand.New(rand.NewPCG(30, seed)), clock: new(fairlead.ManualClock), faults: faults, configs: map[string]string{},
		rollouts: map[string]rollout.State{}, drains: map[string]drain.Progress{}, begun: map[string]time.Time{},
		ready: map[string]int{"web": 4, "db": 1}, least: map[string]int{"web": 99, "db": 99}, short: map[string]time.Duration{},
	}
	y.clock.Set(time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC))
	y.c = cluster.New(y.clock, nil)
	y.releases = cvo.NewMemBackend(y.clock)
	y.releases.Operators["b"] = 20 * time.Minute
	for _, v := range stageReleases {
		y.releases.SetRelease(imageOf(v), stageRelease(t, v), true, time.Minute)
	}
	y.releases.SetCluster("version", cvo.Spec{ClusterID: "f0e1d2c3-b4a5-4968-8776-5a4b3c2d1e0f"}, cvo.Release{Version: stageReleases[0], Image: imageOf(stageReleases[0])})
	for name, size := range map[string]int{"master": 3, "worker": 4} {
		p := cvo.Pool{ObjectMeta: cvo.ObjectMeta{Name: name}}
		p.Spec.NodeSelector = &fairlead.LabelSelector{MatchLabels: map[string]string{"pool": name}}
		y.pools = append(y.pools, p)
		for i := range size {
			n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, i), Labels: map[string]string{"pool": name}}}
			n.Annotations = map[string]string{}
			for _, k := range []string{rollout.AnnotationCurrent, rollout.AnnotationDesired} {
				n.Annotations[k] = "rendered-" + name + "-" + stageReleases[0]
			}
			n.Annotations[rollout.AnnotationState] = rollout.StateDone
			n.Status.Allocatable = map[string]string{"cpu": "4", "memory": "16Gi", "pods": "100"}
			if name == "master" {
				n.Spec.Taints = []fairlead.Taint{{Key: "node-role.kubernetes.io/master", Effect: fairlead.NoSchedule}}
			}
			if err := y.c.Join(n); err != nil {
				t.Fatal(err)
			}
		}
	}
	slices.SortFunc(y.pools, func(a, b cvo.Pool) int { return strings.Compare(a.Name, b.Name) })
	for app, least := range map[string]int{"web": 3, "db": 1} {
		labels := map[string]string{"app": app}
		b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: app}}
		b.Spec.MinAvailable, b.Spec.Selector = &fairlead.IntOrString{Int: least}, &fairlead.LabelSelector{MatchLabels: labels}
		if _, err := cluster.Create(y.c, cluster.Budgets(), b); err != nil {
			t.Fatal(err)
		}
		y.c.AddWorkload(cluster.Workload{Namespace: "shop", Name: app, Replicas: y.ready[app], Labels: labels, Template: fairlead.PodSpec{
			Containers: []fairlead.Container{{Name: "c", Resources: fairlead.Resources{Requests: map[string]string{"cpu": "1"}}}},
		}})
	}
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

// situation is what is seen of the cluster.
func (y *stage) situation() plan.Situation {
	cv := y.releases.Version("version")
	w, err := y.releases.Observe(y.t.Context(), "version")
	if err != nil {
		y.t.Fatal(err)
	}
	if len(cv.Status.History) == 0 {
		cv.Status.Desired.Version = stageReleases[0]
	}
	return plan.Situation{
		At: y.clock.Now(), Cluster: &cv, ClusterOperators: w.Operators, Gates: &cvo.AdminGates{},
		Moves: []plan.Move{{From: "4.18.1", To: "4.19.2"}, {From: "4.19.2", To: "4.20.3"}},
		Pools: slices.Clone(y.pools), Nodes: cluster.List(y.c, cluster.Nodes()), Configs: y.configs,
		Pods: cluster.List(y.c, cluster.Pods()), Budgets: y.c.Measured(), Members: []plan.Member{}, Operators: []plan.Operator{},
	}
}

// fault draws whether something goes wrong, once in so many times.
func (y *stage) fault(n int) bool { return y.faults && y.r.IntN(n) == 0 }

// round lets all act once, and ten seconds pass.
func (y *stage) round() plan.Decision {
	y.c.Run()
	y.release()
	y.machineConfigs()
	y.agents()
	w := &plan.World{Situation: y.situation(), Goal: y.goal}
	if y.fault(60) {
		y.saved = plan.State{}
	}
	d := plan.Step(y.saved, w, y.clock.Now(), &y.policy)
	if !y.fault(40) { // else it dies before it saves
		y.saved = d.State
		for _, a := range d.Actions {
			if !y.fault(10) {
				y.do(a)
			}
		}
	}
	y.people(&d)
	for app, want := range y.ready {
		n := 0
		for _, p := range cluster.List(y.c, cluster.Pods()) {
			if p.Labels["app"] == app && p.Ready() && p.DeletionTimestamp == nil {
				n++
			}
		}
		y.least[app] = min(y.least[app], n)
		if n < want {
			y.short[app] += 10 * time.Second
		}
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

// machineConfigs gives pools what the release has, and is a pass of cvo/rollout.
func (y *stage) machineConfigs() {
	cv := y.releases.Version("version")
	if y.seen == nil || !y.fault(4) { // else what is seen is old
		y.seen = cluster.List(y.c, cluster.Nodes())
	}
	for i := range y.pools {
		p := &y.pools[i]
		if h := cv.Status.History; len(h) > 0 && h[0].State == cvo.Completed {
			p.Spec.Configuration.Name = "rendered-" + p.Name + "-" + h[0].Version
			y.configs[p.Spec.Configuration.Name] = h[0].Version
		}
		w := &rollout.World{Pool: *p}
		for _, n := range y.seen {
			if n.Labels["pool"] == p.Name {
				w.Nodes = append(w.Nodes, n)
			}
		}
		d := rollout.Step(y.rollouts[p.Name], w, y.clock.Now(), nil)
		y.rollouts[p.Name] = d.State
		for _, a := range d.Actions {
			y.nodeAction(p, a)
		}
	}
}

// edit changes a node; a call that fails, or that somebody else was quicker than,
// changes nothing.
func (y *stage) edit(name string, change func(*fairlead.Node) bool) {
	n, ok := cluster.Get(y.c, cluster.Nodes(), name)
	n.Annotations = maps.Clone(n.Annotations)
	if ok && change(&n) && !y.fault(20) {
		_, _ = cluster.Update(y.c, cluster.Nodes(), n)
	}
}

func (y *stage) nodeAction(p *cvo.Pool, action rollout.Action) {
	change := func(node, revision string, do func(n *fairlead.Node)) {
		y.edit(node, func(n *fairlead.Node) bool {
			if n.ResourceVersion != revision {
				return false
			}
			do(n)
			return true
		})
	}
	switch a := action.(type) {
	case rollout.Begin:
		change(a.Node, a.Revision, func(n *fairlead.Node) { n.Annotations[rollout.AnnotationDesired] = a.Configuration.Name })
	case rollout.Cordon:
		change(a.Node, a.Revision, func(n *fairlead.Node) { n.Spec.Unschedulable = true })
	case rollout.Drain:
		change(a.Node, a.Revision, func(n *fairlead.Node) { n.Annotations[rollout.AnnotationDesiredDrain] = a.Wish })
	case rollout.Update:
		change(a.Node, a.Revision, func(n *fairlead.Node) { n.Annotations[rollout.AnnotationState] = rollout.StateWorking })
	case rollout.Uncordon:
		change(a.Node, a.Revision, func(n *fairlead.Node) {
			n.Spec.Unschedulable = false
			n.Annotations[rollout.AnnotationDesiredDrain], n.Annotations[rollout.AnnotationLastDrain] = a.Wish, a.Wish
		})
	case rollout.Report:
		p.Status = a.Status
	}
}

// agents drain nodes by lifecycle/drain where that is asked for, and restart them.
func (y *stage) agents() {
	for _, n := range cluster.List(y.c, cluster.Nodes()) {
		wish := n.Annotations[rollout.AnnotationDesiredDrain]
		set := func(pairs ...string) {
			y.edit(n.Name, func(n *fairlead.Node) bool {
				for i := 0; i < len(pairs); i += 2 {
					n.Annotations[pairs[i]] = pairs[i+1]
				}
				return true
			})
		}
		switch {
		case strings.HasPrefix(wish, "drain-") && n.Annotations[rollout.AnnotationLastDrain] != wish:
			var pods []fairlead.Pod
			for _, p := range cluster.List(y.c, cluster.Pods()) {
				if p.Spec.NodeName == n.Name {
					pods = append(pods, p)
				}
			}
			d := drain.Pods(y.drains[n.Name], &drain.View{Node: &n, Pods: pods, Budgets: y.c.Measured()}, nil, y.clock.Now(), &y.policy.Drain)
			y.drains[n.Name] = d.Progress
			for _, a := range d.Actions {
				if e, ok := a.(drain.Evict); ok && !y.fault(20) {
					_, _ = y.c.EndPod(e.Namespace, e.Name, e.UID, e.GracePeriodSeconds, true) // a budget may refuse
				}
			}
			if d.Done {
				delete(y.drains, n.Name)
				set(rollout.AnnotationLastDrain, wish)
			}
		case n.Annotations[rollout.AnnotationState] == rollout.StateWorking:
			if y.begun[n.Name].IsZero() {
				y.begun[n.Name] = y.clock.Now()
			}
			if y.clock.Now().Sub(y.begun[n.Name]) >= 8*time.Minute {
				set(rollout.AnnotationState, rollout.StateDone, rollout.AnnotationCurrent, n.Annotations[rollout.AnnotationDesired])
			}
		default:
			delete(y.begun, n.Name)
		}
	}
}

// do carries out what the plan asks for.
func (y *stage) do(action plan.Action) {
	switch a := action.(type) {
	case plan.SetRelease:
		cv := y.releases.Version("version")
		spec := cv.Spec
		spec.DesiredUpdate = &cvo.Update{Version: a.Release, Image: imageOf(a.Release)}
		y.releases.SetCluster("version", spec, cvo.Release{Version: stageReleases[0], Image: imageOf(stageReleases[0])})
	case plan.SetPaused:
		for i := range y.pools {
			if y.pools[i].Name == a.Pool {
				y.pools[i].Spec.Paused = a.Paused
			}
		}
	default:
		y.t.Fatalf("nobody has asked for %s", a)
	}
}

// people change a budget when they are told to.
func (y *stage) people(d *plan.Decision) {
	for _, b := range d.Blocked {
		if b.Reason != plan.ReasonPeople || y.moved || len(d.State.Steps) == 0 || d.State.Steps[0].Subject != "shop/db" {
			continue
		}
		budget, _ := cluster.Get(y.c, cluster.Budgets(), "shop/db")
		budget.Spec.MinAvailable, budget.Spec.MaxUnavailable = nil, &fairlead.IntOrString{Int: 1}
		if _, err := cluster.Update(y.c, cluster.Budgets(), budget); err != nil {
			y.t.Fatal(err)
		}
		y.moved = true
	}
}
