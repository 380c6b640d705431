package snapshot_test

import (
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/fairlead/fairlead/cvo/snapshot"
)

func ExampleReader_Stream() {
	var r snapshot.Reader
	err := r.Stream(strings.NewReader(`
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: web-0, namespace: shop, creationTimestamp: "2026-01-02T15:04:05Z"}
  spec: {nodeName: worker-0}
- apiVersion: v1
  kind: Pod
  metadata: {name: dns-0, namespace: kube-system}
  spec: {nodeName: worker-0}
`), "pods.yaml")
	if err != nil {
		panic(err)
	}
	s, err := r.Snapshot()
	if err != nil {
		panic(err)
	}
	for _, p := range s.PodsOn("worker-0") {
		fmt.Println(p.ObjectMeta)
	}
	_, is := s.Pods.Get("shop", "web-1")
	_, node := s.Nodes.Get("", "worker-0")
	fmt.Println(is, node, s.Clock.At, s.Clock.Source)
	// Output:
	// kube-system/dns-0
	// shop/web-0
	// Absent Unknown 2026-01-02 15:04:05 +0000 UTC pod shop/web-0, creationTimestamp
}

func ExampleReader_FS() {
	dump := fstest.MapFS{ // as oc adm inspect writes it
		"namespaces/shop/core/pods.yaml": {Data: []byte("apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: web-0, namespace: shop}\n  spec: {priority: high}\n")},
		"namespaces/bank/core/pods.yaml": {Data: []byte("apiVersion: v1\nkind: PodList\nitems: []\n")},
		"namespaces/tree/core/pods.yaml": {Data: []byte("{\"kind\": \"PodList\", \"items\": [{\"metadata\": {\"name\"")},
	}
	var r snapshot.Reader
	if err := r.FS(dump, "inspect.local"); err != nil {
		panic(err)
	}
	s, err := r.Snapshot()
	if err != nil {
		panic(err)
	}
	for _, namespace := range []string{"shop", "bank", "tree", "other"} {
		fmt.Println(namespace, s.Pods.Scope.Covers(namespace), len(s.Pods.In(namespace)))
	}
	for _, w := range s.Warnings {
		fmt.Println(&w)
	}
	// Output:
	// shop true 1
	// bank true 0
	// tree false 0
	// other false 0
	// inspect.local/namespaces/shop/core/pods.yaml:5:20: Pod shop/web-0: spec.priority: "high" is not a whole number; the field is taken as unknown
	// inspect.local/namespaces/tree/core/pods.yaml:1:51: the JSON text ends before its value does; the file may be cut off
}
