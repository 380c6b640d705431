package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/fleet"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Names of the Cluster API.
const (
	labelCluster          = "cluster.x-k8s.io/cluster-name"
	infrastructureReady   = "InfrastructureReady"
	healthCheckSucceeded  = "HealthCheckSucceeded"
	ownerRemediated       = "OwnerRemediated"
	externallyRemediated  = "ExternallyRemediated"
	waitingForRemediation = "WaitingForRemediation"
)

func (b *Backend) clusterAPI() bool { return b.kind().Group == machines.KindClusterAPI.Group }

// clusterCheck is a MachineHealthCheck of the Cluster API, v1beta2.
type clusterCheck struct {
	lifecycle.ObjectMeta `json:"metadata"`
	Spec                 struct {
		ClusterName string                  `json:"clusterName"`
		Selector    lifecycle.LabelSelector `json:"selector"`
		Checks      struct {
			NodeStartupTimeoutSeconds  *int64               `json:"nodeStartupTimeoutSeconds"`
			UnhealthyNodeConditions    []unhealthyCondition `json:"unhealthyNodeConditions"`
			UnhealthyMachineConditions []unhealthyCondition `json:"unhealthyMachineConditions"`
			UnhealthyExpressions       []any                `json:"unhealthyExpressions"`
		} `json:"checks"`
		Remediation struct {
			TriggerIf struct {
				UnhealthyLessThanOrEqualTo *lifecycle.IntOrString `json:"unhealthyLessThanOrEqualTo"`
				UnhealthyInRange           string                 `json:"unhealthyInRange"`
			} `json:"triggerIf"`
			TemplateRef *fleet.TemplateRef `json:"templateRef"`
		} `json:"remediation"`
	} `json:"spec"`
}

type unhealthyCondition struct {
	Type           string                    `json:"type"`
	Status         lifecycle.ConditionStatus `json:"status"`
	TimeoutSeconds int64                     `json:"timeoutSeconds"`
}

// readCluster decodes a check of the Cluster API. A check with expressions is an
// error: they are not evaluated here, and without them too few machines would count as
// unhealthy.
func readCluster(u *unstructured.Unstructured) (*fleet.HealthCheck, error) {
	var c clusterCheck
	if err := kube.Decode(u, &c); err != nil {
		return nil, err
	}
	if len(c.Spec.Checks.UnhealthyExpressions) > 0 {
		return nil, fmt.Errorf("health check %s: %w", c.ObjectMeta, &fairlead.FieldError{
			Path: "spec.checks.unhealthyExpressions", Problem: "expressions are not evaluated; use unhealthyNodeConditions and unhealthyMachineConditions instead",
		})
	}
	h := &fleet.HealthCheck{ObjectMeta: c.ObjectMeta}
	s := &h.Spec
	s.Selector = c.Spec.Selector
	if s.Selector.MatchLabels == nil {
		s.Selector.MatchLabels = map[string]string{}
	}
	s.Selector.MatchLabels[labelCluster] = c.Spec.ClusterName
	s.UnhealthyConditions = conditions(c.Spec.Checks.UnhealthyNodeConditions)
	s.UnhealthyMachineConditions = conditions(c.Spec.Checks.UnhealthyMachineConditions)
	if n := c.Spec.Checks.NodeStartupTimeoutSeconds; n != nil {
		timeout := seconds(*n)
		s.NodeStartupTimeout = &timeout
	}
	s.MaxUnhealthy, s.UnhealthyRange = c.Spec.Remediation.TriggerIf.UnhealthyLessThanOrEqualTo, c.Spec.Remediation.TriggerIf.UnhealthyInRange
	s.RemediationTemplate = c.Spec.Remediation.TemplateRef
	return h, nil
}

func conditions(of []unhealthyCondition) []fleet.UnhealthyCondition {
	var all []fleet.UnhealthyCondition
	for _, c := range of {
		all = append(all, fleet.UnhealthyCondition{Type: c.Type, Status: c.Status, Timeout: seconds(c.TimeoutSeconds)})
	}
	return all
}

func seconds(n int64) fleet.Duration { return fleet.Duration(time.Duration(n) * time.Second) }

// paused reports whether the cluster of a check is paused: then nothing of it
// is touched.
func (b *Backend) paused(ctx context.Context, check *fleet.HealthCheck) (bool, error) {
	u, err := b.get(ctx, b.kind().GroupVersion().WithKind("Cluster"), check.Namespace+"/"+check.Spec.Selector.MatchLabels[labelCluster])
	if err != nil {
		return false, err
	}
	is, _, _ := unstructured.NestedBool(u.Object, "spec", "paused")
	return is, nil
}

// waitsForNode sets since when a machine is expected to have a node: since its
// infrastructure is ready, and it exists.
func waitsForNode(m *lifecycle.Machine) {
	since := m.CreationTimestamp
	if c := lifecycle.FindCondition(m.Status.Conditions, infrastructureReady); c != nil && c.Status == "True" && c.LastTransitionTime.After(since) {
		since = c.LastTransitionTime
	}
	m.Status.LastUpdated = &since
}

// mark sets conditions of a machine: the result of a check, and whether its owner, or
// the controller of the template, should replace it. The one that replaces it changes
// the condition then, so it is not written while it is False.
func (b *Backend) mark(ctx context.Context, m *lifecycle.Machine, v *fleet.Health, remediate, external bool, now time.Time) error {
	var want []map[string]any
	add := func(kind, status, reason, message string) {
		is := lifecycle.FindCondition(m.Status.Conditions, kind)
		if is == nil || string(is.Status) != status || kind == healthCheckSucceeded && (is.Reason != reason || is.Message != message) {
			c := map[string]any{"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": now.UTC().Format(time.RFC3339)}
			if is != nil && string(is.Status) == status {
				c["lastTransitionTime"] = is.LastTransitionTime.UTC().Format(time.RFC3339)
			}
			want = append(want, c)
		}
	}
	switch {
	case v.Unhealthy:
		add(healthCheckSucceeded, "False", v.Reason, v.Why)
	case v.Counts:
		add(healthCheckSucceeded, "True", healthCheckSucceeded, "")
	}
	kind := ownerRemediated
	if external {
		kind = externallyRemediated
	}
	if remediate {
		add(kind, "False", waitingForRemediation, "Waiting for remediation")
	}
	if len(want) == 0 {
		return nil
	}
	u, err := b.get(ctx, b.kind(), m.ObjectMeta.String())
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case u.GetResourceVersion() != m.ResourceVersion:
		return apierrors.NewConflict(schema.GroupResource{Group: b.kind().Group, Resource: "machines"}, m.Name, errors.New("it has changed since it was observed"))
	}
	after := u.DeepCopy()
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range want {
		i := slices.IndexFunc(all, func(o any) bool { o2, ok := o.(map[string]any); return ok && o2["type"] == c["type"] })
		if i < 0 {
			all = append(all, c)
		} else {
			all[i] = c
		}
	}
	if err := unstructured.SetNestedSlice(after.Object, all, "status", "conditions"); err != nil {
		return err
	}
	return b.Client.Status().Patch(ctx, after, client.MergeFromWithOptions(u, client.MergeFromWithOptimisticLock{}))
}
