package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
	engine "github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/worlds"
	pools "github.com/fairlead/fairlead/examples/kubernetes/kube/rollout"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// world is a small cluster whose operators carry out requests.
type world struct {
	*testing.T
	client.Client
	clock  *fairlead.ManualClock
	store  fairlead.Store
	writes []string // the writes, except those of statuses
	told   int      // how many statuses were written
}

var (
	kindHealthCheck    = schema.GroupVersionKind{Group: "machine.openshift.io", Version: "v1beta1", Kind: "MachineHealthCheck"}
	kindInfrastructure = schema.GroupVersionKind{Group: "config.openshift.io", Version: "v1", Kind: "Infrastructure"}
)

// newWorld returns the small cluster, with some texts replaced and more
// objects.
func newWorld(t *testing.T, replace *strings.Replacer, more ...*unstructured.Unstructured) *world {
	t.Helper()
	w := &world{T: t, clock: new(fairlead.ManualClock), store: new(fairlead.MemStore)}
	w.clock.Set(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))
	text, err := os.ReadFile("../../../internal/situation/testdata/beside/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var objects []client.Object
	kinds := []schema.GroupVersionKind{Kind, kindInstallPlan, drain.Kind, {Group: "apps", Version: "v1", Kind: "ReplicaSet"}, {Group: "apps", Version: "v1", Kind: "StatefulSet"}, kindHealthCheck, kindInfrastructure}
	r := snapshot.Reader{Each: func(_ *snapshot.Ref, text []byte) {
		u := &unstructured.Unstructured{}
		objects = append(objects, u)
		if err := u.UnmarshalJSON(text); err != nil {
			t.Error(err)
		}
		kinds = append(kinds, u.GroupVersionKind())
	}}
	if err := r.Stream(strings.NewReader(replace.Replace(string(text))), "objects"); err != nil {
		t.Fatal(err)
	}
	for _, u := range more {
		objects = append(objects, u)
	}
	s := runtime.NewScheme()
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, k := range kinds {
		s.AddKnownTypeWithName(k, &unstructured.Unstructured{})
		s.AddKnownTypeWithName(k.GroupVersion().WithKind(k.Kind+"List"), &unstructured.UnstructuredList{})
		scope := meta.RESTScopeRoot
		if slices.Contains([]string{"Pod", "ConfigMap", "InstallPlan", "PodDisruptionBudget", "ReplicaSet", "StatefulSet", "Subscription", "ClusterServiceVersion", "PackageManifest", "MachineHealthCheck"}, k.Kind) {
			scope = meta.RESTScopeNamespace
		}
		mapper.Add(k, scope)
	}
	note := func(verb string, o client.Object) {
		w.writes = append(w.writes, strings.TrimSpace(fmt.Sprint(verb, " ", o.GetObjectKind().GroupVersionKind().Kind, " ", o.GetName())))
	}
	w.Client = fake.NewClientBuilder().WithScheme(s).WithRESTMapper(mapper).WithObjects(objects...).WithStatusSubresource(kube.Stub(Kind, "", "")).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			note("patch", o)
			return c.Patch(ctx, o, p, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			note("create", o)
			return c.Create(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			note("delete", o)
			return c.Delete(ctx, o, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			w.told++
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}).Build()
	return w
}

// clusterPlan returns a plan with a goal.
func clusterPlan(t *testing.T, goal engine.Goal) *unstructured.Unstructured {
	t.Helper()
	u, err := kube.Encode(map[string]any{"metadata": map[string]any{"name": Name}, "spec": Spec{Goal: goal}}, Kind.GroupVersion().String(), Kind.Kind)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// offers returns an update graph with two hops.
func offers(context.Context) (*graph.Graph, error) {
	g, found := graph.Parse([]byte(`{"version":1,"nodes":[{"version":"4.18.1","payload":"r@sha256:a"},{"version":"4.19.2","payload":"r@sha256:b"},{"version":"4.20.3","payload":"r@sha256:c"}],"edges":[[0,1],[1,2]]}`), nil)
	return g, found.Err()
}

// pass makes a pass with a newly started process.
func (w *world) pass() fairlead.Pass {
	w.Helper()
	c, err := newController(&Options{Store: w.store, Clock: w.clock, Client: w.Client, Graph: offers, Policy: &engine.Policy{GoUnseen: true}})
	if err != nil {
		w.Fatal(err)
	}
	return c.pass(w.Context(), Name)
}

func (w *world) get(gvk schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	w.Helper()
	u := kube.Stub(gvk, namespace, name)
	if err := w.Get(w.Context(), client.ObjectKeyFromObject(u), u); err != nil {
		w.Fatal(err)
	}
	return u
}

func (w *world) list(gvk schema.GroupVersionKind) []unstructured.Unstructured {
	w.Helper()
	all, err := (&kube.Objects{Client: w.Client}).List(w.Context(), gvk, "")
	if err != nil {
		w.Fatal(err)
	}
	return all
}

// update writes an object as another client, which is not recorded.
func (w *world) update(u *unstructured.Unstructured) {
	w.Helper()
	if err := w.Update(w.Context(), u); err != nil {
		w.Fatal(err)
	}
}

func set(u *unstructured.Unstructured, value any, path ...string) {
	if err := unstructured.SetNestedField(u.Object, value, path...); err != nil {
		panic(err)
	}
}

func text(u *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(u.Object, path...)
	return s
}

// edit changes a field of the plan's spec.
func (w *world) edit(value any, field string) {
	w.Helper()
	u := w.get(Kind, "", Name)
	set(u, value, "spec", field)
	w.update(u)
}

// others carries out the requests: the cluster-version operator updates the cluster,
// the machine-config operator restarts the nodes of pools that are not paused, the
// drain controller empties nodes.
func (w *world) others() {
	w.Helper()
	node := schema.GroupVersionKind{Version: "v1", Kind: "Node"}
	cv := w.get(kindVersion, "", clusterVersion)
	if want := text(cv, "spec", "desiredUpdate", "version"); want != "" && want != text(cv, "status", "desired", "version") {
		history, _, _ := unstructured.NestedSlice(cv.Object, "status", "history")
		at := w.clock.Now().Format(time.RFC3339)
		history = append([]any{map[string]any{"state": "Completed", "version": want, "image": "r@sha256:x", "startedTime": at, "completionTime": at, "verified": true}}, history...)
		set(cv, history, "status", "history")
		set(cv, want, "status", "desired", "version")
		w.update(cv)
		for _, pool := range w.list(pools.Kind) {
			name := "r-" + pool.GetName() + "-" + want
			mc := kube.Stub(schema.GroupVersionKind{Group: pools.Kind.Group, Version: "v1", Kind: "MachineConfig"}, "", name)
			mc.SetAnnotations(map[string]string{"machineconfiguration.openshift.io/release-image-version": want})
			if err := w.Client.(client.WithWatch).Create(w.Context(), mc); err != nil {
				w.Fatal(err)
			}
			w.writes = w.writes[:len(w.writes)-1] // not a write of the plan
			set(&pool, name, "spec", "configuration", "name")
			w.update(&pool)
		}
	}
	for _, pool := range w.list(pools.Kind) {
		config := text(&pool, "spec", "configuration", "name")
		if paused, _, _ := unstructured.NestedBool(pool.Object, "spec", "paused"); paused || config == text(&pool, "status", "configuration", "name") {
			continue
		}
		set(&pool, config, "status", "configuration", "name")
		w.update(&pool)
		for _, n := range w.list(node) {
			if n.GetLabels()["pool"] == pool.GetName() {
				n.SetAnnotations(map[string]string{rollout.AnnotationCurrent: config, rollout.AnnotationDesired: config, rollout.AnnotationState: rollout.StateDone})
				w.update(&n)
			}
		}
	}
	for _, r := range w.list(drain.Kind) {
		n := w.get(node, "", text(&r, "spec", "nodeName"))
		set(n, true, "spec", "unschedulable")
		w.update(n)
	}
}

func (w *world) plan() *ClusterPlan {
	w.Helper()
	p := new(ClusterPlan)
	if err := kube.Decode(w.get(Kind, "", Name), p); err != nil {
		w.Fatal(err)
	}
	return p
}

func (w *world) state(kind string) *fairlead.Condition {
	w.Helper()
	return fairlead.FindCondition(w.plan().Status.Conditions, kind)
}

// Two minor versions with paused workers, a budget that people must fix, a gate, and a
// node out of service, each pass by a newly started process: everything is requested
// once, the work for people is reported, and the status shows the steps as planned and
// as carried out. Then nothing is written. A node that is no longer named is returned
// to service.
func TestPlanIsCarriedOut(t *testing.T) {
	w := newWorld(t, strings.NewReplacer(
		"{minAvailable: 1, selector: {matchLabels: {app: db}}}\nstatus: {currentHealthy: 2, desiredHealthy: 1, disruptionsAllowed: 1,",
		"{minAvailable: 2, selector: {matchLabels: {app: db}}}\nstatus: {currentHealthy: 2, desiredHealthy: 2, disruptionsAllowed: 0,",
		"namespace: openshift-config-managed}, data: {}", "namespace: openshift-config-managed}, data: {ack-4.18-x-in-4.19: know that}",
	), clusterPlan(t, engine.Goal{Release: "4.20.3", PauseWorkers: true, Nodes: []string{"worker-2"}}))
	var waited []string
	for range 60 {
		if p := w.pass(); p.Err != nil {
			t.Fatal(p.Err)
		}
		c := w.state(Progressing)
		if done := w.state(Completed); done.Status == fairlead.ConditionTrue {
			break
		}
		if c.Reason == engine.ReasonPeople && !slices.Contains(waited, c.Message) {
			waited = append(waited, c.Message)
			b := w.get(schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"}, "shop", "db")
			set(b, int64(1), "status", "desiredHealthy")
			set(b, int64(1), "status", "disruptionsAllowed")
			if err := w.Status().Update(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			set(b, int64(1), "spec", "minAvailable")
			w.update(b)
		}
		w.clock.Set(w.clock.Now().Add(10 * time.Minute))
		w.others()
	}
	status := w.plan().Status
	if c := w.state(Completed); c.Status != fairlead.ConditionTrue || len(waited) != 1 || !strings.Contains(waited[0], "shop/db") {
		t.Fatalf("%+v\nwaited for people: %q", status.Conditions, waited)
	}
	want := []string{
		"patch ConfigMap admin-acks", "patch MachineConfigPool worker", "patch ClusterVersion version", "patch ClusterVersion version",
		"patch MachineConfigPool worker", "create DrainRequest cluster-plan-worker-2",
	}
	if !slices.Equal(w.writes, want) {
		t.Errorf("written:\n%s\nwant:\n%s", strings.Join(w.writes, "\n"), strings.Join(want, "\n"))
	}
	for _, s := range status.Steps {
		if s.PlannedBegin == nil || s.Began == nil || s.Ended == nil || s.Ended.Before(*s.Began) {
			t.Errorf("%s: planned %v, began %v, ended %v", s.Do, s.PlannedBegin, s.Began, s.Ended)
		}
	}
	if got := status.Played().String(); strings.Count(got, "\n") != len(status.Steps)+2 || !strings.HasPrefix(got, "finished: planned ") {
		t.Errorf("%d steps:\n%s", len(status.Steps), got)
	}
	told := w.told
	for range 3 {
		w.clock.Set(w.clock.Now().Add(time.Hour))
		if p := w.pass(); p.Err != nil || w.told != told || len(w.writes) != len(want) {
			t.Errorf("at rest: %v, %d statuses, %q", p.Err, w.told-told, w.writes[len(want):])
		}
	}
	w.edit(map[string]any{"release": "4.20.3"}, "goal")
	if p := w.pass(); p.Err != nil || w.writes[len(w.writes)-1] != "delete DrainRequest cluster-plan-worker-2" {
		t.Errorf("given back: %v, %q", p.Err, w.writes)
	}
	if s := w.plan().Status; len(s.Steps) > 0 || !isTrue(s.Conditions, Completed) {
		t.Errorf("another goal, which is met: %+v", s)
	}
}

// A paused plan begins nothing, an impossible plan is reported with what helps, and a
// deleted plan returns its nodes to service.
func TestPlanThatWaits(t *testing.T) {
	w := newWorld(t, strings.NewReplacer(), clusterPlan(t, engine.Goal{Release: "4.19.2", Nodes: []string{"worker-2"}}))
	w.edit(true, "paused")
	if p := w.pass(); p.Err != nil || len(w.writes) > 0 || w.state(Progressing).Reason != engine.ReasonPaused {
		t.Errorf("paused: %v, %q, %v", p.Err, w.writes, w.state(Progressing))
	}
	w.edit(false, "paused")
	if p := w.pass(); p.Err != nil || p.Wake.IsZero() || len(w.writes) != 1 {
		t.Errorf("goes on: %+v, %q", p, w.writes)
	}
	w.edit(map[string]any{"release": "4.21.0"}, "goal")
	if p := w.pass(); p.Err != nil || w.state(Progressing).Reason != engine.ReasonNoPlan || !strings.Contains(w.state(Progressing).Message, "4.21.0") {
		t.Errorf("no plan: %v, %v", p.Err, w.state(Progressing))
	}
	w.writes = nil
	w.edit(map[string]any{"release": "4.19.2", "nodes": []any{"worker-2"}}, "goal")
	w.pass()
	if err := w.Client.Delete(t.Context(), w.get(Kind, "", Name)); err != nil {
		t.Fatal(err)
	}
	if p := w.pass(); p.Err != nil || len(w.list(drain.Kind)) > 0 {
		t.Errorf("deleted: %v, %q", p.Err, w.writes)
	}
}

// An install plan is approved once, and only if it installs the version and is not
// over; if all are complete there is nothing to approve, and if there is none, that is
// reported. An accepted risk is named if the cluster lists risks.
func TestRequests(t *testing.T) {
	installPlan := func(name, phase string, csvs ...any) *unstructured.Unstructured {
		u := kube.Stub(kindInstallPlan, "shop", name)
		u.Object["spec"] = map[string]any{"clusterServiceVersionNames": csvs, "approved": phase == "Complete"}
		u.Object["status"] = map[string]any{"phase": phase}
		return u
	}
	w := newWorld(t, strings.NewReplacer("  availableUpdates:", "  conditionalUpdateRisks: [{name: SlowDNS}]\n  availableUpdates:"),
		installPlan("a", "Complete", "queue.v2"), installPlan("b", "RequiresApproval", "other.v1"), installPlan("c", "RequiresApproval", "queue.v2"), installPlan("d", "Complete", "slow.v2"))
	b := &Backend{Client: w.Client, Clock: w.clock, Accept: []string{"SlowDNS"}}
	for range 2 {
		if err := b.Apply(t.Context(), Name, engine.Approve{Namespace: "shop", Package: "queue", CSV: "queue.v2"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Apply(t.Context(), Name, engine.Approve{Namespace: "shop", Package: "slow", CSV: "slow.v2"}); err != nil {
		t.Error(err)
	}
	err := b.Apply(t.Context(), Name, engine.Approve{Namespace: "shop", Package: "queue", CSV: "queue.v3"})
	if refused, ok := err.(*fairlead.RefusedError); !ok || !strings.Contains(refused.Message, "no install plan in namespace shop installs queue.v3") {
		t.Error(err)
	}
	for range 2 {
		if err := b.Apply(t.Context(), Name, engine.SetRelease{Release: "4.19.2"}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"patch InstallPlan c", "patch ClusterVersion version"}; !slices.Equal(w.writes, want) {
		t.Errorf("%q, want %q", w.writes, want)
	}
	desired, _, _ := unstructured.NestedMap(w.get(kindVersion, "", clusterVersion).Object, "spec", "desiredUpdate")
	if got, _ := json.Marshal(desired); string(got) != `{"acceptRisks":[{"name":"SlowDNS"}],"version":"4.19.2"}` {
		t.Errorf("%s", got)
	}
}

// Everything that a plan depends on is observed; the Runner sets the outcomes.
func TestFacts(t *testing.T) {
	asked := clusterPlan(t, engine.Goal{Release: "4.20.3"})
	set(asked, true, "spec", "paused")
	replicas := kube.Stub(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}, "shop", "db")
	set(replicas, int64(2), "spec", "replicas")
	check := kube.Stub(kindHealthCheck, "openshift-machine-api", "workers")
	infrastructure := kube.Stub(kindInfrastructure, "", "cluster")
	set(infrastructure, "HighlyAvailable", "status", "controlPlaneTopology")
	w := newWorld(t, strings.NewReplacer(), asked, replicas, check, infrastructure)
	b := &Backend{Client: w.Client, Clock: w.clock, Graph: func(context.Context) (*graph.Graph, error) {
		g, found := graph.Parse([]byte(`{"version":1,"nodes":[{"version":"4.18.1","payload":"r@sha256:a"},{"version":"4.19.2","payload":"r@sha256:b"}],"edges":[],
			"conditionalEdges":[{"edges":[{"from":"4.18.1","to":"4.19.2"}],"risks":[{"url":"https://docs.example/slow","name":"SlowDNS","message":"Names are resolved late.","matchingRules":[{"type":"Always"}]}]}]}`), nil)
		return g, found.Err()
	}}
	seen, err := b.Observe(t.Context(), Name)
	if err != nil {
		t.Fatal(err)
	}
	if unset := append(worlds.Unset(&seen.Situation), worlds.Unset(seen)...); !slices.Equal(unset, []string{"Partly", "Outcomes"}) {
		t.Errorf("unset fields: %q", unset)
	}
}
