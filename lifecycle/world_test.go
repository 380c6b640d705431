package lifecycle_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// What does not fit together is told by field, all at once, and nothing is done.
func TestWorldCheck(t *testing.T) {
	var m lifecycle.Machine
	m.Status.NodeRef = &lifecycle.NodeRef{Name: "n"}
	w := &lifecycle.World{Machine: &m, Instance: "Maybe"}
	w.Node = new(lifecycle.Node)
	w.Node.Name = "other"
	w.Pods = make([]lifecycle.Pod, 2)
	w.Pods[0].Spec.NodeName = "other"
	w.Pods[1].Spec.NodeName = "elsewhere"
	w.Pods[1].Name = "p"
	err := w.Check()
	var all fairlead.FieldErrors
	if !errors.As(err, &all) {
		t.Fatalf("%v", err)
	}
	var paths []string
	for _, e := range all {
		paths = append(paths, e.Path)
	}
	if got := strings.Join(paths, " "); got != "machine.metadata.name node.metadata.name pods[1].spec.nodeName instance" {
		t.Errorf("%s: %v", got, err)
	}
	var field *fairlead.FieldError
	if !errors.As(err, &field) || field.Path != "machine.metadata.name" {
		t.Errorf("the first is %v", field)
	}
	if err := (*lifecycle.World)(nil).Check(); err == nil {
		t.Error("no world is no error")
	}
	if err := new(lifecycle.World).Check(); err != nil {
		t.Errorf("a machine that is gone: %v", err)
	}
	// A node of another name counts where it runs on the machine's instance; an object
	// has a kind and a name.
	for provider, ok := range map[string]bool{"cloud:///1": true, "cloud:///2": false, "": false} {
		m.Name, m.Spec.ProviderID, w.Instance, w.Pods = "m", "cloud:///1", "", nil
		w.Node.Spec.ProviderID = provider
		if err := w.Check(); (err == nil) != ok {
			t.Errorf("a node on %q: %v", provider, err)
		}
	}
	w.Node = nil
	for o, ok := range map[[2]string]bool{{"DockerMachine", "m"}: true, {"", "m"}: false, {"DockerMachine", ""}: false} {
		w.Objects = []lifecycle.Object{{Kind: o[0], ObjectMeta: lifecycle.ObjectMeta{Name: o[1]}}}
		if err := w.Check(); (err == nil) != ok {
			t.Errorf("object %q: %v", o, err)
		}
	}
}

// A new machine is looked at in full, an old one for what was changed.
func TestAdmit(t *testing.T) {
	seconds := int32(-1)
	old := new(lifecycle.Machine)
	old.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: "x", Owner: "owner"}}
	old.Spec.Deletion = &lifecycle.MachineDeletion{NodeDrainTimeoutSeconds: &seconds}
	err := lifecycle.Admit(nil, old)
	for _, path := range []string{"metadata.name: ", "spec.providerSpec: ", "spec.lifecycleHooks.preDrain[0].name: ", "spec.deletion.nodeDrainTimeoutSeconds: "} {
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s is not told: %v", path, err)
		}
	}
	same := *old
	if err := lifecycle.Admit(old, &same); err != nil {
		t.Errorf("what was wrong before may stay so: %v", err)
	}
	worse := *old
	worse.Spec.LifecycleHooks.PreTerminate = []lifecycle.Hook{{Name: "Good", Owner: ""}}
	if err := lifecycle.Admit(old, &worse); err == nil || !strings.Contains(err.Error(), "preTerminate[0].owner") || strings.Contains(err.Error(), "preDrain") {
		t.Errorf("%v", err)
	}
	if err := lifecycle.Admit(old, nil); err != nil {
		t.Errorf("a deletion: %v", err)
	}
	// Once it is being deleted, both lists are told of.
	now := start
	going := *old
	going.DeletionTimestamp = &now
	bad := going
	bad.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: "x", Owner: "thief"}}
	bad.Spec.LifecycleHooks.PreTerminate = []lifecycle.Hook{{Name: "new", Owner: "owner"}}
	err = lifecycle.Admit(&going, &bad)
	if err == nil || !strings.Contains(err.Error(), "preDrain: forbidden") || !strings.Contains(err.Error(), "preTerminate: forbidden") {
		t.Errorf("%v", err)
	}
	bad.Finalizers, bad.Spec.LifecycleHooks = []string{"b", "a"}, lifecycle.LifecycleHooks{}
	if err := lifecycle.Admit(&going, &bad); err != nil {
		t.Errorf("hooks and finalizers may go: %v", err)
	}
}

// TestShouldWaitForNodeVolumes of the Cluster API: what the node's status says,
// beside attachments, by the name of a CSI volume.
func TestVolumesInNodeStatus(t *testing.T) {
	now := start
	var m lifecycle.Machine
	m.Name, m.UID = "m", "u"
	m.DeletionTimestamp = &now
	m.Status.NodeRef = &lifecycle.NodeRef{Name: "n", UID: "nu"}
	m.Status.Phase = lifecycle.PhaseDeleting
	m.Status.Conditions = []lifecycle.Condition{
		{Type: "Drainable", Status: "True"}, {Type: "Drained", Status: "True"}, {Type: "Terminable", Status: "True"},
	}
	w := &lifecycle.World{Machine: &m, Instance: lifecycle.InstanceExists}
	w.Node = new(lifecycle.Node)
	w.Node.Name, w.Node.UID, w.Node.Spec.Unschedulable = "n", "nu", true
	w.Node.Status.VolumesAttached = []fairlead.AttachedVolume{{Name: "kubernetes.io/csi/disk.example^vol-1"}, {Name: "kubernetes.io/other/vol-2"}}
	var pv lifecycle.PersistentVolume
	pv.Name = "pv-1"
	pv.Spec.CSI = &lifecycle.CSISource{Driver: "disk.example", VolumeHandle: "vol-1"}
	pv.Spec.ClaimRef = &lifecycle.ClaimRef{Namespace: "d", Name: "data"}
	w.PersistentVolumes = []lifecycle.PersistentVolume{pv}
	var a lifecycle.VolumeAttachment
	a.Spec.NodeName, a.Spec.Source.PersistentVolumeName, a.Status.Attached = "n", "pv-1", true
	w.Attachments = []lifecycle.VolumeAttachment{a} // the same volume: told once
	policy := &lifecycle.Policy{WaitForVolumes: true}
	names := func() string {
		d := lifecycle.Step(lifecycle.State{}, w, now, policy)
		var all []string
		for _, x := range d.Blocked {
			all = append(all, x.Reason+" "+x.Name+" "+x.Detail)
		}
		return strings.Join(all, ", ")
	}
	if got := names(); got != "VolumeAttached pv-1 claim d/data, VolumeAttached kubernetes.io/other/vol-2 " {
		t.Error(got)
	}
	// Only the exact name is that of the volume.
	attached := w.Node.Status.VolumesAttached
	w.Attachments = nil
	for _, name := range []string{
		"kubernetes.io/csi/disk.example^vol-10", "kubernetes.io/csi/disk.example^vol-", "kubernetes.io/csi/disk.example2^vol-1",
		"kubernetes.io/csi/disk.example/vol-1", "kubernetes.io/csi/disk.example", "kubernetes.io/csj/disk.example^vol-1", "disk.example^vol-1", "",
	} {
		w.Node.Status.VolumesAttached = []fairlead.AttachedVolume{{Name: name}}
		if got := names(); got != "VolumeAttached "+name+" " {
			t.Errorf("%q: %s", name, got)
		}
	}
	w.Node.Status.VolumesAttached, w.Attachments = attached, []lifecycle.VolumeAttachment{a}
	var p lifecycle.Pod // of the node itself: the drain leaves it, and its volume
	p.Namespace, p.Name, p.UID = "d", "static", "static"
	p.Annotations = map[string]string{"kubernetes.io/config.mirror": "x"}
	p.Spec.NodeName = "n"
	p.Spec.Volumes = []fairlead.Volume{{PersistentVolumeClaim: &fairlead.ClaimSource{ClaimName: "data"}}}
	w.Pods = []lifecycle.Pod{p}
	if got := names(); got != "VolumeAttached kubernetes.io/other/vol-2 " {
		t.Error(got)
	}
	w.Node.Status.VolumesAttached = w.Node.Status.VolumesAttached[:1]
	if got := names(); got != "InstanceGoing  " {
		t.Error(got)
	}
}

// State survives JSON: what is decided on what was read is what is decided on
// what was written.
func TestStateSurvivesJSON(t *testing.T) {
	for name, step := range waiting(t) {
		d := step()
		text, err := json.Marshal(d.State)
		if err != nil {
			t.Fatal(err)
		}
		var read lifecycle.State
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(read)
		if err != nil || string(again) != string(text) {
			t.Errorf("%s: %s, then %s, %v", name, text, again, err)
		}
	}
}

// The backend changes nothing that is not what an action was decided on.
func TestMemBackendRefuses(t *testing.T) {
	b := new(lifecycle.MemBackend)
	var n lifecycle.Node
	n.Name = "n"
	b.PutNode(n)
	var m lifecycle.Machine
	m.Name, m.Spec.ProviderSpec = "m", json.RawMessage(`{}`)
	m.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: "Hook", Owner: "owner"}}
	if err := b.PutMachine(m); err != nil {
		t.Fatal(err)
	}
	var p lifecycle.Pod
	p.Namespace, p.Name, p.UID, p.Spec.NodeName = "d", "p", "uid", "n"
	b.PutPod(p)
	before := b.Machine("m")
	old := lifecycle.UpdateStatus{Revision: before.ResourceVersion, Phase: lifecycle.PhaseRunning}
	if err := b.Apply(t.Context(), "m", old); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		action lifecycle.Action
		code   int
	}{
		{old, 409}, {drain.Cordon{Node: "n", UID: "other"}, 404}, {lifecycle.DeleteNode{Name: "n", UID: "other"}, 409},
		{drain.Evict{Namespace: "d", Name: "p", UID: "other"}, 404}, {drain.DeletePod{Namespace: "d", Name: "other", UID: "uid"}, 404},
		{lifecycle.RemoveHook{Point: lifecycle.PreDrain, Name: "Hook", Owner: "thief"}, 403},
	} {
		var refused *fairlead.RefusedError
		if err := b.Apply(t.Context(), "m", tt.action); !errors.As(err, &refused) || refused.Code != tt.code {
			t.Errorf("%v: %v, want %d", tt.action.Key(), err, tt.code)
		}
	}
	if b.Node("n") == nil || b.Node("n").Spec.Unschedulable || len(b.PodsOn("n")) != 1 || len(b.Machine("m").Spec.LifecycleHooks.PreDrain) != 1 {
		t.Error("something was changed all the same")
	}
}

// State of another machine of the same name does not count.
func TestStateOfAnotherMachine(t *testing.T) {
	now := start
	var m lifecycle.Machine
	m.Name, m.UID = "m", "new"
	m.DeletionTimestamp = &now
	m.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: "Hook", Owner: "owner"}}
	old := lifecycle.State{UID: "old", Stage: lifecycle.StageTerminate, Drained: "Drain finished successfully"}
	d := lifecycle.Step(old, &lifecycle.World{Machine: &m, Instance: lifecycle.InstanceExists}, now, nil)
	if d.State.UID != "new" || d.State.Stage != lifecycle.StagePreDrain || len(d.Blocked) != 1 || d.State.Drained != "" {
		t.Errorf("it goes on with %+v", d.State)
	}
}

// What a Step must not be led astray by: a look from before the deletion, times
// from before the clock was set back, a deadline that says nothing of what to do.
func TestStepStandsFast(t *testing.T) {
	now := start
	var m lifecycle.Machine
	m.Name, m.UID = "m", "u"
	w := &lifecycle.World{Machine: &m, Instance: lifecycle.InstanceExists}
	state := lifecycle.State{UID: "u", Stage: lifecycle.StageTerminate, Drained: "Drain finished successfully"}
	if d := lifecycle.Step(state, w, now, nil); d.State.Stage != lifecycle.StageTerminate || d.Wake.IsZero() {
		t.Errorf("a look from before the deletion: %+v", d)
	}

	m.DeletionTimestamp = &now
	state.Retries = []fairlead.Retry{{Key: lifecycle.DeleteInstance{}.Key(), Attempts: 1, Last: now.Add(time.Hour)}}
	again := lifecycle.Step(state, w, now, nil)
	if !slices.ContainsFunc(again.Actions, func(a lifecycle.Action) bool { return a == lifecycle.DeleteInstance{} }) {
		t.Errorf("the clock was set back, and the instance is not deleted: %v", again.Actions)
	}

	m.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: "Hook", Owner: "owner"}}
	policy := &lifecycle.Policy{Deadlines: []lifecycle.Deadline{{Hard: time.Minute}}}
	d := lifecycle.Step(lifecycle.State{}, w, now, policy)
	d = lifecycle.Step(d.State, w, now.Add(time.Hour), policy)
	for _, a := range d.Actions {
		if _, removed := a.(lifecycle.RemoveHook); removed || d.Blocked[0].Reason != lifecycle.ReasonHookPending {
			t.Errorf("nobody said what to do at the deadline: %v, %v", a, d.Blocked)
		}
	}
}
