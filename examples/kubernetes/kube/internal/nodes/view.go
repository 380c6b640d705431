// Package nodes is shared by the backends that take nodes out of service: it
// reads what a drain depends on, and carries out its actions.
package nodes

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/lifecycle/drain"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reader reads what a drain depends on.
type Reader struct {
	Client client.Reader // the server
	Cache  client.Reader // a cache
	// Namespaces is whether the policy has rules on labels of namespaces.
	Namespaces bool
}

// NeedsNamespaces reports whether a policy has rules on labels of namespaces.
func NeedsNamespaces(p *drain.Policy) bool {
	return p != nil && slices.ContainsFunc(p.Rules, func(r drain.Rule) bool {
		return slices.ContainsFunc(r.Spec.Pods, func(e drain.RulePods) bool { return !e.NamespaceSelector.Empty() })
	})
}

// On selects the pods of a node at the server.
func On(node string) client.ListOption {
	return client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("spec.nodeName", node)}
}

// Of returns the index value of a pod in a cache: the name of its node.
func Of(o client.Object) []string {
	if p, ok := o.(*corev1.Pod); ok && p.Spec.NodeName != "" {
		return []string{p.Spec.NodeName}
	}
	return nil
}

// Pods fills in the pods on view.Node, which is not nil, and what decides about them.
// The pods are read from either Client or Cache, selected by on: a node must not be
// taken for empty because a cache lags behind. Disruption budgets only prevent
// useless requests, and are read from the cache. A DaemonSet in the cache may be
// gone, which makes a drain leave its pods alone; one that the cache lacks is read
// from the server.
func (r *Reader) Pods(ctx context.Context, from client.Reader, on client.ListOption, view *drain.View) error {
	var pods corev1.PodList
	if err := from.List(ctx, &pods, on); err != nil {
		return fmt.Errorf("node %s: list its pods: %w", view.Node.Name, err)
	}
	namespaces, sets := map[string]bool{}, map[client.ObjectKey]bool{}
	view.DaemonSetsListed = true
	for i := range pods.Items {
		p := kube.Pod(&pods.Items[i])
		view.Pods = append(view.Pods, p)
		if !namespaces[p.Namespace] {
			namespaces[p.Namespace] = true
			if err := r.namespace(ctx, p.Namespace, view); err != nil {
				return err
			}
		}
		if c := p.ControllerOf(); c != nil && c.Kind == "DaemonSet" {
			key := client.ObjectKey{Namespace: p.Namespace, Name: c.Name}
			if !sets[key] {
				sets[key] = true
				if err := r.daemonSet(ctx, key, view); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// namespace fills in the budgets of a namespace, and the namespace.
func (r *Reader) namespace(ctx context.Context, name string, view *drain.View) error {
	var budgets policyv1.PodDisruptionBudgetList
	if err := r.Cache.List(ctx, &budgets, client.InNamespace(name)); err != nil {
		return fmt.Errorf("list disruption budgets of %s: %w", name, err)
	}
	for i := range budgets.Items {
		view.Budgets = append(view.Budgets, kube.Budget(&budgets.Items[i]))
	}
	if !r.Namespaces {
		return nil
	}
	var found corev1.Namespace
	if there, err := r.find(ctx, client.ObjectKey{Name: name}, &found); err != nil || !there {
		return err
	}
	view.Namespaces = append(view.Namespaces, kube.Meta(&found.ObjectMeta))
	return nil
}

func (r *Reader) daemonSet(ctx context.Context, key client.ObjectKey, view *drain.View) error {
	var found appsv1.DaemonSet
	if there, err := r.find(ctx, key, &found); err != nil || !there {
		return err
	}
	view.DaemonSets = append(view.DaemonSets, kube.Meta(&found.ObjectMeta))
	return nil
}

// find reads an object from the cache, or else from the server.
func (r *Reader) find(ctx context.Context, key client.ObjectKey, into client.Object) (bool, error) {
	err := r.Cache.Get(ctx, key, into)
	if apierrors.IsNotFound(err) {
		err = r.Client.Get(ctx, key, into)
	}
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%T %s: get: %w", into, key, err)
	}
	return true, nil
}

// Node reads a node from the server; nil if there is none.
func (r *Reader) Node(ctx context.Context, name string) (*fairlead.Node, *corev1.Node, error) {
	var n corev1.Node
	err := r.Client.Get(ctx, client.ObjectKey{Name: name}, &n)
	if apierrors.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("node %s: get: %w", name, err)
	}
	converted := kube.Node(&n)
	return &converted, &n, nil
}
