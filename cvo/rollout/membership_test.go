package rollout_test

import (
	"errors"
	"testing"

	"github.com/fairlead/fairlead/cvo/rollout"
)

// TestPrimaryPool is TestGetPrimaryPoolForNode and TestGetNodesForPool.
func TestPrimaryPool(t *testing.T) {
	named := func(name, label string) rollout.Pool {
		p := rollout.Pool{ObjectMeta: rollout.ObjectMeta{Name: name}}
		if label != "" {
			p.Spec.NodeSelector = &rollout.LabelSelector{MatchLabels: map[string]string{label: ""}}
		}
		return p
	}
	master, worker, arbiter := named("master", "m"), named("worker", "w"), named("arbiter", "a")
	infra, gpu, none := named("infra", "i"), named("gpu", "g"), named("none", "")
	empty := named("empty", "")
	empty.Spec.NodeSelector = new(rollout.LabelSelector)
	all := []rollout.Pool{infra, worker, none, empty, gpu, master, arbiter}
	for _, c := range []struct {
		labels []string
		want   string
	}{
		{nil, ""},
		{[]string{"x"}, ""},
		{[]string{"w"}, "worker"},
		{[]string{"m"}, "master"},
		{[]string{"m", "w"}, "master"},
		{[]string{"a"}, "arbiter"},
		{[]string{"i"}, "infra"},
		{[]string{"i", "w"}, "infra"},
		{[]string{"i", "m"}, "master"},
		{[]string{"w", "os"}, ""},
		{[]string{"i", "g"}, "gpu, infra"},
		{[]string{"i", "g", "m"}, "gpu, infra"},
	} {
		n := rollout.Node{ObjectMeta: rollout.ObjectMeta{Name: "n", Labels: map[string]string{}}}
		for _, l := range c.labels {
			n.Labels[l] = ""
			if l == "os" {
				n.Labels["kubernetes.io/os"] = "windows"
			}
		}
		p, err := rollout.PrimaryPool(all, &n)
		got := ""
		if p != nil {
			got = p.Name
		}
		var several *rollout.MembershipError
		if errors.As(err, &several) {
			got = several.Pools[0] + ", " + several.Pools[1]
		}
		if got != c.want {
			t.Errorf("%v: pool %q, want %q (%v)", c.labels, got, c.want, err)
		}
	}
}
