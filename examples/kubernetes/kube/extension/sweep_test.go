package extension_test

import (
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/extension"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
)

// TestSwept: the state of an extension that was removed while no process ran is deleted at the start.
func TestSwept(t *testing.T) {
	w := newWorld(t)
	w.publish(pipes()...)
	w.ask("1.0.0")
	for n := 0; budget.States(t, w.store) == 0; n++ {
		if _, err := w.runner.Reconcile(t.Context(), "pipes"); err != nil || n > 100 {
			t.Fatal("no state: ", err)
		}
		w.backend.Read()
		w.play()
	}
	s := budget.New(t)
	setup := server(s, extension.Options{Store: w.store})
	s.Without(extensionKind, "", "pipes")
	s.Until(t, "the state of an extension that is gone is deleted", setup, func() bool { return budget.States(t, w.store) == 0 })
}
