package machines

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/nodes"
	"github.com/fairlead/fairlead/lifecycle"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Apply implements lifecycle.Backend.
func (b *Backend) Apply(ctx context.Context, machine string, action lifecycle.Action) error {
	switch a := action.(type) {
	case lifecycle.UpdateStatus:
		return nodes.Refused(b.updateStatus(ctx, machine, a))
	case lifecycle.RecordEvent:
		return b.record(ctx, machine, a)
	case lifecycle.RemoveHook:
		return nodes.Refused(b.removeHook(ctx, machine, a))
	case lifecycle.DeleteInstance:
		return b.deleteInstance(ctx, machine)
	case lifecycle.DeleteNode:
		return nodes.Refused(b.deleteNode(ctx, a))
	case lifecycle.RemoveFinalizer:
		return nodes.Refused(b.removeFinalizer(ctx, machine, a))
	}
	if known, err := nodes.Apply(ctx, b.Client, action); known {
		return err
	}
	return fmt.Errorf("kube/machines: an action of type %T is not known: the engine is newer than its backend", action)
}

// updateStatus writes what the engine says of the status, and leaves the rest.
// The resourceVersion in the patch makes the server refuse it when the machine
// has changed.
func (b *Backend) updateStatus(ctx context.Context, machine string, a lifecycle.UpdateStatus) error {
	word := func(s string) any {
		if s == "" {
			return nil // takes it away
		}
		return s
	}
	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": a.Revision},
		"status": map[string]any{
			"phase": a.Phase, "conditions": a.Conditions,
			"errorReason": word(a.ErrorReason), "errorMessage": word(a.ErrorMessage),
		},
	})
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(Kind)
	namespace, name := kube.SplitName(machine)
	u.SetNamespace(namespace)
	u.SetName(name)
	return b.Client.Status().Patch(ctx, u, client.RawPatch(types.MergePatchType, data))
}

func (b *Backend) record(ctx context.Context, machine string, a lifecycle.RecordEvent) error {
	if b.Recorder == nil {
		return nil
	}
	u, err := b.object(ctx, b.Cache, machine)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	b.Recorder.Eventf(u, nil, a.Type, a.Reason, "Delete", "%s", a.Message)
	return nil
}

// removeHook removes a hook in its owner's stead.
func (b *Backend) removeHook(ctx context.Context, machine string, a lifecycle.RemoveHook) error {
	list := "preDrain"
	if a.Point == lifecycle.PreTerminate {
		list = "preTerminate"
	}
	return b.change(ctx, machine, func(u *unstructured.Unstructured) (bool, error) {
		hooks, _, err := unstructured.NestedSlice(u.Object, "spec", "lifecycleHooks", list)
		if err != nil {
			return false, err
		}
		i := slices.IndexFunc(hooks, func(h any) bool { return field(h, "name") == a.Name })
		if i < 0 {
			return false, nil
		}
		if owner := field(hooks[i], "owner"); owner != a.Owner {
			return false, &fairlead.RefusedError{Code: 409, Message: fmt.Sprintf("hook %s belongs to %s and not to %s", a.Name, owner, a.Owner)}
		}
		return true, unstructured.SetNestedSlice(u.Object, slices.Delete(hooks, i, i+1), "spec", "lifecycleHooks", list)
	})
}

func field(object any, name string) string {
	m, _ := object.(map[string]any)
	s, _ := m[name].(string)
	return s
}

func (b *Backend) removeFinalizer(ctx context.Context, machine string, a lifecycle.RemoveFinalizer) error {
	return b.change(ctx, machine, func(u *unstructured.Unstructured) (bool, error) {
		if u.GetDeletionTimestamp() == nil {
			return false, nil // another one of its name
		}
		return controllerutil.RemoveFinalizer(u, a.Finalizer), nil
	})
}

// change reads a machine from the server, lets edit change it, and writes the
// difference on condition that nobody has written meanwhile. It does nothing
// when the machine is gone or edit changes nothing.
func (b *Backend) change(ctx context.Context, machine string, edit func(*unstructured.Unstructured) (bool, error)) error {
	u, err := b.object(ctx, b.Client, machine)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	before := u.DeepCopy()
	changed, err := edit(u)
	if err != nil || !changed {
		return err
	}
	return client.IgnoreNotFound(b.Client.Patch(ctx, u, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

func (b *Backend) deleteInstance(ctx context.Context, machine string) error {
	m, err := b.machine(ctx, b.Client, machine)
	if err != nil || m == nil {
		return err
	}
	if !m.Deleting() {
		return &fairlead.RefusedError{Code: 409, Message: "the machine is not being deleted: it is another one of its name"}
	}
	return b.Cloud.Delete(ctx, m)
}

func (b *Backend) deleteNode(ctx context.Context, a lifecycle.DeleteNode) error {
	u := types.UID(a.UID)
	err := b.Client.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: a.Name}}, client.Preconditions{UID: &u})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
