package plan

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Situation is an observed cluster, as plain data.
//
// A nil list or a nil pointer means that something was not observed; an empty list means
// that there is none. What was not observed is never taken for good news: the steps that
// depend on it say so, and name the command that shows it.
type Situation struct {
	// At is when it was observed: durations and windows count from then.
	At time.Time `json:"at,omitzero"`
	// Cluster is the ClusterVersion. It is required.
	Cluster *cvo.ClusterVersion `json:"cluster"`
	// ClusterOperators are the reports of the operators of the release.
	ClusterOperators []cvo.ClusterOperator `json:"clusterOperators"`
	// Gates are what administrators must acknowledge before the minor version changes, as
	// the running release has them.
	Gates *cvo.AdminGates `json:"gates"`
	// Moves are the updates that the update service knows, of any release; see
	// FromGraph.
	Moves []Move `json:"moves"`
	// Risks say which risks of updates apply to the cluster. For a risk that is not
	// listed, that is unknown.
	Risks []Risk `json:"risks"`
	// Channels are the channels of releases, by version. A release that is not there has
	// unknown ones.
	Channels map[string][]string `json:"channels,omitempty"`
	// HealthChecks are the MachineHealthChecks that are not paused, as namespace/name.
	HealthChecks []string `json:"healthChecks,omitempty"`
	// Topology is that of the control plane, as the Infrastructure reports it, such as
	// External; empty if unknown.
	Topology string `json:"topology,omitempty"`
	// Pools are the pools of nodes, and Nodes the nodes.
	Pools []cvo.Pool      `json:"pools"`
	Nodes []fairlead.Node `json:"nodes"` // see Pools
	// Configs are the releases that machine configurations are from, by name of the
	// configuration.
	Configs map[string]string `json:"configs"`
	// Pods are all of the cluster, Budgets their disruption budgets, and Replicas how many
	// pods controllers should have, as far as known.
	Pods     []fairlead.Pod                 `json:"pods"`
	Budgets  []fairlead.PodDisruptionBudget `json:"budgets"`            // see Pods
	Replicas []drain.Replicas               `json:"replicas,omitempty"` // see Pods
	// Machines are those of the Machine API that nodes run on. Nil also means that there
	// is no such API; then only Play does less.
	Machines []lifecycle.Machine `json:"machines,omitzero"`
	// Members are the voting members of etcd. Say that there are none if two of them
	// survive the loss of one, as on two nodes with fencing.
	Members []Member `json:"members"`
	// Operators are those that the Operator Lifecycle Manager has installed in addition to
	// the release; see ReadOperators.
	Operators []Operator `json:"operators"`
	// Removed are the APIs that a later version of Kubernetes no longer serves; see
	// ReadRemoved.
	Removed []RemovedAPI `json:"removed"`
	// Partly says what is not known of lists that are not nil, by kind, as in Pod.
	Partly map[string]cvo.Gap `json:"partly,omitempty"`
}

// RemovedAPI is an API that a version of Kubernetes no longer serves.
type RemovedAPI struct {
	// API is a resource, as in flowschemas.v1beta3.flowcontrol.apiserver.k8s.io: the
	// name of its APIRequestCount.
	API string `json:"api"`
	In  string `json:"in"` // the first minor version of Kubernetes without it, as in 1.32
	// Users are those who used it recently, by their names at the API server.
	Users []string `json:"users,omitempty"`
}

// Move is one update of the cluster that the update service knows.
type Move struct {
	From  string   `json:"from"`            // the release that it is offered to
	To    string   `json:"to"`              // the release that it leads to
	Risks []string `json:"risks,omitempty"` // the names of its risks
}

// Risk is a risk of updates, and whether it applies to the cluster.
type Risk struct {
	Name    string                   `json:"name"`              // for accepting it
	Applies fairlead.ConditionStatus `json:"applies"`           // True or False; anything else is unknown
	Message string                   `json:"message,omitempty"` // what may go wrong
	Query   string                   `json:"query,omitempty"`   // the PromQL query that decides, if there is one
}

// Member is a member of etcd.
type Member struct {
	Name    string                   `json:"name"`           // as etcd calls it
	Node    string                   `json:"node,omitempty"` // where it runs
	Healthy fairlead.ConditionStatus `json:"healthy"`        // whether it answers and votes; empty counts as unknown
}

// Operator is an installed operator, with the versions that it can be updated to.
type Operator struct {
	Package      string `json:"package"`                // its name in goals and policies
	Namespace    string `json:"namespace,omitempty"`    // of its subscription
	Subscription string `json:"subscription,omitempty"` // its name; empty for none
	Channel      string `json:"channel,omitempty"`      // which the subscription follows
	Installed    string `json:"installed"`              // the name of its CSV
	// Versions are the relevant ones of the channel, including the installed one.
	Versions []OperatorVersion `json:"versions"`
	// Updates are the hops between them, each of one install plan.
	Updates []OperatorUpdate `json:"updates,omitempty"`
	// UpdatesUnknown says that no catalog was read: which updates it has is unknown.
	UpdatesUnknown bool `json:"updatesUnknown,omitempty"`
	// Automatic says that OLM approves install plans by itself, as soon as a catalog offers
	// an update.
	Automatic bool `json:"automatic,omitempty"`
	// Held is why OLM does not replace what is installed: its OperatorCondition says so.
	Held string `json:"held,omitempty"`
	// Trouble is what else keeps OLM from updating it, such as a failed install plan.
	Trouble string `json:"trouble,omitempty"`
}

// OperatorVersion is one version of an operator, and where it may run.
type OperatorVersion struct {
	Name    string `json:"name"`              // of the CSV
	Version string `json:"version,omitempty"` // what it states
	// MaxOpenShift is the last minor version of the cluster that it supports
	// (olm.maxOpenShiftVersion), as in 4.19; empty for no limit.
	MaxOpenShift string `json:"maxOpenShift,omitempty"`
	// MinKube is the first version of Kubernetes that it runs on; empty for any.
	MinKube string `json:"minKube,omitempty"`
	// Requires is what it needs from other operators in its namespace, all of it, and
	// Provides the APIs that it serves, as in group/version/kind. The installed version
	// may go on without what it lacks; once that is provided, no step takes it away again.
	Requires []Requirement `json:"requires,omitempty"`
	Provides []string      `json:"provides,omitempty"` // see Requires
	// Uses are the APIs of Kubernetes that it needs; see RemovedAPI.
	Uses []string `json:"uses,omitempty"`
	// Unread are its rules that were not understood, and so are not known to hold.
	Unread []string `json:"unread,omitempty"`
}

// Requirement is something that an operator needs from another one: a package, or an API.
type Requirement struct {
	Package string `json:"package,omitempty"` // by its name
	Range   string `json:"range,omitempty"`   // which of its versions; empty for any
	API     string `json:"api,omitempty"`     // as in group/version/kind
}

// OperatorUpdate is one hop of an operator.
type OperatorUpdate struct {
	From string `json:"from"` // the name of a CSV
	To   string `json:"to"`   // likewise
	// Minors are the minor versions of the cluster whose catalog has the hop, as in
	// 4.19; nil for every one.
	Minors []string `json:"minors,omitempty"`
}
