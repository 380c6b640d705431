package failure

// apiRows are failures of the API: webhooks, aggregated APIs, namespaces, kinds, permissions.
func apiRows() []row {
	service := Object{"Service", "{ns}", "{service}"}
	post := res(`https://(?P<service>[-a-z0-9]+)\.(?P<ns>[-a-z0-9]+)\.svc`)
	look := list("kubectl -n {ns} get pods,endpoints {service}", "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations")
	look[0] = "kubectl -n {ns} get endpoints {service}"
	return []row{{
		code: "WebhookWithoutEndpoints", source: "kubernetes/apiserver pkg/admission/plugin/webhook; kube-aggregator pkg/apiserver",
		text: re(`failed (?:calling|to call) webhook[^\n]*?no endpoints available for service "?(?P<service>[-a-z0-9]+)"?`), also: post, of: service,
		says: "a webhook cannot be called: its service[ {ns}/{service}] has no ready pod", do: "bring up the pods of that service; if it was removed, delete its webhook configuration", commands: look,
	}, {
		code: "WebhookServiceMissing", source: "kubernetes/apiserver pkg/util/webhook",
		text: re(`failed (?:calling|to call) webhook(?: "(?P<hook>[^"]+)")?[^\n]*?service "(?P<service>[-a-z0-9]+)" not found`), also: post, of: service,
		says: "a webhook[ {hook}] calls the service[ {service}], which does not exist", do: "delete the webhook configuration that was left behind, or restore the service", commands: list("kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations"),
	}, {
		code: "WebhookCertificate", source: "kubernetes/apiserver pkg/admission/plugin/webhook",
		text: re(`failed (?:calling|to call) webhook(?: "(?P<hook>[^"]+)")?[^\n]*?x509`), also: post, of: service,
		says: "the certificate of a webhook[ {hook}] is not accepted", do: "renew it, or the caBundle of its configuration", commands: look[1:],
	}, {
		code: "WebhookUnreachable", source: "kubernetes/apiserver pkg/admission/plugin/webhook",
		text: re(`failed (?:calling|to call) webhook(?: "(?P<hook>[^"]+)")?[^\n]*?(?:context deadline exceeded|connection refused|i/o timeout|timed out|: EOF|no route to host)`), also: post, of: service,
		says: "a webhook[ {hook}] does not answer", do: "check the pods of its service[ {ns}/{service}], and the network to it", commands: look,
	}, {
		code: "WebhookDenied", source: "kubernetes/apiserver pkg/admission/plugin/webhook/errors/statuserror.go",
		text: re(`admission webhook "(?P<hook>[^"]+)" denied the request`), says: "the webhook {hook} refuses the object", do: "do what its message says, or change the policy behind it", commands: list("kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations"),
	}, {
		code: "APIServiceUnavailable", source: "kubernetes/kube-aggregator pkg/controllers/status",
		kinds: list("APIService"), types: list("Available"), reasons: list("FailedDiscoveryCheck", "MissingEndpoints", "ServiceNotFound", "ServicePortError", "EndpointsNotFound"),
		says: "the API {name} is served by a service that does not answer", do: "bring up the pods of its service, or delete the APIService if its owner is gone", commands: list("kubectl get apiservice {name} -o yaml"),
	}, {
		code: "APIServiceUnavailable", source: "kubernetes/apimachinery pkg/api/errors",
		text: re(`(?:(?P<api>[a-z0-9.-]+/v\d\w*): )?(?:the server is currently unable to handle the request|stale GroupVersion discovery)`), says: "an aggregated API[ {api}] does not answer", do: "bring up the pods of its service, or delete the APIService if its owner is gone",
		commands: list("kubectl get apiservices"),
	}, {
		code: "APIServiceUnavailable", source: "openshift/library-go pkg/operator/apiserver/controller/apiservice",
		kinds: list(co), text: re(`apiservices\.apiregistration\.k8s\.io/(?P<service>v[^\s:]+): not available`), also: res(`response from (?P<url>https://[^\s/]+)`), says: "nothing answers for the API {service}[ at {url}]", do: "see whether the pods behind it run, and whether the control plane's nodes reach them",
		commands: list("oc get apiservice {service} -o yaml"),
	}, {
		code: "NamespaceFinalizers", source: "kubernetes/kubernetes pkg/controller/namespace/deletion/status_condition_utils.go",
		kinds: list("Namespace"), types: list("NamespaceFinalizersRemaining"), reasons: list("SomeFinalizersRemain"), text: re(`finalizers remaining: (?P<finalizer>\S+) in`),
		also: res(`remaining: (?P<resource>[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?)\.? has (?P<count>\d+) resource`),
		says: "namespace {name} cannot be deleted: finalizer {finalizer} holds objects in it[: {count} {resource}]", do: "bring back the controller of this finalizer; remove the finalizer only if that controller is gone for good",
		commands: list("kubectl -n {name} get {resource}", "kubectl get namespace {name} -o yaml"),
	}, {
		code: "NamespaceContentRemains", source: "kubernetes/kubernetes pkg/controller/namespace/deletion/status_condition_utils.go",
		kinds: list("Namespace"), types: list("NamespaceContentRemaining"), reasons: list("SomeResourcesRemain"), text: re(`remaining: (?P<kinds>(?P<resource>[a-z0-9][-.a-z0-9]*) .+)`), says: "namespace {name} is being deleted, and objects in it remain[: {kinds}]", do: "see what holds them",
		commands: list("kubectl -n {name} get {resource} -o yaml", "kubectl get namespace {name} -o yaml"),
	}, {
		code: "NamespaceDiscovery", source: "kubernetes/kubernetes pkg/controller/namespace/deletion",
		kinds: list("Namespace"), types: list("NamespaceDeletionDiscoveryFailure"), reasons: list("DiscoveryFailed"), text: re(`(?P<api>[a-z0-9.-]+/v\d\w*): `), says: "namespace {name} cannot be deleted while an API[, {api},] does not answer", do: "repair or delete its APIService",
		commands: list("kubectl get apiservices"),
	}, {
		code: "NamespaceTerminating", source: "kubernetes/apiserver pkg/admission/plugin/namespace/lifecycle",
		text: re(`unable to create new content in namespace (?P<ns>[-a-z0-9]+) because it is being terminated`), of: Object{Kind: "Namespace", Name: "{ns}"}, link: true, says: "namespace {ns} is being deleted, so nothing can be created in it", do: "see what holds its deletion", commands: list("kubectl get namespace {ns} -o yaml"),
	}, {
		code: "CRDTerminating", source: "kubernetes/apiextensions-apiserver pkg/controller/finalizer/crd_finalizer.go",
		kinds: list("CustomResourceDefinition"), types: list("Terminating"), reasons: list("InstanceDeletionInProgress", "InstanceDeletionFailed", "InstanceDeletionPending"), says: "the CRD {name} is being deleted, and finalizers hold its objects", do: "bring back their controller; remove the finalizers only if it is gone for good",
		commands: list("kubectl get {name} -A"),
	}}
}

// refusedRows are objects that the API refuses.
func refusedRows() []row {
	return []row{{
		code: "KindRemoved", source: "kubernetes/apimachinery pkg/api/meta/errors.go; the guide of removed APIs",
		text: re(`no matches for kind "(?P<gone>[^"]+)" in version "(?P<api>[^"]+)"`), says: "{gone} of {api} does not exist in this cluster: the API was removed, or its CRD is not installed", do: "use the version that the cluster serves, or install the CRD", commands: list("kubectl api-resources"),
	}, {
		code: "DeprecatedAPIInUse", source: "openshift/cluster-kube-apiserver-operator manifests: alerts APIRemovedInNextReleaseInUse, APIRemovedInNextEUSReleaseInUse",
		text: re(`APIRemovedInNext(?:EUS)?ReleaseInUse|api(?:s)? .*(?:will be|is) removed in (?:the next|a future)`), says: "clients still use an API that a later release removes", do: "find these clients, and update them", commands: list("oc get apirequestcounts"),
	}, {
		code: "FieldImmutable", source: "kubernetes/kubernetes pkg/apis: validation of updates",
		text: re(`(?P<field>spec[.\w\[\]]*)?[^\n]{0,80}field is immutable`), says: "a field[, {field},] cannot be changed once the object exists", do: "delete the object, if that loses nothing, so that it is created again", commands: list("kubectl -n {namespace} get {kind} {name} -o yaml", "kubectl get {kind} {name} -o yaml"),
	}, {
		code: "QuotaExceeded", source: "kubernetes/apiserver pkg/admission/plugin/resourcequota",
		text: re(`exceeded quota: (?P<quota>[-.a-z0-9]+)(?:, (?P<numbers>requested: [^"\n]{1,160}))?`), of: Object{"ResourceQuota", "{namespace}", "{quota}"}, says: "the quota[ {namespace}/{quota}] is used up[: {numbers}]", do: "raise the quota, or free resources", commands: list("kubectl -n {namespace} describe resourcequota {quota}", "kubectl get resourcequotas -A"),
	}, {
		code: "QuotaDemands", source: "kubernetes/apiserver pkg/admission/plugin/resourcequota",
		text: re(`failed quota: (?P<quota>[-.a-z0-9]+): must specify (?P<what>[^\n"]{1,120})`), of: Object{"ResourceQuota", "{namespace}", "{quota}"}, says: "the quota[ {namespace}/{quota}] demands what the pod does not state: {what}", do: "state it in the workload's containers, or give the namespace a LimitRange with defaults", commands: list("kubectl -n {namespace} describe resourcequota {quota}", "kubectl get resourcequotas -A"),
	}, {
		code: "SecurityConstraint", source: "openshift/apiserver-library-go pkg/securitycontextconstraints",
		text: re(`unable to validate against any security context constraint`), says: "no security context constraint allows the pod", do: "give its service account one that does, or lower what the pod demands", commands: list("oc get scc"),
	}, {
		code: "PodSecurity", source: "kubernetes/pod-security-admission admission/admission.go",
		text: re(`violates PodSecurity "(?P<level>[^"]+)"`), says: "the pod security level {level} of the namespace forbids the pod", do: "correct its securityContext, or the namespace's label", commands: list("kubectl get namespace {namespace} --show-labels", "kubectl get namespaces --show-labels"),
	}, {
		code: "ServiceAccountMissing", source: "kubernetes/kubernetes plugin/pkg/admission/serviceaccount",
		text: re(`error looking up service account (?P<ns>[-a-z0-9]+)/(?P<account>[-.a-z0-9]+)|serviceaccount "(?P<account2>[^"]+)" not found`), says: "the service account[ {ns}/{account}] does not exist", do: "create the service account, or correct the name in the workload", commands: list("kubectl -n {ns} create serviceaccount {account}", "kubectl -n {ns} get serviceaccounts", "kubectl get serviceaccounts -A"),
	}, {
		code: "Forbidden", source: "kubernetes/apiserver pkg/endpoints/handlers/responsewriters/errors.go",
		text: re(`user "(?P<user>[^"]+)" cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)"`), says: "{user} may not {verb} {resource}", do: "grant that permission", commands: list("kubectl auth can-i {verb} {resource} --as={user}"),
	}, {
		code: "BudgetNotComputed", source: "kubernetes/kubernetes pkg/controller/disruption/disruption.go",
		kinds: list("PodDisruptionBudget"), types: list("DisruptionAllowed"), reasons: list("SyncFailed"), says: "the budget is not computed, so it allows no eviction", do: "correct what the message names; minAvailable as a number needs no scale subresource", commands: list("kubectl -n {namespace} describe pdb {name}"),
	}}
}
