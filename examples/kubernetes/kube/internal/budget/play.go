package budget

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Established is a [Server.Play]: definitions of kinds are established and Deployments rolled out as
// soon as they are written.
func Established(o *unstructured.Unstructured) bool {
	var status map[string]any
	switch o.GetKind() {
	case "CustomResourceDefinition":
		status = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}, map[string]any{"type": "NamesAccepted", "status": "True"}}}
	case "Deployment":
		one := int64(1)
		status = map[string]any{
			"observedGeneration": o.GetGeneration(), "replicas": one, "updatedReplicas": one, "readyReplicas": one, "availableReplicas": one,
			"conditions": []any{map[string]any{"type": "Available", "status": "True"}, map[string]any{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}},
		}
	default:
		return false
	}
	if reflect.DeepEqual(o.Object["status"], status) {
		return false
	}
	o.Object["status"] = status
	return true
}
