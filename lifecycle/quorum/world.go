package quorum

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
)

// The hook of this package, with the names that the etcd operator uses.
const (
	HookName  = "EtcdQuorumOperator"   // the name
	HookOwner = "clusteroperator/etcd" // the owner
)

// DomainLabel is the label of machines that names their failure domain.
const DomainLabel = "machine.openshift.io/zone"

// Hook returns the preDrain hook of machines with a voting member.
func Hook() lifecycle.Hook { return lifecycle.Hook{Name: HookName, Owner: HookOwner} }

// World is what is observed of a control plane. Lists may be in any order. Step
// does not change it.
type World struct {
	// Revision is that of the membership: it changes whenever Members does.
	Revision string `json:"revision"`
	// Members are those of the cluster, learners included; see Unanswered.
	Members []Member `json:"members"`
	// Unanswered says why the members are unknown, such as that etcd does not answer;
	// then Revision and Members do not count. Empty if they are known.
	Unanswered string `json:"unanswered,omitempty"`
	// Machines are those of the control plane.
	Machines []lifecycle.Machine `json:"machines"`
	// Hosts are nodes on which a member could run.
	Hosts []Host `json:"hosts,omitempty"`
	// Guards are pods that keep the nodes of members from being drained together.
	Guards []Guard `json:"guards,omitempty"`
	// Desired is how many voters the cluster should have.
	Desired int `json:"desired"`
	// NoMachines says that machines are not managed here: then there are no hooks,
	// no voter is removed, and learners are promoted regardless of their machine.
	NoMachines bool `json:"noMachines,omitempty"`
	// Busy says why the membership must not shrink at the moment: the bootstrap is
	// not complete, or a new revision is being rolled out. Empty if it may.
	Busy string `json:"busy,omitempty"`
	// Endpoints are the addresses of voters that clients use. Nil means that they
	// are not checked.
	Endpoints []string `json:"endpoints,omitempty"`
	// Outcomes are the results of the last attempts; the Runner fills them in.
	Outcomes []fairlead.Outcome `json:"outcomes,omitempty"`
}

// Member is one member of the cluster.
type Member struct {
	ID        string   `json:"id"`                // unique, never reused
	Name      string   `json:"name,omitempty"`    // mostly that of its node
	Addresses []string `json:"addresses"`         // IP addresses of its peer URLs
	Learner   bool     `json:"learner,omitempty"` // it does not vote
	Healthy   bool     `json:"healthy"`           // it answers
	// CaughtUp is whether a learner has all data of the leader. A backend that does
	// not know says true, and returns the refusal of the promotion.
	CaughtUp bool `json:"caughtUp,omitempty"`
}

// Host is a node on which a member could run.
type Host struct {
	Node      string   `json:"node"`               // its name
	Addresses []string `json:"addresses"`          // its internal IP addresses
	Deleting  bool     `json:"deleting,omitempty"` // the node object is being deleted
	// Waiting is whether the process exists and waits to be added: its pod runs,
	// and is not ready.
	Waiting bool `json:"waiting"`
}

// Guard is a pod that a disruption budget counts, one on each node with a
// member.
type Guard struct {
	Namespace string `json:"namespace"` // the pod's
	Name      string `json:"name"`      // the pod's
	UID       string `json:"uid"`       // the pod's
	Node      string `json:"node"`      // where it is
	Cordoned  bool   `json:"cordoned"`  // whether that node is cordoned
}

// internal returns the internal addresses of a machine.
func internal(m *lifecycle.Machine) []string {
	var all []string
	for _, a := range m.Status.Addresses {
		if a.Type == "InternalIP" {
			all = append(all, a.Address)
		}
	}
	return all
}

func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}

// hook returns the hook of that name, nil if the machine has none.
func hook(m *lifecycle.Machine) *lifecycle.Hook {
	for i := range m.Spec.LifecycleHooks.PreDrain {
		if m.Spec.LifecycleHooks.PreDrain[i].Name == HookName {
			return &m.Spec.LifecycleHooks.PreDrain[i]
		}
	}
	return nil
}

// majority is how many of n voters are a quorum.
func majority(n int) int { return n/2 + 1 }

// peerURL is the URL of a member at an address.
func peerURL(address string) string {
	if strings.Contains(address, ":") {
		address = "[" + address + "]"
	}
	return "https://" + address + ":2380"
}
