package diagnosis_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/snapshot"
)

func ExampleDiagnose() {
	const dump = `
apiVersion: v1
kind: List
items:
- {kind: Node, apiVersion: v1, metadata: {name: a}, spec: {unschedulable: true}, status: {allocatable: {cpu: "4", pods: "10"}, conditions: [{type: Ready, status: "True", lastHeartbeatTime: "2026-03-01T12:00:00Z"}]}}
- {kind: Pod, apiVersion: v1, metadata: {name: web, namespace: shop}, status: {phase: Pending}}
`
	var r snapshot.Reader
	if err := r.Stream(strings.NewReader(dump), "dump.yaml"); err != nil {
		panic(err)
	}
	s, err := r.Snapshot()
	if err != nil {
		panic(err)
	}
	d := diagnosis.Diagnose(s, time.Time{}, nil)
	fmt.Println(d.Word)
	fmt.Println(d.Says[0])
	fmt.Println(d.Steps[0].Command)
	fmt.Println(d.Steps[0].Says)
	// Output:
	// Degraded
	// node a is cordoned, and nothing that is known needs that
	// kubectl uncordon a
	// shop/web
}

func ExampleGraph_Causes() {
	g := &diagnosis.Graph{
		Nodes: []diagnosis.Node{
			{ID: "pool/worker", Kind: "Pool", State: diagnosis.Waiting}, {ID: "node/a", Kind: "Node", State: diagnosis.Faulty}, {ID: "node/b", Kind: "Node", State: diagnosis.Going},
		},
		Edges: []diagnosis.Edge{{From: "pool/worker", To: "node/a"}, {From: "pool/worker", To: "node/b"}},
	}
	g.Normal()
	for _, c := range g.Causes() {
		fmt.Println(c.Nodes, "frees", c.Frees)
	}
	// Output:
	// [node/a] frees [pool/worker]
}
