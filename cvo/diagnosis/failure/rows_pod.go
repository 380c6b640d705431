package failure

// podRows are failures of pods.
func podRows() []row {
	describe := list("kubectl -n {namespace} describe pod {name}")
	previous := list("kubectl -n {namespace} logs {name} --all-containers --previous --tail=50")
	return []row{{
		code: "OutOfMemory", source: "kubernetes/kubernetes pkg/kubelet/kuberuntime", kinds: list("Pod"), reasons: list("OOMKilled"),
		says: "a container is killed because it exceeds its memory limit", do: "raise the limit, or find the leak", commands: describe,
	}, {
		code: "ContainerCrashes", source: "kubernetes/kubernetes pkg/kubelet/kuberuntime", kinds: list("Pod"), weak: true, reasons: list("CrashLoopBackOff"),
		says: "a container ends soon after each start", do: "read the log of its last run", commands: previous,
	}, {
		code: "ContainerNotCreated", source: "kubernetes/kubernetes pkg/kubelet/container", kinds: list("Pod"), weak: true, reasons: list("CreateContainerError", "RunContainerError", "CreateContainerConfigError", "PreStartHookError", "PostStartHookError"),
		says: "a container cannot be created", do: "correct what the message names", commands: describe,
	}, {
		code: "SandboxFailed", source: "kubernetes/kubernetes pkg/kubelet/kuberuntime/kuberuntime_sandbox.go; public reports of multus and ovn-kubernetes",
		text: re(`failed to create pod (?:network )?sandbox|FailedCreatePodSandBox`), says: "the network of the pod is not set up", do: "check the network plugin's pod on that node", commands: describe,
	}, {
		code: "PodEvictedForResources", source: "kubernetes/kubernetes pkg/kubelet/eviction", kinds: list("Pod"), reasons: list("Evicted"), text: re(`the node was low on resource: (?P<resource>[-a-z]+)`),
		says: "the kubelet evicted the pod: its node was low on [{resource}]", do: "free that resource on the node, or lower the pod's use", commands: describe,
	}, {
		code: "PodDeadline", source: "kubernetes/kubernetes pkg/kubelet/active_deadline.go", kinds: list("Pod", "Job"), reasons: list("DeadlineExceeded"),
		says: "it ran longer than its deadline allows", do: "see why it took so long", commands: list("kubectl -n {namespace} describe {kind} {name}"),
	}, {
		code: "BackoffLimit", source: "kubernetes/kubernetes pkg/controller/job", kinds: list("Job"), reasons: list("BackoffLimitExceeded"),
		says: "the pods of the Job failed too often", do: "read the log of one of them", commands: list("kubectl -n {namespace} logs job/{name} --tail=50"),
	}, {
		code: "RolloutDeadline", source: "kubernetes/kubernetes pkg/controller/deployment/progress.go", kinds: list("Deployment"), weak: true, reasons: list("ProgressDeadlineExceeded"),
		says: "the Deployment makes no progress: its new pods do not become ready", do: "see why its pods are not ready", commands: list("kubectl -n {namespace} describe deployment {name}"),
	}}
}
