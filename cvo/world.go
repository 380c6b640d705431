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
	// Cluster is the ClusterVersion; nil when there is none, and then nothing is
	// done.
	Cluster *ClusterVersion
	// Own is the release that the engine is part of, if any: a cluster without
	// history gets it. A cluster that is being updated to it does not go back
	// when the request is withdrawn.
	Own Release
	// Retrieved are the releases that were retrieved, or could not be.
	Retrieved []Retrieved
	// Operators are the reports of all operators, in any order.
	Operators []ClusterOperator
	// Workloads tell how far resources are that take time after they were applied,
	// in any order. One that is not listed takes none.
	Workloads []Workload
	// Updates are what the update service offers: its last answer, as long as that
	// counts (see graph.FetchState), at every observation. The lists of the status
	// stay as they are while it is nil.
	Updates *graph.Updates
	// Evaluations are what the rules of conditional updates came to.
	Evaluations graph.Evaluations
	// UpdatesCondition is RetrievedUpdates: whether the service answered. Without
	// a type there is none.
	UpdatesCondition Condition
	// FeatureSet is the feature set of the cluster, and Gates are its feature gates
	// that are enabled, as observed. Nil means those of the policy's filter.
	FeatureSet *string
	Gates      []string // in any order, see FeatureGate.Enabled; an empty list that is not nil means none
	// AdminGates are what administrators are to acknowledge before the minor
	// version changes; nil when nothing is.
	AdminGates *AdminGates
	// Alerts are those of the cluster's monitoring, pending ones included.
	Alerts []Alert
	// Deleting are resources that were deleted because a release asks for it, and
	// that are still there, in any order.
	Deleting []payload.ID
	// Outcomes are the results of actions that this process has applied. A
	// Runner fills them in.
	Outcomes []fairlead.Outcome
	// Prepared is the payload of the release that is applied, as Prepare returns it:
	// it spares Step the work. One that does not fit is not used. A Runner fills it
	// in.
	Prepared *Prepared `json:"-"`

	name string // of the cluster to a Runner
}

// Retrieved is what came of retrieving a release.
type Retrieved struct {
	Image       string           // the pull specification that was asked for
	Try         int              // the attempt, as in Retrieve
	Payload     *payload.Payload // nil when it could not be had
	Error       string           // why it could not be retrieved
	LoadError   string           // why its payload cannot be used
	Verified    bool             // its signature is good
	VerifyError string           // why it is not known to be good
}

// Workload says how far the rollout of a resource is.
type Workload struct {
	ID      payload.ID // which one
	Waiting string     // what it waits for; empty when it is done
	Failed  string     // why it cannot go on; empty when it can
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

// normal returns a world whose lists are in order, and whose times are as they
// are written. w is not changed.
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

// sorted returns a list in order: a copy, where it is not.
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
