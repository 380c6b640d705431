package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	engine "github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/examples/fairlead/update"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/live"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/plan"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	lastVersion, lastDigest = "4.20.0", "sha256:0c"
	machineConfigs          = "machineconfiguration.openshift.io/v1"
)

// planned is a cluster that a plan updates by two minor versions.
type planned struct {
	*upgrade
	seen map[string]bool // configurations set as desired for nodes
}

// configOf returns the name of the rendered configuration of a pool at a
// release.
func configOf(pool, version string) string { return "rendered-" + pool + "-" + version }

// A plan over two minor versions with paused workers: an operator must be updated on
// the way, a budget must be fixed by people first, and a gate acknowledged. It is
// carried out by the controllers of this module on OpenShift's own kinds, through an
// outage and a crash. Everything is requested once, also from people; workers restart
// once, and the status shows the steps as planned and as carried out. At the end the
// status of the cluster equals that of its dump.
func TestClusterPlan(t *testing.T) {
	w := newWorld(t, nil)
	u := &planned{upgrade: &upgrade{world: w, text: map[string]string{}, further: map[string]string{lastVersion: lastDigest}}, seen: map[string]bool{}}
	for _, name := range []string{"0000_05_shop_00_namespace.yaml", "0000_05_shop_01_config.yaml", "0000_20_api_01_clusteroperator.yaml"} {
		data, err := os.ReadFile(filepath.Join("testdata/release", name))
		if err != nil {
			t.Fatal(err)
		}
		u.text[name] = string(data)
	}
	u.prepare()
	u.others()
	u.manager = operator.Start(t, w.Cluster, u.flags...)
	u.operators = u.report()
	u.reaches(oldVersion)
	u.approve("pipes.v1.0.0")
	u.installed("pipes.v1.0.0")
	u.stock(pipes()...)
	stop := make(chan struct{})
	most := w.agents(stop)
	for _, pool := range []string{"master", "worker"} {
		w.within(4*time.Minute, "pool "+pool+" is at rest", func() string {
			return expect(w.poolStatus(pool)[2:], map[string]string{"master": "3 3", "worker": "2 2"}[pool]+" Updated=True")
		})
	}
	w.deployment("web", 5)
	all := intstr.FromInt32(5)
	w.create(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MinAvailable: &all, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}})
	w.eventually("the budget is measured", func() string {
		var b policyv1.PodDisruptionBudget
		if err := w.admin.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "web"}, &b); err != nil {
			return err.Error()
		}
		return expect(fmt.Sprint(b.Status.CurrentHealthy), "5")
	})
	asked := object(plan.Kind.GroupVersion().String(), plan.Kind.Kind, plan.Name)
	asked.Object["spec"] = map[string]any{"goal": map[string]any{"release": lastVersion, "pauseWorkers": true}}
	w.create(asked)
	u.carriedOut()
	close(stop)
	most()
	u.judge()
	u.asDumped()
	if err := u.manager.Stop(); err != nil {
		t.Error(err)
	}
}

// pipes returns an operator whose first version does not support 4.20.
func pipes() []shelf.Version {
	return []shelf.Version{
		{Package: "pipes", Kind: "Pipe", Number: "1.0.0", Served: []string{"v1"}, Fields: []string{"length"}, MaxOpenShift: "4.19"},
		{Package: "pipes", Kind: "Pipe", Number: "1.1.0", Replaces: "1.0.0", Served: []string{"v1"}, Fields: []string{"length"}},
	}
}

// others creates what a plan involves besides releases: pools, an operator, gates, an
// update service. It adds the flags.
func (u *planned) others() {
	u.Helper()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, offered()) }))
	u.Cleanup(service.Close)
	u.patch(fmt.Sprintf(`{"spec": {"upstream": %q}}`, service.URL+"/graph"))
	dir := u.TempDir()
	for name, text := range map[string]string{"graph.json": offered(), "catalog/catalog.json": shelf.Catalog(pipes()...), "policy.yaml": "goUnseen: true\n"} { // there are no etcd members
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			u.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			u.Fatal(err)
		}
	}
	u.flags[0] = "-controllers=clusterversion,operators,rollout,drain,plan"
	u.flags = slices.DeleteFunc(u.flags, func(f string) bool { return strings.HasPrefix(f, "-clusterversion-pod") }) // a pod without a controller is lost when its node is drained
	u.flags = append(u.flags, "-clusterversion-architecture=amd64", "-plan-graph="+dir+"/graph.json", "-plan-catalogs="+dir+"/catalog", "-plan-policy="+dir+"/policy.yaml", "-plan-every=1s")
	const machines = "machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_"
	u.definitions(machines+"machineconfigpools-Default.crd.yaml", machines+"machineconfigs.crd.yaml", machines+"machineosbuilds.crd.yaml", "apiserver/v1/zz_generated.crd-manifests/kube-apiserver_apirequestcounts.crd.yaml")
	operator.Install(u.T, u.Cluster, "crd/drainrequests.yaml", "crd/clusterplans.yaml", "rbac-drain.yaml", "rbac-rollout.yaml", "rbac-plan.yaml")
	u.installOperators("Manual", pipes()[:1]...)
	for _, m := range []client.ObjectKey{{Namespace: "openshift-config-managed", Name: "admin-gates"}, {Namespace: "openshift-config", Name: "admin-acks"}} {
		u.namespace(m.Namespace)
		data := map[string]string{}
		if m.Name == "admin-gates" {
			data[gateAck] = "The old API goes."
		}
		u.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}, Data: data})
	}
	for _, name := range []string{"worker-0", "worker-1"} {
		if err := u.kubelets.AddNode(u.Context(), name, nil); err != nil {
			u.Fatal(err)
		}
	}
	for name, role := range map[string]string{"n1": "master", "n2": "master", "n3": "master", "worker-0": "worker", "worker-1": "worker"} {
		is := configOf(role, oldVersion)
		text := fmt.Sprintf(`{"metadata":{"labels":{"role":%q},"annotations":{%q:%q,%q:%q,%q:%q}}}`, role, rollout.AnnotationCurrent, is, rollout.AnnotationDesired, is, rollout.AnnotationState, rollout.StateDone)
		if err := u.admin.Patch(u.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
			u.Fatal(err)
		}
	}
	for _, role := range []string{"master", "worker"} {
		u.eventually("a configuration of "+role, func() string { return u.rendered(role, oldVersion) })
		u.machinePool(role, configOf(role, oldVersion), false)
	}
}

// offered returns the update graph.
func offered() string {
	return fmt.Sprintf(`{"version":1,"nodes":[{"version":%q,"payload":%q},{"version":%q,"payload":%q},{"version":%q,"payload":%q}],"edges":[[0,1],[1,2]]}`,
		oldVersion, releaseImage+oldDigest, newVersion, releaseImage+newDigest, lastVersion, releaseImage+lastDigest)
}

// rendered creates the configuration of a pool at a release.
func (u *planned) rendered(role, version string) string {
	mc := object(machineConfigs, "MachineConfig", configOf(role, version))
	mc.SetAnnotations(map[string]string{"machineconfiguration.openshift.io/release-image-version": version})
	mc.Object["spec"] = map[string]any{}
	return problem(client.IgnoreAlreadyExists(u.admin.Create(u.Context(), mc)))
}

// render simulates the rest of the machine-config operator: pools get the
// configuration of the release that the cluster has reached. It records the desired
// configurations of nodes.
func (u *planned) render() {
	v, err := u.cv()
	var nodes corev1.NodeList
	if err != nil || u.admin.List(u.Context(), &nodes) != nil || len(v.Status.History) == 0 || v.Status.History[0].State != cvo.Completed {
		return
	}
	for i := range nodes.Items {
		u.seen[nodes.Items[i].Annotations[rollout.AnnotationDesired]] = true
	}
	version := v.Status.History[0].Version
	for _, role := range []string{"master", "worker"} {
		pool := object(machineConfigs, "MachineConfigPool", role)
		if u.admin.Get(u.Context(), client.ObjectKeyFromObject(pool), pool) != nil {
			return
		}
		is, _, _ := unstructured.NestedString(pool.Object, "spec", "configuration", "name")
		if is == configOf(role, version) || u.rendered(role, version) != "" {
			continue
		}
		patch := fmt.Sprintf(`{"spec":{"configuration":{"name":%q}}}`, configOf(role, version))
		_ = u.admin.Patch(u.Context(), pool, client.RawPatch("application/merge-patch+json", []byte(patch))) // or in the next round
	}
}

// status reads the plan; the error is that of a server that is down.
func (u *planned) status() (*plan.Status, error) {
	o := object(plan.Kind.GroupVersion().String(), plan.Kind.Kind, plan.Name)
	if err := u.admin.Get(u.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		return nil, err
	}
	var p plan.ClusterPlan
	return &p.Status, kube.Decode(o, &p)
}

// carriedOut waits until the plan is carried out, and does what people must do. When
// the first update begins, the server is stopped for a while, and when the second one
// begins, the program is killed.
func (u *planned) carriedOut() {
	u.Helper()
	told, fixed, away, killed := false, false, false, false
	u.within(20*time.Minute, "the plan is carried out", func() string {
		u.render()
		s, err := u.status()
		if err != nil {
			return err.Error()
		}
		if !told && len(s.Steps) > 0 {
			told = true
			u.Logf("planned:\n%s", s.Played())
		}
		going := fairlead.FindCondition(s.Conditions, plan.Progressing)
		v, err := u.cv()
		switch {
		case going == nil || err != nil:
			return fmt.Sprint(s.Conditions, err)
		case !fixed && going.Reason == engine.ReasonPeople:
			if !strings.Contains(going.Message, "shop/web") || !strings.Contains(going.Message, "oc -n shop patch pdb web") {
				u.Errorf("people are asked for: %s", going.Message)
			}
			budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
			fixed = u.admin.Patch(u.Context(), budget, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"minAvailable":null,"maxUnavailable":1}}`))) == nil
		case !away && v.Status.Desired.Version == newVersion:
			away = true
			u.outage(5 * time.Second)
		case !killed && v.Status.Desired.Version == lastVersion:
			killed = true
			u.manager.Kill()
			u.manager = operator.Start(u.T, u.Cluster, u.flags...)
		}
		if c := fairlead.FindCondition(s.Conditions, plan.Completed); c == nil || c.Status != fairlead.ConditionTrue {
			return going.Reason + ": " + going.Message
		}
		return ""
	})
	if !fixed || !away || !killed {
		u.Errorf("budget fixed %v, outage %v, killed %v", fixed, away, killed)
	}
}

// judge compares the actual steps with the plan.
func (u *planned) judge() {
	u.Helper()
	s, err := u.status()
	if err != nil {
		u.Fatal(err)
	}
	u.Logf("planned and actual:\n%s", s.Played())
	var kinds []string
	for _, x := range s.Steps {
		if x.PlannedBegin == nil || x.Began == nil || x.Ended == nil {
			u.Errorf("%s: planned %v, began %v, ended %v", x.Do, x.PlannedBegin, x.Began, x.Ended)
		}
		kinds = append(kinds, strings.TrimSpace(string(x.Kind)+" "+x.To))
	}
	for _, want := range []string{"FixBudget", "Acknowledge", "Pause", "UpdateCluster " + newVersion, "UpdateCluster " + lastVersion, "UpdateOperator pipes.v1.1.0", "Unpause"} {
		if !slices.Contains(kinds, want) {
			u.Errorf("no step %s: %q", want, kinds)
		}
	}
	v, err := u.cv()
	if err != nil {
		u.Fatal(err)
	}
	var history []string
	for _, h := range v.Status.History {
		history = append(history, h.Version+" "+string(h.State))
	}
	if got, want := strings.Join(history, ", "), "4.20.0 Completed, 4.19.0 Completed, 4.18.0 Completed"; got != want {
		u.Errorf("history: %s", got)
	}
	u.installed("pipes.v1.1.0")
	if u.seen[configOf("worker", newVersion)] || !u.seen[configOf("master", newVersion)] || !u.seen[configOf("worker", lastVersion)] {
		u.Errorf("the desired configurations of nodes were %v", u.seen)
	}
	u.still()
	for resource, want := range map[string]int{"clusterversions": 2, "machineconfigpools": 2, "configmaps": 1, "installplans": 1} {
		done := u.requests(cluster.Filter{User: operator.User, Verb: "patch", Resource: resource, Where: func(r *cluster.Request) bool {
			return r.Code == 200 && r.Subresource == "" && (resource != "configmaps" || r.Name == "admin-acks")
		}})
		if len(done) != want {
			u.Errorf("%d patches of %s, want %d: %s", len(done), resource, want, summary(done))
		}
	}
	for _, r := range u.requests(cluster.Filter{User: operator.User, Resource: "clusterplans/status"}) {
		if r.Code >= 400 && r.Code != 409 && r.Code < 500 || r.Idle {
			u.Errorf("a status: %d, idle %v, %v", r.Code, r.Idle, r.Received)
		}
	}
}

// asDumped compares the report on the cluster with that on its dump.
func (u *planned) asDumped() {
	u.Helper()
	now := time.Now().UTC().Truncate(time.Second)
	r, err := live.Inspect(u.Context(), u.admin, nil, now)
	if err != nil {
		u.Fatal(err)
	}
	dir := u.TempDir()
	for _, k := range live.Kinds()[:5] {
		all, err := (&kube.Objects{Client: u.admin}).List(u.Context(), k.GroupVersionKind, "")
		if err != nil {
			u.Fatal(err)
		}
		items := []any{}
		for _, o := range all {
			items = append(items, o.Object)
		}
		text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": k.Kind + "List", "items": items})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, k.Resource+".json"), text, 0o644)
		}
		if err != nil {
			u.Fatal(err)
		}
	}
	var out, problems bytes.Buffer
	if code := update.Command().Program("update")(u.Context(), []string{"status", dir, "-o", "json", "-now", now.Format(time.RFC3339)}, nil, &out, &problems); code > 1 {
		u.Fatal(problems.String())
	}
	text, err := json.Marshal(r)
	if err != nil {
		u.Fatal(err)
	}
	var got, want map[string]any
	failed := errors.Join(json.Unmarshal(text, &got), json.Unmarshal(out.Bytes(), &want))
	delete(want, "clock")     // of the files
	delete(want, "diagnosis") // which the tool adds
	if failed != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		u.Errorf("the cluster: %s\nits dump: %s", text, out.String())
	}
	u.Logf("status: %s", r.Headline)
}
