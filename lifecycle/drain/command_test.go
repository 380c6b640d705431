package drain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// podOf returns a running pod of node n.
func podOf(name, kind string, scratch bool) drain.Pod {
	yes := true
	p := drain.Pod{ObjectMeta: drain.ObjectMeta{Namespace: "shop", Name: name, UID: name}}
	p.Spec.NodeName, p.Status.Phase = "n", fairlead.PodRunning
	if kind != "" {
		p.OwnerReferences = []drain.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "o", UID: "o", Controller: &yes}}
	}
	if scratch {
		p.Spec.Volumes = []drain.Volume{{Name: "v", EmptyDir: new(struct{})}}
	}
	return p
}

// A command that is printed has the flags without which kubectl drain would refuse to begin, and no
// others. There is none for what kubectl does not do.
func TestCommand(t *testing.T) {
	web, agent, bare, cache := podOf("web", "ReplicaSet", false), podOf("agent", "DaemonSet", true), podOf("bare", "", false), podOf("cache", "ReplicaSet", true)
	static := podOf("static", "", true)
	static.Annotations = map[string]string{drain.MirrorAnnotation: "x"}
	over := podOf("over", "", true)
	over.Status.Phase = fairlead.PodSucceeded
	waits := podOf("waits", "ReplicaSet", false)
	waits.Labels = map[string]string{drain.Label: "wait-completed"}
	skipped := podOf("skipped", "ReplicaSet", false)
	skipped.Labels = map[string]string{drain.Label: "skip"}
	rule := func(behavior drain.Behavior, order int32) drain.Policy {
		r := drain.Rule{ObjectMeta: drain.ObjectMeta{Name: "r"}, Spec: drain.RuleSpec{Drain: drain.RuleBehavior{Behavior: behavior}}}
		r.Spec.Pods = []drain.RulePods{{Selector: &drain.LabelSelector{MatchLabels: map[string]string{"app": "ruled"}}}}
		if behavior == drain.BehaviorDrain {
			r.Spec.Drain.Order = &order
		}
		return drain.Policy{Rules: []drain.Rule{r}}
	}
	ruled := podOf("ruled", "ReplicaSet", false)
	ruled.Labels = map[string]string{"app": "ruled"}
	guarded := podOf("guarded", "ReplicaSet", false)
	guarded.Labels = map[string]string{"app": "guarded"}
	for _, c := range []struct {
		pods   []drain.Pod
		policy drain.Policy
		want   string
	}{
		{[]drain.Pod{web, ruled}, rule(drain.BehaviorDrain, 0), "kubectl drain n"},
		{[]drain.Pod{web, ruled}, rule(drain.BehaviorDrain, 5), ""}, // kubectl knows no order
		{[]drain.Pod{web, ruled}, rule(drain.BehaviorSkip, 0), ""},
		{[]drain.Pod{web, guarded}, drain.Policy{}, ""}, // it does not complete
		{[]drain.Pod{web, guarded}, drain.Policy{DisableEviction: true}, "kubectl drain n --disable-eviction"},
		{nil, drain.Policy{}, ""},
		{[]drain.Pod{agent}, drain.Policy{}, ""}, // nothing goes
		{[]drain.Pod{web}, drain.Policy{}, "kubectl drain n"},
		{[]drain.Pod{web, static}, drain.Policy{}, "kubectl drain n"},
		{[]drain.Pod{web, over}, drain.Policy{}, "kubectl drain n"},
		{[]drain.Pod{web, agent}, drain.Policy{}, "kubectl drain n --ignore-daemonsets"},
		{[]drain.Pod{cache}, drain.Policy{}, "kubectl drain n --delete-emptydir-data"},
		{[]drain.Pod{bare}, drain.Policy{}, "kubectl drain n --force"},
		{[]drain.Pod{bare, cache, agent}, drain.Policy{DisableEviction: true}, "kubectl drain n --ignore-daemonsets --delete-emptydir-data --force --disable-eviction"},
		{[]drain.Pod{web, bare}, drain.Policy{KeepUnmanaged: true}, ""},
		{[]drain.Pod{web, waits}, drain.Policy{}, ""},
		{[]drain.Pod{web, skipped}, drain.Policy{}, ""},
	} {
		req := &drain.PlanRequest{Nodes: []drain.Node{{ObjectMeta: drain.ObjectMeta{Name: "n", UID: "n"}}}, Pods: c.pods, IgnoreRoom: true}
		req.Budgets = []drain.PodDisruptionBudget{{ObjectMeta: drain.ObjectMeta{Namespace: "shop", Name: "b"}}}
		req.Budgets[0].Spec.Selector, req.Budgets[0].Spec.MaxUnavailable = &drain.LabelSelector{MatchLabels: guarded.Labels}, &fairlead.IntOrString{}
		p, err := drain.NewPlan(req, time.Unix(1e9, 0), &c.policy)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Nodes[0].Command(); got != c.want {
			t.Errorf("%d pods: %q, want %q", len(c.pods), got, c.want)
		}
		if got, want := p.Nodes[0].Flags.Command("n", true), strings.Replace(c.want, "kubectl", "oc adm", 1); c.want != "" && got != want {
			t.Errorf("oc: %q, want %q", got, want)
		}
	}
}

// The pod of a DaemonSet stays, unless it is known that there is no such DaemonSet: then nothing makes it
// again, and kubectl asks for --force.
func TestCommandDaemonSetGone(t *testing.T) {
	agent := podOf("agent", "DaemonSet", false)
	for _, c := range []struct {
		sets   []drain.ObjectMeta
		listed bool
		want   string
	}{
		{nil, false, ""}, {nil, true, "kubectl drain n --force"},
		{[]drain.ObjectMeta{{Namespace: "shop", Name: "o", UID: "o"}}, true, ""},
	} {
		req := &drain.PlanRequest{Nodes: []drain.Node{{ObjectMeta: drain.ObjectMeta{Name: "n", UID: "n"}}}, Pods: []drain.Pod{agent}, IgnoreRoom: true, DaemonSets: c.sets, DaemonSetsListed: c.listed}
		p, err := drain.NewPlan(req, time.Unix(1e9, 0), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Nodes[0].Command(); got != c.want {
			t.Errorf("%v, listed %v: %q, want %q", c.sets, c.listed, got, c.want)
		}
	}
}

// Flags stand before the "--" of a name that looks like one: after it they would be nodes.
func TestCommandOfNameWithDash(t *testing.T) {
	f := drain.Flags{IgnoreDaemonSets: true, Force: true}
	if got, want := f.Command("-n", false), "kubectl drain --ignore-daemonsets --force -- -n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Karpenter evicts no pod that it must not disrupt, not even from a node that is being deleted; a mark
// says so only there, and only while Karpenter is the one who drains.
func TestKarpenterWaits(t *testing.T) {
	now, until := time.Unix(1e9, 0).UTC(), time.Unix(1e9+600, 0).UTC()
	keeps := podOf("keeps", "ReplicaSet", false)
	keeps.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
	other, over, ends := podOf("other", "ReplicaSet", false), keeps, keeps
	other.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "false"}
	over.Status.Phase, ends.DeletionTimestamp = fairlead.PodFailed, &now
	n := &drain.Node{ObjectMeta: drain.ObjectMeta{Name: "n", UID: "n"}}
	if _, waits := drain.KarpenterWaits(n, &keeps); waits {
		t.Error("it waits for a pod of a node that stays")
	}
	n.Finalizers = []string{"karpenter.sh/termination"}
	if _, waits := drain.KarpenterWaits(n, &keeps); waits || drain.KarpenterDrains(n) {
		t.Error("it waits for a pod of a node of its own that stays")
	}
	n.DeletionTimestamp, n.Finalizers = &now, []string{"example.com/other"}
	if _, waits := drain.KarpenterWaits(n, &keeps); waits || drain.KarpenterDrains(n) {
		t.Error("it waits for a pod of a node that is not its own")
	}
	n.Finalizers = []string{"example.com/other", "karpenter.sh/termination"}
	for _, p := range []*drain.Pod{&other, &over, &ends} {
		if _, waits := drain.KarpenterWaits(n, p); waits {
			t.Errorf("it waits for %s", p.Name)
		}
	}
	if p, err := drain.NewPlan(&drain.PlanRequest{Nodes: []drain.Node{*n}, Pods: []drain.Pod{keeps}, IgnoreRoom: true}, now, nil); err != nil || strings.Contains(p.Nodes[0].Pods[0].Marks[0].Text, ", or until") {
		t.Errorf("without a limit: %+v, %v", p, err)
	}
	if at, waits := drain.KarpenterWaits(n, &keeps); !waits || !at.IsZero() {
		t.Errorf("it waits: %v, until %v", waits, at)
	}
	n.Annotations = map[string]string{"karpenter.sh/nodeclaim-termination-timestamp": until.Format(time.RFC3339)}
	if at, waits := drain.KarpenterWaits(n, &keeps); !waits || !at.Equal(until) {
		t.Errorf("it waits: %v, until %v", waits, at)
	}
	p, err := drain.NewPlan(&drain.PlanRequest{Nodes: []drain.Node{*n}, Pods: []drain.Pod{keeps}, IgnoreRoom: true}, now, nil)
	if err != nil {
		t.Fatal(err)
	}
	marks := p.Nodes[0].Pods[0].Marks
	if len(marks) != 1 || !strings.Contains(marks[0].Text, "does not evict this pod") || !strings.Contains(marks[0].Text, until.Format(time.RFC3339)) {
		t.Errorf("marks: %+v", marks)
	}
}
