package placement_test

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/taints/placement"
)

// BenchmarkFleet asks, as a scheduler does, where a pod fits among 5,000 nodes, and why not
// on the hundred of one rack.
func BenchmarkFleet(b *testing.B) {
	c := placement.New(nil)
	for i := range 5_000 {
		if err := c.SetNode(sized(fmt.Sprint("n", i), 4)); err != nil {
			b.Fatal(err)
		}
		if err := c.Add(weighted(fmt.Sprint("a", i), fmt.Sprint("n", i), 0, 3)); err != nil {
			b.Fatal(err)
		}
	}
	names := make([]string, 5_000)
	for i := range names {
		names[i] = fmt.Sprint("n", i)
	}
	pod, fresh := weighted("x", "", 0, 2), 0
	for _, one := range []struct {
		name string
		ask  func()
	}{
		{"fits", func() {
			for _, n := range names {
				if c.Fits(pod, n) {
					b.Fatal("it fits")
				}
			}
		}},
		{"where", func() { // all of it, as a scheduler-like service answers
			if a := c.Where(pod, nil); len(a.Nodes) > 0 || a.Rejections[0].Nodes != 5_000 {
				b.Fatal("it fits")
			}
		}},
		{"where/new", func() { // of a workload that was never seen
			pod.Labels = map[string]string{"app": fmt.Sprint(b.Name(), fresh)}
			fresh++
			if a := c.Where(pod, nil); len(a.Nodes) > 0 {
				b.Fatal("it fits")
			}
		}},
		{"reasons", func() {
			for _, n := range names[:100] {
				if len(c.Evaluate(pod, n)) != 1 {
					b.Fatal("no reason")
				}
			}
		}},
	} {
		b.Run(one.name, func(b *testing.B) {
			for b.Loop() {
				one.ask()
			}
		})
	}
}
