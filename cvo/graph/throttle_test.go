package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
)

// conditional makes updates: "4.20.1: a b, 5.0.1: c".
func conditional(text string) []graph.Update {
	var list []graph.Update
	for part := range strings.SplitSeq(text, ",") {
		version, names, ok := strings.Cut(strings.TrimSpace(part), ":")
		if !ok {
			continue
		}
		u := updateWith(strings.Fields(names)...)[0]
		u.Version = version
		list = append(list, u)
	}
	return list
}

func queries(rules []graph.Rule) string {
	var names []string
	for _, r := range rules {
		names = append(names, r.Query)
	}
	return strings.Join(names, " ")
}

// The rows of the operator's Test_loadRiskVersions and Test_risksInOrder: the
// risks of the newest release come first, those of one release by their names.
func TestOrderOfRisks(t *testing.T) {
	for _, c := range []struct{ updates, want string }{
		{"", ""},
		{"4.20.1: riskA riskB, 4.20.3: riskA riskC, 4.22.1: riskD riskB, 5.0.1: riskB riskC", "riskB riskC riskD riskA"},
		{"5.0.1: riskC riskB, 4.22.1: riskB riskD", "riskB riskC riskD"},
		{"4.9.0: a, 4.10.0: b, four: c", "b a c"},
	} {
		_, due, _ := graph.Evaluations{}.Due(conditional(c.updates), noon, nil)
		if got := queries(due); got != c.want {
			t.Errorf("%s: %s, not %s", c.updates, got, c.want)
		}
	}
}

// The row of Test_loadRiskConditions: each risk is judged by what its own rule
// came to.
func TestRiskConditions(t *testing.T) {
	u := updateWith("riskB", "riskC", "riskD", "riskA")[0]
	var got []string
	for _, x := range learnt("riskA=match riskB=fail riskC=match riskD=not").Recommend(u, nil).Exposures {
		got = append(got, x.Risk+"="+string(x.Applies))
	}
	if want := "riskB=Unknown riskC=True riskD=False riskA=True"; strings.Join(got, " ") != want {
		t.Errorf("%v, not %s", got, want)
	}
}

// The rows of the operator's Test_calculateMostStale: which rule is evaluated
// when only one may be. remembered are rules with the minutes since they were
// evaluated, "never" before the first time.
func TestMostStale(t *testing.T) {
	policy := &graph.EvaluationPolicy{Burst: 1, Every: 30 * time.Minute}
	for _, c := range []struct{ name, remembered, needed, want string }{
		{"empty cache", "", "", ""},
		{"single entry, never evaluated", "a=never", "a", "a"},
		{"single entry, no access since old evaluation", "a=60", "", ""},
		{"single entry, has access since old evaluation", "a=60", "a", "a"},
		{"single entry, has access since new evaluation", "a=1", "a", ""},
		{"two entries, both old evaluations, clear evaluation winner", "a=120 b=60", "a b", "a"},
		{"the same, the other way round", "a=60 b=120", "a b", "b"},
		{"one that nobody needs does not take the place of one that is needed", "a=120 b=60", "b", "b"},
		{"never evaluated comes before old", "a=120 b=never", "a b", "b"},
		{"tied: not by who waits longest, but by version and name", "a=60 b=60", "b a", "a"},
	} {
		var e graph.Evaluations
		for _, f := range strings.Fields(c.remembered) {
			name, age, _ := strings.Cut(f, "=")
			if minutes, err := time.ParseDuration(age + "m"); err == nil {
				e = e.With(promql(name), true, nil, noon.Add(-minutes))
			} else {
				e, _, _ = e.Due(updateWith(name), noon.Add(-time.Hour), policy)
			}
		}
		_, due, _ := e.Due(updateWith(strings.Fields(c.needed)...), noon, policy)
		if got := queries(due); got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}

// The row of the operator's TestCache, with its durations, in virtual time: at
// first two rules are needed, then ten at once, then two again. The pauses are
// kept, no rule is evaluated too early, and none is left behind.
func TestContention(t *testing.T) {
	policy := &graph.EvaluationPolicy{Burst: 1, Pause: 225 * time.Millisecond, Every: time.Second, Forget: 2 * time.Second}
	const round, few, many, tail = 100 * time.Millisecond, 5, 400, 40
	var e graph.Evaluations
	var last time.Time
	evaluated := map[string]time.Time{}
	for i := range few + many + tail {
		now := noon.Add(time.Duration(i) * round)
		n := 2
		if i >= few && i < few+many {
			n = 10
		}
		var names []string
		for j := range n {
			names = append(names, fmt.Sprintf("r%d", j))
		}
		next, due, _ := e.Due(updateWith(names...), now, policy)
		for _, rule := range due {
			if now.Sub(last) < policy.Pause {
				t.Fatalf("round %d: %v after the last evaluation", i, now.Sub(last))
			}
			if at, ok := evaluated[rule.Query]; ok && now.Sub(at) < policy.Every {
				t.Fatalf("round %d: %s again after %v", i, rule.Query, now.Sub(at))
			}
			last, evaluated[rule.Query] = now, now
			next = next.With(rule, true, nil, now)
		}
		e = next
		if i >= few && i < few+many && now.Sub(last) > policy.Every+round {
			t.Fatalf("round %d: nothing for %v", i, now.Sub(last))
		}
		if i == few+many-1 {
			for _, name := range names {
				if age := now.Sub(evaluated[name]); age > 10*300*time.Millisecond {
					t.Errorf("%s was left behind for %v", name, age)
				}
			}
		}
	}
	if len(e.List) != 2 || slices.ContainsFunc(e.List, func(v graph.Evaluation) bool { return v.Rule.Query > "r1" }) {
		t.Errorf("not forgotten: %v", e.List)
	}
}

// allOf is an evaluator that counts, and does not match.
type allOf struct{ n atomic.Int64 }

func (a *allOf) Evaluate(_ context.Context, r graph.Rule) (bool, error) {
	a.n.Add(1)
	if r.Query == "r7" {
		return false, errors.New("no route")
	}
	return false, nil
}

// However many rules there are, all are evaluated before anything is counted: no burst
// leaves the rest Unknown, and one that fails is not asked again and again.
func TestEvaluateAll(t *testing.T) {
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprint("r", i))
	}
	clock := new(fairlead.ManualClock)
	clock.Set(noon)
	by := &allOf{}
	updates := updateWith(names...)
	known, err := graph.Evaluations{}.EvaluateAll(t.Context(), by, updates, clock, nil)
	if err != nil || by.n.Load() != 50 {
		t.Fatalf("%d of 50 were evaluated: %v", by.n.Load(), err)
	}
	unknown := 0
	for _, x := range known.Recommend(updates[0], nil).Exposures {
		if x.Applies == fairlead.ConditionUnknown {
			unknown++
		}
	}
	if unknown != 1 {
		t.Errorf("%d are unknown, not the one that failed", unknown)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (graph.Evaluations{}).EvaluateAll(ctx, by, updates, clock, nil); err == nil {
		t.Error("it did not stop")
	}
}
