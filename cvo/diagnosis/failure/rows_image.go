package failure

import "slices"

// imageRows are failures to pull images; the last one is the general one.
func imageRows() []row {
	image := res(`(?:image|pulling|read manifest|reading manifest \S+ in|initializing source docker://) "?(?P<image>[a-z0-9][-.a-z0-9]*(?::\d+)?/[^\s":,]+(?::[\w.-]+)?(?:@sha256:[0-9a-f]+)?)`)
	describe := list("kubectl -n {namespace} describe pod {name}", "kubectl describe {kind} {name}", "kubectl get events -A")
	const pull = `(?:\bpull(?:ing|ed)?\b|\bimages?[^-\w]|\bmanifest\b|\bregistry[^-\w]|\bdocker|\bpodman)[^\n]*?`
	return []row{{
		code: "ImageArchitecture", source: "containers/image manifest; containerd images", also: append(slices.Clip(image), re(`(?:architecture|for linux/) ?"?(?P<arch>[a-z0-9]+)`)),
		text: re(`no image found in (?:image index|manifest list) for architecture|no match for platform in manifest`), says: "the image[ {image}] is not built for the node's architecture[ {arch}]", do: "use an image that is, or select other nodes by kubernetes.io/arch", commands: list("kubectl get nodes -L kubernetes.io/arch"),
	}, {
		code: "ImageUnauthorized", source: "containers/image docker/errors.go; public reports of okd", also: image,
		text: re(pull + `(?:unauthorized|authentication required|access to the requested resource is not authorized|no basic auth credentials|invalid username/password|requested access to the resource is denied|403 forbidden)`),
		says: "the registry refuses the credentials for the image[ {image}]", do: "correct the pull secret", commands: describe,
	}, {
		code: "ImageMissing", source: "containers/image docker/errors.go; containerd remotes/docker", also: image,
		text: re(pull + `(?:manifest unknown|name unknown|not found|repository does not exist|no image found in (?:image index|manifest list))`),
		says: "the image[ {image}] does not exist in the registry", do: "correct its name, or mirror it", commands: describe,
	}, {
		code: "ImageNameInvalid", source: "distribution/reference", kinds: list("Pod"), reasons: list("InvalidImageName"), text: re(`couldn't parse image (?:reference|name) "(?P<image>[^"]+)"(?:: invalid reference format: (?P<why>[^"\n]+))?`),
		says: "the name of the image[, {image},] is not valid[: {why}]", do: "correct the image in the workload", commands: describe,
	}, {
		code: "RegistryUntrusted", source: "containers/image docker; public reports of disconnected installations", also: append(res(`https://(?P<host>[-.:\w]+)/v2`), image...),
		text: re(pull + `x509: certificate signed by unknown authority`), says: "the certificate of the registry[ {host}] is not trusted: an authority unknown to the nodes signed it", do: "make the nodes trust its authority (on OpenShift: additionalTrustedCA of the image configuration)", commands: list("oc get image.config.openshift.io cluster -o yaml", "kubectl -n {namespace} describe pod {name}"),
	}, {
		code: "RegistryRateLimit", source: "docker.io documentation; public reports of kubernetes", also: image,
		text: re(`toomanyrequests|(?:pull )?rate limit`), says: "the registry's rate limit for pulls is reached[: {image}]", do: "use credentials of an account, or a mirror", commands: describe,
	}, {
		code: "RegistryUnreachable", source: "containers/image docker; containerd remotes/docker", also: image,
		text: re(pull + `(?:connection refused|i/o timeout|no route to host|network is unreachable|context deadline exceeded|TLS handshake timeout|deadline exceeded|connection reset)`),
		says: "the registry cannot be reached", do: "check the proxy, the firewall, or the mirror", commands: describe,
	}, {
		code: "RegistryNameUnknown", source: "containers/image docker; public reports of okd", also: append(slices.Clip(image), re(`lookup (?P<host>[a-z0-9][-.a-z0-9]*)`)),
		text: re(pull + `(?:no such host|server misbehaving|temporary failure in name resolution)`), says: "the name of the registry[, {host},] is not resolved", do: "repair DNS of the nodes", commands: describe,
	}, {
		code: "ImageSignatureRejected", source: "containers/image signature/policy_eval.go", also: image,
		text: re(`source image rejected: (?P<why>[^\n"]+)`), says: "the node's image policy rejects the image[ {image}]", do: "correct /etc/containers/policy.json, or use a signed image", commands: describe,
	}, {
		code: "ImagePullFailed", source: "kubernetes/kubernetes pkg/kubelet/images/types.go", also: image,
		kinds: list("Pod"), types: list("waiting"), vague: true, reasons: list("ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "InvalidImageName", "RegistryUnavailable"),
		says: "the image[ {image}] is not pulled", do: "see the registry's answer in the pod's events", commands: describe,
	}}
}
