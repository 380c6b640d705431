package plan_test

import (
	"log"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/plan"
	ctrl "sigs.k8s.io/controller-runtime"
)

// A complete operator that carries out the ClusterPlan. Without a graph it uses the
// updates that the ClusterVersion lists.
func ExampleSetupWithManager() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{LeaderElection: true, LeaderElectionID: "mine", LeaderElectionNamespace: "my-operator"})
	if err != nil {
		log.Fatal(err)
	}
	direct, err := kube.Direct(mgr)
	if err != nil {
		log.Fatal(err)
	}
	store, err := kube.NewStore(direct, "my-operator", "plan")
	if err != nil {
		log.Fatal(err)
	}
	err = plan.SetupWithManager(mgr, plan.Options{
		Every: time.Minute,
		Store: kube.NewCached(store), // only the leader writes
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(mgr.Start(ctrl.SetupSignalHandler()))
}
