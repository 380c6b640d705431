package taints

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// evictor decides on the evictions of one Step.
type evictor struct {
	*stepper
	known     map[PodRef]Eviction // those under way; only looked up
	inFlight  int
	throttled int
	since     time.Time             // when the first of the throttled was due
	budgets   []PodDisruptionBudget // with what is left of them
	index     *object.Budgets       // of budgets
}

// evictAll evicts pods that are due, in their order.
func (s *stepper) evictAll(pods []due) {
	if len(pods) == 0 {
		return
	}
	e := &evictor{stepper: s, known: make(map[PodRef]Eviction, len(s.old.Evictions))}
	for _, old := range s.old.Evictions {
		e.known[old.PodRef] = old
	}
	for i := range pods {
		if old, ok := e.known[refOf(pods[i].pod)]; ok && old.At.Equal(pods[i].At) {
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
			Message: fmt.Sprintf("%s to be evicted until some of the %d on their way out are gone", plural(e.throttled, "pod waits", "pods wait"), e.inFlight),
			Unblock: "evicted pods terminate, or maxInFlight of the policy is raised",
		})
	}
}

// evict decides on one pod: to evict it, now or again, or why not.
func (e *evictor) evict(d *due) {
	ref := refOf(d.pod)
	if problem := ref.problem(); problem != "" {
		e.block(fairlead.Block{
			Subject: "pod " + clip(ref.String()), Reason: ReasonNoUID, Since: d.At,
			Message: "it is due and not evicted: " + problem, Unblock: "the pod is listed as the API lists it",
		})
		return
	}
	under, inFlight := e.known[ref]
	if inFlight = inFlight && under.At.Equal(d.At); !inFlight {
		under = Eviction{PodRef: ref, At: d.At, Since: e.now}
	}
	under.Next = e.sane(under.Next)
	force := e.forced(d)
	a := Evict{Pod: ref, Node: e.Name, Taint: *d.Taint, Toleration: d.Toleration, At: d.At, Budget: !force}
	if !under.Next.After(e.now) {
		switch {
		case force && e.policy.MaxAttempts > 0 && under.Attempts >= e.policy.MaxAttempts:
			e.giveUp(&under, a.key())
			return
		case !force && !e.allowed(d):
			if inFlight {
				e.state.Evictions = append(e.state.Evictions, under)
			}
			return
		case !inFlight && e.inFlight >= e.policy.MaxInFlight:
			if e.throttled++; e.throttled == 1 {
				e.since = d.At
			}
			return
		case !inFlight:
			e.inFlight++
		}
		e.actions = append(e.actions, a)
		under.Attempts++
		under.Next = e.now.Add(e.policy.backoff(under.Attempts))
	}
	e.state.Evictions = append(e.state.Evictions, under)
	e.at(under.Next)
	message := fmt.Sprintf("it was evicted for taint %s, and is not seen to terminate", d.Taint.Key)
	if under.Attempts > 1 {
		message += fmt.Sprintf(", after %d attempts", under.Attempts)
	}
	e.block(fairlead.Block{
		Subject: "pod " + ref.String(), Reason: ReasonEvicting, Since: under.Since,
		Message: e.because(message, a.key()), Unblock: "the pod terminates, or the taint is removed",
	})
}

// giveUp reports an eviction that will not be tried again.
func (e *evictor) giveUp(under *Eviction, key string) {
	e.state.Evictions = append(e.state.Evictions, *under)
	e.block(fairlead.Block{
		Subject: "pod " + under.PodRef.String(), Reason: ReasonGivenUp, Since: under.Since,
		Message: e.because(fmt.Sprintf("its eviction was given up after %d attempts", under.Attempts), key),
		Unblock: "the pod is deleted by hand, its deadline changes, or maxAttempts of the policy is raised",
	})
}

// forced reports whether a pod leaves whatever its budgets say.
func (e *evictor) forced(d *due) bool {
	timeout := e.policy.BudgetTimeout
	return !e.policy.RespectBudgets || timeout >= 0 && !e.now.Before(d.At.Add(timeout))
}

// allowed reports whether the budgets of a pod let it go now, and takes it off
// them. If not it says so, and asks for another look when they can no longer
// hold the pod.
func (e *evictor) allowed(d *due) bool {
	var of []*PodDisruptionBudget
	for _, i := range e.index.Of(d.pod, nil) {
		of = append(of, e.index.At(i))
	}
	verdict := object.JudgeEviction(d.pod, of...)
	if verdict == object.EvictionAllowed {
		of[0].Status.DisruptionsAllowed--
	}
	if verdict.Allows() {
		return true
	}
	b := fairlead.Block{
		Subject: "pod " + d.pod.ObjectMeta.String(), Reason: ReasonBudget, Since: d.At,
		Owner:   "budget " + of[0].ObjectMeta.String(),
		Message: fmt.Sprintf("it is due for taint %s, and its disruption budget does not let it go: %s", d.Taint.Key, verdict),
		Unblock: "the budget allows a disruption",
	}
	if e.policy.BudgetTimeout >= 0 {
		end := d.At.Add(e.policy.BudgetTimeout)
		b.Unblock += fmt.Sprintf(", or it is %s", end.Format(time.RFC3339))
		e.at(end)
	}
	e.block(b)
	return false
}

// problem says why a pod cannot be told from others, or "".
func (r PodRef) problem() string {
	const most = 253
	switch {
	case r.UID == "":
		return "it has no UID, and could not be told from a later pod of its name"
	case r.Name == "":
		return "it has no name"
	case len(r.UID) > most || len(r.Name) > most || len(r.Namespace) > most:
		return fmt.Sprintf("its name, namespace or UID has more than %d bytes", most)
	}
	return ""
}

// clip shortens what may be huge.
func clip(s string) string {
	const most = 80
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
