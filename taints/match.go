package taints

import (
	"iter"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// Options say by which rules taints and tolerations are interpreted. The zero
// value, and a nil pointer, mean the defaults of Kubernetes.
type Options struct {
	// ComparisonOperators lets tolerations compare whole numbers with Lt and Gt,
	// which is the feature gate TaintTolerationComparisonOperators of Kubernetes.
	// Otherwise these operators match nothing.
	ComparisonOperators bool `json:"comparisonOperators,omitempty"`
	// Lenient makes validation accept what can be matched even if the API refuses
	// it. Matching is the same in both cases.
	Lenient bool `json:"lenient,omitempty"`
}

func (o *Options) numbers() bool { return o != nil && o.ComparisonOperators }

func (o *Options) lenient() bool { return o != nil && o.Lenient }

// Effects is a set of effects. Unknown effects are only in AllEffects.
type Effects uint8

// The sets that callers use.
const (
	OnNoSchedule       Effects = 1 << iota // NoSchedule alone
	OnPreferNoSchedule                     // PreferNoSchedule, which the scheduler's score counts
	OnNoExecute                            // NoExecute, which eviction uses
	onUnknown

	OnScheduling = OnNoSchedule | OnNoExecute                    // what keeps new pods off
	AllEffects   = OnScheduling | OnPreferNoSchedule | onUnknown // every taint, even of an unknown effect
)

// Has reports whether the set holds an effect.
func (e Effects) Has(effect fairlead.TaintEffect) bool {
	switch effect {
	case fairlead.NoSchedule:
		return e&OnNoSchedule != 0
	case fairlead.PreferNoSchedule:
		return e&OnPreferNoSchedule != 0
	case fairlead.NoExecute:
		return e&OnNoExecute != 0
	}
	return e&onUnknown != 0
}

// FirstUntolerated returns the first of the taints, in their order, that has one
// of the effects and that no toleration matches; nil if there is none. It points
// into taints, and allocates nothing.
func FirstUntolerated(tolerations []fairlead.Toleration, taints []fairlead.Taint, effects Effects, o *Options) *fairlead.Taint {
	numbers := o.numbers()
	for i := range taints {
		if effects.Has(taints[i].Effect) && object.FirstMatch(tolerations, &taints[i], numbers) < 0 {
			return &taints[i]
		}
	}
	return nil
}

// Untolerated returns every taint that FirstUntolerated would find, in the order
// of taints, pointing into it.
func Untolerated(tolerations []fairlead.Toleration, taints []fairlead.Taint, effects Effects, o *Options) iter.Seq[*fairlead.Taint] {
	return func(yield func(*fairlead.Taint) bool) {
		for i := range taints {
			if effects.Has(taints[i].Effect) && object.FirstMatch(tolerations, &taints[i], o.numbers()) < 0 && !yield(&taints[i]) {
				return
			}
		}
	}
}

// FirstMatching returns the index of the first toleration that matches the taint,
// or -1. If several match, the first counts: Kubernetes' eviction uses its
// TolerationSeconds.
func FirstMatching(tolerations []fairlead.Toleration, taint *fairlead.Taint, o *Options) int {
	return object.FirstMatch(tolerations, taint, o.numbers())
}
