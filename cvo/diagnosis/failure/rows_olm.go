package failure

// olmRows are failures of operators that OLM installs.
func olmRows() []row {
	const sub, csv, ip, cs = "Subscription", "ClusterServiceVersion", "InstallPlan", "CatalogSource"
	groups := list("kubectl -n {namespace} get operatorgroups")
	return []row{{
		code: "BundleUnpackFailed", source: "operator-framework/operator-lifecycle-manager pkg/controller/bundle/bundle_unpacker.go",
		kinds: list(sub, ip), reasons: list("DeadlineExceeded", "BackoffLimitExceeded", "BundleUnpackFailed"), text: re(`bundle unpacking failed|unpack job not completed`),
		says: "the operator's bundle was not unpacked in time", do: "repair the image pull of its Job, then delete the Job", commands: list("kubectl get pods,jobs -A -l operatorframework.io/bundle-unpack-ref"),
	}, {
		code: "CatalogsUnhealthy", source: "operator-framework/operator-lifecycle-manager pkg/controller/operators/catalog/subscription",
		kinds: list(sub), types: list("CatalogSourcesUnhealthy"), reasons: list("UnhealthyCatalogSourceFound"), text: re(`no healthy catalog|unhealthy catalog|catalogsource \S+ unhealthy`), link: true,
		says: "a catalog in reach is unhealthy, so nothing is resolved", do: "repair or remove that catalog", commands: list("kubectl get catalogsources -A"),
	}, {
		code: "CatalogUnreachable", source: "operator-framework/operator-lifecycle-manager pkg/controller/registry/grpc/source.go",
		kinds: list(cs, sub), text: re(`TRANSIENT_FAILURE|failed to (?:populate resolver cache|list bundles)[^:]*|error using catalogsource (?P<catalog>\S+?):`), says: "the catalog[ {catalog}] does not answer: its pod or address is down", do: "see why its pod is not ready",
		commands: list("kubectl -n {namespace} get pods -l olm.catalogSource={name}"),
	}, {
		code: "ResolutionFailed", source: "operator-framework/operator-lifecycle-manager pkg/controller/registry/resolver",
		kinds: list(sub), types: list("ResolutionFailed"), vague: true, reasons: list("ConstraintsNotSatisfiable", "ErrorPreventedResolution"), says: "the operators of this namespace cannot be installed together", do: "change what the message names: channel, catalog, or another subscription",
		commands: list("kubectl -n {namespace} describe subscription.operators.coreos.com {name}"),
	}, {
		code: "ApprovalRequired", source: "operator-framework/operator-lifecycle-manager pkg/controller/operators/catalog/subscription",
		kinds: list(sub, ip), reasons: list("RequiresApproval"), says: "an InstallPlan waits for approval", do: "approve it", commands: list("kubectl -n {namespace} get installplans"),
	}, {
		code: "TwoOperatorGroups", source: "operator-framework/operator-lifecycle-manager pkg/controller/operators/olm/operatorgroup.go",
		reasons: list("TooManyOperatorGroups", "MultipleOperatorGroups*"), text: re(`multiple operatorgroups|(?:found )?more than one operatorgroup`), kinds: list(sub, csv, ip, "OperatorGroup"),
		says: "namespace {namespace} has more than one OperatorGroup, so OLM installs nothing in it", do: "delete all but one", commands: groups,
	}, {
		code: "NoOperatorGroup", source: "operator-framework/operator-lifecycle-manager pkg/controller/operators/olm/operator.go",
		reasons: list("NoOperatorGroup"), text: re(`no operator ?group found|csv in namespace with no operatorgroups`), kinds: list(sub, csv, ip),
		says: "namespace {namespace} has no OperatorGroup, so OLM installs nothing in it", do: "create one", commands: groups,
	}, {
		code: "UnsupportedOperatorGroup", source: "operator-framework/operator-lifecycle-manager pkg/controller/operators/olm/operator.go",
		kinds: list(csv, sub, ip), reasons: list("UnsupportedOperatorGroup"), text: re(`(?P<mode>\S+) InstallModeType not supported`), says: "the operator does not support the namespaces that its OperatorGroup selects[ ({mode})]", do: "change the OperatorGroup's targets, or move the operator", commands: groups,
	}, {
		code: "StoredVersionRemoved", source: "operator-framework/operator-lifecycle-manager pkg/lib/crd/storage.go", danger: true,
		text: re(`(?:risk of data loss (?:updating )?"?(?P<crd>[^":]+)"?: )?new CRD removes version (?P<version>\S+) that is listed as a stored version`), says: "the update of the CRD[ {crd}] would lose the stored version[ {version}]", do: "migrate the stored objects, then remove the version from status.storedVersions",
		commands: list("kubectl get crd {crd} -o jsonpath='{.status.storedVersions}'", "kubectl get crd"),
	}, {
		code: "ObjectsInvalidForCRD", source: "operator-framework/operator-lifecycle-manager pkg/controller/operators/catalog/step.go",
		text: re(`error validating existing CRs against new CRD's schema(?: for "(?P<crd>[^"]+)")?`), says: "existing objects do not fit the new schema[ of {crd}]", do: "correct these objects first", commands: list("kubectl get {crd} -A", "kubectl get crd"),
	}, {
		code: "InstallForbidden", source: "operator-framework/operator-lifecycle-manager pkg/controller/operators/catalog/operator.go",
		kinds: list(ip), text: re(`(?:is forbidden|cannot create|cannot (?:get|list|update|patch)).*`), says: "the InstallPlan's service account lacks a permission", do: "grant it to the OperatorGroup's service account", commands: list("kubectl -n {namespace} describe installplan {name}"),
	}, {
		code: "InstallTimeout", source: "operator-framework/operator-lifecycle-manager pkg/controller/operators/olm/operator.go",
		kinds: list(csv), reasons: list("InstallCheckFailed", "NeedsReinstall"), text: re(`install timeout|install strategy failed|deployment \S+ not ready before timeout`), says: "the operator's own deployment does not become available", do: "see why its pods do not start", commands: list("kubectl -n {namespace} get deployments,pods"),
	}, {
		code: "CSVRequirementsNotMet", source: "operator-framework/operator-lifecycle-manager pkg/controller/operators/olm/requirements.go",
		kinds: list(csv), reasons: list("RequirementsNotMet", "RequirementsUnknown"), says: "something that the operator requires is missing", do: "see which requirement is not met", commands: list("kubectl -n {namespace} describe csv {name}"),
	}, {
		code: "OwnerConflict", source: "operator-framework/operator-lifecycle-manager pkg/controller/operators/olm/operator.go",
		kinds: list(csv), reasons: list("OwnerConflict", "InterOperatorGroupOwnerConflict", "CannotModifyStaticOperatorGroupProvidedAPIs"), says: "another operator already provides the same API", do: "remove one of the two", commands: list("kubectl get csv -A"),
	}, {
		code: "OperatorForbidsUpgrade", source: "operator-framework/operator-lifecycle-manager pkg/controller/operators/olm/operatorconditions.go",
		kinds: list(csv, "OperatorCondition"), reasons: list("OperatorConditionNotUpgradeable"), says: "the operator itself forbids its update at present", do: "do what its OperatorCondition says", commands: list("kubectl -n {namespace} get operatorconditions -o yaml"),
	}}
}
