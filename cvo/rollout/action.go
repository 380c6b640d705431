package rollout

import (
	"fmt"

	"github.com/fairlead/fairlead"
)

// Action is something to do, one of
//
//   - [Begin], which sets a node's desired configuration;
//   - [Mark], which taints a node that waits for an update;
//   - [Cordon], which keeps new pods off it;
//   - [Drain], which requests that its pods be evicted;
//   - [drain.Evict] and [drain.DeletePod], which remove a pod, and [Drained],
//     which notes that none is left: if the engine drains nodes itself, see
//     World.Pods;
//   - [Update], which requests a change of its configuration, and a reboot;
//   - [Uncordon], which allows pods on it again;
//   - [Report], which writes the status of the pool.
//
// Pods are removed as package lifecycle/drain says. An action changes a node
// only if it is still at the action's Revision, the metadata.resourceVersion
// that the decision was made on. Otherwise a backend returns an error and
// changes nothing, or returns nil if the action is already done. So no action
// takes place twice, or too late.
type Action interface {
	fairlead.Action
}

// Begin sets the annotations AnnotationDesired and AnnotationDesiredImage, and
// the taint TaintUpdate. On a node that is Degraded or Unreconcilable it also
// sets AnnotationState to Done, for another try.
type Begin struct {
	Node          string        `json:"node"`          // its name
	Revision      string        `json:"revision"`      // see Action
	Configuration Configuration `json:"configuration"` // what it should run
}

// Mark adds the taint TaintUpdate to a node, or removes it.
type Mark struct {
	Node     string `json:"node"`     // its name
	Revision string `json:"revision"` // see Action
	Waits    bool   `json:"waits"`    // whether it waits for an update
}

// Cordon makes a node unschedulable.
type Cordon struct {
	Node     string `json:"node"`     // its name
	Revision string `json:"revision"` // see Action
}

// Drain sets the annotation AnnotationDesiredDrain to Wish. Whoever drains the
// node sets AnnotationLastDrain to the same when the pods are gone: the engine
// does, if it drains the node itself.
type Drain struct {
	Node     string `json:"node"`     // its name
	Revision string `json:"revision"` // see Action
	Wish     string `json:"wish"`     // "drain-" and a configuration
}

// Drained sets the annotation AnnotationLastDrain to Wish: the pods are gone.
type Drained struct {
	Node     string `json:"node"`     // its name
	Revision string `json:"revision"` // see Action
	Wish     string `json:"wish"`     // "drain-" and a configuration
}

// Update sets AnnotationState to Working. Whoever changes the node sets it to
// Done, and AnnotationCurrent and AnnotationCurrentImage to what it then runs;
// or to Degraded or Unreconcilable, with the reason in AnnotationReason.
type Update struct {
	Node     string `json:"node"`     // its name
	Revision string `json:"revision"` // see Action
}

// Uncordon makes a node schedulable, sets AnnotationDesiredDrain and
// AnnotationLastDrain to Wish, and removes the taint TaintUpdate.
type Uncordon struct {
	Node     string `json:"node"`     // its name
	Revision string `json:"revision"` // see Action
	Wish     string `json:"wish"`     // "uncordon-" and a configuration
}

// Report writes the status of the pool.
type Report struct {
	Pool     string     `json:"pool"`     // its name
	Revision string     `json:"revision"` // of the pool, see Action
	Status   PoolStatus `json:"status"`   // the new one
}

// Key names the node and its new configuration.
func (a Begin) Key() fairlead.Key {
	return fairlead.Key{Kind: "Begin", ID: a.Node + " " + a.Configuration.Name}
}

// Key names the node.
func (a Mark) Key() fairlead.Key { return fairlead.Key{Kind: "Mark", ID: a.Node} }

// Key names the node.
func (a Cordon) Key() fairlead.Key { return fairlead.Key{Kind: "Cordon", ID: a.Node} }

// Key names the node.
func (a Drain) Key() fairlead.Key { return fairlead.Key{Kind: "Drain", ID: a.Node} }

// Key names the node.
func (a Drained) Key() fairlead.Key { return fairlead.Key{Kind: "Drained", ID: a.Node} }

// Key names the node.
func (a Update) Key() fairlead.Key { return fairlead.Key{Kind: "Update", ID: a.Node} }

// Key names the node.
func (a Uncordon) Key() fairlead.Key { return fairlead.Key{Kind: "Uncordon", ID: a.Node} }

// Key names the pool and its counts: other counts are another report.
func (a Report) Key() fairlead.Key {
	return fairlead.Key{Kind: "Report", ID: a.Pool + a.counts()}
}

func (a Report) counts() string {
	s := &a.Status
	return fmt.Sprintf(" %d %d %d %d %d", s.MachineCount, s.UpdatedMachineCount, s.ReadyMachineCount, s.UnavailableMachineCount, s.DegradedMachineCount)
}

// String describes the action.
func (a Begin) String() string { return "begin " + a.Node + " " + a.Configuration.Name }

// String says what is done.
func (a Mark) String() string { return "mark " + a.Node }

// String says what is done.
func (a Cordon) String() string { return "cordon " + a.Node }

// String says what is done.
func (a Drain) String() string { return "drain " + a.Node }

// String says what is done.
func (a Drained) String() string { return "drained " + a.Node }

// String says what is done.
func (a Update) String() string { return "update " + a.Node }

// String says what is done.
func (a Uncordon) String() string { return "uncordon " + a.Node }

// String says what is done.
func (a Report) String() string { return "report " + a.Pool + a.counts() }
