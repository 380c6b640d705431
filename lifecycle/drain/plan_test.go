package drain

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/object"
)

// TestPlanIsTheDrain plans the drain of random nodes, and drains them: the same
// pods go, in the same order of waves, and the same pods are stuck for the same
// reason.
func TestPlanIsTheDrain(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	stuck, evicted, waves := 0, 0, 0
	for seed := range long.N(400, 20_000) {
		c, policy := randomCluster(r)
		req := &PlanRequest{Nodes: []Node{c.node, {ObjectMeta: ObjectMeta{Name: "other"}}}, Drain: []string{c.node.Name}, Pods: c.world().Pods, Budgets: c.world().Budgets, Namespaces: c.namespaces, DaemonSets: c.sets, DaemonSetsListed: c.setsKnown}
		for name, n := range c.replicas {
			req.Replicas = append(req.Replicas, Replicas{"d", "ReplicaSet", name, n}, Replicas{"d", "Job", name, n}, Replicas{"d", "DaemonSet", name, n})
		}
		plan, err := NewPlan(req, c.now, policy)
		if err != nil {
			t.Fatal(err)
		}
		asked, left := drainFully(t, c, policy, 8*time.Hour)
		for i := range plan.Nodes[0].Pods {
			p := &plan.Nodes[0].Pods[i]
			why, is := left[p.UID]
			if want := p.Why != ""; is != want || is && spent(why) != spent(p.Why) {
				t.Fatalf("seed %d: pod %s: plan says %q, the drain %q (left %v)\n%s", seed, p.Name, p.Why, why, is, dump(c, plan))
			}
			if _, was := asked[p.UID]; was != (p.Fate == FateEvict && p.Round > 0 && !terminating(req, p.UID)) {
				t.Fatalf("seed %d: pod %s: plan says round %d, the drain evicted it: %v\n%s", seed, p.Name, p.Round, was, dump(c, plan))
			}
			for j := range plan.Nodes[0].Pods {
				q := &plan.Nodes[0].Pods[j]
				if p.Order < q.Order && p.Fate == FateEvict && q.Fate == FateEvict {
					waves++
					at, ok := asked[p.UID]
					later, too := asked[q.UID]
					if ok && too && !at.Before(later) {
						t.Fatalf("seed %d: %s of order %d was evicted after %s of order %d", seed, p.Name, p.Order, q.Name, q.Order)
					}
				}
			}
		}
		stuck += plan.Stuck
		evicted += plan.Evicted
	}
	if stuck < 50 || evicted < 500 || waves < 100 {
		t.Errorf("only %d stuck, %d evicted, %d pairs of waves: the test shows little", stuck, evicted, waves)
	}
}

// spent takes two reasons for one: a budget that is used up may turn out one that
// can never be met, as pods that nobody replaces end.
func spent(reason string) string {
	if reason == ReasonBudgetNever {
		return ReasonBudgetSpent
	}
	return reason
}

func terminating(req *PlanRequest, uid string) bool {
	for i := range req.Pods {
		if req.Pods[i].UID == uid {
			return req.Pods[i].DeletionTimestamp != nil
		}
	}
	return false
}

func dump(c *testCluster, plan *Plan) string {
	a, _ := json.Marshal(plan)
	b, _ := json.Marshal(c.budgets)
	return string(a) + "\n" + string(b)
}

// randomCluster draws a node with pods, budgets and rules.
func randomCluster(r *rand.Rand) (*testCluster, *Policy) {
	c := newCluster()
	c.node.Spec.Unschedulable = r.IntN(2) == 0
	apps := []string{"a", "b", "c"}
	c.replicas["job"], c.replicas["agent"] = 0, 0
	for _, app := range apps { // so that the budgets' expectations stay what they are
		c.pod(app+"-elsewhere", map[string]string{"rs": app, "node": "other", "labels": "app:" + app}, func(string) bool { return false })
	}
	for i := range 1 + r.IntN(8) {
		app := apps[r.IntN(len(apps))]
		opts := map[string]string{"labels": "app:" + app}
		flags := map[string]bool{}
		switch r.IntN(8) {
		case 0: // nobody's
		case 1:
			opts["ds"] = "agent"
		case 2:
			opts["job"] = "job"
		default:
			opts["rs"] = app
		}
		if r.IntN(3) == 0 {
			opts["node"] = "other"
		}
		if r.IntN(6) == 0 {
			flags["notready"] = true
		}
		if r.IntN(8) == 0 {
			opts["phase"] = []string{"Succeeded", "Pending", "Failed"}[r.IntN(3)]
		}
		if r.IntN(12) == 0 {
			opts["deleting"] = "10s"
		}
		if r.IntN(10) == 0 {
			flags["emptydir"] = true
		}
		if r.IntN(30) == 0 {
			flags["mirror"] = true
		}
		c.pod(fmt.Sprintf("%s-%d", app, i), opts, func(w string) bool { return flags[w] })
	}
	for i, app := range apps {
		c.replicas[app] = r.IntN(5)
		if r.IntN(2) == 0 {
			continue
		}
		opts := map[string]string{"app": app}
		amount := fmt.Sprint(r.IntN(3))
		if r.IntN(3) == 0 {
			amount = fmt.Sprintf("%d%%", 10*r.IntN(11))
		}
		opts[[]string{"min", "max"}[r.IntN(2)]] = amount
		always := r.IntN(3) == 0
		if err := c.budget(fmt.Sprint("b", i), opts, func(w string) bool { return w == "always" && always }); err != nil {
			panic(err)
		}
	}
	if r.IntN(8) == 0 {
		_ = c.budget("all", map[string]string{"max": "1"}, func(string) bool { return false })
	}
	c.control()
	policy := &Policy{KeepUnmanaged: r.IntN(5) == 0, KeepLocalStorage: r.IntN(3) == 0}
	for i, app := range apps {
		if r.IntN(3) == 0 {
			order := int32(r.IntN(5) - 2)
			rule := Rule{ObjectMeta: ObjectMeta{Name: fmt.Sprint("r", i)}}
			rule.Spec.Drain = RuleBehavior{Behavior: BehaviorDrain, Order: &order}
			rule.Spec.Pods = []RulePods{{Selector: &LabelSelector{MatchLabels: map[string]string{"app": app}}}}
			policy.Rules = append(policy.Rules, rule)
		}
	}
	return c, policy
}

// drainFully drains until nothing has moved for an hour. It returns when each pod
// was first asked for, and of the pods left why they are.
func drainFully(t *testing.T, c *testCluster, policy *Policy, limit time.Duration) (asked map[string]time.Time, left map[string]string) {
	asked, left = map[string]time.Time{}, map[string]string{}
	var state Progress
	quiet := c.now
	for end := c.now.Add(limit); c.now.Before(end) && c.now.Sub(quiet) < time.Hour; {
		w := c.world()
		d := Pods(state, &w, c.labels, c.now, policy)
		if d.Done {
			return asked, left
		}
		state = d.Progress
		for _, a := range d.Actions {
			if e, ok := a.(Evict); ok {
				if _, before := asked[e.UID]; before {
					t.Fatalf("%s is evicted twice though nothing was lost", e.Name)
				}
				p := c.find(e.UID)
				if verdict, _ := c.judgeNow(p); p == nil || !verdict.Allows() && verdict != object.EvictionRefused {
					t.Fatalf("%s is evicted: %v", e.Name, verdict)
				}
				asked[e.UID] = c.now
			}
			quiet = c.now
			c.apply(a)
		}
		c.wake = d.Wake
		next := c.next()
		if !next.After(c.now) {
			break
		}
		c.to(next)
	}
	clear(left)
	f := newFilter(policy, ptr(c.world()), c.labels, c.now)
	for _, s := range f.survey(nil) {
		left[s.pod.UID] = ReasonLaterOrder
		for _, w := range state.Waits {
			if w.Name == s.pod.String() {
				left[s.pod.UID] = w.Reason
			}
		}
	}
	return asked, left
}

func ptr[T any](v T) *T { return &v }

// TestPlanRequestErrors holds the errors of bad requests: all of them, with
// paths, and no plan.
func TestPlanRequestErrors(t *testing.T) {
	var req PlanRequest
	err := json.Unmarshal([]byte(`{
		"nodes": [{"metadata": {"name": "worker-1"}}, {"metadata": {"name": "worker-1"}}, {"metadata": {}}],
		"drain": ["worker-2", "nobody", "worker-1", "worker-1"], "atOnce": -1,
		"budgets": [{"metadata": {"namespace": "d", "name": "b"}, "spec": {"minAvailable": "many"}}],
		"replicas": [{"namespace": "d", "kind": "ReplicaSet", "name": "r", "count": -2}]}`), &req)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := NewPlan(&req, drainStart, &Policy{MinBackoff: -time.Second})
	want := `policy.minBackoff: -1000000000 is negative; leave it out for the default
nodes[1].metadata.name: "worker-1" is also the name of another node
nodes[2].metadata.name: is empty; give the node's name
drain[0]: there is no node "worker-2"; did you mean "worker-1"?
drain[1]: there is no node "nobody"
drain[3]: node "worker-1" is listed twice
atOnce: -1 is negative; give how many nodes are drained at the same time
budgets[0].spec.minAvailable: "many" is neither a whole number nor a percentage such as "30%"
replicas[0].count: -2 is negative`
	if plan != nil || err == nil || err.Error() != want {
		t.Errorf("%v, %v, want %s", plan, err, want)
	}
	var field *fairlead.FieldError
	if !errors.As(err, &field) || !strings.HasPrefix(field.Path, "policy.") {
		t.Errorf("errors.As finds %v", field)
	}
}

// TestPlanWithoutEviction: with DisableEviction every pod in turn is deleted in the first
// round of its order, once, whatever the budgets say: they are not met, but nothing is stuck.
func TestPlanWithoutEviction(t *testing.T) {
	c := newCluster()
	for i, app := range []string{"a", "a", "b"} {
		c.pod(fmt.Sprintf("%s-%d", app, i), map[string]string{"rs": app, "labels": "app:" + app}, func(string) bool { return false })
	}
	if err := c.budget("none", map[string]string{"app": "a", "max": "0"}, func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	c.control()
	order := int32(1)
	later := Rule{ObjectMeta: ObjectMeta{Name: "later"}}
	later.Spec.Drain = RuleBehavior{Behavior: BehaviorDrain, Order: &order}
	later.Spec.Pods = []RulePods{{Selector: &LabelSelector{MatchLabels: map[string]string{"app": "b"}}}}
	for _, disable := range []bool{false, true} {
		req := &PlanRequest{Nodes: []Node{c.node}, Pods: c.world().Pods, Budgets: c.world().Budgets}
		plan, err := NewPlan(req, c.now, &Policy{DisableEviction: disable, Rules: []Rule{later}})
		if err != nil {
			t.Fatal(err)
		}
		rounds := ""
		for _, p := range plan.Nodes[0].Pods {
			rounds += fmt.Sprintf("%s %d ", p.Name, p.Round)
		}
		want, evicted, stuck := "a-0 0 a-1 0 b-2 0 ", 0, 3
		if disable {
			want, evicted, stuck = "a-0 1 a-1 1 b-2 2 ", 3, 0
		}
		if rounds != want || plan.Evicted != evicted || plan.Stuck != stuck {
			t.Errorf("DisableEviction %v: %s, %d evicted, %d stuck", disable, rounds, plan.Evicted, plan.Stuck)
		}
	}
}
