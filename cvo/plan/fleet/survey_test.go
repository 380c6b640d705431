package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/plan/fleet"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// cluster is a situation of a fleet: lists are shared by those that are alike.
func cluster(release string, moves []plan.Move, operators []plan.Operator) *plan.Situation {
	cv := &cvo.ClusterVersion{}
	cv.Status.Desired.Version = release
	return &plan.Situation{
		At: now, Cluster: cv, ClusterOperators: []cvo.ClusterOperator{}, Gates: &cvo.AdminGates{}, Moves: moves,
		Pools: []cvo.Pool{}, Nodes: []fairlead.Node{}, Pods: []fairlead.Pod{}, Budgets: []fairlead.PodDisruptionBudget{},
		Members: []plan.Member{}, Operators: operators, Removed: []plan.RemovedAPI{},
	}
}

// queue is an operator that has to move before 4.20; the catalog of 4.19 has the hop, or
// has not.
func queue(installed string, hop bool) []plan.Operator {
	o := plan.Operator{
		Package: "queue", Namespace: "shop", Installed: "queue." + installed,
		Versions: []plan.OperatorVersion{{Name: "queue.v1", Version: "1.0.0", MaxOpenShift: "4.19"}, {Name: "queue.v2", Version: "2.0.0"}},
	}
	if hop {
		o.Updates = []plan.OperatorUpdate{{From: "queue.v1", To: "queue.v2"}}
	}
	return []plan.Operator{o}
}

// draw makes a fleet: so many clusters, of so many kinds. Another one hands out the same
// kinds, with the hop of the operator.
func draw(r *rand.Rand, n, kinds int, hop bool) []fleet.Member {
	moves := []plan.Move{{From: "4.18.1", To: "4.19.4"}, {From: "4.18.2", To: "4.19.4"}, {From: "4.19.4", To: "4.20.2"}}
	v1, v2, none := queue("v1", hop), queue("v2", hop), []plan.Operator{}
	var of []*plan.Situation
	for k := range kinds {
		s := cluster([]string{"4.18.1", "4.18.2", "4.18.3", "4.19.4"}[r.IntN(4)], moves, [][]plan.Operator{v1, v2, none}[r.IntN(3)])
		s.Gates = &cvo.AdminGates{Gates: map[string]string{fmt.Sprintf("ack-4.18-%d-in-4.19", k): "something goes away"}}
		of = append(of, s)
	}
	var list []fleet.Member
	for i := range n {
		s := *of[r.IntN(kinds)]
		cv := *s.Cluster
		cv.Name, cv.Spec.ClusterID = "version", fmt.Sprint(i)
		s.Cluster, s.At = &cv, now.Add(time.Duration(i)*time.Second)
		list = append(list, fleet.Member{Name: fmt.Sprintf("c%05d", i), Situation: &s})
	}
	return list
}

// Each cluster of a fleet stands as a plan for it alone says, and alike ones are planned
// once.
func TestSurvey(t *testing.T) {
	for seed := range uint64(long.N(20, 500)) {
		members := draw(rand.New(rand.NewPCG(1, seed)), 60, 8, seed%2 == 0)
		goal := &plan.Goal{Release: "4.20.2"}
		got, err := fleet.Survey(t.Context(), members, goal, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Asked > 8 || got.Asked < 2 {
			t.Errorf("seed %d: %d plans for 8 kinds", seed, got.Asked)
		}
		told := 0
		for _, g := range got.Groups {
			told += len(g.Clusters)
			for _, name := range g.Clusters {
				i := slices.IndexFunc(members, func(m fleet.Member) bool { return m.Name == name })
				p, err := plan.Make(t.Context(), members[i].Situation, goal, nil)
				var no *plan.NoPlanError
				switch {
				case err == nil && (!g.Goes() || len(p.Steps) != g.Steps || p.Takes != g.Takes):
					t.Fatalf("seed %d: %s has a plan of %d steps, and is told of as %+v", seed, name, len(p.Steps), g)
				case errors.As(err, &no) && !slices.Equal(no.Facts, g.Facts):
					t.Fatalf("seed %d: %s: %v, and is told of as %+v", seed, name, no, g)
				}
			}
		}
		if told != len(members) {
			t.Errorf("seed %d: %d of %d are told of", seed, told, len(members))
		}
	}
}

// Whatever differs in what plans are made from is another situation.
func TestSurveyTellsApart(t *testing.T) {
	plain, tried := cluster("4.18.1", []plan.Move{{From: "4.18.1", To: "4.19.4"}}, []plan.Operator{}), 0
	end := now
	plain.Cluster.Status.History = []cvo.History{{State: cvo.Completed, Version: "4.18.0", StartedTime: now.Add(-time.Hour), CompletionTime: &end}}
	for name, change := range map[string]func(*plan.Situation){
		"release": func(s *plan.Situation) { c := *s.Cluster; c.Status.Desired.Version = "4.18.9"; s.Cluster = &c },
		"conditions": func(s *plan.Situation) {
			c := *s.Cluster
			c.Status.Conditions = []fairlead.Condition{{Type: "Failing", Status: "True"}}
			s.Cluster = &c
		},
		"gates":     func(s *plan.Situation) { s.Gates = nil },
		"moves":     func(s *plan.Situation) { s.Moves = []plan.Move{} },
		"risks":     func(s *plan.Situation) { s.Risks = []plan.Risk{{Name: "R"}} },
		"pools":     func(s *plan.Situation) { s.Pools = nil },
		"nodes":     func(s *plan.Situation) { s.Nodes = nil },
		"pods":      func(s *plan.Situation) { s.Pods = nil },
		"budgets":   func(s *plan.Situation) { s.Budgets = nil },
		"members":   func(s *plan.Situation) { s.Members = nil },
		"operators": func(s *plan.Situation) { s.Operators = queue("v1", true) },
		"removed":   func(s *plan.Situation) { s.Removed = nil },
		"reports":   func(s *plan.Situation) { s.ClusterOperators = nil },
		"configs":   func(s *plan.Situation) { s.Configs = map[string]string{"a": "b"} },
		"replicas":  func(s *plan.Situation) { s.Replicas = []drain.Replicas{{}} },
		"history": func(s *plan.Situation) {
			c, end := *s.Cluster, now
			c.Status.History = []cvo.History{{State: cvo.Completed, Version: "4.18.1", StartedTime: now.Add(-time.Hour), CompletionTime: &end}}
			s.Cluster = &c
		},
		"observed": func(s *plan.Situation) { c := *s.Cluster; c.Generation = 2; s.Cluster = &c },
		"channel":  func(s *plan.Situation) { c := *s.Cluster; c.Spec.Channel = "stable-4.19"; s.Cluster = &c },
		"channels": func(s *plan.Situation) { s.Channels = map[string][]string{"4.19.4": {"stable-4.19"}} },
		"checks":   func(s *plan.Situation) { s.HealthChecks = []string{"m/workers"} },
		"topology": func(s *plan.Situation) { s.Topology = "External" },
		"machines": func(s *plan.Situation) { s.Machines = []lifecycle.Machine{} },
		"partly":   func(s *plan.Situation) { s.Partly = map[string]cvo.Gap{"Pod": {What: "some"}} },
		"duration": func(s *plan.Situation) {
			c, end := *s.Cluster, now.Add(time.Hour)
			c.Status.History = slices.Clone(c.Status.History)
			c.Status.History[0].CompletionTime = &end
			s.Cluster = &c
		},
	} {
		tried++
		other := *plain
		change(&other)
		got, err := fleet.Survey(t.Context(), []fleet.Member{{"a", plain}, {"b", &other}, {"c", plain}}, &plan.Goal{Release: "4.19.4"}, nil)
		if err != nil || got.Asked != 2 {
			t.Errorf("%s: %d situations, %v", name, got.Asked, err)
		}
	}
	if fields := reflect.TypeFor[plan.Situation]().NumField(); tried < fields+4 { // six rows are about the cluster, none about the time
		t.Errorf("%d rows for %d fields", tried, fields)
	}
}

// What a catalog that gets the hop would do to all.
func TestCompare(t *testing.T) {
	goal := &plan.Goal{Release: "4.20.2"}
	survey := func(hop bool) *fleet.Report {
		r, err := fleet.Survey(t.Context(), draw(rand.New(rand.NewPCG(1, 2)), 400, 12, hop), goal, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	before, after := survey(false), survey(true)
	up, down := fleet.Compare(before, after), fleet.Compare(after, before)
	if len(up) == 0 || up[0].Before.Goes() || !up[0].After.Goes() || len(down) == 0 || !down[0].Before.Goes() || down[0].After.Goes() {
		t.Errorf("%+v\n%+v", up, down)
	}
	if same := fleet.Compare(before, survey(false)); len(same) > 0 {
		t.Errorf("nothing has changed, and %+v", same)
	}
	if _, err := fleet.Survey(t.Context(), nil, goal, &plan.Policy{Prefer: "x"}); err == nil {
		t.Error("a bad policy is taken")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fleet.Survey(ended, draw(rand.New(rand.NewPCG(1, 2)), 2, 2, true), goal, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// BenchmarkSurvey plans 10,000 clusters of 200 kinds.
func BenchmarkSurvey(b *testing.B) {
	members := draw(rand.New(rand.NewPCG(1, 1)), 10_000, 200, true)
	b.ReportAllocs()
	for b.Loop() {
		r, err := fleet.Survey(b.Context(), members, &plan.Goal{Release: "4.20.2"}, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.Asked), "plans")
	}
}

// BenchmarkChoose asks which of 10,000 clusters are due, a third of the way through.
func BenchmarkChoose(b *testing.B) {
	w := &fleet.World{}
	for g := range 100 {
		var names []string
		for i := range 100 {
			name := fmt.Sprintf("c%05d", g*100+i)
			names = append(names, name)
			switch {
			case g < 30:
				w.Clusters = append(w.Clusters, fleet.Cluster{Name: name, Status: fleet.Succeeded, Since: now.Add(-48 * time.Hour)})
			case g < 33:
				w.Clusters = append(w.Clusters, fleet.Cluster{Name: name, Status: fleet.Progressing, Since: now.Add(-time.Hour)})
			}
		}
		w.Groups = append(w.Groups, fleet.Group{Name: fmt.Sprint("g", g), Clusters: names})
	}
	s := &fleet.Strategy{First: []string{"g0", "g1"}, Concurrency: fairlead.IntOrString{Int: 500}, Failures: fairlead.IntOrString{Text: "1%"}, Soak: 24 * time.Hour, Deadline: 12 * time.Hour}
	b.ReportAllocs()
	for b.Loop() {
		c, err := fleet.Choose(w, s, now)
		if err != nil || len(c.Go) != 500 { // 300 under way, and 200 more
			b.Fatal(len(c.Go), err)
		}
	}
}
