package drain

import (
	"slices"
	"strings"
	"time"
)

// MirrorAnnotation marks the mirror of a static pod, which the kubelet runs
// regardless of the API.
const MirrorAnnotation = "kubernetes.io/config.mirror"

// Fate is what a drain does with a pod.
type Fate string

// The fates.
const (
	FateEvict  Fate = "Evict"         // evicts it, when it is its turn
	FateSkip   Fate = "Skip"          // leaves it alone, and does not wait for it
	FateWait   Fate = "WaitCompleted" // waits until it has completed
	FateRefuse Fate = "Refuse"        // leaves it alone, and does not complete while it is there
)

// Filter classifies pods before a drain. Each filter checks every pod.
type Filter string

// The filters, in order of precedence: the first with another result than Evict
// decides; the results of the others are kept with it.
const (
	FilterInvalid      Filter = "Invalid"      // it has no UID, so another pod could be mistaken for it: refused
	FilterTerminating  Filter = "Terminating"  // it has been past its deletion for longer than the policy waits: skipped
	FilterDaemonSet    Filter = "DaemonSet"    // a DaemonSet would recreate it at once: skipped, or refused
	FilterMirror       Filter = "Mirror"       // the mirror of a static pod: skipped
	FilterLocalStorage Filter = "LocalStorage" // it has data in an emptyDir, which is lost with it: reported, or refused
	FilterUnmanaged    Filter = "Unmanaged"    // no controller replaces it: reported, or refused
	FilterOwn          Filter = "Own"          // the result in View.Own
	FilterLabel        Filter = "Label"        // its label Label: skipped, or waited for
	FilterRule         Filter = "Rule"         // the first rule that applies
)

// OwnFate is the result of your own filter for a pod.
type OwnFate struct {
	UID  string `json:"uid"`           // the pod's
	Fate Fate   `json:"fate"`          // empty if it has nothing to say
	Why  string `json:"why,omitempty"` // for people
}

// PodReason is the result of one filter for a pod.
type PodReason struct {
	Filter Filter `json:"filter"`         // which
	Fate   Fate   `json:"fate"`           // its result; Evict if it only reports something
	Text   string `json:"text"`           // in words
	Rule   string `json:"rule,omitempty"` // the name of the rule, if it was one
}

// finding is one fact about a pod, as a bit of a set, so that classifying a pod
// allocates nothing. They are in the order of the filters.
type finding uint32

const (
	foundNoUID finding = 1 << iota
	foundTerminating
	foundDaemonSetFinished
	foundDaemonSetGone
	foundDaemonSetGoneRefused
	foundDaemonSet
	foundDaemonSetRefused
	foundMirror
	foundLocalFinished
	foundLocal
	foundLocalRefused
	foundUnmanagedFinished
	foundUnmanaged
	foundUnmanagedRefused
	foundOwn
	foundLabelSkip
	foundLabelWait
	foundRule
	foundRuleNamespace
)

// findings has, in the order of their bits, what each means.
var findings = [...]PodReason{
	{FilterInvalid, FateRefuse, "metadata.uid is empty, so another pod of its name could be mistaken for it", ""},
	{FilterTerminating, FateSkip, "it should have ended long ago, so the drain does not wait for it", ""},
	{FilterDaemonSet, FateEvict, "it belongs to a DaemonSet, and has completed", ""},
	{FilterDaemonSet, FateEvict, "it belongs to a DaemonSet that is gone", ""},
	{FilterDaemonSet, FateRefuse, "it belongs to a DaemonSet that is gone, and the policy keeps unmanaged pods", ""},
	{FilterDaemonSet, FateSkip, "its DaemonSet would recreate it at once", ""},
	{FilterDaemonSet, FateRefuse, "it belongs to a DaemonSet, and the policy refuses such pods", ""},
	{FilterMirror, FateSkip, "it is the mirror of a static pod, which the node runs by itself", ""},
	{FilterLocalStorage, FateEvict, "it has an emptyDir, and has completed", ""},
	{FilterLocalStorage, FateEvict, "an eviction removes the data in its emptyDir", ""},
	{FilterLocalStorage, FateRefuse, "it has data in an emptyDir, and the policy keeps local storage", ""},
	{FilterUnmanaged, FateEvict, "no controller replaces it, and it has completed", ""},
	{FilterUnmanaged, FateEvict, "no controller replaces it", ""},
	{FilterUnmanaged, FateRefuse, "no controller replaces it, and the policy keeps unmanaged pods", ""},
	{FilterOwn, "", "", ""}, // in the sighting
	{FilterLabel, FateSkip, "its label " + Label + " says skip", ""},
	{FilterLabel, FateWait, "its label " + Label + " says wait-completed", ""},
	{FilterRule, "", "", ""}, // in the sighting
	{FilterRule, FateRefuse, "a rule depends on the labels of its namespace, which are unknown", ""},
}

// sighting is a pod with what the filters found.
type sighting struct {
	pod   *Pod
	fate  Fate
	order int32
	found finding
	rule  *Rule  // that applies, or nil
	own   Fate   // what View.Own says
	why   string // and why
}

// filter classifies pods by a policy.
type filter struct {
	policy   *Policy
	view     *View
	now      time.Time
	patience int64   // seconds after which pods past their deletion are ignored; 0 is never
	rules    []*Rule // those for the machine, by name
}

// newFilter returns the filter for the node of view, whose machine has these
// labels.
func newFilter(policy *Policy, view *View, machine map[string]string, now time.Time) filter {
	f := filter{policy: policy, view: view, now: now, patience: policy.SkipWaitForDeleteTimeoutSeconds}
	if Unreachable(view.Node) {
		f.patience = policy.unreachablePatience()
	}
	for i := range policy.Rules {
		if r := &policy.Rules[i]; r.forMachine(machine, view.ClusterLabels) {
			f.rules = append(f.rules, r)
		}
	}
	slices.SortStableFunc(f.rules, func(a, b *Rule) int { return strings.Compare(a.Name, b.Name) })
	return f
}

// judge runs all filters on a pod.
func (f *filter) judge(p *Pod) sighting {
	s := sighting{pod: p}
	if p.UID == "" {
		s.found |= foundNoUID
	}
	if left, bounded := f.left(p); bounded && left <= 0 {
		s.found |= foundTerminating
	}
	s.found |= f.daemonSet(p)
	if _, mirror := p.Annotations[MirrorAnnotation]; mirror {
		s.found |= foundMirror
	}
	if slices.ContainsFunc(p.Spec.Volumes, func(v Volume) bool { return v.EmptyDir != nil }) {
		s.found |= choose(p, f.policy.KeepLocalStorage, foundLocalFinished, foundLocal, foundLocalRefused)
	}
	if p.ControllerOf() == nil {
		s.found |= choose(p, f.policy.KeepUnmanaged, foundUnmanagedFinished, foundUnmanaged, foundUnmanagedRefused)
	}
	for i := range f.view.Own {
		if o := &f.view.Own[i]; o.UID == p.UID && o.Fate != "" {
			s.own, s.why = o.Fate, o.Why
			s.found |= foundOwn
		}
	}
	f.byRule(&s)
	s.decide()
	return s
}

// choose returns the finding about a pod with something that a policy may keep.
func choose(p *Pod, keep bool, finished, told, refused finding) finding {
	switch {
	case p.Finished():
		return finished
	case keep:
		return refused
	}
	return told
}

// left returns how much longer the drain waits for a pod that is being deleted,
// and whether that is limited. Its deletion timestamp includes its grace
// period, and whole seconds count, as in kubectl.
func (f *filter) left(p *Pod) (left time.Duration, bounded bool) {
	if f.patience <= 0 || p.DeletionTimestamp == nil {
		return 0, false
	}
	return p.DeletionTimestamp.Add(seconds(f.patience + 1)).Sub(f.now), true
}

// daemonSet looks at the DaemonSet of a pod, if it belongs to one.
func (f *filter) daemonSet(p *Pod) finding {
	c := p.ControllerOf()
	if c == nil || c.Kind != "DaemonSet" {
		return 0
	}
	if group, _, grouped := strings.Cut(c.APIVersion, "/"); grouped && group != "apps" && group != "extensions" {
		return 0
	}
	switch {
	case p.Finished():
		return foundDaemonSetFinished
	case f.view.DaemonSetsListed && !slices.ContainsFunc(f.view.DaemonSets, func(d ObjectMeta) bool {
		return d.Namespace == p.Namespace && d.Name == c.Name && (c.UID == "" || d.UID == "" || c.UID == d.UID)
	}):
		if f.policy.KeepUnmanaged {
			return foundDaemonSetGoneRefused
		}
		return foundDaemonSetGone
	case f.policy.RefuseDaemonSets:
		return foundDaemonSetRefused
	}
	return foundDaemonSet
}

// byRule checks the pod's label, then looks for the first rule that applies.
func (f *filter) byRule(s *sighting) {
	switch labelBehavior(s.pod) {
	case BehaviorSkip:
		s.found |= foundLabelSkip
	case BehaviorWaitCompleted:
		s.found |= foundLabelWait
	}
	for _, r := range f.rules {
		applies, unknown := r.forPod(s.pod, f.view.Namespaces)
		if unknown {
			s.found |= foundRuleNamespace
		}
		if applies || unknown {
			s.rule = r
			if applies {
				s.found |= foundRule
			}
			return
		}
	}
}

// decide sets fate and order: the first finding with another fate than Evict
// decides.
func (s *sighting) decide() {
	s.fate = FateEvict
	for i := range findings {
		if bit := finding(1) << i; s.found&bit != 0 {
			if fate := s.fateOf(i); fate != FateEvict {
				s.fate = fate
				break
			}
		}
	}
	if s.fate == FateSkip || s.fate == FateWait {
		return
	}
	if s.rule != nil && s.rule.Spec.Drain.Behavior == BehaviorDrain && s.rule.Spec.Drain.Order != nil {
		s.order = *s.rule.Spec.Drain.Order
	}
}

// fateOf returns the fate of the finding with bit i.
func (s *sighting) fateOf(i int) Fate {
	switch finding(1) << i {
	case foundOwn:
		return s.own
	case foundRule:
		return ruleFates[s.rule.Spec.Drain.Behavior]
	}
	return findings[i].Fate
}

// reason returns the reason for the finding with bit i.
func (s *sighting) reason(i int) PodReason {
	r := findings[i]
	r.Fate = s.fateOf(i)
	switch finding(1) << i {
	case foundOwn:
		r.Text = s.why
	case foundRule:
		r.Rule, r.Text = s.rule.Name, "rule "+s.rule.Name+" says "+string(s.rule.Spec.Drain.Behavior)
	case foundRuleNamespace:
		r.Rule = s.rule.Name
	}
	return r
}

// ruleFates has the fate that each behaviour means.
var ruleFates = map[Behavior]Fate{BehaviorDrain: FateEvict, BehaviorSkip: FateSkip, BehaviorWaitCompleted: FateWait}

// reasons returns the results of all filters, in their order.
func (s *sighting) reasons() []PodReason {
	var all []PodReason
	for i := range findings {
		if s.found&(1<<i) != 0 {
			all = append(all, s.reason(i))
		}
	}
	return all
}

// gone reports whether nothing is left to do for the pod.
func (s *sighting) gone() bool {
	return s.fate == FateSkip || s.fate == FateWait && s.pod.Finished()
}

// Left says which pods a drain leaves on its node.
type Left struct{ f filter }

// NewLeft returns the Left for a node's pods, by the same filters as [Pods].
// labels are those of the node's machine. A nil policy means the defaults.
func NewLeft(view *View, labels map[string]string, now time.Time, policy *Policy) Left {
	if policy == nil {
		policy = &Policy{}
	}
	return Left{newFilter(policy, view, labels, now)}
}

// Stays reports whether the drain leaves the pod on the node, and does not wait
// for it.
func (l *Left) Stays(p *Pod) bool {
	s := l.f.judge(p)
	return s.fate == FateSkip
}
