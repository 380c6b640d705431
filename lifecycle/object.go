package lifecycle

import (
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// ObjectRef names an object of a provider of the Cluster API, in the machine's
// namespace.
type ObjectRef struct {
	APIGroup   string `json:"apiGroup,omitempty"`   // v1beta2: the group alone
	APIVersion string `json:"apiVersion,omitempty"` // v1beta1: group and version
	Kind       string `json:"kind,omitempty"`       // as in DockerMachine
	Name       string `json:"name,omitempty"`       // the object's
}

// Bootstrap is what a machine of the Cluster API was set up with.
type Bootstrap struct {
	ConfigRef *ObjectRef `json:"configRef,omitempty"` // its configuration; nil if it has data only
}

// Object is an object that belongs to a machine, as observed.
type Object struct {
	Kind       string            `json:"kind"` // as in ObjectRef
	ObjectMeta `json:"metadata"` // Name, UID, DeletionTimestamp and Finalizers count
	State      Instance          `json:"state,omitempty"` // whether it exists; empty if unknown
}

// DeleteObject deletes an object that belongs to the machine. Its own finalizers
// keep it until their owners are done.
type DeleteObject struct {
	Kind string `json:"objectKind"` // the object's
	Name string `json:"name"`       // the object's
	UID  string `json:"uid"`        // identifies the object
}

// Key implements fairlead.Action.
func (a DeleteObject) Key() fairlead.Key { return fairlead.Key{Kind: "DeleteObject", ID: a.UID} }

// String describes the action.
func (a DeleteObject) String() string { return "delete " + a.Kind + " " + a.Name }

// object returns the observed object that the machine refers to; nil if it refers
// to none, or the Backend deletes it.
func (w *World) object(ref *ObjectRef) *Object {
	if ref == nil {
		return nil
	}
	for i := range w.Objects {
		if o := &w.Objects[i]; o.Kind == ref.Kind && o.Name == ref.Name {
			return o
		}
	}
	return nil
}

// infrastructure returns the object that stands for the instance, or nil.
func (w *World) infrastructure() *Object { return w.object(w.Machine.Spec.InfrastructureRef) }

// configuration returns the bootstrap configuration of the machine, or nil.
func (w *World) configuration() *Object {
	if w.Machine.Spec.Bootstrap == nil {
		return nil
	}
	return w.object(w.Machine.Spec.Bootstrap.ConfigRef)
}

// instanceGone reports whether it is known that the machine has no instance.
func (w *World) instanceGone() bool {
	o := w.infrastructure()
	if o == nil || w.Instance != "" {
		return w.Instance == InstanceGone
	}
	return o.State == InstanceGone
}

// remove requests the deletion of an object, and reports whether it is gone. What
// ends the instance is guarded: hooks that were added late come first.
func (s *stepper) remove(o *Object, guarded bool) (gone bool) {
	key := DeleteObject{UID: o.UID}.Key()
	name := o.Kind + " " + o.ObjectMeta.String()
	switch {
	case o.State == InstanceGone:
		return true
	case o.State != InstanceExists:
		s.ledger.Keep(key)
		s.wait(fairlead.Block{Reason: ReasonObjectUnknown, Name: name})
		s.ledger.At(s.now.Add(s.policy.longest().After(1)))
		return false
	}
	w := fairlead.Block{Reason: ReasonObjectGoing, Name: name}
	if o.DeletionTimestamp == nil {
		if guarded && s.guarded(key) {
			return false
		}
		if s.ledger.Due(key) {
			s.do(DeleteObject{Kind: o.Kind, Name: o.Name, UID: o.UID})
		}
	} else {
		w.Since = *o.DeletionTimestamp
		if len(o.Finalizers) > 0 {
			w.Owner, w.Detail = o.Finalizers[0], "finalizers keep it: "+strings.Join(o.Finalizers, ", ")
		}
		s.ledger.At(s.now.Add(30 * time.Second))
	}
	s.attempted(w, key)
	return false
}

// guarded reports whether something keeps the instance: its deletion cannot be
// undone.
func (s *stepper) guarded(key fairlead.Key) bool {
	if s.ledger.Attempts(key) > 0 && !s.refused(key) {
		return false
	}
	late := !s.hooks(PreTerminate)
	if late || !s.told() {
		s.ledger.Keep(key)
		return true
	}
	return false
}
