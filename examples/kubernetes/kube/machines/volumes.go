package machines

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/lifecycle"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// attachments fills in the volume attachments of the node, and the persistent
// volumes.
func (b *Backend) attachments(ctx context.Context, w *lifecycle.World) error {
	if !b.waitsForVolumes() {
		return nil
	}
	var all storagev1.VolumeAttachmentList
	if err := b.Client.List(ctx, &all); err != nil {
		return fmt.Errorf("list volume attachments: %w", err)
	}
	for i := range all.Items {
		a := &all.Items[i]
		if a.Spec.NodeName != w.Node.Name {
			continue
		}
		out := lifecycle.VolumeAttachment{ObjectMeta: kube.Meta(&a.ObjectMeta)}
		out.Spec.NodeName, out.Status.Attached = a.Spec.NodeName, a.Status.Attached
		if name := a.Spec.Source.PersistentVolumeName; name != nil {
			out.Spec.Source.PersistentVolumeName = *name
		}
		w.Attachments = append(w.Attachments, out)
	}
	if len(w.Attachments) == 0 && len(w.Node.Status.VolumesAttached) == 0 {
		return nil
	}
	var volumes corev1.PersistentVolumeList
	if err := b.Client.List(ctx, &volumes); err != nil {
		return fmt.Errorf("list persistent volumes: %w", err)
	}
	for i := range volumes.Items {
		w.PersistentVolumes = append(w.PersistentVolumes, volume(&volumes.Items[i]))
	}
	return nil
}

func volume(v *corev1.PersistentVolume) lifecycle.PersistentVolume {
	out := lifecycle.PersistentVolume{ObjectMeta: kube.Meta(&v.ObjectMeta)}
	if c := v.Spec.ClaimRef; c != nil {
		out.Spec.ClaimRef = &lifecycle.ClaimRef{Namespace: c.Namespace, Name: c.Name}
	}
	if c := v.Spec.CSI; c != nil {
		out.Spec.CSI = &lifecycle.CSISource{Driver: c.Driver, VolumeHandle: c.VolumeHandle}
	}
	return out
}
