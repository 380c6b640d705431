package lifecycle_test

import (
	"context"
	"encoding/json"
	"fmt"
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

// TestScripts runs the scenarios of testdata/machine. The commands:
//
//	new [volumes] [exclusion] [soft=D] [hard=D] [then=E] [drain=D] [detach=D]
//	    [node=D] [silent=D] [order=NAME:AFTER] [skip=KEY:VALUE]
//	               an empty cluster, and the policy from here on
//	machine NAME [preDrain=(HOOK:OWNER,...)] [preTerminate=(...)] [nonode] [drained]
//	    [infra=KIND] [bootstrap=KIND] [annotation=KEY] [finalizer=NAME] [provider=ID] [failed] [timeout=SECONDS]
//	               a machine, with a node of the name n-NAME
//	json           a machine as JSON, with a node of the name n-NAME; not admitted
//	pod NODE NAME [max=N] [daemonset] [claim=NAME] [label=KEY:VALUE]
//	               a pod, and a budget that lets N pods of its kind be missing
//	volume NAME NODE [claim=NAME] [detached]
//	node NAME [ready=True|False|Unknown] [uid=UID] [provider=ID] [uncordoned]
//	               changes a node, or lets it join; one of another UID is another object
//	ref NAME NODE [uid=UID]   status.nodeRef of a machine; - for none
//	object NAME KIND [finalizers=(NAME,...)] [unknown] [known] [gone] [deleting]   of a provider
//	cluster [deleting] [paused] [controlplane=N]
//	mark NAME KEY[:VALUE]...   sets the annotations of a machine
//	condition NAME TYPE STATUS REASON   reported by somebody else; the input is its message
//	delete NAME
//	release NAME POINT HOOK OWNER     % is the empty owner
//	add NAME POINT HOOK OWNER     tries to add a hook
//	force NAME POINT HOOK OWNER   adds a hook that nobody admits
//	edit NAME finalizers|undelete|annotation=KEY:VALUE|skip=(POINT/HOOK,...)
//	cloud silent|answers
//	owner NAME     a heartbeat
//	fail VERB [CODE]   actions fail from here on; none if there is no verb
//	jump DURATION  sets the clock ahead, or back
//	run [for=D]    makes passes until nothing more happens, or for so long, and
//	               prints what was done, by time
//	why NAME       prints the Blocks, without their words
//	show NAME      prints phase, conditions and notes
func TestScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words.txt")
	golden.Run(t, "testdata/machine/*.txt", func(t *testing.T) golden.Handler {
		s := &script{t: t, words: words}
		s.reset(&golden.Command{})
		return s.command
	})
}

type script struct {
	t         *testing.T
	words     *golden.Words
	policy    *lifecycle.Policy
	store     *fairlead.MemStore
	backend   *lifecycle.MemBackend
	runner    *lifecycle.Runner
	clock     *fairlead.ManualClock
	names     []string
	decisions map[string]lifecycle.Decision
	world     lifecycle.World // what the backend does not hold of each world
	silent    bool            // the cloud does not answer
	failing   string
	code      int
	out       strings.Builder
}

func (s *script) reset(c *golden.Command) {
	s.policy = &lifecycle.Policy{
		WaitForVolumes: c.Has("volumes"), ExcludedSkipsHooks: c.Has("exclusion"),
		DrainTimeout: s.duration(c, "drain"), VolumeDetachTimeout: s.duration(c, "detach"), NodeDeletionTimeout: s.duration(c, "node"),
		OwnerTimeout: s.duration(c, "silent"),
	}
	if c.Has("soft") || c.Has("hard") {
		s.policy.Deadlines = []lifecycle.Deadline{{Soft: s.duration(c, "soft"), Hard: s.duration(c, "hard"), Then: lifecycle.Escalation(c.Value("then"))}}
	}
	if key, value, ok := strings.Cut(c.Value("skip"), ":"); ok {
		selector := &lifecycle.LabelSelector{MatchLabels: map[string]string{key: value}}
		s.policy.Drain.Rules = []drain.Rule{{
			ObjectMeta: lifecycle.ObjectMeta{Name: "skip"},
			Spec:       drain.RuleSpec{Drain: drain.RuleBehavior{Behavior: drain.BehaviorSkip}, Pods: []drain.RulePods{{Selector: selector}}},
		}}
	}
	for _, o := range c.Values("order") {
		name, after, _ := strings.Cut(o, ":")
		s.policy.Order = append(s.policy.Order, lifecycle.HookOrder{Point: lifecycle.PreTerminate, Name: name, After: []string{after}})
	}
	s.clock = new(fairlead.ManualClock)
	s.clock.Set(start)
	s.store, s.names, s.decisions, s.world, s.failing, s.silent = new(fairlead.MemStore), nil, map[string]lifecycle.Decision{}, lifecycle.World{}, "", false
	s.backend = &lifecycle.MemBackend{Clock: s.clock}
	var err error
	s.runner, err = lifecycle.NewRunner(s, s.policy, &fairlead.RunnerOptions{Store: s.store, Clock: s.clock})
	if err != nil {
		fmt.Fprintln(&s.out, err)
	}
}

func (s *script) duration(c *golden.Command, key string) time.Duration {
	if !c.Has(key) {
		return 0
	}
	d, err := time.ParseDuration(c.Value(key))
	if err != nil {
		s.t.Fatalf("%s: %v", c.Pos, err)
	}
	return d
}

// Observe implements lifecycle.Backend.
func (s *script) Observe(ctx context.Context, machine string) (*lifecycle.World, error) {
	w, err := s.backend.Observe(ctx, machine)
	if err == nil {
		if s.silent {
			w.Instance = ""
		}
		w.Cluster, w.Attachments, w.PersistentVolumes = s.world.Cluster, s.world.Attachments, s.world.PersistentVolumes
	}
	return w, err
}

// Apply implements lifecycle.Backend.
func (s *script) Apply(ctx context.Context, machine string, a lifecycle.Action) error {
	fmt.Fprintf(&s.out, "%s %s: %s\n", s.clock.Now().Sub(start), machine, s.told(a))
	if s.failing != "" && strings.HasPrefix(describe(a), s.failing) {
		return &fairlead.RefusedError{Code: s.code, Message: "it is on strike"}
	}
	return s.backend.Apply(ctx, machine, a)
}

// told tells what an action does.
func (s *script) told(a lifecycle.Action) string {
	switch a := a.(type) {
	case lifecycle.UpdateStatus:
		text := "status " + string(a.Phase)
		for _, c := range a.Conditions {
			text += " " + c.Type + "=" + string(c.Status)
		}
		return text
	case lifecycle.RecordEvent:
		return "event " + a.Type + " " + a.Reason + s.words.Data(a.Reason, a.Message)
	case drain.Evict:
		return "evict " + a.Namespace + "/" + a.Name
	case drain.DeletePod:
		return "delete pod " + a.Namespace + "/" + a.Name
	case drain.Cordon:
		return "cordon " + a.Node
	case lifecycle.DeleteNode:
		return "delete node " + a.Name
	}
	return describe(a)
}

func (s *script) command(c *golden.Command) string {
	s.out.Reset()
	words := c.Words()
	switch c.Name {
	case "new":
		s.reset(c)
	case "machine":
		s.machine(c, words[0])
	case "json":
		var m lifecycle.Machine
		if err := json.Unmarshal([]byte(c.Input), &m); err != nil {
			return err.Error()
		}
		s.backend.Restore(m, false)
		s.node(m.Name, m.Spec.ProviderID)
		s.names = append(s.names, m.String())
	case "run":
		s.run(c)
	case "why":
		d := s.decisions[words[0]]
		for _, b := range d.Blocks() {
			fmt.Fprintln(&s.out, s.words.Block(b, start))
		}
	case "show":
		s.show(words[0])
	default:
		if err := s.user(c, words); err != nil {
			fmt.Fprintln(&s.out, err)
		}
	}
	if s.out.Len() == 0 {
		return "ok"
	}
	return s.out.String()
}

func (s *script) machine(c *golden.Command, name string) {
	var m lifecycle.Machine
	m.Name = name
	m.Spec.ProviderSpec = json.RawMessage(`{}`)
	m.Spec.ProviderID = "cloud:///" + name
	m.Spec.LifecycleHooks = lifecycle.LifecycleHooks{PreDrain: hookList(c.Values("preDrain")), PreTerminate: hookList(c.Values("preTerminate"))}
	m.Status.Phase = lifecycle.PhaseRunning
	if c.Has("failed") {
		m.Status.Phase, m.Status.ErrorReason, m.Status.ErrorMessage = lifecycle.PhaseFailed, "CreateError", "no quota"
	}
	if c.Has("infra") {
		m.APIVersion = "cluster.x-k8s.io/v1beta2"
		m.Spec.InfrastructureRef = &lifecycle.ObjectRef{Kind: c.Value("infra"), Name: name}
	}
	if c.Has("bootstrap") {
		m.Spec.Bootstrap = &lifecycle.Bootstrap{ConfigRef: &lifecycle.ObjectRef{Kind: c.Value("bootstrap"), Name: name}}
	}
	m.Finalizers = c.Values("finalizer")
	if c.Has("drained") {
		m.Status.Conditions = []lifecycle.Condition{{Type: lifecycle.ConditionDrained, Status: "True"}}
	}
	for _, key := range c.Values("annotation") {
		m.Annotations = map[string]string{key: ""}
	}
	if c.Has("timeout") {
		n, _ := strconv.Atoi(c.Value("timeout"))
		seconds := int32(n)
		m.Spec.Deletion = &lifecycle.MachineDeletion{NodeDrainTimeoutSeconds: &seconds, NodeVolumeDetachTimeoutSeconds: &seconds, NodeDeletionTimeoutSeconds: &seconds}
	}
	provider := m.Spec.ProviderID
	if c.Has("provider") {
		provider = c.Value("provider")
	}
	if !c.Has("nonode") {
		m.Status.NodeRef = &lifecycle.NodeRef{Kind: "Node", Name: "n-" + name, UID: "uid-n-" + name}
		s.node(name, provider)
		if c.Has("drained") { // and so cordoned
			n := *s.backend.Node("n-" + name)
			n.Spec.Unschedulable = true
			s.backend.PutNode(n)
		}
	}
	if err := s.backend.PutMachine(m); err != nil {
		fmt.Fprintln(&s.out, err)
		return
	}
	s.names = append(s.names, name)
}

func (s *script) node(machine, provider string) {
	var n lifecycle.Node
	n.Name, n.UID, n.Spec.ProviderID = "n-"+machine, "uid-n-"+machine, provider
	s.backend.PutNode(n)
}

func hookList(words []string) (hooks []lifecycle.Hook) {
	for _, w := range words {
		name, owner, _ := strings.Cut(w, ":")
		hooks = append(hooks, lifecycle.Hook{Name: name, Owner: owner})
	}
	return hooks
}

// user does what users, owners of hooks and the cluster do.
func (s *script) user(c *golden.Command, words []string) error {
	switch c.Name {
	case "pod":
		return s.pod(c, words)
	case "volume":
		s.volume(c, words)
	case "node":
		n := lifecycle.Node{ObjectMeta: lifecycle.ObjectMeta{Name: words[0], UID: "uid-" + words[0]}}
		if old := s.backend.Node(words[0]); old != nil {
			n = *old
		}
		if c.Has("uid") || c.Has("uncordoned") {
			n.Spec.Unschedulable = false
		}
		if c.Has("ready") {
			n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: lifecycle.ConditionStatus(c.Value("ready"))}}
		}
		if c.Has("uid") {
			n.UID = c.Value("uid")
		}
		if c.Has("provider") {
			n.Spec.ProviderID = c.Value("provider")
		}
		s.backend.PutNode(n)
	case "ref":
		m := *s.backend.Machine(words[0])
		if m.Status.NodeRef = nil; words[1] != "-" {
			m.Status.NodeRef = &lifecycle.NodeRef{Kind: "Node", Name: words[1], UID: c.Value("uid")}
		}
		s.backend.Restore(m, false)
	case "cluster":
		s.world.Cluster = &lifecycle.Cluster{Deleting: c.Has("deleting"), Paused: c.Has("paused"), ControlPlanes: 3}
		if c.Has("controlplane") {
			s.world.Cluster.ControlPlanes, _ = strconv.Atoi(c.Value("controlplane"))
		}
	case "delete":
		return s.backend.Delete(words[0])
	case "release":
		return s.backend.Release(words[0], lifecycle.Point(words[1]), words[2], strings.Trim(words[3], "%"))
	case "add":
		return s.backend.Edit(words[0], func(m *lifecycle.Machine) {
			h := &m.Spec.LifecycleHooks
			one := lifecycle.Hook{Name: words[2], Owner: words[3]}
			if words[1] == "preDrain" {
				h.PreDrain = append(slices.Clip(h.PreDrain), one)
			} else {
				h.PreTerminate = append(slices.Clip(h.PreTerminate), one)
			}
		})
	case "force":
		m := *s.backend.Machine(words[0])
		h := &m.Spec.LifecycleHooks
		one := lifecycle.Hook{Name: words[2], Owner: strings.Trim(words[3], "%")}
		if words[1] == "preDrain" {
			h.PreDrain = append(slices.Clip(h.PreDrain), one)
		} else {
			h.PreTerminate = append(slices.Clip(h.PreTerminate), one)
		}
		s.backend.Restore(m, false)
	case "edit":
		return s.backend.Edit(words[0], func(m *lifecycle.Machine) {
			if c.Has("finalizers") {
				m.Finalizers = c.Values("finalizers")
			}
			if c.Has("undelete") {
				m.DeletionTimestamp = nil
			}
			if c.Has("skip") {
				m.Annotations = map[string]string{lifecycle.SkipHookAnnotation: strings.Join(c.Values("skip"), ", ")}
			}
			if key, value, ok := strings.Cut(c.Value("annotation"), ":"); ok {
				m.Annotations = map[string]string{key: value}
			}
		})
	case "object":
		return s.backend.EditObject(words[0], words[1], func(o *lifecycle.Object) {
			o.Finalizers = c.Values("finalizers")
			if c.Has("unknown") {
				o.State = ""
			} else if c.Has("known") {
				o.State = lifecycle.InstanceExists
			} else if c.Has("gone") {
				o.State = lifecycle.InstanceGone
			}
			if c.Has("deleting") {
				at := s.clock.Now()
				o.DeletionTimestamp = &at
			}
		})
	case "mark":
		m := *s.backend.Machine(words[0])
		m.Annotations = map[string]string{}
		for _, word := range words[1:] {
			key, value, _ := strings.Cut(word, ":")
			m.Annotations[key] = value
		}
		s.backend.Restore(m, false)
	case "condition":
		m := *s.backend.Machine(words[0])
		at := s.clock.Now()
		one := lifecycle.Condition{Type: words[1], Status: lifecycle.ConditionStatus(words[2]), LastTransitionTime: at, Reason: words[3], Message: strings.TrimSpace(c.Input)}
		m.Status.Conditions = append(slices.DeleteFunc(slices.Clone(m.Status.Conditions), func(o lifecycle.Condition) bool { return o.Type == one.Type }), one)
		s.backend.Restore(m, false)
	case "cloud":
		s.silent = words[0] == "silent"
	case "owner":
		s.backend.SetOwner(words[0])
	case "fail":
		s.failing, s.code = strings.Join(words, " "), 500
		if c.Has("code") {
			s.code, _ = strconv.Atoi(c.Value("code"))
		}
	case "jump":
		d, err := time.ParseDuration(words[0])
		s.clock.Set(s.clock.Now().Add(d))
		return err
	default:
		s.t.Fatalf("%s: no such command: %s", c.Pos, c.Name)
	}
	return nil
}

func (s *script) pod(c *golden.Command, words []string) error {
	var p lifecycle.Pod
	controller := true
	p.Namespace, p.Name, p.Spec.NodeName = "d", words[1], words[0]
	p.Labels = map[string]string{"app": words[1]}
	p.OwnerReferences = []lifecycle.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", UID: "rs", Controller: &controller}}
	if c.Has("daemonset") {
		p.OwnerReferences[0].Kind = "DaemonSet"
	}
	if key, value, ok := strings.Cut(c.Value("label"), ":"); ok {
		p.Labels[key] = value
	}
	if c.Has("claim") {
		p.Spec.Volumes = []fairlead.Volume{{Name: "v", PersistentVolumeClaim: &fairlead.ClaimSource{ClaimName: c.Value("claim")}}}
	}
	p.Status.Phase = fairlead.PodRunning
	p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: "True"}}
	s.backend.PutPod(p)
	if !c.Has("max") {
		return nil
	}
	n, err := strconv.Atoi(c.Value("max"))
	if err != nil {
		return err
	}
	var b lifecycle.PodDisruptionBudget
	b.Namespace, b.Name = "d", "budget-"+p.Name
	b.Spec.Selector = &lifecycle.LabelSelector{MatchLabels: p.Labels}
	b.Spec.MaxUnavailable = &lifecycle.IntOrString{Int: n}
	return s.backend.PutBudget(b)
}

func (s *script) volume(c *golden.Command, words []string) {
	drop := func(a lifecycle.VolumeAttachment) bool { return a.Name == words[0] }
	s.world.Attachments = slices.DeleteFunc(s.world.Attachments, drop)
	a := lifecycle.VolumeAttachment{}
	a.Name, a.Spec.NodeName, a.Spec.Source.PersistentVolumeName, a.Status.Attached = words[0], words[1], words[0], !c.Has("detached")
	s.world.Attachments = append(s.world.Attachments, a)
	pv := lifecycle.PersistentVolume{}
	pv.Name = words[0]
	if c.Has("claim") {
		pv.Spec.ClaimRef = &lifecycle.ClaimRef{Namespace: "d", Name: c.Value("claim")}
	}
	s.world.PersistentVolumes = append(s.world.PersistentVolumes, pv)
}

// run makes passes over all machines, at each instant at which something is due.
func (s *script) run(c *golden.Command) {
	end := s.clock.Now().Add(s.duration(c, "for"))
	if !c.Has("for") {
		end = s.clock.Now().Add(time.Hour)
	}
	for {
		var wake time.Time
		acted := false
		for _, name := range s.names {
			d, err := s.runner.Reconcile(s.t.Context(), name)
			if err != nil && s.failing == "" {
				fmt.Fprintln(&s.out, err)
			}
			s.decisions[name] = d
			acted = acted || len(d.Actions) > 0
			if !d.Wake.IsZero() && (wake.IsZero() || d.Wake.Before(wake)) {
				wake = d.Wake
			}
		}
		if acted {
			wake = s.clock.Now().Add(time.Second)
		}
		if at, ok := s.backend.Next(); ok && (wake.IsZero() || at.Before(wake)) {
			wake = at
		}
		idle := wake.IsZero() || !acted && wake.Sub(s.clock.Now()) > 4*time.Minute && !c.Has("for")
		if idle || wake.After(end) {
			if c.Has("for") {
				s.clock.Set(end)
			}
			return
		}
		if wake.After(s.clock.Now()) {
			s.clock.Set(wake)
		}
	}
}

func (s *script) show(name string) {
	m := s.backend.Machine(name)
	if m == nil {
		fmt.Fprintln(&s.out, "it is gone")
		return
	}
	fmt.Fprintf(&s.out, "%s %s%s\n", m.Status.Phase, m.Status.ErrorReason, m.Finalizers)
	for _, c := range m.Status.Conditions {
		fmt.Fprintln(&s.out, strings.TrimSpace(fmt.Sprintf("%s=%s %s %s since %s%s", c.Type, c.Status, c.Severity, c.Reason, c.LastTransitionTime.Sub(start), s.words.Data("condition "+c.Type, c.Message))))
	}
	for _, n := range s.decisions[name].State.Notes {
		fmt.Fprintf(&s.out, "note at %s: %s%s\n", n.At.Sub(start), n.Reason, s.words.Data(n.Reason, n.Text))
	}
}
