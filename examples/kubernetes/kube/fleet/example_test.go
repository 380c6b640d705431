package fleet_test

import (
	"log"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/fleet"
	ctrl "sigs.k8s.io/controller-runtime"
)

// A complete operator that replaces machines as MachineHealthChecks specify. It keeps
// no state.
func ExampleSetupWithManager() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{LeaderElection: true, LeaderElectionID: "mine", LeaderElectionNamespace: "my-operator"})
	if err != nil {
		log.Fatal(err)
	}
	if err := fleet.SetupWithManager(mgr, fleet.Options{Workers: 2}); err != nil {
		log.Fatal(err)
	}
	log.Fatal(mgr.Start(ctrl.SetupSignalHandler()))
}

// A complete operator that replaces the machines of a control plane when the set
// changes or a machine is deleted. It keeps no state.
func ExampleSetupControlPlaneWithManager() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{LeaderElection: true, LeaderElectionID: "mine", LeaderElectionNamespace: "my-operator"})
	if err != nil {
		log.Fatal(err)
	}
	if err := fleet.SetupControlPlaneWithManager(mgr, fleet.Options{}); err != nil {
		log.Fatal(err)
	}
	log.Fatal(mgr.Start(ctrl.SetupSignalHandler()))
}
