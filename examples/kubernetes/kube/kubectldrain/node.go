package kubectldrain

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/kubernetes"
)

// RunNodeDrain evicts the pods of a node, or deletes them, and returns when they
// are gone. Cordon the node first; otherwise new pods may be scheduled to it.
func RunNodeDrain(drainer *Helper, nodeName string) error {
	list, errs := drainer.GetPodsForDeletion(nodeName)
	if errs != nil {
		return utilerrors.NewAggregate(errs)
	}
	if warnings := list.Warnings(); warnings != "" && drainer.ErrOut != nil {
		fmt.Fprintf(drainer.ErrOut, "WARNING: %s\n", warnings)
	}
	return drainer.DeleteOrEvictPods(list.Pods())
}

// RunCordonOrUncordon marks a node as unschedulable or schedulable.
func RunCordonOrUncordon(drainer *Helper, node *corev1.Node, desired bool) error {
	c := NewCordonHelper(node)
	if !c.UpdateIfRequired(desired) || drainer.dryRun() == DryRunClient {
		return nil
	}
	err, failed := c.PatchOrReplaceWithContext(drainer.context(), drainer.Client, drainer.dryRun() == DryRunServer)
	if failed != nil {
		return failed
	}
	return err
}

// CordonHelper cordons or uncordons one node.
type CordonHelper struct {
	node    *corev1.Node
	desired bool
}

// NewCordonHelper returns a CordonHelper for a node as it was read.
func NewCordonHelper(node *corev1.Node) *CordonHelper { return &CordonHelper{node: node} }

// NewCordonHelperFromRuntimeObject is NewCordonHelper for an object that must be
// a Node.
func NewCordonHelperFromRuntimeObject(nodeObject runtime.Object, scheme *runtime.Scheme, gvk schema.GroupVersionKind) (*CordonHelper, error) {
	converted, err := scheme.ConvertToVersion(nodeObject, gvk.GroupVersion())
	if err != nil {
		return nil, err
	}
	node, ok := converted.(*corev1.Node)
	if !ok {
		return nil, fmt.Errorf("unexpected type %T, want a Node", converted)
	}
	return NewCordonHelper(node), nil
}

// UpdateIfRequired sets the desired state, and reports whether the node must be
// changed.
func (c *CordonHelper) UpdateIfRequired(desired bool) bool {
	c.desired = desired
	return c.node.Spec.Unschedulable != desired
}

// PatchOrReplace is PatchOrReplaceWithContext without a context.
func (c *CordonHelper) PatchOrReplace(clientset kubernetes.Interface, serverDryRun bool) (error, error) {
	return c.PatchOrReplaceWithContext(context.Background(), clientset, serverDryRun)
}

// PatchOrReplaceWithContext changes the node, unless another node has its name
// by now. The second error, which kubectl returns for the patch, is always nil
// here.
func (c *CordonHelper) PatchOrReplaceWithContext(clientCtx context.Context, clientset kubernetes.Interface, serverDryRun bool) (error, error) {
	change := map[string]any{"spec": map[string]any{"unschedulable": c.desired}}
	if c.node.UID != "" {
		change["metadata"] = map[string]any{"uid": c.node.UID}
	}
	patch, err := json.Marshal(change)
	if err != nil {
		return err, nil
	}
	options := metav1.PatchOptions{}
	if serverDryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	changed, err := clientset.CoreV1().Nodes().Patch(clientCtx, c.node.Name, types.StrategicMergePatchType, patch, options)
	if err == nil && changed != nil {
		c.node.Spec.Unschedulable = c.desired
	}
	return err, nil
}
