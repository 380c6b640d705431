package quorum

import (
	"cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
)

// Action is something to do, one of
//
//   - [SetHook], which gives a machine the hook, or fixes its owner;
//   - [RemoveHook], which lets the deletion of a machine proceed;
//   - [AddLearner], [Promote] and [RemoveMember], which change the membership;
//   - [DeleteGuard], which removes a guard pod.
//
// Each may be applied again. A backend refuses a change of the membership that
// is not at Revision, and so does every etcd that would lose its quorum by a
// change.
type Action interface {
	fairlead.Action
	guards()
}

// SetHook gives a machine the hook. A machine that is being deleted is left
// alone.
type SetHook struct {
	Machine string         `json:"machine"` // namespace/name
	Hook    lifecycle.Hook `json:"hook"`    // replaces the one with its name
}

// RemoveHook removes the hook of a machine.
type RemoveHook struct {
	Machine string         `json:"machine"` // namespace/name
	Hook    lifecycle.Hook `json:"hook"`    // a hook of another owner stays
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
	Why      string `json:"why"`      // for people
	Revision string `json:"revision"` // of the membership
}

// DeleteGuard removes a guard pod, so that its node can be drained.
type DeleteGuard struct {
	Namespace string `json:"namespace"` // the pod's
	Name      string `json:"name"`      // the pod's
	UID       string `json:"uid"`       // the pod's
}

// Key implements fairlead.Action.
func (a SetHook) Key() fairlead.Key { return fairlead.Key{Kind: "SetHook", ID: a.Machine} }

// Key implements fairlead.Action.
func (a RemoveHook) Key() fairlead.Key { return fairlead.Key{Kind: "RemoveHook", ID: a.Machine} }

// Key implements fairlead.Action.
func (a AddLearner) Key() fairlead.Key { return fairlead.Key{Kind: "AddLearner", ID: a.Node} }

// Key implements fairlead.Action.
func (a Promote) Key() fairlead.Key { return fairlead.Key{Kind: "Promote", ID: a.ID} }

// Key implements fairlead.Action.
func (a RemoveMember) Key() fairlead.Key { return fairlead.Key{Kind: "RemoveMember", ID: a.ID} }

// Key implements fairlead.Action.
func (a DeleteGuard) Key() fairlead.Key { return fairlead.Key{Kind: "DeleteGuard", ID: a.UID} }

// String describes the action.
func (a SetHook) String() string { return "set hook " + a.Machine }

// String says what is done.
func (a RemoveHook) String() string { return "remove hook " + a.Machine }

// String says what is done.
func (a AddLearner) String() string { return "add learner " + a.Node }

// String says what is done.
func (a Promote) String() string { return "promote member " + cmp.Or(a.Name, a.ID) }

// String says what is done.
func (a RemoveMember) String() string { return "remove member " + cmp.Or(a.Name, a.ID) + ": " + a.Why }

// String says what is done.
func (a DeleteGuard) String() string { return "delete guard " + a.Namespace + "/" + a.Name }

func (SetHook) guards()      {}
func (RemoveHook) guards()   {}
func (AddLearner) guards()   {}
func (Promote) guards()      {}
func (RemoveMember) guards() {}
func (DeleteGuard) guards()  {}

// Kinds returns one action of each kind, for reading a Decision from JSON.
func (State) Kinds() []Action {
	return []Action{SetHook{}, RemoveHook{}, AddLearner{}, Promote{}, RemoveMember{}, DeleteGuard{}}
}
