package plan

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// What a ClusterVersion or a pool is asked for and what it reports causes a pass; what others
// note on it does not.
func TestChanged(t *testing.T) {
	old := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "version"}, "spec": map[string]any{"channel": "a"}, "status": map[string]any{"observedGeneration": int64(1)}}}
	for _, c := range []struct {
		path []string
		want bool
	}{
		{[]string{"metadata", "annotations", "example.com/seen"}, false},
		{[]string{"metadata", "resourceVersion"}, false},
		{[]string{"spec", "channel"}, true},
		{[]string{"status", "versionHash"}, true},
	} {
		next := old.DeepCopy()
		if err := unstructured.SetNestedField(next.Object, "x", c.path...); err != nil {
			t.Fatal(err)
		}
		if got := changed(event.UpdateEvent{ObjectOld: old, ObjectNew: next}); got != c.want {
			t.Errorf("%v: %v", c.path, got)
		}
	}
}
