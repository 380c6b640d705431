package whatif_test

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
	"github.com/fairlead/fairlead/taints/whatif"
)

// webPod tolerates that its node is unreachable for five minutes, as most pods
// do.
func webPod(node string) fairlead.Pod {
	seconds := int64(300)
	p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "web-0", UID: "4d2a"}}
	p.Spec.NodeName = node
	p.Spec.Tolerations = []fairlead.Toleration{
		{Key: taints.KeyUnreachable, Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute, TolerationSeconds: &seconds},
	}
	return p
}

func ExamplePredict() {
	cluster := new(taints.Cluster)
	for _, zone := range []string{"a", "b"} {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "worker-" + zone, Labels: map[string]string{eviction.LabelZone: zone}}}
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True"}}
		cluster.Nodes = append(cluster.Nodes, n)
	}
	cluster.Pods = []fairlead.Pod{webPod("worker-b")}
	p, err := whatif.Predict(cluster, &whatif.Question{
		Start:  time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Events: []whatif.Event{{Zone: "b", Dark: 12 * time.Minute}},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := p.WriteText(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	//             2026-03-01T12:00:00Z
	//        +0s  zone b (1 node): dark for 12m0s
	//       +50s  node worker-b Ready is Unknown
	//       +50s  node worker-b + node.kubernetes.io/unreachable:NoSchedule
	//       +50s  zone "/b": FullDisruption
	//       +50s  node worker-b + node.kubernetes.io/unreachable:NoExecute
	//     +5m50s  evict shop/web-0 from worker-b for node.kubernetes.io/unreachable:NoExecute, tolerated for 300 s; not managed by a controller
	//     +12m0s  node worker-b Ready is True
	//     +12m0s  node worker-b - node.kubernetes.io/unreachable:NoSchedule
	//     +12m0s  node worker-b - node.kubernetes.io/unreachable:NoExecute
	//     +12m0s  zone "/b": Normal
	//
	// 1 pod is evicted, the last after 5m50s
	// 1 of them is not managed by a controller: shop/web-0
}

// Questions are written as people write them.
func ExampleQuestion() {
	var q whatif.Question
	err := json.Unmarshal([]byte(`{"horizon": "1h0m0s", "events": [{"nodes": ["worker-a"], "dark": "-1s"}]}`), &q)
	fmt.Println(q.Horizon, q.Events[0].Dark, err)
	text, _ := json.Marshal(q)
	fmt.Println(string(text))
	// Output:
	// 1h0m0s -1s <nil>
	// {"events":[{"nodes":["worker-a"],"dark":"-1s"}],"horizon":"1h0m0s"}
}
