package fairlead

import (
	"fmt"
	"time"
)

// DisruptionTimeout is how long an evicted pod counts as gone although it is
// not seen to terminate: the disruption controller's two minutes.
const DisruptionTimeout = 2 * time.Minute

// BudgetError says what is wrong with a field of a budget.
type BudgetError struct {
	Budget string // namespace/name
	Field  string // the path of the field, such as spec.minAvailable
	Err    error  // what is wrong with it
}

// Error implements error.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("PodDisruptionBudget %s: %s: %v", e.Budget, e.Field, e.Err)
}

// Unwrap returns what is wrong with the field.
func (e *BudgetError) Unwrap() error { return e.Err }

// Check returns the *BudgetError of the first field that cannot be evaluated, or nil. Such fields
// are a selector with a bad requirement, a count or share that is negative or not a number, both
// MinAvailable and MaxUnavailable, an unknown policy.
func (b *PodDisruptionBudget) Check() error {
	fail := func(field string, err error) error {
		return &BudgetError{Budget: b.ObjectMeta.String(), Field: field, Err: err}
	}
	if err := b.Spec.Selector.Check(); err != nil {
		return fail("spec.selector", err)
	}
	if b.Spec.MinAvailable != nil && b.Spec.MaxUnavailable != nil {
		return fail("spec.maxUnavailable", fmt.Errorf("cannot be combined with minAvailable; give one of them"))
	}
	if v := b.Spec.MinAvailable; v != nil {
		if _, err := v.Scale(1, true); err != nil {
			return fail("spec.minAvailable", err)
		}
	}
	if v := b.Spec.MaxUnavailable; v != nil {
		if _, err := v.Scale(1, true); err != nil {
			return fail("spec.maxUnavailable", err)
		}
	}
	switch p := b.Spec.UnhealthyPodEvictionPolicy; p {
	case "", IfHealthyBudget, AlwaysAllow:
		return nil
	default:
		return fail("spec.unhealthyPodEvictionPolicy", fmt.Errorf("%q is neither %s nor %s", p, IfHealthyBudget, AlwaysAllow))
	}
}

// Selects reports whether the budget counts a pod: it is in the budget's namespace and has the
// labels of the selector. A nil selector selects none, an empty one all.
func (b *PodDisruptionBudget) Selects(p *Pod) bool {
	return b.Spec.Selector != nil && b.Namespace == p.Namespace && b.Spec.Selector.Matches(p.Labels)
}

// Measure returns the numbers of the budget's status as the disruption
// controller computes them.
//
//  1. Pods that the budget does not select are ignored.
//  2. With a percentage, or MaxUnavailable, the expected pods are the sum of the scales of the
//     controllers of its pods, each once; pods without a controller are not expected. With a count
//     as MinAvailable, they are the existing pods.
//  3. The desired pods are MinAvailable, or the expected ones minus MaxUnavailable, and never below
//     zero. Percentages are of the expected pods, rounded up.
//  4. A pod is healthy if it is ready, is not being deleted, and was not evicted within the last two
//     minutes (DisruptionTimeout).
//  5. The allowed disruptions are the healthy pods minus the desired ones, and none if no pods are
//     expected. A budget with neither number expects none.
//
// If scale is nil or does not know a controller, its existing pods count. The observed generation
// and the evicted pods are those of the budget. The error is that of Check.
func (b *PodDisruptionBudget) Measure(pods []*Pod, scale Scale, now time.Time) (BudgetStatus, error) {
	if err := b.Check(); err != nil {
		return BudgetStatus{}, err
	}
	var selected []*Pod
	for _, p := range pods {
		if b.Selects(p) {
			selected = append(selected, p)
		}
	}
	return b.MeasureSelected(selected, scale, now), nil
}

// Scale returns how many pods a controller in a namespace should have, and
// whether that is known.
type Scale func(namespace string, controller *OwnerReference) (int, bool)

// MeasureSelected is Measure for a budget that passes Check, and for exactly the pods that it
// selects.
func (b *PodDisruptionBudget) MeasureSelected(pods []*Pod, scale Scale, now time.Time) BudgetStatus {
	s := BudgetStatus{ObservedGeneration: b.Generation, DisruptedPods: b.Status.DisruptedPods}
	type share struct {
		controller *OwnerReference
		pods       int
	}
	var shares []share // of controllers, of which there is mostly one
	for _, p := range pods {
		if b.healthy(p, now) {
			s.CurrentHealthy++
		}
		c := p.ControllerOf()
		if c == nil {
			continue
		}
		i := 0
		for i < len(shares) && !shares[i].controller.same(c) {
			i++
		}
		if i == len(shares) {
			shares = append(shares, share{controller: c})
		}
		shares[i].pods++
	}
	expected := 0
	for _, have := range shares {
		n := have.pods
		if scale != nil {
			if want, known := scale(b.Namespace, have.controller); known {
				n = want
			}
		}
		expected += n
	}
	s.ExpectedPods, s.DesiredHealthy = b.desired(len(pods), expected)
	if s.ExpectedPods > 0 {
		s.DisruptionsAllowed = max(0, s.CurrentHealthy-s.DesiredHealthy)
	}
	return s
}

// desired returns how many pods the budget expects and how many of them must be healthy, given the
// number of pods and the sum of their controllers' scales.
func (b *PodDisruptionBudget) desired(total, scaled int) (expected, desired int) {
	switch {
	case b.Spec.MaxUnavailable != nil:
		missing, _ := b.Spec.MaxUnavailable.Scale(scaled, true)
		return scaled, max(0, scaled-missing)
	case b.Spec.MinAvailable == nil:
		return 0, 0
	}
	if v := b.Spec.MinAvailable; v.Percentage() {
		desired, _ = v.Scale(scaled, true)
		return scaled, desired
	}
	desired, _ = b.Spec.MinAvailable.Scale(total, true)
	return total, desired
}

// MoreReplicas returns how many more pods the budget would need, beside those that it
// expects, to allow a disruption while all of them are healthy; 0 if no number helps.
func (b *PodDisruptionBudget) MoreReplicas(expected int) int {
	for n := 1; n <= 100; n++ { // a percentage below 100 allows one of 100
		if _, desired := b.desired(expected+n, expected+n); desired < expected+n {
			return n
		}
	}
	return 0
}

// healthy reports whether a pod counts as healthy.
func (b *PodDisruptionBudget) healthy(p *Pod, now time.Time) bool {
	if p.DeletionTimestamp != nil {
		return false
	}
	if evicted, ok := b.Status.DisruptedPods[p.Name]; ok && evicted.Add(DisruptionTimeout).After(now) {
		return false
	}
	return p.Ready()
}

// Never reports whether no eviction of a ready pod is allowed even when every pod is healthy: as
// many are desired as are expected.
func (s *BudgetStatus) Never() bool {
	return s.DisruptionsAllowed <= 0 && s.ExpectedPods <= s.DesiredHealthy
}
