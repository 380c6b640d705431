package operators_test

import (
	"log"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/examples/kubernetes/served"
	"github.com/fairlead/fairlead/solver/olm"
	ctrl "sigs.k8s.io/controller-runtime"
)

// A complete operator that installs and updates others, from catalogs in
// ConfigMaps, of services, and in images on disk.
func ExampleSetupWithManager() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{LeaderElection: true, LeaderElectionID: "mine", LeaderElectionNamespace: "my-operator"})
	if err != nil {
		log.Fatal(err)
	}
	direct, err := kube.Direct(mgr)
	if err != nil {
		log.Fatal(err)
	}
	store, err := kube.NewStore(direct, "my-operator", "install")
	if err != nil {
		log.Fatal(err)
	}
	err = operators.SetupWithManager(mgr, operators.Options{
		BackendOptions: operators.BackendOptions{
			Images:   operators.Directory("/var/lib/images"), // or a registry.Client
			Services: served.New(nil),
			Resolve:  &olm.Options{NoDowngrades: true},
		},
		Store: kube.NewCached(store), // only the leader writes
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(mgr.Start(ctrl.SetupSignalHandler()))
}
