package object

// PodDisruptionBudget bounds how many pods of a set may be down because
// somebody evicted them.
type PodDisruptionBudget struct {
	ObjectMeta `json:"metadata"` // its name and what else all objects have
	Spec       BudgetSpec        `json:"spec"`   // what is asked of it
	Status     BudgetStatus      `json:"status"` // what is reported of it
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

// BudgetStatus is what is reported of a budget.
type BudgetStatus struct {
	ObservedGeneration int64 `json:"observedGeneration,omitempty"` // the generation that the numbers are of
	DisruptionsAllowed int   `json:"disruptionsAllowed"`           // how many may go now
	CurrentHealthy     int   `json:"currentHealthy"`               // pods that are ready
	DesiredHealthy     int   `json:"desiredHealthy"`               // pods that must be ready
	ExpectedPods       int   `json:"expectedPods"`                 // pods that the budget counts
}
