package lifecycle

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Action is something to do, one of
//
//   - [UpdateStatus], which writes the phase and the conditions of the machine;
//   - [RecordEvent], which tells people that something has happened;
//   - [drain.Cordon], which keeps new pods off the node;
//   - [drain.Evict] and [drain.DeletePod], which remove a pod;
//   - [RemoveHook], which removes a hook past its deadline, if the policy says
//     so;
//   - [DeleteInstance], which makes the cloud delete the instance;
//   - [DeleteObject], which deletes an object of a provider of the Cluster API;
//   - [DeleteNode], which removes the node object;
//   - [RemoveFinalizer], which ends the deletion.
//
// Each may be applied again, and each names what it was decided on: a backend
// that finds another object there, by UID or revision, returns an error and
// changes nothing.
type Action interface {
	fairlead.Action
}

// UpdateStatus writes phase, conditions and error of the machine, and leaves
// the rest of its status alone. A backend refuses it if the machine is not at
// Revision.
type UpdateStatus struct {
	Revision     string      `json:"revision,omitempty"`     // the machine's resourceVersion
	Phase        Phase       `json:"phase"`                  // the new one
	Conditions   []Condition `json:"conditions"`             // all of them, by type
	ErrorReason  string      `json:"errorReason,omitempty"`  // why the machine failed, in a word
	ErrorMessage string      `json:"errorMessage,omitempty"` // why the machine failed, in a sentence
}

// RecordEvent tells people that something has happened. It may be lost, and may
// be recorded twice.
type RecordEvent struct {
	Type    string `json:"type"`    // Normal or Warning
	Reason  string `json:"reason"`  // a word in CamelCase
	Message string `json:"message"` // a sentence
}

// RemoveHook removes a hook. A backend refuses it if the hook has another
// owner, and does nothing if there is no such hook.
type RemoveHook struct {
	Point Point  `json:"point"`         // where it waits
	Name  string `json:"name"`          // the hook's
	Owner string `json:"owner"`         // the hook's
	Why   string `json:"why,omitempty"` // why somebody other than the owner removes it
}

// DeleteInstance makes the cloud delete the instance.
type DeleteInstance struct {
	ProviderID string `json:"providerID,omitempty"` // the instance, empty if the machine does not name it
}

// DeleteNode removes the node object.
type DeleteNode struct {
	Name string `json:"name"` // the node's
	UID  string `json:"uid"`  // identifies the node
}

// RemoveFinalizer removes a finalizer from the machine, and no other. It is the
// last action.
type RemoveFinalizer struct {
	Finalizer string `json:"finalizer"` // which
}

// Key implements fairlead.Action.
func (a UpdateStatus) Key() fairlead.Key { return fairlead.Key{Kind: "UpdateStatus", ID: a.Revision} }

// Key implements fairlead.Action.
func (a RecordEvent) Key() fairlead.Key { return fairlead.Key{Kind: "RecordEvent", ID: a.Reason} }

// Key implements fairlead.Action.
func (a RemoveHook) Key() fairlead.Key {
	return fairlead.Key{Kind: "RemoveHook", ID: string(a.Point) + "/" + a.Name}
}

// Key implements fairlead.Action.
func (a DeleteInstance) Key() fairlead.Key { return keyDeleteInstance }

// Key implements fairlead.Action.
func (a DeleteNode) Key() fairlead.Key { return fairlead.Key{Kind: "DeleteNode", ID: a.UID} }

// Key implements fairlead.Action.
func (a RemoveFinalizer) Key() fairlead.Key {
	return fairlead.Key{Kind: "RemoveFinalizer", ID: a.Finalizer}
}

// keyDeleteInstance is the key of every DeleteInstance: a machine has one
// instance.
var keyDeleteInstance = fairlead.Key{Kind: "DeleteInstance"}

// String describes the action.
func (a UpdateStatus) String() string {
	text := "write status: " + string(a.Phase)
	for _, c := range a.Conditions {
		text += " " + c.Type + "=" + string(c.Status)
	}
	return text
}

// String says what is reported.
func (a RecordEvent) String() string { return "tell " + a.Reason + ": " + a.Message }

// String says what is done, and why.
func (a RemoveHook) String() string {
	return "remove " + string(a.Point) + " hook " + a.Name + " of " + a.Owner + ": " + a.Why
}

// String says what is done.
func (a DeleteInstance) String() string {
	if a.ProviderID == "" {
		return "delete the instance"
	}
	return "delete instance " + a.ProviderID
}

// String says what is done.
func (a DeleteNode) String() string { return "delete node " + a.Name }

// String says what is done.
func (a RemoveFinalizer) String() string { return "remove finalizer " + a.Finalizer }

// Kinds returns one action of each kind, for reading a Decision from JSON.
func (State) Kinds() []Action {
	return []Action{
		UpdateStatus{}, RecordEvent{}, drain.Cordon{}, drain.Evict{}, drain.DeletePod{}, RemoveHook{}, DeleteInstance{}, DeleteObject{}, DeleteNode{}, RemoveFinalizer{},
	}
}
