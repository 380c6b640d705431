package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// agreeCluster writes a random cluster to a directory, a file for each kind: nodes and pools in every
// state, operators that fail, an update at rest, under way or refused, pods and budgets, machines, and
// operators of OLM. without is a kind that it lacks; empty for none.
func agreeCluster(t *testing.T, r *rand.Rand, without string) (dir string) {
	dir = t.TempDir()
	one := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	put := func(kind, api string, objects []string) {
		if kind == without {
			return
		}
		text := scopeList(kind, scopeKind{api: api}, "", objects)
		if err := os.WriteFile(filepath.Join(dir, strings.ToLower(kind)+".yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	state, done := one("Completed", "Completed", "Partial"), ""
	if state == "Completed" {
		done = `completionTime: "2026-05-01T11:50:00Z", `
	}
	put("ClusterVersion", "config.openshift.io/v1", []string{fmt.Sprintf(`metadata: {name: version}, spec: {channel: %s, clusterID: c}, status: {
 desired: {version: 4.18.3, image: b}, history: [{state: %s, startedTime: "2026-05-01T11:00:00Z", %sversion: 4.18.3, image: b}, {state: Completed, startedTime: "2026-04-01T12:00:00Z", completionTime: "2026-04-01T13:00:00Z", version: 4.18.1, image: a}],
 conditions: [{type: Available, status: "True"}, {type: Failing, status: %q, reason: %s, message: "Cluster operator dns is not available"}, {type: Progressing, status: %q, message: "Working towards 4.18.3: 400 of 900 done"}, {type: RetrievedUpdates, status: "True"}, {type: Upgradeable, status: "True"}],
 availableUpdates: %s}`, one("stable-4.18", `""`), state, done, one("False", "False", "True"), one("ClusterOperatorNotAvailable", "ClusterOperatorDegraded"), map[bool]string{true: "False", false: "True"}[state == "Completed"],
		one("null", "[{version: 4.18.5, image: c}]"))})
	var operators []string
	for _, name := range []string{"dns", "network", "machine-config"} {
		operators = append(operators, fmt.Sprintf(`metadata: {name: %s, annotations: {include.release.openshift.io/self-managed-high-availability: "true"}}, status: {versions: [{name: operator, version: %s}],
 conditions: [{type: Available, status: %q, reason: A, message: no pods}, {type: Progressing, status: %q, reason: B, message: working}, {type: Degraded, status: %q, reason: C, message: it does not work}, {type: Upgradeable, status: %q}]}`,
			name, one("4.18.3", "4.18.3", "4.18.1"), one("True", "True", "True", "False"), one("False", "False", "True"), one("False", "False", "False", "True"), one("True", "True", "False")))
	}
	put("ClusterOperator", "config.openshift.io/v1", operators)
	var pools, nodes, pods, budgets, machines []string
	for _, pool := range []string{"master", "worker"} {
		pools = append(pools, fmt.Sprintf(`metadata: {name: %s}, spec: {paused: %s, maxUnavailable: %s, configuration: {name: r-%[1]s}, nodeSelector: {matchLabels: {node-role.kubernetes.io/%[1]s: ""}}},
 status: {machineCount: 3, updatedMachineCount: %[4]d, readyMachineCount: 3, configuration: {name: r-%[1]s}, conditions: [{type: RenderDegraded, status: %[5]q, message: cannot render}]}`,
			pool, one("false", "false", "true"), one("1", "2", "50%"), r.IntN(4), one("False", "False", "False", "True")))
		for i := range 3 {
			name := fmt.Sprintf("%c-%d", pool[0], i)
			nodes = append(nodes, agreeNode(one, name, pool))
			if pool == "worker" {
				machines = append(machines, fmt.Sprintf(`metadata: {name: x-%s, namespace: openshift-machine-api, uid: x%[1]s, finalizers: [machine.machine.openshift.io]%s}, spec: {providerID: p-%[1]s}, status: {phase: Running, nodeRef: {name: %[1]s}}`,
					name, one("", "", `, deletionTimestamp: "2026-05-01T11:30:00Z"`)))
			}
		}
	}
	for _, namespace := range []string{"shop", "bank"} {
		n := 1 + r.IntN(3)
		for i := range n {
			pods = append(pods, fmt.Sprintf(`metadata: {name: web-%d, namespace: %s, uid: %[2]s-%[1]d, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: rs-%[2]s, controller: true}]},
 spec: {nodeName: %s, containers: [{name: c, resources: {requests: {cpu: %s}}}]}, status: {phase: %s, conditions: [{type: Ready, status: %q}]}`,
				i, namespace, one("w-0", "w-1", "w-2", `""`), one("100m", "3", `"1"`), one("Running", "Running", "Pending", "Failed"), one("True", "True", "False")))
		}
		budgets = append(budgets, fmt.Sprintf(`metadata: {name: web, namespace: %s, generation: 1}, spec: {minAvailable: %d, selector: {matchLabels: {app: web}}}, status: {%s}`, namespace, r.IntN(4), one("", fmt.Sprintf("observedGeneration: 1, disruptionsAllowed: %d, currentHealthy: %d, desiredHealthy: 1, expectedPods: %[2]d", r.IntN(2), n))))
	}
	put("MachineConfigPool", "machineconfiguration.openshift.io/v1", pools)
	put("MachineConfig", "machineconfiguration.openshift.io/v1", []string{agreeConfig("r-master", "4.18.3"), agreeConfig("r-worker", "4.18.3"), agreeConfig("old", "4.18.1")})
	put("Node", "v1", nodes)
	put("Pod", "v1", pods)
	put("PodDisruptionBudget", "policy/v1", budgets)
	put("Machine", "machine.openshift.io/v1beta1", machines)
	for kind, k := range scopeCluster {
		if slices.Contains([]string{"Subscription", "ClusterServiceVersion", "OperatorGroup", "CatalogSource", "InstallPlan", "Namespace", "ReplicaSet"}, kind) {
			put(kind, k.api, k.objects[:min(len(k.objects), 1+r.IntN(2))])
		}
	}
	return dir
}

func agreeConfig(name, release string) string {
	return fmt.Sprintf("metadata: {name: %s, annotations: {machineconfiguration.openshift.io/release-image-version: %s}}", name, release)
}

// agreeNode is a node in any state: of its configuration, its cordon, its conditions.
func agreeNode(one func(...string) string, name, pool string) string {
	desired := "r-" + pool
	current := one(desired, desired, "old")
	state := one("Done", "Done", "Working", "Degraded", `""`)
	if current == desired && state != `""` {
		state = "Done"
	}
	drain := one("uncordon-", "uncordon-", "drain-")
	conditions := one(`[{type: Ready, status: "True"}]`, `[{type: Ready, status: "True"}]`, `[{type: Ready, status: "False", message: the network is not ready}]`, `[{type: Ready, status: Unknown, reason: NodeStatusUnknown}]`, "[]", `[{type: Ready, status: "True"}, {type: DiskPressure, status: "True"}]`)
	return fmt.Sprintf(`metadata: {name: %s, labels: {node-role.kubernetes.io/%s: ""}, annotations: {machineconfiguration.openshift.io/currentConfig: %s, machineconfiguration.openshift.io/desiredConfig: %s,
 machineconfiguration.openshift.io/state: %s, machineconfiguration.openshift.io/desiredDrain: %s, machineconfiguration.openshift.io/lastAppliedDrain: %s}},
 spec: {providerID: p-%s, unschedulable: %s}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "100"}, conditions: %s}`,
		name, pool, current, desired, state, drain+desired, one(drain+desired, "uncordon-"+desired), name, one("false", "false", "true"), conditions)
}
