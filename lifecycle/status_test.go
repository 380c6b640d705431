package lifecycle_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/lifecycle"
)

// TestStatusRests: what was written of the status is not written again, whatever
// form the conditions of the API have; and the conditions of v1beta2 are as its
// definition wants them: with a reason, and without severity.
func TestStatusRests(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, api := range []string{"machine.openshift.io/v1beta1", "cluster.x-k8s.io/v1beta1", "cluster.x-k8s.io/v1beta2"} {
		for name, hooks := range map[string]lifecycle.LifecycleHooks{
			"no hook": {},
			"hooks":   {PreDrain: []lifecycle.Hook{{Name: "MoveApp", Owner: "app"}}, PreTerminate: []lifecycle.Hook{{Name: "kcp-cleanup"}}},
			"failed":  {PreDrain: []lifecycle.Hook{{Name: "MoveApp", Owner: "app"}}},
		} {
			deleted := now.Add(-time.Hour)
			m := &lifecycle.Machine{APIVersion: api, Kind: "Machine", ObjectMeta: lifecycle.ObjectMeta{Namespace: "fleet", Name: "m", UID: "u", DeletionTimestamp: &deleted}}
			m.Spec.LifecycleHooks = hooks
			policy := &lifecycle.Policy{}
			if name == "failed" {
				policy.Deadlines = []lifecycle.Deadline{{Hard: time.Minute, Then: lifecycle.EscalateFail}}
			}
			w := &lifecycle.World{Machine: m, Instance: lifecycle.InstanceExists}
			var state lifecycle.State
			written := 0
			for range 5 {
				d := lifecycle.Step(state, w, now, policy)
				state = d.State
				for _, a := range d.Actions {
					u, ok := a.(lifecycle.UpdateStatus)
					if !ok {
						continue
					}
					written++
					m.Status.Phase, m.Status.Conditions = u.Phase, u.Conditions
					m.Status.ErrorReason, m.Status.ErrorMessage = u.ErrorReason, u.ErrorMessage
					m.ResourceVersion += "+"
				}
				now = now.Add(2 * time.Minute)
			}
			if written == 0 || written > 2 {
				t.Errorf("%s, %s: the status is written %d times", api, name, written)
			}
			for _, c := range m.Status.Conditions {
				if api == "cluster.x-k8s.io/v1beta2" && (c.Reason == "" || c.Severity != "") {
					t.Errorf("%s, %s: condition %+v is not one of metav1", api, name, c)
				}
			}
			if failed := m.Status.ErrorReason != ""; failed != (name == "failed" && api == "machine.openshift.io/v1beta1") {
				t.Errorf("%s, %s: error %q", api, name, m.Status.ErrorReason)
			}
		}
	}
}
