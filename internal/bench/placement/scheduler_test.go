package placement

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	ours "github.com/fairlead/fairlead/taints/placement"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
	schedruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// theirs are the scheduler's filter plugins, by the filter of ours that answers the
// same question.
type theirs map[ours.Filter]fwk.FilterPlugin

// plugins makes the scheduler's plugins over a snapshot of a cluster.
func plugins(t *testing.T, ctx context.Context, snapshot *cache.Snapshot, volumes []runtime.Object) theirs {
	namespaces := slices.Clone(volumes)
	for name, labels := range spaces() {
		namespaces = append(namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	}
	factory := informers.NewSharedInformerFactory(fake.NewClientset(namespaces...), 0)
	handle, err := schedruntime.NewFramework(ctx, nil, nil, schedruntime.WithSnapshotSharedLister(snapshot), schedruntime.WithInformerFactory(factory),
		schedruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())))
	if err != nil {
		t.Fatal(err)
	}
	features := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	all := theirs{}
	for filter, p := range map[ours.Filter]struct {
		make func(context.Context, runtime.Object, fwk.Handle, feature.Features) (fwk.Plugin, error)
		args runtime.Object
	}{
		ours.NodeUnschedulable: {nodeunschedulable.New, nil},
		ours.TaintToleration:   {tainttoleration.New, nil},
		ours.NodeAffinity:      {nodeaffinity.New, &config.NodeAffinityArgs{}},
		ours.NodePorts:         {nodeports.New, nil},
		ours.NodeResources: {noderesources.NewFit, &config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{
			Type: config.LeastAllocated, Resources: []config.ResourceSpec{{Name: "cpu", Weight: 1}},
		}}},
		ours.VolumeRestriction: {volumerestrictions.New, nil},
		ours.VolumeLimits:      {nodevolumelimits.NewCSI, nil},
		ours.VolumeBinding:     {volumebinding.New, &config.VolumeBindingArgs{BindTimeoutSeconds: 1}},
		ours.VolumeZone:        {volumezone.New, nil},
		ours.TopologySpread:    {podtopologyspread.New, &config.PodTopologySpreadArgs{DefaultingType: config.ListDefaulting}},
		ours.InterPodAffinity:  {interpodaffinity.New, &config.InterPodAffinityArgs{}},
	} {
		plugin, err := p.make(ctx, p.args, handle, features)
		if err != nil {
			t.Fatalf("%s: %v", filter, err)
		}
		all[filter] = plugin.(fwk.FilterPlugin)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return all
}

// verdicts returns on which nodes a plugin allows a pod.
func verdicts(ctx context.Context, plugin fwk.FilterPlugin, pod *corev1.Pod, nodes []fwk.NodeInfo) map[string]bool {
	state, fits := framework.NewCycleState(), map[string]bool{}
	skip, only := false, (*fwk.PreFilterResult)(nil)
	if p, is := plugin.(fwk.PreFilterPlugin); is {
		result, status := p.PreFilter(ctx, state, pod, nodes)
		if skip, only = status.IsSkip(), result; !skip && !status.IsSuccess() {
			return fits
		}
	}
	for _, n := range nodes {
		name := n.Node().Name
		fits[name] = skip || (only.AllNodes() || only.NodeNames.Has(name)) && plugin.Filter(ctx, state, pod, n).IsSuccess()
	}
	return fits
}

// question is the filter that stands for another one: those about volumes answer one question,
// since each of the scheduler's refuses claims that are not as they should be.
func question(f ours.Filter) ours.Filter {
	switch f {
	case ours.VolumeRestriction, ours.VolumeLimits, ours.VolumeZone:
		return ours.VolumeBinding
	}
	return f
}

// judged returns, by question, on which nodes the plugins allow a pod.
func judged(ctx context.Context, all theirs, pod *corev1.Pod, nodes []fwk.NodeInfo) map[ours.Filter]map[string]bool {
	out := map[ours.Filter]map[string]bool{}
	for filter, plugin := range all {
		fits, q := verdicts(ctx, plugin, pod, nodes), question(filter)
		if out[q] == nil {
			out[q] = map[string]bool{}
			for _, n := range nodes {
				out[q][n.Node().Name] = true
			}
		}
		for name := range out[q] {
			out[q][name] = out[q][name] && fits[name]
		}
	}
	return out
}

// as converts an object to one of Kubernetes' own types.
func as[T any](t *testing.T, v any) *T {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out := new(T)
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return out
}

// compare judges new pods on a random cluster both ways.
func compare(t *testing.T, seed uint64, pods int, pairs, refused map[ours.Filter]int) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d := draw{rand.New(rand.NewPCG(seed, 36))}
	const nodesAtMost = 9
	shelf := d.shelf(nodesAtMost)
	cluster := ours.New(&ours.Options{Namespaces: spaces(), Storage: shelf.storage})
	var nodes []*corev1.Node
	var there []*corev1.Pod
	var names []string
	for i := range 3 + d.IntN(6) {
		n := d.node(i)
		if err := cluster.SetNode(n); err != nil {
			t.Fatal(err)
		}
		nodes, names = append(nodes, as[corev1.Node](t, n)), append(names, n.Name)
	}
	for i := range d.IntN(16) {
		p := d.pod(fmt.Sprint("there-", i))
		p.Spec.NodeName, p.Status.Phase = names[d.IntN(len(names))], fairlead.PodRunning
		if d.one(8) {
			at := time.Unix(1e9, 0)
			p.DeletionTimestamp = &at
		}
		if err := cluster.Add(p); err != nil {
			t.Fatal(err)
		}
		there = append(there, as[corev1.Pod](t, p))
	}
	snapshot := cache.NewSnapshot(there, nodes)
	infos, err := snapshot.NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	all := plugins(t, ctx, snapshot, shelf.objects)
	for i := range pods {
		p := d.pod(fmt.Sprint("new-", i))
		theirPod := as[corev1.Pod](t, p)
		for filter, fits := range judged(ctx, all, theirPod, infos) {
			for _, name := range names {
				no := slices.ContainsFunc(cluster.Evaluate(p, name), func(r ours.Reason) bool { return question(r.Filter) == filter })
				pairs[filter]++
				if no {
					refused[filter]++
				}
				if no == fits[name] {
					pod, _ := json.Marshal(p)
					node, _ := json.Marshal(cluster.Node(name))
					t.Fatalf("seed %d: %s: the scheduler says %v, we say %v\npod %s\nnode %s", seed, filter, fits[name], !no, pod, node)
				}
			}
		}
	}
}

// TestScheduler: each filter gives the verdict of kube-scheduler's own plugin, for
// random pods on the nodes of random clusters: a million pairs in long runs.
func TestScheduler(t *testing.T) {
	metrics.Register()
	pairs, refused := map[ours.Filter]int{}, map[ours.Filter]int{}
	const pods = 10
	n := long.N(400, 185_000)
	for seed := range uint64(n / pods) {
		compare(t, seed, pods, pairs, refused)
	}
	for filter, all := range pairs {
		t.Logf("%-18s %7d pairs, %7d refused", filter, all, refused[filter])
		if refused[filter] == 0 || refused[filter] == all {
			t.Errorf("%s: of %d pairs %d are refused: that compares nothing", filter, all, refused[filter])
		}
	}
}
