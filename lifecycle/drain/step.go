package drain

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// StateVersion is the version of the format of [State].
const StateVersion = 2

// State is what the engine remembers of a node with requests. The zero State
// knows nothing. It survives encoding/json.
type State struct {
	Progress         Progress       `json:"progress,omitzero"`  // the progress of the drain
	Begun            bool           `json:"begun,omitempty"`    // the node is being taken out of service: slots no longer count
	Tainted          string         `json:"tainted,omitempty"`  // the UID of the node if it was tainted out-of-service here
	Requests         []RequestState `json:"requests,omitempty"` // in the order of their times; only those with something to remember
	fairlead.Pending                // why nothing more happens, and actions whose effect is not yet visible
}

// Words returns a Block of the engine in words, see [Words].
func (State) Words(b fairlead.Block) fairlead.Block { return Words(b) }

// upgrade reads a state of version 1.
func upgrade(_ int, data []byte) (State, error) {
	var s State
	var old struct {
		*State
		Progress json.RawMessage `json:"progress"`
		Waits    json.RawMessage `json:"waits"`
	}
	old.State = &s
	if err := json.Unmarshal(data, &old); err != nil {
		return State{}, err
	}
	p, err := UpgradeProgress(old.Progress)
	if err != nil {
		return State{}, err
	}
	waits, err := upgradeWaits(old.Waits)
	s.Waits, s.Retries = append(waits, p.Waits...), append(s.Retries, p.Retries...)
	s.Progress = Progress{Cordoned: p.Cordoned, CordonMark: p.CordonMark}
	return s, err
}

// Done reports whether the state need not be kept.
func (s *State) Done() bool {
	return !s.Begun && s.Progress.Cordoned == "" && s.Tainted == "" && len(s.Requests) == 0 && s.Pending.IsZero()
}

// Decision is what [Step] returns. Blocked says why nothing more happens: first
// waits about requests, then those about pods.
type Decision = fairlead.Decision[State, Action]

// resync is how often a waiting node is examined even without events.
const resync = 5 * time.Minute

// stepper is one call of Step.
type stepper struct {
	*World
	fairlead.Ledger
	policy   *Policy
	old      State
	state    State
	requests fairlead.Unchanged[RequestState]
	actions  []Action
}

// Step decides what comes next for a node with requests.
//
//  1. A request is over once it is cancelled, its Until has passed, or its
//     Purpose is fulfilled; and stays so.
//  2. While any request is neither over nor paused, the node is drained as
//     [Pods] says, once it has its slots, and kept empty. While all are paused,
//     nothing is done or undone.
//  3. When the last one is over, the node is uncordoned, but only if this
//     engine cordoned it.
//  4. A silent node is reported. Only a fenced one is tainted out-of-service,
//     so that the cluster releases its pods; the taint is removed when the node
//     reports again. Pods on a silent node that should have ended may still
//     run, so a Maintenance request does not become Drained while they exist. A
//     Reboot or Removal request does, because it ends them.
//  5. A node that is registered again under another UID is drained again. A
//     request for one UID is over when that node is gone.
//
// It is a pure function; a nil policy means the defaults. World must not be nil.
func Step(state State, world *World, now time.Time, policy *Policy) Decision {
	if policy == nil {
		policy = &zeroPolicy
	}
	s := stepper{
		World: world, policy: policy, old: state,
		Ledger:   fairlead.NewLedger(state.Pending, world.Outcomes, now, fairlead.Backoff{Max: 30 * time.Second}),
		requests: fairlead.Unchanged[RequestState]{Old: state.Requests},
		state:    State{Progress: state.Progress, Begun: state.Begun, Tainted: state.Tainted},
	}
	requests := world.Requests
	if !slices.IsSortedFunc(requests, compareRequests) {
		requests = slices.Clone(requests)
		slices.SortFunc(requests, compareRequests)
	}
	var space [8]*Request
	active := space[:0]
	for i := range requests {
		if r := &requests[i]; s.over(r) == "" {
			active = append(active, r)
		}
	}
	s.drain(active)
	s.state.Pending, s.state.Requests = s.Pending(), s.requests.All()
	if len(s.Blocked()) > 0 {
		s.At(now.Add(resync))
	}
	return Decision{State: s.state, Actions: s.actions, Blocked: s.Blocked(), Wake: s.Wake()}
}

// wait says why nothing more happens.
func (s *stepper) wait(w fairlead.Block) {
	var space [64]byte
	w.Subject = s.Text(append(append(space[:0], "node "...), s.Name...))
	s.Block(w)
}

// compareRequests orders requests by time, the earliest first.
func compareRequests(a, b Request) int {
	return cmp.Or(a.Asked.Compare(b.Asked), strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
}

// known returns what is remembered of a request.
func (s *stepper) known(r *Request) RequestState {
	for _, k := range s.old.Requests {
		if k.UID == r.UID {
			return k
		}
	}
	return RequestState{UID: r.UID}
}

// over says why a request is over, and remembers it; empty if it is not.
func (s *stepper) over(r *Request) string {
	k := s.known(r)
	now := s.Now()
	switch {
	case k.Over != "":
	case r.Cancelled:
		k.Over = OverCancelled
	case !r.Until.IsZero() && !r.Until.After(now):
		k.Over = OverExpired
	case s.Node == nil && (r.Purpose == Removal || r.NodeUID != ""), s.Node != nil && r.NodeUID != "" && r.NodeUID != s.Node.UID:
		k.Over = OverGone
	case r.Purpose == Reboot && k.Boot != "" && s.BootID != "" && s.BootID != k.Boot && s.Node != nil && heard(s.Node):
		k.Over = OverBooted
	}
	if k.Over == "" {
		s.At(r.Until)
		if k.Boot != "" {
			s.requests.Add(k)
		}
		return ""
	}
	s.requests.Add(k)
	s.report(r, Status{PhaseOver, k.Over})
	return k.Over
}

// heard reports whether a node reports that it is ready.
func heard(n *Node) bool {
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == "Ready" {
			return c.Status == "True"
		}
	}
	return false
}

// report writes the status of a request, unless it already is observed so.
func (s *stepper) report(r *Request, status Status) {
	if r.Status == status {
		return
	}
	if a := (Report{Request: r.Name, UID: r.UID, Status: status}); s.Due(a.Key()) {
		s.actions = append(s.actions, a)
	}
}

// drain does what the active requests for the node require.
func (s *stepper) drain(active []*Request) {
	switch {
	case s.Node == nil:
		s.state.Progress, s.state.Begun, s.state.Tainted = Progress{}, false, ""
		for _, r := range active {
			s.report(r, Status{PhaseWaiting, ReasonNodeMissing})
			s.wait(fairlead.Block{Reason: ReasonNodeMissing, Name: r.Name, Owner: r.Requester})
		}
		return
	case len(active) == 0:
		s.giveBack()
		return
	}
	working := active[:0]
	for _, r := range active {
		if !r.Paused {
			working = append(working, r)
			continue
		}
		s.report(r, Status{PhasePaused, ""})
		s.wait(fairlead.Block{Reason: ReasonRequestPaused, Name: r.Name, Owner: r.Requester})
	}
	if len(working) == 0 {
		return
	}
	if !s.state.Begun && len(s.Slots) > 0 {
		s.hold(working)
		return
	}
	s.state.Begun = true
	s.fence()
	parts := [...]drainer{begin(s.Ledger, &Draining{Progress: s.state.Progress, View: &s.View}, s.policy)}
	decide(parts[:], &s.Ledger)
	d := &parts[0]
	s.state.Progress = d.new
	s.actions = append(s.actions, d.actions...)
	status := Status{PhaseDraining, ""}
	if d.done {
		status = Status{PhaseDrained, ""}
	} else if d.trouble {
		status.Reason = firstTrouble(s.Blocked()[d.first:d.last])
	}
	stranded := d.done && s.stranded()
	for _, r := range working {
		switch {
		case stranded && (r.Purpose == "" || r.Purpose == Maintenance):
			s.report(r, Status{PhaseDraining, ReasonPodStranded})
		default:
			s.report(r, status)
			if d.done {
				s.empty(r)
			}
		}
	}
}

// stranded reports the pods that should have ended, and may still run because
// their node has stopped reporting. It reports whether there are any.
func (s *stepper) stranded() bool {
	if _, silent := Silence(s.Node); !silent || s.Fenced || s.Stopped {
		return false
	}
	f := newFilter(s.policy, &s.View, nil, s.Now())
	f.patience = 0
	left := slices.DeleteFunc(f.survey(nil), func(o sighting) bool { return o.pod.Finished() })
	for i := range left {
		s.wait(fairlead.Block{Reason: ReasonPodStranded, Name: left[i].pod.String(), Owner: "kubelet"})
	}
	return len(left) > 0
}

// hold makes requests wait for the slots of the node.
func (s *stepper) hold(working []*Request) {
	reason := ReasonReplacementDue
	for i := range s.Slots {
		t := &s.Slots[i]
		w := fairlead.Block{Reason: ReasonReplacementDue, Name: t.Limit, Since: t.Since}
		if !t.Replacement {
			w.Reason, w.Owner, reason = ReasonSlotTaken, t.Holder, ReasonSlotTaken
		}
		s.wait(w)
	}
	for _, r := range working {
		s.report(r, Status{PhaseWaiting, reason})
	}
}

// firstTrouble returns the reason of the first wait that does not just take time.
func firstTrouble(waits []fairlead.Block) string {
	for i := range waits {
		if !patient(&waits[i]) {
			return waits[i].Reason
		}
	}
	return ""
}

// empty remembers the boot ID with which the node was first empty for a request
// to reboot, and waits for the requester.
func (s *stepper) empty(r *Request) {
	if r.Purpose == Reboot && s.BootID != "" && s.known(r).Boot == "" {
		s.requests.Add(RequestState{UID: r.UID, Boot: s.BootID})
	}
	w := fairlead.Block{Reason: ReasonRequesterActs, Name: r.Name, Owner: r.Requester, Detail: r.Why}
	if _, silent := Silence(s.Node); silent && !s.Fenced && !s.Stopped {
		w.Reason = ReasonSilentActs
	}
	s.wait(w)
}

// fence taints a node that is known not to run.
func (s *stepper) fence() {
	_, silent := Silence(s.Node)
	if !s.Fenced || !silent || s.tainted() {
		s.unfence()
		return
	}
	s.state.Tainted = s.Node.UID
	s.do(TaintOutOfService{Node: s.Node.Name, UID: s.Node.UID}, fairlead.Block{Reason: ReasonBeingTainted, Name: s.Node.Name})
}

// unfence removes the taint that was set here, once the node reports again.
func (s *stepper) unfence() {
	_, silent := Silence(s.Node)
	switch {
	case s.state.Tainted == "":
	case s.state.Tainted != s.Node.UID, !s.tainted() && !s.Fenced:
		s.state.Tainted = ""
	case silent || s.Fenced:
		if s.tainted() {
			s.wait(fairlead.Block{Reason: ReasonStillTainted, Name: s.Node.Name, Owner: "kubelet"})
		}
	case s.tainted():
		s.do(UntaintOutOfService{Node: s.Node.Name, UID: s.Node.UID}, fairlead.Block{Reason: ReasonBeingUntainted, Name: s.Node.Name})
	}
}

// tainted reports whether the node is tainted out-of-service.
func (s *stepper) tainted() bool {
	return slices.ContainsFunc(s.Node.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == OutOfServiceTaint })
}

// do decides on an action, if it is due, and waits for its effect.
func (s *stepper) do(a Action, w fairlead.Block) {
	if s.Due(a.Key()) {
		s.actions = append(s.actions, a)
	}
	if o := s.Outcome(a.Key()); o != nil && o.Failed {
		w.Detail = o.Message
	}
	s.wait(w)
}

// giveBack allows pods on the node again, if it was taken out of service here.
// That is not forgotten because of an older observation.
func (s *stepper) giveBack() {
	s.unfence()
	p := s.state.Progress
	a, ours := p.Uncordon(s.Node)
	s.state.Progress = Progress{Cordoned: p.Cordoned, CordonMark: p.CordonMark}
	if ours {
		s.do(a, fairlead.Block{Reason: ReasonUncordoning, Name: s.Node.Name})
		return
	}
	s.state.Begun = false
	if until, lately := p.lately(s.Node, s.Now()); lately {
		s.At(s.Now().Add(min(resync, until.Sub(s.Now())))) // to forget it in time
	} else {
		s.state.Progress = Progress{}
	}
}
