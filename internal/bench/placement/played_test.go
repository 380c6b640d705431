package placement

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/drainplay"
	"github.com/fairlead/fairlead/internal/long"
	ours "github.com/fairlead/fairlead/taints/placement"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// volumes returns the objects of what is known of volumes.
func volumes(t *testing.T, s *ours.Storage) (all []runtime.Object) {
	if s == nil {
		return nil
	}
	for name, c := range s.Classes {
		mode := storagev1.VolumeBindingWaitForFirstConsumer
		all = append(all, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: c.Driver, VolumeBindingMode: &mode})
	}
	for name, v := range s.Volumes {
		pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: v.Driver, VolumeHandle: v.Handle}
		if v.Affinity != nil {
			pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: as[corev1.NodeSelector](t, v.Affinity)}
		}
		all = append(all, pv)
	}
	for name, c := range s.Claims {
		pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name[len("d/"):], UID: "x", Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}}}
		pvc.Spec.StorageClassName, pvc.Spec.VolumeName, pvc.Status.Phase = &c.Class, c.Volume, corev1.ClaimBound
		pvc.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
		if c.Once {
			pvc.Spec.AccessModes[0] = corev1.ReadWriteOncePod
		}
		all = append(all, pvc)
	}
	for node, drivers := range s.Limits {
		csi := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}}
		for name, limit := range drivers {
			count := int32(limit)
			csi.Spec.Drivers = append(csi.Spec.Drivers, storagev1.CSINodeDriver{Name: name, NodeID: node, Allocatable: &storagev1.VolumeNodeResources{Count: &count}})
		}
		all = append(all, csi)
	}
	return all
}

// decided is a Scheduler by kube-scheduler's code, which takes any of the nodes that fit.
func decided(ctx context.Context, t *testing.T, objects []runtime.Object, rng *rand.Rand) drainplay.Scheduler {
	return func(nodes []*fairlead.Node, pods []*fairlead.Pod, budgets []fairlead.PodDisruptionBudget, p *fairlead.Pod, among []string) (string, []*fairlead.Pod) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var theirNodes []*corev1.Node
		for _, n := range nodes {
			theirNodes = append(theirNodes, as[corev1.Node](t, n))
		}
		var theirPods []*corev1.Pod
		for _, o := range pods {
			if o.Spec.NodeName != "" && !o.Finished() {
				theirPods = append(theirPods, as[corev1.Pod](t, o))
			}
		}
		var pdbs []*policyv1.PodDisruptionBudget
		for i := range budgets {
			pdbs = append(pdbs, as[policyv1.PodDisruptionBudget](t, &budgets[i]))
		}
		s, err := newScheduler(ctx, theirNodes, theirPods, objects)
		if err != nil {
			t.Fatal(err)
		}
		names, best, err := s.fits(ctx, as[corev1.Pod](t, p), pdbs)
		switch {
		case err != nil:
			t.Fatal(err)
		case slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(among, name) }):
			t.Errorf("the scheduler puts %s on one of %v, and only %v take pods", p.Name, names, among)
		case len(names) > 0:
			return names[rng.IntN(len(names))], nil
		case best == nil:
			return "", nil
		}
		var victims []*fairlead.Pod
		for _, v := range best.Victims().Pods {
			at := slices.IndexFunc(pods, func(o *fairlead.Pod) bool { return o.Namespace == v.Namespace && o.Name == v.Name })
			victims = append(victims, pods[at])
		}
		return best.Name(), victims
	}
}

// TestPlanIsPlayed: what is predicted of a drain is what happens where kube-scheduler's own
// code decides where pods go: 500 clusters in long runs.
func TestPlanIsPlayed(t *testing.T) {
	metrics.Register()
	all := drainplay.Options{Priorities: true, Volumes: true, Finalizers: true, DeadNodes: true}
	done, stuck, wrongly, homeless := 0, 0, 0, 0
	for seed := range uint64(long.N(12, 500)) {
		c := drainplay.Draw(seed, all)
		plan, got, wrong := c.Compare(t, decided(t.Context(), t, volumes(t, c.Storage), rand.New(rand.NewPCG(seed, 45))))
		switch {
		case wrong:
			wrongly++
		case got.Done:
			done++
		case plan.Stuck > 0:
			stuck++
		}
		if plan.Completes() && got.Homeless > 0 {
			homeless++
		}
	}
	t.Logf("%d complete and %d are stuck as predicted, %d wrongly; %d with pods that have no node", done, stuck, wrongly, homeless)
	if done < 3 || stuck < 3 || wrongly > (done+stuck)/100 {
		t.Error("that is too many, or too few")
	}
}
