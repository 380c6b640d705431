package snapshot

import (
	"slices"

	"github.com/fairlead/fairlead/taints/placement"
)

// Storage returns what the snapshot knows of volumes, as far as it decides where pods can
// run.
func (s *Snapshot) Storage() *placement.Storage {
	all := &placement.Storage{
		Claims: map[string]*placement.Claim{}, Volumes: map[string]*placement.Volume{}, Classes: map[string]*placement.Class{},
		Limits: map[string]map[string]int{}, Attached: map[string][]string{},
		AllClaims: certain(&s.Claims.Scope), AllVolumes: certain(&s.Volumes.Scope), AllClasses: certain(&s.StorageClasses.Scope),
	}
	for i := range s.Claims.Items {
		c := &s.Claims.Items[i]
		class := ""
		if c.Spec.StorageClassName != nil {
			class = *c.Spec.StorageClassName
		}
		all.Claims[c.Namespace+"/"+c.Name] = &placement.Claim{
			Volume: c.Spec.VolumeName, Class: class, Lost: c.Status.Phase == "Lost", Ending: c.DeletionTimestamp != nil,
			Once: slices.Contains(c.Spec.AccessModes, "ReadWriteOncePod"),
		}
	}
	for i := range s.Volumes.Items {
		v := &s.Volumes.Items[i]
		volume := &placement.Volume{Labels: v.Labels}
		if v.Spec.NodeAffinity != nil {
			volume.Affinity = v.Spec.NodeAffinity.Required
		}
		if v.Spec.CSI != nil {
			volume.Driver, volume.Handle = v.Spec.CSI.Driver, v.Spec.CSI.VolumeHandle
		}
		all.Volumes[v.Name] = volume
	}
	for i := range s.StorageClasses.Items {
		c := &s.StorageClasses.Items[i]
		all.Classes[c.Name] = &placement.Class{Driver: c.Provisioner, Waits: c.VolumeBindingMode == "WaitForFirstConsumer", Static: c.Provisioner == "kubernetes.io/no-provisioner"}
	}
	for i := range s.CSINodes.Items {
		n := &s.CSINodes.Items[i]
		limits := map[string]int{}
		for _, d := range n.Spec.Drivers {
			if d.Allocatable.Count != nil {
				limits[d.Name] = *d.Allocatable.Count
			}
		}
		all.Limits[n.Name] = limits
	}
	for i := range s.Attachments.Items {
		a := &s.Attachments.Items[i]
		if v := a.Spec.Source.PersistentVolumeName; v != "" {
			all.Attached[a.Spec.NodeName] = append(all.Attached[a.Spec.NodeName], v)
		}
	}
	return all
}

// certain reports whether every object of a kind is known, by more than an assumption.
func certain(s *Scope) bool { return s.Whole() && !s.Assumed }
