package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/whatif"
)

// placeAndEvict asks what the taints of two nodes mean for two pods, and what would
// happen if one of the nodes stopped reporting.
func placeAndEvict(w io.Writer) error {
	quay := &taints.Cluster{
		Nodes: []fairlead.Node{
			{
				ObjectMeta: fairlead.ObjectMeta{Name: "quay-1"},
				Spec:       fairlead.NodeSpec{Taints: []fairlead.Taint{{Key: "dedicated", Value: "cranes", Effect: fairlead.NoSchedule}}},
			},
			{ObjectMeta: fairlead.ObjectMeta{Name: "quay-2"}},
		},
		Pods: []fairlead.Pod{
			{
				ObjectMeta: fairlead.ObjectMeta{Name: "crane", Namespace: namespace},
				Spec:       fairlead.PodSpec{Tolerations: []fairlead.Toleration{{Key: "dedicated", Operator: fairlead.TolerationEqual, Value: "crane"}}},
			},
			{ObjectMeta: fairlead.ObjectMeta{Name: "kiosk", Namespace: namespace}, Spec: fairlead.PodSpec{NodeName: "quay-2"}},
		},
	}
	crane, kiosk := &quay.Pods[0], &quay.Pods[1]
	indent(w, taints.Explain(crane, &quay.Nodes[0], nil).String())

	kiosk.Spec.Tolerations = taints.DefaultTolerations(nil, 300, 300)
	for i := range quay.Nodes {
		quay.Nodes[i].Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True"}}
	}
	fmt.Fprint(w, "\n   And if nothing is heard of quay-2 for ten minutes?\n\n")
	prediction, err := whatif.Predict(quay, &whatif.Question{
		Start:  time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC),
		Events: []whatif.Event{{Nodes: []string{"quay-2"}, Dark: 10 * time.Minute}},
	}, nil)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := prediction.WriteText(&text); err != nil {
		return err
	}
	indent(w, text.String())
	return nil
}
