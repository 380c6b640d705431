package whatif_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
	"github.com/fairlead/fairlead/taints/whatif"
)

// BenchmarkWhatIf asks what becomes of 5,000 nodes and 150,000 pods in three
// zones when one of them is dark for 12 minutes.
func BenchmarkWhatIf(b *testing.B) {
	c := new(taints.Cluster)
	controller := true
	for i := range 5000 {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("n%d", i), UID: fmt.Sprint(i), Labels: map[string]string{eviction.LabelZone: string(rune('a' + i%3))}}}
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True", LastTransitionTime: start}}
		c.Nodes = append(c.Nodes, n)
		for j := range 30 {
			p := waitingPod(i*30+j, n.Name)
			p.OwnerReferences = []fairlead.OwnerReference{{Kind: "ReplicaSet", Controller: &controller}}
			c.Pods = append(c.Pods, p)
		}
	}
	q := &whatif.Question{Start: start, Events: []whatif.Event{{Zone: "b", Dark: 12 * time.Minute}}}
	var p *whatif.Prediction
	for b.Loop() {
		var err error
		if p, err = whatif.Predict(c, q, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(p.Evicted), "evicted")
}

// waitingPod tolerates everything of these benchmarks for some minutes.
func waitingPod(i int, node string) fairlead.Pod {
	seconds := int64(300 + i%100)
	p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("p%d", i), UID: fmt.Sprintf("u%d", i), CreationTimestamp: start}}
	p.Spec.NodeName = node
	for _, key := range []string{taints.KeyNotReady, taints.KeyUnreachable, "a", "b"} {
		p.Spec.Tolerations = append(p.Spec.Tolerations, fairlead.Toleration{Key: key, Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute, TolerationSeconds: &seconds})
	}
	return p
}
