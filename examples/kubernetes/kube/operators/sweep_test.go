package operators_test

import (
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
)

// TestSwept: the state of a namespace that was removed while no process ran is deleted at the start.
func TestSwept(t *testing.T) {
	w := newWorld(t, nil)
	w.stock("Automatic", onlyPipes())
	for budget.States(t, w.store) == 0 {
		if _, err := w.pass(); err != nil || w.clock.Now().Hour() > 13 {
			t.Fatal("no state: ", err)
		}
	}
	s := budget.New(t)
	setup := server(s, operators.Options{Store: w.store}, nil)
	s.Without(namespaceKind, "", ns)
	s.Until(t, "the state of a namespace that is gone is deleted", setup, func() bool { return budget.States(t, w.store) == 0 })
}
