package failure

// appRows are failures of autoscalers and of certificates of applications.
func appRows() []row {
	hpa := list("HorizontalPodAutoscaler")
	describe := list("kubectl -n {namespace} describe horizontalpodautoscaler {name}")
	return []row{{
		code: "RequestMissing", source: "kubernetes/kubernetes pkg/controller/podautoscaler/replica_calculator.go", kinds: hpa,
		text: re(`missing request for (?P<resource>[-a-z]+)(?: in container (?P<container>\S+))?(?: of pod (?P<pod>[-.a-z0-9]+))?`),
		says: "[container {container} ][of pod {pod} ]requests no {resource}, of which a share is to be used", do: "give every container of these pods a request of {resource}, also sidecars",
		commands: list("kubectl -n {namespace} get pod {pod} -o yaml", "kubectl -n {namespace} describe horizontalpodautoscaler {name}"),
	}, {
		code: "MetricsAPIMissing", source: "kubernetes/kubernetes pkg/controller/podautoscaler/metrics; public reports of metrics-server and prometheus-adapter", kinds: hpa,
		text: re(`the server could not find the (?:requested resource|metric)(?: \S+)?(?: for \w+)?(?: \(get (?P<api>[-.a-z0-9]+)\))?|no custom metrics API \((?P<api2>[-.a-z0-9]+)\) registered`),
		says: "there is no API of metrics[ ({api})], or it does not know the metric", do: "install what serves it: the metrics server, or an adapter", commands: list("kubectl get apiservices"),
	}, {
		code: "MetricsMissing", source: "kubernetes/kubernetes pkg/controller/podautoscaler/replica_calculator.go", kinds: hpa, vague: true,
		text: re(`no metrics returned|did not receive metrics|no metrics known|unable to (?:fetch|get) metrics`),
		says: "there are no metrics of its pods", do: "see whether the metrics server reaches the kubelets", commands: list("kubectl -n {namespace} top pods", "kubectl get apiservices"),
	}, {
		code: "ScaleTargetMissing", source: "kubernetes/kubernetes pkg/controller/podautoscaler/horizontal.go", kinds: hpa, reasons: list("FailedGetScale"),
		text: re(`unable to get the target's current scale: (?P<target>[^\n]{1,140})`), says: "what it scales is not there[: {target}]", do: "correct its scaleTargetRef, or create what it names", commands: describe,
	}, {
		code: "AutoscalersCompete", source: "kubernetes/kubernetes pkg/controller/podautoscaler/horizontal.go", kinds: hpa, reasons: list("AmbiguousSelector"),
		text: re(`controlled by multiple hpas: \[?(?P<others>[^\]\n]{1,140})`), says: "several autoscalers scale the same pods[: {others}]", do: "delete all but one", commands: list("kubectl -n {namespace} get horizontalpodautoscalers"),
	}, {
		code: "CertificateExpired", source: "cert-manager/cert-manager pkg/controller/certificates/trigger/policies", kinds: list("Certificate"), reasons: list("Expired"), text: re(`certificate expired on (?P<when>[^\n]{1,60})`),
		says: "the certificate {name} has expired[ on {when}]", do: "see why it was not renewed: its CertificateRequest and its issuer say so", commands: list("kubectl -n {namespace} describe certificate {name}"),
	}, {
		code: "CertificateNotIssued", source: "cert-manager/cert-manager pkg/controller/certificates", kinds: list("Certificate"), types: list("Ready"), vague: true, reasons: list("DoesNotExist", "MissingData", "InvalidKeyPair", "SecretMismatch", "IncorrectIssuer", "Pending", "Failed"), text: re(`(?P<why>[^\n]{1,140})`),
		says: "the certificate {name} is not issued[: {why}]", do: "see what its CertificateRequest, Order and Challenge say", commands: list("kubectl -n {namespace} get certificaterequests,orders,challenges"),
	}, {
		code: "IssuerNotReady", source: "cert-manager/cert-manager pkg/controller/issuers", kinds: list("Issuer", "ClusterIssuer"), types: list("Ready"), text: re(`(?P<why>[^\n]{1,140})`),
		says: "the issuer {name} is not ready[: {why}]", do: "correct what its message names", commands: list("kubectl -n {namespace} describe {kind} {name}", "kubectl describe {kind} {name}"),
	}}
}
