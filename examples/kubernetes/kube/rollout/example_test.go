package rollout_test

import (
	"log"
	"os"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/rollout"
	ctrl "sigs.k8s.io/controller-runtime"
)

// A complete operator that brings the nodes of MachineConfigPools to their
// configuration. Nodes are drained by DrainRequests, so drain.SetupWithManager must
// be called for the same manager, or by another operator.
func ExampleSetupWithManager() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{LeaderElection: true, LeaderElectionID: "mine", LeaderElectionNamespace: "my-operator"})
	if err != nil {
		log.Fatal(err)
	}
	direct, err := kube.Direct(mgr)
	if err != nil {
		log.Fatal(err)
	}
	store, err := kube.NewStore(direct, "my-operator", "rollout")
	if err != nil {
		log.Fatal(err)
	}
	err = rollout.SetupWithManager(mgr, rollout.Options{
		Last:  os.Getenv("NODE_NAME"), // the node that this runs on
		Store: kube.NewCached(store),  // only the leader writes
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(mgr.Start(ctrl.SetupSignalHandler()))
}
