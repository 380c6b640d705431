package fairlead

import (
	"cmp"
	"time"
)

// PodDisruptionBudget limits how many pods of a set may be down because of
// evictions.
type PodDisruptionBudget struct {
	TypeMeta
	ObjectMeta `json:"metadata"` // its name and the other metadata
	Spec       BudgetSpec        `json:"spec"`   // the desired state
	Status     BudgetStatus      `json:"status"` // the reported state
}

// BudgetSpec is the desired state of a budget: MinAvailable or MaxUnavailable.
type BudgetSpec struct {
	MinAvailable   *IntOrString   `json:"minAvailable,omitempty"`   // how many must stay healthy
	MaxUnavailable *IntOrString   `json:"maxUnavailable,omitempty"` // how many may be missing
	Selector       *LabelSelector `json:"selector,omitempty"`       // which pods; nil selects none, empty all of the namespace
	// UnhealthyPodEvictionPolicy is IfHealthyBudget or AlwaysAllow; empty means
	// the first.
	UnhealthyPodEvictionPolicy string `json:"unhealthyPodEvictionPolicy,omitempty"`
}

// SyncFailed returns why the disruption controller could not compute the numbers of the
// budget, or "".
func (s *BudgetStatus) SyncFailed() string {
	if c := FindCondition(s.Conditions, "DisruptionAllowed"); c != nil && c.Status == ConditionFalse && c.Reason == "SyncFailed" {
		return cmp.Or(c.Message, "the disruption controller does not say why")
	}
	return ""
}

// Whether a budget guards pods that run and are not ready.
const (
	IfHealthyBudget = "IfHealthyBudget" // guards them while too few of its pods are healthy
	AlwaysAllow     = "AlwaysAllow"     // does not guard them
)

// BudgetStatus is the reported state of a budget.
type BudgetStatus struct {
	ObservedGeneration int64 `json:"observedGeneration,omitempty"` // the generation that the numbers are for
	DisruptionsAllowed int   `json:"disruptionsAllowed"`           // how many pods may be evicted now
	CurrentHealthy     int   `json:"currentHealthy"`               // pods that are ready
	DesiredHealthy     int   `json:"desiredHealthy"`               // pods that must be ready
	ExpectedPods       int   `json:"expectedPods"`                 // pods that the budget counts
	// DisruptedPods are, by name, the evicted pods that are not yet seen to
	// terminate, with the time of the eviction. Nil means none.
	DisruptedPods map[string]time.Time `json:"disruptedPods,omitempty"`
	// Conditions has DisruptionAllowed; with reason SyncFailed the numbers could not
	// be computed, and no pod may be evicted.
	Conditions []Condition `json:"conditions,omitempty"`
}
