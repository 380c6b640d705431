package drain

// Mark is an annotation by which an autoscaler leaves a pod or node alone. A drain does
// not look at it.
type Mark struct {
	Key   string `json:"key"`   // of the annotation
	Value string `json:"value"` // of the annotation
	Text  string `json:"text"`  // what it means, and to whom
}

// known is an annotation that is a mark if it has a value; empty stands for any.
type known struct{ key, value, text string }

var podMarks = []known{
	{"karpenter.sh/do-not-disrupt", "true", "Karpenter does not remove a node while this pod runs there; a drain evicts it all the same"},
	{"karpenter.sh/do-not-evict", "true", "older versions of Karpenter do not remove a node while this pod runs there; a drain evicts it all the same"},
	{"cluster-autoscaler.kubernetes.io/safe-to-evict", "false", "the cluster autoscaler does not remove a node while this pod runs there; a drain evicts it all the same"},
}

var nodeMarks = []known{
	{"karpenter.sh/do-not-disrupt", "true", "Karpenter does not remove this node by itself"},
	{"karpenter.sh/nodeclaim-termination-timestamp", "", "until then Karpenter waits for the pods; what is left is deleted, whatever its budgets allow"},
	{"karpenter.sh/do-not-consolidate", "true", "older versions of Karpenter do not consolidate this node"},
	{"cluster-autoscaler.kubernetes.io/scale-down-disabled", "true", "the cluster autoscaler does not remove this node"},
}

// marks returns the marks among annotations, in the order of the list.
func marks(annotations map[string]string, list []known) []Mark {
	var all []Mark
	for _, k := range list {
		if v, is := annotations[k.key]; is && (k.value == "" || v == k.value) {
			all = append(all, Mark{k.key, v, k.text})
		}
	}
	return all
}
