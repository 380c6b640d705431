package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fairlead/fairlead/taints"
)

// placeAndEvict asks what the taints of two nodes mean for two pods, and what
// would happen if one of the nodes went dark.
func placeAndEvict(w io.Writer) error {
	quay := &taints.Cluster{
		Nodes: []taints.Node{
			{
				ObjectMeta: taints.ObjectMeta{Name: "quay-1"},
				Spec:       taints.NodeSpec{Taints: []taints.Taint{{Key: "dedicated", Value: "cranes", Effect: taints.NoSchedule}}},
			},
			{ObjectMeta: taints.ObjectMeta{Name: "quay-2"}},
		},
		Pods: []taints.Pod{
			{
				ObjectMeta: taints.ObjectMeta{Name: "crane", Namespace: namespace},
				Spec:       taints.PodSpec{Tolerations: []taints.Toleration{{Key: "dedicated", Operator: taints.Equal, Value: "crane"}}},
			},
			{ObjectMeta: taints.ObjectMeta{Name: "kiosk", Namespace: namespace}, Spec: taints.PodSpec{NodeName: "quay-2"}},
		},
	}
	crane, kiosk := &quay.Pods[0], &quay.Pods[1]
	indent(w, taints.Explain(crane, &quay.Nodes[0], nil).String())

	kiosk.Spec.Tolerations = taints.DefaultTolerations(nil, 300, 300)
	for i := range quay.Nodes {
		quay.Nodes[i].Status.Conditions = []taints.NodeCondition{{Type: "Ready", Status: "True"}}
	}
	fmt.Fprint(w, "\n   And if nothing is heard of quay-2 for ten minutes?\n\n")
	prediction, err := taints.WhatIf(quay, &taints.Question{
		Start:  time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC),
		Events: []taints.Event{{Nodes: []string{"quay-2"}, Dark: 10 * time.Minute}},
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
