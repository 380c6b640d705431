package fleet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/fleet"
	"github.com/fairlead/fairlead/lifecycle/quorum"
)

// TestTexts prints what an administrator reads at night about nodes, machines and
// control planes that do not go on, in situations that engines decide about: subject,
// cause, since when, whose it is, the way out; in at most five lines. The script
// testdata/texts/night.txt has them all:
//
//	tell SITUATION     one of situations
func TestTexts(t *testing.T) {
	all := situations()
	told := map[string]bool{}
	golden.Run(t, "testdata/texts/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			name := c.Args[0].Key
			tell, ok := all[name]
			if c.Name != "tell" || !ok || told[name] {
				return "there is no such situation, or it was told"
			}
			told[name] = true
			b, now := tell()
			text := night(b, now)
			switch {
			case b.Subject == "" || b.Message == "" || b.Unblock == "" || b.Since.IsZero():
				t.Errorf("%s: something is missing: %+v", name, b)
			case strings.Count(text, "\n") >= 5:
				t.Errorf("%s: more than five lines:\n%s", name, text)
			}
			return text
		}
	})
	for name := range all {
		if !told[name] {
			t.Errorf("situation %s is not told", name)
		}
	}
}

// night writes a block in lines.
func night(b fairlead.Block, now time.Time) string {
	owner := b.Owner
	if owner == "" {
		owner = "nobody in particular"
	}
	return fmt.Sprintf("%s: %s\n  %s\n  since %s (%v); who: %s\n  way out: %s", b.Subject, b.Reason, b.Message, b.Since.UTC().Format(time.TimeOnly), now.Sub(b.Since).Round(time.Second), owner, b.Unblock)
}

type tale = func() (fairlead.Block, time.Time)

// pick returns the block of a reason.
func pick(all []fairlead.Block, reason string) fairlead.Block {
	i := slices.IndexFunc(all, func(b fairlead.Block) bool { return b.Reason == reason })
	if i < 0 {
		return fairlead.Block{Subject: "MISSING " + reason, Message: fmt.Sprint(all)}
	}
	return all[i]
}

// drainTale drains a node with one pod for a request, for half an hour.
func drainTale(reason string, policy *drain.Policy, edit func(w *drain.World, p *drain.Pod)) tale {
	return func() (fairlead.Block, time.Time) {
		yes := true
		w := &drain.World{Name: "worker-1"}
		w.Node = &drain.Node{ObjectMeta: drain.ObjectMeta{Name: "worker-1", UID: "n"}}
		w.Node.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True", LastTransitionTime: noon}}
		w.Requests = []drain.Request{{Name: "firmware", UID: "r", Requester: "jane@example.com", Why: "new firmware", Purpose: drain.Maintenance, Asked: noon}}
		p := drain.Pod{ObjectMeta: drain.ObjectMeta{Namespace: "shop", Name: "db-0", UID: "p", Labels: map[string]string{"app": "db"}}}
		p.OwnerReferences = []drain.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", UID: "s", Controller: &yes}}
		p.Spec.NodeName, p.Status.Phase = "worker-1", "Running"
		p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: "True"}}
		w.Node.Spec.Unschedulable = true
		edit(w, &p)
		if p.UID != "" {
			w.Pods = []drain.Pod{p}
		}
		var d drain.Decision
		now := noon
		for range 31 {
			d = drain.Step(d.State, w, now, policy)
			for _, a := range d.Actions {
				switch a := a.(type) {
				case drain.Report:
					for i := range w.Requests {
						w.Requests[i].Status = a.Status
					}
				case drain.Evict: // which fails, where it is tried at all
					w.Outcomes = append(w.Outcomes[:0], fairlead.Outcome{Key: a.Key(), At: now, Failed: true, Code: 500, Message: `admission webhook "guard.example.com" denied the request: no`})
				}
			}
			now = now.Add(time.Minute)
		}
		now = now.Add(-time.Minute)
		return pick(d.Blocks(), reason), now
	}
}

// machineTale deletes a machine, for half an hour.
func machineTale(reason string, policy *lifecycle.Policy, edit func(w *lifecycle.World, m *lifecycle.Machine)) tale {
	return func() (fairlead.Block, time.Time) {
		m := &lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Namespace: "m", Name: "worker-1", UID: "u", DeletionTimestamp: &noon, Finalizers: []string{lifecycle.Finalizer}}}
		m.Spec.ProviderID = "cloud://1"
		m.Status.NodeRef = &lifecycle.NodeRef{Name: "worker-1", UID: "n"}
		m.Status.Phase = lifecycle.PhaseRunning
		w := &lifecycle.World{Machine: m, Instance: lifecycle.InstanceExists}
		w.Node = &lifecycle.Node{ObjectMeta: lifecycle.ObjectMeta{Name: "worker-1", UID: "n"}}
		w.Node.Spec.ProviderID = "cloud://1"
		w.Node.Spec.Unschedulable = true
		edit(w, m)
		var d lifecycle.Decision
		now := noon
		for range 31 {
			d = lifecycle.Step(d.State, w, now, policy)
			for _, a := range d.Actions {
				switch a := a.(type) {
				case lifecycle.UpdateStatus:
					m.Status.Phase, m.Status.Conditions = a.Phase, a.Conditions
				case lifecycle.RemoveFinalizer:
					m.Finalizers = slices.DeleteFunc(m.Finalizers, func(f string) bool { return f == a.Finalizer })
				case lifecycle.DeleteNode:
					w.Node = nil
				}
			}
			now = now.Add(time.Minute)
		}
		now = now.Add(-time.Minute)
		return pick(d.Blocks(), reason), now
	}
}

// quorumTale has three voters with their machines, the first of which is being
// deleted.
func quorumTale(reason string, edit func(w *quorum.World)) tale {
	return func() (fairlead.Block, time.Time) {
		w := &quorum.World{Revision: "1", Desired: 3}
		for i := range 3 {
			name, address := fmt.Sprint("master-", i), fmt.Sprint("10.0.0.", i+1)
			m := lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Namespace: "m", Name: name, UID: name}}
			m.Status.Phase = lifecycle.PhaseRunning
			m.Status.NodeRef = &lifecycle.NodeRef{Name: name}
			m.Status.Addresses = []lifecycle.NodeAddress{{Type: "InternalIP", Address: address}}
			m.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{quorum.Hook()}
			if i == 0 {
				m.DeletionTimestamp = &noon
			}
			w.Machines = append(w.Machines, m)
			w.Members = append(w.Members, quorum.Member{ID: name, Name: name, Addresses: []string{address}, Healthy: true})
			w.Hosts = append(w.Hosts, quorum.Host{Node: name, Addresses: []string{address}})
		}
		edit(w)
		var d quorum.Decision
		now := noon
		for range 31 {
			d = quorum.Step(d.State, w, now, nil)
			now = now.Add(time.Minute)
		}
		now = now.Add(-time.Minute)
		return pick(d.Blocked, reason), now
	}
}

func budget(w *drain.World, edit func(b *drain.PodDisruptionBudget)) {
	b := drain.PodDisruptionBudget{ObjectMeta: drain.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("db", len(w.Budgets)), Generation: 1}}
	b.Spec.Selector = &drain.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
	b.Spec.MinAvailable = &drain.IntOrString{Int: 2}
	b.Status = fairlead.BudgetStatus{ObservedGeneration: 1, ExpectedPods: 3, CurrentHealthy: 2, DesiredHealthy: 2}
	edit(&b)
	w.Budgets = append(w.Budgets, b)
}

func silent(w *drain.World) {
	w.Node.Status.Conditions[0].Status = "Unknown"
}

// situations are those that are told, by name.
func situations() map[string]tale {
	keep := func(*drain.PodDisruptionBudget) {}
	hook := func(point lifecycle.Point, h lifecycle.Hook) func(*lifecycle.World, *lifecycle.Machine) {
		return func(_ *lifecycle.World, m *lifecycle.Machine) {
			if point == lifecycle.PreDrain {
				m.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{h}
			} else {
				m.Spec.LifecycleHooks.PreTerminate = []lifecycle.Hook{h}
			}
		}
	}
	return map[string]tale{
		// Nodes that requests are about.
		"slot": drainTale(drain.ReasonSlotTaken, nil, func(w *drain.World, _ *drain.Pod) {
			w.Slots = []drain.TakenSlot{{Limit: "zone-a", Holder: "worker-7", Since: noon.Add(-time.Hour)}}
		}),
		"replacement": drainTale(drain.ReasonReplacementDue, nil, func(w *drain.World, _ *drain.Pod) {
			w.Slots = []drain.TakenSlot{{Limit: "pool", Replacement: true}}
		}),
		"paused-request": drainTale(drain.ReasonRequestPaused, nil, func(w *drain.World, _ *drain.Pod) { w.Requests[0].Paused = true }),
		"no-node":        drainTale(drain.ReasonNodeMissing, nil, func(w *drain.World, _ *drain.Pod) { w.Node = nil }),
		"drained":        drainTale(drain.ReasonRequesterActs, nil, func(_ *drain.World, p *drain.Pod) { p.UID = "" }),
		"silent-node":    drainTale(drain.ReasonNodeSilent, nil, func(w *drain.World, _ *drain.Pod) { silent(w) }),
		"fenced-node":    drainTale(drain.ReasonBeingTainted, nil, func(w *drain.World, _ *drain.Pod) { silent(w); w.Fenced = true }),
		"budget-never": drainTale(drain.ReasonBudgetNever, nil, func(w *drain.World, _ *drain.Pod) {
			budget(w, func(b *drain.PodDisruptionBudget) {
				b.Spec.MinAvailable.Int = 3
				b.Status.DesiredHealthy, b.Status.CurrentHealthy = 3, 3
			})
		}),
		"budget-spent": drainTale(drain.ReasonBudgetSpent, nil, func(w *drain.World, _ *drain.Pod) { budget(w, keep) }),
		"budget-unhealthy": drainTale(drain.ReasonBudgetUnhealthy, nil, func(w *drain.World, p *drain.Pod) {
			budget(w, func(b *drain.PodDisruptionBudget) { b.Status.CurrentHealthy = 1 })
			p.Status.Conditions[0].Status = "False"
		}),
		"budget-dead-node": drainTale(drain.ReasonBudgetNodeSilent, nil, func(w *drain.World, p *drain.Pod) {
			silent(w)
			budget(w, func(b *drain.PodDisruptionBudget) { b.Status.CurrentHealthy = 1 })
			p.Status.Conditions[0].Status = "False"
		}),
		"two-budgets":  drainTale(drain.ReasonManyBudgets, nil, func(w *drain.World, _ *drain.Pod) { budget(w, keep); budget(w, keep) }),
		"bare-pod":     drainTale(drain.ReasonPodProtected, &drain.Policy{KeepUnmanaged: true}, func(_ *drain.World, p *drain.Pod) { p.OwnerReferences = nil }),
		"webhook":      drainTale(drain.ReasonEvictionFailed, nil, func(*drain.World, *drain.Pod) {}),
		"wait-for-job": drainTale(drain.ReasonPodRuns, nil, func(_ *drain.World, p *drain.Pod) { p.Labels["cluster.x-k8s.io/drain"] = "wait-completed" }),
		"finalizer-of-pod": drainTale(drain.ReasonPodTerminating, nil, func(_ *drain.World, p *drain.Pod) {
			at := noon.Add(time.Minute)
			p.DeletionTimestamp, p.Finalizers = &at, []string{"example.com/backup"}
		}),
		"stranded": drainTale(drain.ReasonPodStranded, &drain.Policy{UnreachableGraceSeconds: -1}, func(w *drain.World, p *drain.Pod) {
			silent(w)
			at := noon.Add(time.Minute)
			p.DeletionTimestamp = &at
		}),
		"drained-and-silent": drainTale(drain.ReasonSilentActs, nil, func(w *drain.World, p *drain.Pod) { silent(w); p.UID = "" }),
		"stranded-in-maintenance": drainTale(drain.ReasonPodStranded, nil, func(w *drain.World, p *drain.Pod) {
			silent(w)
			at := noon.Add(-time.Minute)
			p.DeletionTimestamp = &at
		}),
		"cordon": drainTale(drain.ReasonNotCordoned, nil, func(w *drain.World, _ *drain.Pod) { w.Node.Spec.Unschedulable = false }),
		// Machines.
		"hook-of-etcd":    machineTale(lifecycle.ReasonHookPending, nil, hook(lifecycle.PreDrain, quorum.Hook())),
		"hook-kcp":        machineTale(lifecycle.ReasonHookPending, nil, hook(lifecycle.PreTerminate, lifecycle.Hook{Name: "kcp-cleanup"})),
		"hook-unknown":    machineTale(lifecycle.ReasonHookOwnerUnknown, nil, hook(lifecycle.PreDrain, lifecycle.Hook{Name: "backup"})),
		"hook-of-own-api": machineTale(lifecycle.ReasonHookOwnerUnknown, &lifecycle.Policy{HooksField: "spec.guards"}, hook(lifecycle.PreDrain, lifecycle.Hook{Name: "backup"})),
		"paused-machine": machineTale(lifecycle.ReasonPaused, nil, func(_ *lifecycle.World, m *lifecycle.Machine) {
			m.Annotations = map[string]string{"cluster.x-k8s.io/paused": ""}
		}),
		"unknown-cloud": machineTale(lifecycle.ReasonInstanceUnknown, nil, func(w *lifecycle.World, _ *lifecycle.Machine) { w.Instance = "" }),
		"slow-cloud":    machineTale(lifecycle.ReasonInstanceGoing, nil, func(*lifecycle.World, *lifecycle.Machine) {}),
		"slow-provider": machineTale(lifecycle.ReasonObjectGoing, nil, func(w *lifecycle.World, m *lifecycle.Machine) {
			w.Instance, m.APIVersion, m.Finalizers = "", "cluster.x-k8s.io/v1beta2", []string{lifecycle.FinalizerClusterAPI}
			m.Spec.InfrastructureRef = &lifecycle.ObjectRef{Kind: "AWSMachine", Name: m.Name}
			o := lifecycle.Object{Kind: "AWSMachine", State: lifecycle.InstanceExists}
			o.Namespace, o.Name, o.UID, o.DeletionTimestamp, o.Finalizers = m.Namespace, m.Name, "aws", &noon, []string{"awsmachine.infrastructure.cluster.x-k8s.io"}
			w.Objects = []lifecycle.Object{o}
		}),
		"update-in-place-failed": machineTale(lifecycle.ReasonInPlaceFailed, nil, func(_ *lifecycle.World, m *lifecycle.Machine) {
			m.APIVersion, m.DeletionTimestamp = "cluster.x-k8s.io/v1beta2", nil
			m.Annotations = map[string]string{lifecycle.UpdatingAnnotation: "", "runtime.cluster.x-k8s.io/pending-hooks": "UpdateMachine"}
			m.Status.Conditions = append(m.Status.Conditions, lifecycle.Condition{Type: "Updating", Status: "True", Reason: "InPlaceUpdateFailed", Message: "UpdateMachine hook failed", LastTransitionTime: noon})
		}),
		"finalizer-of-machine": machineTale(lifecycle.ReasonOtherFinalizer, nil, func(w *lifecycle.World, m *lifecycle.Machine) {
			w.Instance, m.Finalizers = lifecycle.InstanceGone, append(m.Finalizers, "example.com/inventory")
		}),
		"other-node-of-the-name": machineTale(lifecycle.ReasonDoubtfulNode, nil, func(w *lifecycle.World, _ *lifecycle.Machine) {
			w.Node.UID, w.Node.Spec.ProviderID = "another", ""
		}),
		"machine-slot": machineTale(lifecycle.ReasonSlotTaken, nil, func(w *lifecycle.World, _ *lifecycle.Machine) {
			w.Slots = []drain.TakenSlot{{Limit: "control-plane", Holder: "m/master-2", Since: noon}}
		}),
		// Control planes.
		"no-replacement": quorumTale(quorum.ReasonReplacement, func(*quorum.World) {}),
		"sick-voter":     quorumTale(quorum.ReasonUnhealthy, func(w *quorum.World) { w.Members[1].Healthy = false }),
		"quorum-lost":    quorumTale(quorum.ReasonQuorumLost, func(w *quorum.World) { w.Members[1].Healthy, w.Members[2].Healthy = false, false }),
		"two-voters":     quorumTale(quorum.ReasonTooFewVoters, func(w *quorum.World) { w.Members = w.Members[:2] }),
		// Sets.
		"too-many-unhealthy": func() (fairlead.Block, time.Time) {
			h := fleet.HealthCheck{ObjectMeta: lifecycle.ObjectMeta{Namespace: "m", Name: "workers"}}
			h.Spec.MaxUnhealthy = &lifecycle.IntOrString{Int: 1}
			r, err := h.Evaluate([]fleet.Target{target("a owner=MachineSet/s phase=Failed"), target("b owner=MachineSet/s gone")}, noon)
			if err != nil {
				return fairlead.Block{}, noon
			}
			b := pick(r.Blocked, "TooManyUnhealthy")
			b.Since = noon // a report has no memory: who keeps it knows
			return b, noon
		},
		"hook-holds-slot": func() (fairlead.Block, time.Time) {
			now := noon.Add(30 * time.Minute)
			a, err := drain.Admit([]drain.Slot{{Limit: "control-plane", Holder: "m/master-2", UID: "2", Since: noon}}, []drain.Member{
				{Kind: "machine", Name: "m/master-2", UID: "2", Asked: noon, Held: "preTerminate hook kcp-cleanup"}, {Kind: "machine", Name: "m/master-1", UID: "1", Asked: noon},
			}, []drain.Limit{{Name: "control-plane", Max: one}}, now)
			if err != nil {
				return fairlead.Block{}, now
			}
			return pick(a.Blocked, drain.ReasonSlotTaken), now
		},
	}
}
