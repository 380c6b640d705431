package diagnosis_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/snapshot"
)

// supposed is a cluster of three nodes in two zones: node a is cordoned, c is silent; pool worker is paused; the
// budget of Deployment web never allows an eviction; pod big has no room; catalog shop does not answer.
const supposed = `
{apiVersion: v1, kind: Node, metadata: {name: a, labels: {topology.kubernetes.io/zone: one}}, spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "9"}, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: b, labels: {topology.kubernetes.io/zone: two}}, status: {allocatable: {cpu: "2", memory: 8Gi, pods: "9"}, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: c, labels: {topology.kubernetes.io/zone: two}}, spec: {taints: [{key: node.kubernetes.io/unreachable, effect: NoExecute}]}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "9"}, conditions: [{type: Ready, status: Unknown, reason: NodeStatusUnknown, message: Kubelet stopped posting node status., lastTransitionTime: "2026-03-14T03:20:00Z"}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-5f-1, namespace: shop, labels: {app: web, pod-template-hash: 5f}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-5f, uid: r, controller: true}]}, spec: {nodeName: b, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: db-0, namespace: shop, labels: {app: db}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: s, controller: true}]}, spec: {nodeName: b, containers: [{name: c}]}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: big, namespace: shop, creationTimestamp: "2026-03-14T03:00:00Z"}, spec: {containers: [{name: c, resources: {requests: {cpu: "3"}}}]}, status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, lastTransitionTime: "2026-03-14T03:00:00Z"}]}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 1}, status: {replicas: 1, readyReplicas: 1}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-5f, namespace: shop}, spec: {replicas: 1}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: shop}, spec: {replicas: 1}, status: {replicas: 1, readyReplicas: 1}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, namespace: shop}, spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}, status: {currentHealthy: 1, desiredHealthy: 1, expectedPods: 1}}
---
{apiVersion: machineconfiguration.openshift.io/v1, kind: MachineConfigPool, metadata: {name: worker}, spec: {paused: true, configuration: {name: new}, nodeSelector: {matchLabels: {role: w}}}, status: {configuration: {name: old}, machineCount: 3, readyMachineCount: 2}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: CatalogSource, metadata: {name: shop, namespace: openshift-marketplace}, spec: {sourceType: grpc, image: x}, status: {connectionState: {lastObservedState: TRANSIENT_FAILURE, lastConnect: "2026-03-14T02:00:00Z"}}}
---
{apiVersion: operators.coreos.com/v1, kind: OperatorGroup, metadata: {name: all, namespace: tools}, spec: {}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: meter, namespace: tools, creationTimestamp: "2026-03-14T02:00:00Z"}, spec: {name: meter, source: shop, sourceNamespace: openshift-marketplace, channel: stable}, status: {conditions: [{type: CatalogSourcesUnhealthy, status: "True", reason: UnhealthyCatalogSourceFound}]}}
`

func readSupposed(t *testing.T) *snapshot.Snapshot {
	t.Helper()
	var r snapshot.Reader
	r.Everywhere = true
	if err := r.Stream(strings.NewReader(supposed), "cluster.yaml"); err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each change that is supposed changes what it is about, and the cluster reacts; what was read is not changed.
func TestSuppose(t *testing.T) {
	now := time.Date(2026, 3, 14, 4, 4, 0, 0, time.UTC)
	s := readSupposed(t)
	was := readSupposed(t)
	node := func(s *snapshot.Snapshot, pod string) string {
		p, is := s.Pods.Get("shop", pod)
		if p == nil {
			return string(is)
		}
		if p.DeletionTimestamp != nil {
			return p.Spec.NodeName + " deleted"
		}
		return p.Spec.NodeName
	}
	for want, c := range map[string]struct {
		x    diagnosis.Supposition
		says func(*snapshot.Snapshot) string
	}{
		"1 allowed": {diagnosis.Supposition{What: diagnosis.BudgetFixed, Namespace: "shop", Name: "web"}, func(s *snapshot.Snapshot) string {
			return fmt.Sprint(s.Budgets.Items[0].Status.DisruptionsAllowed, " allowed")
		}},
		"2 of 2 pods, 1 allowed": {diagnosis.Supposition{What: diagnosis.OneMore, Kind: "Deployment", Namespace: "shop", Name: "web"}, func(s *snapshot.Snapshot) string {
			b := s.Budgets.Items[0].Status
			return fmt.Sprintf("%d of %d pods, %d allowed", b.CurrentHealthy, *s.Deployments.Items[0].Spec.Replicas, b.DisruptionsAllowed)
		}},
		"2 wanted": {diagnosis.Supposition{What: diagnosis.OneMore, Kind: "StatefulSet", Namespace: "shop", Name: "db"}, func(s *snapshot.Snapshot) string {
			return fmt.Sprint(*s.StatefulSets.Items[0].Spec.Replicas, " wanted")
		}},
		"paused false": {diagnosis.Supposition{What: diagnosis.Unpaused, Name: "worker"}, func(s *snapshot.Snapshot) string { return fmt.Sprint("paused ", s.Pools.Items[0].Spec.Paused) }},
		"big on a":     {diagnosis.Supposition{What: diagnosis.Uncordoned, Name: "a"}, func(s *snapshot.Snapshot) string { return "big on " + node(s, "big") }},
		"big on c":     {diagnosis.Supposition{What: diagnosis.NodeBack, Name: "c"}, func(s *snapshot.Snapshot) string { return "big on " + node(s, "big") }},
		"web b deleted and , db b deleted": {diagnosis.Supposition{What: diagnosis.NodeLost, Name: "b"}, func(s *snapshot.Snapshot) string {
			return "web " + node(s, "web-5f-1") + " and " + node(s, "web-5f-1-new") + ", db " + node(s, "db-0")
		}},
		"web b deleted, big ": {diagnosis.Supposition{What: diagnosis.ZoneLost, Name: "two"}, func(s *snapshot.Snapshot) string {
			return "web " + node(s, "web-5f-1") + ", big " + node(s, "big")
		}},
		"catalog READY": {diagnosis.Supposition{What: diagnosis.CatalogBack, Namespace: "openshift-marketplace", Name: "shop"}, func(s *snapshot.Snapshot) string {
			return fmt.Sprint("catalog ", s.CatalogSources.Items[0].Status.ConnectionState.LastObservedState)
		}},
	} {
		after, err := diagnosis.Suppose(s, now, []diagnosis.Supposition{c.x})
		if err != nil {
			t.Errorf("%s: %v", &c.x, err)
			continue
		}
		if got := c.says(after); got != want {
			t.Errorf("%s: %q, want %q", &c.x, got, want)
		}
		if before, later := diagnosis.Diagnose(s, now, nil), diagnosis.Diagnose(after, now, nil); reflect.DeepEqual(before.Graph, later.Graph) && c.x.What != diagnosis.OneMore && c.x.What != diagnosis.BudgetFixed {
			t.Errorf("%s: the graph is as before", &c.x)
		}
	}
	if !reflect.DeepEqual(s.Nodes, was.Nodes) || !reflect.DeepEqual(s.Pods, was.Pods) || !reflect.DeepEqual(s.Budgets, was.Budgets) || !reflect.DeepEqual(s.Deployments, was.Deployments) || !reflect.DeepEqual(s.CatalogSources, was.CatalogSources) {
		t.Error("what was read has changed")
	}
	if _, err := diagnosis.Suppose(s, now, []diagnosis.Supposition{{What: diagnosis.NodeLost, Name: "z"}}); err == nil || !strings.Contains(err.Error(), "node z is lost") {
		t.Errorf("a node that is not there: %v", err)
	}
}
