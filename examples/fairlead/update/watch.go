package update

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/taints/eviction"
)

// watched reports to the simulation what is applied to the cluster.
type watched struct {
	*cvo.MemBackend
	play *play
}

// Apply implements cvo.Backend.
func (w *watched) Apply(ctx context.Context, name string, a cvo.Action) error {
	err := w.MemBackend.Apply(ctx, name, a)
	if apply, ok := a.(cvo.Apply); ok && err == nil && apply.Release.Version == w.play.To && apply.Mode == cvo.Updating {
		w.play.applied(apply.Manifest)
	}
	return err
}

// applied is called with each manifest of the new release.
func (p *play) applied(m *payload.Manifest) {
	if level := m.Name.Runlevel; level != "" {
		if strings.HasPrefix(m.File, "manifests/") { // those of the operator that applies the rest come first
			level += " (own)"
		}
		p.manifest("runlevel " + level)
	}
	if !m.ClusterOperator() {
		return
	}
	want := new(cvo.ClusterOperator)
	if json.Unmarshal(m.JSON, want) == nil {
		p.operates[m.ID.Name] = want
	}
	p.open("operator "+m.ID.Name, "updates")
	p.tell("operator "+m.ID.Name, "is asked to update to "+p.To)
	for _, o := range p.operators {
		if o.name == m.ID.Name {
			p.suffer(&o)
		}
	}
	if m.ID.Name == machineConfig && !p.begun {
		p.begun = true
		for i := range p.pools {
			q := &p.pools[i]
			p.at(0, func() {
				p.tell("pool "+q.name, "is to run "+rendered(q.name, p.To))
				_ = p.view(q).Edit(q.name, func(w *rollout.World) error {
					w.Pool.Spec.Configuration.Name = rendered(q.name, p.To)
					return nil
				})
			})
		}
	}
}

// arrive reports which operators have reached the new release.
func (p *play) arrive(ctx context.Context) error {
	w, err := p.versions.Observe(ctx, cluster)
	if err != nil {
		return err
	}
	for i := range w.Operators {
		live := &w.Operators[i]
		want := p.operates[live.Name]
		if want == nil || !reached(want, live) {
			continue
		}
		delete(p.operates, live.Name)
		p.tell("operator "+live.Name, fmt.Sprintf("is at %s, after %s", p.To, p.clock.Now().Sub(p.opened("operator "+live.Name))))
		p.end("operator " + live.Name)
	}
	return nil
}

// reached reports whether an operator is healthy and at the wanted versions. It
// does not use the engine's own gate, so that the timeline would show errors of
// that gate.
func reached(want, live *cvo.ClusterOperator) bool {
	for _, v := range want.Status.Versions {
		if !slices.Contains(live.Status.Versions, v) {
			return false
		}
	}
	return condition(live.Status.Conditions, "Available").Status == cvo.True && condition(live.Status.Conditions, "Degraded").Status == cvo.False
}

// look reports what has changed, and what is waited for, when nothing acts any
// more.
func (p *play) look(d *cvo.Decision, blocked []fairlead.Block) {
	conditions := p.versions.Version(cluster).Status.Conditions
	if c := condition(conditions, "Failing"); p.news("Failing", string(c.Status)+c.Reason) && (c.Status != cvo.False || p.said["failed"] != "") {
		p.said["failed"] = "yes"
		p.tell("cluster", strings.TrimSuffix(fmt.Sprintf("Failing is %s: %s", c.Status, c.Message), ": "))
	}
	if c := condition(conditions, "ReleaseAccepted"); (c.Status == cvo.False || p.accepted(d) == p.To) && p.news("ReleaseAccepted", string(c.Status)+c.Reason) {
		p.tell("cluster", strings.TrimSuffix(fmt.Sprintf("ReleaseAccepted is %s: %s", c.Status, c.Message), ": "))
	}
	if p.completed() && p.news("completed", "yes") {
		p.tell("cluster", "is at release "+p.To)
		p.endLevel()
	}
	p.explain(blocked)
}

// accepted returns the release that is applied.
func (p *play) accepted(d *cvo.Decision) string {
	if d.State.Work == nil {
		return ""
	}
	return d.State.Work.Release.Version
}

// explain reports what waits for what, once.
func (p *play) explain(blocked []fairlead.Block) {
	p.blocked = blocked
	for _, b := range blocked {
		switch b.Reason {
		case cvo.ReasonOperatorUpdating, "WorkloadNotAvailable", drain.ReasonPodTerminating, rollout.ReasonBudget, rollout.ReasonDraining, rollout.ReasonUpdating, rollout.ReasonStatusOutdated, cvo.ReasonOperatorDegraded,
			cvo.ReasonOperatorNotAvailable, eviction.ReasonTolerating, eviction.ReasonEvicting, eviction.ReasonWrite:
			continue // that is normal, and reported when it begins
		}
		about := b.Subject + " " + cmp.Or(b.Name, b.Message) // the numbers of a pod's budget change
		if b.Reason == eviction.ReasonRateLimited {
			about = b.Subject // its message changes with each turn
		}
		if p.news("wait "+about, b.Reason) {
			p.tell(b.Subject, "waits: "+waitText(&b))
		}
	}
}

// waitText describes a wait and what would end it.
func waitText(b *fairlead.Block) string {
	if b.Unblock == "" {
		return b.Message
	}
	return b.Message + "; to unblock: " + b.Unblock
}

// news reports whether something differs from what was last shown.
func (p *play) news(subject, what string) bool {
	old := p.said[subject]
	p.said[subject] = what
	return old != what
}

func condition(list []cvo.Condition, kind string) cvo.Condition {
	for _, c := range list {
		if c.Type == kind {
			return c
		}
	}
	return cvo.Condition{}
}

// nodeActed is called with each action on nodes.
func (p *play) nodeActed(_ string, a rollout.Action) {
	switch a := a.(type) {
	case rollout.Cordon:
		p.tell("node "+a.Node, "is cordoned and drained")
		p.open("node "+a.Node, "drains")
	case drain.Evict:
		p.tell("node "+a.Node, "evicts pod "+a.Namespace+"/"+a.Name)
	case rollout.Update:
		p.tell("node "+a.Node, "is drained, and changed and rebooted")
		p.end("node " + a.Node)
		p.open("node "+a.Node, "changes")
		p.reboots(p.node(a.Node))
	case rollout.Uncordon:
		p.tell("node "+a.Node, "is done and uncordoned")
		p.end("node " + a.Node)
	}
}
