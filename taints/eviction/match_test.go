package eviction_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints/eviction"
)

// TestMatch compares with the plain reading of Match: of all tolerations that match, the
// first, the longest or the shortest counts. Negative times are zero, and none is forever.
func TestMatch(t *testing.T) {
	const forever = math.MaxInt64
	lists := [][]int64{{}}
	for begin := 0; len(lists[len(lists)-1]) < 3; {
		end := len(lists)
		for _, list := range lists[begin:end] {
			for _, seconds := range []int64{forever, -5, 0, 30, 300} {
				lists = append(lists, append(slices.Clone(list), seconds))
			}
		}
		begin = end
	}
	on := []eviction.Started{{Taint: fairlead.Taint{Key: "x", Effect: fairlead.NoExecute}, Since: start}}
	for _, list := range lists[1:] {
		pod := &fairlead.Pod{}
		times := make([]int64, len(list))
		for i, seconds := range list {
			o := fairlead.Toleration{Key: "x", Operator: fairlead.TolerationExists}
			if times[i] = max(seconds, 0); seconds != forever {
				o.TolerationSeconds = &list[i]
			}
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, o)
		}
		for match, want := range map[eviction.Match]int64{eviction.MatchFirst: times[0], eviction.MatchLongest: slices.Max(times), eviction.MatchShortest: slices.Min(times)} {
			d := eviction.EvictAt(pod, on, &eviction.Policy{Match: match})
			if d.Evict() != (want != forever) || d.Evict() && !d.At.Equal(start.Add(time.Duration(want)*time.Second)) {
				t.Errorf("%v, match %q: %v, want after %d s", list, match, d.At, want)
			}
		}
	}
}
