package failure

// podRows are failures of pods.
func podRows() []row {
	describe := list("kubectl -n {namespace} describe pod {name}")
	previous := list("kubectl -n {namespace} logs {name} --all-containers --previous --tail=50")
	logs := list("kubectl -n {namespace} logs {name} --all-containers --tail=50")
	return []row{{
		code: "WrongArchitecture", source: "containerd and cri-o: OCI runtime errors; public reports of clusters with several architectures", kinds: list("Pod"), text: re(`exec format error|exec user process caused:? .*exec format`),
		says: "the image is for another architecture than the node", do: "use an image for the node's architecture, or select nodes by kubernetes.io/arch", commands: list("kubectl get nodes -L kubernetes.io/arch"),
	}, {
		code: "CommandMissing", source: "opencontainers/runc; public reports of kubernetes", kinds: list("Pod"), text: re(`exec: "?(?P<file>[^":\n]+)"?: (?:executable file not found in \$PATH|stat [^:]+: no such file or directory|permission denied)`),
		says: "the container's command[ {file}] does not exist in its image, or may not be executed", do: "correct command and args", commands: describe,
	}, {
		code: "RunsAsRoot", source: "kubernetes/kubernetes pkg/kubelet/kuberuntime/security_context.go", kinds: list("Pod"), text: re(`runAsNonRoot and image (?:will run as root|has non-numeric user)`),
		says: "its image runs as root, or as a user without a number, and runAsNonRoot forbids that", do: "give the container a runAsUser, or use an image whose USER is a number other than 0", commands: describe,
	}, {
		code: "ImageNotPresent", source: "kubernetes/kubernetes pkg/kubelet/images/image_manager.go", kinds: list("Pod"), reasons: list("ErrImageNeverPull"),
		says: "its image is not on the node, and its imagePullPolicy Never forbids to pull it", do: "set imagePullPolicy to IfNotPresent, or load the image onto the node", commands: describe,
	}, {
		code: "LivenessFails", source: "kubernetes/kubernetes pkg/kubelet/prober", kinds: list("Pod"), text: re(`(?:liveness|startup) probe (?:failed|errored)`),
		says: "its liveness or startup probe fails, so the kubelet kills the container again and again", do: "see why it does not answer; if it only starts slowly, give it a startupProbe", commands: list("kubectl -n {namespace} logs {name} --all-containers --previous --tail=50"),
	}, {
		code: "ReadinessFails", source: "kubernetes/kubernetes pkg/kubelet/prober", kinds: list("Pod"), vague: true, text: re(`readiness probe (?:failed|errored)(?:: (?P<why>[^\n]{1,140}))?`),
		says: "its readiness probe fails[: {why}]", do: "see in its log why it is not ready", commands: logs,
	}, {
		code: "AddressesExhausted", source: "containernetworking/plugins host-local; amazon-vpc-cni-k8s; public reports", kinds: list("Pod"), text: re(`no (?:more )?(?:IP )?addresses available|failed to (?:allocate|assign) (?:an |for )?(?:IP|range)[^\n]*|InsufficientFreeAddressesInSubnet|ip(?:am)? .*exhausted`),
		says: "the node's network has no free IP address for the pod", do: "enlarge the pod network or the subnet, or remove addresses that ended pods left behind", commands: list("kubectl get pods -A -o wide", "kubectl -n {namespace} describe pod {name}"),
	}, {
		code: "OutOfMemory", source: "kubernetes/kubernetes pkg/kubelet/kuberuntime", kinds: list("Pod"), reasons: list("OOMKilled"),
		says: "a container is killed because it exceeds its memory limit", do: "raise the limit, or find the leak", commands: describe,
	}, {
		code: "ContainerCrashes", source: "kubernetes/kubernetes pkg/kubelet/kuberuntime", kinds: list("Pod"), vague: true, reasons: list("CrashLoopBackOff"),
		says: "a container ends soon after each start", do: "read the log of its last run", commands: previous,
	}, {
		code: "ContainerNotCreated", source: "kubernetes/kubernetes pkg/kubelet/container", kinds: list("Pod"), vague: true, reasons: list("CreateContainerError", "RunContainerError", "CreateContainerConfigError", "PreStartHookError", "PostStartHookError"),
		says: "a container cannot be created", do: "correct what the message names", commands: describe,
	}, {
		code: "SandboxFailed", source: "kubernetes/kubernetes pkg/kubelet/kuberuntime/kuberuntime_sandbox.go; public reports of multus and ovn-kubernetes", vague: true,
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
		code: "RolloutDeadline", source: "kubernetes/kubernetes pkg/controller/deployment/progress.go", kinds: list("Deployment"), vague: true, reasons: list("ProgressDeadlineExceeded"),
		says: "the Deployment makes no progress: its new pods do not become ready", do: "see why its pods are not ready", commands: list("kubectl -n {namespace} describe deployment {name}"),
	}}
}
