package failure

// nodeRows are failures of nodes and machines.
func nodeRows() []row {
	describe := list("kubectl describe node {on}", "kubectl -n {namespace} describe {kind} {name}", "kubectl describe {kind} {name}")
	return []row{{
		code: "NetworkPluginNotReady", source: "kubernetes/kubernetes pkg/kubelet/runtime.go, kuberuntime; containerd and cri-o",
		kinds: list("Node", co), text: re(`NetworkPluginNotReady|no CNI configuration file|cni plugin not initialized|network plugin is not ready|container runtime network not ready`),
		says: "the network plugin of the node is not running", do: "see why the pod of the network plugin on this node does not start", commands: list("kubectl get pods -A -o wide --field-selector spec.nodeName={on}", "kubectl get pods -A"),
	}, {
		code: "KubeletSilent", source: "kubernetes/kubernetes pkg/controller/nodelifecycle/node_lifecycle_controller.go",
		kinds: list("Node"), types: list("Ready"), reasons: list("NodeStatusUnknown", "NodeStatusNeverUpdated"), says: "the node does not report", do: "bring it back: check its machine, its power and its console", commands: describe,
	}, {
		code: "RuntimeDown", source: "kubernetes/kubernetes pkg/kubelet/runtime.go",
		kinds: list("Node"), text: re(`container runtime (?:is )?(?:down|not ready)|(?:crio|containerd|dockershim)\.sock.*(?:connection refused|no such file)|runtime service failed`), says: "the container runtime of the node is down", do: "restart it, and read its log",
		commands: list("oc adm node-logs {on} -u crio --tail=50"),
	}, {
		code: "PLEGUnhealthy", source: "kubernetes/kubernetes pkg/kubelet/pleg/generic.go",
		kinds: list("Node"), text: re(`PLEG is not healthy`), says: "the kubelet does not get answers from the container runtime in time", do: "look at the node's load and disk, then restart the container runtime", commands: describe,
	}, {
		code: "DiskPressure", source: "kubernetes/kubernetes pkg/kubelet/nodestatus/setters.go",
		kinds: list("Node"), types: list("DiskPressure"), reasons: list("KubeletHasDiskPressure"), says: "the node has too little free disk space and evicts pods", do: "free space: images, logs, local volumes", commands: list("oc debug node/{on} -- chroot /host df -h"), plain: "kubectl debug node/{on} -it --image=busybox --profile=sysadmin -- df -h /host",
	}, {
		code: "MemoryPressure", source: "kubernetes/kubernetes pkg/kubelet/nodestatus/setters.go",
		kinds: list("Node"), types: list("MemoryPressure"), reasons: list("KubeletHasInsufficientMemory"), says: "the node has too little free memory and evicts pods", do: "find what uses it", commands: list("kubectl top pods -A --sort-by=memory"),
	}, {
		code: "PIDPressure", source: "kubernetes/kubernetes pkg/kubelet/nodestatus/setters.go",
		kinds: list("Node"), types: list("PIDPressure"), reasons: list("KubeletHasInsufficientPID"), says: "the node has too few free process numbers", do: "find what starts so many processes", commands: describe,
	}, {
		code: "NodeShuttingDown", source: "kubernetes/kubernetes pkg/kubelet/nodeshutdown",
		kinds: list("Node"), text: re(`node is shutting down`), says: "the node is shutting down", do: "wait until it is back, or start it", commands: describe,
	}, {
		code: "MachineInvalid", source: "openshift/machine-api-operator pkg/controller/machine",
		kinds: list("Machine"), reasons: list("InvalidConfiguration", "InvalidConfigurationMachineError"), vague: true, // of every refusal of some clouds
		says: "the machine's configuration is invalid, so it will never start", do: "correct the MachineSet, and delete the machine", commands: list("kubectl -n {namespace} describe machine {name}"),
	}, {
		code: "CloudCapacity", source: "public reports of openshift/machine-api-operator and kubernetes-sigs/cluster-api-provider-aws",
		kinds: list("Machine"), text: re(`InsufficientInstanceCapacity|(?i:insufficient capacity|not have sufficient \S+ capacity)|ZonalAllocationFailed|AllocationFailed|STOCKOUT|ZONE_RESOURCE_POOL_EXHAUSTED|not enough hosts available|no valid host was found`),
		says: "the cloud has no capacity for this machine at present", do: "use another zone or instance type", commands: list("kubectl -n {namespace} describe machine {name}"),
	}, {
		code: "CloudPermission", source: "public reports of kubernetes-sigs/cluster-api-provider-aws and openshift/machine-api-operator",
		kinds: list("Machine", "Service", co), text: re(`UnauthorizedOperation|not authorized to perform(?: this operation)?:? ?(?P<action>[\w:]+)?|AuthorizationFailed|does not have (?:authorization|permission) to perform|AuthFailure|insufficient permissions`),
		says: "the cloud account may not do this[: {action}]", do: "grant that permission to the credentials of the controller", commands: list("kubectl -n {namespace} describe {kind} {name}", "kubectl describe {kind} {name}"),
	}, {
		code: "CloudQuota", source: "public reports of openshift/machine-api-operator and kubernetes-sigs/cluster-api",
		kinds: list("Machine", "Service", co), text: re(`quota.?exceeded|exceed(?:s|ed|ing)? (?:the )?(?:approved )?[^.]{0,60}quota|VcpuLimitExceeded|current vCPU limit of|InstanceLimitExceeded|LimitExceeded`),
		says: "the cloud account's quota is used up", do: "raise the quota, or free resources", commands: list("kubectl -n {namespace} describe {kind} {name}", "kubectl describe {kind} {name}"),
	}, {
		code: "TooManyOpenFiles", source: "public report kubernetes-sigs/kind known issues",
		text: re(`too many open files|inotify.*(?:no space left|limit)`), says: "a limit of open files or of inotify watches is reached", do: "raise fs.inotify.max_user_watches and max_user_instances on the node", commands: describe,
	}, {
		code: "NoSpaceLeft", source: "public reports of okd and machine-config-operator",
		text: re(`no space left on device`), also: res(`node (?P<node>\S+) is reporting: "`), of: Object{Kind: "Node", Name: "{node}"}, says: "a disk of the node[ {node}] is full", do: "free space: images, logs, old deployments",
		commands: list("oc debug node/{on} -- chroot /host df -h", "kubectl -n {namespace} describe {kind} {name}", "kubectl describe {kind} {name}"), plain: "kubectl debug node/{on} -it --image=busybox --profile=sysadmin -- df -h /host",
	}}
}
