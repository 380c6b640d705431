package diagnosis_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/snapshot"
)

// stepsOf returns the commands of the steps of a cluster.
func stepsOf(t *testing.T, text string) (all []string, d *diagnosis.Diagnosis) {
	t.Helper()
	var r snapshot.Reader
	if err := r.Stream(strings.NewReader(text), "x.yaml"); err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	d = diagnosis.Diagnose(s, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), nil)
	for _, x := range d.Steps {
		all = append(all, x.Command)
	}
	return all, d
}

// A hook that holds up the deletion of a machine is removed where it stands, by its own annotation in the
// Cluster API, and the others stay.
func TestHookCommands(t *testing.T) {
	const machine = "{apiVersion: %s, kind: Machine, metadata: {name: m, namespace: fleet, uid: u, deletionTimestamp: 2026-03-01T09:00:00Z, finalizers: [%s]%s}, spec: {%s}}\n"
	finalizers := map[bool]string{true: "machine.machine.openshift.io", false: "machine.cluster.x-k8s.io"}
	for _, c := range []struct{ api, meta, spec, want string }{
		{"machine.openshift.io/v1beta1", "", "lifecycleHooks: {preDrain: [{name: Own, owner: team}]}", "/spec/lifecycleHooks/preDrain/0"},
		{"machine.openshift.io/v1beta1", "", "lifecycleHooks: {preTerminate: [{name: Own, owner: team}]}", "/spec/lifecycleHooks/preTerminate/0"},
		{"cluster.x-k8s.io/v1beta1", ", annotations: {pre-drain.delete.hook.machine.cluster.x-k8s.io/own: team}", "", "pre-drain.delete.hook.machine.cluster.x-k8s.io/own-"},
		{"cluster.x-k8s.io/v1beta1", ", annotations: {pre-terminate.delete.hook.machine.cluster.x-k8s.io/own: team}", "", "pre-terminate.delete.hook.machine.cluster.x-k8s.io/own-"},
	} {
		steps, d := stepsOf(t, fmt.Sprintf(machine, c.api, finalizers[strings.HasPrefix(c.api, "machine.openshift.io")], c.meta, c.spec))
		if len(steps) != 1 || !strings.Contains(steps[0], c.want) {
			t.Errorf("%s %s%s: %q, want %s; %+v", c.api, c.meta, c.spec, steps, c.want, d.Says)
		}
	}
}

// A machine that has failed is deleted only where a set makes another one, and nobody deletes it already.
func TestFailedMachines(t *testing.T) {
	const machine = "{apiVersion: machine.openshift.io/v1beta1, kind: Machine, metadata: {name: m, namespace: openshift-machine-api, uid: u%s}, status: {phase: Failed, errorReason: Odd, errorMessage: it went wrong}}\n"
	for _, c := range []struct {
		meta string
		want bool
	}{
		{", ownerReferences: [{apiVersion: machine.openshift.io/v1beta1, kind: MachineSet, name: s, uid: s, controller: true}]", true},
		{", ownerReferences: [{apiVersion: machine.openshift.io/v1, kind: ControlPlaneMachineSet, name: s, uid: s, controller: true}]", true},
		{", ownerReferences: [{apiVersion: example.com/v1, kind: Batch, name: s, uid: s, controller: true}]", false},
		{"", false},
	} {
		steps, d := stepsOf(t, fmt.Sprintf(machine, c.meta))
		if got := strings.Contains(strings.Join(steps, "\n"), "delete machine"); got != c.want {
			t.Errorf("%s: %q; %v", c.meta, steps, d.Says)
		}
	}
}
