package extension_test

import (
	"log"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/extension"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/examples/kubernetes/served"
	engine "github.com/fairlead/fairlead/solver/olm/extension"
	ctrl "sigs.k8s.io/controller-runtime"
)

// A complete operator that installs cluster extensions from catalogs on disk, or
// from catalogd, with its state in the cluster.
func ExampleSetupWithManager() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{LeaderElection: true, LeaderElectionID: "mine", LeaderElectionNamespace: "my-operator"})
	if err != nil {
		log.Fatal(err)
	}
	direct, err := kube.Direct(mgr)
	if err != nil {
		log.Fatal(err)
	}
	store, err := kube.NewStore(direct, "my-operator", "extension")
	if err != nil {
		log.Fatal(err)
	}
	err = extension.SetupWithManager(mgr, extension.Options{
		BackendOptions: extension.BackendOptions{
			Services: served.New(nil),
			Images:   operators.Directory("/var/lib/images"),
			Together: true, // one may meet the requirements of another
		},
		Policy: &engine.Policy{KeepRevisions: 3},
		Store:  kube.NewCached(store), // only the leader writes
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(mgr.Start(ctrl.SetupSignalHandler()))
}
