package eviction_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle/eviction"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// site is a pod with its requests and Evictions, to which decisions are applied.
type site struct {
	w   eviction.World
	now time.Time
	d   eviction.Decision

	made int // Evictions, so that each has a UID of its own
}

func open(responders ...string) *site {
	s := &site{now: noon}
	s.w.Namespace, s.w.Target = "d", eviction.PodReference{Name: "web", UID: "u1"}
	s.w.Pod = &eviction.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "d", Name: "web", UID: "u1"}}
	for _, r := range responders {
		s.w.Pod.Spec.EvictionResponders = append(s.w.Pod.Spec.EvictionResponders, eviction.Responder{Name: r})
	}
	return s
}

func (s *site) ask(name, requester string) *site {
	r := eviction.Request{ObjectMeta: fairlead.ObjectMeta{Namespace: "d", Name: name, UID: "uid-" + name, Generation: 1, CreationTimestamp: s.now}}
	r.Spec = eviction.RequestSpec{Target: eviction.Target{Pod: s.w.Target}, RequesterName: requester, Intent: eviction.IntentEviction}
	s.w.Requests = append(s.w.Requests, r)
	return s
}

func (s *site) request(name string) *eviction.Request {
	for i := range s.w.Requests {
		if s.w.Requests[i].Name == name {
			return &s.w.Requests[i]
		}
	}
	return nil
}

func (s *site) intent(name string, i eviction.Intent) {
	r := s.request(name)
	r.Spec.Intent = i
	r.Generation++
}

// settle decides and applies until nothing changes any more.
func (s *site) settle() *site {
	for range 10 {
		s.d = eviction.Coordinate(&s.w, s.now)
		changed := s.apply()
		if !changed {
			return s
		}
	}
	panic("it does not come to rest: " + s.String())
}

func (s *site) apply() bool {
	d := s.d
	if d.Create != nil {
		e := *d.Create
		s.made++
		e.UID, e.CreationTimestamp, e.Generation = fmt.Sprint("eviction-", s.made), s.now, 1
		s.w.Evictions = append(s.w.Evictions, e)
	}
	for i := range s.w.Evictions {
		if d.Update != nil && s.w.Evictions[i].Name == d.Update.Name {
			s.w.Evictions[i] = *d.Update
		}
	}
	for _, r := range d.Requests {
		*s.request(r.Name) = r
	}
	s.w.Evictions = slices.DeleteFunc(s.w.Evictions, func(e eviction.Eviction) bool { return slices.Contains(d.Delete, e.Name) })
	return d.Create != nil || d.Update != nil || len(d.Requests)+len(d.Delete) > 0
}

// last returns the Eviction that was made last.
func (s *site) last() *eviction.Eviction { return &s.w.Evictions[len(s.w.Evictions)-1] }

// say changes what a responder says of itself.
func (s *site) say(name string, edit func(r *eviction.ResponderStatus)) {
	e := s.last()
	e.Status.Responders = slices.Clone(e.Status.Responders)
	for i := range e.Status.Responders {
		if e.Status.Responders[i].Name == name {
			edit(&e.Status.Responders[i])
		}
	}
}

func (s *site) pass(d time.Duration) *site { s.now = s.now.Add(d); return s.settle() }

// String tells how it stands, in a line: Evictions with states of responders and
// conditions, then requests with conditions.
func (s *site) String() string {
	var parts []string
	conditions := func(all []fairlead.Condition) string {
		text := ""
		for _, c := range all {
			text += fmt.Sprintf(" %s=%s/%s", c.Type, c.Status, c.Reason)
		}
		return text
	}
	for _, e := range s.w.Evictions {
		text := e.Name
		for _, r := range e.Status.TargetResponders {
			text += fmt.Sprintf(" %s:%s", strings.TrimPrefix(r.Name, "imperative-eviction.k8s.io/"), r.State)
		}
		parts = append(parts, text+conditions(e.Status.Conditions))
	}
	for _, r := range s.w.Requests {
		parts = append(parts, r.Name+conditions(r.Status.Conditions))
	}
	return strings.Join(parts, "; ")
}

const (
	waits    = " Failed=False/AwaitingEviction TargetEvicted=False/AwaitingEviction"
	deleted  = " Failed=False/Succeeded TargetEvicted=True/PodDeleted"
	canceled = " Failed=True/CanceledDueToNoRequesters TargetEvicted=False/EvictionFailed"
	invalid  = " Failed=True/EvictionInvalid TargetEvicted=False/EvictionFailed"
	nobody   = " Failed=True/NoFurtherResponder TargetEvicted=False/EvictionFailed"
)

// TestClauses has a row for each clause of the KEP that the coordinator is to keep,
// by the heading under which it stands there.
func TestClauses(t *testing.T) {
	done := func(now time.Time) func(*eviction.ResponderStatus) {
		return func(r *eviction.ResponderStatus) { r.CompletionTime = now }
	}
	for _, c := range []struct {
		clause string
		play   func() *site
		want   string
	}{
		{"Validation: the target is not there", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d")
			s.w.Pod = nil
			return s.settle()
		}, "r" + invalid},
		{"Validation: another pod has the name by now", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d")
			s.w.Pod.UID = "u2"
			return s.settle()
		}, "r" + invalid},
		{"Validation: pods of a scheduling group", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d")
			s.w.Pod.Spec.SchedulingGroup = &eviction.SchedulingGroup{PodGroupName: "g"}
			return s.settle()
		}, "r" + invalid},
		{"Validation: failed requests are left alone", func() *site {
			s := open().ask("r", "acme.io/d")
			s.w.Pod = nil
			return s.settle().pass(time.Hour)
		}, "r" + invalid},
		{"Registration: one Eviction for all requests of a pod", func() *site {
			return open("a.io/x").ask("r", "acme.io/d").ask("s", "acme.io/e").settle()
		}, "pod-1-web a.io/x:Active evictor:Inactive" + waits + "; r" + waits + "; s" + waits},
		{"Registration: one that somebody else has made is adopted", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d")
			s.w.Evictions = []eviction.Eviction{{ObjectMeta: fairlead.ObjectMeta{Name: "mine", UID: "m"}, Spec: eviction.EvictionSpec{Target: eviction.Target{Pod: s.w.Target}}}}
			return s.settle()
		}, "mine a.io/x:Active evictor:Inactive" + waits + "; r" + waits},
		{"Registration: of two that go on the younger is deleted", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d").settle()
			e := *s.last()
			e.Name, e.UID, e.CreationTimestamp = "second", "second", s.now.Add(time.Second)
			s.w.Evictions = append(s.w.Evictions, e)
			return s.settle()
		}, "pod-1-web a.io/x:Active evictor:Inactive" + waits + "; r" + waits},
		{"Registration: names count up", func() *site {
			s := open().ask("r", "acme.io/d")
			s.w.Evictions = []eviction.Eviction{{ObjectMeta: fairlead.ObjectMeta{Name: "pod-3-web"}}, {ObjectMeta: fairlead.ObjectMeta{Name: "pod-9-other"}}}
			s.settle()
			s.w.Evictions = s.w.Evictions[2:]
			return s
		}, "pod-4-web evictor:Active" + waits + "; r" + waits},
		{"Responder Selection: in the order of the pod, one at a time, the evictor last", func() *site {
			s := open("a.io/x", "b.io/y").ask("r", "acme.io/d").settle()
			s.say("a.io/x", done(s.now))
			return s.settle()
		}, "pod-1-web a.io/x:Completed b.io/y:Active evictor:Inactive" + waits + "; r" + waits},
		{"Responder Selection: a heartbeat keeps the turn", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d").settle()
			s.pass(19 * time.Minute)
			s.say("a.io/x", func(r *eviction.ResponderStatus) { r.HeartbeatTime = s.now })
			return s.pass(20*time.Minute - time.Second)
		}, "pod-1-web a.io/x:Active evictor:Inactive" + waits + "; r" + waits},
		{"Responder Selection: twenty minutes without a heartbeat", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d").settle()
			s.say("a.io/x", func(r *eviction.ResponderStatus) { r.HeartbeatTime = s.now.Add(time.Minute) })
			s.pass(time.Minute)
			return s.pass(20 * time.Minute)
		}, "pod-1-web a.io/x:Interrupted evictor:Active" + waits + "; r" + waits},
		{"Responder Selection: twenty minutes without having begun", func() *site {
			return open("a.io/x").ask("r", "acme.io/d").settle().pass(20 * time.Minute)
		}, "pod-1-web a.io/x:Interrupted evictor:Active" + waits + "; r" + waits},
		{"Responder Selection: the list does not change once it is set", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d").settle()
			s.w.Pod.Spec.EvictionResponders = nil
			return s.settle()
		}, "pod-1-web a.io/x:Active evictor:Inactive" + waits + "; r" + waits},
		{"Responder: one that was passed over gets no second turn", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d").settle().pass(20 * time.Minute)
			s.say("a.io/x", func(r *eviction.ResponderStatus) { r.HeartbeatTime = s.now })
			return s.pass(time.Minute)
		}, "pod-1-web a.io/x:Interrupted evictor:Active" + waits + "; r" + waits},
		{"Responder: no further one", func() *site {
			return open().ask("r", "acme.io/d").settle().pass(20 * time.Minute)
		}, "pod-1-web evictor:Interrupted" + nobody + "; r" + nobody},
		{"Responder: the last one is through, and the pod is ending", func() *site {
			s := open().ask("r", "acme.io/d").settle()
			at := s.now.Add(time.Hour)
			s.w.Pod.DeletionTimestamp = &at
			s.say(eviction.Evictor, done(s.now))
			return s.settle()
		}, "pod-1-web evictor:Completed" + waits + "; r" + waits},
		{"Cancellation: not while one requester is left", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d").ask("s", "acme.io/e").settle()
			s.intent("r", eviction.IntentWithdrawn)
			return s.settle()
		}, "pod-1-web a.io/x:Active evictor:Inactive" + waits + "; r" + waits + "; s" + waits},
		{"Cancellation: all have withdrawn", func() *site {
			s := open("a.io/x", "b.io/y").ask("r", "acme.io/d").settle()
			s.intent("r", eviction.IntentWithdrawn)
			return s.settle()
		}, "pod-1-web a.io/x:Canceled b.io/y:Inactive evictor:Inactive" + canceled + "; r" + canceled},
		{"Cancellation: a request that is being deleted counts as withdrawn", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d").settle()
			s.request("r").DeletionTimestamp = &s.now
			return s.settle()
		}, "pod-1-web a.io/x:Canceled evictor:Inactive" + canceled + "; r" + canceled},
		{"Cancellation: all have withdrawn before there was an Eviction", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d")
			s.intent("r", eviction.IntentWithdrawn)
			return s.settle()
		}, "r" + canceled},
		{"Cancellation and default GC: no request is left", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d").settle()
			s.w.Requests = nil
			return s.settle()
		}, ""},
		{"Completion: the pod is gone", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d").settle()
			s.w.Pod = nil
			return s.settle()
		}, "pod-1-web a.io/x:Completed evictor:Inactive" + deleted + "; r" + deleted},
		{"Completion: another pod has its name", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d").settle()
			s.w.Pod.UID = "u2"
			return s.settle()
		}, "pod-1-web a.io/x:Completed evictor:Inactive" + deleted + "; r" + deleted},
		{"Completion: the pod has ended", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d").settle()
			s.w.Pod.Status.Phase = "Succeeded"
			return s.settle()
		}, "pod-1-web a.io/x:Completed evictor:Inactive Failed=False/Succeeded TargetEvicted=True/PodTerminal; r Failed=False/Succeeded TargetEvicted=True/PodTerminal"},
		{"Completion: an Eviction that is over stays so", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d").settle()
			s.w.Pod = nil
			s.settle()
			s.intent("r", eviction.IntentWithdrawn)
			return s.settle()
		}, "pod-1-web a.io/x:Completed evictor:Inactive" + deleted + "; r" + deleted},
		{"Condition synchronization: who asks later has the same conditions", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d").settle()
			s.w.Pod = nil
			s.settle().ask("s", "acme.io/e")
			return s.settle()
		}, "pod-1-web a.io/x:Completed evictor:Inactive" + deleted + "; r" + deleted + "; s" + deleted},
		{"Condition synchronization: conditions of requests are reset by a new intent", func() *site {
			s := open().ask("r", "acme.io/d").settle()
			s.intent("r", eviction.IntentWithdrawn)
			s.settle()
			s.intent("r", eviction.IntentEviction)
			return s.settle()
		}, "pod-1-web evictor:Canceled" + canceled + "; pod-2-web evictor:Active" + waits + "; r" + waits},
		{"Condition synchronization: a failed Eviction is not tried again by itself", func() *site {
			return open().ask("r", "acme.io/d").settle().pass(20 * time.Minute).pass(time.Hour)
		}, "pod-1-web evictor:Interrupted" + nobody + "; r" + nobody},
		{"Requests about other pods do not matter", func() *site {
			s := open("a.io/x").ask("r", "acme.io/d")
			s.w.Requests[0].Spec.Target.Pod.UID = "other"
			return s.settle()
		}, "r"},
	} {
		s := c.play()
		if got := s.String(); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.clause, got, c.want)
		}
	}
}

// Labels and requesters tell who takes part; times are set; the Block says who is
// to act.
func TestLabels(t *testing.T) {
	s := open("a.io/x", "acme.io/d").ask("r", "acme.io/d").ask("s", "acme.io/e").settle()
	s.intent("s", eviction.IntentWithdrawn)
	s.settle()
	e := s.last()
	if got := fmt.Sprint(e.Labels); got != "map[a.io/x:responder acme.io/d:requesterresponder acme.io/e:requester imperative-eviction.k8s.io/evictor:responder]" {
		t.Error(got)
	}
	if got := fmt.Sprint(e.Status.Requesters); got != "[{acme.io/d Eviction} {acme.io/e Withdrawn}]" {
		t.Error(got)
	}
	if len(e.OwnerReferences) != 2 || e.Status.ObservedGeneration != 1 || s.request("s").Status.ObservedGeneration != 2 {
		t.Errorf("%+v", e)
	}
	if r := e.Status.Responders; len(r) != 3 || !r[0].StartTime.Equal(noon) || !r[1].StartTime.IsZero() {
		t.Errorf("%+v", r)
	}
	if len(s.d.Blocked) != 1 || s.d.Blocked[0].Owner != "a.io/x" || !s.d.Wake.Equal(noon.Add(20*time.Minute)) {
		t.Errorf("%+v", s.d)
	}
	s.w.Requests = s.w.Requests[:1] // who has gone stays listed
	s.settle()
	if got := fmt.Sprint(s.last().Status.Requesters); got != "[{acme.io/d Eviction} {acme.io/e Withdrawn}]" {
		t.Error(got)
	}
	data, err := json.Marshal(s.w)
	var back eviction.World
	if err != nil || json.Unmarshal(data, &back) != nil || !reflect.DeepEqual(eviction.Coordinate(&back, s.now), eviction.Coordinate(&s.w, s.now)) {
		t.Errorf("it does not survive JSON: %v", err)
	}
}

// TestHolds plays requesters, responders and pods at random: at most one responder
// is active, states only go forward, the list of responders never changes, what is
// final stays, the order of lists does not matter; and in the end every request is
// answered for good.
func TestHolds(t *testing.T) {
	for seed := range uint64(long.N(300, 10_000)) {
		if err := playEviction(rand.New(rand.NewPCG(seed, 9))); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func playEviction(r *rand.Rand) error {
	s := open([]string{"a.io/x", "b.io/y", "c.io/z"}[:r.IntN(4)]...)
	seen := map[string]eviction.Eviction{}
	asked := 0
	for range 60 {
		switch r.IntN(8) {
		case 0:
			if len(s.w.Requests) < 3 {
				asked++
				s.ask(fmt.Sprint("r", asked), fmt.Sprint("acme.io/", r.IntN(3)))
			}
		case 1:
			if n := len(s.w.Requests); n > 0 {
				s.intent(s.w.Requests[r.IntN(n)].Name, []eviction.Intent{eviction.IntentEviction, eviction.IntentWithdrawn}[r.IntN(2)])
			}
		case 2:
			if n := len(s.w.Requests); n > 0 && r.IntN(4) == 0 {
				s.w.Requests = slices.Delete(s.w.Requests, 0, 1)
			}
		case 3, 4:
			if len(s.w.Evictions) > 0 {
				for _, q := range s.last().Status.TargetResponders {
					if q.State == eviction.StateActive {
						s.say(q.Name, func(o *eviction.ResponderStatus) {
							if o.HeartbeatTime = s.now; r.IntN(3) == 0 {
								o.CompletionTime = s.now
							}
						})
					}
				}
			}
		case 5:
			if s.w.Pod != nil && r.IntN(8) == 0 {
				s.w.Pod = nil
			}
		}
		s.now = s.now.Add(time.Duration(r.IntN(15)-2) * time.Minute)
		before := s.String()
		shuffled := s.w
		shuffled.Requests, shuffled.Evictions = slices.Clone(s.w.Requests), slices.Clone(s.w.Evictions)
		r.Shuffle(len(shuffled.Requests), func(i, j int) {
			shuffled.Requests[i], shuffled.Requests[j] = shuffled.Requests[j], shuffled.Requests[i]
		})
		if a, b := eviction.Coordinate(&s.w, s.now), eviction.Coordinate(&shuffled, s.now); !reflect.DeepEqual(a, b) || s.String() != before {
			return fmt.Errorf("the order matters, or the world was changed:\n%+v\n%+v", a, b)
		}
		s.settle()
		if err := forward(s, seen); err != nil {
			return err
		}
	}
	for range 6 { // in the end responders stay silent
		s.pass(21 * time.Minute)
		if err := forward(s, seen); err != nil {
			return err
		}
	}
	for _, q := range s.w.Requests {
		f, e := fairlead.FindCondition(q.Status.Conditions, eviction.ConditionFailed), fairlead.FindCondition(q.Status.Conditions, eviction.ConditionTargetEvicted)
		if f == nil || e == nil || (f.Status == "True") == (e.Status == "True") {
			return fmt.Errorf("request %s has no answer: %v", q.Name, s)
		}
	}
	return nil
}

// forward checks that Evictions only go forward.
func forward(s *site, seen map[string]eviction.Eviction) error {
	for _, e := range s.w.Evictions {
		active := 0
		for _, q := range e.Status.TargetResponders {
			if q.State == eviction.StateActive {
				active++
			}
		}
		if active > 1 {
			return fmt.Errorf("%d are active: %v", active, s)
		}
		old, known := seen[e.UID]
		seen[e.UID] = e
		if !known || len(old.Status.TargetResponders) == 0 {
			continue
		}
		if len(old.Status.TargetResponders) != len(e.Status.TargetResponders) {
			return fmt.Errorf("the list of responders has changed: %v", s)
		}
		for i, q := range old.Status.TargetResponders {
			is := e.Status.TargetResponders[i]
			if is.Name != q.Name || is.State != q.State && q.State != eviction.StateActive && q.State != eviction.StateInactive || q.State == eviction.StateActive && is.State == eviction.StateInactive {
				return fmt.Errorf("%v was %v", is, q)
			}
		}
		for _, c := range old.Status.Conditions {
			if now := fairlead.FindCondition(e.Status.Conditions, c.Type); c.Status == "True" && (now == nil || now.Status != "True") {
				return fmt.Errorf("%s was final: %v", c.Type, s)
			}
		}
	}
	return nil
}

// A request for a pod that names one responder: it gets its turn, and shows no sign
// of life.
func ExampleCoordinate() {
	s := open("acme.io/database-operator").ask("drain-1", "acme.io/drainer").settle()
	fmt.Println(s.d.Blocked[0])
	s.pass(20 * time.Minute)
	fmt.Println(s.d.Blocked[0].Owner)
	// Output:
	// pod d/web: ResponderActive: responder acme.io/database-operator must evict it; it has sent no heartbeat yet (owner acme.io/database-operator, since 2026-03-01T12:00:00Z); to unblock: wait until it is done; if it stays silent, the next one gets its turn at 2026-03-01T12:20:00Z
	// imperative-eviction.k8s.io/evictor
}

// The last requester withdraws, and the responder that is at work is told to stop.
func ExampleCoordinate_withdrawn() {
	s := open("acme.io/database-operator").ask("drain-1", "acme.io/drainer").settle()
	s.intent("drain-1", eviction.IntentWithdrawn)
	d := eviction.Coordinate(&s.w, s.now)
	fmt.Println(d.Update.Status.TargetResponders[0])
	fmt.Println(fairlead.FindCondition(d.Requests[0].Status.Conditions, eviction.ConditionFailed).Reason)
	// Output:
	// {acme.io/database-operator Canceled}
	// CanceledDueToNoRequesters
}
