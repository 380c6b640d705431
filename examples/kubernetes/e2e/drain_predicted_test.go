package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/fairlead/machine"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/internal/drainplay"
	"github.com/fairlead/fairlead/internal/long"
	engine "github.com/fairlead/fairlead/lifecycle/drain"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// drawn is a random cluster, as the objects of a server.
type drawn struct {
	*world
	seed    uint64
	nodes   []*corev1.Node
	pods    []*corev1.Pod
	sets    map[string]string // by app, ReplicaSet or StatefulSet
	budgets []*policyv1.PodDisruptionBudget
}

// predicted is what the verb drain says of a node, as far as it is compared.
type predicted struct {
	Stuck, Homeless int
	Unknown         []string
	Nodes           []struct {
		Pods []struct{ Namespace, Name, Why string }
	}
}

// outcome is how a drain went.
type outcome struct {
	done     bool
	reason   string   // that the request reports
	left     []string // pods on the node, as namespace/name
	homeless int      // pods without a node
}

// What the verb drain says of random clusters is what happens when their first node is drained
// on an API server where kube-scheduler itself decides where pods go: the drain completes or
// does not, and then the pods are left that it named, for one of the reasons that it gave.
// 50 clusters in long runs.
func TestDrainPredicted(t *testing.T) {
	c := cluster.ForTest(t, &cluster.Options{Scheduler: true})
	w := newWorldOn(t, c, &cluster.KubeletOptions{Unscheduled: true})
	operator.Install(t, c, "crd/drainrequests.yaml", "rbac-drain.yaml")
	w.namespace("d")
	w.priorities()
	manager := operator.Start(t, c, "-controllers=drain", "-leader-elect=false", "-drain-max-backoff=2s")
	manager.Ready()
	stop := w.finishes()
	defer stop()
	done, stuck, wrongly, elsewhere := 0, 0, 0, 0
	for seed := range uint64(long.N(4, 50)) {
		d := w.drawn(seed)
		d.fill()
		p := d.predict()
		got := d.drain(p)
		d.empty()
		said := p.stuck()
		about := fmt.Sprintf("seed %d: predicted %d stuck %v, %d without a node, unknown %q; done %v, reason %q, left %q, %d without a node",
			seed, p.Stuck, said, p.Homeless, p.Unknown, got.done, got.reason, got.left, got.homeless)
		t.Log(about)
		switch {
		case (p.Stuck == 0) != got.done, p.Stuck > 0 && !slices.Equal(names(said), got.left):
			wrongly++
			t.Error(about)
		case p.Stuck > 0 && !slices.Contains(reasons(said), got.reason):
			t.Errorf("another reason: %s", about)
		case got.done && p.Homeless == 0 && got.homeless > 0, got.done && p.Homeless > 0 && got.homeless == 0:
			elsewhere++ // the scheduler chose others of the nodes that fit
		}
		if got.done {
			done++
		} else {
			stuck++
		}
	}
	t.Logf("%d done, %d stuck, %d of them otherwise than predicted; %d with more or fewer pods without a node", done, stuck, wrongly, elsewhere)
	if done == 0 || stuck == 0 || elsewhere > max(1, (done+stuck)/10) {
		t.Error("that is too many, or too few")
	}
	if err := manager.Stop(); err != nil {
		t.Error(err)
	}
}

// names returns the names of stuck pods, reasons why they are.
func names(stuck [][2]string) (all []string) {
	for _, x := range stuck {
		all = append(all, x[0])
	}
	return all
}

func reasons(stuck [][2]string) (all []string) {
	for _, x := range stuck {
		all = append(all, x[1])
	}
	return all
}

// stuck returns the name of each pod that is predicted to be left, and why, by name.
func (p *predicted) stuck() (all [][2]string) {
	for _, n := range p.Nodes {
		for _, x := range n.Pods {
			if x.Why != "" {
				all = append(all, [2]string{x.Namespace + "/" + x.Name, x.Why})
			}
		}
	}
	slices.SortFunc(all, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return all
}

// class returns the name of the class of a pod's priority.
func class(p *corev1.PodSpec) string {
	if p.Priority == nil {
		return ""
	}
	return strings.ToLower(fmt.Sprintf("p%d-%s", *p.Priority, never(p.PreemptionPolicy)))
}

func never(p *corev1.PreemptionPolicy) corev1.PreemptionPolicy {
	if p != nil {
		return *p
	}
	return corev1.PreemptLowerPriority
}

// priorities creates the classes of the priorities that are drawn.
func (w *world) priorities() {
	for _, value := range []int32{0, 100, 200} {
		for _, policy := range []corev1.PreemptionPolicy{corev1.PreemptLowerPriority, corev1.PreemptNever} {
			name := class(&corev1.PodSpec{Priority: &value, PreemptionPolicy: &policy})
			w.create(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, PreemptionPolicy: &policy})
		}
	}
}

// as converts an object to one of Kubernetes' own types.
func as[T any](t *testing.T, v any) *T {
	t.Helper()
	data, err := json.Marshal(v)
	out := new(T)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// drawn draws a cluster: without volumes, without pods that are being deleted from the
// beginning, and without the taint out-of-service, which TestOutOfService is about. All
// pods of an app are equal.
func (w *world) drawn(seed uint64) *drawn {
	w.Helper()
	c := drainplay.Draw(seed, drainplay.Options{Priorities: true, Finalizers: true, DeadNodes: true})
	d := &drawn{world: w, seed: seed, sets: map[string]string{}}
	for i := range c.Nodes {
		n := as[corev1.Node](w.T, &c.Nodes[i])
		n.UID = ""
		n.Status.Capacity = n.Status.Allocatable
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == engine.OutOfServiceTaint })
		d.nodes = append(d.nodes, n)
	}
	first := map[string]*corev1.Pod{}
	count := map[string]int{}
	for i := range c.Pods {
		p := as[corev1.Pod](w.T, &c.Pods[i])
		app := p.Labels["app"]
		d.sets[app] = p.OwnerReferences[0].Kind
		p.ObjectMeta = metav1.ObjectMeta{Namespace: p.Namespace, Name: fmt.Sprintf("%s-%d", app, count[app]), Labels: p.Labels, Finalizers: p.Finalizers}
		count[app]++
		if f := first[app]; f != nil {
			p.Spec.PreemptionPolicy = f.Spec.PreemptionPolicy
		} else {
			first[app] = p
			none := int64(0)
			p.Spec.PriorityClassName, p.Spec.TerminationGracePeriodSeconds = class(&p.Spec), &none
			p.Spec.Containers[0].Image = "none"
		}
		node := p.Spec.NodeName
		p.Spec = *first[app].Spec.DeepCopy()
		p.Spec.Priority, p.Spec.NodeName = nil, node
		d.pods = append(d.pods, p)
	}
	for i := range c.Budgets {
		d.budgets = append(d.budgets, as[policyv1.PodDisruptionBudget](w.T, &c.Budgets[i]))
	}
	return d
}

// fill creates the cluster, and waits until its controllers have seen it.
func (d *drawn) fill() {
	d.Helper()
	for _, n := range d.nodes {
		d.create(n)
	}
	replicas := map[string]int32{}
	for _, p := range d.pods {
		status := p.Status
		d.create(p)
		text, err := json.Marshal(map[string]any{"status": map[string]any{"phase": "Running", "conditions": status.Conditions}})
		if err != nil {
			d.Fatal(err)
		}
		d.eventually("pod "+p.Name+" runs", func() string {
			return problem(d.admin.Status().Patch(d.Context(), p, client.RawPatch(types.MergePatchType, text)))
		})
		replicas[p.Labels["app"]]++
	}
	for _, p := range d.pods {
		app := p.Labels["app"]
		n := replicas[app]
		if n == 0 {
			continue // made
		}
		replicas[app] = 0
		template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: p.Labels}, Spec: *p.Spec.DeepCopy()}
		template.Spec.NodeName, template.Spec.Priority = "", nil
		meta, selector := metav1.ObjectMeta{Namespace: "d", Name: app}, &metav1.LabelSelector{MatchLabels: p.Labels}
		if d.sets[app] == "ReplicaSet" {
			d.create(&appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: &n, Selector: selector, Template: template}})
		} else {
			d.create(&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
				Replicas: &n, Selector: selector, Template: template, PodManagementPolicy: appsv1.ParallelPodManagement,
				UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			}})
		}
	}
	for _, b := range d.budgets {
		d.create(b)
	}
	d.eventually(fmt.Sprintf("seed %d: the controllers have seen all", d.seed), d.seen)
}

// seen says what its controllers have not seen yet.
func (d *drawn) seen() string {
	var pods corev1.PodList
	var budgets policyv1.PodDisruptionBudgetList
	if err := d.admin.List(d.Context(), &pods, client.InNamespace("d")); err != nil {
		return err.Error()
	}
	if err := d.admin.List(d.Context(), &budgets, client.InNamespace("d")); err != nil {
		return err.Error()
	}
	if len(pods.Items) != len(d.pods) {
		return fmt.Sprintf("%d pods, want %d", len(pods.Items), len(d.pods))
	}
	count := map[string]int32{}
	for i := range pods.Items {
		if p := &pods.Items[i]; metav1.GetControllerOf(p) == nil {
			return p.Name + " has no controller"
		}
		count[pods.Items[i].Labels["app"]]++
	}
	for i := range budgets.Items {
		if b := &budgets.Items[i]; b.Status.ObservedGeneration != b.Generation || b.Status.ExpectedPods != count[b.Name] {
			return fmt.Sprintf("budget %s: %+v", b.Name, b.Status)
		}
	}
	return ""
}

// predict asks the verb drain about what the server has.
func (d *drawn) predict() *predicted {
	d.Helper()
	dir := d.TempDir()
	for kind, list := range map[string]client.ObjectList{
		"v1 NodeList": &corev1.NodeList{}, "v1 PodList": &corev1.PodList{}, "v1 NamespaceList": &corev1.NamespaceList{}, "policy/v1 PodDisruptionBudgetList": &policyv1.PodDisruptionBudgetList{},
		"apps/v1 ReplicaSetList": &appsv1.ReplicaSetList{}, "apps/v1 StatefulSetList": &appsv1.StatefulSetList{}, "apps/v1 DaemonSetList": &appsv1.DaemonSetList{},
	} {
		err := d.admin.List(d.Context(), list)
		var all map[string]any
		text, err2 := json.Marshal(list)
		if err == nil && err2 == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil || err2 != nil {
			d.Fatal(err, err2)
		}
		version, name, _ := strings.Cut(kind, " ")
		all["apiVersion"], all["kind"] = version, name
		if all["items"] == nil {
			all["items"] = []any{}
		}
		if text, err = json.Marshal(all); err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".json"), text, 0o600)
		}
		if err != nil {
			d.Fatal(err)
		}
	}
	var out, problems bytes.Buffer
	if code := machine.Drain().Program("drain")(d.Context(), []string{dir, "-A", "-node", "n0", "-o", "json"}, nil, &out, &problems); code > 1 {
		d.Fatal(problems.String())
	}
	p := new(predicted)
	if err := json.Unmarshal(out.Bytes(), p); err != nil {
		d.Fatal(err)
	}
	return p
}

// finishes plays the owner of the finalizers of pods that are being deleted, until it is
// stopped.
func (w *world) finishes() (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			case <-time.After(200 * time.Millisecond):
			}
			var pods corev1.PodList
			if w.admin.List(w.Context(), &pods, client.InNamespace("d")) != nil {
				continue
			}
			for i := range pods.Items {
				if p := &pods.Items[i]; p.DeletionTimestamp != nil && len(p.Finalizers) > 0 {
					_ = w.admin.Patch(w.Context(), p, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))) // or the next time
				}
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// The server changes nothing for longer than that when a drain is stuck: retries, and the
// scheduler's and controllers' back-off, are shorter.
const settled = 15 * time.Second

// drain drains the first node, until that is done or nothing has changed for long.
func (d *drawn) drain(p *predicted) *outcome {
	d.Helper()
	name := fmt.Sprint("r", d.seed)
	d.create(drainRequest(name, "n0", nil))
	o, before, since := &outcome{}, "", time.Now()
	d.within(3*time.Minute, "the drain ends or settles", func() string {
		now, wrong := d.look(name)
		if wrong != "" {
			return wrong
		}
		*o = *now
		if text := fmt.Sprint(*now); text != before {
			before, since = text, time.Now()
		}
		quiet := time.Since(since)
		if o.done && (o.homeless == 0 || quiet > settled) || quiet > settled {
			return ""
		}
		return "it goes on: " + before
	})
	return o
}

// look returns how far a drain is.
func (d *drawn) look(request string) (*outcome, string) {
	var pods corev1.PodList
	if err := d.admin.List(d.Context(), &pods, client.InNamespace("d")); err != nil {
		return nil, err.Error()
	}
	phase, reason, _ := strings.Cut(d.drainStatus(request), " ")
	o := &outcome{done: phase == string(engine.PhaseDrained), reason: reason}
	for i := range pods.Items {
		switch p := &pods.Items[i]; p.Spec.NodeName {
		case "":
			o.homeless++
		case "n0":
			o.left = append(o.left, p.Namespace+"/"+p.Name)
		}
	}
	slices.Sort(o.left)
	return o, ""
}

// empty removes everything that fill and drain created.
func (d *drawn) empty() {
	d.Helper()
	gone := func(err error) string { return problem(client.IgnoreNotFound(err)) }
	d.eventually("the request is gone", func() string {
		return gone(d.admin.Delete(d.Context(), drainRequest(fmt.Sprint("r", d.seed), "n0", nil)))
	})
	d.eventually("n0 is back", func() string { return expect(d.cordoned("n0"), "false") })
	now := client.GracePeriodSeconds(0)
	for _, o := range []client.Object{&appsv1.ReplicaSet{}, &appsv1.StatefulSet{}, &policyv1.PodDisruptionBudget{}} {
		if err := d.admin.DeleteAllOf(d.Context(), o, client.InNamespace("d"), client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			d.Fatal(err)
		}
	}
	d.eventually("the cluster is empty", func() string {
		var pods corev1.PodList
		var nodes corev1.NodeList
		for _, err := range []error{
			d.admin.DeleteAllOf(d.Context(), &corev1.Pod{}, client.InNamespace("d"), now), d.admin.DeleteAllOf(d.Context(), &corev1.Node{}),
			d.admin.List(d.Context(), &pods, client.InNamespace("d")), d.admin.List(d.Context(), &nodes),
		} {
			if err != nil {
				return err.Error()
			}
		}
		if n := len(pods.Items) + len(nodes.Items); n > 0 {
			return fmt.Sprint(n, " objects")
		}
		return ""
	})
}
