package machines_test

import (
	"log"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	ctrl "sigs.k8s.io/controller-runtime"
)

// A complete operator that takes machines of the Cluster API through their
// deletion, two at a time.
func ExampleSetupWithManager() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{LeaderElection: true, LeaderElectionID: "mine", LeaderElectionNamespace: "my-operator"})
	if err != nil {
		log.Fatal(err)
	}
	direct, err := kube.Direct(mgr)
	if err != nil {
		log.Fatal(err)
	}
	store, err := kube.NewStore(direct, "my-operator", "lifecycle")
	if err != nil {
		log.Fatal(err)
	}
	ctx := ctrl.SetupSignalHandler()
	err = machines.SetupWithManager(ctx, mgr, machines.Options{
		Kind:   machines.KindClusterAPI, // the infrastructure object represents the instance
		Policy: &lifecycle.Policy{DrainTimeout: time.Hour},
		Limits: []drain.Limit{{Name: "at-a-time", Max: lifecycle.IntOrString{Int: 2}}},
		Store:  kube.NewCached(store), // only the leader writes
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(mgr.Start(ctx))
}
