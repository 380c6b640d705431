package eviction_test

import (
	"context"
	"fmt"
	engine "github.com/fairlead/fairlead/taints/eviction"
	"log"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/eviction"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// A complete operator that evicts pods by taints, with its state in the
// cluster.
func ExampleSetupWithManager() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{LeaderElection: true, LeaderElectionID: "mine", LeaderElectionNamespace: "my-operator"})
	if err != nil {
		log.Fatal(err)
	}
	direct, err := kube.Direct(mgr)
	if err != nil {
		log.Fatal(err)
	}
	store, err := kube.NewStore(direct, "my-operator", "taints")
	if err != nil {
		log.Fatal(err)
	}
	ctx := ctrl.SetupSignalHandler()
	err = eviction.SetupWithManager(ctx, mgr, eviction.Options{
		Policy: &engine.Policy{RespectBudgets: true},
		Store:  kube.NewCached(store), // only the leader writes
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(mgr.Start(ctx))
}

// A backend can be used by your own Runner: here to show what would happen,
// with a client without a cluster.
func ExampleBackend() {
	seconds := int64(300)
	c := fake.NewClientBuilder().
		WithIndex(&corev1.Pod{}, eviction.NodeIndex, func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }).
		WithObjects(
			&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "maintenance", Effect: corev1.TaintEffectNoExecute}}}},
			&corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1"},
				Spec: corev1.PodSpec{NodeName: "n1", Tolerations: []corev1.Toleration{
					{Key: "maintenance", Operator: corev1.TolerationOpExists, TolerationSeconds: &seconds},
				}},
			},
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cache", UID: "2"}, Spec: corev1.PodSpec{NodeName: "n1"}},
		).Build()
	runner, err := engine.NewRunner(&eviction.Backend{Client: c, Reader: c}, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	d, err := runner.Preview(context.Background(), "n1")
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range d.Actions {
		fmt.Println("evict", a.(engine.Evict).Pod)
	}
	for _, b := range d.Blocked {
		fmt.Println(b.Subject, b.Reason)
	}
	// Output:
	// evict shop/cache
	// pod shop/cache EvictionPending
	// node n1 Tolerating
}
