package lifecycle

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// UpdatingAnnotation marks a machine of the Cluster API that is updated in place:
// its owner sets it, and its controller removes it at the end.
const UpdatingAnnotation = "in-place-updates.internal.cluster.x-k8s.io/update-in-progress"

// pendingHooks lists, separated by commas, the hooks of extensions that must still
// be called for an object; updateMachine is the one that updates a machine in place.
const (
	pendingHooks  = "runtime.cluster.x-k8s.io/pending-hooks"
	updateMachine = "UpdateMachine"
)

// The condition that reports updates in place, and its reason when one has failed.
const (
	conditionUpdating = "Updating"
	updateFailed      = "InPlaceUpdateFailed"
)

// UpdatingInPlace reports whether a machine of the Cluster API is being updated in
// place, from the request until the end is recorded. Such a machine counts as
// unavailable, because its node may restart at any time.
func (m *Machine) UpdatingInPlace() bool {
	asked, pending := m.updating()
	return asked || pending
}

// updating reports whether an in-place update of the machine is requested, and
// whether its extension must be called.
func (m *Machine) updating() (asked, pending bool) {
	_, asked = m.Annotations[UpdatingAnnotation]
	hooks := m.Annotations[pendingHooks]
	return asked, hooks != "" && slices.Contains(strings.Split(hooks, ","), updateMachine)
}

// inPlace reports an update in place, and its progress. Nothing is done about it:
// others carry it out.
func (s *stepper) inPlace() {
	asked, pending := s.Machine.updating()
	if !asked && !pending {
		return
	}
	var since time.Time
	c := FindCondition(s.Machine.Status.Conditions, conditionUpdating)
	if c != nil && c.Status == "True" {
		since = c.LastTransitionTime
	}
	switch {
	case !asked:
		s.wait(fairlead.Block{Reason: ReasonInPlaceEnding, Owner: "the Cluster API's machine controller", Since: since})
	case !pending:
		s.wait(fairlead.Block{Reason: ReasonInPlaceAsked, Owner: s.controller(), Since: since})
	case c != nil && c.Reason == updateFailed:
		s.wait(fairlead.Block{Reason: ReasonInPlaceFailed, Owner: "the extension that updates machines", Detail: c.Message, Since: since})
	default:
		w := fairlead.Block{Reason: ReasonInPlace, Owner: "the extension that updates machines", Since: since}
		if c != nil {
			w.Detail = c.Message
		}
		s.wait(w)
	}
}

// abandoned reports, when a deletion begins, that it ends an update in place.
func (s *stepper) abandoned() {
	if s.Machine.UpdatingInPlace() {
		s.note("InPlaceUpdateAbandoned", "the machine is deleted during an update in place, and the deletion does not wait for it")
	}
}

// controller names what owns the machine.
func (s *stepper) controller() string {
	for i := range s.Machine.OwnerReferences {
		if o := &s.Machine.OwnerReferences[i]; o.Controller != nil && *o.Controller {
			return o.Kind + " " + o.Name
		}
	}
	return ""
}
