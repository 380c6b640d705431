package placement

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	ours "github.com/fairlead/fairlead/taints/placement"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	theirplugins "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	schedruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// scheduler is kube-scheduler's own framework with its filters and its preemption, over a
// snapshot of a cluster.
type scheduler struct {
	framework.Framework
	preempt *defaultpreemption.DefaultPreemption
	nodes   []fwk.NodeInfo
}

// filters are the plugins of the default profile that filter nodes.
func filters() config.PluginSet {
	var set config.PluginSet
	for _, name := range []string{
		"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions",
		"NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity",
	} {
		set.Enabled = append(set.Enabled, config.Plugin{Name: name})
	}
	return set
}

func newScheduler(ctx context.Context, nodes []*corev1.Node, pods []*corev1.Pod, objects []runtime.Object) (*scheduler, error) {
	snapshot := cache.NewSnapshot(pods, nodes)
	objects = slices.Clone(objects)
	for name, labels := range spaces() {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	}
	factory := informers.NewSharedInformerFactory(fake.NewClientset(objects...), 0)
	profile := &config.KubeSchedulerProfile{SchedulerName: "default-scheduler", Plugins: &config.Plugins{PreFilter: filters(), Filter: filters()}}
	profile.Plugins.QueueSort.Enabled = []config.Plugin{{Name: "PrioritySort"}}
	profile.Plugins.Bind.Enabled = []config.Plugin{{Name: "DefaultBinder"}}
	no := map[string]bool{"NodeUnschedulable": true, "NodeName": true, "TaintToleration": true} // they have no PreFilter
	profile.Plugins.PreFilter.Enabled = slices.DeleteFunc(profile.Plugins.PreFilter.Enabled, func(p config.Plugin) bool { return no[p.Name] })
	profile.PluginConfig = []config.PluginConfig{
		{Name: "NodeAffinity", Args: &config.NodeAffinityArgs{}},
		{Name: "NodeResourcesFit", Args: &config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{Type: config.LeastAllocated, Resources: []config.ResourceSpec{{Name: "cpu", Weight: 1}}}}},
		{Name: "VolumeBinding", Args: &config.VolumeBindingArgs{BindTimeoutSeconds: 1}},
		{Name: "PodTopologySpread", Args: &config.PodTopologySpreadArgs{DefaultingType: config.ListDefaulting}},
		{Name: "InterPodAffinity", Args: &config.InterPodAffinityArgs{}},
	}
	f, err := schedruntime.NewFramework(ctx, theirplugins.NewInTreeRegistry(), profile,
		schedruntime.WithSnapshotSharedLister(snapshot), schedruntime.WithInformerFactory(factory), schedruntime.WithPodNominator(nobody{}),
		schedruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())), schedruntime.WithClientSet(fake.NewClientset()))
	if err != nil {
		return nil, err
	}
	features := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	p, err := defaultpreemption.New(ctx, &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 100, MinCandidateNodesAbsolute: 1000}, f, features)
	if err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	infos, err := snapshot.NodeInfos().List()
	return &scheduler{f, p, infos}, err
}

// nobody is a queue in which no pod is nominated.
type nobody struct{}

func (nobody) AddNominatedPod(klog.Logger, fwk.PodInfo, *fwk.NominatingInfo) {}
func (nobody) DeleteNominatedPodIfExists(*corev1.Pod)                        {}
func (nobody) UpdateNominatedPod(klog.Logger, *corev1.Pod, fwk.PodInfo)      {}
func (nobody) NominatedPodsForNode(string) []fwk.PodInfo                     { return nil }

// fits returns the nodes on which a pod fits, and those where the victims of preemption would
// have to go first.
func (s *scheduler) fits(ctx context.Context, pod *corev1.Pod, budgets []*policyv1.PodDisruptionBudget) (names []string, best preemption.Candidate, err error) {
	state := framework.NewCycleState()
	result, status, _ := s.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() {
		return nil, nil, nil
	}
	var helps []fwk.NodeInfo
	for _, n := range s.nodes {
		name := n.Node().Name
		if !result.AllNodes() && !result.NodeNames.Has(name) {
			continue
		}
		switch got := s.RunFilterPlugins(ctx, state, pod, n); {
		case got.IsSuccess():
			names = append(names, name)
		case got.Code() == fwk.Unschedulable:
			helps = append(helps, n)
		}
	}
	if len(names) > 0 || len(helps) == 0 {
		return names, nil, nil
	}
	if ok, _ := s.preempt.PodEligibleToPreemptOthers(ctx, pod, nil); !ok {
		return nil, nil, nil
	}
	all, _, err := s.preempt.Evaluator.DryRunPreemption(ctx, state, pod, helps, budgets, 0, int32(len(helps)))
	if err != nil || len(all) == 0 {
		return nil, nil, err
	}
	return nil, s.preempt.Evaluator.SelectCandidate(ctx, all), nil
}

// words writes where room is made.
func words(node string, victims []string, violations int64) string {
	slices.Sort(victims)
	return fmt.Sprint(node, " ", strings.Join(victims, ","), " ", violations)
}

func theirWords(c preemption.Candidate) string {
	var names []string
	for _, v := range c.Victims().Pods {
		names = append(names, v.Namespace+"/"+v.Name)
	}
	return words(c.Name(), names, c.Victims().NumPDBViolations)
}

// TestPreemption: where nothing fits, the node and the victims are those that kube-scheduler's
// own DefaultPreemption chooses; between nodes that it ranks as equal either will do.
// 10,000 preemptions in long runs.
func TestPreemption(t *testing.T) {
	metrics.Register()
	found, none, room, violated := 0, 0, 0, 0
	for seed := uint64(0); found < long.N(40, 10_000); seed++ {
		if seed > 100_000 {
			t.Fatalf("only %d preemptions", found)
		}
		func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			d := draw{rand.New(rand.NewPCG(seed, 44))}
			c := d.crowd(t)
			s, err := newScheduler(ctx, c.nodes, c.pods, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 4 {
				p := d.crowded(fmt.Sprint("new-", i))
				names, best, err := s.fits(ctx, as[corev1.Pod](t, p), c.theirs)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if len(names) > 0 {
					room++
					continue
				}
				got, ok := c.cluster.Preempt(p, c.budgets, nil)
				if !ok || best == nil {
					if ok || best != nil {
						pod, _ := json.Marshal(p)
						there, _ := json.Marshal(c.pods)
						nodes, _ := json.Marshal(c.nodes)
						t.Fatalf("seed %d, pod %d: the scheduler says %v, we say %v %v\n%s\n%s\n%s", seed, i, best, got, ok, pod, there, nodes)
					}
					none++
					continue
				}
				var victims []string
				for _, v := range got.Victims {
					victims = append(victims, v.ObjectMeta.String())
				}
				found++
				violated += min(got.Violations, 1)
				mine := words(got.Node, victims, int64(got.Violations))
				if mine == theirWords(best) {
					continue
				}
				if theirs := rankOf(best.Victims().Pods, best.Victims().NumPDBViolations); rankOf(converted(t, got.Victims), int64(got.Violations)) != theirs {
					t.Fatalf("seed %d, pod %d: the scheduler says %s, we say %s", seed, i, theirWords(best), mine)
				}
			}
		}()
	}
	t.Logf("%d preemptions, %d that violate a budget; %d pods that nothing helps, %d that have room", found, violated, none, room)
	if none == 0 || violated == 0 {
		t.Error("that compares too little")
	}
}

// converted converts pods.
func converted(t *testing.T, pods []*fairlead.Pod) (all []*corev1.Pod) {
	for _, p := range pods {
		all = append(all, as[corev1.Pod](t, p))
	}
	return all
}

// rankOf is what victims are compared by.
func rankOf(victims []*corev1.Pod, violations int64) string {
	var sum int64
	start := victims[0].Status.StartTime
	for _, p := range victims {
		sum += int64(*p.Spec.Priority)
		if *p.Spec.Priority == *victims[0].Spec.Priority && p.Status.StartTime.Before(start) {
			start = p.Status.StartTime
		}
	}
	return fmt.Sprint(violations, *victims[0].Spec.Priority, sum, len(victims), start.Unix())
}

// crowd is a cluster that is nearly full, for both.
type crowd struct {
	cluster *ours.Cluster
	nodes   []*corev1.Node
	pods    []*corev1.Pod
	budgets []fairlead.PodDisruptionBudget
	theirs  []*policyv1.PodDisruptionBudget
}

func (d draw) crowd(t *testing.T) *crowd {
	c := &crowd{cluster: ours.New(&ours.Options{Namespaces: spaces()})}
	for i := range 2 + d.IntN(4) {
		n := d.node(i)
		n.Spec.Taints = nil
		if err := c.cluster.SetNode(n); err != nil {
			t.Fatal(err)
		}
		c.nodes = append(c.nodes, as[corev1.Node](t, n))
	}
	for i := range 4 + d.IntN(12) {
		p := d.crowded(fmt.Sprint("there-", i))
		at := time.Unix(1e9+int64(d.IntN(5))*60+int64(i), 0) // no two are equal: the scheduler orders such pods at random
		p.Status.Phase, p.Status.StartTime = fairlead.PodRunning, &at
		fits, _ := c.cluster.First(p, func(*fairlead.Node) bool { return !d.one(2) })
		if fits == nil {
			continue
		}
		p.Spec.NodeName = fits.Name
		if err := c.cluster.Add(p); err != nil {
			t.Fatal(err)
		}
		c.pods = append(c.pods, as[corev1.Pod](t, p))
	}
	for i := range d.IntN(3) {
		b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "n1", Name: fmt.Sprint("b", i)}}
		b.Spec.Selector = &fairlead.LabelSelector{MatchLabels: map[string]string{d.of("app", "tier"): d.of("a", "b")}}
		b.Status.DisruptionsAllowed = d.IntN(3) / 2
		c.budgets = append(c.budgets, b)
		pdb := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name}}
		pdb.Spec.Selector = &metav1.LabelSelector{MatchLabels: b.Spec.Selector.MatchLabels}
		pdb.Status.DisruptionsAllowed = int32(b.Status.DisruptionsAllowed)
		c.theirs = append(c.theirs, pdb)
	}
	return c
}

// crowded returns a pod with a priority that needs much.
func (d draw) crowded(name string) *fairlead.Pod {
	p := d.pod(name)
	p.Spec.Volumes = nil
	priority := int32(d.IntN(4)) * 10
	p.Spec.Priority = &priority
	if d.one(12) {
		p.Spec.PreemptionPolicy = fairlead.PreemptNever
	}
	p.Spec.Containers[0].Resources.Requests = map[string]string{"cpu": d.of("250m", "500m", "1"), "memory": "100Mi"}
	return p
}
