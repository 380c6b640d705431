package plan_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/source"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/solver/olm"
)

// real is a situation on the recorded graph of 4.7 to 4.9 and operators of the real
// catalog, with five pools, and pods and budgets: 200 nodes and workloads, or that
// divided.
func real(tb testing.TB, seed uint64, operators, divided int) *plan.Situation {
	dir := samples.Data(tb, "graph", "cincinnati-fixtures", "20211124.083150")
	text, err := os.ReadFile(filepath.Join(dir, "graph-gb-raw.json"))
	if err != nil {
		tb.Skip(err)
	}
	raw, _ := graph.Parse(text, nil)
	data, _ := graph.ReadData(os.DirFS(filepath.Join(dir, "cincinnati-graph-data")))
	g := data.Assemble(raw, &graph.AssembleOptions{Architecture: "amd64"})
	s := shop()
	s.Cluster.Status.Desired.Version = "4.7.24"
	s.Moves, s.Risks, err = plan.FromGraph(g, "4.7.24", []string{"stable-4.7", "stable-4.8", "fast-4.9", "stable-4.9"}, graph.Evaluations{})
	if err != nil {
		tb.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, seed))
	s.Pools, s.Nodes, s.Configs = nil, nil, map[string]string{}
	yes := true
	for p, size := range map[string]int{"master": 3, "worker": 120, "infra": 12, "gpu": 25, "edge": 40} {
		pool := cvo.Pool{ObjectMeta: cvo.ObjectMeta{Name: p}}
		pool.Spec.NodeSelector = &fairlead.LabelSelector{MatchLabels: map[string]string{"pool": p}}
		pool.Spec.MaxUnavailable = &fairlead.IntOrString{Text: "10%"}
		pool.Status.Configuration.Name = "rendered-" + p
		s.Configs["rendered-"+p] = "4.7.24"
		s.Pools = append(s.Pools, pool)
		if p != "master" {
			size = max(size/divided, 1)
		}
		for i := range size {
			n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("%s-%03d", p, i), UID: fmt.Sprintf("%s-%03d", p, i), Labels: map[string]string{"pool": p}}}
			n.Status.Allocatable = map[string]string{"cpu": "16", "memory": "64Gi", "pods": "250"}
			s.Nodes = append(s.Nodes, n)
		}
	}
	slices.SortFunc(s.Pools, func(a, b cvo.Pool) int { return len(a.Name) - len(b.Name) })
	slices.SortFunc(s.Nodes, func(a, b fairlead.Node) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	for app := range 200 / divided {
		name := fmt.Sprintf("app-%03d", app)
		replicas, cpu := 1+r.IntN(20), fmt.Sprintf("%dm", 50+r.IntN(500))
		for k := range replicas {
			p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("%s-%d", name, k), UID: fmt.Sprintf("%s-%d", name, k), Labels: map[string]string{"app": name}}}
			p.OwnerReferences = []fairlead.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: name, Controller: &yes}}
			p.Spec.NodeName = s.Nodes[r.IntN(len(s.Nodes))].Name
			p.Spec.Containers = []fairlead.Container{{Name: "c", Resources: fairlead.Resources{Requests: map[string]string{"cpu": cpu, "memory": "256Mi"}}}}
			p.Status.Phase = fairlead.PodRunning
			p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
			s.Pods = append(s.Pods, p)
		}
		if app%2 == 0 {
			b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: name}}
			b.Spec.Selector = &fairlead.LabelSelector{MatchLabels: map[string]string{"app": name}}
			b.Spec.MinAvailable = &fairlead.IntOrString{Int: max(1, replicas-1)}
			s.Budgets = append(s.Budgets, b)
		}
	}
	s.Operators = []plan.Operator{}
	if operators > 0 { // reading the catalog takes seconds
		s.Operators = operatorsOf(tb, r, operators)
	}
	for i := range 3 {
		s.Members = append(s.Members, plan.Member{Name: fmt.Sprint("etcd-", i), Healthy: fairlead.ConditionTrue})
	}
	return s
}

// operatorsOf installs operators of the real catalog, each somewhere on the way to
// the head of its default channel.
func operatorsOf(tb testing.TB, r *rand.Rand, n int) []plan.Operator {
	src, err := source.Open(tb.Context(), samples.Data(tb, "catalog", "slim.tar.gz"), nil)
	if err != nil {
		tb.Skip(err)
	}
	defer src.Close()
	c, err := catalog.Open(tb.Context(), src, nil)
	if err != nil {
		tb.Fatal(err)
	}
	var subs []olm.Subscription
	var csvs []olm.ClusterServiceVersion
	for p := range c.Packages() {
		ch, ok := p.Channel(p.DefaultChannel())
		if len(subs) == n || !ok || len(ch.Entries()) < 3 {
			continue
		}
		b, ok := p.Bundle(ch.Entries()[r.IntN(len(ch.Entries()))].Name)
		if !ok {
			continue
		}
		csv, err := olm.InstalledFrom(b, "ops")
		if err != nil {
			continue
		}
		sub := olm.Subscription{ObjectMeta: olm.ObjectMeta{Namespace: "ops", Name: p.Name()}}
		sub.Spec.Package, sub.Status.InstalledCSV = p.Name(), csv.Name
		subs, csvs = append(subs, sub), append(csvs, csv)
	}
	ops, err := plan.ReadOperators(map[string]*catalog.Catalog{"": c}, &plan.Installed{Subscriptions: subs, CSVs: csvs})
	if err != nil {
		tb.Fatal(err)
	}
	return ops
}

// On real data there is a plan over two minor versions, and its proof holds.
func TestReal(t *testing.T) {
	operators := long.N(0, 50)
	s := real(t, 1, operators, 1)
	goal := &plan.Goal{Minor: "4.9", PauseWorkers: true}
	p, err := plan.Make(t.Context(), s, goal, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Check(t.Context(), s, goal, nil, p); err != nil {
		t.Error(err)
	}
	t.Logf("%d nodes, %d pods, %d budgets, %d operators, %d updates: %d steps to %s, %d restarts, %s", len(s.Nodes), len(s.Pods), len(s.Budgets), len(s.Operators), len(s.Moves), p.Cost.Steps, p.To, p.Cost.Restarts, p.Takes)
	// The workers restart twice although they are paused: 4.9 takes kubelets of 4.8 at least.
	if len(s.Operators) != operators || p.Cost.Restarts != 6+2*197 {
		t.Errorf("%d operators, %d restarts", len(s.Operators), p.Cost.Restarts)
	}
}

// BenchmarkMake plans two minor versions for 50 operators, five pools and 200 nodes on
// real data.
func BenchmarkMake(b *testing.B) {
	s := real(b, 1, 50, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := plan.Make(b.Context(), s, &plan.Goal{Minor: "4.9", PauseWorkers: true}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
