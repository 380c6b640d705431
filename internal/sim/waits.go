package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// Waits are the longest waits of simulations, by reason. The zero value has none.
type Waits struct{ longest map[string]wait }

type wait struct {
	lasted  time.Duration
	seed    uint64
	subject string
}

// See takes note of a wait that has lasted so long in the simulation of a seed.
func (w *Waits) See(b fairlead.Block, lasted time.Duration, seed uint64) {
	if w.longest == nil {
		w.longest = map[string]wait{}
	}
	if old, known := w.longest[b.Reason]; !known || lasted > old.lasted {
		w.longest[b.Reason] = wait{lasted, seed, b.Subject}
	}
}

// add takes over the longer waits of another.
func (w *Waits) add(o *Waits) {
	for reason, x := range o.longest {
		w.See(fairlead.Block{Reason: reason, Subject: x.subject}, x.lasted, x.seed)
	}
}

// String lists the waits by reason, each with the seed that it comes from.
func (w *Waits) String() string {
	var text strings.Builder
	for _, reason := range slices.Sorted(maps.Keys(w.longest)) {
		x := w.longest[reason]
		fmt.Fprintf(&text, "\n%12s  %s (%s, seed %d)", x.lasted.Round(time.Second), reason, x.subject, x.seed)
	}
	return text.String()
}

// Waited takes note of how long what a decision waits for has lasted, without what the
// clock has jumped by meanwhile. Run logs the longest at its end.
func Waited[B fairlead.Blocker](s *Sim, blocked []B) {
	now := s.Clock.Now()
	for _, x := range blocked {
		b := x.Block()
		if b.Since.IsZero() {
			continue
		}
		lasted := now.Sub(b.Since)
		for _, j := range s.jumps {
			lasted -= max(0, min(j.by, j.to.Sub(b.Since)))
		}
		s.waits.See(b, lasted, s.Seed)
	}
}
