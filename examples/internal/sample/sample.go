// Package sample makes clusters of any size for tests. Only tests import it.
package sample

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/lifecycle"
)

// Size is how large a cluster is.
type Size struct {
	Nodes, Pods, Operators int // how many of each, about
	// Hostile uses names that would be code, or reverse the direction of text, if a page
	// treated them as anything but text.
	Hostile bool
}

// Cluster makes a cluster: five pools, machines that are being deleted, workloads of up to 60 pods with budgets, some of which
// never allow an eviction, releases of three minor versions, and operators with ten versions each.
// Equal sizes make equal clusters.
func Cluster(size Size) *plan.Situation {
	r := rand.New(rand.NewPCG(1, uint64(size.Nodes)))
	at := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	s := &plan.Situation{At: at, Gates: &cvo.AdminGates{}, Configs: map[string]string{}, Operators: []plan.Operator{}, Members: []plan.Member{}}
	name := func(n string) string {
		if size.Hostile {
			return n + "</script><img src=x onerror=alert(1)>\u202ejavascript:alert(1)"
		}
		return n
	}
	releases(s, at, name)
	for k, p := range pools() {
		addPool(s, k, p, size.Nodes, name)
	}
	for _, o := range []string{"etcd", "dns", "ingress", "machine-config", "network"} {
		c := cvo.ClusterOperator{ObjectMeta: fairlead.ObjectMeta{Name: o, Annotations: map[string]string{"include.release.openshift.io/self-managed-high-availability": "true"}}}
		c.Status.Conditions = []fairlead.Condition{{Type: "Available", Status: fairlead.ConditionTrue, LastTransitionTime: at}, {Type: "Upgradeable", Status: fairlead.ConditionTrue, LastTransitionTime: at}}
		c.Status.Versions = []cvo.Operand{{Name: "operator", Version: "4.18.20"}}
		s.ClusterOperators = append(s.ClusterOperators, c)
	}
	workloads(s, size.Pods, r, name)
	for i := range size.Operators {
		s.Operators = append(s.Operators, operator(i, r))
	}
	for i := range 3 {
		s.Members = append(s.Members, plan.Member{Name: fmt.Sprint("etcd-", i), Healthy: fairlead.ConditionTrue})
	}
	return s
}

// releases makes the ClusterVersion and the updates.
func releases(s *plan.Situation, at time.Time, name func(string) string) {
	s.Cluster = &cvo.ClusterVersion{ObjectMeta: fairlead.ObjectMeta{Name: "version"}}
	s.Cluster.Spec.ClusterID, s.Cluster.Spec.Channel = "6d2b8a3c-4c1e-4b4a-9a55-3f6f1d0c7e21", "stable-4.20"
	s.Cluster.Status.Desired.Version = "4.18.20"
	done := at.Add(-time.Hour * 24 * 30)
	s.Cluster.Status.History = []cvo.History{{State: "Completed", StartedTime: done.Add(-80 * time.Minute), CompletionTime: &done, Version: "4.18.20", Image: "b"}}
	s.Risks = []plan.Risk{{Name: "SlowDNS", Applies: fairlead.ConditionFalse, Message: "Names are resolved late."}, {Name: "NoGPU", Applies: fairlead.ConditionUnknown, Message: name("Drivers do not load."), Query: "count(gpu)"}}
	for minor := 18; minor < 21; minor++ {
		for patch := range 24 {
			from := fmt.Sprintf("4.%d.%d", minor, patch)
			if minor == 18 && patch < 20 {
				continue
			}
			for next := patch + 1; next < min(patch+5, 24); next++ {
				s.Moves = append(s.Moves, plan.Move{From: from, To: fmt.Sprintf("4.%d.%d", minor, next)})
			}
			if minor == 20 {
				continue
			}
			for next := 6; next < min(patch, 16); next += 3 {
				m := plan.Move{From: from, To: fmt.Sprintf("4.%d.%d", minor+1, next)}
				if next%2 == 1 {
					m.Risks = []string{s.Risks[next/2%2].Name}
				}
				s.Moves = append(s.Moves, m)
			}
		}
	}
}

// pool is a pool and its share of the nodes.
type pool struct {
	name  string
	share float64
	taint *fairlead.Taint
}

func pools() []pool {
	return []pool{
		{"master", 0, &fairlead.Taint{Key: "node-role.kubernetes.io/master", Effect: fairlead.NoSchedule}},
		{"worker", 0.7, nil},
		{"infra", 0.06, &fairlead.Taint{Key: "node-role.kubernetes.io/infra", Value: "reserved", Effect: fairlead.NoExecute}},
		{"gpu", 0.14, &fairlead.Taint{Key: "nvidia.com/gpu", Value: "present", Effect: fairlead.NoSchedule}},
		{"edge", 0.1, nil},
	}
}

// addPool makes a pool with its nodes; a few are silent or cordoned.
func addPool(s *plan.Situation, k int, p pool, nodes int, name func(string) string) {
	c := cvo.Pool{ObjectMeta: fairlead.ObjectMeta{Name: p.name}}
	c.Spec.NodeSelector = &fairlead.LabelSelector{MatchLabels: map[string]string{"pool": p.name}}
	c.Spec.MaxUnavailable = &fairlead.IntOrString{Text: "10%"}
	if p.name == "master" {
		c.Spec.MaxUnavailable = nil
	}
	c.Spec.Configuration.Name, c.Status.Configuration.Name = "rendered-"+p.name, "rendered-"+p.name
	c.Status.Conditions = []fairlead.Condition{{Type: "Updated", Status: fairlead.ConditionTrue, LastTransitionTime: s.At}}
	s.Configs["rendered-"+p.name] = "4.18.20"
	s.Pools = append(s.Pools, c)
	for i := range max(3, int(p.share*float64(nodes))) {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("%s-%04d", p.name, i), Labels: map[string]string{"pool": p.name}}}
		if i == 1 && k == 1 {
			n.Name = name(n.Name)
		}
		n.UID = n.Name
		n.Annotations = map[string]string{"machineconfiguration.openshift.io/currentConfig": "rendered-" + p.name, "machineconfiguration.openshift.io/desiredConfig": "rendered-" + p.name, "machineconfiguration.openshift.io/state": "Done"}
		n.Status.Allocatable = map[string]string{"cpu": "16", "memory": "64Gi", "pods": "250"}
		ready := fairlead.NodeCondition{Type: "Ready", Status: fairlead.ConditionTrue, LastTransitionTime: s.At.Add(-time.Hour)}
		if i%97 == 41 {
			ready.Status, ready.Message = fairlead.ConditionUnknown, "Kubelet stopped posting node status."
		}
		n.Status.Conditions = []fairlead.NodeCondition{ready}
		n.Spec.Unschedulable = i%53 == 29
		if p.taint != nil {
			n.Spec.Taints = []fairlead.Taint{*p.taint}
		}
		if k == 1 && i%100 == 1 {
			s.Machines = append(s.Machines, deleted(&n, s.At.Add(-time.Hour)))
		}
		s.Nodes = append(s.Nodes, n)
	}
}

// deleted makes the machine of a node, which has been deleted and waits for its hook.
func deleted(n *fairlead.Node, since time.Time) lifecycle.Machine {
	m := lifecycle.Machine{ObjectMeta: fairlead.ObjectMeta{Namespace: "openshift-machine-api", Name: n.Name, UID: "machine-" + n.UID, DeletionTimestamp: &since, Finalizers: []string{lifecycle.Finalizer}}}
	m.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: "move-volumes", Owner: "storage-operator"}}
	m.Status.NodeRef = &lifecycle.NodeRef{Kind: "Node", Name: n.Name, UID: n.UID}
	return m
}

// workloads makes pods of Deployments on the nodes of a pool each.
func workloads(s *plan.Situation, pods int, r *rand.Rand, name func(string) string) {
	byPool := map[string][]*fairlead.Node{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.NotReady() == nil {
			byPool[n.Labels["pool"]] = append(byPool[n.Labels["pool"]], n)
		}
	}
	yes := true
	for app := 0; len(s.Pods) < pods; app++ {
		p := pools()[1+min(app%10/6, 3)]
		on := byPool[p.name]
		space, title := fmt.Sprintf("team-%02d", app%40), fmt.Sprintf("service-%04d", app)
		if app == 3 {
			title = name(title)
		}
		replicas := min(1+r.IntN(60), pods-len(s.Pods))
		for k := range replicas {
			pod := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: space, Name: fmt.Sprintf("%s-5d9c-%d", title, k), Labels: map[string]string{"app": title, "pod-template-hash": "5d9c"}}}
			pod.UID = pod.Name
			pod.OwnerReferences = []fairlead.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: title + "-5d9c", UID: title, Controller: &yes}}
			pod.Spec.NodeName = on[r.IntN(len(on))].Name
			pod.Spec.Containers = []fairlead.Container{{Name: "c", Resources: fairlead.Resources{Requests: map[string]string{"cpu": "100m", "memory": "128Mi"}}}}
			if p.taint != nil {
				pod.Spec.Tolerations = []fairlead.Toleration{{Key: p.taint.Key, Operator: fairlead.TolerationExists}}
			}
			pod.Status.Phase = fairlead.PodRunning
			ready := fairlead.ConditionTrue
			if k == 0 && app%31 == 7 {
				ready = fairlead.ConditionFalse
			}
			pod.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: ready}}
			s.Pods = append(s.Pods, pod)
		}
		if app%3 == 0 {
			b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: space, Name: title}}
			b.Spec.Selector = &fairlead.LabelSelector{MatchLabels: map[string]string{"app": title}}
			least := max(1, replicas*4/5)
			if app%60 == 0 {
				least = replicas
			}
			b.Spec.MinAvailable = &fairlead.IntOrString{Int: least}
			s.Budgets = append(s.Budgets, b)
		}
	}
}

// operator makes an installed operator; every third one must be updated before the cluster.
func operator(i int, r *rand.Rand) plan.Operator {
	o := plan.Operator{Package: fmt.Sprintf("operator-%02d", i), Namespace: "ops", Channel: "stable"}
	o.Subscription = o.Package
	for v := range 10 {
		version := plan.OperatorVersion{Version: fmt.Sprintf("1.%d.0", v)}
		version.Name = o.Package + ".v" + version.Version
		if i%3 == 0 && v < 6 {
			version.MaxOpenShift = "4.18"
		}
		o.Versions = append(o.Versions, version)
		if v > 0 {
			o.Updates = append(o.Updates, plan.OperatorUpdate{From: o.Versions[v-1].Name, To: version.Name})
		}
		if v > 2 {
			o.Updates = append(o.Updates, plan.OperatorUpdate{From: o.Versions[v-3].Name, To: version.Name})
		}
	}
	o.Installed = o.Versions[2+r.IntN(3)].Name
	return o
}
