package machines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/document"
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
	case lifecycle.DeleteObject:
		return nodes.Refused(b.deleteObject(ctx, machine, a))
	case lifecycle.DeleteNode:
		return nodes.Refused(b.deleteNode(ctx, a))
	case lifecycle.RemoveFinalizer:
		return nodes.Refused(b.removeFinalizer(ctx, machine, a))
	}
	if known, err := nodes.Apply(ctx, b.Client, b.Cache, action); known {
		return err
	}
	return fmt.Errorf("kube/machines: actions of type %T are not supported: the engine is newer than its backend", action)
}

// updateStatus writes the status fields that the engine sets, and leaves the
// rest. The resourceVersion in the patch makes the server refuse it if the
// machine has changed.
func (b *Backend) updateStatus(ctx context.Context, machine string, a lifecycle.UpdateStatus) error {
	if b.clusterAPI() { // its conditions have fields that the engine does not know
		return b.mergeStatus(ctx, machine, a)
	}
	word := func(s string) any {
		if s == "" {
			return nil // removes the field
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
	namespace, name := kube.SplitName(machine)
	return b.Client.Status().Patch(ctx, kube.Stub(b.kind(), namespace, name), client.RawPatch(types.MergePatchType, data))
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

// mergeStatus merges the status into the existing one.
func (b *Backend) mergeStatus(ctx context.Context, machine string, a lifecycle.UpdateStatus) error {
	u, err := b.object(ctx, b.Client, machine)
	if err != nil {
		return err
	}
	if u.GetResourceVersion() != a.Revision {
		return &fairlead.RefusedError{Code: 409, Message: "machine " + machine + " has changed since it was observed"}
	}
	after, err := document.Edit(u, func(m *lifecycle.Machine) { m.Status.Phase, m.Status.Conditions = a.Phase, a.Conditions })
	if err != nil {
		return err
	}
	return b.Client.Status().Patch(ctx, after, client.MergeFromWithOptions(u, client.MergeFromWithOptimisticLock{}))
}

// removeHook removes a hook on behalf of its owner.
func (b *Backend) removeHook(ctx context.Context, machine string, a lifecycle.RemoveHook) error {
	return b.change(ctx, machine, func(u *unstructured.Unstructured) (bool, error) {
		var removed bool
		var refused error
		after, err := document.Edit(u, func(m *lifecycle.Machine) {
			list := &m.Spec.LifecycleHooks.PreDrain
			if a.Point == lifecycle.PreTerminate {
				list = &m.Spec.LifecycleHooks.PreTerminate
			}
			i := slices.IndexFunc(*list, func(h lifecycle.Hook) bool { return h.Name == a.Name })
			switch {
			case i < 0:
			case (*list)[i].Owner != a.Owner:
				refused = &fairlead.RefusedError{Code: 409, Message: fmt.Sprintf("hook %s belongs to %s and not to %s", a.Name, (*list)[i].Owner, a.Owner)}
			default:
				*list, removed = slices.Delete(*list, i, i+1), true
			}
		})
		if err != nil || refused != nil || !removed {
			return false, errors.Join(err, refused)
		}
		u.Object = after.Object
		return true, nil
	})
}

func (b *Backend) removeFinalizer(ctx context.Context, machine string, a lifecycle.RemoveFinalizer) error {
	return b.change(ctx, machine, func(u *unstructured.Unstructured) (bool, error) {
		if u.GetDeletionTimestamp() == nil {
			return false, nil // a new machine with the same name
		}
		return controllerutil.RemoveFinalizer(u, a.Finalizer), nil
	})
}

// change reads a machine, lets edit change it, and writes the difference, provided
// that nothing else has written meanwhile. It reads from the cache first, and from
// the server if that was stale. It does nothing if the machine is gone or edit
// changes nothing.
func (b *Backend) change(ctx context.Context, machine string, edit func(*unstructured.Unstructured) (bool, error)) error {
	err := b.changeFrom(ctx, b.Cache, machine, edit)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		err = b.changeFrom(ctx, b.Client, machine, edit)
	}
	return client.IgnoreNotFound(err)
}

func (b *Backend) changeFrom(ctx context.Context, from client.Reader, machine string, edit func(*unstructured.Unstructured) (bool, error)) error {
	u, err := b.object(ctx, from, machine)
	if err != nil {
		return err
	}
	before := u.DeepCopy()
	changed, err := edit(u)
	if err != nil || !changed {
		return err
	}
	return b.Client.Patch(ctx, u, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

func (b *Backend) deleteInstance(ctx context.Context, machine string) error {
	m, err := b.deleting(ctx, machine)
	if err != nil || m == nil {
		return err
	}
	if b.Cloud == nil {
		return fmt.Errorf("machine %s: its instance cannot be deleted: it refers to no infrastructure object, and there is no Cloud", machine)
	}
	return b.Cloud.Delete(ctx, m)
}

// deleting returns a machine that must be under deletion; nil if it is gone.
func (b *Backend) deleting(ctx context.Context, machine string) (*lifecycle.Machine, error) {
	m, err := b.machine(ctx, b.Cache, machine)
	if err == nil && m != nil && !m.Deleting() {
		return nil, &fairlead.RefusedError{Code: 409, Message: "the machine is not being deleted: it is a different one with the same name"}
	}
	return m, err
}

func (b *Backend) deleteNode(ctx context.Context, a lifecycle.DeleteNode) error {
	u := types.UID(a.UID)
	err := b.Client.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: a.Name}}, client.Preconditions{UID: &u})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
