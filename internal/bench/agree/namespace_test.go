package agree_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver/olm/explain"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// TestNamespaces draws namespaces with operator groups, targets and install modes: the
// explanation says that they are blocked, with the reason that a cluster gives to the
// CSV, where the cluster's own check of install modes refuses, and nowhere else.
func TestNamespaces(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	met := map[string]int{}
	for i := range long.N(10_000, 200_000) {
		c, want := drawNamespace(r)
		got := ""
		if v := c.Subscription("ns", "a"); len(v.Waits) > 0 && !v.Waits[0].Passing {
			got = v.Waits[0].Reason
		}
		if got != want {
			t.Fatalf("namespace %d: %q, a cluster says %q\n%+v\n%+v", i, got, want, c.Groups, c.Answers["ns"].Next)
		}
		met[want]++
	}
	for _, reason := range []string{"", "NoOperatorGroup", "TooManyOperatorGroups", "NoTargetNamespaces", "UnsupportedOperatorGroup"} {
		if met[reason] == 0 {
			t.Errorf("reason %q was not met: %v", reason, met)
		}
	}
	t.Log(met)
}

// drawNamespace returns a namespace, and the reason for which a cluster fails its CSV.
func drawNamespace(r *rand.Rand) (*explain.Cluster, string) {
	namespaces := []string{"ns", "b", "c"}
	c := &explain.Cluster{Kinds: []explain.Kind{explain.KindOperatorGroup, explain.KindNamespace}}
	for _, n := range namespaces {
		c.Namespaces = append(c.Namespaces, explain.ObjectMeta{Name: n, Labels: map[string]string{"name": n}})
	}
	sub := resource.Subscription{}
	sub.Name, sub.Namespace, sub.Spec.Package = "a", "ns", "a"
	c.Subscriptions = append(c.Subscriptions, sub)
	modes := group.InstallModes{}
	var theirs []v1alpha1.InstallMode
	for _, m := range []group.InstallModeType{group.ModeOwnNamespace, group.ModeSingleNamespace, group.ModeMultiNamespace, group.ModeAllNamespaces} {
		if r.IntN(4) == 0 {
			continue // absent means unsupported
		}
		supported := r.IntN(2) == 0
		modes = append(modes, group.InstallMode{Type: m, Supported: supported})
		theirs = append(theirs, v1alpha1.InstallMode{Type: v1alpha1.InstallModeType(m), Supported: supported})
	}
	c.Answers = map[string]*explain.Answer{"ns": {Next: []explain.Next{{CSV: "a.v1", Subscriptions: []string{"a"}, Modes: modes, ModesKnown: true}}}}
	n := []int{0, 1, 1, 1, 1, 2}[r.IntN(6)]
	var targets []string
	for i := range n {
		g := group.OperatorGroup{}
		g.Name, g.Namespace = fmt.Sprintf("g%d", i), "ns"
		targets = drawTargets(r, &g, namespaces)
		c.Groups = append(c.Groups, g)
	}
	other := group.OperatorGroup{} // of no importance
	other.Name, other.Namespace = "far", "c"
	c.Groups = append(c.Groups, other)
	switch {
	case n == 0:
		return c, "NoOperatorGroup"
	case n > 1:
		return c, "TooManyOperatorGroups"
	case len(targets) == 0:
		return c, "NoTargetNamespaces"
	}
	set := v1alpha1.InstallModeSet{}
	for _, m := range theirs {
		set[m.Type] = m.Supported
	}
	if set.Supports("ns", targets) != nil {
		return c, "UnsupportedOperatorGroup"
	}
	return c, ""
}

// drawTargets gives a group targets, by name or by a selector, and returns what it
// selects.
func drawTargets(r *rand.Rand, g *group.OperatorGroup, namespaces []string) []string {
	switch r.IntN(4) {
	case 0:
		return []string{""} // all
	case 1:
		name := append(slices.Clone(namespaces), "none")[r.IntN(4)]
		g.Spec.Selector = &group.LabelSelector{MatchLabels: map[string]string{"name": name}}
		if name == "none" {
			return nil
		}
		return []string{name}
	}
	for _, n := range namespaces {
		if r.IntN(2) == 0 {
			g.Spec.TargetNamespaces = append(g.Spec.TargetNamespaces, n)
		}
	}
	if g.Spec.TargetNamespaces == nil {
		return []string{""}
	}
	return g.Spec.TargetNamespaces
}
