package quorum

import "github.com/fairlead/fairlead/lifecycle"

// Action is something to do, one of
//
//   - [SetHook], which gives a machine the hook, or mends its owner;
//   - [RemoveHook], which lets the deletion of a machine go on;
//   - [AddLearner], [Promote] and [RemoveMember], which change the membership;
//   - [DeleteGuard], which removes a guard pod.
//
// Each may be applied again. A backend refuses a change of the membership that
// is not at Revision, and so does every etcd that a change would cost its
// quorum.
type Action interface {
	// Key tells which action it is: the same each time that the same thing is to
	// be done, and different for different things.
	Key() string
}

// SetHook gives a machine the hook. A machine that is being deleted is left as
// it is.
type SetHook struct {
	Machine string         `json:"machine"` // namespace/name
	Hook    lifecycle.Hook `json:"hook"`    // takes the place of the one of its name
}

// RemoveHook removes the hook of a machine.
type RemoveHook struct {
	Machine string         `json:"machine"` // namespace/name
	Hook    lifecycle.Hook `json:"hook"`    // one of another owner stays
}

// AddLearner adds a member that does not vote yet.
type AddLearner struct {
	Node     string `json:"node"`     // where it runs
	PeerURL  string `json:"peerURL"`  // where others reach it
	Revision string `json:"revision"` // of the membership
}

// Promote makes a learner a voter.
type Promote struct {
	ID       string `json:"id"`       // the member
	Name     string `json:"name"`     // the member's
	Revision string `json:"revision"` // of the membership
}

// RemoveMember removes a member.
type RemoveMember struct {
	ID       string `json:"id"`       // the member
	Name     string `json:"name"`     // the member's
	Why      string `json:"why"`      // in words
	Revision string `json:"revision"` // of the membership
}

// DeleteGuard removes a guard pod, so that its node can be drained.
type DeleteGuard struct {
	Namespace string `json:"namespace"` // the pod's
	Name      string `json:"name"`      // the pod's
	UID       string `json:"uid"`       // the pod is another one without it
}

// Key implements Action.
func (a SetHook) Key() string { return "set hook " + a.Machine }

// Key implements Action.
func (a RemoveHook) Key() string { return "remove hook " + a.Machine }

// Key implements Action.
func (a AddLearner) Key() string { return "add learner " + a.Node }

// Key implements Action.
func (a Promote) Key() string { return "promote " + a.ID }

// Key implements Action.
func (a RemoveMember) Key() string { return "remove member " + a.ID }

// Key implements Action.
func (a DeleteGuard) Key() string { return "delete guard " + a.UID }
