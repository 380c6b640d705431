package failure

// configRows are failures of the machine config operator, as its nodes, pools and operator report
// them.
func configRows() []row {
	node := Object{Kind: "Node", Name: "{node}"}
	reporting := res(`node (?P<node>\S+) is reporting: "`, `nodes? "?(?P<node>[a-z0-9][-.a-z0-9]*)"? (?:is|are) reporting`)
	logs := list("oc describe node {on}", "oc describe {kind} {name}")
	return []row{{
		code: "RenderedConfigMissing", source: "openshift/machine-config-operator pkg/daemon/daemon.go",
		text: re(`machineconfigs?(?:\.machineconfiguration\.openshift\.io)? "?(?P<config>rendered-[-a-z0-9]+)"? not found|missing MachineConfig (?P<config2>rendered-\S+)`), also: reporting, of: node,
		says: "the rendered configuration[ {config}], which the node[ {node}] refers to, does not exist", do: "restore it, or point the node's annotations to one that exists",
		commands: list("oc get machineconfigs | grep rendered-; oc describe node {on}", "oc get machineconfigs"),
	}, {
		code: "OSImageDiffers", source: "openshift/machine-config-operator pkg/daemon/daemon.go",
		text: re(`expected target osImageURL|unexpected on-disk state[^"]*osImageURL`), also: reporting, of: node,
		says: "the node[ {node}] runs another operating system image than its configuration", do: "rebase it to the expected image, and restart it", commands: list("oc debug node/{on} -- chroot /host rpm-ostree status", "oc describe {kind} {name}"),
	}, {
		code: "ConfigDrift", source: "openshift/machine-config-operator pkg/daemon/on_disk_validation.go, config_drift_monitor.go",
		text: re(`unexpected on-disk state|(?:content|mode) mismatch for file|content for unit \S+ differs`), also: append(res(`mismatch for file:? \\?"?(?P<file>/[^"\\\s]+)`), reporting...), of: node,
		says: "a file on the node[ {node}] differs from its configuration[: {file}]", do: "write back what the configuration says; a forced rewrite ends with a restart",
		commands: list("oc debug node/{on} -- touch /host/run/machine-config-daemon-force", "oc describe {kind} {name}"),
	}, {
		code: "PackageConflict", source: "openshift/machine-config-operator pkg/daemon/update.go, rpm-ostree.go",
		text: re(`(?:error running )?rpm-ostree [^:"]*|packages not found: (?P<package>\S+)|could not depsolve`), also: reporting, of: node,
		kinds: list("Node", "MachineConfigPool", "ClusterOperator"), says: "rpm-ostree fails on the node[ {node}]", do: "correct the extension, package or kernel argument that its output names, or remove the layered package",
		commands: list("oc debug node/{on} -- chroot /host rpm-ostree status", "oc describe {kind} {name}"),
	}, {
		code: "DrainFailed", source: "openshift/machine-config-operator pkg/controller/drain/drain_controller.go",
		text: re(`failed to drain node:? (?:\S+/)?(?P<drained>[a-z0-9][-.a-z0-9]*)|failed to drain node|drain node .* (?:timed out|timeout)`), also: reporting, of: Object{Kind: "Node", Name: "{drained}"}, link: true,
		says: "the node[ {drained}] is not drained: a pod on it is not evicted", do: "see which pod is not evicted",
		commands: list(`oc -n openshift-machine-config-operator logs deployment/machine-config-controller -c machine-config-controller --tail=200 | grep -i -e drain -e evict`),
	}, {
		code: "ControllerVersionMismatch", source: "openshift/machine-config-operator pkg/operator/status.go, sync.go",
		text: re(`controller version mismatch for (?P<config>rendered-\S+)`), also: res(`pool (?P<pool>\S+) has not progressed`, `rendered-(?P<pool>.+)-[0-9a-f]{8,}`), of: Object{"Deployment", "openshift-machine-config-operator", "machine-config-controller"},
		says: "machine-config-controller has not rendered the configuration of pool[ {pool}] for the new release", do: "see in its log why not", commands: list("oc -n openshift-machine-config-operator logs deployment/machine-config-controller -c machine-config-controller --tail=50"),
	}, {
		code: "PoolNotReady", source: "openshift/machine-config-operator pkg/operator/sync.go",
		kinds: list("ClusterOperator"), text: re(`(?:error required (?:machineconfig)?pool |required MachineConfigPool |pool )(?P<pool>[-a-z0-9]+)(?: is not ready| has not progressed|.{0,80}not ready, retrying)`), of: Object{Kind: "MachineConfigPool", Name: "{pool}"}, link: true,
		says: "it waits for pool[ {pool}]", do: "see what the pool waits for", commands: list("oc describe machineconfigpool {pool}"),
	}, {
		code: "RenderFailed", source: "openshift/machine-config-operator pkg/controller/render/render_controller.go",
		kinds: list("MachineConfigPool", "ClusterOperator"), types: list("RenderDegraded", "Degraded"), text: re(`failed to render configuration for pool (?P<pool>[-a-z0-9]+)|could not generate rendered MachineConfig`), of: Object{Kind: "MachineConfigPool", Name: "{pool}"},
		says: "the MachineConfigs of pool[ {pool}] cannot be joined into one", do: "correct the MachineConfig that the message names", commands: list("oc get machineconfigs --sort-by=.metadata.creationTimestamp"),
	}, {
		code: "MachineConfigUnreconcilable", source: "openshift/machine-config-operator pkg/daemon/update.go",
		text: re(`can't reconcile config (?P<config>\S+) with|detected(?: a)? disallowed change|ignition .* (?:section|sections) contains? changes|irreconcilable`), also: reporting, of: node,
		says: "the node[ {node}] cannot take over a change of its configuration (disks and users cannot change in place)", do: "withdraw the change from the MachineConfig", commands: list("oc get machineconfigs --sort-by=.metadata.creationTimestamp"),
	}, {
		code: "ImageNotPulledByDaemon", source: "openshift/machine-config-operator pkg/daemon/image_manager_helper.go",
		kinds: list("Node", "MachineConfigPool", "ClusterOperator"), text: re(`(?:failed to|error) (?:pull|update OS|run podman pull|inspect)[^"]*(?:podman|skopeo|ostree-unverified|quay\.io|registry)`), also: reporting, of: node,
		says: "the node[ {node}] does not get the operating system image from the registry", do: "check its route to the registry, the pull secret, and the mirror", commands: logs,
	}}
}
