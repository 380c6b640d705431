package fairlead

import "time"

// PodDisruptionBudget bounds how many pods of a set may be down because
// somebody evicted them.
type PodDisruptionBudget struct {
	TypeMeta
	ObjectMeta `json:"metadata"` // its name and what else all objects have
	Spec       BudgetSpec        `json:"spec"`   // the desired state
	Status     BudgetStatus      `json:"status"` // the reported state
}

// BudgetSpec is what is asked of a budget: MinAvailable or MaxUnavailable.
type BudgetSpec struct {
	MinAvailable   *IntOrString   `json:"minAvailable,omitempty"`   // so many must stay healthy
	MaxUnavailable *IntOrString   `json:"maxUnavailable,omitempty"` // so many may be missing
	Selector       *LabelSelector `json:"selector,omitempty"`       // whose pods; nil selects none, empty all of the namespace
	// UnhealthyPodEvictionPolicy is IfHealthyBudget or AlwaysAllow; empty means
	// the first.
	UnhealthyPodEvictionPolicy string `json:"unhealthyPodEvictionPolicy,omitempty"`
}

// What a budget does for pods that run and are not ready.
const (
	IfHealthyBudget = "IfHealthyBudget" // guards them while its healthy pods are too few
	AlwaysAllow     = "AlwaysAllow"     // does not guard them
)

// BudgetStatus is what is reported about a budget.
type BudgetStatus struct {
	ObservedGeneration int64 `json:"observedGeneration,omitempty"` // the generation that the numbers are of
	DisruptionsAllowed int   `json:"disruptionsAllowed"`           // how many may go now
	CurrentHealthy     int   `json:"currentHealthy"`               // pods that are ready
	DesiredHealthy     int   `json:"desiredHealthy"`               // pods that must be ready
	ExpectedPods       int   `json:"expectedPods"`                 // pods that the budget counts
	// DisruptedPods tells by name of evicted pods that are not seen to
	// terminate yet, and when they were evicted. Nil means none.
	DisruptedPods map[string]time.Time `json:"disruptedPods,omitempty"`
}
