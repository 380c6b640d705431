package arch_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/quorum"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/extension"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// largeRelease is the installation of a release of many operators.
func largeRelease(t *testing.T, w *clockWorld) {
	const marks = "  annotations: {include.release.openshift.io/self-managed-high-availability: \"true\"}\n"
	files := fstest.MapFS{
		"manifests/README":                   {},
		"release-manifests/release-metadata": {Data: []byte(`{"kind":"cincinnati-metadata-v0","version":"4.18.0"}`)},
		"release-manifests/image-references": {Data: []byte(`{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"4.18.0"}}`)},
	}
	for i := range operatorsAtATime {
		name := fmt.Sprintf("component-%04d", i)
		files[fmt.Sprintf("release-manifests/0000_50_%s_01_deployment.yaml", name)] = &fstest.MapFile{Data: []byte("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: " + name + "\n  namespace: " + name + "\n" + marks)}
		files[fmt.Sprintf("release-manifests/0000_50_%s_02_clusteroperator.yaml", name)] = &fstest.MapFile{Data: []byte("apiVersion: config.openshift.io/v1\nkind: ClusterOperator\nmetadata:\n  name: " + name + "\n" + marks)}
	}
	p, err := payload.Load(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := cvo.NewMemBackend(&w.clock)
	b.SetRelease("r@one", p, true, 0)
	b.SetCluster("c", cvo.Spec{}, cvo.Release{Version: "4.18.0", Image: "r@one"})
	drive(t, w, "c", b, func(b fairlead.Backend[*cvo.World, cvo.Action], o *fairlead.RunnerOptions) (reconcile[cvo.State, cvo.Action], error) {
		return on(cvo.NewRunner(b, nil, o))
	})
}

// manyVoters is a control plane of many machines, none of which is guarded yet.
func manyVoters(t *testing.T, w *clockWorld) {
	machines := &lifecycle.MemBackend{Clock: &w.clock}
	b := &quorum.MemBackend{Machines: machines, Clock: &w.clock}
	for i := range voters {
		name := fmt.Sprintf("ip-10-0-%d-17.eu-west-1.compute.internal", i)
		node := fairlead.Node{ObjectMeta: object(name)}
		node.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue}}
		machines.PutNode(node)
		m := lifecycle.Machine{ObjectMeta: object(fmt.Sprintf("production-x7k2p-master-%d", i))}
		m.Labels = map[string]string{quorum.RoleLabel: "master"}
		m.Spec.ProviderSpec = json.RawMessage(`{}`)
		m.Status.NodeRef, m.Status.Phase = &lifecycle.NodeRef{Name: name}, lifecycle.PhaseRunning
		m.Status.Addresses = []lifecycle.NodeAddress{{Type: "InternalIP", Address: fmt.Sprint("10.0.0.", i)}}
		for _, err := range []error{machines.PutMachine(m), b.AddVoter(m.Name)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	drive(t, w, "etcd", b, func(b fairlead.Backend[*quorum.World, quorum.Action], o *fairlead.RunnerOptions) (reconcile[quorum.State, quorum.Action], error) {
		return on(quorum.NewRunner(b, nil, o))
	})
}

// manySubscriptions is a namespace that subscribes to many operators at a time, of whose
// bundles nothing is known but the version.
func manySubscriptions(t *testing.T, w *clockWorld) { subscribed(t, w, 0) }

// manyManifests is the same, with bundles of some objects each.
func manyManifests(t *testing.T, w *clockWorld) { subscribed(t, w, 8) }

func subscribed(t *testing.T, w *clockWorld, objects int) {
	var text strings.Builder
	var subscriptions []install.Subscription
	for i := range operatorsAtATime {
		name := fmt.Sprintf("operator-%04d", i)
		more := ""
		for k := range objects {
			manifest := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s-settings-%d"},"data":{"level":"info"}}`, name, k)
			if k == 0 {
				manifest = fmt.Sprintf(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"%s.v1"},"spec":{"version":"1.0.0","installModes":[{"type":"AllNamespaces","supported":true}],"install":{"strategy":"deployment","spec":{"deployments":[{"name":%q,"spec":{"template":{}}}]}}}}`, name, name)
			}
			more += fmt.Sprintf(`,{"type":"olm.bundle.object","value":{"data":%q}}`, base64.StdEncoding.EncodeToString([]byte(manifest)))
		}
		fmt.Fprintf(&text, `
{"schema":"olm.package","name":%[1]q,"defaultChannel":"stable"}
{"schema":"olm.channel","package":%[1]q,"name":"stable","entries":[{"name":"%[1]s.v1"}]}
{"schema":"olm.bundle","package":%[1]q,"name":"%[1]s.v1","image":"example.com/%[1]s:1","properties":[{"type":"olm.package","value":{"packageName":%[1]q,"version":"1.0.0"}}%[2]s]}
`, name, more)
		subscriptions = append(subscriptions, install.Subscription{Subscription: olm.Subscription{
			ObjectMeta: olm.ObjectMeta{Name: name}, Spec: olm.SubscriptionSpec{Package: name, InstallPlanApproval: olm.ApprovalAutomatic},
		}})
	}
	held, err := catalog.Open(t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(text.String())}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	sources := []olm.Source{{SourceKey: olm.SourceKey{Name: "example"}, Catalog: held}}
	resolver, err := olm.NewResolver(sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &install.MemBackend{Sources: sources}
	err = b.Edit("harbour", func(world *install.World) error {
		world.Groups, world.Subscriptions = make([]install.OperatorGroup, 1), subscriptions
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	drive(t, w, "harbour", b, func(b fairlead.Backend[*install.World, install.Action], o *fairlead.RunnerOptions) (reconcile[install.State, install.Action], error) {
		return on(install.NewRunner(b, resolver.Resolve, nil, o))
	})
}

// largePlan is a cluster in which many operators are to be updated, and nodes to be taken out
// of service.
func largePlan(t *testing.T, w *clockWorld) {
	all := &fairlead.MemCluster{Clock: &w.clock}
	releases := cvo.NewMemBackend(&w.clock)
	releases.SetCluster("c", cvo.Spec{}, cvo.Release{Version: "4.18.0", Image: "r@one"})
	nodes := &drain.MemBackend{Cluster: all}
	var goal plan.Goal
	for i := range nodesOfPool {
		n := fairlead.Node{ObjectMeta: object(fmt.Sprintf("ip-10-%d-%d-%d.ec2.internal", i/4096, i/256%16, i%256))}
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue, LastTransitionTime: noon.Add(-time.Hour)}}
		nodes.PutNode(n)
		if i < nodesOfPlan {
			goal.Nodes = append(goal.Nodes, n.Name)
		}
	}
	var operators []plan.Operator
	for i := range operatorsAtATime {
		name := fmt.Sprintf("operator-%04d", i)
		operators = append(operators, plan.Operator{
			Package: name, Namespace: name, Subscription: name, Channel: "stable", Installed: name + ".v1",
			Versions: []plan.OperatorVersion{{Name: name + ".v1", Version: "1.0.0"}, {Name: name + ".v2", Version: "2.0.0"}},
			Updates:  []plan.OperatorUpdate{{From: name + ".v1", To: name + ".v2"}},
		})
		goal.Operators = append(goal.Operators, plan.OperatorGoal{Package: name, Version: "2.0.0"})
	}
	b := &plan.MemBackend{Cluster: all, Releases: releases, Show: func(s *plan.Situation) {
		done := noon.Add(-time.Hour)
		s.Cluster.Status.Desired = cvo.Release{Version: "4.18.0", Image: "r@one"}
		s.Cluster.Status.History = []cvo.History{{State: cvo.Completed, Version: "4.18.0", Image: "r@one", StartedTime: done, CompletionTime: &done, Verified: true}}
		s.Operators, s.ClusterOperators, s.Moves, s.Risks, s.Pools, s.Members, s.Configs = operators, []cvo.ClusterOperator{}, []plan.Move{}, []plan.Risk{}, []cvo.Pool{}, []plan.Member{}, map[string]string{}
		s.Gates, s.Pods, s.Budgets = &cvo.AdminGates{}, []fairlead.Pod{}, []fairlead.PodDisruptionBudget{}
	}}
	b.Ask(goal, false)
	drive(t, w, "c", b, func(b fairlead.Backend[*plan.World, plan.Action], o *fairlead.RunnerOptions) (reconcile[plan.State, plan.Action], error) {
		return on(plan.NewRunner(b, &plan.Policy{GoUnseen: true}, o))
	})
}

// largeBundle is a cluster extension of many objects.
func largeBundle(t *testing.T, w *clockWorld) {
	objects := []json.RawMessage{json.RawMessage(`{"kind":"ClusterServiceVersion","metadata":{"name":"ferry.v1"},"spec":{"installModes":[{"type":"AllNamespaces","supported":true}],"install":{"spec":{"deployments":[{"name":"ferry","spec":{"template":{}}}]}}}}`)}
	for i := range objectsOfBundle {
		objects = append(objects, json.RawMessage(fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings-of-the-ferry-%04d"}}`, i)))
	}
	b := &extension.MemBackend{Bundles: map[string][]json.RawMessage{"ferry.v1": objects}}
	x := extension.ClusterExtension{ObjectMeta: object("ferry")}
	x.Spec = extension.Spec{Namespace: "harbour", Source: extension.SourceConfig{SourceType: "Catalog", Catalog: &extension.CatalogFilter{Package: "ferry"}}}
	b.PutExtension(x)
	resolve := func(context.Context, *extension.ClusterExtension) (*extension.Answer, error) {
		return &extension.Answer{Choice: &extension.Choice{BundleName: extension.BundleName{Name: "ferry.v1", Version: "1.0.0"}, Package: "ferry"}, Catalogs: 1}, nil
	}
	drive(t, w, "ferry", b, func(b fairlead.Backend[*extension.World, extension.Action], o *fairlead.RunnerOptions) (reconcile[extension.State, extension.Action], error) {
		return on(extension.NewRunner(b, resolve, nil, o))
	})
}
