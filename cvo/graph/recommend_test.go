package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/internal/long"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func promql(query string) graph.Rule { return graph.Rule{Type: graph.RulePromQL, Query: query} }

// risk is a risk whose query is its name.
func risk(name string) graph.Risk {
	return graph.Risk{Name: name, URL: "https://x/" + name, Message: "It may " + name + ".", MatchingRules: []graph.Rule{promql(name)}}
}

// learnt remembers results: "a=match b=not c=fail".
func learnt(results string) graph.Evaluations {
	var e graph.Evaluations
	for _, f := range strings.Fields(results) {
		name, result, _ := strings.Cut(f, "=")
		var err error
		if result == "fail" {
			err = errors.New("no answer")
		}
		e = e.With(promql(name), result == "match", err, noon)
	}
	return e
}

// The rows of the operator's TestEvaluateConditionalUpdate, and of the algebra
// of reasons (TestNewRecommendedReason), as combinations of risks.
func TestRecommend(t *testing.T) {
	for _, c := range []struct {
		risks, results, accepted string
		want                     string
	}{
		{"", "", "", "True NotExposedToRisks"},
		{"A", "A=not", "", "True NotExposedToRisks"},
		{"A", "A=match", "", "False A"},
		{"A", "A=match", "A", "True AllExposedRisksAccepted"},
		{"A", "A=not", "A", "True NotExposedToRisks"},
		{"not.a.reason", "not.a.reason=match", "", "False ExposedToRisks"},
		{"A B", "A=match B=match", "", "False MultipleReasons"},
		{"A B", "A=match B=not", "", "False A"},
		{"A B", "A=not B=match", "", "False B"},
		{"A B", "A=match B=fail", "", "False MultipleReasons"},
		{"A B", "A=fail B=match", "", "False MultipleReasons"},
		{"A x.y", "A=fail x.y=match", "", "False ExposedToRisks"},
		{"x.y A", "x.y=match A=fail", "", "False ExposedToRisks"},
		{"x.y A", "x.y=match A=match", "", "False MultipleReasons"},
		{"A", "A=fail", "", "Unknown EvaluationFailed"},
		{"A", "", "", "Unknown EvaluationFailed"},
		{"A B", "A=fail B=fail", "", "Unknown EvaluationFailed"},
		{"A B", "A=fail B=not", "", "Unknown EvaluationFailed"},
		{"A B", "A=fail B=match", "B", "Unknown EvaluationFailed"},
		{"A B", "A=fail B=match", "A", "False B"},
		{"A B", "A=match B=match", "A", "False B"},
		{"A B", "A=match B=match", "A B", "True AllExposedRisksAccepted"},
		{"A B", "A=not B=match", "B", "True AllExposedRisksAccepted"},
		{"A", "A=fail", "A", "True AllExposedRisksAccepted"},
		{"x.y u.v", "x.y=match u.v=match", "", "False ExposedToRisks"},
	} {
		var u graph.Update
		for _, name := range strings.Fields(c.risks) {
			u.Risks = append(u.Risks, risk(name))
		}
		r := learnt(c.results).Recommend(u, strings.Fields(c.accepted))
		if got := fmt.Sprintf("%s %s", r.Status, r.Reason); got != c.want {
			t.Errorf("%s with %s, accepted %s: %s, not %s", c.risks, c.results, c.accepted, got, c.want)
		}
		if r.Message == "" || len(r.Exposures) != len(u.Risks) {
			t.Errorf("%s: %+v", c.risks, r)
		}
	}
	r := learnt("A=match B=fail").Recommend(graph.Update{Risks: []graph.Risk{risk("A"), risk("B")}}, nil)
	want := "It may A. https://x/A\n\nCould not evaluate exposure to update risk B (no answer)\n  B description: It may B.\n  B URL: https://x/B"
	if r.Message != want {
		t.Errorf("message:\n%s\nnot\n%s", r.Message, want)
	}
}

// The rows of the operator's TestMatch. What it lets pass, a risk without a rule
// that is known, is unknown here.
func TestMatchingRules(t *testing.T) {
	unknown := graph.Rule{Type: "Astrology", Other: `{"type":"Astrology"}`}
	always := graph.Rule{Type: graph.RuleAlways}
	e := learnt("yes=match no=not bad=fail worse=fail")
	for _, c := range []struct {
		rules []graph.Rule
		want  string
	}{
		{nil, "Unknown"},
		{[]graph.Rule{always, unknown}, "True"},
		{[]graph.Rule{unknown, always}, "True"},
		{[]graph.Rule{unknown, unknown}, "Unknown"},
		{[]graph.Rule{unknown, promql("bad"), promql("worse")}, "Unknown"},
		{[]graph.Rule{promql("bad"), promql("yes")}, "True"},
		{[]graph.Rule{promql("bad"), promql("no"), always}, "False"},
		{[]graph.Rule{promql("no"), promql("yes")}, "False"},
		{[]graph.Rule{unknown, promql("no")}, "False"},
		{[]graph.Rule{promql("never asked"), always}, "True"},
	} {
		r := e.Recommend(graph.Update{Risks: []graph.Risk{{Name: "R", MatchingRules: c.rules}}}, nil)
		if got := string(r.Exposures[0].Applies); got != c.want {
			t.Errorf("%v: %s, not %s", c.rules, got, c.want)
		}
	}
}

// counter is an evaluator that notes what it was asked.
type counter struct {
	mu    sync.Mutex
	asked []string
	fail  bool
}

func (c *counter) Evaluate(_ context.Context, r graph.Rule) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, r.Query)
	if c.fail {
		return false, errors.New("down")
	}
	return true, nil
}

func updateWith(names ...string) []graph.Update {
	var u graph.Update
	for _, n := range names {
		u.Risks = append(u.Risks, risk(n))
	}
	return []graph.Update{u}
}

func TestEvaluate(t *testing.T) {
	clock := new(fairlead.ManualClock)
	clock.Set(noon)
	by := &counter{}
	ctx := context.Background()
	policy := &graph.EvaluationPolicy{Burst: 2}
	e, wake := graph.Evaluations{}.Evaluate(ctx, by, updateWith("c", "a", "b"), clock, policy)
	if len(by.asked) != 2 || !wake.Equal(noon.Add(time.Second)) {
		t.Fatalf("asked %v, wake %v", by.asked, wake)
	}
	e, wake = e.Evaluate(ctx, by, updateWith("c", "a", "b"), clock, policy)
	if len(by.asked) != 2 || !wake.Equal(noon.Add(time.Second)) {
		t.Fatalf("too early: asked %v, wake %v", by.asked, wake)
	}
	clock.Set(wake)
	e, wake = e.Evaluate(ctx, by, updateWith("c", "a", "b"), clock, policy)
	if slices.Sort(by.asked); !slices.Equal(by.asked, []string{"a", "b", "c"}) || !wake.Equal(noon.Add(time.Hour)) {
		t.Fatalf("asked %v, wake %v", by.asked, wake)
	}
	clock.Set(noon.Add(2 * time.Hour))
	by.fail = true
	e, wake = e.Evaluate(ctx, by, updateWith("a"), clock, policy)
	if len(by.asked) != 4 || !wake.Equal(noon.Add(2*time.Hour+time.Minute)) || e.Recommend(updateWith("a")[0], nil).Reason != graph.ReasonEvaluation {
		t.Fatalf("asked %v, wake %v", by.asked, wake)
	}
	clock.Set(noon.Add(2*time.Hour + time.Minute))
	if _, _, wake = e.Due(updateWith("a"), clock.Now().Add(-time.Second), policy); !wake.Equal(clock.Now()) {
		t.Fatalf("a failed rule is retried at %v", wake)
	}
	clock.Set(noon.Add(26 * time.Hour))
	e, _, _ = e.Due(updateWith("a"), clock.Now(), policy)
	if len(e.List) != 1 {
		t.Fatalf("not forgotten: %v", e.List)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if after, wake := e.Evaluate(ended, by, updateWith("z"), clock, policy); !reflect.DeepEqual(after, e) || !wake.IsZero() {
		t.Fatal("what was cut short is remembered")
	}
}

// Whatever the order of events: never more than a burst at once and one burst in
// a pause, no result older than it may be while somebody asks, and what is
// remembered survives JSON.
func TestEvaluationsProperties(t *testing.T) {
	for seed := range long.N(300, 30_000) {
		r := rand.New(rand.NewPCG(11, uint64(seed)))
		policy := &graph.EvaluationPolicy{Burst: 1 + r.IntN(3), Every: time.Minute, RetryFailed: 10 * time.Second, Pause: 2 * time.Second, Forget: 5 * time.Minute}
		var e graph.Evaluations
		now, last := noon, time.Time{}
		at := map[string]time.Time{}
		for range 60 {
			names := strings.Fields("a b c d e f g")[:1+r.IntN(7)]
			next, due, wake := e.Due(updateWith(names...), now, policy)
			if len(due) > policy.Burst || len(due) > 0 && !last.IsZero() && now.Sub(last) < policy.Pause {
				t.Fatalf("seed %d: %d rules at once, %v after the last", seed, len(due), now.Sub(last))
			}
			if len(due) > 0 {
				last = now
			}
			if len(due) == 0 && wake.IsZero() {
				t.Fatalf("seed %d: rules are never evaluated again", seed)
			}
			for _, rule := range due {
				if t0, ok := at[rule.Query]; ok && now.Sub(t0) < policy.RetryFailed {
					t.Fatalf("seed %d: %s is evaluated after %v", seed, rule.Query, now.Sub(t0))
				}
				at[rule.Query] = now
				var err error
				if r.IntN(3) == 0 {
					err = errors.New("no")
				}
				next = next.With(rule, r.IntN(2) == 0, err, now)
			}
			text, err := json.Marshal(next)
			if err != nil {
				t.Fatal(err)
			}
			e = graph.Evaluations{}
			if err := json.Unmarshal(text, &e); err != nil || !reflect.DeepEqual(e, next) {
				t.Fatalf("seed %d: %v\n%v\n%v", seed, err, e, next)
			}
			if !wake.IsZero() && !wake.After(now) {
				t.Fatalf("seed %d: wake in the past", seed)
			}
			now = now.Add(time.Duration(r.IntN(8000)) * time.Millisecond)
			if wake.After(now) && r.IntN(2) == 0 {
				now = wake
			}
		}
	}
}

func asked(channel string) *graph.Query {
	return &graph.Query{Channel: channel, Architecture: "amd64"}
}

func TestFetch(t *testing.T) {
	var s graph.FetchState
	at := func(d time.Duration) time.Time { return noon.Add(d) }
	due := func(channel string, now time.Time) bool {
		ok, _ := s.Due(asked(channel), now, nil)
		return ok
	}
	if !due("stable", noon) {
		t.Error("the first time is not due")
	}
	s, _ = s.Fetched(asked("stable"), "", noon, nil)
	if due("stable", at(time.Minute)) || !due("fast", at(time.Minute)) || !due("stable", at(3*time.Minute)) || !due("stable", at(-time.Hour)) {
		t.Errorf("state %+v", s)
	}
	for _, c := range []struct {
		q    graph.Query
		want bool
	}{
		{graph.Query{Upstream: graph.DefaultUpstream, Channel: "stable", Architecture: "amd64"}, false},
		{graph.Query{Upstream: "https://other.example", Channel: "stable", Architecture: "amd64"}, true},
		{graph.Query{Channel: "stable", Architecture: graph.ArchitectureMulti}, true},
		{graph.Query{Channel: "stable", Architecture: "amd64", Version: "4.18.1"}, true}, // the cluster was updated
	} {
		if got, _ := s.Due(&c.q, at(time.Minute), nil); got != c.want {
			t.Errorf("%+v: due %v", c.q, got)
		}
	}
	for _, c := range []struct {
		failure graph.FetchFailure
		channel string
		after   time.Duration
		keep    bool
	}{
		{graph.RemoteFailed, "stable", time.Hour, true},
		{graph.ResponseFailed, "stable", time.Hour, true},
		{graph.ResponseInvalid, "stable", 24 * time.Hour, true},
		{graph.ResponseInvalid, "stable", 25 * time.Hour, false},
		{graph.VersionNotFound, "stable", time.Hour, false},
		{graph.NoChannel, "stable", time.Hour, false},
		{graph.RemoteFailed, "fast", time.Hour, false},
	} {
		next, keep := s.Fetched(asked(c.channel), c.failure, at(c.after), nil)
		if keep != c.keep || !next.Attempt.Equal(at(c.after)) || (next.Success != s.Success) != (c.channel == "fast") {
			t.Errorf("%+v: keep %v, %+v", c, keep, next)
		}
	}
}
