package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
)

// The annotations that mark a machine as the first to go when its set scales
// down. None deletes by itself.
const (
	DeleteAnnotation       = lifecycle.DeleteAnnotation                        // Machine API: with any value that is not empty
	DeleteAnnotationLegacy = "machine.openshift.io/cluster-api-delete-machine" // Machine API, likewise
	DeleteAnnotationCAPI   = "cluster.x-k8s.io/delete-machine"                 // Cluster API: with any value
)

// API says which API's rules count.
type API string

// The APIs.
const (
	MachineAPI API = ""           // machine.openshift.io
	ClusterAPI API = "ClusterAPI" // cluster.x-k8s.io
)

// DeletePolicy says which machines a set deletes first, among those without
// another distinction.
type DeletePolicy string

// The policies of the APIs. Empty means Random.
const (
	DeleteRandom DeletePolicy = "Random" // any: here the first by name
	DeleteNewest DeletePolicy = "Newest" // those created last
	DeleteOldest DeletePolicy = "Oldest" // those created first
)

// Pick is a machine to delete.
type Pick struct {
	Machine *lifecycle.Machine // of the argument
	Why     string             // why it comes before others, for people
}

// class is the class of a machine; the lowest goes first.
type class int

const (
	goes class = iota
	marked
	updating
	broken
	nodeless
	plain
)

// ScaleDown returns the n machines that a set deletes to scale down, those that
// go first in front:
//
//  1. machines that are already being deleted,
//  2. those that are annotated, or, in the Machine API, that have an error,
//  3. in the Cluster API, those that are being updated in place, then the
//     unhealthy ones: without a node, or with a condition NodeHealthy or
//     HealthCheckSucceeded that is False,
//  4. in the Machine API with the policy Random, those without a node,
//  5. the rest, by the policy.
//
// Ties are ordered by name and UID, so that equal arguments always select the
// same machines. A machine without a creation time, or with one in the future,
// counts as the newest. n may exceed the number of machines, or be negative. The
// error is of type *fairlead.FieldError.
func ScaleDown(machines []lifecycle.Machine, n int, policy DeletePolicy, api API, now time.Time) ([]Pick, error) {
	switch policy {
	case "", DeleteRandom, DeleteNewest, DeleteOldest:
	default:
		return nil, &fairlead.FieldError{Path: "spec.deletePolicy", Problem: fmt.Sprintf("there is no policy %q; write %s, %s or %s", policy, DeleteRandom, DeleteNewest, DeleteOldest)}
	}
	type candidate struct {
		Pick
		class class
		age   time.Duration
	}
	all := make([]candidate, len(machines))
	for i := range machines {
		m := &machines[i]
		c := candidate{Pick: Pick{Machine: m}}
		c.class, c.Why = classify(m, policy, api)
		if !m.CreationTimestamp.IsZero() {
			c.age = max(0, now.Sub(m.CreationTimestamp))
		}
		if c.class == plain {
			c.Why = map[DeletePolicy]string{DeleteNewest: "it is the newest of the others", DeleteOldest: "it is the oldest of the others"}[policy]
		}
		all[i] = c
	}
	slices.SortFunc(all, func(a, b candidate) int {
		byAge := 0
		if a.class == plain {
			byAge = map[DeletePolicy]int{DeleteNewest: cmp.Compare(a.age, b.age), DeleteOldest: cmp.Compare(b.age, a.age)}[policy]
		}
		return cmp.Or(cmp.Compare(a.class, b.class), byAge, byName(a.Machine, b.Machine))
	})
	picks := make([]Pick, 0, max(0, min(n, len(all))))
	for i := range all[:cap(picks)] {
		picks = append(picks, all[i].Pick)
	}
	return picks, nil
}

func byName(a, b *lifecycle.Machine) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
}

// classify returns the class of a machine, and why.
func classify(m *lifecycle.Machine, policy DeletePolicy, api API) (class, string) {
	if m.Deleting() {
		return goes, "it is already being deleted"
	}
	if key := markedBy(m, api); key != "" {
		return marked, "it has annotation " + key
	}
	if api == ClusterAPI {
		if m.UpdatingInPlace() {
			return updating, "it is being updated in place"
		}
		for _, kind := range [...]string{"NodeHealthy", "HealthCheckSucceeded"} {
			if c := lifecycle.FindCondition(m.Status.Conditions, kind); c != nil && c.Status == "False" {
				return broken, "its condition " + kind + " is False"
			}
		}
		if m.Status.NodeRef == nil {
			return broken, "it has no node"
		}
		return plain, ""
	}
	switch {
	case m.Status.ErrorReason != "" || m.Status.ErrorMessage != "":
		return marked, "it has an error: " + cmp.Or(m.Status.ErrorReason, m.Status.ErrorMessage)
	case m.Status.NodeRef == nil && (policy == "" || policy == DeleteRandom):
		return nodeless, "it has no node"
	}
	return plain, ""
}

// markedBy returns the annotation that marks a machine as the first to go, or "".
func markedBy(m *lifecycle.Machine, api API) string {
	if api == ClusterAPI {
		if _, is := m.Annotations[DeleteAnnotationCAPI]; is {
			return DeleteAnnotationCAPI
		}
		return ""
	}
	for _, key := range [...]string{DeleteAnnotation, DeleteAnnotationLegacy} {
		if m.Annotations[key] != "" {
			return key
		}
	}
	return ""
}
