package lifecycle

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Policy is how the engine decides. The zero value is useful, and nil counts
// as that.
type Policy struct {
	// Drain is how nodes are drained.
	Drain DrainPolicy
}

// Decision is what [Step] returns.
type Decision struct {
	State   State     // to be saved before anything is applied
	Actions []Action  // to be applied then, in this order
	Waits   []Wait    // why the machine does not go on; those of the State
	Wake    time.Time // when to look again, zero for an event only
}

// Blocked puts the waits of a machine into words, in their order.
func (d *Decision) Blocked(machine string) []fairlead.Block {
	var all []fairlead.Block
	for _, w := range d.Waits {
		all = append(all, w.Block(machine))
	}
	return all
}
