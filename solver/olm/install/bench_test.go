package install_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// BenchmarkStep is what a look at a namespace costs in which all is installed,
// beside observing and resolving, by the number of its operators.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{1, 50, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			state, w := rested(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if d := install.Step(state, w, start, nil); len(d.Actions) > 0 {
					b.Fatal("it is not at rest")
				}
			}
		})
	}
}

// rested returns a namespace with n operators installed.
func rested(b *testing.B, n int) (state install.State, w *install.World) {
	var lines []string
	cluster := new(install.MemBackend)
	err := cluster.Edit(ns, func(w *install.World) error {
		w.Groups = make([]install.OperatorGroup, 1)
		for i := range n {
			lines = append(lines, fmt.Sprintf("p%d/stable p%d.v1\nbundle p%d.v1 provides=(K%d/v1)", i, i, i, i))
			var s install.Subscription
			s.Name, s.Spec.Package = fmt.Sprintf("p%d", i), fmt.Sprintf("p%d", i)
			w.Subscriptions = append(w.Subscriptions, s)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	cluster.Sources = parseShelf(strings.Join(lines, "\n")).sources(b)
	resolver, err := olm.NewResolver(cluster.Sources, nil)
	if err != nil {
		b.Fatal(err)
	}
	for {
		w = cluster.World(ns)
		if w.Resolution, err = resolver.Resolve(b.Context(), w.Request()); err != nil {
			b.Fatal(err)
		}
		d := install.Step(state, w, start, nil)
		if state = d.State; len(d.Actions) == 0 {
			return state, w
		}
		for _, a := range d.Actions {
			if err := cluster.Apply(b.Context(), ns, a); err != nil {
				b.Fatal(err)
			}
		}
	}
}
