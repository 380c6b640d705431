package lifecycle

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// The messages of the condition Drained when it is True.
const (
	drainedWell    = "Drain finished successfully"
	drainedSkipped = "Node drain skipped"
)

// delete advances a deletion as far as possible now.
func (s *stepper) delete() {
	s.lookUp()
	// One that is being deleted has a finalizer; without any the world does not list them.
	if f := s.Machine.Finalizers; len(f) > 0 && !slices.Contains(f, s.policy.finalizer(s.Machine)) {
		s.released()
		return
	}
	if s.State.Stage == "" {
		s.begin()
	}
	s.drainAgain()
	if s.State.since(s.State.Stage).IsZero() { // it was held up until now
		s.enter(s.State.Stage)
	}
	for s.stage() {
		s.enter(stages[s.State.Stage.rank()+1])
	}
}

// released ends a deletion whose finalizer is gone: the engine has removed it, or
// somebody else has, who wants to keep what is left. Nothing more is done about the
// machine.
func (s *stepper) released() {
	if stage := s.State.Stage; stage != "" && stage != StageFinalize && stage != StageDone {
		s.note("FinalizerRemoved", "somebody has removed the finalizer in stage "+string(stage)+": nothing more is done, and what is left of the machine stays")
	}
	if s.State.Stage != StageDone {
		s.enter(StageDone)
	}
	s.others()
}

// foreignNode says on which instance the node runs that the machine names.
func (s *stepper) foreignNode() string {
	var space [256]byte
	b := append(append(space[:0], "it runs on instance "...), s.Node.Spec.ProviderID...)
	return s.ledger.Text(append(append(b, ", and the machine is "...), s.Machine.Spec.ProviderID...))
}

// begin enters the first stage. If the machine reports that it is drained,
// somebody else did that, or the state was lost: then it continues after the
// drain, unless its node takes pods, which was then not drained.
func (s *stepper) begin() {
	s.fresh = true
	s.abandoned()
	first := StagePreDrain
	if DrainReported(s.Machine) && (s.skipped() != "" || s.Node.Spec.Unschedulable) {
		first = StageVolumes
		if !startReported(s.Machine, StagePreTerminate).IsZero() {
			first = StagePreTerminate
		}
		s.drained(drainedWell)
		if c := FindCondition(s.Machine.Status.Conditions, ConditionDrained); c != nil && c.Message != "" {
			s.State.Drained = c.Message
		}
	}
	s.enter(first)
}

// enter begins a stage. If the state is new, it may have begun under another controller.
func (s *stepper) enter(stage Stage) {
	at := s.now
	if began := startReported(s.Machine, stage); s.fresh && !began.IsZero() && began.Before(at) {
		at = began
	}
	s.State.Stage = stage
	s.State.Began = append(s.State.before(stage), Beginning{stage, at})
}

// hold restarts the time of the stage after what holds it up.
func (s *stepper) hold() {
	if !s.State.since(s.State.Stage).IsZero() {
		s.State.Began = s.State.before(s.State.Stage)
	}
}

// drained ends the drain, with the message for the condition.
func (s *stepper) drained(how string) {
	s.State.Drained, s.State.DrainedNode = how, ""
	if s.node == own || s.node == doubtful {
		s.State.DrainedNode = s.Node.UID
	}
}

// drainAgain goes back to the drain if the machine has a node that was not
// drained: it joined late, was registered again, or takes pods again because
// somebody uncordoned it.
func (s *stepper) drainAgain() {
	if s.node != own && s.node != doubtful || !s.State.Stage.Past(StageDrain) || s.State.Stage.Past(StageTerminate) || s.skipped() != "" {
		return
	}
	var why string
	switch {
	case s.Node.UID != s.State.DrainedNode:
		why = "it was created after the drain"
	case s.State.Drained == drainedWell && !s.Node.Spec.Unschedulable:
		why = "somebody has uncordoned it"
	default:
		return
	}
	s.note("DrainAgain", "node "+s.Node.Name+" is drained: "+why)
	s.State.Drained, s.State.DrainedNode, s.State.Drain = "", "", drain.Progress{}
	s.enter(StageDrain)
}

// stage does the work of the stage, and reports whether it is over.
func (s *stepper) stage() (over bool) {
	switch s.State.Stage {
	case StagePreDrain:
		return s.preDrain()
	case StageDrain:
		return s.drain()
	case StageVolumes:
		return s.volumes()
	case StagePreTerminate:
		return s.hooks(PreTerminate)
	case StageTerminate:
		return s.terminate()
	case StageDeleteNode:
		return s.deleteNode()
	case StageFinalize:
		return s.finalize()
	case StageDone:
		s.others()
	}
	return false
}

// elapsed returns for how long the machine is in its stage.
func (s *stepper) elapsed() time.Duration {
	return max(0, s.now.Sub(s.State.since(s.State.Stage)))
}

// expired reports whether the stage takes longer than allowed; zero means no
// limit.
func (s *stepper) expired(limit time.Duration) bool {
	if limit <= 0 {
		return false
	}
	left := limit - s.elapsed()
	if left > 0 {
		s.ledger.At(s.now.Add(left))
	}
	return left <= 0
}

// leave says why the node of the machine must be left alone because of its
// cluster; empty if it must not.
func (s *stepper) leave() string {
	c := s.Cluster
	switch {
	case c == nil:
	case c.Deleting:
		return "the cluster is being deleted"
	case c.ControlPlaneDeleting:
		return "the control plane is being deleted"
	case !c.ExternalControlPlane && c.ControlPlanes == 0:
		return "no other machine of the control plane is left"
	}
	return ""
}

// preDrain waits for the hooks before the drain.
func (s *stepper) preDrain() bool {
	if len(s.Machine.Spec.LifecycleHooks.PreDrain) > 0 {
		if why := s.bypassed(); why != "" {
			s.note("DrainHooksBypassed", "preDrain hooks are ignored: "+why)
		}
	}
	return s.drainHooks() && s.admitted()
}

// bypassed says why the policy ignores preDrain hooks; empty if it does not.
func (s *stepper) bypassed() string {
	switch {
	case !s.policy.ExcludedSkipsHooks:
	case s.Machine.DrainExcluded():
		return "the machine has annotation " + s.Machine.excludeDrain()
	case s.node == absent && s.Machine.Status.NodeRef == nil:
		return "the machine has no node"
	}
	return ""
}

// drainHooks reports whether no hook prevents the drain.
func (s *stepper) drainHooks() bool {
	return s.bypassed() != "" || s.hooks(PreDrain)
}

// skipped says why there is nothing to drain; empty if there is.
func (s *stepper) skipped() string {
	switch {
	case s.Machine.DrainExcluded():
		return "the machine is excluded from draining"
	case s.node == absent && s.Machine.Status.NodeRef == nil && s.State.Node == nil:
		return "the machine has no node"
	case s.leave() != "":
		return s.leave()
	case s.node == absent:
		return "the node is gone"
	case s.instanceGone():
		return "the instance is gone"
	}
	return ""
}

// drain empties the node. A hook that is set meanwhile comes first, and the time
// of the drain restarts after it.
func (s *stepper) drain() bool {
	if !s.drainHooks() {
		s.hold()
		return false
	}
	if why := s.skipped(); why != "" {
		s.drained(drainedSkipped + ": " + why)
		s.event("Normal", "DrainSkipped", s.State.Drained)
		return true
	}
	if s.expired(limit(s.deletion().NodeDrainTimeoutSeconds, s.policy.DrainTimeout)) {
		s.note("DrainTimeout", "the drain has exceeded its timeout, and is abandoned")
		s.drained(drainedSkipped + ": the drain exceeded its timeout")
		return true
	}
	switch s.node {
	case foreign:
		s.wait(fairlead.Block{Reason: ReasonForeignNode, Name: s.Node.Name, Field: s.Machine.excludeDrain(), Detail: s.foreignNode()})
		return false
	case doubtful:
		s.wait(fairlead.Block{Reason: ReasonDoubtfulNode, Name: s.Node.Name, Field: s.Machine.excludeDrain()})
		return false
	}
	if !s.told() {
		return false
	}
	d := drain.With(&s.ledger, []drain.Draining{{Progress: s.State.Drain, View: &s.View, Labels: s.Machine.Labels, Subject: s.subject()}}, &s.policy.Drain)[0]
	s.State.Drain, s.failure = d.Progress, d.Failure
	for _, a := range d.Actions {
		s.do(a)
	}
	if d.Done {
		s.failure = ""
		s.drained(drainedWell)
		s.event("Normal", "DrainSucceeded", drainedWell)
	}
	return d.Done
}

func (s *stepper) deletion() *MachineDeletion {
	if s.Machine.Spec.Deletion == nil {
		return &unbounded
	}
	return s.Machine.Spec.Deletion
}

// unbounded is used for a machine without limits. Nothing changes it.
var unbounded MachineDeletion

// terminate deletes the instance, and then the bootstrap configuration. If a
// provider's object stands for the instance, it is deleted instead; if the cloud
// is also asked, its answer counts as well.
func (s *stepper) terminate() bool {
	infrastructure, configuration := s.infrastructure(), s.configuration()
	if infrastructure != nil && !s.remove(infrastructure, true) {
		return false
	}
	if (infrastructure == nil || s.Instance != "") && !s.deleteInstance() {
		return false
	}
	return configuration == nil || s.remove(configuration, false)
}

func (s *stepper) deleteInstance() (gone bool) {
	key := keyDeleteInstance
	switch s.Instance {
	case InstanceGone:
		return true
	case InstanceExists:
	default:
		s.ledger.Keep(key)
		s.wait(fairlead.Block{Reason: ReasonInstanceUnknown})
		s.ledger.At(s.now.Add(s.policy.longest().After(1)))
		return false
	}
	if s.guarded(key) {
		return false
	}
	backoff := s.policy.longest() // a cloud that has accepted a request is left alone for longer
	if s.refused(key) {
		backoff = s.policy.backoff()
	}
	if s.ledger.DueWith(key, backoff) {
		s.do(DeleteInstance{ProviderID: s.Machine.Spec.ProviderID})
	}
	s.attempted(fairlead.Block{Reason: ReasonInstanceGoing}, key)
	return false
}

// deleteNode removes the node object, if it is the machine's own.
func (s *stepper) deleteNode() bool {
	switch s.node {
	case absent:
		return true
	case doubtful:
		s.note("DoubtfulNode", "node "+s.Node.Name+" is left alone: it is not the one that status.nodeRef names, and nothing says that it is the machine's")
		return true
	case foreign:
		s.note("ForeignNode", "node "+s.Node.Name+" is left alone: it belongs to another machine")
		return true
	}
	if why := s.leave(); why != "" {
		s.event("Normal", "NodeKept", "node "+s.Node.Name+" is left alone: "+why)
		return true
	}
	if s.expired(limit(s.deletion().NodeDeletionTimeoutSeconds, s.policy.NodeDeletionTimeout)) {
		s.note("NodeDeletionTimeout", "node "+s.Node.Name+" could not be removed in time, and is left behind")
		return true
	}
	key := DeleteNode{UID: s.Node.UID}.Key()
	if s.ledger.Due(key) {
		s.do(DeleteNode{Name: s.Node.Name, UID: s.Node.UID})
	}
	s.attempted(fairlead.Block{Reason: ReasonNodeGoing, Name: s.Node.Name}, key)
	return false
}

// finalize removes the finalizer.
func (s *stepper) finalize() bool {
	name := s.policy.finalizer(s.Machine)
	if !slices.Contains(s.Machine.Finalizers, name) {
		return true
	}
	key := RemoveFinalizer{name}.Key()
	if s.ledger.Due(key) {
		s.do(RemoveFinalizer{Finalizer: name})
	}
	s.attempted(fairlead.Block{Reason: ReasonFinalizer, Name: name}, key)
	return false
}

// others names the finalizers that keep the machine although everything is done.
func (s *stepper) others() {
	for _, f := range s.Machine.Finalizers {
		s.wait(fairlead.Block{Reason: ReasonOtherFinalizer, Name: f})
	}
}
