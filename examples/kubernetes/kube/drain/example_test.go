package drain_test

import (
	"log"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	engine "github.com/fairlead/fairlead/lifecycle/drain"
	ctrl "sigs.k8s.io/controller-runtime"
)

// A complete operator that takes nodes out of service as DrainRequests specify.
func ExampleSetupWithManager() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{LeaderElection: true, LeaderElectionID: "mine", LeaderElectionNamespace: "my-operator"})
	if err != nil {
		log.Fatal(err)
	}
	direct, err := kube.Direct(mgr)
	if err != nil {
		log.Fatal(err)
	}
	store, err := kube.NewStore(direct, "my-operator", "drain")
	if err != nil {
		log.Fatal(err)
	}
	err = drain.SetupWithManager(mgr, drain.Options{
		Policy: &engine.Policy{MaxBackoff: time.Minute},
		Store:  kube.NewCached(store), // only the leader writes
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(mgr.Start(ctrl.SetupSignalHandler()))
}
