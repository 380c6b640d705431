package machines

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/fleet"
)

// reported returns a condition that a controller reports, as a text.
func reported(c *lifecycle.Condition) string {
	text := c.Type + "=" + string(c.Status)
	if c.Reason != "" {
		text += " " + c.Reason
	}
	if !c.LastTransitionTime.IsZero() {
		text += " since " + c.LastTransitionTime.UTC().Format(time.RFC3339)
	}
	if c.Message != "" {
		text += ": " + c.Message
	}
	return text
}

// drainedAt returns when the controller of a machine reported that the drain was over.
func drainedAt(m *lifecycle.Machine) time.Time {
	for _, kind := range []string{"DrainingSucceeded", "Deleting"} {
		if c := lifecycle.FindCondition(m.Status.Conditions, kind); c != nil {
			return c.LastTransitionTime
		}
	}
	return time.Time{}
}

// sharpen says more about a wait than the engine, which asks the API where the dump is all
// there is.
func (c *Cluster) sharpen(b *fairlead.Block, m *lifecycle.Machine, w *lifecycle.World, wait *fairlead.Block, now time.Time) {
	switch wait.Reason {
	case drain.ReasonPodTerminating:
		for i := range w.Pods {
			p := &w.Pods[i]
			if p.ObjectMeta.String() != wait.Name || p.DeletionTimestamp == nil {
				continue
			}
			if p.DeletionTimestamp.After(now) {
				b.Message += fmt.Sprintf(": it still has until %s (%v) by its grace period", p.DeletionTimestamp.UTC().Format(time.RFC3339), p.DeletionTimestamp.Sub(now).Round(time.Second))
			}
		}
	case lifecycle.ReasonVolumeAttached:
		for i := range c.Attachments {
			a := &c.Attachments[i]
			if a.Spec.Source.PersistentVolumeName == wait.Name && w.Node != nil && a.Spec.NodeName == w.Node.Name {
				detaching(b, a)
			}
		}
	case lifecycle.ReasonInstanceGoing:
		if ref := m.Spec.InfrastructureRef; ref != nil {
			b.Owner = "the controller of " + ref.Kind + " " + ref.Name
			b.Message = "the object that stands for its instance is to be deleted: " + ref.Kind + " " + m.Namespace + "/" + ref.Name
			b.Unblock = "look at its conditions and finalizers: " + shell.Command("kubectl -n %s get %s %s -o yaml", m.Namespace, ref.Kind, ref.Name)
			c.infrastructure(b, m.Namespace, ref)
		}
	case lifecycle.ReasonPaused:
		if name := m.Labels[clusterLabel]; w.Cluster != nil && w.Cluster.Paused && name != "" {
			b.Unblock = shell.Command("kubectl -n %s patch cluster.cluster.x-k8s.io %s --type=merge -p %s", m.Namespace, name, `{"spec":{"paused":false}}`)
		}
	case lifecycle.ReasonForeignNode, lifecycle.ReasonDoubtfulNode:
		for i := range c.Machines {
			o := &c.Machines[i]
			if w.Node != nil && o.Spec.ProviderID != "" && o.Spec.ProviderID == w.Node.Spec.ProviderID && o.UID != m.UID {
				b.Message += "; that is machine " + o.ObjectMeta.String()
			}
		}
	}
}

// remediation says what the health checks of a machine do about it, or why they do nothing.
func (c *Cluster) remediation(x *Explanation, m *lifecycle.Machine, now time.Time) {
	if m.Deleting() {
		return
	}
	var other []string // checks that do not select it
	selected := false
	for i := range c.Checks {
		h := &c.Checks[i]
		if h.Namespace != m.Namespace {
			continue
		}
		if !h.Spec.Selector.Matches(m.Labels) {
			other = append(other, h.Name)
			continue
		}
		selected = true
		r, err := h.Evaluate(c.targets(m.Namespace), now)
		if err != nil {
			x.Unknown = append(x.Unknown, "health check "+h.Name+" cannot be evaluated: "+err.Error())
			continue
		}
		name := m.ObjectMeta.String()
		for _, v := range r.Skipped {
			if v.Machine == name && len(x.Blocked) > 0 {
				x.Blocked, x.Names = append(x.Blocked, fairlead.Block{
					Subject: "health check " + h.ObjectMeta.String(), Reason: "Skipped", Message: "it leaves the machine alone: " + v.Why,
					Owner: "whoever set the annotation", Unblock: "remove the annotation, or replace the machine yourself",
				}), append(x.Names, "")
			}
		}
		for _, v := range r.Targets {
			if v.Machine != name || !v.Unhealthy {
				continue
			}
			for _, b := range r.Blocked {
				if b.Subject == "machine "+name || b.Subject != "" && b.Subject[0] == 'h' {
					x.Blocked, x.Names = append(x.Blocked, b), append(x.Names, "")
				}
			}
			for _, n := range r.Remediate {
				if n == name {
					text := "health check " + h.Name + " replaces it: " + v.Why
					if v.Reason == fleet.ReasonNoNode {
						text += "; if that is too little time for such machines, raise spec.nodeStartupTimeout of the check"
					}
					x.Next = append(x.Next, text)
				}
			}
		}
	}
	if !selected && len(other) > 0 && len(x.Blocked) > 0 {
		x.Unknown = append(x.Unknown, "no health check selects it, so none replaces it: "+words.First(other, 3)+" selects other labels")
	}
}

// targets returns the machines of a namespace with their nodes.
func (c *Cluster) targets(namespace string) []fleet.Target {
	var all []fleet.Target
	for i := range c.Machines {
		if m := &c.Machines[i]; m.Namespace == namespace {
			all = append(all, fleet.Target{Machine: m, Node: c.Node(m)})
		}
	}
	return all
}
