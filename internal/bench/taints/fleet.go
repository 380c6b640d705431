package taints

import (
	"fmt"
	"math/rand/v2"

	v1 "k8s.io/api/core/v1"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
)

// fleet is nodes and pods, in our types and in those of Kubernetes.
type fleet struct {
	nodes []fairlead.Node
	pods  []fairlead.Pod
	// The taints of each node, and the tolerations of each pod, for Kubernetes.
	taints      [][]v1.Taint
	tolerations [][]v1.Toleration
}

// theirTaint converts a taint to the type of Kubernetes.
func theirTaint(t fairlead.Taint) v1.Taint {
	return v1.Taint{Key: t.Key, Value: t.Value, Effect: v1.TaintEffect(t.Effect)}
}

// theirToleration converts a toleration to the type of Kubernetes.
func theirToleration(t fairlead.Toleration) v1.Toleration {
	return v1.Toleration{
		Key: t.Key, Operator: v1.TolerationOperator(t.Operator), Value: t.Value, Effect: v1.TaintEffect(t.Effect),
		TolerationSeconds: t.TolerationSeconds,
	}
}

func (f *fleet) addNode(n fairlead.Node) {
	list := make([]v1.Taint, len(n.Spec.Taints))
	for i, t := range n.Spec.Taints {
		list[i] = theirTaint(t)
	}
	f.nodes, f.taints = append(f.nodes, n), append(f.taints, list)
}

func (f *fleet) addPod(p fairlead.Pod) {
	list := make([]v1.Toleration, len(p.Spec.Tolerations))
	for i, t := range p.Spec.Tolerations {
		list[i] = theirToleration(t)
	}
	f.pods, f.tolerations = append(f.pods, p), append(f.tolerations, list)
}

// rowFleet returns nodes with three taints, and three pods with four tolerations: one
// that tolerates all, one that fails at the last taint, one that fails at the first.
func rowFleet(nodes int) *fleet {
	f := &fleet{}
	for i := range nodes {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprint("node-", i)}}
		n.Spec.Taints = []fairlead.Taint{
			{Key: "dedicated", Value: fmt.Sprint("team-", i%7), Effect: fairlead.NoSchedule},
			{Key: "example.com/gpu", Value: "true", Effect: fairlead.NoExecute},
			{Key: "example.com/spot", Effect: fairlead.NoSchedule},
		}
		f.addNode(n)
	}
	waits := []fairlead.Toleration{
		{Key: taints.KeyNotReady, Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute},
		{Key: "dedicated", Operator: fairlead.TolerationExists},
		{Key: "example.com/gpu", Operator: fairlead.TolerationEqual, Value: "true"},
		{Key: "example.com/spot", Operator: fairlead.TolerationExists},
	}
	for _, last := range []fairlead.Toleration{waits[3], {Key: "example.com/other", Operator: fairlead.TolerationExists}} {
		list := append(append([]fairlead.Toleration(nil), waits[:3]...), last)
		f.addPod(fairlead.Pod{Spec: fairlead.PodSpec{Tolerations: list}})
	}
	none := append([]fairlead.Toleration(nil), waits...)
	none[1].Key = "devoted"
	f.addPod(fairlead.Pod{Spec: fairlead.PodSpec{Tolerations: none}})
	return f
}

// matrixFleet returns a large cluster: about sixty sets of taints among the nodes, and
// about five hundred lists of tolerations among the pods.
func matrixFleet(nodes, pods int) *fleet {
	r := rand.New(rand.NewPCG(1, 2))
	var keys []string
	for i := range 30 {
		keys = append(keys, fmt.Sprintf("example.com/pool-%d", i))
	}
	var sets [][]fairlead.Taint
	for range 60 {
		var set []fairlead.Taint
		for _, effect := range []fairlead.TaintEffect{fairlead.NoSchedule, fairlead.NoExecute, fairlead.PreferNoSchedule} {
			set = append(set, fairlead.Taint{Key: keys[r.IntN(len(keys))], Value: fmt.Sprint(r.IntN(3)), Effect: effect})
		}
		sets = append(sets, set)
	}
	var lists [][]fairlead.Toleration
	for range 500 {
		list := taints.DefaultTolerations(nil, 300, 300)
		for range 2 {
			list = append(list, fairlead.Toleration{Key: keys[r.IntN(len(keys))], Operator: fairlead.TolerationExists})
		}
		if r.IntN(4) == 0 {
			list[2] = fairlead.Toleration{Operator: fairlead.TolerationExists}
		}
		lists = append(lists, list)
	}
	f := &fleet{}
	for i := range nodes {
		f.addNode(fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprint("node-", i)}, Spec: fairlead.NodeSpec{Taints: sets[r.IntN(len(sets))]}})
	}
	for i := range pods {
		f.addPod(fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprint("pod-", i)}, Spec: fairlead.PodSpec{Tolerations: lists[r.IntN(len(lists))]}})
	}
	return f
}
