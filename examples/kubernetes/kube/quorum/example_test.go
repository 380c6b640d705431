package quorum_test

import (
	"crypto/tls"
	"log"
	"net/http"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/quorum"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
)

// A complete operator that keeps control plane machines until their etcd member has
// been removed. It sets its hook on those machines.
func ExampleSetupWithManager() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{LeaderElection: true, LeaderElectionID: "mine", LeaderElectionNamespace: "my-operator"})
	if err != nil {
		log.Fatal(err)
	}
	direct, err := kube.Direct(mgr)
	if err != nil {
		log.Fatal(err)
	}
	store, err := kube.NewStore(direct, "my-operator", "quorum")
	if err != nil {
		log.Fatal(err)
	}
	certificate, err := tls.LoadX509KeyPair("/etc/etcd/tls.crt", "/etc/etcd/tls.key")
	if err != nil {
		log.Fatal(err)
	}
	secured := &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}}
	err = quorum.SetupWithManager(mgr, quorum.Options{
		Backend: quorum.Backend{
			Etcd:      &quorum.Etcd{Endpoints: []string{"https://10.0.0.1:2379", "https://10.0.0.2:2379"}, HTTP: &http.Client{Transport: secured}},
			Desired:   3,
			Namespace: "openshift-machine-api",
			Machines:  labels.SelectorFromSet(labels.Set{"machine.openshift.io/cluster-api-machine-role": "master"}),
			Pods:      quorum.Pods{Namespace: "openshift-etcd", Selector: labels.SelectorFromSet(labels.Set{"app": "etcd"})},
		},
		Store: kube.NewCached(store), // only the leader writes
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(mgr.Start(ctrl.SetupSignalHandler()))
}
