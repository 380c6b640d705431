package rollout

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Kind is the kind of pools.
var Kind = schema.GroupVersionKind{Group: "machineconfiguration.openshift.io", Version: "v1", Kind: "MachineConfigPool"}

// builds is the kind of image builds.
var builds = schema.GroupVersionKind{Group: Kind.Group, Version: "v1", Kind: "MachineOSBuild"}

// machineConfigPool is a pool on the server, with the fields that the engine
// uses.
type machineConfigPool struct {
	Metadata fairlead.ObjectMeta `json:"metadata"`
	Spec     struct {
		NodeSelector   *metav1.LabelSelector `json:"nodeSelector"`
		MaxUnavailable *intstr.IntOrString   `json:"maxUnavailable"`
		Paused         bool                  `json:"paused"`
		Configuration  struct {
			Name string `json:"name"`
		} `json:"configuration"`
	} `json:"spec"`
	Status rollout.PoolStatus `json:"status"`
}

// poolOf decodes a pool.
func poolOf(u *unstructured.Unstructured) (rollout.Pool, error) {
	var held machineConfigPool
	if err := kube.Decode(u, &held); err != nil {
		return rollout.Pool{}, fmt.Errorf("machine config pool %s cannot be read: %w", u.GetName(), err)
	}
	p := rollout.Pool{ObjectMeta: held.Metadata, Status: held.Status}
	p.Spec.NodeSelector = kube.Selector(held.Spec.NodeSelector)
	p.Spec.Paused, p.Spec.Configuration.Name = held.Spec.Paused, held.Spec.Configuration.Name
	if m := held.Spec.MaxUnavailable; m != nil {
		p.Spec.MaxUnavailable = &rollout.IntOrString{Int: m.IntValue()}
		if m.Type == intstr.String {
			p.Spec.MaxUnavailable = &rollout.IntOrString{Text: m.StrVal}
		}
	}
	return p, nil
}

// machineOSBuild is the build of an image.
type machineOSBuild struct {
	Metadata fairlead.ObjectMeta `json:"metadata"`
	Spec     struct {
		MachineConfig struct {
			Name string `json:"name"`
		} `json:"machineConfig"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
		Image      string             `json:"digestedImagePushSpec"`
	} `json:"status"`
}

// build returns the newest build of a configuration; nil if there is none.
func (b *Backend) build(ctx context.Context, configuration string) (*rollout.Build, error) {
	if configuration == "" {
		return nil, nil
	}
	all := kube.ListOf(builds)
	err := b.Client.List(ctx, all)
	if meta.IsNoMatchError(err) {
		return nil, nil // a cluster without image mode
	}
	if err != nil {
		return nil, fmt.Errorf("list machine OS builds: %w", err)
	}
	var newest *machineOSBuild
	for i := range all.Items {
		held := new(machineOSBuild)
		if err := kube.Decode(&all.Items[i], held); err != nil {
			return nil, fmt.Errorf("machine OS build %s cannot be read: %w", all.Items[i].GetName(), err)
		}
		if held.Spec.MachineConfig.Name != configuration {
			continue
		}
		if newest == nil || held.Metadata.CreationTimestamp.After(newest.Metadata.CreationTimestamp) {
			newest = held
		}
	}
	if newest == nil {
		return nil, nil
	}
	out := &rollout.Build{Name: newest.Metadata.Name, State: rollout.BuildWaiting, Image: newest.Status.Image}
	for _, c := range []struct {
		kind  string
		state rollout.BuildState
	}{
		{"Prepared", rollout.BuildPrepared}, {"Building", rollout.BuildRunning}, {"Interrupted", rollout.BuildInterrupted},
		{"Failed", rollout.BuildFailed}, {"Succeeded", rollout.BuildSucceeded},
	} {
		if meta.IsStatusConditionTrue(newest.Status.Conditions, c.kind) {
			out.State = c.state
		}
	}
	return out, nil
}

// pools reads all pools, by name.
func (b *Backend) pools(ctx context.Context) ([]rollout.Pool, error) {
	all := kube.ListOf(Kind)
	if err := b.Client.List(ctx, all); err != nil {
		return nil, fmt.Errorf("list machine config pools: %w", err)
	}
	var out []rollout.Pool
	for i := range all.Items {
		p, err := poolOf(&all.Items[i])
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// peersOf returns the pool that shares a quorum with another one, and whether it
// must finish first.
func peersOf(pool string) (peer string, first bool) {
	switch pool {
	case rollout.PoolMaster:
		return rollout.PoolArbiter, false
	case rollout.PoolArbiter:
		return rollout.PoolMaster, true
	}
	return "", false
}

func find(pools []rollout.Pool, name string) *rollout.Pool {
	if i := slices.IndexFunc(pools, func(p rollout.Pool) bool { return p.Name == name }); i >= 0 {
		return &pools[i]
	}
	return nil
}
