package rollout

import "fmt"

// Action is something to do, one of
//
//   - [Begin], which tells a node what it is to run;
//   - [Mark], which puts the taint of those that wait on a node;
//   - [Cordon], which keeps new pods off it;
//   - [Drain], which asks for its pods to be moved away;
//   - [Update], which asks for its configuration to be changed, and a reboot;
//   - [Uncordon], which lets pods come back;
//   - [Report], which writes the status of the pool.
//
// An action changes a node only if it is still at the action's Revision, the
// metadata.resourceVersion that the decision was made on. Otherwise a backend
// returns an error and changes nothing, or nil if all is as the action wants it
// already. So no action takes place twice, or too late.
type Action interface {
	key() string
}

// Key tells which action a is: it is the same each time that the same thing is
// to be done, and different for different things.
func Key(a Action) string { return a.key() }

// Begin sets the annotations AnnotationDesired and AnnotationDesiredImage, and
// the taint TaintUpdate. On a node that is Degraded or Unreconcilable it sets
// AnnotationState to Done: it gets another try.
type Begin struct {
	Node          string        `json:"node"`          // its name
	Revision      string        `json:"revision"`      // see Action
	Configuration Configuration `json:"configuration"` // what it is to run
}

// Mark puts the taint TaintUpdate on a node, or takes it away.
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

// Drain sets the annotation AnnotationDesiredDrain to Wish. Whoever drains sets
// AnnotationLastDrain to the same when the pods are gone.
type Drain struct {
	Node     string `json:"node"`     // its name
	Revision string `json:"revision"` // see Action
	Wish     string `json:"wish"`     // "drain-" and a configuration
}

// Update sets AnnotationState to Working. Whoever changes the node sets it to
// Done, and AnnotationCurrent and AnnotationCurrentImage to what it runs then;
// or to Degraded or Unreconcilable, with the reason in AnnotationReason.
type Update struct {
	Node     string `json:"node"`     // its name
	Revision string `json:"revision"` // see Action
}

// Uncordon makes a node schedulable, sets AnnotationDesiredDrain and
// AnnotationLastDrain to Wish, and takes the taint TaintUpdate away.
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

func (a Begin) key() string    { return "begin " + a.Node + " " + a.Configuration.Name }
func (a Mark) key() string     { return "mark " + a.Node }
func (a Cordon) key() string   { return "cordon " + a.Node }
func (a Drain) key() string    { return "drain " + a.Node }
func (a Update) key() string   { return "update " + a.Node }
func (a Uncordon) key() string { return "uncordon " + a.Node }
func (a Report) key() string {
	s := &a.Status
	return fmt.Sprintf("report %s %d %d %d %d %d", a.Pool, s.MachineCount, s.UpdatedMachineCount, s.ReadyMachineCount, s.UnavailableMachineCount, s.DegradedMachineCount)
}
