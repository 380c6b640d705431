package rollout_test

import (
	"errors"
	"strings"
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
		{[]string{"a", "m"}, "master"},
		{[]string{"a", "w"}, "arbiter"},
		{[]string{"a", "i"}, "arbiter"},
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

// TestNodesOfPool is TestGetNodesForPool: how many nodes a pool has among those
// of several roles.
func TestNodesOfPool(t *testing.T) {
	pool := func(name, label string) rollout.Pool {
		return rollout.Pool{ObjectMeta: rollout.ObjectMeta{Name: name}, Spec: rollout.PoolSpec{NodeSelector: &rollout.LabelSelector{MatchLabels: map[string]string{label: ""}}}}
	}
	for i, c := range []struct {
		pool  rollout.Pool
		roles []string // of nodes
		want  int
	}{
		{pool("master", "m"), []string{"x", "x", "x", "w", "w", "w"}, 0},
		{pool("master", "m"), []string{"m", "m", "w", "w"}, 2},
		{pool("infra", "i"), []string{"m", "m", "m", "w i", "w i", "w i"}, 3},
		{pool("worker", "w"), []string{"m", "m", "m", "w i", "w i", "w i", "w windows"}, 3},
		{pool("worker", "w"), []string{"w windows"}, 0},
	} {
		got := 0
		for _, roles := range c.roles {
			n := rollout.Node{ObjectMeta: rollout.ObjectMeta{Labels: map[string]string{}}}
			for _, r := range strings.Fields(roles) {
				n.Labels[r] = ""
				if r == "windows" {
					n.Labels["kubernetes.io/os"] = r
				}
			}
			if p, err := rollout.PrimaryPool([]rollout.Pool{c.pool}, &n); err != nil {
				t.Fatal(err)
			} else if p != nil {
				got++
			}
		}
		if got != c.want {
			t.Errorf("case %d: %d nodes, not %d", i, got, c.want)
		}
	}
}
