package fleet_test

import (
	"log"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/fleet"
	ctrl "sigs.k8s.io/controller-runtime"
)

// The whole of an operator that has machines replaced as MachineHealthChecks ask for.
// It keeps no state.
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

// The whole of an operator that brings a control plane to new machines, where the set
// changes or somebody deletes one. It keeps no state.
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
