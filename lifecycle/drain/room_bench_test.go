package drain_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead/lifecycle/drain"
)

// BenchmarkFindRoom tries every node of clusters up to the largest supported size
// that is used to seven tenths.
func BenchmarkFindRoom(b *testing.B) {
	for _, nodes := range []int{100, 500, 5_000} {
		asks := map[string][]int{}
		for i := range nodes {
			var list []int
			for k := range 30 {
				list = append(list, 1+(i+k)%3)
			}
			asks[fmt.Sprintf("n%04d", i)] = list
		}
		req := crowd(85, asks)
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				room, err := drain.FindRoom(req, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), nil)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(room.Together)), "together")
				b.ReportMetric(float64(room.Moved), "moved")
			}
		})
	}
}
