package failure

// storageRows are failures of volumes.
func storageRows() []row {
	claims := list("kubectl -n {namespace} describe pvc {claim}", "kubectl -n {namespace} get pvc", "kubectl get pvc -A")
	return []row{{
		code: "VolumeAttachedElsewhere", source: "kubernetes/kubernetes pkg/controller/volume/attachdetach/reconciler",
		text: re(`multi-attach error for volume "(?P<volume>[^"]+)"|already exclusively attached to one node|(?:already )?attached to (?:another|an) (?:instance|node|vm)\b|RESOURCE_IN_USE_BY_ANOTHER_RESOURCE|VolumeInUse`), says: "the volume[ {volume}] is still attached to another node", do: "let that node detach it; if the node is off for good, give it the out-of-service taint",
		commands: list("kubectl get volumeattachments"),
	}, {
		code: "VolumeNotDetached", source: "kubernetes-sigs/cluster-api internal/controllers/machine; public report cluster-api#6285",
		kinds: list("Machine"), text: re(`waiting for (?:node )?volumes? (?:to be )?detach`), says: "volumes of its node are still attached", do: "see which VolumeAttachment remains, and why", commands: list("kubectl get volumeattachments"),
	}, {
		code: "ClaimMissing", source: "kubernetes/kubernetes pkg/scheduler/framework/plugins/volumebinding",
		text: re(`persistentvolumeclaim "(?P<claim>[-.a-z0-9]+)" not found`), of: Object{"PersistentVolumeClaim", "{namespace}", "{claim}"}, says: "the claim {claim} does not exist", do: "create it", commands: claims[1:],
	}, {
		code: "ClaimUnbound", source: "kubernetes/kubernetes pkg/scheduler/framework/plugins/volumebinding",
		text: re(`unbound immediate PersistentVolumeClaims`), says: "a claim of the pod has no volume", do: "see why its storage class provides none", commands: claims[1:],
	}, {
		code: "VolumeElsewhere", source: "kubernetes/kubernetes pkg/scheduler/framework/plugins/volumebinding, volumezone",
		text: re(`volume node affinity conflict|no available volume zone`), says: "its volume is in a zone or on a node where the pod cannot run", do: "bring back a node of that zone", commands: claims[1:],
	}, {
		code: "ProvisioningFailed", source: "kubernetes-csi/external-provisioner pkg/controller",
		text: re(`failed to provision volume with StorageClass "(?P<class>[^"]+)"|storageclass\S* "(?P<class2>[^"]+)" not found`), says: "the storage class[ {class}] provides no volume", do: "correct what the driver's message names", commands: list("kubectl get storageclass {class} -o yaml", "kubectl get storageclasses"),
	}, {
		code: "SecretMissing", source: "kubernetes/kubernetes pkg/kubelet/kuberuntime, pkg/volume/secret",
		text: re(`secrets? "(?P<secret>[-.a-z0-9]+)" not found|references non-existent secret key: (?P<key>\S+)`), of: Object{"Secret", "{namespace}", "{secret}"}, says: "the Secret[ {secret}] that it needs does not exist", do: "create the Secret[ {secret}]", commands: list("kubectl -n {namespace} get secrets", "kubectl get secrets -A"),
	}, {
		code: "ConfigMapMissing", source: "kubernetes/kubernetes pkg/kubelet/kuberuntime, pkg/volume/configmap",
		text: re(`configmaps? "(?P<map>[-.a-z0-9]+)" not found|references non-existent config key: (?P<key>\S+)`), of: Object{"ConfigMap", "{namespace}", "{map}"}, says: "the ConfigMap[ {map}] that it needs does not exist", do: "create the ConfigMap[ {map}]", commands: list("kubectl -n {namespace} get configmaps", "kubectl get configmaps -A"),
	}, {
		code: "MountFailed", source: "kubernetes/kubernetes pkg/kubelet/volumemanager", vague: true,
		text: re(`(?:(?:Mount|Attach)Volume\.\S+ failed|unable to attach or mount volumes|failed to attach volume)`), says: "a volume of the pod is not mounted", do: "read the event's cause, and check the storage driver on the node", commands: list("kubectl -n {namespace} describe pod {name}"),
	}}
}
