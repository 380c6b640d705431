package payload_test

import (
	"fmt"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead/cvo/payload"
)

// release is a small payload.
func release() fstest.MapFS {
	fsys := fstest.MapFS{
		"release-manifests/release-metadata": {Data: []byte(`{"kind": "cincinnati-metadata-v0", "version": "4.20.1"}`)},
		"release-manifests/image-references": {Data: []byte(`{"kind": "ImageStream", "apiVersion": "image.openshift.io/v1", "metadata": {"name": "4.20.1"}}`)},
	}
	add := func(file, kind, name string) {
		text := "apiVersion: v1\nkind: " + kind + "\nmetadata:\n  name: " + name +
			"\n  annotations:\n    include.release.openshift.io/self-managed-high-availability: \"true\"\n"
		if kind == "ClusterOperator" {
			text = "apiVersion: config.openshift.io/v1" + text[len("apiVersion: v1"):]
		}
		fsys[file] = &fstest.MapFile{Data: []byte(text)}
	}
	add("manifests/0000_00_cluster-version-operator_00_namespace.yaml", "Namespace", "openshift-cluster-version")
	add("release-manifests/0000_10_etcd_00_service.yaml", "Service", "etcd")
	add("release-manifests/0000_10_etcd_01_operator.yaml", "ClusterOperator", "etcd")
	add("release-manifests/0000_20_dns_00_operator.yaml", "ClusterOperator", "dns")
	add("release-manifests/0000_20_ingress_00_config.yaml", "ConfigMap", "ingress")
	return fsys
}

// What a release holds, and in which order it is applied.
func Example() {
	p, err := payload.Load(release(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := p.Select(nil)
	g := payload.NewGraph(s.Tasks, nil)
	for i, n := range g.Nodes {
		fmt.Printf("%d %q after %v\n", i, g.Title(&n), n.In)
		for t := n.First; t < n.First+n.Count; t++ {
			fmt.Println("   ", g.Label(t))
		}
	}

	// Output:
	// 0 "" after []
	// 1 "00 cluster-version-operator to 10 etcd" after [0]
	//     namespace "openshift-cluster-version" (1 of 5)
	//     service "etcd" (2 of 5)
	//     clusteroperator "etcd" (3 of 5)
	// 2 "20 dns" after [1]
	//     clusteroperator "dns" (4 of 5)
	// 3 "20 ingress" after [1]
	//     configmap "ingress" (5 of 5)
}

// About how long an update takes, and what it waits for.
func ExampleNewPlan() {
	p, err := payload.Load(release(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := payload.NewPlan(p.Select(nil).Tasks, &payload.PlanOptions{
		Estimates: payload.Estimates{Operators: map[string]time.Duration{"etcd": 9 * time.Minute}},
	})
	fmt.Println(plan.Schedule.Total, "of", plan.Schedule.Work)
	for _, t := range plan.Critical {
		fmt.Println(plan.Graph.Label(t), plan.Durations[t])
	}

	// Output:
	// 14m2s of 14m3s
	// namespace "openshift-cluster-version" (1 of 5) 1s
	// service "etcd" (2 of 5) 1s
	// clusteroperator "etcd" (3 of 5) 9m0s
	// clusteroperator "dns" (4 of 5) 5m0s
}

// Carrying out tasks, two at a time.
func ExampleRun() {
	p, err := payload.Load(release(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	g := payload.NewGraph(p.Select(nil).Tasks, nil)
	run := g.Start(&payload.RunOptions{Workers: 2})
	for !run.Over() {
		var begun []int
		for task, ok := run.Next(); ok; task, ok = run.Next() {
			fmt.Println("begin", g.Label(task))
			begun = append(begun, task)
		}
		for _, task := range begun {
			run.Done(task)
		}
	}
	fmt.Println(run.Left(), "left")

	// Output:
	// begin namespace "openshift-cluster-version" (1 of 5)
	// begin service "etcd" (2 of 5)
	// begin clusteroperator "etcd" (3 of 5)
	// begin clusteroperator "dns" (4 of 5)
	// begin configmap "ingress" (5 of 5)
	// 0 left
}
