package drain

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// View is what a drain observes.
type View struct {
	// Node is the node; nil when there is none.
	Node *Node `json:"node,omitempty"`
	// Stopped is whether the instance is known not to run, so that nothing runs on
	// the node. See Policy.ForceStopped.
	Stopped bool `json:"stopped,omitempty"`
	// Pods are those bound to the node; those bound to another do not count.
	Pods []Pod `json:"pods,omitempty"`
	// Budgets are those of the namespaces of the pods. A drain does not request
	// evictions that they do not allow at present. If they are unknown, leave them
	// out: then the drain relies on the answers of the API.
	Budgets []PodDisruptionBudget `json:"budgets,omitempty"`
	// DaemonSets are those of the namespaces of the pods, if DaemonSetsListed.
	DaemonSets []ObjectMeta `json:"daemonSets,omitempty"`
	// DaemonSetsListed is whether DaemonSets are known; otherwise each DaemonSet that
	// a pod names is assumed to exist.
	DaemonSetsListed bool `json:"daemonSetsListed,omitempty"`
	// Namespaces are those of the pods, for rules that use their labels.
	Namespaces []ObjectMeta `json:"namespaces,omitempty"`
	// ClusterLabels are the labels of the cluster, for rules that use them.
	ClusterLabels map[string]string `json:"clusterLabels,omitempty"`
	// Own are the results of your own filter, applied after those for unmanaged pods
	// and before labels and rules.
	Own []OwnFate `json:"own,omitempty"`
	// Outcomes are the results of the last attempts; the Runner fills them in.
	Outcomes []fairlead.Outcome `json:"failures,omitempty"`
}

// Progress is what is remembered of a drain.
type Progress struct {
	// Cordoned is the UID of the node if the drain has requested to cordon it. The
	// drain may uncordon it if its annotation [CordonAnnotation] equals CordonMark,
	// which is empty in states of older versions: then Cordoned counts. If somebody
	// lifts that cordon and cordons the node again before the drain has observed it,
	// their cordon is taken for its own.
	Cordoned   string `json:"cordoned,omitempty"`
	CordonMark string `json:"cordonMark,omitempty"` // see Cordoned
	// CordonAsked is when the drain last requested to cordon the node, and
	// CordonAttempts how often; zero once it is cordoned.
	CordonAsked    time.Time `json:"cordonAsked,omitzero"`
	CordonAttempts int       `json:"cordonAttempts,omitempty"` // see CordonAsked
	// Pods are those whose turn it is, by namespace, name and UID.
	Pods []PodProgress `json:"pods,omitempty"`
	// Waits are why it does not proceed, in order of discovery.
	Waits []Wait `json:"waits,omitempty"`
}

// PodProgress is what is remembered of a pod whose turn it is.
type PodProgress struct {
	Pod      string    `json:"pod"`                // namespace/name
	UID      string    `json:"uid"`                // distinguishes it from another pod of that name
	Since    time.Time `json:"since"`              // when its turn began
	Asked    time.Time `json:"asked,omitzero"`     // when its eviction was last requested; zero if never
	Attempts int       `json:"attempts,omitempty"` // how often it was requested
	// Failed is whether the last attempt is known to have failed. Code is the HTTP
	// status, RetryAfter how long the server asked to wait.
	Failed     bool          `json:"failed,omitempty"`
	Code       int           `json:"code,omitempty"`       // see Failed
	RetryAfter time.Duration `json:"retryAfter,omitempty"` // see Failed
	// Detail is why it stays: how the last attempt failed, or what is known about its
	// budget.
	Detail string `json:"detail,omitempty"`
	// Budget is the disruption budget that is known to keep it, as namespace/name,
	// and Needs and Has are its numbers of healthy pods.
	Budget string `json:"budget,omitempty"`
	Needs  int    `json:"needs,omitempty"` // see Budget
	Has    int    `json:"has,omitempty"`   // see Budget
}

// NodeDecision is what [Pods] returns.
type NodeDecision struct {
	Progress Progress  // to be saved before anything is applied
	Actions  []Action  // to be applied then, in this order
	Wake     time.Time // when to look again, zero for an event only
	Done     bool      // nothing is left to remove
	Failure  string    // what goes wrong, in a sentence; empty if nothing does
}

// drainer is one call of Pods.
type drainer struct {
	filter
	old     Progress
	pods    podList
	ledger  ledger
	waits   waitList
	grace   *int64
	actions []Action
	wake    time.Time
	asked   int      // evictions of this call
	new     Progress // Waits are added at the end
	done    bool     // nothing is left to remove
	trouble bool
}

// Pods decides what to do next about the pods of a node. labels are those of the
// node's machine, for rules that use them; nil for none.
//
//  1. A node that is not cordoned is only cordoned: a pod evicted before that
//     could come straight back.
//  2. The filters classify each pod.
//  3. Of the pods to remove or wait for, those of the lowest order are next. The
//     others wait until these are gone. Refused pods also count: an order is a
//     promise.
//  4. A pod in turn is evicted, unless it is already being deleted, or tolerates that
//     the node is cordoned and was created since: its controller would put it there
//     again. An eviction that
//     a budget is known to refuse, now or permanently, is not attempted. A refused
//     one is retried with backoff; no other pod waits for that.
//
// The Progress says why it is not done yet. It is a pure function; a nil policy means
// the defaults. view.Node must not be nil.
func Pods(progress Progress, view *View, labels map[string]string, now time.Time, policy *Policy) NodeDecision {
	d, bad := decide(progress, view, labels, now, policy)
	if bad {
		d.Failure = trouble(d.Progress.Waits)
	}
	return d
}

// decide is Pods without texts: bad is whether there is a Failure.
func decide(progress Progress, view *View, labels map[string]string, now time.Time, policy *Policy) (decision NodeDecision, bad bool) {
	d := begin(progress, view, now, policy)
	if !d.opened(labels) {
		return d.end()
	}
	var space [128]sighting
	seen := d.survey(space[:0])
	d.reserve(seen)
	d.turn(seen)
	return d.end()
}

func begin(progress Progress, view *View, now time.Time, policy *Policy) drainer {
	if policy == nil {
		policy = &zeroPolicy
	}
	return drainer{
		filter: filter{policy: policy, view: view, now: now},
		old:    progress, pods: podList{Unchanged: fairlead.Unchanged[PodProgress]{Old: progress.Pods}}, ledger: ledger{budgets: view.Budgets},
		waits: waitList{Unchanged: fairlead.Unchanged[Wait]{Old: progress.Waits}, now: now, node: view.Node.Name},
	}
}

// opened reports whether the pods can be examined: the policy is valid, and the node
// is cordoned.
func (d *drainer) opened(labels map[string]string) bool {
	node := d.view.Node
	if !d.policy.sound() {
		d.waits.add(Wait{Reason: ReasonPolicyInvalid, Name: node.Name, Detail: d.policy.problem()})
		d.new, d.trouble = d.old, true
		return false
	}
	d.filter = newFilter(d.policy, d.view, labels, d.now)
	d.grace = d.policy.grace(d.view)
	if since, silent := Silence(node); silent && !d.view.Stopped {
		d.waits.add(Wait{Reason: ReasonNodeSilent, Name: node.Name, Owner: "kubelet", Since: since})
	}
	d.new = Progress{Cordoned: d.old.Cordoned, CordonMark: d.old.CordonMark}
	if !node.Spec.Unschedulable {
		d.cordon(&d.new)
		return false
	}
	return true
}

// end makes the decision.
func (d *drainer) end() (NodeDecision, bool) {
	d.new.Waits = d.waits.All()
	return NodeDecision{Progress: d.new, Actions: d.actions, Wake: d.wake, Done: d.done}, d.trouble
}

// cordon requests to cordon the node, and forgets earlier attempts at pods.
func (d *drainer) cordon(end *Progress) {
	node := d.view.Node
	end.Cordoned, end.CordonAsked, end.CordonAttempts = node.UID, d.old.CordonAsked, d.old.CordonAttempts
	end.Pods = d.old.Pods
	end.CordonAsked = fairlead.Past(end.CordonAsked, d.now)
	end.CordonMark = d.old.CordonMark
	lifted := node.Annotations[CordonAnnotation] == d.old.CordonMark // it was cordoned, and somebody has uncordoned it
	if _, lately := d.old.lately(node, d.now); lifted || !lately {
		end.CordonMark = d.now.UTC().Format(time.RFC3339Nano)
	}
	action := Cordon{Node: node.Name, UID: node.UID, Mark: end.CordonMark}
	wait := Wait{Reason: ReasonNotCordoned, Name: node.Name}
	if f := failure(d.view.Outcomes, action.Key()); f != nil && !f.At.Before(end.CordonAsked) {
		wait.Detail, d.trouble = f.Message, true
	}
	d.waits.add(wait)
	due := d.due(node.UID, end.CordonAsked, end.CordonAttempts, 0)
	if !due.After(d.now) {
		d.actions = append(d.actions, action)
		end.CordonAttempts++
		end.CordonAsked = d.now
		due = d.due(node.UID, end.CordonAsked, end.CordonAttempts, 0)
	}
	d.at(due)
}

// Uncordon returns the action that allows pods on a node again, for a drain that is
// abandoned. ok is false if there is nothing to do: the node is gone or replaced, is
// not cordoned, or somebody else has cordoned it.
func (s *Progress) Uncordon(node *Node) (a Uncordon, ok bool) {
	if node == nil || !node.Spec.Unschedulable || s.Cordoned == "" || s.Cordoned != node.UID || s.CordonMark != "" && s.CordonMark != node.Annotations[CordonAnnotation] {
		return Uncordon{}, false
	}
	return Uncordon{Node: node.Name, UID: node.UID}, true
}

// unseen is how long after its request a cordon may be missing from what is observed:
// until then it is unknown whether it was lifted, or the observation is older.
const unseen = 30 * time.Minute

// lately reports whether the drain cordoned a node recently, by the mark, or has
// requested it; and until when that counts.
func (s *Progress) lately(node *Node, now time.Time) (until time.Time, is bool) {
	if s.Cordoned == "" || s.Cordoned != node.UID {
		return until, false
	}
	at, err := time.Parse(time.RFC3339Nano, s.CordonMark)
	until = fairlead.Past(at, now).Add(unseen)
	return until, err == nil && now.Before(until)
}

// survey classifies the pods of the node and returns those that are not skipped, by
// namespace, name and UID.
func (f *filter) survey(dst []sighting) []sighting {
	for i := range f.view.Pods {
		p := &f.view.Pods[i]
		if p.Spec.NodeName != f.view.Node.Name {
			continue
		}
		if s := f.judge(p); !s.gone() {
			dst = append(dst, s)
		}
	}
	byPod(dst)
	return dst
}

// byPod puts sightings in the order of namespace, name and UID.
func byPod(seen []sighting) {
	compare := func(a, b sighting) int { return comparePods(a.pod, b.pod) }
	if !slices.IsSortedFunc(seen, compare) {
		slices.SortFunc(seen, compare)
	}
}

func comparePods(a, b *Pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
}

// reserve takes into account evictions that were requested and are not seen yet,
// which come before new ones.
func (d *drainer) reserve(seen []sighting) {
	order := lowest(seen)
	for i := range seen {
		if s := &seen[i]; s.order == order && s.fate == FateEvict && s.pod.DeletionTimestamp == nil {
			if _, _, unseen := d.last(s.pod); unseen {
				d.ledger.reserve(s.pod)
			}
		}
	}
}

// turn goes through the pods in turn.
func (d *drainer) turn(seen []sighting) {
	if d.done = len(seen) == 0; d.done {
		d.waits = waitList{Unchanged: fairlead.Unchanged[Wait]{Old: d.old.Waits}}
	}
	order := lowest(seen)
	later := 0
	for i := range seen {
		s := &seen[i]
		switch {
		case s.order != order:
			later++
		case s.pod.DeletionTimestamp != nil && s.pod.UID != "": // it will be gone in any case
			d.terminating(s.pod)
		case s.fate == FateRefuse:
			d.refused(s)
		case s.fate == FateWait:
			d.waits.add(Wait{Reason: ReasonPodRuns, Name: d.enter(s.pod).Pod, Owner: controllerName(s.pod)})
		case d.returned(s.pod):
			d.trouble = true
			d.waits.add(Wait{Reason: ReasonPodReturns, Name: d.enter(s.pod).Pod, Owner: controllerName(s.pod)})
		default:
			d.evict(s.pod)
		}
	}
	if later > 0 {
		d.waits.add(Wait{Reason: ReasonLaterOrder, Name: d.view.Node.Name, Detail: strconv.Itoa(later) + " of them"})
	}
	d.new.Pods = d.pods.All()
}

// returned reports whether a pod came to the node although it is cordoned, because it
// tolerates that: another one would come after its eviction, without end.
func (d *drainer) returned(p *Pod) bool {
	if len(p.Spec.Tolerations) == 0 || p.ControllerOf() == nil || p.Finished() {
		return false
	}
	cordon := fairlead.Taint{Key: unschedulableTaint, Effect: fairlead.NoSchedule}
	if object.FirstMatch(p.Spec.Tolerations, &cordon, false) < 0 {
		return false
	}
	since, err := time.Parse(time.RFC3339Nano, d.old.CordonMark)
	if err != nil || d.view.Node.Annotations[CordonAnnotation] != d.old.CordonMark {
		since = time.Time{}
		for i := range d.view.Node.Spec.Taints {
			if t := &d.view.Node.Spec.Taints[i]; t.Key == unschedulableTaint && t.TimeAdded != nil {
				since = *t.TimeAdded
			}
		}
	}
	return !since.IsZero() && p.CreationTimestamp.After(since)
}

// lowest returns the lowest order of pods that are there.
func lowest(seen []sighting) int32 {
	order := int32(math.MaxInt32)
	for i := range seen {
		order = min(order, seen[i].order)
	}
	return order
}

// refused reports a pod that the policy keeps.
func (d *drainer) refused(s *sighting) {
	d.trouble = true
	e := PodProgress{Pod: s.pod.String()}
	if s.pod.UID != "" {
		e = d.enter(s.pod)
	}
	for i := range findings {
		if s.found&(1<<i) != 0 && s.fateOf(i) == FateRefuse {
			reason := ReasonPodProtected
			if findings[i].Filter == FilterInvalid {
				reason = ReasonPodInvalid
			}
			d.waits.add(Wait{Reason: reason, Name: e.Pod, Owner: controllerName(s.pod), Detail: s.reason(i).Text})
			return
		}
	}
}

// terminating waits for a pod that is being deleted.
func (d *drainer) terminating(p *Pod) {
	e := d.enter(p)
	w := Wait{Reason: ReasonPodTerminating, Name: e.Pod, Owner: "kubelet"}
	if left, bounded := d.left(p); bounded {
		d.at(d.now.Add(left))
	}
	if p.DeletionTimestamp.After(d.now) {
		d.at(*p.DeletionTimestamp)
	} else {
		w.Detail = "its grace period is over, but its node does not report that it has ended"
		switch {
		case Unreachable(d.view.Node):
			w.Reason, w.Detail = ReasonPodStranded, ""
		case len(p.Finalizers) > 0:
			w.Owner, w.Detail = p.Finalizers[0], "its grace period is over, but its finalizer blocks it"
		}
		d.trouble = true
	}
	d.waits.add(w)
}

// enter remembers a pod in turn, and returns what is known about it.
func (d *drainer) enter(p *Pod) PodProgress {
	e := d.known(p)
	d.pods.Add(e)
	return e
}

// known returns what is remembered of a pod, with times corrected.
func (d *drainer) known(p *Pod) PodProgress {
	if old := d.pods.find(p.UID); old != nil {
		e := *old
		e.Since, e.Asked = fairlead.Past(e.Since, d.now), fairlead.Past(e.Asked, d.now)
		return e
	}
	return PodProgress{Pod: p.String(), UID: p.UID, Since: d.now}
}

// due returns when an attempt may follow the last.
func (d *drainer) due(uid string, asked time.Time, attempts int, retryAfter time.Duration) time.Time {
	if attempts == 0 {
		return time.Time{}
	}
	return asked.Add(max(d.policy.backoff(uid, attempts), retryAfter))
}

// at requests a Step at a time.
func (d *drainer) at(t time.Time) {
	if d.wake.IsZero() || t.Before(d.wake) {
		d.wake = t
	}
}

// failure returns the outcome of the last attempt at an action if it failed, or nil.
func failure(outcomes []fairlead.Outcome, k fairlead.Key) *fairlead.Outcome {
	for i := range outcomes {
		if outcomes[i].Key == k && outcomes[i].Failed {
			return &outcomes[i]
		}
	}
	return nil
}

// controllerName names the controller of a pod, or "".
func controllerName(p *Pod) string {
	if c := p.ControllerOf(); c != nil {
		return c.Name
	}
	return ""
}

// podList collects what is remembered about pods.
type podList struct {
	fairlead.Unchanged[PodProgress]     // its Old is that of the previous Step
	last                            int // where the last one was found
}

// find returns what was remembered about a pod, or nil. It starts after the one found
// last, because both lists are in the order of pods.
func (l *podList) find(uid string) *PodProgress {
	for i := range l.Old {
		j := (l.last + i) % len(l.Old)
		if l.Old[j].UID == uid {
			l.last = j
			return &l.Old[j]
		}
	}
	return nil
}
