package cluster

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// TestMeasuredAgainstAllPods checks that the numbers of budgets equal those computed from
// all pods of their namespaces, after any creations, changes and deletions.
func TestMeasuredAgainstAllPods(t *testing.T) {
	clock := new(fairlead.ManualClock)
	clock.Set(time.Unix(0, 0))
	c := New(clock, &Options{Still: true})
	r := rand.New(rand.NewPCG(1, 2))
	labels := func() map[string]string { return map[string]string{"app": fmt.Sprint(r.IntN(3))} }
	counted := 0
	for range 3000 {
		meta := fairlead.ObjectMeta{Namespace: fmt.Sprint("n", r.IntN(2)), Name: fmt.Sprint("x", r.IntN(8))}
		switch r.IntN(6) {
		case 0, 1, 2:
			p := fairlead.Pod{ObjectMeta: meta}
			p.Labels = labels()
			p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: []fairlead.ConditionStatus{"True", "False"}[r.IntN(2)]}}
			Put(c, Pods(), &p)
		case 3:
			Drop(c, Pods(), meta.String())
		case 4:
			b := fairlead.PodDisruptionBudget{ObjectMeta: meta}
			b.Spec.Selector = &fairlead.LabelSelector{MatchLabels: labels()}
			b.Spec.MinAvailable = &fairlead.IntOrString{Int: r.IntN(3) - 1} // below zero is invalid
			Put(c, Budgets(), &b)
		case 5:
			Drop(c, Budgets(), meta.String())
		}
		want := List(c, Budgets())
		for i := range want {
			if s, err := want[i].Measure(Refs(c, Pods()), nil, c.Now()); err == nil {
				want[i].Status = s
				counted += s.CurrentHealthy
			}
		}
		if got := c.Measured(); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	}
	if counted < 1000 {
		t.Errorf("%d pods were counted", counted)
	}
}
