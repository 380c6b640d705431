package shard_test

import (
	"log"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/shard"
	ctrl "sigs.k8s.io/controller-runtime"
)

// A complete operator whose replicas share the nodes. No leader is elected.
func ExampleMember_Manager() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{})
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
	member, err := shard.New(shard.Options{Client: direct, Namespace: "my-operator", Name: "mine", Shards: 16})
	if err != nil {
		log.Fatal(err)
	}
	if err := mgr.Add(member); err != nil {
		log.Fatal(err)
	}
	if err := drain.SetupWithManager(member.Manager(mgr), drain.Options{Store: member.Store(store)}); err != nil {
		log.Fatal(err)
	}
	log.Fatal(mgr.Start(ctrl.SetupSignalHandler()))
}
