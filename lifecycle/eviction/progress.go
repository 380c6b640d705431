package eviction

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// progress advances an Eviction as far as possible now.
func (c *coordinator) progress(old *Eviction) {
	e := *old
	if !evicted(old) && !failed(old) {
		c.step(&e)
	}
	c.own(&e)
	if !reflect.DeepEqual(e, *old) {
		c.Update = &e
	}
	f, t := fairlead.FindCondition(e.Status.Conditions, ConditionFailed), fairlead.FindCondition(e.Status.Conditions, ConditionTargetEvicted)
	for i := range c.requests {
		if f != nil && t != nil {
			c.tell(&c.requests[i], f.Status, f.Reason, f.Message, t.Status, t.Reason, t.Message)
		}
	}
}

// step decides about an Eviction that is not over. It rebuilds its lists.
func (c *coordinator) step(e *Eviction) {
	s := &e.Status
	s.ObservedGeneration = e.Generation
	wanted := c.listRequesters(e)
	c.listResponders(e)
	active := slices.IndexFunc(s.TargetResponders, func(r TargetResponder) bool { return r.State == StateActive })
	set := func(failed fairlead.ConditionStatus, why, message string, evicted fairlead.ConditionStatus, whyEvicted string) {
		s.Conditions = c.conditions(s.Conditions, failed, why, message, evicted, whyEvicted, message)
	}
	end := func(state ResponderState) {
		if active >= 0 {
			s.TargetResponders[active].State = state
		}
	}
	switch {
	case c.gone():
		end(StateCompleted)
		set(fairlead.ConditionFalse, ReasonSucceeded, "the pod is gone", fairlead.ConditionTrue, ReasonPodDeleted)
	case c.Pod.Status.Phase == "Succeeded" || c.Pod.Status.Phase == "Failed":
		end(StateCompleted)
		set(fairlead.ConditionFalse, ReasonSucceeded, "the pod has ended: "+c.Pod.Status.Phase, fairlead.ConditionTrue, ReasonPodTerminal)
	case !wanted:
		end(StateCanceled)
		set(fairlead.ConditionTrue, ReasonCanceledDueToNoRequesters, "all requesters have withdrawn", fairlead.ConditionFalse, ReasonEvictionFailed)
	case !c.turn(s, active):
		message := "the last responder is done, and the pod still exists"
		set(fairlead.ConditionTrue, ReasonNoFurtherResponder, message, fairlead.ConditionFalse, ReasonEvictionFailed)
		c.block(ReasonNoFurtherResponder, message, "", time.Time{}, "check the messages of the responders in the status of Eviction "+e.Name+"; then create another request, or change the intent of this one")
	default:
		set(fairlead.ConditionFalse, ReasonAwaitingEviction, "the pod will be evicted", fairlead.ConditionFalse, ReasonAwaitingEviction)
	}
}

// listRequesters notes the intents of the requesters, and reports whether anybody
// requests the eviction.
func (c *coordinator) listRequesters(e *Eviction) (wanted bool) {
	all := slices.Clone(e.Status.Requesters)
	for i := range all {
		all[i].Intent = IntentWithdrawn
	}
	for i := range c.requests {
		r := &c.requests[i]
		at := slices.IndexFunc(all, func(q Requester) bool { return q.Name == r.Spec.RequesterName })
		if at < 0 {
			at = len(all)
			all = append(all, Requester{r.Spec.RequesterName, IntentWithdrawn})
		}
		if r.counts() {
			all[at].Intent, wanted = IntentEviction, true
		}
	}
	e.Status.Requesters = all
	return wanted
}

// listResponders notes who responds, once.
func (c *coordinator) listResponders(e *Eviction) {
	s := &e.Status
	s.TargetResponders, s.Responders = slices.Clone(s.TargetResponders), slices.Clone(s.Responders)
	if len(s.TargetResponders) == 0 && !c.gone() {
		for _, r := range c.Pod.Spec.EvictionResponders {
			s.TargetResponders = append(s.TargetResponders, TargetResponder{r.Name, StateInactive})
		}
		s.TargetResponders = append(s.TargetResponders, TargetResponder{Evictor, StateInactive})
	}
	for _, r := range s.TargetResponders {
		if s.status(r.Name) == nil {
			s.Responders = append(s.Responders, ResponderStatus{Name: r.Name})
		}
	}
}

// status returns what a responder reports, or nil.
func (s *EvictionStatus) status(name string) *ResponderStatus {
	for i := range s.Responders {
		if s.Responders[i].Name == name {
			return &s.Responders[i]
		}
	}
	return nil
}

// turn passes the turn on when that is due. It reports whether anybody must act, or
// the pod is terminating.
func (c *coordinator) turn(s *EvictionStatus, active int) bool {
	if active >= 0 {
		r := s.status(s.TargetResponders[active].Name)
		last := r.HeartbeatTime
		if last.IsZero() {
			last = r.StartTime
		}
		if last.IsZero() {
			r.StartTime, last = c.now, c.now
		}
		due := fairlead.Past(last, c.now).Add(HeartbeatTimeout)
		switch {
		case !r.CompletionTime.IsZero():
			s.TargetResponders[active].State = StateCompleted
		case !due.After(c.now):
			s.TargetResponders[active].State = StateInterrupted
		default:
			c.wait(r, due)
			return true
		}
	}
	next := slices.IndexFunc(s.TargetResponders, func(r TargetResponder) bool { return r.State == StateInactive })
	switch {
	case next >= 0:
		s.TargetResponders[next].State = StateActive
		r := s.status(s.TargetResponders[next].Name)
		r.StartTime = c.now
		c.wait(r, c.now.Add(HeartbeatTimeout))
		return true
	case c.Pod.DeletionTimestamp != nil:
		c.block("PodTerminating", "the last responder is done, and the pod is terminating", "kubelet", *c.Pod.DeletionTimestamp, "wait until the pod has ended; if it does not, check its finalizers and the kubelet of its node")
		return true
	}
	return false
}

// wait waits for a responder.
func (c *coordinator) wait(r *ResponderStatus, due time.Time) {
	c.Wake = due
	message := "responder " + r.Name + " must evict it"
	if r.Message != "" {
		message += ": " + r.Message
	}
	sign := "it has sent no heartbeat yet"
	if !r.HeartbeatTime.IsZero() {
		sign = "its last heartbeat was at " + r.HeartbeatTime.UTC().Format(time.RFC3339)
	}
	c.block("ResponderActive", message+"; "+sign, r.Name, r.StartTime, fmt.Sprintf("wait until it is done; if it stays silent, the next one gets its turn at %s", due.UTC().Format(time.RFC3339)))
}

func (c *coordinator) block(reason, message, owner string, since time.Time, unblock string) {
	c.Blocked = append(c.Blocked, fairlead.Block{
		Subject: "pod " + c.Namespace + "/" + c.Target.Name, Reason: reason, Message: message, Owner: owner, Since: fairlead.Past(since, c.now), Unblock: unblock,
	})
}
