package fleet_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/fleet"
)

// BenchmarkHeadline chooses which of a thousand machines a set gives up.
func BenchmarkHeadline(b *testing.B) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	machines := make([]lifecycle.Machine, 1000)
	for i := range machines {
		machines[i].Name = fmt.Sprint("worker-", i)
		machines[i].CreationTimestamp = now.Add(-time.Duration(i*7919%1000) * time.Minute)
	}
	b.Run("scaledown/machines=1000/down=100", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if picks, err := fleet.ScaleDown(machines, 900, fleet.DeleteOldest, fleet.MachineAPI, now); err != nil || len(picks) == 0 {
				b.Fatal(err)
			}
		}
	})
}
