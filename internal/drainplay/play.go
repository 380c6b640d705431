package drainplay

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Scheduler says where a pod goes, see [cluster.Options].
type Scheduler func(nodes []*fairlead.Node, pods []*fairlead.Pod, budgets []fairlead.PodDisruptionBudget, p *fairlead.Pod, among []string) (node string, victims []*fairlead.Pod)

// Outcome is what happened.
type Outcome struct {
	Done     bool             // the requester may act
	Homeless int              // pods that have no node in the end
	Left     []string         // pods that keep the node from being drained, as namespace/name, in order
	Blocked  []fairlead.Block // what the drain waits for
}

// predict returns how the drain would go.
func (c *Case) predict() (*drain.Plan, error) {
	return drain.NewPlan(&drain.PlanRequest{Nodes: c.Nodes, Drain: []string{"n0"}, Pods: c.Pods, Budgets: c.Budgets, Storage: c.Storage}, Noon(), nil)
}

// Compare predicts the drain, and plays it. It fails the test if the drain is predicted to complete
// and is not done; wrongly says that it is predicted to be stuck, and is done.
func (c *Case) Compare(t *testing.T, s Scheduler) (plan *drain.Plan, got *Outcome, wrongly bool) {
	t.Helper()
	plan, err := c.predict()
	if err != nil {
		t.Fatalf("seed %d: %v", c.seed, err)
	}
	if got, err = c.play(t.Context(), s); err != nil {
		t.Fatalf("seed %d: %v", c.seed, err)
	}
	wrongly = plan.Stuck > 0 && got.Done
	switch {
	case plan.Stuck == 0 && !got.Done:
		text, _ := json.Marshal(plan)
		t.Errorf("seed %d: predicted to complete, and is not done: %v %v\n%s", c.seed, got.Left, got.Blocked, text)
	case wrongly:
		t.Logf("seed %d: predicted to be stuck, and is done: %v", c.seed, plan.Blocks())
	}
	return plan, got, wrongly
}

// play drains the first node, for two hours or until that is done. Who owns the finalizer of a
// pod removes it after half a minute, unless the pod was being deleted before. A nil scheduler
// means our own.
func (c *Case) play(ctx context.Context, s Scheduler) (*Outcome, error) {
	clock := new(fairlead.ManualClock)
	clock.Set(Noon())
	o := &cluster.Options{Storage: c.Storage}
	var all *cluster.Cluster
	if s != nil {
		o.Schedule = func(p *fairlead.Pod, among []string) (string, []*fairlead.Pod) {
			return s(cluster.Refs(all, cluster.Nodes()), cluster.Refs(all, cluster.Pods()), all.Measured(), p, among)
		}
	}
	shared := cluster.Own(clock, o)
	all = cluster.Of(shared, nil, nil)
	b := &drain.MemBackend{Cluster: shared}
	stays, err := c.put(b)
	if err != nil {
		return nil, err
	}
	b.PutRequest("n0", drain.Request{Name: "r", UID: "r", Requester: "test", Purpose: drain.Maintenance, Asked: Noon()})
	r, err := drain.NewRunner(b, nil, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		return nil, err
	}
	out := &Outcome{}
	for end := Noon().Add(2 * time.Hour); clock.Now().Before(end); clock.Set(clock.Now().Add(10 * time.Second)) {
		d, err := r.Reconcile(ctx, "n0")
		if err != nil {
			return nil, fmt.Errorf("drain n0: %w", err)
		}
		out.Blocked = d.Blocked
		if slices.ContainsFunc(d.Blocked, func(w fairlead.Block) bool {
			return w.Reason == drain.ReasonRequesterActs || w.Reason == drain.ReasonSilentActs
		}) {
			out.Done, out.Blocked = true, nil
			break
		}
		release(all, stays)
	}
	clock.Set(clock.Now().Add(5 * time.Minute))
	out.count(all)
	return out, nil
}

// put fills the cluster, and returns the pods whose finalizers stay.
func (c *Case) put(b *drain.MemBackend) (stays map[string]bool, err error) {
	for _, n := range c.Nodes {
		n.Status.Conditions = slices.Clone(n.Status.Conditions)
		b.PutNode(n)
	}
	stays = map[string]bool{}
	for i := range c.Pods {
		p := c.Pods[i]
		// A pod whose grace period has been over for more than a minute, and that is still
		// there, does not end: that is the prediction's assumption.
		stays[p.UID] = p.DeletionTimestamp != nil
		b.PutPod(p)
	}
	for _, x := range c.Budgets {
		if err := b.PutBudget(x); err != nil {
			return nil, err
		}
	}
	return stays, nil
}

// release removes the finalizers of pods that have been ending for half a minute.
func release(all *cluster.Cluster, stays map[string]bool) {
	all.Lock()
	defer all.Unlock()
	for _, p := range cluster.Refs(all, cluster.Pods()) {
		if p.DeletionTimestamp == nil || len(p.Finalizers) == 0 || stays[p.UID] || all.Now().Before(p.DeletionTimestamp.Add(30*time.Second)) {
			continue
		}
		q := *p
		q.Finalizers = nil
		cluster.Put(all, cluster.Pods(), &q)
	}
	all.Run()
}

// count notes the pods without a node, and those that are left on the first.
func (o *Outcome) count(all *cluster.Cluster) {
	all.Lock()
	defer all.Unlock()
	all.Run()
	for _, p := range cluster.Refs(all, cluster.Pods()) {
		switch {
		case p.Spec.NodeName == "":
			o.Homeless++
		case p.Spec.NodeName == "n0" && !o.Done && !p.Finished():
			name, _, _ := strings.Cut(p.ObjectMeta.String(), "~")
			o.Left = append(o.Left, name)
		}
	}
	slices.Sort(o.Left)
}
