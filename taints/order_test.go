package taints_test

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
)

// TestMergeKeepsTheFirst: of tolerations that match the same the first one stays.
func TestMergeKeepsTheFirst(t *testing.T) {
	written := fairlead.Toleration{Key: "a", Operator: fairlead.TolerationEqual, Value: "x"}
	short := fairlead.Toleration{Key: "a", Value: "x"}
	other := fairlead.Toleration{Key: "b", Operator: fairlead.TolerationExists}
	got := taints.MergeTolerations([]fairlead.Toleration{written, other}, []fairlead.Toleration{short}, nil)
	if fmt.Sprint(got) != fmt.Sprint([]fairlead.Toleration{written, other}) {
		t.Errorf("%v", got)
	}
}

// TestResourcesOfInitContainers: what init containers request counts as well.
func TestResourcesOfInitContainers(t *testing.T) {
	p := &fairlead.Pod{}
	p.Spec.InitContainers = []fairlead.Container{{Resources: fairlead.Resources{Requests: map[string]string{"example.com/gpu": "1"}}}}
	if got := taints.ResourceTolerations(p); len(got) != 1 || got[0].Key != "example.com/gpu" {
		t.Errorf("%v", got)
	}
}
