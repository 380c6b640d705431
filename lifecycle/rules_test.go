package lifecycle_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// draining is a machine under deletion whose drain is next, with a pod on its
// node.
func draining() *lifecycle.World {
	begin := start
	var m lifecycle.Machine
	m.Name, m.UID, m.DeletionTimestamp = "m", "u", &begin
	m.Finalizers = []string{lifecycle.Finalizer}
	m.Status.NodeRef = &lifecycle.NodeRef{Kind: "Node", Name: "n", UID: "nu"}
	m.Status.Phase = lifecycle.PhaseDeleting
	m.Status.Conditions = []lifecycle.Condition{{Type: "Drainable", Status: "True"}, {Type: "Terminable", Status: "True"}}
	w := &lifecycle.World{Machine: &m, Instance: lifecycle.InstanceExists}
	w.Node = new(lifecycle.Node)
	w.Node.Name, w.Node.UID, w.Node.Spec.Unschedulable = "n", "nu", true
	controller := true
	var p lifecycle.Pod
	p.Namespace, p.Name, p.UID, p.Spec.NodeName = "d", "app", "pu", "n"
	p.OwnerReferences = []lifecycle.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r", Controller: &controller}}
	p.Status.Phase = fairlead.PodRunning
	w.Pods = []lifecycle.Pod{p}
	return w
}

func keys(d lifecycle.Decision) (all []string) {
	for _, a := range d.Actions {
		all = append(all, describe(a))
	}
	return all
}

// expect compares actions by what they do, and the first wait by its reason.
func expect(t *testing.T, d lifecycle.Decision, wait string, actions ...string) {
	t.Helper()
	got := keys(d)
	same := len(got) == len(actions)
	for i := range got {
		same = same && got[i] == actions[i]
	}
	if !same {
		t.Errorf("it decides on %q, want %q", got, actions)
	}
	reason := ""
	if len(d.Blocked) > 0 {
		reason = d.Blocked[0].Reason
	}
	if reason != wait {
		t.Errorf("it waits for %q, want %q", reason, wait)
	}
}

// ForceStopped is about instances that are known to be stopped, and no others.
func TestForceStopped(t *testing.T) {
	policy := &lifecycle.Policy{Drain: drain.Policy{ForceStopped: true}}
	w := draining()
	expect(t, lifecycle.Step(lifecycle.State{}, w, start, policy), drain.ReasonPodPending, "evict pu")
	w.Stopped = true
	expect(t, lifecycle.Step(lifecycle.State{}, w, start, policy), drain.ReasonPodPending, "delete pod pu")
	expect(t, lifecycle.Step(lifecycle.State{}, w, start, nil), drain.ReasonPodPending, "evict pu")
}

// With the instance the node has lost what ran on it: there is nothing to drain.
// Without an answer of the cloud there is.
func TestDrainWithoutInstance(t *testing.T) {
	w := draining()
	w.Instance = lifecycle.InstanceGone
	d := lifecycle.Step(lifecycle.State{}, w, start, nil)
	if want := "Node drain skipped: the instance is gone"; d.State.Drained != want {
		t.Errorf("the drain ends with %q, want %q", d.State.Drained, want)
	}
	w.Instance = ""
	expect(t, lifecycle.Step(lifecycle.State{}, w, start, nil), drain.ReasonPodPending, "evict pu")
}

// Of several deadlines that fit a hook the first counts, however exact others are.
func TestFirstDeadlineCounts(t *testing.T) {
	w := draining()
	w.Machine.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: "Hook", Owner: "owner"}}
	policy := &lifecycle.Policy{Deadlines: []lifecycle.Deadline{
		{Point: lifecycle.PreTerminate, Hard: time.Minute, Then: lifecycle.EscalateFail},
		{Hard: time.Minute, Then: lifecycle.EscalateAsk},
		{Point: lifecycle.PreDrain, Name: "Hook", Owner: "owner", Hard: time.Minute, Then: lifecycle.EscalateSkip},
	}}
	d := lifecycle.Step(lifecycle.State{}, w, start, policy)
	if d = lifecycle.Step(d.State, w, start.Add(time.Hour), policy); len(d.Blocked) != 1 || d.Blocked[0].Reason != lifecycle.ReasonHookApproval {
		t.Errorf("it waits for %v", d.Blocked)
	}
}

// A machine that is excluded from draining waits for no slot, nor does one
// without anything to drain.
func TestSlotsAreForDrains(t *testing.T) {
	w := draining()
	w.Slots = []drain.TakenSlot{{Limit: "one", Holder: "other", Since: start}}
	expect(t, lifecycle.Step(lifecycle.State{}, w, start, nil), lifecycle.ReasonSlotTaken)
	w.Machine.Annotations = map[string]string{lifecycle.ExcludeDrainAnnotation: ""}
	if d := lifecycle.Step(lifecycle.State{}, w, start, nil); !d.State.Stage.Past(lifecycle.StageDrain) {
		t.Errorf("an excluded machine is at %s: %v", d.State.Stage, d.Blocked)
	}
	w.Machine.Annotations, w.Node = nil, nil
	if d := lifecycle.Step(lifecycle.State{}, w, start, nil); !d.State.Stage.Past(lifecycle.StageDrain) {
		t.Errorf("a machine without node is at %s: %v", d.State.Stage, d.Blocked)
	}
	w = draining() // once the drain has begun, slots do not count
	d := lifecycle.Step(lifecycle.State{}, w, start, nil)
	w.Slots = []drain.TakenSlot{{Limit: "one", Holder: "other", Since: start}}
	if d = lifecycle.Step(d.State, w, start.Add(time.Minute), nil); d.State.Stage != lifecycle.StageDrain {
		t.Errorf("it is at %s: %v", d.State.Stage, d.Blocked)
	}
}

// A volume is not waited for only where a pod that the drain leaves on the node uses
// that very claim, in its namespace.
func TestVolumesThatStay(t *testing.T) {
	w := draining()
	w.Machine.Status.Conditions = append(w.Machine.Status.Conditions, lifecycle.Condition{Type: "Drained", Status: "True"})
	stays := &w.Pods[0]
	stays.Spec.Volumes = []lifecycle.Volume{{Name: "v", PersistentVolumeClaim: &fairlead.ClaimSource{ClaimName: "data"}}}
	var pv lifecycle.PersistentVolume
	pv.Name = "pv"
	w.Attachments = make([]lifecycle.VolumeAttachment, 1)
	a := &w.Attachments[0]
	a.Spec.NodeName, a.Spec.Source.PersistentVolumeName, a.Status.Attached = "n", "pv", true
	for _, tt := range []struct {
		namespace, claim, node, owner string
		waits                         bool
	}{
		{"d", "data", "n", "DaemonSet", false},
		{"other", "data", "n", "DaemonSet", true},
		{"d", "other", "n", "DaemonSet", true},
		{"d", "data", "elsewhere", "DaemonSet", true},
		{"d", "data", "n", "ReplicaSet", true}, // the drain was given up before it was evicted
	} {
		pv.Spec.ClaimRef = &lifecycle.ClaimRef{Namespace: tt.namespace, Name: tt.claim}
		w.PersistentVolumes = []lifecycle.PersistentVolume{pv}
		stays.Spec.NodeName, stays.OwnerReferences[0].Kind = tt.node, tt.owner
		d := lifecycle.Step(lifecycle.State{}, w, start, &lifecycle.Policy{WaitForVolumes: true})
		if waits := d.State.Stage == lifecycle.StageVolumes; waits != tt.waits {
			t.Errorf("%+v: it is at %s", tt, d.State.Stage)
		}
	}
}

// A hook that changes hands is another one: its new owner has all its time.
func TestHookChangesHands(t *testing.T) {
	w := draining()
	policy := &lifecycle.Policy{Deadlines: []lifecycle.Deadline{{Soft: time.Hour, Hard: 2 * time.Hour, Then: lifecycle.EscalateSkip}}}
	hooks := &w.Machine.Spec.LifecycleHooks
	hooks.PreDrain = []lifecycle.Hook{{Name: "Hook", Owner: "first"}}
	d := lifecycle.Step(lifecycle.State{}, w, start, policy)
	hooks.PreDrain = []lifecycle.Hook{{Name: "Hook", Owner: "second"}}
	at := start.Add(119 * time.Minute)
	d = lifecycle.Step(d.State, w, at, policy)
	if since, ok := d.State.HookSince(lifecycle.PreDrain, "Hook"); !ok || !since.Equal(at) {
		t.Errorf("the hook of the second owner is waited for since %v", since)
	}
	if d = lifecycle.Step(d.State, w, at.Add(time.Hour), policy); d.Blocked[0].Reason != lifecycle.ReasonHookOverdue {
		t.Errorf("it waits for %v", d.Blocked)
	}
}

// Where the state was lost, a hook is waited for since the deletion began, or
// since the drain was over.
func TestHookAges(t *testing.T) {
	w := draining()
	w.Machine.Spec.LifecycleHooks = lifecycle.LifecycleHooks{
		PreDrain: []lifecycle.Hook{{Name: "Early", Owner: "owner"}}, PreTerminate: []lifecycle.Hook{{Name: "Late", Owner: "owner"}},
	}
	now := start.Add(3 * time.Hour)
	d := lifecycle.Step(lifecycle.State{}, w, now, nil)
	if since, _ := d.State.HookSince(lifecycle.PreDrain, "Early"); !since.Equal(start) {
		t.Errorf("the preDrain hook is waited for since %v", since)
	}
	w.Machine.Spec.LifecycleHooks.PreDrain = nil
	drained := start.Add(time.Hour)
	w.Machine.Status.Conditions = append(w.Machine.Status.Conditions, lifecycle.Condition{Type: "Drained", Status: "True", LastTransitionTime: drained})
	d = lifecycle.Step(lifecycle.State{}, w, now, nil)
	if since, _ := d.State.HookSince(lifecycle.PreTerminate, "Late"); !since.Equal(drained) {
		t.Errorf("the preTerminate hook is waited for since %v", since)
	}
	d = lifecycle.Step(lifecycle.State{}, w, start.Add(-time.Hour), nil) // a clock that is behind the API's
	if since, _ := d.State.HookSince(lifecycle.PreTerminate, "Late"); !since.Equal(start.Add(-time.Hour)) {
		t.Errorf("the preTerminate hook is waited for since %v", since)
	}
}

// What the cloud has refused it has not begun: a hook that is set since is asked.
// What it has taken cannot be taken back.
func TestHookAfterRefusal(t *testing.T) {
	w := draining()
	w.Pods = nil
	w.Machine.Status.Conditions = append(w.Machine.Status.Conditions, lifecycle.Condition{Type: "Drained", Status: "True", Message: "Drain finished successfully"})
	d := lifecycle.Step(lifecycle.State{}, w, start, nil)
	expect(t, d, lifecycle.ReasonInstanceGoing, "delete instance")
	w.Machine.Spec.LifecycleHooks.PreTerminate = []lifecycle.Hook{{Name: "Late", Owner: "owner"}}
	w.Machine.Status.Conditions[1].Status = "False"
	taken := lifecycle.Step(d.State, w, start.Add(time.Minute), nil)
	if taken.Blocked[0].Reason != lifecycle.ReasonInstanceGoing {
		t.Errorf("the cloud has taken it, and it waits for %v", taken.Blocked)
	}
	w.Outcomes = []fairlead.Outcome{{Failed: true, Key: lifecycle.DeleteInstance{}.Key(), Code: 500, Message: "no", At: start}}
	refused := lifecycle.Step(d.State, w, start.Add(time.Minute), nil)
	for _, a := range refused.Actions {
		if _, is := a.(lifecycle.DeleteInstance); is {
			t.Error("the instance is deleted although a hook was set before the cloud has taken it")
		}
	}
	if refused.Blocked[0].Reason != lifecycle.ReasonHookPending {
		t.Errorf("the cloud has refused it, and it waits for %v", refused.Blocked)
	}
}

// NodeOf takes the node on the instance before the one that is named.
func TestNodeOf(t *testing.T) {
	node := func(name, provider string) (n lifecycle.Node) {
		n.Name, n.Spec.ProviderID = name, provider
		return n
	}
	m := &lifecycle.Machine{}
	nodes := []lifecycle.Node{node("a", "cloud:///a"), node("b", "cloud:///b"), node("c", "")}
	for _, tt := range []struct{ provider, ref, want string }{
		{"cloud:///b", "", "b"}, {"cloud:///b", "a", "b"}, {"cloud:///b", "b", "b"}, {"cloud:///x", "a", "a"},
		{"", "c", "c"}, {"", "a", "a"}, {"", "", ""}, {"cloud:///x", "", ""}, {"cloud:///x", "gone", ""}, {"cloud:///x", "c", "c"},
	} {
		m.Spec.ProviderID, m.Status.NodeRef = tt.provider, nil
		if tt.ref != "" {
			m.Status.NodeRef = &lifecycle.NodeRef{Name: tt.ref}
		}
		got := ""
		if n := lifecycle.NodeOf(m, nodes); n != nil {
			got = n.Name
		}
		if got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

// What is left in a condition of what it said before is taken away; a machine whose
// conditions are as they should be is left alone.
func TestStatusIsCleaned(t *testing.T) {
	for api, reason := range map[string]string{"machine.openshift.io/v1beta1": "", "cluster.x-k8s.io/v1beta2": "NoHooks"} {
		for what, leave := range map[string]func(c *lifecycle.Condition){
			"":         func(*lifecycle.Condition) {},
			"message":  func(c *lifecycle.Condition) { c.Message = "blocked" },
			"reason":   func(c *lifecycle.Condition) { c.Reason = "HookPresent" },
			"severity": func(c *lifecycle.Condition) { c.Severity = lifecycle.SeverityWarning },
			"status":   func(c *lifecycle.Condition) { c.Status = "Unknown" },
		} {
			w := draining()
			w.Machine.DeletionTimestamp, w.Machine.APIVersion = nil, api
			for i := range w.Machine.Status.Conditions {
				w.Machine.Status.Conditions[i].Reason = reason
			}
			leave(&w.Machine.Status.Conditions[1])
			d := lifecycle.Step(lifecycle.State{}, w, start, nil)
			if written := len(d.Actions) > 0; written != (what != "") {
				t.Errorf("%s, left %q: %q", api, what, keys(d))
			}
		}
	}
}

// The condition says why nothing was drained: a node that is gone is something else
// than no node.
func TestWhyNothingIsDrained(t *testing.T) {
	for named, want := range map[bool]string{true: "Node drain skipped: the node is gone", false: "Node drain skipped: the machine has no node"} {
		w := draining()
		if w.Node = nil; !named {
			w.Machine.Status.NodeRef = nil
		}
		if d := lifecycle.Step(lifecycle.State{}, w, start, nil); d.State.Drained != want {
			t.Errorf("%q, want %q", d.State.Drained, want)
		}
	}
}

// A deadline is for one of two points, or for both.
func TestPoints(t *testing.T) {
	for point, ok := range map[lifecycle.Point]bool{lifecycle.PreDrain: true, lifecycle.PreTerminate: true, "": true, "later": false} {
		p := &lifecycle.Policy{Deadlines: []lifecycle.Deadline{{Point: point, Soft: time.Hour}}}
		if err := p.Check(); (err == nil) != ok {
			t.Errorf("point %q: %v", point, err)
		}
	}
}

// The node on the machine's instance is remembered by name and UID, in place of what was
// remembered before: without a reference it is then known by that.
func TestNodeIsRemembered(t *testing.T) {
	want := lifecycle.NodeRef{Kind: "Node", Name: "n", UID: "nu"}
	for _, known := range []*lifecycle.NodeRef{nil, {Kind: "Node", Name: "n", UID: "former"}, {Kind: "Node", Name: "former", UID: "nu"}, &want} {
		w := draining()
		w.Machine.Status.NodeRef = nil
		w.Machine.Spec.ProviderID, w.Node.Spec.ProviderID = "cloud:///a", "cloud:///a"
		d := lifecycle.Step(lifecycle.State{UID: w.Machine.UID, Node: known}, w, start, nil)
		if d.State.Node == nil || *d.State.Node != want {
			t.Errorf("%+v was remembered, now %+v, want %+v", known, d.State.Node, want)
		}
	}
}
