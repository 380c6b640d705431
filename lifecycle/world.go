package lifecycle

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// World is what is observed of one machine and the objects that concern it. It may be
// stale, but all of its parts must be of the same age. Lists may be in any order. Step
// does not change it.
type World struct {
	// Machine is nil if it is gone.
	Machine *Machine `json:"machine,omitempty"`
	// Instance is whether the cloud has an instance for the machine.
	Instance Instance `json:"instance,omitempty"`
	// Objects are those that the machine's spec refers to, if the engine should delete
	// them: the infrastructure object, which stands for the instance, followed by the
	// bootstrap configuration. Leave out those that the Backend deletes itself. If
	// Instance is empty, the infrastructure object's State is used.
	Objects []Object `json:"objects,omitempty"`
	// Cluster is what the machine belongs to. Nil means one that is not being deleted,
	// with a working control plane.
	Cluster *Cluster `json:"cluster,omitempty"`
	// Owners are those of hooks, as far as their heartbeats are known.
	Owners []Owner `json:"owners,omitempty"`
	// Attachments are those of volumes to the node; they matter with
	// Policy.WaitForVolumes, and for machines of the Cluster API.
	Attachments []VolumeAttachment `json:"attachments,omitempty"`
	// PersistentVolumes are the volumes that Attachments and the node's status
	// name.
	PersistentVolumes []PersistentVolume `json:"persistentVolumes,omitempty"`
	// Slots are those that it needs to be drained and does not have, each with its
	// holder. Empty means that other machines do not prevent its drain. Once its drain
	// has begun they do not count. See fleet.Members and drain.Admit.
	Slots []drain.TakenSlot `json:"slots,omitempty"`

	drain.View // of its node
}

// Instance is whether an instance exists.
type Instance string

// Whether an instance exists. Empty means unknown.
const (
	InstanceExists Instance = "Exists" // the cloud has it, even if it is being deleted
	InstanceGone   Instance = "Gone"   // the cloud does not have it
)

// Cluster is what is known about the cluster of a machine.
type Cluster struct {
	Paused               bool `json:"paused,omitempty"`               // spec.paused: its machines must be left alone
	Deleting             bool `json:"deleting,omitempty"`             // the whole cluster is being deleted
	ControlPlaneDeleting bool `json:"controlPlaneDeleting,omitempty"` // its control plane is being deleted
	ExternalControlPlane bool `json:"externalControlPlane,omitempty"` // the control plane has no machines here
	// ControlPlanes is how many machines of the control plane are not being
	// deleted, this one included.
	ControlPlanes int `json:"controlPlanes"`
}

// Owner is an owner of hooks with its last heartbeat.
type Owner struct {
	Name     string    `json:"name"`     // as hooks name it
	LastSeen time.Time `json:"lastSeen"` // when it last renewed its lease
}

// Check reports inconsistencies in the world that prevent decisions: nil, or
// fairlead.FieldErrors with paths in the world. A machine whose spec would not be
// admitted passes, because it can be deleted like any other.
func (w *World) Check() error {
	if w == nil {
		return fairlead.FieldErrors{{Path: "world", Problem: "it is nil; a machine that is gone has a world without a machine"}}
	}
	var errs fairlead.FieldErrors
	if w.Machine == nil {
		return nil
	}
	if w.Machine.Name == "" {
		errs.Add("machine.metadata.name", "it is empty; the machine cannot be identified")
	}
	if ref := w.Machine.Status.NodeRef; ref != nil && w.Node != nil && ref.Name != w.Node.Name && (w.Node.Spec.ProviderID == "" || w.Node.Spec.ProviderID != w.Machine.Spec.ProviderID) {
		errs.Add("node.metadata.name", "it is %q, but machine.status.nodeRef names %q, and it does not run on the machine's instance; observe the node of the machine, see NodeOf", w.Node.Name, ref.Name)
	}
	for i := range w.Pods {
		if p := &w.Pods[i]; w.Node != nil && p.Spec.NodeName != w.Node.Name {
			errs.Add(fmt.Sprintf("pods[%d].spec.nodeName", i), "pod %s is on node %q, but the machine's node is %q; observe only the pods of that node", p, p.Spec.NodeName, w.Node.Name)
		}
	}
	switch w.Instance {
	case "", InstanceExists, InstanceGone:
	default:
		errs.Add("instance", "%q is not a known state; write Exists or Gone, or leave it empty if it is unknown", w.Instance)
	}
	for i := range w.Objects {
		o, path := &w.Objects[i], fmt.Sprintf("objects[%d]", i)
		if o.Kind == "" || o.Name == "" {
			errs.Add(path, "it has no kind or no name; observe the objects that spec.infrastructureRef and spec.bootstrap.configRef name")
		}
		switch o.State {
		case "", InstanceExists, InstanceGone:
		default:
			errs.Add(path+".state", "%q is not a known state; write Exists or Gone, or leave it empty if it is unknown", o.State)
		}
	}
	return errs.Err()
}
