package scene

import (
	"encoding/json"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/doc"
)

// Spec is the spec of a Scenario. Durations are written as 90s or 1h30m; the player
// has defaults for missing fields.
type Spec struct {
	Start string `json:"start"` // a time; default 2026-03-01T12:00:00Z
	For   string `json:"for"`   // how long it is played

	// The cluster.
	PodStartup    string     `json:"podStartup"`    // how long a pod takes until it is ready
	InstanceTakes string     `json:"instanceTakes"` // how long the cloud takes to delete one
	Voters        int        `json:"voters"`        // of etcd, on machines with the role master; 0 if etcd is not played
	CatchUp       string     `json:"catchUp"`       // how long a new member takes
	Owners        []Owner    `json:"owners"`        // of hooks
	Workloads     []Workload `json:"workloads"`     // whose pods controllers keep
	Policy        Policy     `json:"policy"`        // of deletions
	Events        []Event    `json:"events"`        // in order of time

	// An update of the release.
	Retrieve   string            `json:"retrieve"`   // how long the new release takes to retrieve
	From       Release           `json:"from"`       // what the cluster runs
	To         Release           `json:"to"`         // what it is updated to
	Components []Component       `json:"components"` // of releases without a directory
	Operators  []Operator        `json:"operators"`  // some of the operators of the new release
	Rollouts   map[string]string `json:"rollouts"`   // how long Deployments and DaemonSets take, by name
	Pools      []Pool            `json:"pools"`      // of nodes
	Outages    []Outage          `json:"outages"`    // of nodes
}

// Owner is an owner of hooks.
type Owner struct {
	Name  string `json:"name"`  // as hooks name it
	Takes string `json:"takes"` // how long its work takes; never if it does not do it
}

// Workload is pods of one kind, with a disruption budget.
type Workload struct {
	Name         string                `json:"name"`         // of the workload, its budget and its pods
	Replicas     int                   `json:"replicas"`     // how many pods there are
	Daemon       bool                  `json:"daemon"`       // one pod on each node, which drains ignore
	MinAvailable *doc.Value            `json:"minAvailable"` // of its disruption budget; no budget if missing
	Requests     map[string]string     `json:"requests"`     // of each pod
	Tolerations  []fairlead.Toleration `json:"tolerations"`  // of each pod
}

// Policy is how machines are deleted.
type Policy struct {
	WaitForVolumes bool       `json:"waitForVolumes"` // until they are detached
	DrainTimeout   string     `json:"drainTimeout"`   // after this time a drain ends; never if missing
	Deadlines      []Deadline `json:"deadlines"`      // of hooks
	Order          []Order    `json:"order"`          // of hooks
}

// Deadline is how long to wait for hooks.
type Deadline struct {
	Hook  string `json:"hook"`  // its name; empty for any
	Owner string `json:"owner"` // whose hooks; empty for any owner
	Soft  string `json:"soft"`  // after this time it is reported
	Hard  string `json:"hard"`  // after this time Then applies
	Then  string `json:"then"`  // as lifecycle.Escalation
}

// Order is which hooks wait for which others.
type Order struct {
	Point string   `json:"point"` // preDrain or preTerminate
	Hook  string   `json:"hook"`  // the name of the hook that waits
	After []string `json:"after"` // the names of the hooks that it waits for
}

// Event is something that happens in the cluster.
type Event struct {
	At         string            `json:"at"`         // since the start
	Put        []json.RawMessage `json:"put"`        // objects that are created or changed
	Delete     string            `json:"delete"`     // a machine
	Silence    string            `json:"silence"`    // a node that stops reporting
	Hear       string            `json:"hear"`       // a node that reports again
	DropBudget string            `json:"dropBudget"` // a disruption budget to delete: namespace/name
	Skip       *Skip             `json:"skip"`       // a user decides to go on without a hook
	Update     string            `json:"update"`     // the configuration that all pools must run
	Drain      string            `json:"drain"`      // a node that is requested to be taken out of service
	Undrain    string            `json:"undrain"`    // a node whose request is withdrawn
}

// Skip is a hook that a machine goes on without.
type Skip struct {
	Machine string `json:"machine"` // its name
	Hook    string `json:"hook"`    // POINT/NAME
}

// Release is a release of the cluster.
type Release struct {
	Version string `json:"version"` // of a release that is made of the components
	Payload string `json:"payload"` // a directory, relative to that of the scenario
}

// Component is a part of releases.
type Component struct {
	Runlevel int    `json:"runlevel"` // 0 to 99
	Name     string `json:"name"`     // also of its operator
	Objects  int    `json:"objects"`  // ConfigMaps
	Operator bool   `json:"operator"` // a Deployment and a ClusterOperator as well
}

// Operator is how an operator behaves while it is updated.
type Operator struct {
	Name        string   `json:"name"`        // of its ClusterOperator
	Takes       string   `json:"takes"`       // a duration, or never
	Degraded    *Trouble `json:"degraded"`    // when it reports that
	Unavailable *Trouble `json:"unavailable"` // when it reports that
}

// Trouble is a time in which an operator is degraded or unavailable.
type Trouble struct {
	After   string `json:"after"`   // since its manifest was applied
	For     string `json:"for"`     // for good if it is missing
	Message string `json:"message"` // of its condition
}

// Pool is a set of nodes that are updated together.
type Pool struct {
	Name           string     `json:"name"`           // such as worker
	Required       bool       `json:"required"`       // the machine-config operator waits for it
	Paused         bool       `json:"paused"`         // no node is updated
	MaxUnavailable *doc.Value `json:"maxUnavailable"` // a number of nodes, or a percentage
	Drain          string     `json:"drain"`          // of nodes that do not set it
	Update         string     `json:"update"`         // of nodes that do not set it
	Reboot         string     `json:"reboot"`         // of nodes that do not set it
	Nodes          []Node     `json:"nodes"`
	Workloads      []Workload `json:"workloads"` // whose pods the drains of the pool evict
}

// Node is how a node behaves while it is updated.
type Node struct {
	Name   string `json:"name"`   // unique in the file
	Zone   string `json:"zone"`   // empty for none
	Drain  string `json:"drain"`  // a duration, or never
	Update string `json:"update"` // a duration, or fails
	Reboot string `json:"reboot"` // a duration, or never
}

// Outage is a time in which some nodes do not report, or report that they are not
// ready.
type Outage struct {
	After    string   `json:"after"` // since the start
	For      string   `json:"for"`   // for good if it is missing
	Nodes    []string `json:"nodes"`
	Zone     string   `json:"zone"`     // all of its nodes
	NotReady bool     `json:"notReady"` // they report it, instead of being silent
}
