package drain

import (
	"strconv"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// HTTP statuses of answers to evictions.
const (
	statusNotFound        = 404 // the pod is gone
	statusConflict        = 409 // another pod has its name
	statusTooManyRequests = 429 // a budget does not allow it now
)

// evict requests the eviction of a pod, or says why not now.
func (d *drainer) evict(p *Pod) {
	key := d.key(p)
	if d.Awaited(key, d.backoff) {
		d.ask(p, key, nil)
		return
	}
	if why := d.forced(); why != "" {
		d.ask(p, key, DeletePod{p.Namespace, p.Name, p.UID, p.Spec.NodeName, d.grace, why})
		return
	}
	var space [4]int32
	verdict, at := d.disruptions.judge(p, space[:0])
	if !verdict.Allows() {
		d.Keep(key)
		d.held(p, verdict, at)
		return
	}
	if d.ask(p, key, Evict{p.Namespace, p.Name, p.UID, p.Spec.NodeName, d.grace}) {
		d.disruptions.reserve(p)
	}
}

// key returns that of the action by which a pod is removed.
func (d *drainer) key(p *Pod) fairlead.Key {
	if d.forced() != "" {
		return fairlead.Key{Kind: kindDeletePod, ID: p.UID}
	}
	return fairlead.Key{Kind: kindEvict, ID: p.UID}
}

// forced says why pods are deleted regardless of their budgets; empty if they are
// evicted.
func (d *drainer) forced() string {
	switch {
	case d.policy.ForceStopped && d.view.Stopped:
		return "its instance does not run, so there is nothing left to protect"
	case d.policy.DisableEviction:
		return "the policy deletes pods instead of evicting them"
	}
	return ""
}

// ask decides on an action for a pod if an attempt is due, and waits for its effect.
// The action of one that is awaited is not needed.
func (d *drainer) ask(p *Pod, key fairlead.Key, a Action) (asked bool) {
	if d.asked >= d.policy.attempts() && a != nil {
		d.Keep(key)
		d.At(d.now.Add(time.Second))
	} else if asked = d.DueWith(key, d.backoff); asked {
		d.asked++
		d.actions = append(d.actions, a)
	}
	w := fairlead.Block{Reason: ReasonPodPending, Name: d.name(p)}
	if o := d.Outcome(key); o != nil && o.Failed && d.Attempts(key) > 0 {
		switch o.Code {
		case statusNotFound, statusConflict: // it is gone or replaced, which will be observed
		case statusTooManyRequests:
			w.Reason, w.Owner, w.Detail = ReasonEvictionRefused, "PodDisruptionBudget", o.Message
		default:
			w.Reason, w.Owner, w.Detail = ReasonEvictionFailed, "API server", o.Message
		}
	}
	d.trouble = d.trouble || w.Reason != ReasonPodPending
	d.wait(w)
	return asked
}

// held waits for budgets that are known to refuse.
func (d *drainer) held(p *Pod, verdict object.EvictionVerdict, at []int32) {
	b := &d.disruptions.budgets[at[0]]
	w := fairlead.Block{Reason: refusal(p, b, verdict), Name: d.name(p), Owner: d.budget(b, "")}
	if w.Reason == ReasonBudgetUnhealthy && Unreachable(d.view.Node) {
		w.Reason = ReasonBudgetNodeSilent
	}
	switch {
	case verdict == object.EvictionUnsupported:
		w.Detail = "PodDisruptionBudgets " + names(d.disruptions.budgets, at)
	case w.Reason == ReasonBudgetSyncFailed:
		w.Detail = d.budget(b, ": its status says: "+b.Status.SyncFailed())
	case w.Reason == ReasonBudgetUnobserved && unreported(b):
		w.Detail = d.budget(b, ": its status is not reported yet")
	case w.Reason == ReasonBudgetUnobserved:
		w.Detail = d.budget(b, ": its status is of an older generation")
	default:
		w.Detail = d.numbers(b)
	}
	d.trouble = d.trouble || w.Reason != ReasonBudgetInUse
	since := d.wait(w)
	recheck := max(d.backoff.For(p.UID, 1), min(d.now.Sub(since)/2, d.backoff.For(p.UID, 1<<16)))
	if verdict == object.EvictionUnobserved {
		recheck = object.UnobservedInterval
	}
	d.At(d.now.Add(recheck))
}

// refusal returns the reason why a pod is not evicted, by the first of its budgets.
func refusal(p *Pod, b *PodDisruptionBudget, verdict object.EvictionVerdict) string {
	switch {
	case verdict == object.EvictionUnsupported:
		return ReasonManyBudgets
	case b.Status.SyncFailed() != "":
		return ReasonBudgetSyncFailed
	case verdict == object.EvictionUnobserved, unreported(b):
		return ReasonBudgetUnobserved
	case verdict == object.EvictionForbidden:
		return ReasonBudgetBroken
	case b.Status.DisruptionsAllowed > 0:
		return ReasonBudgetInUse // the last allowed disruption is reserved
	case !p.Ready():
		return ReasonBudgetUnhealthy
	case b.Status.Never():
		return ReasonBudgetNever
	}
	return ReasonBudgetSpent
}

// budget returns the kind, namespace and name of a budget, and more.
func (d *drainer) budget(b *PodDisruptionBudget, more string) string {
	var space [256]byte
	return d.Text(append(appendBudget(space[:0], b), more...))
}

func appendBudget(text []byte, b *PodDisruptionBudget) []byte {
	text = append(text, budgetTitle...)
	if b.Namespace != "" {
		text = append(append(text, b.Namespace...), '/')
	}
	return append(text, b.Name...)
}

// numbers says what a budget needs and has.
func (d *drainer) numbers(b *PodDisruptionBudget) string {
	var space [256]byte
	s := &b.Status
	text := append(appendBudget(space[:0], b), " needs "...)
	text = append(strconv.AppendInt(text, int64(s.DesiredHealthy), 10), " healthy pods and has "...)
	if s.DesiredHealthy == 1 {
		text = append(text[:len(text)-len("s and has ")], " and has "...)
	}
	text = append(strconv.AppendInt(text, int64(s.CurrentHealthy), 10), ", of "...)
	return d.Text(append(strconv.AppendInt(text, int64(s.ExpectedPods), 10), " expected"...))
}

// unreported reports whether a budget has no status: it was just created, or is known only from its
// manifest. Then the zeros are no numbers.
func unreported(b *PodDisruptionBudget) bool {
	s := &b.Status
	return s.ObservedGeneration == 0 && s.ExpectedPods == 0 && s.DesiredHealthy == 0 && s.CurrentHealthy == 0 && s.DisruptionsAllowed == 0 && len(s.DisruptedPods) == 0
}

// budgetTitle comes before the namespace and name of a budget.
const budgetTitle = "PodDisruptionBudget "

// names lists the budgets at positions.
func names(budgets []PodDisruptionBudget, at []int32) string {
	text := ""
	for i, j := range at {
		if i > 0 {
			text += ", "
		}
		text += budgets[j].ObjectMeta.String()
	}
	return text
}
