package object

import "github.com/fairlead/fairlead"

// Priority returns the priority of a pod: 0 if it has none.
func Priority(p *fairlead.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}
