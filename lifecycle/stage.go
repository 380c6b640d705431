package lifecycle

import (
	"slices"
	"time"
)

// The words of the condition Drained when it is True.
const (
	drainedWell    = "Drain finished successfully"
	drainedSkipped = "Node drain skipped"
)

// delete takes a deletion as far as it goes now.
func (s *stepper) delete() {
	if s.state.Stage == "" {
		s.begin()
	}
	for s.stage() {
		s.enter(stages[s.state.Stage.rank()+1])
	}
}

// begin enters the first stage. A machine that says that it is drained was
// brought so far by somebody else, or its state was lost: it goes on behind the
// drain.
func (s *stepper) begin() {
	first := StagePreDrain
	if c := FindCondition(s.Machine.Status.Conditions, ConditionDrained); c != nil && c.Status == "True" {
		first = StageVolumes
		s.state.Drained = c.Message
		if c.Message == "" {
			s.state.Drained = drainedWell
		}
	}
	s.enter(first)
	if ref := s.Machine.Status.NodeRef; ref != nil {
		s.state.Node = &NodeRef{Kind: ref.Kind, Name: ref.Name, UID: ref.UID}
	} else if s.Node != nil && s.Node.Spec.ProviderID != "" && s.Node.Spec.ProviderID == s.Machine.Spec.ProviderID {
		s.state.Node = &NodeRef{Kind: "Node", Name: s.Node.Name, UID: s.Node.UID}
	}
}

func (s *stepper) enter(stage Stage) {
	s.state.Stage = stage
	s.state.Began = append(slices.Clone(s.state.Began), Beginning{stage, s.now})
}

// stage does what the stage asks for, and reports whether it is over.
func (s *stepper) stage() (over bool) {
	switch s.state.Stage {
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
	return max(0, s.now.Sub(s.state.since(s.state.Stage)))
}

// expired reports whether the stage takes longer than it may; zero means that
// it may take for ever.
func (s *stepper) expired(limit time.Duration) bool {
	if limit <= 0 {
		return false
	}
	left := limit - s.elapsed()
	if left > 0 {
		s.at(s.now.Add(left))
	}
	return left <= 0
}

// excluded reports whether the machine asks not to be drained.
func (s *stepper) excluded() bool {
	_, a := s.Machine.Annotations[ExcludeDrainAnnotation]
	_, b := s.Machine.Annotations[excludeDrainCAPI]
	return a || b
}

// leave says why the node of the machine is to be left alone because of its
// cluster; empty if it is not.
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

// ours says how the node that is observed stands to the machine.
func (s *stepper) ours() standing {
	switch n, ref := s.Node, s.state.Node; {
	case n == nil || ref == nil:
		return absent
	case ref.UID != "" && n.UID != ref.UID || n.Name != ref.Name:
		return absent // another node, made since
	case n.Spec.ProviderID != "" && s.Machine.Spec.ProviderID != "" && n.Spec.ProviderID != s.Machine.Spec.ProviderID:
		return foreign
	case ref.UID == "":
		s.state.Node = &NodeRef{Kind: ref.Kind, Name: ref.Name, UID: n.UID}
	}
	return own
}

// standing is how a node stands to a machine.
type standing int

const (
	absent  standing = iota // the machine has no node any more
	foreign                 // it has the name, and is another machine's
	own
)

// preDrain waits for the hooks before the drain.
func (s *stepper) preDrain() bool {
	if s.policy.ExcludedSkipsHooks && len(s.Machine.Spec.LifecycleHooks.PreDrain) > 0 {
		if s.excluded() {
			s.note("DrainHooksBypassed", "preDrain hooks are ignored: the machine has annotation "+ExcludeDrainAnnotation)
			return true
		}
		if s.state.Node == nil {
			s.note("DrainHooksBypassed", "preDrain hooks are ignored: the machine has no node")
			return true
		}
	}
	return s.hooks(PreDrain) && s.admitted()
}

// drain empties the node.
func (s *stepper) drain() bool {
	if s.state.Drained != "" {
		return true
	}
	node := s.ours()
	var why string
	switch {
	case s.excluded():
		why = "the machine is excluded from draining"
	case s.state.Node == nil:
		why = "the machine has no node"
	case s.leave() != "":
		why = s.leave()
	case node == absent:
		why = "the node is gone"
	case s.Instance == InstanceGone:
		why = "the instance is gone"
	case s.expired(limit(s.deletion().NodeDrainTimeoutSeconds, s.policy.DrainTimeout)):
		s.note("DrainTimeout", "the drain has taken longer than it may, and is given up")
		s.state.Drained = drainedSkipped + ": the drain took longer than it may"
		return true
	}
	if why != "" {
		s.state.Drained = drainedSkipped + ": " + why
		s.event("Normal", "DrainSkipped", s.state.Drained)
		return true
	}
	if node == foreign {
		s.waits.add(Wait{Reason: ReasonForeignNode, Name: s.Node.Name})
		return false
	}
	if late := !s.hooks(PreDrain); late || !s.told() {
		return false
	}
	waits := s.waits // a copy, so that a Step which does not come here keeps all on its stack
	d := drain(s.state.Drain, &s.DrainWorld, s.Machine.Labels, s.now, &s.policy.Drain, &waits)
	s.waits = waits
	s.state.Drain, s.failure = d.state, d.failure
	s.actions = append(s.actions, d.actions...)
	if !d.wake.IsZero() {
		s.at(d.wake)
	}
	if d.done {
		s.state.Drained, s.failure = drainedWell, ""
		s.event("Normal", "DrainSucceeded", drainedWell)
	}
	return d.done
}

func (s *stepper) deletion() *MachineDeletion {
	if s.Machine.Spec.Deletion == nil {
		return &unbounded
	}
	return s.Machine.Spec.Deletion
}

// unbounded is what a machine says that says nothing. Nothing changes it.
var unbounded MachineDeletion

// terminate has the instance deleted.
func (s *stepper) terminate() bool {
	switch s.Instance {
	case InstanceGone:
		return true
	case InstanceExists:
	default:
		s.waits.add(Wait{Reason: ReasonInstanceUnknown})
		s.at(s.now.Add(s.policy.backoff(most)))
		return false
	}
	key := DeleteInstance{}.Key()
	if !s.tried(key) { // what is asked of a cloud cannot be taken back
		if late := !s.hooks(PreTerminate); late || !s.told() {
			return false
		}
	}
	if s.due(key) {
		s.do(DeleteInstance{ProviderID: s.Machine.Spec.ProviderID})
	}
	s.attempted(Wait{Reason: ReasonInstanceGoing}, key)
	return false
}

// deleteNode removes the node object, if it is the machine's own.
func (s *stepper) deleteNode() bool {
	switch s.ours() {
	case absent:
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
	key := Key{"delete node", s.Node.UID}
	if s.due(key) {
		s.do(DeleteNode{Name: s.Node.Name, UID: s.Node.UID})
	}
	s.attempted(Wait{Reason: ReasonNodeGoing, Name: s.Node.Name}, key)
	return false
}

// finalize lets the machine go.
func (s *stepper) finalize() bool {
	name := s.policy.finalizer()
	if !slices.Contains(s.Machine.Finalizers, name) {
		return true
	}
	key := Key{"remove finalizer", name}
	if s.due(key) {
		s.do(RemoveFinalizer{Finalizer: name})
	}
	s.attempted(Wait{Reason: ReasonFinalizer, Name: name}, key)
	return false
}

// others names the finalizers that keep the machine although all is done.
func (s *stepper) others() {
	for _, f := range s.Machine.Finalizers {
		s.waits.add(Wait{Reason: ReasonOtherFinalizer, Name: f})
	}
}
