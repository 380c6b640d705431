package failure

import "strings"

const co = "ClusterOperator"

// controlRows are failures of the control plane and of cluster operators.
func controlRows() []row {
	return []row{{
		code: "EtcdNoSpace", source: "etcd-io/etcd api/v3rpc/rpctypes/error.go; etcd's documentation on maintenance", danger: true,
		text: re(`mvcc: database space exceeded|alarm:? ?NOSPACE`), says: "etcd has reached its space quota and refuses writes", do: "defragment its members one after the other, then disarm the alarm",
		commands: list("oc -n openshift-etcd get pods -l app=etcd -o wide"),
	}, {
		code: "EtcdMembersUnhealthy", source: "openshift/cluster-etcd-operator pkg/operator/etcdmemberscontroller", danger: true,
		kinds: list(co), reasons: list("*EtcdMembers_UnhealthyMembers*"), text: re(`(?P<up>\d+) of (?P<all>\d+) members are available(?:, (?P<member>[a-z0-9][-.a-z0-9]*) is unhealthy)?`), of: Object{Kind: "Node", Name: "{member}"}, link: true,
		says: "etcd has[ {up} of {all}] healthy members only[: {member} is unhealthy]; one more loss can cost the quorum", do: "bring the member back before anything else of the control plane restarts",
		commands: list("oc -n openshift-etcd logs etcd-{member} -c etcd --tail=50", "oc -n openshift-etcd get pods -l app=etcd -o wide"),
	}, {
		code: "EtcdNoLeader", source: "etcd-io/etcd api/v3rpc/rpctypes/error.go", danger: true,
		text: re(`etcdserver: (?:no leader|leader changed|request timed out|too many requests)|raft: no (?:elected )?leader`), says: "etcd has no stable leader: requests to the API fail or are slow", do: "look at its members, and at the latency of their disks",
		commands: list("oc -n openshift-etcd get pods -l app=etcd -o wide"),
	}, {
		code: "EtcdClockDifference", source: "etcd-io/etcd server/etcdserver/api/rafthttp/probing_status.go",
		text: re(`clock difference between peers|prober found high clock drift|NodeClockNotSynchronising`), says: "the clocks of control plane nodes differ", do: "repair time synchronisation (chrony)",
		commands: list("oc get nodes -l node-role.kubernetes.io/control-plane -o name"),
	}, {
		code: "ControlPlaneNodeNotReady", source: "openshift/library-go pkg/operator/staticpod/controller/node/node_controller.go",
		kinds: list(co), reasons: list("NodeController_MasterNodesReady*"), text: re(`master nodes not ready: node "(?P<node>[^"]+)" not ready`), of: Object{Kind: "Node", Name: "{node}"}, link: true,
		says: "a control plane node[, {node},] is not ready", do: "bring the node back", commands: list("oc describe node {node}"),
	}, {
		code: "StaticPodMissing", source: "openshift/library-go pkg/operator/staticpod/controller/missingstaticpod",
		kinds: list(co), text: re(`static pod: "(?P<pod>[^"]+)" in namespace: "(?P<ns>[^"]+)" for revision: \d+ on node: "(?P<node>[^"]+)" didn't show up`), of: Object{Kind: "Node", Name: "{node}"},
		says: "the kubelet of node {node} did not start the new static pod {pod}", do: "restart the kubelet there if its log shows no reason", commands: list("oc adm node-logs {node} -u kubelet --tail=100"),
	}, {
		code: "InstallerFailed", source: "openshift/library-go pkg/operator/staticpod/controller/installer", vague: true,
		kinds: list(co), reasons: list("*NodeInstaller_InstallerPodFailed*"), text: re(`installer(?: pod)? (?:errors|failed)`), says: "an installer pod of the static pods fails", do: "read the installer pod's log",
		commands: list("oc get pods -A -l app=installer"),
	}, {
		code: "KubeletSkew", source: "openshift/cluster-kube-apiserver-operator pkg/operator/kubeletversionskewcontroller; public report okd#1577",
		reasons: list("*KubeletMinorVersionUnsupported*"), text: re(`kubelet (?:minor )?versions?.* (?:on|on nodes?) (?P<node>[a-z0-9][-.a-z0-9]*).* will not be supported`),
		says: "nodes run a kubelet that is too old for the next minor version", do: "unpause and update their pools first", commands: list("oc get machineconfigpools; oc get nodes"),
	}, {
		code: "OperatorsIncompatible", source: "operator-framework/operator-lifecycle-manager pkg/controller/operators/openshift",
		reasons: list("IncompatibleOperatorsInstalled", "*IncompatibleOperatorsInstalled"), text: re(`clusterserviceversions blocking (?:cluster upgrade|minor version upgrades)[^:]*: (?P<csvs>.+)`),
		says: "installed operators do not support the next minor version[: {csvs}]", do: "update or remove these operators first", commands: list("oc get csv -A"),
	}, {
		code: "CredentialsNotConfirmed", source: "openshift/cloud-credential-operator pkg/operator/status",
		reasons: list("MissingUpgradeableAnnotation", "*MissingUpgradeableAnnotation"), text: re(`upgradeable-to on cloudcredential`),
		says: "credentials are managed by hand, and nobody confirmed that they suit the next minor version", do: "prepare the new release's credentials, then annotate the CloudCredential with cloudcredential.openshift.io/upgradeable-to",
		commands: list("oc get cloudcredential cluster -o yaml"),
	}, {
		code: "CredentialsFailing", source: "openshift/cloud-credential-operator pkg/operator/constants",
		reasons: list("CredentialsFailing", "CredentialsProvisionFailure"), text: re(`\d+ of \d+ credentials requests are failing`), says: "the cloud credentials that operators request are not provided", do: "see which CredentialsRequest fails, and why",
		commands: list("oc -n openshift-cloud-credential-operator get credentialsrequests"),
	}, {
		code: "PoolUpdating", source: "openshift/machine-config-operator pkg/operator/status.go",
		reasons: list("PoolUpdating"), kinds: list(co), says: "machine config pools are still being updated", do: "wait until they are", commands: list("oc get machineconfigpools"),
	}, {
		code: "FeatureSetNoUpgrade", source: "openshift/cluster-config-operator, cluster-kube-apiserver-operator pkg/operator/featureupgradablecontroller",
		reasons: list("*RestrictedFeatureGates*", "*FeatureGates*"), text: re(`(?P<set>TechPreviewNoUpgrade|CustomNoUpgrade|DevPreviewNoUpgrade).*(?:prevents?|does not allow|no ?upgrade)`),
		says: "the feature set[ {set}] allows no minor update, ever", do: "install a new cluster: the set cannot be unset", commands: list("oc get featuregate cluster -o yaml"),
	}}
}

// workloadRows are what an operator, or a ClusterVersion, says of a workload that it waits for.
func workloadRows() []row {
	rows := []row{{
		code: "PodUnschedulable", source: "prometheus-operator pkg/operator/status.go; kubernetes/kubernetes pkg/scheduler/framework/types.go",
		kinds: list(co), text: re(`pod (?P<pod>[a-z0-9][-.a-z0-9]*): (?P<why>\d+/\d+ nodes are available: [^\n]*?)(?:\.? preemption:|\.?$)`), also: res(`"(?P<ns>openshift-[-a-z0-9]+)/[^"]+"`),
		of: Object{"Pod", "{ns}", "{pod}"}, link: true, says: "its pod {pod} has no node: {why}", do: "see what keeps that pod from the nodes", commands: list("oc -n {ns} describe pod {pod}", "oc get pods -A -o wide | grep {pod}"),
	}}
	for _, kind := range list("Deployment", "DaemonSet", "StatefulSet") {
		what := strings.ToLower(kind)
		rows = append(rows, row{
			code: "RolloutHung", source: "openshift/cluster-network-operator pkg/controller/statusmanager/pod_status.go",
			kinds: list(co), text: re(what + ` "/?(?P<ns>[^"/\s]+)/(?P<workload>[^"\s]+)" rollout is not making progress - pod (?P<pod>\S+) is in (?P<state>\S+) state`),
			of: Object{"Pod", "{ns}", "{pod}"}, link: true, says: what + " {ns}/{workload} does not get ready: pod {pod} is in {state}", do: "see why that pod does not start", commands: list("oc -n {ns} describe pod {pod}"),
		}, row{
			code: "WorkloadNotReady", source: "openshift/library-go pkg/operator/deploymentcontroller; openshift/machine-config-operator pkg/operator/sync.go; cluster-version-operator lib/resourcebuilder/apps.go",
			kinds: list(co, "ClusterVersion"), vague: true, text: re(`(?P<what>` + what + `) "?/?(?:(?P<ns>[-.a-z0-9]+)/)?(?P<workload>[a-z0-9][-.a-z0-9]*)"? (?:rollout is not making progress|is not (?:ready|available))`), also: res(`desired: (?P<want>\d+)[^)]*?[^n]ready: (?P<ready>\d+)`),
			of: Object{kind, "{ns}", "{workload}"}, link: true, says: what + " [{ns}/]{workload} is not ready[: {ready} of {want} pods are]", do: "see why its pods are not ready", commands: list("oc -n {ns} describe {what} {workload}", "oc get pods -A -o wide | grep {workload}"),
		})
	}
	return rows
}

// operatorRows are failures that cluster operators report about what they manage.
func operatorRows() []row {
	return []row{{
		code: "SDNMustMigrate", source: "openshift/cluster-network-operator pkg/controller/statusmanager",
		kinds: list(co), text: re(`OpenShiftSDN.*(?:not supported|deprecated|must|migrate)`), says: "the network plugin OpenShiftSDN does not exist in the next version", do: "migrate to OVNKubernetes first",
		commands: list("oc get network.config cluster -o yaml"),
	}, {
		code: "RouterNotScheduled", source: "openshift/cluster-ingress-operator pkg/operator/controller/ingress/status.go",
		kinds: list(co), text: re(`pod "(?P<pod>router-[-a-z0-9]+)" cannot be scheduled`), of: Object{"Pod", "openshift-ingress", "{pod}"}, link: true,
		says: "a router pod[, {pod},] has no node", do: "see what keeps it from the nodes", commands: list("oc -n openshift-ingress describe pod {pod}"),
	}, {
		code: "CanaryFails", source: "openshift/cluster-ingress-operator pkg/operator/controller/canary",
		kinds: list(co), text: re(`canary (?:route )?checks for the default ingress controller are failing|CanaryChecksRepetitiveFailures`), says: "routes of the default ingress controller are not reachable from inside the cluster", do: "check DNS of the apps domain, and the load balancer",
		commands: list("oc -n openshift-ingress-operator logs deployment/ingress-operator -c ingress-operator --tail=30"),
	}, {
		code: "RouteUnreachable", source: "openshift/cluster-authentication-operator pkg/controllers/oauthendpoints; openshift/console-operator pkg/console/controllers/healthcheck",
		kinds: list(co), reasons: list("*OAuthServerRouteEndpointAccessible*", "*RouteHealth_*"), text: re(`get "https://(?P<host>(?:oauth-openshift|console-openshift-console)\.[^/":]+)`), of: Object{Kind: co, Name: "ingress"}, link: true,
		says: "its own route[, {host},] does not answer", do: "check the ingress operator, and DNS of the apps domain", commands: list("oc get clusteroperator ingress -o yaml"),
	}, {
		code: "RegistryStorageMissing", source: "openshift/cluster-image-registry-operator pkg/operator",
		kinds: list(co), reasons: list("StorageNotConfigured"), text: re(`storage backend not configured|unable to (?:apply|sync) storage`), says: "the image registry has no storage", do: "give it storage, or set managementState to Removed",
		commands: list("oc get configs.imageregistry.operator.openshift.io cluster -o yaml"),
	}, {
		code: "LoadBalancerFailed", source: "openshift/cluster-ingress-operator pkg/operator/controller/ingress/load_balancer_status.go",
		reasons: list("SyncLoadBalancerFailed"), text: re(`the (?:service )?load ?balancer (?:reported|service).*(?:error|failed)|error syncing load balancer`), says: "the cloud does not provide the load balancer", do: "correct what the cloud's error names (quota, permissions, subnets)",
		commands: list("kubectl -n {namespace} describe service {name}", "oc -n openshift-ingress describe service router-default"),
	}, {
		code: "ImagePrunerFailed", source: "openshift/cluster-image-registry-operator pkg/operator/imageprunercontroller",
		kinds: list(co), reasons: list("*ImagePrunerJobFailed*"), says: "the last run of the image pruner failed", do: "read the log of its pod",
		commands: list("oc -n openshift-image-registry get jobs,pods"),
	}, {
		code: "DNSPodsMissing", source: "openshift/cluster-dns-operator pkg/operator/controller/dns_status.go",
		kinds: list(co), text: re(`have (?P<have>\d+) available dns pods, want (?:at least )?(?P<want>\d+)`), says: "{have} DNS pods are available, and at least {want} should be", do: "see which of them are not ready, and on which nodes",
		commands: list("oc -n openshift-dns get pods -o wide"),
	}, {
		code: "CloudLoginRefused", source: "vmware/govmomi; AWS and Azure API error codes; public reports of openshift/vmware-vsphere-csi-driver-operator",
		text: re(`cannot complete login due to an incorrect user name or password|InvalidClientTokenId|SignatureDoesNotMatch|AADSTS\d+|invalid_client`), says: "the cloud refuses the cluster's credentials", do: "correct them (on OpenShift, the secret of the cloud in kube-system)",
		commands: list("oc -n kube-system get secrets"),
	}, {
		code: "CertificateRequestsPending", source: "public reports of openshift/machine-api and kubernetes: kubelet serving certificates",
		text: re(`remote error: tls: internal error|pending (?:csr|certificate signing request)s?`), says: "a kubelet has no serving certificate: its request waits for approval", do: "approve the pending requests, if the nodes are yours",
		commands: list("kubectl get certificatesigningrequests"),
	}}
}
