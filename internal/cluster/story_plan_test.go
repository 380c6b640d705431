package cluster_test

import (
	"errors"
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
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// The releases of a story, and the name of the users who request nodes.
const (
	oldRelease = "4.18.1"
	newRelease = "4.19.2"
	people     = "maintenance"
)

// plain returns the nodes without a machine. The plan takes the last one out of
// service.
func plain() []string { return []string{"p0", "p1"} }

func retired() string { return plain()[1] }

// rendered returns the name of the nodes' configuration for a release.
func rendered(release string) string { return "rendered-" + release }

func storyImage(release string) string {
	return "r@sha256:" + strings.Repeat(release[len(release)-1:], 64)
}

// storyReleases returns releases with one operator, whose pods run on the nodes.
func storyReleases(t *testing.T) map[string]*payload.Payload {
	const marks = "  annotations: {include.release.openshift.io/self-managed-high-availability: \"true\"}\n"
	all := map[string]*payload.Payload{}
	for _, v := range []string{oldRelease, newRelease} {
		p, err := payload.Load(fstest.MapFS{
			"manifests/README":                   {Data: []byte("none")},
			"release-manifests/release-metadata": {Data: fmt.Appendf(nil, `{"kind":"cincinnati-metadata-v0","version":%q}`, v)},
			"release-manifests/image-references": {Data: fmt.Appendf(nil, `{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":%q}}`, v)},
			"release-manifests/0000_20_b_50_deployment.yaml": {Data: []byte("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: b\n  namespace: openshift-b\n" + marks +
				"spec:\n  replicas: 2\n  template:\n    metadata: {labels: {app: b, version: " + v + "}}\n    spec: {containers: [{name: b, resources: {requests: {cpu: \"1\"}}}]}\n")},
			"release-manifests/0000_20_b_99_clusteroperator.yaml": {Data: []byte("apiVersion: config.openshift.io/v1\nkind: ClusterOperator\nmetadata:\n  name: b\n" + marks +
				"status: {versions: [{name: operator, version: " + v + "}]}\n")},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		all[v] = p
	}
	return all
}

// release adds the engines for the release, which is the old one at first, and
// for a plan.
func (y *story) release(shared *fairlead.MemCluster, releases map[string]*payload.Payload) {
	y.releases = cvo.NewMemBackend(y.Clock)
	y.releases.Cluster = shared
	y.releases.Operators["b"] = 2 * time.Minute
	for v, p := range releases {
		y.releases.SetRelease(storyImage(v), p, true, time.Minute)
	}
	y.releases.SetCluster("version", cvo.Spec{ClusterID: "f0e1d2c3-b4a5-4968-8776-5a4b3c2d1e0f"}, cvo.Release{Version: oldRelease, Image: storyImage(oldRelease)})
	y.plans = &plan.MemBackend{Cluster: shared, Releases: y.releases, Show: func(s *plan.Situation) {
		if len(s.Cluster.Status.History) == 0 {
			s.Cluster.Status.Desired.Version = oldRelease
		}
		s.Moves = []plan.Move{{From: oldRelease, To: newRelease}}
		s.Configs = map[string]string{rendered(oldRelease): oldRelease, rendered(newRelease): newRelease}
		s.Gates, s.Members, s.Operators = &cvo.AdminGates{}, []plan.Member{}, []plan.Operator{}
	}}
	add(y, "release", "version", y.releases, func(s cvo.State, w *cvo.World, o []fairlead.Outcome, now time.Time) (cvo.Decision, error) {
		w.Outcomes = o
		return cvo.Step(s, w, now, nil), nil
	})
	add(y, "plan", "version", y.plans, func(s plan.State, w *plan.World, o []fairlead.Outcome, now time.Time) (plan.Decision, error) {
		w.Outcomes = o
		return plan.Step(s, w, now, &plan.Policy{GoUnseen: true}), nil
	})
}

// aim requests a plan that updates the cluster to the new release and takes a node out
// of service.
func (y *story) aim() {
	y.plans.Ask(plan.Goal{Release: newRelease, Nodes: []string{retired()}}, false)
}

// configure gives the pool the configuration of the release that the cluster
// runs.
func (y *story) configure() error {
	h := y.releases.Version("version").Status.History
	if len(h) == 0 || h[0].State != cvo.Completed || y.config == rendered(h[0].Version) {
		return nil
	}
	y.config = rendered(h[0].Version)
	return y.pools.Edit(rollout.PoolWorker, func(w *rollout.World) error {
		w.Pool.Spec.Configuration.Name = y.config
		return nil
	})
}

// ask makes users request a node for maintenance or a reboot, one at a time.
func (y *story) ask(node string) {
	for _, name := range y.names() {
		if y.request(name) != nil {
			return
		}
	}
	purpose := drain.Maintenance
	if y.IntN(2) == 0 {
		purpose = drain.Reboot
	}
	y.Note("people ask for node %s: %s", node, purpose)
	y.Reach("node asked for")
	y.requests.PutRequest(node, drain.Request{Name: people, Requester: people, Purpose: purpose})
}

// names returns the names of the nodes.
func (y *story) names() (names []string) {
	y.all.Lock()
	defer y.all.Unlock()
	for _, n := range cluster.Refs(y.all, cluster.Nodes()) {
		names = append(names, n.Name)
	}
	return names
}

// request returns the users' request for a node, nil if there is none.
func (y *story) request(node string) *drain.Request {
	for _, r := range y.requests.Requests(node) {
		if r.Name == people {
			return &r
		}
	}
	return nil
}

// giveBack makes users do what they requested nodes for, and then withdraw their
// requests; at the latest when end is set.
func (y *story) giveBack(end bool) {
	for _, name := range y.names() {
		r := y.request(name)
		if r == nil {
			continue
		}
		switch {
		case r.Status.Phase == drain.PhaseOver:
			y.requests.RemoveRequest(name, people)
		case r.Purpose == drain.Reboot && r.Status.Phase == drain.PhaseDrained:
			y.Reach("node booted")
			y.requests.Boot(name)
		case !r.Cancelled && (r.Status.Phase == drain.PhaseDrained || end || y.IntN(4) == 0):
			y.Note("people do not need node %s any more", name)
			r.Cancelled = true
			y.requests.PutRequest(name, *r)
		}
	}
}

// reached reports what the plan and the requests have not achieved.
func (y *story) reached() error {
	var errs []error
	for _, n := range y.pools.World(rollout.PoolWorker).Nodes {
		out := n.Name == retired()
		if n.Annotations[rollout.AnnotationCurrent] != rendered(newRelease) || n.Spec.Unschedulable != out {
			errs = append(errs, fmt.Errorf("node %s runs %s, and %s is wanted (unschedulable: %v)", n.Name, n.Annotations[rollout.AnnotationCurrent], rendered(newRelease), n.Spec.Unschedulable))
		}
		for _, r := range y.requests.Requests(n.Name) {
			if r.Name == people || r.Status.Phase != drain.PhaseDrained {
				errs = append(errs, fmt.Errorf("request %s for node %s: %s", r.Name, n.Name, r.Status.Phase))
			}
		}
		if pods := y.machines.PodsOn(n.Name); out && len(pods) > 0 {
			errs = append(errs, fmt.Errorf("pod %s runs on node %s, which is to be out of service", pods[0].Name, n.Name))
		}
	}
	if h := y.releases.Version("version").Status.History; len(h) == 0 || h[0].Version != newRelease || h[0].State != cvo.Completed {
		errs = append(errs, fmt.Errorf("the cluster does not run %s: %+v", newRelease, h))
	}
	return errors.Join(errs...)
}
