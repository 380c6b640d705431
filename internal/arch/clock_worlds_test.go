package arch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/quorum"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/extension"
	"github.com/fairlead/fairlead/solver/olm/install"
	"github.com/fairlead/fairlead/taints/eviction"
)

// clockTrials are the worlds of TestClock.
func clockTrials() []clockTrial {
	return []clockTrial{
		{name: "lifecycle", open: machineWorld(false), backoff: 30 * time.Second, rest: machineWorld(true), interval: 5 * time.Minute,
			deadline: machineWorld(false), missed: "instance"},
		{name: "drain", open: drainWorld, backoff: time.Minute, rest: drainWorld, interval: 6 * time.Hour, deadline: drainWorld, missed: "uncordon", instant: true},
		{name: "quorum", open: quorumWorld, backoff: 30 * time.Second, rest: quorumWorld, interval: time.Minute},
		{name: "eviction", open: evictionWorld(0), backoff: 5 * time.Minute, rest: evictionWorld(3600), interval: time.Hour, deadline: evictionWorld(3600), missed: "evict ns/p"},
		{name: "zones", open: zoneWorld, backoff: 5 * time.Minute, rest: zoneWorld, interval: 10 * time.Second},
		{name: "cvo", open: clusterWorld(0), backoff: 10 * time.Second, rest: clusterWorld(0), interval: 3 * time.Minute,
			deadline: clusterWorld(1000 * time.Hour), missed: "could not be retrieved"},
		{name: "rollout", open: poolWorld, backoff: 5 * time.Second, rest: poolWorld, interval: time.Hour, deadline: poolWorld, missed: "which is slow"},
		{name: "extension", open: extensionWorld, backoff: time.Second, rest: extensionWorld, interval: 10 * time.Minute, deadline: extensionWorld, missed: "has not rolled out"},
		{name: "install", open: namespaceWorld, backoff: time.Second, rest: namespaceWorld, interval: 5 * time.Minute, deadline: namespaceWorld, missed: "Failed"},
	}
}

// on returns the Reconcile method of a runner, for drive.
func on[S any, A fairlead.Action](r interface {
	Reconcile(context.Context, string) (fairlead.Decision[S, A], error)
}, err error) (reconcile[S, A], error) {
	if err != nil {
		return nil, err
	}
	return r.Reconcile, nil
}

func meta(name string) fairlead.ObjectMeta {
	return fairlead.ObjectMeta{Namespace: "ns", Name: name, UID: name, CreationTimestamp: noon.Add(-time.Hour)}
}

func object(name string) fairlead.ObjectMeta {
	m := meta(name)
	m.Namespace = ""
	return m
}

// guarded returns a pod on node n, and a budget that never allows its eviction.
func guarded() (fairlead.Pod, fairlead.PodDisruptionBudget) {
	pod := fairlead.Pod{ObjectMeta: meta("p")}
	pod.Labels = map[string]string{"app": "p"}
	pod.Spec.NodeName, pod.Status.Phase = "n", fairlead.PodRunning
	pod.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
	budget := fairlead.PodDisruptionBudget{ObjectMeta: meta("b")}
	budget.Spec.Selector = &fairlead.LabelSelector{MatchLabels: pod.Labels}
	budget.Spec.MaxUnavailable = &fairlead.IntOrString{}
	return pod, budget
}

// machineWorld deletes a machine whose pod cannot be evicted, with a drain timeout
// of an hour. If hooked, a pre-drain hook blocks the deletion before that.
func machineWorld(hooked bool) func(*testing.T, *clockWorld) {
	return func(t *testing.T, w *clockWorld) {
		b := &lifecycle.MemBackend{Clock: &w.clock}
		node := fairlead.Node{ObjectMeta: object("n")}
		node.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue}}
		b.PutNode(node)
		pod, budget := guarded()
		b.PutPod(pod)
		m := lifecycle.Machine{ObjectMeta: object("m")}
		m.Spec.ProviderSpec = json.RawMessage(`{}`)
		m.Status.NodeRef, m.Status.Phase = &lifecycle.NodeRef{Name: "n"}, lifecycle.PhaseRunning
		if hooked {
			m.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: "storage", Owner: "somebody"}}
		}
		for _, err := range []error{b.PutBudget(budget), b.PutMachine(m), b.Delete("m")} {
			if err != nil {
				t.Fatal(err)
			}
		}
		policy := &lifecycle.Policy{DrainTimeout: time.Hour}
		drive(t, w, "m", b, func(b fairlead.Backend[*lifecycle.World, lifecycle.Action], o *fairlead.RunnerOptions) (reconcile[lifecycle.State, lifecycle.Action], error) {
			return on(lifecycle.NewRunner(b, policy, o))
		})
	}
}

// drainWorld is a node that a request takes out of service until 18:00.
func drainWorld(t *testing.T, w *clockWorld) {
	b := &drain.MemBackend{Clock: &w.clock}
	pod, budget := guarded()
	b.PutNode(fairlead.Node{ObjectMeta: object("n")})
	b.PutPod(pod)
	if err := b.PutBudget(budget); err != nil {
		t.Fatal(err)
	}
	b.PutRequest("n", drain.Request{Name: "r", UID: "r", Requester: "jane", Purpose: drain.Maintenance, Asked: noon, Until: noon.Add(6 * time.Hour)})
	drive(t, w, "n", b, func(b fairlead.Backend[*drain.World, drain.Action], o *fairlead.RunnerOptions) (reconcile[drain.State, drain.Action], error) {
		return on(drain.NewRunner(b, nil, o))
	})
}

// quorumWorld is a control plane of three machines that have no hooks yet.
func quorumWorld(t *testing.T, w *clockWorld) {
	machines := &lifecycle.MemBackend{Clock: &w.clock}
	b := &quorum.MemBackend{Machines: machines, Clock: &w.clock}
	for i := range 3 {
		name := fmt.Sprint("n", i)
		node := fairlead.Node{ObjectMeta: object(name)}
		node.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue}}
		machines.PutNode(node)
		m := lifecycle.Machine{ObjectMeta: object("m" + name)}
		m.Labels = map[string]string{quorum.RoleLabel: "master"}
		m.Spec.ProviderSpec = json.RawMessage(`{}`)
		m.Status.NodeRef, m.Status.Phase = &lifecycle.NodeRef{Name: name}, lifecycle.PhaseRunning
		m.Status.Addresses = []lifecycle.NodeAddress{{Type: "InternalIP", Address: fmt.Sprint("10.0.0.", i)}}
		if err := machines.PutMachine(m); err != nil {
			t.Fatal(err)
		}
		if err := b.AddVoter(m.Name); err != nil {
			t.Fatal(err)
		}
	}
	drive(t, w, "etcd", b, func(b fairlead.Backend[*quorum.World, quorum.Action], o *fairlead.RunnerOptions) (reconcile[quorum.State, quorum.Action], error) {
		return on(quorum.NewRunner(b, nil, o))
	})
}

// evictionWorld is a node with a taint that its pod tolerates for the given
// number of seconds.
func evictionWorld(seconds int64) func(*testing.T, *clockWorld) {
	return func(t *testing.T, w *clockWorld) {
		b := &eviction.MemBackend{Clock: &w.clock}
		node := fairlead.Node{ObjectMeta: object("n")}
		node.Spec.Taints = []fairlead.Taint{{Key: "x", Effect: fairlead.NoExecute}}
		b.PutNode(node)
		pod, _ := guarded()
		pod.Spec.Tolerations = []fairlead.Toleration{{Key: "x", Operator: fairlead.TolerationExists, TolerationSeconds: &seconds}}
		b.PutPod(pod)
		drive(t, w, "n", b, func(b fairlead.Backend[*eviction.World, eviction.Action], o *fairlead.RunnerOptions) (reconcile[eviction.State, eviction.Action], error) {
			return on(eviction.NewRunner(b, nil, o))
		})
	}
}

// zones adds ObserveZones to a backend.
type zones struct {
	fairlead.Backend[*eviction.World, eviction.Action]
	all func(context.Context) (*eviction.ZoneWorld, error)
}

func (z zones) ObserveZones(ctx context.Context) (*eviction.ZoneWorld, error) { return z.all(ctx) }

// zoneWorld is a zone with so many nodes that are not ready that evictions wait
// for tokens.
func zoneWorld(t *testing.T, w *clockWorld) {
	b := &eviction.MemBackend{Clock: &w.clock}
	for i := range 60 {
		node := fairlead.Node{ObjectMeta: object(fmt.Sprint("n", i))}
		node.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue, LastTransitionTime: noon.Add(-time.Hour)}}
		if i < 20 {
			node.Status.Conditions[0].Status = fairlead.ConditionFalse
		}
		b.PutNode(node)
	}
	policy := &eviction.Policy{NodeLifecycle: &eviction.NodeLifecycle{}}
	drive(t, w, eviction.AllZones, b, func(refuse fairlead.Backend[*eviction.World, eviction.Action], o *fairlead.RunnerOptions) (reconcile[eviction.ZoneState, eviction.Action], error) {
		r, err := eviction.NewRunner(zones{refuse, b.ObserveZones}, policy, o)
		return func(ctx context.Context, _ string) (eviction.ZoneDecision, error) { return r.ReconcileZones(ctx) }, err
	})
}

// clusterWorld is a cluster to be updated to a release that takes the given
// time to retrieve.
func clusterWorld(takes time.Duration) func(*testing.T, *clockWorld) {
	return func(t *testing.T, w *clockWorld) {
		b := cvo.NewMemBackend(&w.clock)
		for _, version := range []string{"4.18.0", "4.18.1"} {
			p, err := payload.Load(fstest.MapFS{
				"manifests/README":                   {},
				"release-manifests/release-metadata": {Data: fmt.Appendf(nil, `{"kind":"cincinnati-metadata-v0","version":%q}`, version)},
				"release-manifests/image-references": {Data: fmt.Appendf(nil, `{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":%q}}`, version)},
				"release-manifests/0000_10_a_01_configmap.yaml": {Data: fmt.Appendf(nil,
					"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: a\n  annotations: {include.release.openshift.io/self-managed-high-availability: \"true\"}\ndata: {release: %s}\n", version)},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			b.SetRelease("r@"+version, p, true, map[bool]time.Duration{version == "4.18.1": takes}[true])
		}
		own := cvo.Release{Version: "4.18.0", Image: "r@4.18.0"}
		b.SetCluster("c", cvo.Spec{DesiredUpdate: &cvo.Update{Version: "4.18.1", Image: "r@4.18.1"}}, own)
		drive(t, w, "c", b, func(b fairlead.Backend[*cvo.World, cvo.Action], o *fairlead.RunnerOptions) (reconcile[cvo.State, cvo.Action], error) {
			return on(cvo.NewRunner(b, nil, o))
		})
	}
}

// poolWorld is a pool of nodes whose drains do not end.
func poolWorld(t *testing.T, w *clockWorld) {
	b := &rollout.MemBackend{Clock: &w.clock, DrainTime: func(string) time.Duration { return 10_000 * time.Hour }}
	err := b.Edit("worker", func(world *rollout.World) error {
		world.Pool.Name, world.Pool.Spec.Configuration.Name = "worker", "two"
		for _, name := range []string{"a", "b"} {
			n := rollout.Node{ObjectMeta: object(name)}
			n.Annotations = map[string]string{rollout.AnnotationCurrent: "one", rollout.AnnotationDesired: "one", rollout.AnnotationState: rollout.StateDone}
			world.Nodes = append(world.Nodes, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	drive(t, w, "worker", b, func(b fairlead.Backend[*rollout.World, rollout.Action], o *fairlead.RunnerOptions) (reconcile[rollout.State, rollout.Action], error) {
		return on(rollout.NewRunner(b, nil, o))
	})
}

// namespaceWorld is a namespace with a subscription, where deployments do not
// become ready.
func namespaceWorld(t *testing.T, w *clockWorld) {
	held, err := catalog.Open(t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(`
{"schema":"olm.package","name":"ferry","defaultChannel":"stable"}
{"schema":"olm.channel","package":"ferry","name":"stable","entries":[{"name":"ferry.v1"}]}
{"schema":"olm.bundle","package":"ferry","name":"ferry.v1","image":"example.com/ferry:1","properties":[{"type":"olm.package","value":{"packageName":"ferry","version":"1.0.0"}}]}
`)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	sources := []olm.Source{{SourceKey: olm.SourceKey{Name: "example"}, Catalog: held}}
	resolver, err := olm.NewResolver(sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &install.MemBackend{Sources: sources, Health: func(string, string) (install.Health, string) { return install.Progressing, "pulling" }}
	err = b.Edit("harbour", func(world *install.World) error {
		world.Groups = make([]install.OperatorGroup, 1)
		world.Subscriptions = []install.Subscription{{Subscription: olm.Subscription{
			ObjectMeta: olm.ObjectMeta{Name: "ferry"}, Spec: olm.SubscriptionSpec{Package: "ferry", InstallPlanApproval: olm.ApprovalAutomatic},
		}}}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	drive(t, w, "harbour", b, func(b fairlead.Backend[*install.World, install.Action], o *fairlead.RunnerOptions) (reconcile[install.State, install.Action], error) {
		return on(install.NewRunner(b, resolver.Resolve, nil, o))
	})
}

// extensionWorld is a cluster extension whose deployment does not become ready.
func extensionWorld(t *testing.T, w *clockWorld) {
	csv := json.RawMessage(`{"kind":"ClusterServiceVersion","metadata":{"name":"ferry.v1"},"spec":{"installModes":[{"type":"AllNamespaces","supported":true}],"install":{"spec":{"deployments":[{"name":"ferry","spec":{"template":{}}}]}}}}`)
	b := &extension.MemBackend{Bundles: map[string][]json.RawMessage{"ferry.v1": {csv}}, Health: func(extension.Ref) (bool, string) { return false, "pulling" }}
	x := extension.ClusterExtension{ObjectMeta: object("ferry")}
	x.Spec = extension.Spec{Namespace: "harbour", ProgressLimit: 10, Source: extension.SourceConfig{SourceType: "Catalog", Catalog: &extension.CatalogFilter{Package: "ferry"}}}
	b.PutExtension(x)
	resolve := func(context.Context, *extension.ClusterExtension) (*extension.Answer, error) {
		return &extension.Answer{Choice: &extension.Choice{BundleName: extension.BundleName{Name: "ferry.v1", Version: "1.0.0"}, Package: "ferry"}, Catalogs: 1}, nil
	}
	drive(t, w, "ferry", b, func(b fairlead.Backend[*extension.World, extension.Action], o *fairlead.RunnerOptions) (reconcile[extension.State, extension.Action], error) {
		return on(extension.NewRunner(b, resolve, nil, o))
	})
}
