package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// Waits are the longest waits of simulations, by reason. The zero value is empty.
type Waits struct{ longest map[string]wait }

type wait struct {
	lasted  time.Duration
	seed    uint64
	subject string
}

// See records a wait and how long it has lasted in the simulation of a seed.
func (w *Waits) See(b fairlead.Block, lasted time.Duration, seed uint64) {
	if w.longest == nil {
		w.longest = map[string]wait{}
	}
	if old, known := w.longest[b.Reason]; !known || lasted > old.lasted {
		w.longest[b.Reason] = wait{lasted, seed, b.Subject}
	}
}

// add merges the waits of another, of which the longer count.
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

// Waited records how long the blocks of a decision have lasted, without the jumps of
// the clock in that time. Run logs the longest ones at its end.
func Waited(s *Sim, blocked []fairlead.Block) {
	now := s.Clock.Now()
	for _, b := range blocked {
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
