package failure

const version = "ClusterVersion"

// updateRows are failures of a ClusterVersion.
func updateRows() []row {
	return []row{{
		code: "SignatureNotVerified", source: "openshift/cluster-version-operator pkg/cvo/updatepayload.go; public report okd#2176",
		kinds: list(version), text: re(`update cannot be verified|unable to (?:verify|locate) (?:a valid signature|sha256:\S+)`),
		also: res(`version="(?P<version>[^"]+)"`, `(?P<digest>sha256:[0-9a-f]{64})`),
		says: "the release[ {version}] cannot be verified: the cluster finds no signature for it", do: "provide the release's signature (mirror it with the release)",
		commands: list("oc -n openshift-config-managed get configmaps -l release.openshift.io/verification-signatures"),
	}, {
		code: "AdminAckRequired", source: "openshift/cluster-version-operator pkg/cvo/upgradeable.go; public report operate-first#453",
		reasons: list("AdminAckRequired", "*AdminAckRequired"), text: re(`admin ack|administrator ack|kubernetes \S+ .*remove several apis|admin-?ack`), kinds: list(version),
		says: "the next minor version needs an administrator's acknowledgement", do: "read the article that the message names, then acknowledge in the ConfigMap openshift-config/admin-acks",
		commands: list("oc -n openshift-config-managed get configmap admin-gates -o yaml"),
	}, {
		code: "OverridesSet", source: "openshift/cluster-version-operator pkg/cvo/upgradeable.go; public report okd#1461",
		kinds: list(version), reasons: list("ClusterVersionOverridesSet"), text: re(`cluster version overrides prevents? upgrades`),
		says: "spec.overrides of the ClusterVersion keeps components from being managed, which holds updates", do: "remove spec.overrides",
		commands: list(`oc patch clusterversion version --type json -p '[{"op":"remove","path":"/spec/overrides"}]'`),
	}, {
		code: "LowerVersionRequested", source: "openshift/cluster-version-operator pkg/payload/precondition/clusterversion/rollback.go",
		kinds: list(version), reasons: list("LowDesiredVersion"), text: re(`(?P<to>\d\S+) is less than the current target (?P<from>\d[^\s,]+)`),
		says: "a version lower than the current one was requested[ ({to}, below {from})]", do: "withdraw the request",
		commands: list("oc adm upgrade --clear"),
	}, {
		code: "MinorSkipped", source: "openshift/cluster-version-operator pkg/payload/precondition/clusterversion/gianthop.go",
		kinds: list(version), reasons: list("MajorMinorUpdateTooBig", "GiantHop"), text: re(`(?P<to>\d\S+) is (?:too large|more than one minor)|skipping? minor version`),
		says: "the requested version skips a minor version", do: "request a version of the next minor version first", commands: list("oc adm upgrade"),
	}, {
		code: "NotRecommended", source: "openshift/cluster-version-operator pkg/payload/precondition/clusterversion/recommendedupdate.go",
		kinds: list(version), types: list("ReleaseAccepted"), text: re(`ClusterVersionRecommendedUpdate|update from \S+ to (?P<to>\S+) is not recommended|is not recommended`),
		says: "the update[ to {to}] is not recommended for this cluster", do: "read the risks; accept them only if they are acceptable", commands: list("oc adm upgrade --include-not-recommended"),
	}, {
		code: "EtcdBackupFailed", source: "openshift/cluster-version-operator pkg/payload/precondition/clusterversion/etcdbackup.go, openshift/cluster-etcd-operator pkg/operator/upgradebackupcontroller (00cd7763): the operator makes the backup itself, with a pod; others do not count",
		kinds: list(version), text: re(`EtcdRecentBackup|RecentBackup`), says: "the update waits for the backup of etcd that the etcd operator makes", do: "see how far the pod of the backup is",
		commands: list("oc -n openshift-etcd describe pod cluster-backup"),
	}, {
		code: "ReleaseNotRetrieved", source: "openshift/cluster-version-operator pkg/cvo/updatepayload.go",
		kinds: list(version), text: re(`unable to download and prepare the update`), also: res(`version="(?P<version>[^"]+)"`),
		says: "the image of the release[ {version}] was not unpacked in time", do: "see why the pods of the Job version do not finish (image pull, scheduling)",
		commands: list("oc -n openshift-cluster-version get pods,jobs"),
	}, {
		code: "UpdateServiceUnreachable", source: "openshift/cluster-version-operator pkg/cincinnati/cincinnati.go",
		kinds: list(version), types: list("RetrievedUpdates"), reasons: list("RemoteFailed"), says: "the update service cannot be reached", do: "check the proxy and spec.upstream of the ClusterVersion",
		commands: list("oc get clusterversion version -o jsonpath='{.spec.upstream}'; oc get proxy cluster -o yaml"),
	}, {
		code: "UpdateServiceAnswer", source: "openshift/cluster-version-operator pkg/cincinnati/cincinnati.go",
		kinds: list(version), types: list("RetrievedUpdates"), reasons: list("ResponseFailed", "ResponseInvalid"), says: "the update service answers with an error", do: "check that spec.upstream names an update service",
		commands: list("oc get clusterversion version -o jsonpath='{.spec.upstream}'"),
	}, {
		code: "VersionNotInChannel", source: "openshift/cluster-version-operator pkg/cincinnati/cincinnati.go",
		kinds: list(version), types: list("RetrievedUpdates"), reasons: list("VersionNotFound"), text: re(`currently reconciling cluster version (?P<version>\S+) not found in the "(?P<channel>[^"]+)" channel`),
		says: "[channel {channel} does not contain ]the cluster's version[ {version}], so no updates are offered", do: "choose a channel that contains it", commands: list("oc adm upgrade channel"),
	}, {
		code: "NoChannel", source: "openshift/cluster-version-operator pkg/cvo/availableupdates.go",
		kinds: list(version), types: list("RetrievedUpdates"), reasons: list("NoChannel"), says: "no channel is set, so no updates are offered", do: "set a channel", commands: list("oc adm upgrade channel"),
	}, {
		code: "DeletionInProgress", source: "openshift/cluster-version-operator pkg/cvo/upgradeable.go",
		kinds: list(version), reasons: list("ResourceDeletesInProgress"), says: "resources that the release removes are still being deleted", do: "see which finalizers hold them",
		commands: list("oc get clusterversion version -o yaml"),
	}, {
		code: "ResourceInvalid", source: "openshift/cluster-version-operator pkg/payload/task.go",
		kinds: list(version), reasons: list("UpdatePayloadResourceInvalid", "ResourceInvalid"), text: re(`could not update (?P<what>\S+ "[^"]+"[^:]*?): the object is invalid`),
		says: "[{what} of ]the release is refused as invalid by the API", do: "look for a webhook or a local change that refuses it", commands: list("oc -n openshift-cluster-version logs deployment/cluster-version-operator --tail=50"),
	}, {
		code: "ReleaseImageMismatch", source: "openshift/cluster-version-operator pkg/payload/payload.go",
		kinds: list(version), reasons: list("UpdatePayloadIntegrity", "UpdatePayloadInvalid"), says: "the content of the release image is not valid", do: "mirror the release again, or request another version",
		commands: list("oc adm upgrade --clear"),
	}}
}
