package lifecycle_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// TestReferenceCases states each case of the reference controllers' own tests as a row:
//
//	case at=STAGE|past=STAGE|untouched [words of the world]
//	the function and the name of the case
//	because the topic of a row of docs/compatibility/lifecycle.md, if the verdict differs
//
// at: the reference does the work of the stage; past: it skips it; untouched: it does nothing. The
// output is "same" or "differs", our stage, what is done, and the reasons of waits. The
// machine is being deleted and has a node whose pod no budget lets go:
//
//	mao [exclusion] alive noref nonode byprovider foreign renewed unreachable cordoned drained gone unknown
//	known=STAGE:DURATION   what the state says, and when the stage began
//	began=STAGE:DURATION   what the machine reports
//	timeout=SECONDS preDrain preTerminate finalizers=(A,B) annotation=KEY
//	role=ROLE others=(ROLE[:cordoned],...)   one node of the control plane may be down
//	infra[=deleting|none] cluster=deleting controlplane=deleting external planes=N
//	pod=daemonset|mirror|old|free|none volume=status|attachment|nopv|noclaim|daemonset
//	phase=PHASE fails
func TestReferenceCases(t *testing.T) {
	text, err := os.ReadFile("../docs/compatibility/lifecycle.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	golden.Run(t, "testdata/cases/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			name, because, _ := strings.Cut(strings.TrimSpace(c.Input), "\nbecause ")
			if seen[name] {
				t.Errorf("%s: %s is there twice", c.Pos, name)
			}
			seen[name] = true
			stage, did, waits := newReferenceCase(t, c).play()
			ours := string(stage) + ": " + strings.Join(slices.Concat(did, waits), ", ")
			if (because == "") != agrees(c, stage, did) {
				t.Errorf("%s: %s: is the verdict the same? Ours is %s", c.Pos, name, ours)
			}
			if because == "" {
				return "same: " + ours
			}
			if !strings.Contains(string(text), "| "+because+" |") {
				t.Errorf("%s: docs/compatibility/lifecycle.md has no row %q", c.Pos, because)
			}
			return "differs: " + ours
		}
	})
}

// agrees reports whether our verdict is the reference's.
func agrees(c *golden.Command, stage lifecycle.Stage, did []string) bool {
	switch {
	case c.Has("at"):
		return string(stage) == c.Value("at")
	case c.Has("past"):
		return stage.Past(lifecycle.Stage(c.Value("past")))
	}
	return len(did) == 0
}

// referenceCase is the world of one case.
type referenceCase struct {
	t      *testing.T
	now    time.Time
	state  lifecycle.State
	world  lifecycle.World
	policy lifecycle.Policy
	fails  bool // what is done fails
}

func newReferenceCase(t *testing.T, c *golden.Command) *referenceCase {
	r := &referenceCase{t: t, now: start.Add(24 * time.Hour), fails: c.Has("fails")}
	m := &lifecycle.Machine{}
	m.Name, m.UID, m.ResourceVersion, m.DeletionTimestamp, m.APIVersion = "m", "m", "1", r.ago(c, "24h"), "cluster.x-k8s.io/v1beta2"
	if c.Has("mao") {
		m.APIVersion, r.policy.ExcludedSkipsHooks = "machine.openshift.io/v1beta1", c.Has("exclusion")
	}
	if c.Has("alive") {
		m.DeletionTimestamp = nil
	}
	m.Finalizers = []string{lifecycle.FinalizerClusterAPI}
	if c.Has("mao") {
		m.Finalizers = []string{lifecycle.Finalizer}
	}
	if c.Has("finalizers") {
		m.Finalizers = c.Values("finalizers")
	}
	m.Spec.ProviderID = "cloud:///m"
	m.Status.Phase = lifecycle.Phase(c.Value("phase"))
	for _, key := range c.Values("annotation") {
		m.Annotations = map[string]string{key: "yes"}
	}
	hook := []lifecycle.Hook{{Name: "wait", Owner: "somebody"}}
	if c.Has("preDrain") {
		m.Spec.LifecycleHooks.PreDrain = hook
	}
	if c.Has("preTerminate") {
		m.Spec.LifecycleHooks.PreTerminate = hook
	}
	if c.Has("drained") {
		m.Status.Conditions = []lifecycle.Condition{{Type: lifecycle.ConditionDrained, Status: "True"}}
	}
	if c.Has("timeout") {
		n, err := strconv.Atoi(c.Value("timeout"))
		if err != nil {
			t.Fatal(err)
		}
		s := int32(n)
		m.Spec.Deletion = &lifecycle.MachineDeletion{NodeDrainTimeoutSeconds: &s, NodeVolumeDetachTimeoutSeconds: &s, NodeDeletionTimeoutSeconds: &s}
	}
	r.world.Machine, r.world.Instance = m, lifecycle.InstanceExists
	switch {
	case c.Has("gone"):
		r.world.Instance = lifecycle.InstanceGone
	case c.Has("unknown"):
		r.world.Instance = ""
	}
	r.reported(c)
	r.cluster(c)
	r.slots(c)
	r.node(c)
	r.volume(c)
	return r
}

func (r *referenceCase) ago(c *golden.Command, text string) *time.Time {
	d, err := time.ParseDuration(text)
	if err != nil {
		r.t.Fatalf("%s: %v", c.Pos, err)
	}
	at := r.now.Add(-d)
	return &at
}

// reported sets what the machine and the state say about stages.
func (r *referenceCase) reported(c *golden.Command) {
	m := r.world.Machine
	if stage, ago, ok := strings.Cut(c.Value("known"), ":"); ok {
		r.state = lifecycle.State{UID: m.UID, Stage: lifecycle.Stage(stage), Drained: "Drain finished successfully", DrainedNode: "n"}
		r.state.Began = []lifecycle.Beginning{{Stage: lifecycle.Stage(stage), At: *r.ago(c, ago)}}
	}
	stage, ago, ok := strings.Cut(c.Value("began"), ":")
	if !ok {
		return
	}
	m.Status.Deletion = &lifecycle.MachineDeletionStatus{}
	switch lifecycle.Stage(stage) {
	case lifecycle.StageDrain:
		m.Status.Deletion.NodeDrainStartTime = r.ago(c, ago)
	case lifecycle.StageVolumes:
		m.Status.Deletion.WaitForNodeVolumeDetachStartTime = r.ago(c, ago)
	case lifecycle.StagePreTerminate:
		m.Status.Deletion.WaitForPreTerminateHookStartTime = r.ago(c, ago)
	default:
		r.t.Fatalf("%s: no start of %s is reported", c.Pos, stage)
	}
}

func (r *referenceCase) cluster(c *golden.Command) {
	if c.Has("infra") {
		o := lifecycle.Object{Kind: "DockerMachine", State: lifecycle.InstanceExists}
		o.Name, o.UID = "m", "infra"
		switch c.Value("infra") {
		case "none":
			o.State = lifecycle.InstanceGone
		case "deleting":
			o.DeletionTimestamp = r.ago(c, "1m")
		}
		r.world.Machine.Spec.InfrastructureRef = &lifecycle.ObjectRef{Kind: o.Kind, Name: o.Name}
		r.world.Objects, r.world.Instance = []lifecycle.Object{o}, ""
	}
	if c.Has("cluster") || c.Has("controlplane") || c.Has("external") || c.Has("planes") {
		n, _ := strconv.Atoi(c.Value("planes"))
		r.world.Cluster = &lifecycle.Cluster{Deleting: c.Has("cluster"), ControlPlaneDeleting: c.Has("controlplane"), ExternalControlPlane: c.Has("external"), ControlPlanes: n}
	}
}

// slots sets what the machine waits for if one node of the control plane may be down. The
// nodes beside its own are "others".
func (r *referenceCase) slots(c *golden.Command) {
	if !c.Has("others") {
		return
	}
	role := func(name string) map[string]string {
		return map[string]string{"plane": strconv.FormatBool(name != "worker")}
	}
	members := []drain.Member{{Name: "m", UID: "m", Labels: role(c.Value("role")), Asked: r.now}}
	if c.Has("cordoned") {
		members[0].Down = "it is cordoned"
	}
	for i, other := range c.Values("others") {
		name, how, _ := strings.Cut(other, ":")
		members = append(members, drain.Member{Name: fmt.Sprint("other-", i), UID: fmt.Sprint(i), Labels: role(name), Down: how})
	}
	limit := drain.Limit{Name: "control plane", Max: lifecycle.IntOrString{Int: 1}, Selector: lifecycle.LabelSelector{MatchLabels: map[string]string{"plane": "true"}}}
	a, err := drain.Admit(nil, members, []drain.Limit{limit}, r.now)
	if err != nil {
		r.t.Fatalf("%s: %v", c.Pos, err)
	}
	r.world.Slots = a.SlotsOf("m")
}

// node sets the machine's node, and its pods.
func (r *referenceCase) node(c *golden.Command) {
	m := r.world.Machine
	if !c.Has("noref") {
		m.Status.NodeRef = &lifecycle.NodeRef{Kind: "Node", Name: "n", UID: "n"}
	}
	if c.Has("nonode") {
		return
	}
	n := &lifecycle.Node{ObjectMeta: lifecycle.ObjectMeta{Name: "n", UID: "n"}}
	n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True"}}
	n.Spec.Unschedulable = c.Has("cordoned")
	switch {
	case c.Has("byprovider"):
		n.Spec.ProviderID = m.Spec.ProviderID
	case c.Has("foreign"):
		n.Spec.ProviderID = "cloud:///other"
	case c.Has("renewed"):
		n.UID = "n2"
	}
	if c.Has("unreachable") {
		n.Status.Conditions[0].Status = "Unknown"
	}
	r.world.Node = n
	kind := c.Value("pod")
	if kind == "none" || c.Has("noref") && !c.Has("byprovider") {
		return
	}
	yes := true
	p := lifecycle.Pod{}
	p.Namespace, p.Name, p.UID, p.Spec.NodeName = "d", "p", "p", "n"
	p.Labels = map[string]string{"app": "p"}
	p.Status.Phase, p.Status.Conditions = fairlead.PodRunning, []fairlead.Condition{{Type: "Ready", Status: "True"}}
	owner := lifecycle.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "o", UID: "o", Controller: &yes}
	switch kind {
	case "daemonset":
		owner.Kind = "DaemonSet"
	case "mirror":
		p.Annotations, owner.Kind = map[string]string{"kubernetes.io/config.mirror": "1"}, "Node"
	case "old":
		p.DeletionTimestamp, p.Finalizers = r.ago(c, "1h"), []string{"block-deletion"}
	}
	p.OwnerReferences = []lifecycle.OwnerReference{owner}
	if c.Value("volume") == "daemonset" {
		p.Spec.Volumes = []fairlead.Volume{{Name: "v", PersistentVolumeClaim: &fairlead.ClaimSource{ClaimName: "data"}}}
	}
	r.world.Pods = []lifecycle.Pod{p}
	if kind == "" {
		b := lifecycle.PodDisruptionBudget{}
		b.Namespace, b.Name = "d", "b"
		b.Spec.Selector, b.Spec.MinAvailable = &lifecycle.LabelSelector{MatchLabels: p.Labels}, &lifecycle.IntOrString{Int: 1}
		b.Status.CurrentHealthy, b.Status.DesiredHealthy, b.Status.ExpectedPods = 1, 1, 1
		r.world.Budgets = []lifecycle.PodDisruptionBudget{b}
	}
}

func (r *referenceCase) volume(c *golden.Command) {
	if !c.Has("volume") {
		return
	}
	pv := lifecycle.PersistentVolume{}
	pv.Name = "pv"
	pv.Spec.CSI = &lifecycle.CSISource{Driver: "csi", VolumeHandle: "h"}
	for _, v := range c.Values("volume") {
		switch v {
		case "status":
			r.world.Node.Status.VolumesAttached = []fairlead.AttachedVolume{{Name: "kubernetes.io/csi/csi^h"}}
		case "attachment":
			a := lifecycle.VolumeAttachment{}
			a.Name, a.Spec.NodeName, a.Spec.Source.PersistentVolumeName, a.Status.Attached = "a", "n", "pv", true
			r.world.Attachments = []lifecycle.VolumeAttachment{a}
		}
	}
	switch {
	case slices.Contains(c.Values("volume"), "nopv"):
		return
	case !slices.Contains(c.Values("volume"), "noclaim"):
		pv.Spec.ClaimRef = &lifecycle.ClaimRef{Namespace: "d", Name: "data"}
	}
	r.world.PersistentVolumes = []lifecycle.PersistentVolume{pv}
}

// play makes steps until the machine and the node are as announced, and returns the stage, what
// is done in it, and the reasons of the waits.
func (r *referenceCase) play() (stage lifecycle.Stage, did, waits []string) {
	for range 8 {
		d := lifecycle.Step(r.state, &r.world, r.now, &r.policy)
		r.state, waits = d.State, nil
		again := false
		for _, a := range d.Actions {
			switch a := a.(type) {
			case lifecycle.UpdateStatus:
				m := *r.world.Machine
				m.Status.Phase, m.Status.Conditions, m.ResourceVersion = a.Phase, a.Conditions, m.ResourceVersion+"0"
				r.world.Machine, again = &m, true
			case drain.Cordon:
				n := *r.world.Node
				n.Spec.Unschedulable = true
				r.world.Node, again = &n, true
			case lifecycle.RecordEvent:
			default:
				did = append(did, a.Key().Kind)
			}
		}
		for _, b := range d.Blocks() {
			if b.Reason != lifecycle.ReasonStatusPending {
				waits = append(waits, "waits for "+b.Reason)
			}
		}
		if !again {
			if r.fails && len(did) > 0 {
				r.fails, r.now = false, r.now.Add(time.Second)
				r.world.Outcomes = []fairlead.Outcome{{Key: lifecycle.DeleteNode{UID: "n"}.Key(), At: r.now, Failed: true, Message: "it is refused"}}
				continue
			}
			return d.State.Stage, did, waits
		}
	}
	r.t.Error("it does not come to rest")
	return "", nil, nil
}
