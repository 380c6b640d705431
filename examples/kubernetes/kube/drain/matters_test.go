package drain

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// Changes of a request that the engine reads cause a pass, others do not; one that cannot be
// read does.
func TestRequestMatters(t *testing.T) {
	old := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "jane", "uid": "u", "creationTimestamp": "2026-03-01T11:00:00Z"},
		"spec":     map[string]any{"nodeName": "n1", "requester": "jane"},
	}}
	for _, c := range []struct {
		what  string
		value any
		path  []string
		want  bool
	}{
		{"an annotation", "x", []string{"metadata", "annotations", "example.com/seen"}, false},
		{"a label", "x", []string{"metadata", "labels", "team"}, false},
		{"it is paused", true, []string{"spec", "paused"}, true},
		{"it is cancelled", true, []string{"spec", "cancelled"}, true},
		{"it is deleted", "2026-03-01T12:00:00Z", []string{"metadata", "deletionTimestamp"}, true},
		{"an end is set", "2026-03-01T14:00:00Z", []string{"spec", "until"}, true},
		{"the node is fenced", true, []string{"spec", "fenced"}, true},
		{"another node", "n2", []string{"spec", "nodeName"}, true},
		{"its status is lost", "x", []string{"status", "reason"}, true},
		{"it cannot be read", "soon", []string{"spec", "until"}, true},
	} {
		next := old.DeepCopy()
		if err := unstructured.SetNestedField(next.Object, c.value, c.path...); err != nil {
			t.Fatal(err)
		}
		if got := requestMatters(event.UpdateEvent{ObjectOld: old, ObjectNew: next}); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
