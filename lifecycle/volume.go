package lifecycle

import (
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// VolumeAttachment is a volume that is, or should be, attached to a node.
type VolumeAttachment struct {
	ObjectMeta `json:"metadata"`
	Spec       VolumeAttachmentSpec   `json:"spec"`   // the desired state
	Status     VolumeAttachmentStatus `json:"status"` // the reported state
}

// VolumeAttachmentSpec is the desired state of an attachment.
type VolumeAttachmentSpec struct {
	Attacher string           `json:"attacher,omitempty"` // the driver that attaches it
	NodeName string           `json:"nodeName"`           // the node
	Source   AttachmentSource `json:"source"`             // the volume
}

// AttachmentSource names a volume.
type AttachmentSource struct {
	PersistentVolumeName string `json:"persistentVolumeName,omitempty"` // the name of a PersistentVolume; empty for one that a pod defines
}

// VolumeAttachmentStatus is the reported state of an attachment.
type VolumeAttachmentStatus struct {
	Attached bool `json:"attached"` // whether the node has the volume
	// DetachError is why the last attempt to detach it failed; nil if none did.
	DetachError *VolumeError `json:"detachError,omitempty"`
}

// VolumeError is a failure of a driver.
type VolumeError struct {
	Message string `json:"message,omitempty"` // what went wrong
}

// PersistentVolume is storage that outlives pods.
type PersistentVolume struct {
	ObjectMeta `json:"metadata"`
	Spec       PersistentVolumeSpec `json:"spec"` // its source and its user
	// Status is the reported state.
	Status PersistentVolumeStatus `json:"status,omitzero"`
}

// PersistentVolumeStatus is the reported state of a volume.
type PersistentVolumeStatus struct {
	Phase   string `json:"phase,omitempty"`   // Available, Bound, Released or Failed
	Message string `json:"message,omitempty"` // of a volume that failed, why
}

// PersistentVolumeSpec describes a volume. Of its sources, it has those by
// which node status names volumes.
type PersistentVolumeSpec struct {
	ClaimRef *ClaimRef  `json:"claimRef,omitempty"` // who uses it; nil while nobody does
	CSI      *CSISource `json:"csi,omitempty"`      // where it comes from; nil if from no CSI driver
	// NodeAffinity is which nodes can use it; nil for all.
	NodeAffinity *VolumeNodeAffinity `json:"nodeAffinity,omitempty"`
}

// VolumeNodeAffinity is which nodes can use a volume.
type VolumeNodeAffinity struct {
	Required *fairlead.NodeSelector `json:"required,omitempty"` // nil for all
}

// ClaimRef names the claim that uses a volume.
type ClaimRef struct {
	Namespace string `json:"namespace"` // the claim's
	Name      string `json:"name"`      // the claim's
}

// CSISource is a volume of a CSI driver.
type CSISource struct {
	Driver       string `json:"driver"`       // the driver's name
	VolumeHandle string `json:"volumeHandle"` // the volume, as the driver calls it
}

// csiPrefix begins the names of volumes of CSI drivers in the status of nodes;
// driver, caret and handle follow.
const csiPrefix = "kubernetes.io/csi/"

// volumes waits until no volume is attached to the node except those of pods
// that the drain leaves there.
func (s *stepper) volumes() bool {
	if !s.policy.WaitForVolumes && !s.Machine.clusterAPI() {
		return true
	}
	if _, excluded := s.Machine.Annotations[excludeVolumesCAPI]; excluded {
		return true
	}
	if s.node != own || s.instanceGone() || s.leave() != "" || drain.Unreachable(s.Node) {
		return true
	}
	if s.expired(limit(s.deletion().NodeVolumeDetachTimeoutSeconds, s.policy.VolumeDetachTimeout)) {
		s.note("VolumeDetachTimeout", "volumes are still attached to node "+s.Node.Name+", and the deletion no longer waits for them")
		return true
	}
	free := true
	for i := range s.Node.Status.VolumesAttached {
		name := s.Node.Status.VolumesAttached[i].Name
		pv := s.volumeOf(name)
		if pv != nil {
			name = pv.Name
		}
		free = s.attached(name, pv) && free
	}
	for i := range s.Attachments {
		a := &s.Attachments[i]
		if a.Spec.NodeName != s.Node.Name || !a.Status.Attached || a.Spec.Source.PersistentVolumeName == "" {
			continue
		}
		pv := s.volume(a.Spec.Source.PersistentVolumeName)
		if pv != nil && s.inStatus(pv) {
			continue // already reported
		}
		free = s.attached(a.Spec.Source.PersistentVolumeName, pv) && free
	}
	return free
}

// attached waits for a volume, and reports whether that is unnecessary.
func (s *stepper) attached(name string, pv *PersistentVolume) (free bool) {
	w := fairlead.Block{Reason: ReasonVolumeAttached, Name: name}
	if pv != nil && pv.Spec.ClaimRef != nil {
		if s.mountedByStaying(pv.Spec.ClaimRef) {
			return true
		}
		w.Detail = "claim " + pv.Spec.ClaimRef.Namespace + "/" + pv.Spec.ClaimRef.Name
	}
	s.wait(w)
	return false
}

// mountedByStaying reports whether a pod that the drain leaves on the node
// uses a claim.
func (s *stepper) mountedByStaying(claim *ClaimRef) bool {
	left := drain.NewLeft(&s.View, s.Machine.Labels, s.now, &s.policy.Drain)
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Namespace != claim.Namespace || p.Spec.NodeName != s.Node.Name {
			continue
		}
		if !left.Stays(p) {
			continue
		}
		for j := range p.Spec.Volumes {
			if c := p.Spec.Volumes[j].PersistentVolumeClaim; c != nil && c.ClaimName == claim.Name {
				return true
			}
		}
	}
	return false
}

// volumeOf returns the volume that a node's status calls name, or nil.
func (s *stepper) volumeOf(name string) *PersistentVolume {
	for i := range s.PersistentVolumes {
		if named(&s.PersistentVolumes[i], name) {
			return &s.PersistentVolumes[i]
		}
	}
	return nil
}

func (s *stepper) volume(name string) *PersistentVolume {
	for i := range s.PersistentVolumes {
		if s.PersistentVolumes[i].Name == name {
			return &s.PersistentVolumes[i]
		}
	}
	return nil
}

func (s *stepper) inStatus(pv *PersistentVolume) bool {
	for i := range s.Node.Status.VolumesAttached {
		if named(pv, s.Node.Status.VolumesAttached[i].Name) {
			return true
		}
	}
	return false
}

// named reports whether the status of a node calls a volume name.
func named(pv *PersistentVolume, name string) bool {
	csi := pv.Spec.CSI
	if csi == nil {
		return false
	}
	rest, isCSI := strings.CutPrefix(name, csiPrefix)
	rest, ofDriver := strings.CutPrefix(rest, csi.Driver)
	handle, separated := strings.CutPrefix(rest, "^")
	return isCSI && ofDriver && separated && handle == csi.VolumeHandle
}
