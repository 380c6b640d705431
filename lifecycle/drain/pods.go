package drain

import (
	"cmp"
	"encoding/json"
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
	// Pending has the waits of the drain, in order of discovery, and the attempts at
	// the node and at pods whose effect is not yet visible. It is empty in an engine
	// that uses [With].
	fairlead.Pending
}

// IsZero reports whether nothing is remembered.
func (s Progress) IsZero() bool { return s.Cordoned == "" && s.CordonMark == "" && s.Pending.IsZero() }

// UpgradeProgress reads the progress of a drain as states of version 1 of this package,
// and of versions 1 and 2 of those that use it, have it. It is as it was, except that it
// is forgotten how attempts failed.
func UpgradeProgress(data []byte) (Progress, error) {
	var old struct {
		Cordoned       string    `json:"cordoned"`
		CordonMark     string    `json:"cordonMark"`
		CordonAsked    time.Time `json:"cordonAsked"`
		CordonAttempts int       `json:"cordonAttempts"`
		Pods           []struct {
			UID      string    `json:"uid"`
			Since    time.Time `json:"since"`
			Asked    time.Time `json:"asked"`
			Attempts int       `json:"attempts"`
		} `json:"pods"`
		Waits json.RawMessage `json:"waits"`
	}
	if len(data) == 0 {
		return Progress{}, nil
	}
	if err := json.Unmarshal(data, &old); err != nil {
		return Progress{}, err
	}
	p := Progress{Cordoned: old.Cordoned, CordonMark: old.CordonMark}
	if old.CordonAttempts > 0 {
		p.Retries = append(p.Retries, fairlead.Retry{Key: Cordon{UID: old.Cordoned}.Key(), Attempts: old.CordonAttempts, Since: old.CordonAsked, Last: old.CordonAsked})
	}
	for _, pod := range old.Pods {
		if pod.Attempts > 0 {
			p.Retries = append(p.Retries, fairlead.Retry{Key: fairlead.Key{Kind: kindEvict, ID: pod.UID}, Attempts: pod.Attempts, Since: pod.Since, Last: pod.Asked})
		}
	}
	var err error
	p.Waits, err = upgradeWaits(old.Waits)
	return p, err
}

// upgradeWaits reads waits that name a node instead of their subject.
func upgradeWaits(data []byte) ([]fairlead.Block, error) {
	var all []struct {
		Node string `json:"node"`
		fairlead.Block
	}
	if len(data) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	waits := make([]fairlead.Block, len(all))
	for i, w := range all {
		waits[i] = w.Block
		waits[i].Subject = "node " + w.Node
	}
	return waits, nil
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
	fairlead.Ledger                  // of the engine, for as long as this node is decided about
	backoff         fairlead.Backoff // of attempts at the node and its pods
	first, last     int              // the indices of the Blocks of this node: from, up to
	from, to        int              // the same of its pods among the surveyed
	old, new        Progress         // without what the Ledger has
	subject         string
	labels          map[string]string
	disruptions     disruptions
	grace           *int64
	actions         []Action
	asked           int  // evictions of this call
	done            bool // nothing is left to remove
	trouble         bool
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
	return Together([]Draining{{Progress: progress, View: view, Labels: labels}}, now, policy)[0]
}

// begin prepares to decide about a node.
func begin(l fairlead.Ledger, n *Draining, policy *Policy) drainer {
	return drainer{
		filter: filter{policy: policy, view: n.View, now: l.Now()}, Ledger: l, backoff: policy.backoff(), labels: n.Labels,
		old: Progress{Cordoned: n.Progress.Cordoned, CordonMark: n.Progress.CordonMark}, subject: n.Subject, disruptions: disruptions{budgets: n.View.Budgets},
	}
}

// decision completes the decision, but for what the Ledger has.
func (d *drainer) decision() NodeDecision {
	decision := NodeDecision{Progress: d.new, Actions: d.actions, Done: d.done}
	if d.trouble {
		decision.Failure = trouble(d.Blocked()[d.first:d.last])
	}
	return decision
}

// wait says why the drain does not proceed, and returns since when.
func (d *drainer) wait(w fairlead.Block) time.Time {
	if w.Subject = d.subject; w.Subject == "" {
		var space [64]byte
		w.Subject = d.Text(append(append(space[:0], "node "...), d.view.Node.Name...))
	}
	return d.Block(w)
}

// name returns the namespace and name of a pod.
func (d *drainer) name(p *Pod) string {
	var space [128]byte
	b := space[:0]
	if p.Namespace != "" {
		b = append(append(b, p.Namespace...), '/')
	}
	return d.Text(append(b, p.Name...))
}

// cordon requests to cordon the node, and forgets earlier attempts at pods.
func (d *drainer) cordon() {
	node := d.view.Node
	d.new.Cordoned, d.new.CordonMark = node.UID, d.old.CordonMark
	lifted := node.Annotations[CordonAnnotation] == d.old.CordonMark // it was cordoned, and somebody has uncordoned it
	if _, lately := d.old.lately(node, d.now); lifted || !lately {
		d.new.CordonMark = d.now.UTC().Format(time.RFC3339Nano)
	}
	action := Cordon{Node: node.Name, UID: node.UID, Mark: d.new.CordonMark}
	wait := fairlead.Block{Reason: ReasonNotCordoned, Name: node.Name}
	if o := d.Outcome(action.Key()); o != nil && o.Failed {
		wait.Detail, d.trouble = o.Message, true
	}
	d.wait(wait)
	if d.DueWith(action.Key(), d.backoff) {
		d.actions = append(d.actions, action)
	}
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

// survey classifies the pods of the node and appends those that are not skipped, by
// namespace, name and UID; none if they cannot be examined, because the policy is
// invalid or the node is not cordoned.
func (d *drainer) survey(dst []sighting) []sighting {
	if !d.policy.sound() || !d.view.Node.Spec.Unschedulable {
		return dst
	}
	d.filter = newFilter(d.policy, d.view, d.labels, d.now)
	d.grace = d.policy.grace(d.view)
	return d.filter.survey(dst)
}

// survey is that of the drainer for a node that is drained.
func (f *filter) survey(dst []sighting) []sighting {
	from := len(dst)
	for i := range f.view.Pods {
		p := &f.view.Pods[i]
		if p.Spec.NodeName != f.view.Node.Name {
			continue
		}
		if s := f.judge(p); !s.gone() {
			dst = append(dst, s)
		}
	}
	byPod(dst[from:])
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
		if s := &seen[i]; s.order == order && s.fate == FateEvict && s.pod.DeletionTimestamp == nil && d.Awaited(d.key(s.pod), d.backoff) {
			d.disruptions.reserve(s.pod)
		}
	}
}

// turn decides about the node and the pods in turn.
func (d *drainer) turn(seen []sighting) {
	d.first = len(d.Blocked())
	defer func() { d.last = len(d.Blocked()) }()
	node := d.view.Node
	if !d.policy.sound() {
		d.wait(fairlead.Block{Reason: ReasonPolicyInvalid, Name: node.Name, Detail: d.policy.problem()})
		d.KeepAll()
		d.new, d.trouble = d.old, true
		return
	}
	d.new = Progress{Cordoned: d.old.Cordoned, CordonMark: d.old.CordonMark}
	if d.done = node.Spec.Unschedulable && len(seen) == 0; d.done {
		return
	}
	if since, silent := Silence(node); silent && !d.view.Stopped {
		d.wait(fairlead.Block{Reason: ReasonNodeSilent, Name: node.Name, Owner: "kubelet", Since: since})
	}
	if !node.Spec.Unschedulable {
		d.cordon()
		return
	}
	order := lowest(seen)
	later := 0
	for i := range seen {
		if seen[i].order == order {
			d.pod(&seen[i])
		} else {
			later++
		}
	}
	if later > 0 {
		var space [32]byte
		of := d.Text(append(strconv.AppendInt(space[:0], int64(later), 10), " of them"...))
		d.wait(fairlead.Block{Reason: ReasonLaterOrder, Name: node.Name, Detail: of})
	}
}

// pod decides about a pod in turn.
func (d *drainer) pod(s *sighting) {
	switch {
	case s.pod.DeletionTimestamp != nil && s.pod.UID != "": // it will be gone in any case
		d.terminating(s.pod)
	case s.fate == FateRefuse:
		d.refused(s)
	case s.fate == FateWait:
		d.wait(fairlead.Block{Reason: ReasonPodRuns, Name: d.name(s.pod), Owner: controllerName(s.pod)})
	case d.returned(s.pod):
		d.trouble = true
		d.wait(fairlead.Block{Reason: ReasonPodReturns, Name: d.name(s.pod), Owner: controllerName(s.pod)})
	default:
		d.evict(s.pod)
	}
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
	for i := range findings {
		if s.found&(1<<i) != 0 && s.fateOf(i) == FateRefuse {
			reason := ReasonPodProtected
			if findings[i].Filter == FilterInvalid {
				reason = ReasonPodInvalid
			}
			d.wait(fairlead.Block{Reason: reason, Name: d.name(s.pod), Owner: controllerName(s.pod), Detail: s.reason(i).Text})
			return
		}
	}
}

// terminating waits for a pod that is being deleted.
func (d *drainer) terminating(p *Pod) {
	w := fairlead.Block{Reason: ReasonPodTerminating, Name: d.name(p), Owner: "kubelet"}
	if left, bounded := d.left(p); bounded {
		d.At(d.now.Add(left))
	}
	if p.DeletionTimestamp.After(d.now) {
		d.At(*p.DeletionTimestamp)
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
	d.wait(w)
}

// controllerName names the controller of a pod, or "".
func controllerName(p *Pod) string {
	if c := p.ControllerOf(); c != nil {
		return c.Name
	}
	return ""
}
