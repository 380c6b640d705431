package machines_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/worlds"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// stopped is a cloud whose instances are known not to run.
type stopped struct{ cloud }

func (*stopped) Stopped(context.Context, *lifecycle.Machine) (bool, error) { return true, nil }

// everything returns a cluster with at least one object for everything that is
// observed.
func everything() []client.Object {
	is, volume := true, "pv"
	agent := pod("shop", "agent-1", "n")
	agent.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", Controller: &is}}
	return []client.Object{
		machine(nil), node(), pod("shop", "p", "n"), agent,
		&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "b"}},
		&appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "agent"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"tier": "front"}}},
		&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: storagev1.VolumeAttachmentSpec{NodeName: "n", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume}}},
		&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: volume}},
	}
}

// TestFacts checks that every field of the engine's World is filled in.
func TestFacts(t *testing.T) {
	c := newCluster(t, everything()...)
	c.backend.Cloud = &stopped{cloud{there: lifecycle.InstanceExists}}
	c.backend.Policy = &lifecycle.Policy{WaitForVolumes: true, Drain: drain.Policy{Rules: []drain.Rule{front()}}}
	c.backend.Owners = func(context.Context, []string) ([]lifecycle.Owner, error) { return []lifecycle.Owner{{Name: "x"}}, nil }
	c.backend.Facts = func(_ context.Context, w *lifecycle.World) error {
		w.Slots, w.Cluster, w.ClusterLabels = []drain.TakenSlot{{Limit: "one"}}, &lifecycle.Cluster{ControlPlanes: 3}, map[string]string{"a": "b"}
		w.Own = []drain.OwnFate{{UID: "u-p", Fate: drain.FateEvict}}
		return nil
	}
	w, err := c.backend.Observe(t.Context(), "fleet/m")
	if err != nil {
		t.Fatal(err)
	}
	// The Runner sets Outcomes; only the Cluster API has Objects: see
	// TestFactsClusterAPI.
	if unset := worlds.Unset(w); !slices.Equal(unset, []string{"Objects", "Outcomes"}) {
		t.Errorf("unset fields: %q", unset)
	}
}

// front returns a rule that leaves pods of some namespaces alone.
func front() drain.Rule {
	rule := drain.Rule{ObjectMeta: drain.ObjectMeta{Name: "front"}}
	rule.Spec.Drain.Behavior = drain.BehaviorSkip
	rule.Spec.Pods = []drain.RulePods{{NamespaceSelector: &drain.LabelSelector{MatchLabels: map[string]string{"tier": "front"}}}}
	return rule
}

// TestNamespaceSelector drains a machine with a rule on labels of namespaces.
func TestNamespaceSelector(t *testing.T) {
	policy := &drain.Policy{Rules: []drain.Rule{front()}}
	c := newCluster(t, everything()...)
	c.backend.Policy = &lifecycle.Policy{Drain: *policy}
	now := time.Date(2026, 3, 1, 12, 0, 1, 0, time.UTC)
	w, err := c.backend.Observe(t.Context(), "fleet/m")
	if err != nil {
		t.Fatal(err)
	}
	w.Node.Spec.Unschedulable = true
	d := drain.Pods(drain.Progress{}, &w.View, nil, now, policy)
	if !d.Done || len(d.Actions) > 0 {
		t.Errorf("pods of the namespace are not left alone: %v, %v", d.Actions, d.Progress.Waits)
	}
	w.Namespaces = nil
	if d := drain.Pods(drain.Progress{}, &w.View, nil, now, policy); d.Done {
		t.Error("without the labels of namespaces the rule cannot be judged, and the node counts as empty")
	}
}
