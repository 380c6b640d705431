package report

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/internal/sample"
	"github.com/fairlead/fairlead/internal/long"
)

// Pods survive the round trip through a page, except for the fields that it leaves out.
func TestPodsComeBack(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for seed := range uint64(long.N(50, 5000)) {
		r := rand.New(rand.NewPCG(seed, 22))
		moment := func() time.Time {
			if r.IntN(3) == 0 {
				return time.Time{}
			}
			return at.Add(time.Duration(r.IntN(1000)) * time.Second)
		}
		var all []fairlead.Pod
		for i := range r.IntN(30) {
			p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Name: string(rune('a' + i)), Namespace: []string{"x", "y"}[r.IntN(2)], CreationTimestamp: moment()}}
			p.Spec.NodeName = []string{"", "one", "two"}[r.IntN(3)]
			p.Annotations = map[string]string{"keep": "yes"}
			if r.IntN(2) == 0 {
				start := moment()
				p.Status.StartTime = &start
			}
			for k := range r.IntN(3) {
				p.Status.Conditions = append(p.Status.Conditions, fairlead.Condition{Type: string(rune('A' + k)), Status: "True", LastTransitionTime: moment()})
			}
			all = append(all, p)
		}
		in := &Input{Situation: &plan.Situation{Pods: all}}
		e, err := embed(in)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		back := &embedded{}
		if err := json.Unmarshal(text, back); err != nil {
			t.Fatal(err)
		}
		got, err := back.input()
		if err != nil {
			t.Fatal(err)
		}
		if want, is := asJSON(t, all), asJSON(t, got.Situation.Pods); len(all) > 0 && want != is {
			t.Fatalf("seed %d:\n%s\ncame back as\n%s", seed, want, is)
		}
		if len(in.Situation.Pods) != len(all) {
			t.Fatal("the situation that was embedded has lost its pods")
		}
	}
}

// What a page leaves out, and what it refuses.
func TestPodsLeftOut(t *testing.T) {
	p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Name: "a", UID: "1234", ResourceVersion: "7", Annotations: map[string]string{"k8s.ovn.org/pod-networks": "10.0.0.1", "keep": "yes"}}}
	s, err := sumUp([]fairlead.Pod{p, p})
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.each()
	if err != nil {
		t.Fatal(err)
	}
	p.UID, p.ResourceVersion, p.Annotations = "uid-1", "", map[string]string{"keep": "yes"}
	if len(s.Kinds) != 1 || !reflect.DeepEqual(all[1], p) || all[0].UID == all[1].UID {
		t.Errorf("%d kinds; %+v", len(s.Kinds), all)
	}
	for want, damage := range map[string]func(*pods){
		"different lengths":          func(s *pods) { s.Node = s.Node[1:] },
		"a kind or a node":           func(s *pods) { s.Kind = []int{0, 1} },
		"pod 0 has 2 times, not 1":   func(s *pods) { s.Times = [][]int64{{1, 2}, nil} },
		"a kind or a node that is n": func(s *pods) { s.Node = []int{-1, 0} },
	} {
		bad := *s
		damage(&bad)
		if _, err := bad.each(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// The largest cluster fits into a live page.
func TestLargestSituation(t *testing.T) {
	if !long.Enabled() {
		t.Skip("150,000 pods with FAIRLEAD_LONG=1 alone")
	}
	e, err := embed(&Input{Situation: sample.Cluster(sample.Size{Nodes: 5000, Pods: 150_000, Operators: 50})})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := pack(text)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes of JSON, %d in the page", len(text), len(packed))
	if len(packed) > 1_500_000 {
		t.Errorf("the cluster takes %d bytes of the page", len(packed))
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
