package lifecycle

// Action is something to do, one of
//
//   - [UpdateStatus], which writes the phase and the conditions of the machine;
//   - [RecordEvent], which tells people that something has happened;
//   - [Cordon], which keeps new pods off the node, and [Uncordon], which ends that;
//   - [Evict] and [DeletePod], which remove a pod;
//   - [RemoveHook], which removes a hook whose time is over, where policy says so;
//   - [DeleteInstance], which has the cloud delete the instance;
//   - [DeleteNode], which removes the node object;
//   - [RemoveFinalizer], which ends the deletion.
//
// Each may be applied again, and each names what it was decided on: a backend
// that finds something else there, by UID or revision, returns an error and
// changes nothing.
type Action interface {
	// Key tells which action it is: the same each time that the same thing is to
	// be done, and different for different things.
	Key() Key
}

// Key names an action on an object.
type Key struct {
	Verb   string `json:"verb"`             // what is done, as in "evict"
	Object string `json:"object,omitempty"` // to what; a UID where there is one
}

// UpdateStatus writes phase, conditions and error of the machine, and leaves
// the rest of its status alone. A backend refuses it when the machine is not
// at Revision.
type UpdateStatus struct {
	Revision     string      `json:"revision,omitempty"`     // the machine's resourceVersion
	Phase        Phase       `json:"phase"`                  // the new one
	Conditions   []Condition `json:"conditions"`             // all of them, by type
	ErrorReason  string      `json:"errorReason,omitempty"`  // why the machine failed, in a word
	ErrorMessage string      `json:"errorMessage,omitempty"` // why the machine failed, in a sentence
}

// RecordEvent tells people that something has happened. It may be lost, and may
// come twice.
type RecordEvent struct {
	Type    string `json:"type"`    // Normal or Warning
	Reason  string `json:"reason"`  // a word in CamelCase
	Message string `json:"message"` // a sentence
}

// Cordon marks a node as unschedulable.
type Cordon struct {
	Node string `json:"node"` // its name
	UID  string `json:"uid"`  // the node is another one without it
}

// Uncordon lets new pods onto a node again. Step never decides on it, as no
// deletion is taken back; see [DrainState.Uncordon].
type Uncordon struct {
	Node string `json:"node"` // its name
	UID  string `json:"uid"`  // the node is another one without it
}

// Evict asks for the eviction of a pod, which its disruption budgets may refuse.
type Evict struct {
	Namespace string `json:"namespace"`      // the pod's
	Name      string `json:"name"`           // the pod's
	UID       string `json:"uid"`            // the pod is another one without it
	Node      string `json:"node,omitempty"` // where the pod is
	// GracePeriodSeconds is how long it may take to end; nil means its own grace.
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
}

// DeletePod deletes a pod, whatever its disruption budgets say.
type DeletePod struct {
	Namespace string `json:"namespace"`      // the pod's
	Name      string `json:"name"`           // the pod's
	UID       string `json:"uid"`            // the pod is another one without it
	Node      string `json:"node,omitempty"` // where the pod is
	// GracePeriodSeconds is how long it may take to end; nil means its own grace.
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
	Why                string `json:"why,omitempty"` // why its budgets do not count
}

// RemoveHook removes a hook. A backend refuses it when the hook has another
// owner, and has nothing to do when there is no such hook.
type RemoveHook struct {
	Point Point  `json:"point"`         // where it waits
	Name  string `json:"name"`          // the hook's
	Owner string `json:"owner"`         // the hook's
	Why   string `json:"why,omitempty"` // why somebody else than the owner removes it
}

// DeleteInstance has the cloud delete the instance.
type DeleteInstance struct {
	ProviderID string `json:"providerID,omitempty"` // the instance, empty if the machine does not name it
}

// DeleteNode removes the node object.
type DeleteNode struct {
	Name string `json:"name"` // the node's
	UID  string `json:"uid"`  // the node is another one without it
}

// RemoveFinalizer removes a finalizer from the machine, and no other. It is the
// last action.
type RemoveFinalizer struct {
	Finalizer string `json:"finalizer"` // which
}

// Key implements Action.
func (a UpdateStatus) Key() Key { return Key{"update status", a.Revision} }

// Key implements Action.
func (a RecordEvent) Key() Key { return Key{"record event", a.Reason} }

// Key implements Action.
func (a Cordon) Key() Key { return Key{"cordon", a.UID} }

// Key implements Action.
func (a Uncordon) Key() Key { return Key{"uncordon", a.UID} }

// Key implements Action.
func (a Evict) Key() Key { return Key{verbEvict, a.UID} }

// Key implements Action.
func (a DeletePod) Key() Key { return Key{verbDeletePod, a.UID} }

// Key implements Action.
func (a RemoveHook) Key() Key { return removal(a.Point, a.Name) }

func removal(p Point, name string) Key {
	if p == PreDrain {
		return Key{"remove preDrain hook", name}
	}
	return Key{"remove preTerminate hook", name}
}

// Key implements Action.
func (a DeleteInstance) Key() Key { return Key{Verb: verbDeleteInstance} }

const verbDeleteInstance = "delete instance"

// Key implements Action.
func (a DeleteNode) Key() Key { return Key{"delete node", a.UID} }

// Key implements Action.
func (a RemoveFinalizer) Key() Key { return Key{"remove finalizer", a.Finalizer} }

// The verbs of keys that drains look up.
const (
	verbEvict     = "evict"
	verbDeletePod = "delete pod"
)
