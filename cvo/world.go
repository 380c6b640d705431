package cvo

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/payload"
)

// World is what is observed of a cluster. Step does not change it.
type World struct {
	// Cluster is the ClusterVersion; if it is nil, nothing is done.
	Cluster *ClusterVersion
	// Own is the release that the engine is part of, if any: a cluster without
	// history gets it. If a cluster is being updated to it, withdrawing the request
	// does not go back.
	Own Release
	// Retrieved are the results of retrieving releases.
	Retrieved []Retrieved
	// Operators are the reports of all operators, in any order.
	Operators []ClusterOperator
	// Workloads are the rollouts of applied resources that take time, in any order.
	// A resource that is not listed takes none.
	Workloads []Workload
	// Updates are what the update service offers: its last answer, as long as that
	// is valid (see graph.FetchState), in every observation. While it is nil, the
	// lists of the status stay as they are.
	Updates *graph.Updates
	// Evaluations are the results of the rules of conditional updates.
	Evaluations graph.Evaluations
	// UpdatesCondition is RetrievedUpdates: whether the service answered. If its
	// type is empty, there is no condition.
	UpdatesCondition Condition
	// FeatureSet is the observed feature set of the cluster, and Gates are its
	// enabled feature gates. Nil means those of the policy's filter.
	FeatureSet *string
	Gates      []string // in any order, see FeatureGate.Enabled; an empty list that is not nil means none
	// AdminGates are what administrators must acknowledge before the minor version
	// changes; nil if there is nothing.
	AdminGates *AdminGates
	// Alerts are those of the cluster's monitoring, pending ones included.
	Alerts []Alert
	// Deleting are resources that were deleted because a release requests it, and
	// that still exist, in any order.
	Deleting []payload.ID
	// Outcomes are the results of actions that this process has applied. A
	// Runner fills them in.
	Outcomes []fairlead.Outcome
	// Prepared is the payload of the release that is applied, as returned by
	// Prepare, which saves Step the work. If it does not fit, it is ignored. A
	// Runner fills it in.
	Prepared *Prepared `json:"-"`

	name string // the cluster's name for a Runner
}

// Retrieved is the result of retrieving a release.
type Retrieved struct {
	Image       string           // the requested pull specification
	Try         int              // the attempt, as in Retrieve
	Payload     *payload.Payload // nil if it could not be retrieved
	Error       string           // why it could not be retrieved
	LoadError   string           // why its payload cannot be used
	Verified    bool             // its signature is valid
	VerifyError string           // why it is not known to be valid
}

// Workload is the progress of the rollout of a resource.
type Workload struct {
	ID      payload.ID // which one
	Waiting string     // what it waits for; empty if it is done
	Failed  string     // why it cannot continue; empty if it can
}

// retrieved returns what is known of an image.
func (w *World) retrieved(image string) *Retrieved {
	for i := range w.Retrieved {
		if SameImage(w.Retrieved[i].Image, image) {
			return &w.Retrieved[i]
		}
	}
	return nil
}

// normal returns a world whose lists are sorted, and whose times are as in the
// status. w is not changed.
func (w *World) normal() *World {
	out := *w
	cluster := *w.Cluster
	cluster.Status = cluster.Status.normal()
	out.Cluster = &cluster
	out.Operators = sorted(w.Operators, func(a, b ClusterOperator) int { return strings.Compare(a.Name, b.Name) })
	out.Workloads = sorted(w.Workloads, func(a, b Workload) int { return a.ID.Compare(b.ID) })
	out.Deleting = sorted(w.Deleting, payload.ID.Compare)
	return &out
}

// sorted returns the list in order; a copy, unless it is sorted.
func sorted[T any](list []T, compare func(a, b T) int) []T {
	if slices.IsSortedFunc(list, compare) {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, compare)
	return list
}

func (w *World) operator(name string) *ClusterOperator {
	i, ok := slices.BinarySearchFunc(w.Operators, name, func(o ClusterOperator, n string) int { return strings.Compare(o.Name, n) })
	if !ok {
		return nil
	}
	return &w.Operators[i]
}

func (w *World) workload(id payload.ID) *Workload {
	i, ok := slices.BinarySearchFunc(w.Workloads, id, func(l Workload, id payload.ID) int { return l.ID.Compare(id) })
	if !ok {
		return nil
	}
	return &w.Workloads[i]
}
