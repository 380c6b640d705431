package placement

import (
	"fmt"

	"github.com/fairlead/fairlead"
	ours "github.com/fairlead/fairlead/taints/placement"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// shelf is the volumes of a cluster, for both.
type shelf struct {
	storage *ours.Storage
	objects []runtime.Object
}

// shelf draws classes, volumes with and without a place, claims in every state, limits of
// nodes and attachments. Claims of static classes that are not bound are left out: which of
// the volumes such a claim gets is not known to us.
func (d draw) shelf(nodes int) *shelf {
	s := &shelf{storage: &ours.Storage{
		Claims: map[string]*ours.Claim{}, Volumes: map[string]*ours.Volume{}, Classes: map[string]*ours.Class{"waits": {Waits: true, Driver: "disk"}, "now": {Driver: "disk"}},
		Limits: map[string]map[string]int{}, Attached: map[string][]string{}, AllClaims: true, AllVolumes: true, AllClasses: true,
	}}
	for name, mode := range map[string]storagev1.VolumeBindingMode{"waits": storagev1.VolumeBindingWaitForFirstConsumer, "now": storagev1.VolumeBindingImmediate} {
		s.objects = append(s.objects, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "disk", VolumeBindingMode: &mode})
	}
	for i := range 8 {
		s.volume(d, fmt.Sprint("pv", i))
	}
	for _, namespace := range []string{"n1", "n2"} {
		for i := range 12 { // pods also use c12 and c13, which do not exist
			s.claim(d, namespace, fmt.Sprint("c", i))
		}
	}
	for i := range nodes {
		s.limits(d, fmt.Sprint("n", i))
	}
	return s
}

func (s *shelf) volume(d draw, name string) {
	v := &ours.Volume{Labels: map[string]string{}}
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: v.Labels}}
	if !d.one(4) {
		v.Driver, v.Handle = d.of("disk", "file"), name
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: v.Driver, VolumeHandle: v.Handle}
	} else {
		pv.Spec.HostPath = &corev1.HostPathVolumeSource{Path: "/x"}
	}
	if d.one(3) {
		key := d.of("disk", "host", "topology.kubernetes.io/zone")
		values := []string{d.of("a", "b", "n0"), d.of("a", "n1")}
		v.Affinity = &fairlead.NodeSelector{Terms: []fairlead.NodeSelectorTerm{{MatchExpressions: []fairlead.NodeRequirement{{Key: key, Operator: "In", Values: values}}}}}
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}},
		}}}}
	}
	if d.one(3) {
		v.Labels[d.of("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")] = d.of("a", "b", "a__b", "c")
	}
	s.storage.Volumes[name] = v
	s.objects = append(s.objects, pv)
}

func (s *shelf) claim(d draw, namespace, name string) {
	c := &ours.Claim{Class: d.of("waits", "waits", "now", "no-such-class"), Once: d.one(5)}
	pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "x"}}
	pvc.Spec.StorageClassName, pvc.Spec.AccessModes = &c.Class, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	pvc.Status.Phase = corev1.ClaimPending
	if c.Once {
		pvc.Spec.AccessModes[0] = corev1.ReadWriteOncePod
	}
	switch {
	case !d.one(4):
		c.Volume = fmt.Sprint("pv", d.IntN(9)) // pv8 does not exist
		pvc.Spec.VolumeName, pvc.Status.Phase = c.Volume, corev1.ClaimBound
		pvc.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	case d.one(4):
		c.Lost, pvc.Status.Phase = true, corev1.ClaimLost
	case d.one(4):
		at := metav1.Unix(1e9, 0)
		c.Ending, pvc.DeletionTimestamp, pvc.Finalizers = true, &at, []string{"x"}
	}
	s.storage.Claims[namespace+"/"+name] = c
	s.objects = append(s.objects, pvc)
}

func (s *shelf) limits(d draw, node string) {
	csi := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}}
	for _, driver := range []string{"disk", "file"} {
		count := int32(1 + d.IntN(3))
		with := storagev1.CSINodeDriver{Name: driver, NodeID: node}
		if d.one(2) {
			with.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
			if s.storage.Limits[node] == nil {
				s.storage.Limits[node] = map[string]int{}
			}
			s.storage.Limits[node][driver] = int(count)
		}
		csi.Spec.Drivers = append(csi.Spec.Drivers, with)
	}
	s.objects = append(s.objects, csi)
	if d.one(3) {
		name := fmt.Sprint("pv", d.IntN(8))
		s.storage.Attached[node] = append(s.storage.Attached[node], name)
		s.objects = append(s.objects, &storagev1.VolumeAttachment{
			ObjectMeta: metav1.ObjectMeta{Name: "va-" + node}, Spec: storagev1.VolumeAttachmentSpec{Attacher: s.storage.Volumes[name].Driver, NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}},
		})
	}
}
