package clusterversion_test

import (
	"log"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	ctrl "sigs.k8s.io/controller-runtime"
)

// A complete operator that takes a cluster from one release to the next:
// releases are directories, and one digest is trusted.
func ExampleSetupWithManager() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{LeaderElection: true, LeaderElectionID: "mine", LeaderElectionNamespace: "my-operator"})
	if err != nil {
		log.Fatal(err)
	}
	direct, err := kube.Direct(mgr)
	if err != nil {
		log.Fatal(err)
	}
	store, err := kube.NewStore(direct, "my-operator", "cvo")
	if err != nil {
		log.Fatal(err)
	}
	err = clusterversion.SetupWithManager(mgr, &clusterversion.Options{
		Name:     "version",
		Own:      cvo.Release{Image: "registry.example/release@sha256:8c04", Version: "4.19.1"},
		Source:   clusterversion.Directory("/var/lib/releases"), // or OpenRelease of a registry.Client
		Verifier: cvo.Digests{"sha256:8c04"},                    // or a verifier of package signature
		Policy:   &cvo.Policy{Capabilities: cvo.KnownCapabilities()},
		Store:    kube.NewCached(store), // only the leader writes
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(mgr.Start(ctrl.SetupSignalHandler()))
}
