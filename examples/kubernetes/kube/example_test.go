package kube_test

import (
	"context"
	"fmt"
	"log"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/taints"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// Each key of the store is a ConfigMap.
func ExampleStore() {
	ctx := context.Background()
	c := fake.NewClientBuilder().Build() // in an operator, of client.NewWithWatch
	store, err := kube.NewStore(c, "my-operator", "taints")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := store.Put(ctx, "taints.n1", []byte(`{"version":1}`), ""); err != nil {
		log.Fatal(err)
	}
	_, err = store.Put(ctx, "taints.n1", []byte(`{"version":2}`), "") // another writer was first
	fmt.Println(err)
	var all corev1.ConfigMapList
	if err := c.List(ctx, &all); err != nil {
		log.Fatal(err)
	}
	fmt.Println(all.Items[0].Name)
	// Output:
	// store my-operator/taints: put key "taints.n1": key changed since it was read
	// taints-taints-n1-f71be6815e74e7719900fe9b
}

// Objects of client-go become objects that engines read.
func ExamplePod() {
	p := kube.Pod(&corev1.Pod{Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{{Key: "maintenance", Operator: corev1.TolerationOpExists}}}})
	taint := fairlead.Taint{Key: "maintenance", Effect: fairlead.NoExecute}
	fmt.Println(taints.FirstMatching(p.Spec.Tolerations, &taint, nil) >= 0)
	// Output:
	// true
}

// The text of a wait in an event.
func ExampleSentence() {
	fmt.Println(kube.Sentence(fairlead.Block{
		Subject: "machine m1", Message: "hook CopyDisk has to be removed first",
		Owner: "storage-controller", Unblock: "storage-controller removes it",
	}))
	// Output:
	// machine m1: hook CopyDisk has to be removed first (owner storage-controller); to unblock: storage-controller removes it
}
