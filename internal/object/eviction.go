package object

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
)

// EvictionVerdict is what the eviction API answers about a pod.
type EvictionVerdict uint8

// The verdicts.
const (
	// EvictionUnguarded allows the eviction regardless of budgets: the pod has
	// none, is finished, pending or already being deleted, or is not ready and
	// its budget allows the eviction of such pods.
	EvictionUnguarded EvictionVerdict = iota + 1
	// EvictionAllowed allows the eviction and counts it: one disruption less is
	// allowed after it.
	EvictionAllowed
	// EvictionRefused is status 429: no disruption is allowed now.
	EvictionRefused
	// EvictionUnobserved is status 429: the numbers of the budget are those of
	// an older generation of it, and so cannot be relied on for now.
	EvictionUnobserved
	// EvictionForbidden is status 403: the budget's numbers are invalid.
	EvictionForbidden
	// EvictionUnsupported is status 500: more than one budget selects the pod.
	EvictionUnsupported
)

// The eviction API's limits.
const (
	MaxDisruptedPods   = 2000             // with more of them in a budget, it refuses evictions
	UnobservedInterval = 10 * time.Second // the delay after which it requests a retry for a budget that has just changed
)

// Allows reports whether the pod may be evicted.
func (v EvictionVerdict) Allows() bool { return v == EvictionUnguarded || v == EvictionAllowed }

// String returns the verdict as a word.
func (v EvictionVerdict) String() string {
	names := [...]string{"", "Unguarded", "Allowed", "Refused", "Unobserved", "Forbidden", "Unsupported"}
	if int(v) >= len(names) || v == 0 {
		return fmt.Sprintf("EvictionVerdict(%d)", uint8(v))
	}
	return names[v]
}

// EvaluateEviction returns what the eviction API of Kubernetes 1.36 answers about
// a pod, given the budgets that select it with their current numbers. It checks
// in this order:
//
//  1. Pods that are finished, pending or being deleted are unguarded, and so
//     are pods without a budget.
//  2. Two or more budgets are unsupported.
//  3. A pod that is not ready is unguarded if its budget always allows the
//     eviction of such pods, or if the budget is healthy: it desires at least one
//     healthy pod and has as many as it desires.
//  4. Numbers of an older generation are unobserved; otherwise, invalid numbers
//     are forbidden.
//  5. Otherwise DisruptionsAllowed decides.
func EvaluateEviction(p *fairlead.Pod, budgets ...*fairlead.PodDisruptionBudget) EvictionVerdict {
	if p.Finished() || p.Status.Phase == fairlead.PodPending || p.DeletionTimestamp != nil || len(budgets) == 0 {
		return EvictionUnguarded
	}
	if len(budgets) > 1 {
		return EvictionUnsupported
	}
	b := budgets[0]
	s := &b.Status
	if !p.Ready() {
		if b.Spec.UnhealthyPodEvictionPolicy == fairlead.AlwaysAllow || s.DesiredHealthy > 0 && s.CurrentHealthy >= s.DesiredHealthy {
			return EvictionUnguarded
		}
	}
	switch {
	case s.ObservedGeneration < b.Generation:
		return EvictionUnobserved
	case s.DisruptionsAllowed < 0 || len(s.DisruptedPods) > MaxDisruptedPods:
		return EvictionForbidden
	case s.DisruptionsAllowed == 0:
		return EvictionRefused
	}
	return EvictionAllowed
}

// MoreHealthy returns how many more healthy pods a budget needs until it allows the
// eviction of a pod that it refuses now; 0 if more do not help, because as many as it
// expects are healthy, its numbers are not computed, or it wants all of them.
func MoreHealthy(p *fairlead.Pod, b *fairlead.PodDisruptionBudget) int {
	s := &b.Status
	if s.SyncFailed() != "" || s.ObservedGeneration < b.Generation {
		return 0
	}
	need := s.DesiredHealthy + 1 - s.CurrentHealthy
	most := s.ExpectedPods - s.CurrentHealthy
	if !p.Ready() && s.DesiredHealthy > 0 { // it goes once as many as desired are healthy
		need = s.DesiredHealthy - s.CurrentHealthy
	}
	if need > most {
		return 0
	}
	return max(0, need)
}
