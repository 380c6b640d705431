package duel

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/bench/cost"
)

// Late is how long after its context ended a solver returned: in wall-clock time,
// and in processor time, which is the same on an idle machine.
type Late struct {
	Clock, CPU []time.Duration // ascending
}

// Cancel ends the context of a problem that would take long, at times from 1 ms to
// 50 ms after the start.
func Cancel(ctx context.Context, s Solver, p *Problem, times int) (Late, error) {
	var late Late
	solve := s.Prepare(p)
	for i := range times {
		wait := time.Millisecond + time.Duration(i)*49*time.Millisecond/time.Duration(times)
		ctx, cancel := context.WithCancel(ctx)
		var end time.Time
		var cpu time.Duration
		ended := make(chan struct{})
		time.AfterFunc(wait, func() {
			end, cpu = time.Now(), cost.CPU()
			cancel()
			close(ended)
		})
		_, err := solve(ctx)
		back, cpuBack := time.Now(), cost.CPU()
		<-ended
		if err == nil && back.Before(end) {
			return Late{}, fmt.Errorf("%s was done before the context ended", s.Name)
		}
		late.Clock = append(late.Clock, back.Sub(end))
		late.CPU = append(late.CPU, cpuBack-cpu)
	}
	slices.Sort(late.Clock)
	slices.Sort(late.CPU)
	return late, nil
}
