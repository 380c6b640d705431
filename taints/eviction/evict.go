package eviction

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
	"github.com/fairlead/fairlead/internal/words"
)

// evictor decides on the evictions of one Step.
type evictor struct {
	*stepper
	attempts  map[string]int // at evictions in progress, by the pod's UID; for look-ups only
	inFlight  int
	throttled int
	since     time.Time                      // when the first of the throttled was due
	budgets   []fairlead.PodDisruptionBudget // with the disruptions that are still allowed
	index     *object.Budgets                // of budgets
}

// evictAll evicts pods that are due, in their order.
func (s *stepper) evictAll(pods []due) {
	if len(pods) == 0 {
		return
	}
	e := &evictor{stepper: s, attempts: make(map[string]int)}
	kind := Evict{}.Key().Kind
	for i := range s.old.Retries {
		if r := &s.old.Retries[i]; r.Key.Kind == kind {
			e.attempts[r.Key.ID] = r.Attempts
		}
	}
	for i := range pods {
		if e.attempts[pods[i].pod.UID] > 0 {
			e.inFlight++
		}
	}
	if s.policy.RespectBudgets {
		e.budgets = slices.Clone(s.Budgets)
		e.index, _ = object.NewBudgets(e.budgets)
	}
	for i := range pods {
		e.evict(&pods[i])
	}
	if e.throttled > 0 {
		s.block(fairlead.Block{
			Subject: "node " + s.Name, Reason: ReasonThrottled, Since: e.since,
			Message: fmt.Sprintf("%s to be evicted until some of the %d that are being evicted are gone", words.Count(e.throttled, "pod waits", "pods wait"), e.inFlight),
			Unblock: "wait until evicted pods have terminated, or raise maxInFlight in the policy",
		})
	}
}

// evict decides whether to evict one pod, for the first time or again, or says
// why not.
func (e *evictor) evict(d *due) {
	ref := RefOf(d.pod)
	if problem := ref.problem(); problem != "" {
		e.block(fairlead.Block{
			Subject: "pod " + words.Clip(ref.String(), 80), Reason: ReasonNoUID, Since: d.At,
			Message: "it should be evicted, but cannot be: " + problem, Unblock: "fix the backend: it must list the pod as the API does",
		})
		return
	}
	force := e.forced(d)
	a := Evict{Pod: ref, Node: e.Name, Taint: *d.Taint, Toleration: d.Toleration, At: d.At, Budget: !force}
	key := a.Key()
	if trial := e.Ledger; trial.Due(key) && !e.mayGo(d, key, force) {
		return
	}
	if e.Due(key) {
		e.actions = append(e.actions, a)
	}
	message := fmt.Sprintf("it was evicted for taint %s but does not terminate", d.Taint.Key)
	if n := e.Attempts(key); n > 1 {
		message += fmt.Sprintf(", after %d attempts", n)
	}
	e.block(fairlead.Block{
		Subject: "pod " + ref.String(), Reason: ReasonEvicting, Since: began(&e.Ledger, key),
		Message: e.Because(message, key), Unblock: "wait until the pod has terminated, or remove the taint",
	})
}

// mayGo decides whether an eviction that is due is tried now, and says why if
// not.
func (e *evictor) mayGo(d *due, key fairlead.Key, force bool) bool {
	attempts := e.attempts[key.ID]
	switch {
	case force && e.policy.MaxAttempts > 0 && attempts >= e.policy.MaxAttempts:
		e.Keep(key)
		e.block(fairlead.Block{
			Subject: "pod " + RefOf(d.pod).String(), Reason: ReasonGivenUp, Since: began(&e.Ledger, key),
			Message: e.Because(fmt.Sprintf("its eviction was given up after %d attempts", attempts), key),
			Unblock: "delete the pod manually, remove the taint, or raise maxAttempts in the policy",
		})
		return false
	case !force && !e.allowed(d):
		e.Keep(key)
		return false
	case attempts == 0 && e.inFlight >= e.policy.MaxInFlight:
		if e.throttled++; e.throttled == 1 {
			e.since = d.At
		}
		return false
	case attempts == 0:
		e.inFlight++
	}
	return true
}

// forced reports whether a pod is evicted regardless of its budgets.
func (e *evictor) forced(d *due) bool {
	timeout := e.policy.BudgetTimeout
	return !e.policy.RespectBudgets || timeout >= 0 && !e.Now().Before(d.At.Add(timeout))
}

// allowed reports whether the budgets of a pod allow its eviction now, and
// subtracts it from them. If not, it says so, and requests a Step for when they
// can no longer hold the pod.
func (e *evictor) allowed(d *due) bool {
	var of []*fairlead.PodDisruptionBudget
	for _, i := range e.index.Of(d.pod, nil) {
		of = append(of, e.index.At(i))
	}
	verdict := object.EvaluateEviction(d.pod, of...)
	if verdict == object.EvictionAllowed {
		of[0].Status.DisruptionsAllowed--
	}
	if verdict.Allows() {
		return true
	}
	b := fairlead.Block{
		Subject: "pod " + d.pod.ObjectMeta.String(), Reason: ReasonBudget, Since: d.At,
		Owner:   "budget " + of[0].ObjectMeta.String(),
		Message: fmt.Sprintf("it should be evicted for taint %s, but its disruption budget does not allow that: %s", d.Taint.Key, verdict),
		Unblock: "wait until the budget allows a disruption",
	}
	if e.policy.BudgetTimeout >= 0 {
		end := d.At.Add(e.policy.BudgetTimeout)
		b.Unblock += fmt.Sprintf(", or it is %s", end.Format(time.RFC3339))
		e.wakeAt(end)
	}
	e.block(b)
	return false
}

// problem says why a pod cannot be distinguished from others, or "".
func (r PodRef) problem() string {
	const most = 253
	switch {
	case r.UID == "":
		return "it has no UID, so it could not be distinguished from a later pod of the same name"
	case r.Name == "":
		return "it has no name"
	case len(r.UID) > most || len(r.Name) > most || len(r.Namespace) > most:
		return fmt.Sprintf("its name, namespace or UID has more than %d bytes", most)
	}
	return ""
}
