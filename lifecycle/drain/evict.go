package drain

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
	"github.com/fairlead/fairlead/internal/words"
)

// HTTP statuses of answers to evictions.
const (
	statusNotFound        = 404 // the pod is gone
	statusConflict        = 409 // another pod has its name
	statusTooManyRequests = 429 // a budget does not allow it now
)

// evict requests the eviction of a pod, or says why not now.
func (d *drainer) evict(p *Pod) {
	e, due, unseen := d.last(p)
	if unseen {
		d.pending(e, due)
		return
	}
	if why := d.forced(); why != "" {
		d.ask(p, e, due, DeletePod{p.Namespace, p.Name, p.UID, p.Spec.NodeName, d.grace, why})
		return
	}
	var space [4]int32
	verdict, at := d.ledger.judge(p, space[:0])
	if !verdict.Allows() {
		d.held(p, e, verdict, at)
		return
	}
	if d.ask(p, e, due, Evict{p.Namespace, p.Name, p.UID, p.Spec.NodeName, d.grace}) {
		d.ledger.reserve(p)
	}
}

// last returns what is known about the last attempt at a pod, when the next is due,
// and whether the result of the last is not seen yet: it may still take effect.
func (d *drainer) last(p *Pod) (e PodProgress, due time.Time, unseen bool) {
	e = d.known(p)
	d.hear(&e)
	due = d.due(e.UID, e.Asked, e.Attempts, e.RetryAfter)
	return e, due, e.Attempts > 0 && !e.Failed && due.After(d.now)
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

// hear takes into account how the last attempt at a pod failed.
func (d *drainer) hear(e *PodProgress) {
	if e.Attempts > 0 && !e.Failed {
		d.recall(e)
	}
}

// recall notes how the last attempt at a pod failed, if known.
func (d *drainer) recall(e *PodProgress) {
	for _, kind := range [...]string{kindEvict, kindDeletePod} {
		if f := failure(d.view.Outcomes, fairlead.Key{Kind: kind, ID: e.UID}); f != nil && !f.At.Before(e.Asked) {
			e.Failed, e.Code, e.RetryAfter, e.Detail = true, f.Code, min(max(0, f.RetryAfter), fairlead.MaxRetryAfter), f.Message
		}
	}
}

// ask decides on an action for a pod, if an attempt is due.
func (d *drainer) ask(p *Pod, e PodProgress, due time.Time, a Action) (asked bool) {
	if e.Budget != "" { // which now allows the eviction
		e.Budget, e.Needs, e.Has, e.Detail = "", 0, 0, ""
		if e.Attempts > 0 {
			d.recall(&e)
		}
	}
	switch {
	case due.After(d.now):
		d.failing(e, due)
		return false
	case d.asked >= d.policy.attempts():
		d.pending(e, d.now.Add(time.Second))
		return false
	}
	d.asked++
	d.actions = append(d.actions, a)
	e.Attempts++
	e.Asked, e.Failed, e.RetryAfter = d.now, false, 0
	d.pending(e, d.due(e.UID, e.Asked, e.Attempts, 0))
	return true
}

// pending waits for the effect of the last attempt.
func (d *drainer) pending(e PodProgress, due time.Time) {
	d.pods.Add(e)
	d.at(due)
	if e.Detail == "" {
		d.waits.add(Wait{Reason: ReasonPodPending, Name: e.Pod})
		return
	}
	d.failed(e)
}

// failing waits for the time of the next attempt at a pod.
func (d *drainer) failing(e PodProgress, due time.Time) {
	d.pods.Add(e)
	d.at(due)
	d.failed(e)
}

// failed reports how the last known attempt failed.
func (d *drainer) failed(e PodProgress) {
	w := Wait{Reason: ReasonEvictionFailed, Name: e.Pod, Owner: "API server", Detail: e.Detail}
	switch e.Code {
	case statusTooManyRequests:
		w.Reason, w.Owner = ReasonEvictionRefused, "PodDisruptionBudget"
	case statusNotFound, statusConflict:
		d.waits.add(Wait{Reason: ReasonPodPending, Name: e.Pod}) // it is gone or replaced, which will be observed
		return
	}
	d.trouble = true
	d.waits.add(w)
}

// held waits for budgets that are known to refuse.
func (d *drainer) held(p *Pod, e PodProgress, verdict object.EvictionVerdict, at []int32) {
	b := &d.ledger.budgets[at[0]]
	w := Wait{Name: e.Pod}
	recheck := max(d.policy.backoff(e.UID, 1), min(d.now.Sub(e.Since)/2, d.policy.backoff(e.UID, 1<<16)))
	if w.Reason = refusal(p, b, verdict); w.Reason == ReasonBudgetUnhealthy && Unreachable(d.view.Node) {
		w.Reason = ReasonBudgetNodeSilent
	}
	switch verdict {
	case object.EvictionUnsupported:
		e.Detail = "PodDisruptionBudgets " + names(d.ledger.budgets, at)
		e.Budget = budgetTitle + b.ObjectMeta.String()
	case object.EvictionUnobserved:
		recheck = object.UnobservedInterval
	}
	d.trouble = d.trouble || w.Reason != ReasonBudgetInUse
	switch {
	case w.Reason == ReasonBudgetSyncFailed:
		e.Budget, e.Needs, e.Has = budgetTitle+b.ObjectMeta.String(), 0, 0
		e.Detail = e.Budget + noNumbers + "says: " + b.Status.SyncFailed()
	case w.Reason == ReasonBudgetUnobserved:
		e.unobserved(b)
	case verdict != object.EvictionUnsupported:
		e.keepFor(b)
	}
	w.Owner, w.Detail = e.Budget, e.Detail
	d.pods.Add(e)
	d.at(d.now.Add(recheck))
	d.waits.add(w)
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

// keepFor notes the numbers of the budget that keeps the pod. If they are
// unchanged, it builds no text.
func (e *PodProgress) keepFor(b *PodDisruptionBudget) {
	s := &b.Status
	name, named := strings.CutPrefix(e.Budget, budgetTitle)
	if n := len(b.Namespace); named && len(name) == n+1+len(b.Name) && name[:n] == b.Namespace && name[n+1:] == b.Name &&
		e.Needs == s.DesiredHealthy && e.Has == s.CurrentHealthy && !strings.HasPrefix(strings.TrimPrefix(e.Detail, e.Budget), noNumbers) {
		return
	}
	e.Budget, e.Needs, e.Has = budgetTitle+b.ObjectMeta.String(), s.DesiredHealthy, s.CurrentHealthy
	e.Detail = fmt.Sprintf("%s needs %s and has %d, of %d expected", e.Budget, words.Count(e.Needs, "healthy pod", "healthy pods"), e.Has, s.ExpectedPods)
}

// noNumbers begins the text about a budget whose numbers are not known.
const noNumbers = ": its status "

// unobserved says which numbers of the budget that keeps the pod are missing.
func (e *PodProgress) unobserved(b *PodDisruptionBudget) {
	e.Budget, e.Needs, e.Has = budgetTitle+b.ObjectMeta.String(), b.Status.DesiredHealthy, b.Status.CurrentHealthy
	e.Detail = e.Budget + noNumbers + "is of an older generation"
	if unreported(b) {
		e.Detail = e.Budget + noNumbers + "is not reported yet"
	}
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
