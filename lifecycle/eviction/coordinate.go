package eviction

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// World is what is observed of one pod that somebody wants to evict.
type World struct {
	Namespace string       `json:"namespace"`     // of all objects
	Target    PodReference `json:"target"`        // the pod to evict
	Pod       *Pod         `json:"pod,omitempty"` // the pod that has the name; nil if there is none
	// Requests and Evictions are those of the namespace; those about other pods do
	// not matter, except for names.
	Requests  []Request  `json:"requests,omitempty"`
	Evictions []Eviction `json:"evictions,omitempty"` // see Requests
}

// Decision is the desired state. It contains only what differs from the current
// state.
type Decision struct {
	// Create is the Eviction to create; its status is written in the next pass.
	Create *Eviction `json:"create,omitempty"`
	// Update is the Eviction with its new labels, owners and status.
	Update *Eviction `json:"update,omitempty"`
	// Delete names Evictions that are no longer requested.
	Delete []string `json:"delete,omitempty"`
	// Requests are those whose status must be written, by name.
	Requests []Request `json:"requests,omitempty"`
	// Blocked says who must act, or why nobody does any more.
	Blocked []fairlead.Block `json:"blocked,omitempty"`
	// Wake is when to look again; zero means after an event only.
	Wake time.Time `json:"wake,omitzero"`
}

// Coordinate decides about one pod.
//
//  1. A request counts if its intent is Eviction and it is not being deleted.
//  2. If there is no Eviction, the pod is checked: a request about a pod that does
//     not exist, or that belongs to a scheduling group, fails as invalid. Otherwise
//     one Eviction is created for all requests, named pod-N-NAME with the first free
//     N.
//  3. Its responders are those of the pod, then [Evictor]; this never changes again.
//     They act in turn: the next one when the previous one has completed, or was
//     silent for [HeartbeatTimeout] since its heartbeat or its start.
//  4. It is over when the pod has ended or is gone, when no request counts any more,
//     or when the last responder is done and the pod is not terminating. Its result
//     is final; requests that came later, or were changed, get another Eviction if
//     it has failed.
//  5. Requesters that have withdrawn stay listed. Requests have the conditions of
//     the the Eviction.
//  6. An Eviction without any request, or in addition to an older one, is deleted.
//
// Times later than now count as now. It is a pure function; the result does not
// depend on the order of lists in the world, which must not be nil.
func Coordinate(w *World, now time.Time) Decision {
	c := coordinator{World: w, now: now}
	for _, r := range w.Requests {
		if r.Spec.Target.Pod == w.Target {
			c.requests = append(c.requests, r)
		}
	}
	slices.SortFunc(c.requests, func(a, b Request) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp), strings.Compare(a.Name, b.Name))
	})
	e := c.relevant()
	switch {
	case len(c.requests) == 0:
		if e != nil {
			c.Delete = append(c.Delete, e.Name)
		}
	case e == nil || failed(e) && c.again(e):
		c.begin()
	default:
		c.progress(e)
	}
	slices.Sort(c.Delete)
	slices.SortFunc(c.Decision.Requests, func(a, b Request) int { return strings.Compare(a.Name, b.Name) })
	return c.Decision
}

// coordinator is one call of Coordinate.
type coordinator struct {
	Decision
	*World
	now      time.Time
	requests []Request // about the pod
}

// counts reports whether a request is for the eviction.
func (r *Request) counts() bool {
	return r.Spec.Intent == IntentEviction && r.DeletionTimestamp == nil
}

func is(conditions []fairlead.Condition, kind string) bool {
	c := fairlead.FindCondition(conditions, kind)
	return c != nil && c.Status == fairlead.ConditionTrue
}

func failed(e *Eviction) bool  { return is(e.Status.Conditions, ConditionFailed) }
func evicted(e *Eviction) bool { return is(e.Status.Conditions, ConditionTargetEvicted) }

// relevant returns the Eviction that counts: one that has succeeded, else the oldest
// active one, else the newest that has failed. Other active ones are deleted.
func (c *coordinator) relevant() *Eviction {
	var all []*Eviction
	for i := range c.Evictions {
		if e := &c.Evictions[i]; e.Spec.Target.Pod == c.Target && e.DeletionTimestamp == nil {
			all = append(all, e)
		}
	}
	rank := func(e *Eviction) int {
		switch {
		case evicted(e):
			return 0
		case failed(e):
			return 2
		}
		return 1
	}
	slices.SortFunc(all, func(a, b *Eviction) int {
		byAge := a.CreationTimestamp.Compare(b.CreationTimestamp)
		if rank(a) == 2 {
			byAge = -byAge
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), byAge, strings.Compare(a.Name, b.Name))
	})
	if len(all) == 0 {
		return nil
	}
	for _, e := range all[1:] {
		if rank(e) == 1 || len(c.requests) == 0 {
			c.Delete = append(c.Delete, e.Name)
		}
	}
	return all[0]
}

// again reports whether there is a new request since an Eviction failed: one that it
// does not know, or whose intent was changed since.
func (c *coordinator) again(e *Eviction) bool {
	return slices.ContainsFunc(c.requests, func(r Request) bool {
		known := slices.ContainsFunc(e.OwnerReferences, func(o fairlead.OwnerReference) bool { return o.UID == r.UID })
		return r.counts() && (!known || r.Status.ObservedGeneration < r.Generation)
	})
}

// gone reports whether the target pod does not exist.
func (c *coordinator) gone() bool { return c.Pod == nil || c.Pod.UID != c.Target.UID }

// begin creates an Eviction, if a request counts and the pod can be evicted this
// way.
func (c *coordinator) begin() {
	problem := ""
	switch {
	case c.gone():
		problem = "Target Pod " + c.Target.Name + " was not found."
	case c.Pod.Spec.SchedulingGroup != nil:
		problem = "Target Pod " + c.Target.Name + " is part of a PodGroup, whose pods cannot be evicted one by one yet."
	}
	if problem != "" {
		for i := range c.requests {
			if r := &c.requests[i]; !is(r.Status.Conditions, ConditionTargetEvicted) {
				c.tell(r, fairlead.ConditionTrue, ReasonEvictionInvalid, problem, fairlead.ConditionFalse, ReasonEvictionFailed, problem)
			}
		}
		return
	}
	if !slices.ContainsFunc(c.requests, func(r Request) bool { return r.counts() }) {
		for i := range c.requests {
			c.tell(&c.requests[i], fairlead.ConditionTrue, ReasonCanceledDueToNoRequesters, "nobody requests the eviction", fairlead.ConditionFalse, ReasonEvictionFailed, "the eviction was canceled")
		}
		return
	}
	e := &Eviction{ObjectMeta: fairlead.ObjectMeta{Namespace: c.Namespace, Name: c.name()}, Spec: EvictionSpec{Target{c.Target}}}
	c.own(e)
	c.Create = e
	for i := range c.requests {
		c.tell(&c.requests[i], fairlead.ConditionFalse, ReasonAwaitingEviction, "the Eviction is being created", fairlead.ConditionFalse, ReasonAwaitingEviction, "the Eviction is being created")
	}
}

// name returns a name that no existing Eviction has.
func (c *coordinator) name() string {
	most := 0
	for i := range c.Evictions {
		rest, ok := strings.CutPrefix(c.Evictions[i].Name, "pod-")
		number, name, _ := strings.Cut(rest, "-")
		if n, err := strconv.Atoi(number); ok && err == nil && (name == c.Target.Name || len(c.Evictions[i].Name) == maxName && strings.HasPrefix(c.Target.Name, name)) {
			most = max(most, n)
		}
	}
	name := fmt.Sprintf("pod-%d-%s", most+1, c.Target.Name)
	return name[:min(len(name), maxName)]
}

// maxName is how long names of objects may be.
const maxName = 253

// own gives an Eviction its owners and labels.
func (c *coordinator) own(e *Eviction) {
	e.OwnerReferences, e.Labels = slices.Clone(e.OwnerReferences), maps.Clone(e.Labels)
	if e.Labels == nil {
		e.Labels = map[string]string{}
	}
	roles := map[string]string{}
	for _, r := range e.Status.TargetResponders {
		roles[r.Name] = "responder"
	}
	for i := range c.requests {
		r := &c.requests[i]
		if !slices.ContainsFunc(e.OwnerReferences, func(o fairlead.OwnerReference) bool { return o.UID == r.UID }) {
			e.OwnerReferences = append(e.OwnerReferences, fairlead.OwnerReference{APIVersion: "lifecycle.k8s.io/v1alpha1", Kind: "EvictionRequest", Name: r.Name, UID: r.UID})
		}
		name := r.Spec.RequesterName
		switch roles[name] {
		case "":
			roles[name] = "requester"
		case "responder":
			roles[name] = "requesterresponder"
		}
	}
	maps.Copy(e.Labels, roles)
}

// tell writes the conditions of a request.
func (c *coordinator) tell(r *Request, failed fairlead.ConditionStatus, why, message string, evicted fairlead.ConditionStatus, whyEvicted, messageEvicted string) {
	status := RequestStatus{ObservedGeneration: r.Generation}
	status.Conditions = c.conditions(r.Status.Conditions, failed, why, message, evicted, whyEvicted, messageEvicted)
	if !reflect.DeepEqual(status, r.Status) {
		o := *r
		o.Status = status
		c.Decision.Requests = append(c.Decision.Requests, o)
	}
}

// conditions returns the list with the two conditions replaced.
func (c *coordinator) conditions(old []fairlead.Condition, failed fairlead.ConditionStatus, why, message string, evicted fairlead.ConditionStatus, whyEvicted, messageEvicted string) []fairlead.Condition {
	all := fairlead.SetCondition(old, fairlead.Condition{Type: ConditionFailed, Status: failed, Reason: why, Message: message, LastTransitionTime: c.now})
	return fairlead.SetCondition(all, fairlead.Condition{Type: ConditionTargetEvicted, Status: evicted, Reason: whyEvicted, Message: messageEvicted, LastTransitionTime: c.now})
}
