package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
)

// cluster is what an administrator's cluster is like.
type cluster struct {
	version, channel string
	updates          string // availableUpdates, as YAML
	conditional      string // conditionalUpdates, as YAML
	conditions       string // of the ClusterVersion, as YAML
	history          string // older entries, as YAML
	masters, workers int
	pools            map[string]string // further fields of a pool's spec and status
	topology         string
	more             string // further objects
}

// dump returns the cluster as a dump.
func (c *cluster) dump() string {
	var b strings.Builder
	or := func(a, otherwise string) string {
		if a == "" {
			return otherwise
		}
		return a
	}
	fmt.Fprintf(&b, `kind: List
apiVersion: v1
items:
- apiVersion: config.openshift.io/v1
  kind: ClusterVersion
  metadata: {name: version}
  spec: {channel: %s}
  status:
    desired: {version: %s, image: "quay.io/r@sha256:a", channels: [stable-4.18, stable-4.19, stable-4.20, eus-4.18, eus-4.20]}
    history:
    - {state: Completed, startedTime: "2026-04-01T12:00:00Z", completionTime: "2026-04-01T13:10:00Z", version: %s, image: "quay.io/r@sha256:a", verified: true}
%s    availableUpdates: %s
    conditionalUpdates: %s
    conditions: %s
`, c.channel, c.version, c.version, c.history, or(c.updates, "[]"), or(c.conditional, "[]"), or(c.conditions, `[{type: Available, status: "True"}, {type: Progressing, status: "False"}, {type: Upgradeable, status: "True"}]`))
	fmt.Fprintf(&b, "- {apiVersion: config.openshift.io/v1, kind: Infrastructure, metadata: {name: cluster}, status: {controlPlaneTopology: %s}}\n", or(c.topology, "HighlyAvailable"))
	for _, pool := range []string{"master", "worker"} {
		n := map[string]int{"master": c.masters, "worker": c.workers}[pool]
		fmt.Fprintf(&b, `- apiVersion: machineconfiguration.openshift.io/v1
  kind: MachineConfigPool
  metadata: {name: %[1]s}
  spec: {nodeSelector: {matchLabels: {node-role.kubernetes.io/%[1]s: ""}}, configuration: {name: rendered-%[1]s}%[2]s}
  status: {machineCount: %[3]d, updatedMachineCount: %[3]d, readyMachineCount: %[3]d, unavailableMachineCount: 0, degradedMachineCount: 0, configuration: {name: rendered-%[1]s}, conditions: [%[4]s]}
- {apiVersion: machineconfiguration.openshift.io/v1, kind: MachineConfig, metadata: {name: rendered-%[1]s, annotations: {machineconfiguration.openshift.io/release-image-version: %[5]s}}}
`, pool, c.pools[pool+" spec"], n, or(c.pools[pool+" conditions"], `{type: Updated, status: "True"}, {type: Updating, status: "False"}, {type: Degraded, status: "False"}`), c.version)
		for i := range n {
			fmt.Fprintf(&b, `- apiVersion: v1
  kind: Node
  metadata: {name: %[1]s-%[2]d, labels: {node-role.kubernetes.io/%[1]s: ""}, annotations: {machineconfiguration.openshift.io/currentConfig: rendered-%[1]s, machineconfiguration.openshift.io/desiredConfig: rendered-%[1]s, machineconfiguration.openshift.io/state: Done}}
  status: {allocatable: {cpu: "8", memory: 32Gi, pods: "250"}, conditions: [{type: Ready, status: "True"}]}
`, pool, i)
		}
	}
	for _, name := range []string{"etcd", "kube-apiserver", "machine-config", "network"} {
		if strings.Contains(c.more, "name: "+name+"}") {
			continue
		}
		fmt.Fprintf(&b, "- {apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: %s}, status: {conditions: [{type: Available, status: \"True\"}, {type: Degraded, status: \"False\"}, {type: Upgradeable, status: \"True\"}], versions: [{name: operator, version: %s}]}}\n", name, c.version)
	}
	return b.String() + c.more
}

// administrators are ten clusters of an experienced administrator's kind, with the call that such a
// person would make.
var administrators = []struct {
	name string
	cluster
	args string
}{
	{"EUS to EUS, workers paused", cluster{version: "4.18.20", channel: "eus-4.20", masters: 3, workers: 3, updates: "[{version: 4.19.12, image: \"quay.io/r@sha256:b\", channels: [eus-4.20, stable-4.19]}]"}, "-to 4.20.3 -pause-workers -graph GRAPH"},
	{"single node", cluster{version: "4.18.20", channel: "stable-4.18", masters: 1, topology: "SingleReplica", updates: "[{version: 4.18.25, image: \"quay.io/r@sha256:b\"}]"}, "-to 4.18.25"},
	{"disconnected, signature missing", cluster{version: "4.18.20", channel: "stable-4.18", masters: 3, workers: 2, updates: "[{version: 4.18.25, image: \"quay.io/r@sha256:b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7\"}]", conditions: `[{type: Available, status: "True"}, {type: Progressing, status: "False"}, {type: ReleaseAccepted, status: "False", reason: RetrievePayload, message: 'Retrieving payload failed version="4.18.25" image="quay.io/r@sha256:b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7" failure: The update cannot be verified: unable to verify sha256:b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7 against keyrings: verifier-public-key-redhat'}]`}, "-to 4.18.25"},
	{"an operator is degraded", cluster{version: "4.18.20", channel: "stable-4.18", masters: 3, workers: 2, updates: "[{version: 4.19.12, image: \"quay.io/r@sha256:b\"}]", more: "- {apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: network}, status: {conditions: [{type: Available, status: \"False\", reason: Rollout, message: \"DaemonSet ovnkube-node has no pods\"}, {type: Degraded, status: \"True\", reason: Rollout, message: \"DaemonSet ovnkube-node has no pods\"}, {type: Upgradeable, status: \"True\"}]}}\n"}, "-to 4.19.12"},
	{"a risk applies", cluster{version: "4.18.20", channel: "stable-4.18", masters: 3, workers: 2, conditional: `[{release: {version: 4.18.25, image: "quay.io/r@sha256:b"}, risks: [{name: SlowDisk, message: Disks are slow., url: "https://example.com/d", matchingRules: [{type: Always}]}], conditions: [{type: Recommended, status: "False", reason: SlowDisk, message: "Disks are slow. https://example.com/d"}]}]`}, "-to 4.18.25"},
	{"one pool is broken", cluster{version: "4.18.20", channel: "stable-4.18", masters: 3, workers: 2, updates: "[{version: 4.18.25, image: \"quay.io/r@sha256:b\"}]", pools: map[string]string{"worker conditions": `{type: Updated, status: "False"}, {type: Updating, status: "True"}, {type: Degraded, status: "True", message: "1 nodes are reporting degraded status on sync"}, {type: NodeDegraded, status: "True", reason: "1 nodes are reporting degraded status on sync", message: "Node worker-1 is reporting: unexpected on-disk state"}`}}, "-to 4.18.25"},
	{"an operator blocks the minor update", cluster{version: "4.18.20", channel: "stable-4.18", masters: 3, workers: 2, updates: "[{version: 4.19.12, image: \"quay.io/r@sha256:b\"}]", conditions: `[{type: Available, status: "True"}, {type: Progressing, status: "False"}, {type: Upgradeable, status: "False", reason: OLM, message: "Cluster operator operator-lifecycle-manager should not be upgraded between minor versions: logging.v5.9.1 is not compatible"}]`, more: "- {apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: operator-lifecycle-manager}, status: {conditions: [{type: Available, status: \"True\"}, {type: Upgradeable, status: \"False\", reason: IncompatibleOperatorsInstalled, message: \"logging.v5.9.1 is not compatible\"}]}}\n"}, "-to 4.19.12"},
	{"several operators block the minor update", cluster{version: "4.18.20", channel: "stable-4.18", masters: 3, workers: 2, updates: "[{version: 4.19.12, image: \"quay.io/r@sha256:b\"}]", conditions: `[{type: Available, status: "True"}, {type: Progressing, status: "False"}, {type: Upgradeable, status: "False", reason: ClusterOperatorsNotUpgradeable, message: "Multiple cluster operators should not be upgraded between minor versions:\n* Cluster operator cloud-credential should not be upgraded between minor versions: MissingUpgradeableAnnotation: the annotation needs updating\n* Cluster operator network should not be upgraded between minor versions: OldPlugin: the plugin goes"}]`, more: "- {apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: cloud-credential}, status: {conditions: [{type: Available, status: \"True\"}, {type: Upgradeable, status: \"False\", reason: MissingUpgradeableAnnotation, message: \"the annotation needs updating\"}]}}\n- {apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: network}, status: {conditions: [{type: Available, status: \"True\"}, {type: Upgradeable, status: \"False\", reason: OldPlugin, message: \"the plugin goes\"}]}}\n"}, "-to 4.19.12"},
	{"a removed API is used", cluster{version: "4.18.20", channel: "stable-4.18", masters: 3, workers: 2, updates: "[{version: 4.19.12, image: \"quay.io/r@sha256:b\"}]", more: "- {apiVersion: apiserver.openshift.io/v1, kind: APIRequestCount, metadata: {name: flowschemas.v1beta3.flowcontrol.apiserver.k8s.io}, status: {removedInRelease: \"1.32\", last24h: [{byNode: [{byUser: [{username: \"system:serviceaccount:ci:robot\", userAgent: old}]}]}]}}\n"}, "-to 4.19.12"},
	{"rollback", cluster{version: "4.18.20", channel: "stable-4.18", masters: 3, workers: 2, updates: "[]", history: "    - {state: Completed, startedTime: \"2026-03-01T12:00:00Z\", completionTime: \"2026-03-01T12:40:00Z\", version: 4.18.15, image: \"quay.io/r@sha256:0\", verified: true}\n"}, "-to 4.18.15"},
	{"hosted control plane", cluster{version: "4.18.20", channel: "stable-4.18", workers: 2, topology: "External", updates: "[{version: 4.18.25, image: \"quay.io/r@sha256:b\"}]"}, "-to 4.18.25"},
}

// eusGraph offers the way from 4.18.20 to 4.20.3.
const eusGraph = `{"nodes":[{"version":"4.18.20","payload":"quay.io/r@sha256:a","metadata":{"io.openshift.upgrades.graph.release.channels":"eus-4.20"}},{"version":"4.19.12","payload":"quay.io/r@sha256:b","metadata":{"io.openshift.upgrades.graph.release.channels":"eus-4.20"}},{"version":"4.20.3","payload":"quay.io/r@sha256:c","metadata":{"io.openshift.upgrades.graph.release.channels":"eus-4.20"}}],"edges":[[0,1],[1,2]]}`

// screen is how many lines a person reads first.
const screen = 14

// The first screen of the plans for ten clusters of an experienced administrator's kind.
func TestAdministrators(t *testing.T) {
	dir := t.TempDir()
	graph := filepath.Join(dir, "graph.json")
	if err := os.WriteFile(graph, []byte(eusGraph), 0o600); err != nil {
		t.Fatal(err)
	}
	golden.Run(t, "testdata/administrators/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			for i := range administrators {
				a := &administrators[i]
				if a.name != strings.TrimSpace(c.Input) {
					continue
				}
				file := filepath.Join(dir, "cluster.yaml")
				if err := os.WriteFile(file, []byte(a.dump()), 0o600); err != nil {
					t.Fatal(err)
				}
				args := append([]string{file}, strings.Fields(strings.ReplaceAll(a.args, "GRAPH", graph))...)
				for _, kind := range []string{"gates", "pods", "budgets", "operators", "members"} {
					args = append(args, "-none", kind)
				}
				if !strings.Contains(a.more, "APIRequestCount") {
					args = append(args, "-none", "apis")
				}
				var out strings.Builder
				status := Command().Program("fairlead plan")(t.Context(), args, strings.NewReader(""), &out, &out)
				lines := strings.Split(strings.TrimRight(strings.ReplaceAll(out.String(), dir, "DIR"), "\n"), "\n")
				if len(lines) > screen {
					lines = append(lines[:screen], "...")
				}
				return fmt.Sprintf("%s\nexit status %d", strings.Join(lines, "\n"), status)
			}
			return "there is no such cluster"
		}
	})
}
