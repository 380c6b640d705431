package diagnosis

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/internal/shell"
)

// Controllers that do the work of a cluster, by the names of their leases.
const (
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
)

// leaderTime is after which time without renewal nobody leads any more.
const leaderTime = 2 * time.Minute

// leaders adds the controllers of which none has renewed its lease, although leases of others are fresh.
func (b *builder) leaders() {
	fresh := slices.ContainsFunc(b.leases, func(l snapshot.Lease) bool { return b.now.Sub(l.Spec.RenewTime).Abs() < leaderTime })
	for i := range b.leases {
		l := &b.leases[i]
		if !fresh || l.Name != controllerManager && l.Name != scheduler || b.now.Sub(l.Spec.RenewTime) < leaderTime+time.Duration(l.Spec.LeaseDurationSeconds)*time.Second {
			continue
		}
		x := Node{Kind: "Lease", Namespace: l.Namespace, Name: l.Name, State: Faulty, Reason: NoLeader, Since: l.Spec.RenewTime, Sure: Seen, Owner: "administrator"}
		does := "no controller acts: nothing replaces pods, and nothing starts Jobs"
		if l.Name == scheduler {
			does = "no pod gets a node"
		}
		x.Says = "no " + l.Name + " renews its lease, so " + does
		if l.Spec.HolderIdentity != "" {
			x.Says += " (it was held by " + l.Spec.HolderIdentity + ")"
		}
		x.do, x.command = "see why "+l.Name+" does not run", shell.Command("kubectl -n kube-system get pods -o wide -l %s", "component="+l.Name)
		if b.openshift() {
			x.command = shell.Command("oc -n %s get pods -o wide", "openshift-"+l.Name)
		}
		b.add(x)
	}
}

// waitsFor lets something wait for the lease of a controller that nobody renews.
func (b *builder) waitsFor(x *Node, id, controller string) {
	for i := range b.leases {
		lease := ID("Lease", b.leases[i].Namespace, b.leases[i].Name)
		if b.leases[i].Name == controller && (b.have[lease] || slices.Contains(b.solved, lease)) {
			b.wait(id, lease, "Leads", Derived)
			x.State = Waiting
		}
	}
}
