package object

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/decimal"
)

// The shapes stand in the root package; these names go when nobody uses them
// any more.
type (
	AttachedVolume      = fairlead.AttachedVolume      // see there
	BudgetError         = fairlead.BudgetError         // see there
	BudgetSpec          = fairlead.BudgetSpec          // see there
	BudgetStatus        = fairlead.BudgetStatus        // see there
	ClaimSource         = fairlead.ClaimSource         // see there
	Condition           = fairlead.Condition           // see there
	ConditionStatus     = fairlead.ConditionStatus     // see there
	Container           = fairlead.Container           // see there
	IntOrString         = fairlead.IntOrString         // see there
	LabelSelector       = fairlead.LabelSelector       // see there
	Node                = fairlead.Node                // see there
	NodeAddress         = fairlead.NodeAddress         // see there
	NodeCondition       = fairlead.NodeCondition       // see there
	NodeInfo            = fairlead.NodeInfo            // see there
	NodeSpec            = fairlead.NodeSpec            // see there
	NodeStatus          = fairlead.NodeStatus          // see there
	ObjectMeta          = fairlead.ObjectMeta          // see there
	OwnerReference      = fairlead.OwnerReference      // see there
	Pod                 = fairlead.Pod                 // see there
	PodDisruptionBudget = fairlead.PodDisruptionBudget // see there
	PodPhase            = fairlead.PodPhase            // see there
	PodSpec             = fairlead.PodSpec             // see there
	PodStatus           = fairlead.PodStatus           // see there
	PolicyRule          = fairlead.PolicyRule          // see there
	Resources           = fairlead.Resources           // see there
	Scale               = fairlead.Scale               // see there
	SelectorError       = fairlead.SelectorError       // see there
	SelectorOperator    = fairlead.SelectorOperator    // see there
	SelectorRequirement = fairlead.SelectorRequirement // see there
	Taint               = fairlead.Taint               // see there
	TaintEffect         = fairlead.TaintEffect         // see there
	Toleration          = fairlead.Toleration          // see there
	TolerationOperator  = fairlead.TolerationOperator  // see there
	Volume              = fairlead.Volume              // see there
)

// The constants of these types.
const (
	IfHealthyBudget      = fairlead.IfHealthyBudget      // see there
	AlwaysAllow          = fairlead.AlwaysAllow          // see there
	DisruptionTimeout    = fairlead.DisruptionTimeout    // see there
	ConditionTrue        = fairlead.ConditionTrue        // see there
	ConditionFalse       = fairlead.ConditionFalse       // see there
	ConditionUnknown     = fairlead.ConditionUnknown     // see there
	PodPending           = fairlead.PodPending           // see there
	PodRunning           = fairlead.PodRunning           // see there
	PodSucceeded         = fairlead.PodSucceeded         // see there
	PodFailed            = fairlead.PodFailed            // see there
	PodUnknown           = fairlead.PodUnknown           // see there
	SelectorIn           = fairlead.SelectorIn           // see there
	SelectorNotIn        = fairlead.SelectorNotIn        // see there
	SelectorExists       = fairlead.SelectorExists       // see there
	SelectorDoesNotExist = fairlead.SelectorDoesNotExist // see there
	NoSchedule           = fairlead.NoSchedule           // see there
	PreferNoSchedule     = fairlead.PreferNoSchedule     // see there
	NoExecute            = fairlead.NoExecute            // see there
	TolerationEqual      = fairlead.TolerationEqual      // see there
	TolerationExists     = fairlead.TolerationExists     // see there
	TolerationLt         = fairlead.TolerationLt         // see there
	TolerationGt         = fairlead.TolerationGt         // see there
)

// FindCondition is that of the root package.
func FindCondition(conditions []Condition, kind string) *Condition {
	return fairlead.FindCondition(conditions, kind)
}

// SetCondition is that of the root package.
func SetCondition(conditions []Condition, c Condition) []Condition {
	return fairlead.SetCondition(conditions, c)
}

// Matches is Toleration.Matches.
func Matches(t *Toleration, taint *Taint, numbers bool) bool { return t.Matches(taint, numbers) }

// ParseNumber is decimal.Parse.
func ParseNumber(s string) (int64, error) { return decimal.Parse(s) }
