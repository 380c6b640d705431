package object_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/object"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestScale compares with floating-point arithmetic.
func TestScale(t *testing.T) {
	for percent := range 201 {
		for total := range 130 {
			share := float64(percent) * float64(total) / 100
			v := fairlead.IntOrString{Text: fmt.Sprintf("%d%%", percent)}
			if up, err := v.Scale(total, true); err != nil || up != int(math.Ceil(share)) {
				t.Fatalf("%v of %d up: %d, %v", v, total, up, err)
			}
			if down, err := v.Scale(total, false); err != nil || down != int(math.Floor(share)) {
				t.Fatalf("%v of %d down: %d, %v", v, total, down, err)
			}
		}
	}
	for text, want := range map[string]string{
		`3`: "3", `"7"`: "7", `"50%"`: "5", `0`: "0", `-1`: "-1 is negative",
		`"-1"`: `"-1" is neither a whole number nor a percentage such as "30%"`,
		`"x%"`: `"x%" is neither a whole number nor a percentage such as "30%"`,
		`"%"`:  `"%" is neither a whole number nor a percentage such as "30%"`,
	} {
		var v fairlead.IntOrString
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		n, err := v.Scale(9, true)
		got := fmt.Sprint(n)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestBudgetCheck lists the errors of budgets with their field paths.
func TestBudgetCheck(t *testing.T) {
	for spec, want := range map[string]string{
		`{}`: "<nil>",
		`{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}`:         "<nil>",
		`{"minAvailable":1,"maxUnavailable":1}`:                           "PodDisruptionBudget ns/b: spec.maxUnavailable: cannot be combined with minAvailable; give one of them",
		`{"minAvailable":-1}`:                                             "PodDisruptionBudget ns/b: spec.minAvailable: -1 is negative",
		`{"maxUnavailable":"much"}`:                                       `PodDisruptionBudget ns/b: spec.maxUnavailable: "much" is neither a whole number nor a percentage such as "30%"`,
		`{"unhealthyPodEvictionPolicy":"Never"}`:                          `PodDisruptionBudget ns/b: spec.unhealthyPodEvictionPolicy: "Never" is neither IfHealthyBudget nor AlwaysAllow`,
		`{"selector":{"matchExpressions":[{"key":"a","operator":"In"}]}}`: `PodDisruptionBudget ns/b: spec.selector: label selector: requirement on "a": operator In needs values; give at least one`,
	} {
		b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: "b"}}
		if err := json.Unmarshal([]byte(spec), &b.Spec); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(b.Check()); got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
		if _, err := b.Measure(nil, nil, noon); fmt.Sprint(err) != want {
			t.Errorf("%s: Measure: %v", spec, err)
		}
	}
}

// crowd returns random pods of two namespaces and three controllers.
func crowd(r *rand.Rand, n int) []*fairlead.Pod {
	yes := true
	var pods []*fairlead.Pod
	for i := range n {
		p := &fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: pick(r, "a", "b"), Name: fmt.Sprint("p", i), Labels: map[string]string{"app": pick(r, "x", "y"), "tier": pick(r, "1", "2")}}}
		if r.IntN(4) > 0 {
			c := pick(r, "one", "two", "three")
			p.OwnerReferences = []fairlead.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: c, UID: p.Namespace + c, Controller: &yes}}
		}
		p.Status.Phase = pick(r, fairlead.PodRunning, fairlead.PodRunning, fairlead.PodPending, fairlead.PodSucceeded)
		if r.IntN(4) > 0 {
			p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: pick(r, fairlead.ConditionTrue, fairlead.ConditionTrue, fairlead.ConditionFalse)}}
		}
		if r.IntN(6) == 0 {
			p.DeletionTimestamp = &noon
		}
		pods = append(pods, p)
	}
	return pods
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func budget(r *rand.Rand, i int) fairlead.PodDisruptionBudget {
	b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: pick(r, "a", "b"), Name: fmt.Sprint("b", i), Generation: 2}}
	amount := &fairlead.IntOrString{Int: r.IntN(5)}
	if r.IntN(2) == 0 {
		amount = &fairlead.IntOrString{Text: fmt.Sprintf("%d%%", r.IntN(120))}
	}
	switch r.IntN(5) {
	case 0: // neither
	case 1, 2:
		b.Spec.MinAvailable = amount
	default:
		b.Spec.MaxUnavailable = amount
	}
	switch r.IntN(6) {
	case 0: // none
	case 1:
		b.Spec.Selector = &fairlead.LabelSelector{}
	case 2:
		b.Spec.Selector = &fairlead.LabelSelector{MatchExpressions: []fairlead.SelectorRequirement{{Key: "tier", Operator: fairlead.SelectorIn, Values: []string{"1"}}}}
	default:
		b.Spec.Selector = &fairlead.LabelSelector{MatchLabels: map[string]string{"app": pick(r, "x", "y")}}
		if r.IntN(2) == 0 {
			b.Spec.Selector.MatchLabels["tier"] = pick(r, "1", "2")
		}
	}
	b.Status.DisruptedPods = map[string]time.Time{"p1": noon.Add(-time.Minute), "p2": noon.Add(-3 * time.Minute), "p3": noon.Add(-fairlead.DisruptionTimeout)}
	return b
}

// TestMeasureAndIndex compares Measure and Budgets with simple counting.
func TestMeasureAndIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	scales := map[string]int{"aone": 4, "atwo": 3, "bone": 7}
	scale := func(_ string, c *fairlead.OwnerReference) (int, bool) { n, ok := scales[c.UID]; return n, ok }
	for range long.N(4_000, 200_000) {
		pods := crowd(r, r.IntN(12))
		var budgets []fairlead.PodDisruptionBudget
		for i := range r.IntN(6) {
			budgets = append(budgets, budget(r, i))
		}
		index, errs := object.NewBudgets(budgets)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for _, p := range pods {
			var want []int32
			for i := range budgets {
				if selects(&budgets[i], p) {
					want = append(want, int32(i))
				}
			}
			if got := index.Of(p, nil); !slices.Equal(got, want) {
				t.Fatalf("budgets of %v: %v, want %v", p.ObjectMeta, got, want)
			}
		}
		for i := range budgets {
			b := &budgets[i]
			got, err := b.Measure(pods, scale, noon)
			if err != nil {
				t.Fatal(err)
			}
			got.DisruptedPods = nil
			if want := plain(b, pods, scales); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%+v: %+v, want %+v", b.Spec, got, want)
			}
		}
	}
}

func selects(b *fairlead.PodDisruptionBudget, p *fairlead.Pod) bool {
	s := b.Spec.Selector
	if s == nil || b.Namespace != p.Namespace {
		return false
	}
	for k, v := range s.MatchLabels {
		if p.Labels[k] != v {
			return false
		}
	}
	return len(s.MatchExpressions) == 0 || p.Labels["tier"] == "1"
}

// plain measures a budget in floating point and without shared results.
func plain(b *fairlead.PodDisruptionBudget, pods []*fairlead.Pod, scales map[string]int) fairlead.BudgetStatus {
	total, healthy, scaled := 0, 0, 0
	seen := map[string]bool{}
	for _, p := range pods {
		if !selects(b, p) {
			continue
		}
		total++
		if p.Ready() && p.DeletionTimestamp == nil && p.Name != "p1" {
			healthy++
		}
		if len(p.OwnerReferences) == 0 {
			continue
		}
		uid := p.OwnerReferences[0].UID
		if n, ok := scales[uid]; !ok {
			scaled++
		} else if !seen[uid] {
			scaled += n
		}
		seen[uid] = true
	}
	part := func(v *fairlead.IntOrString) int {
		if share, ok := strings.CutSuffix(v.Text, "%"); ok {
			var n float64
			fmt.Sscan(share, &n)
			return int(math.Ceil(n * float64(scaled) / 100))
		}
		return v.Int
	}
	s := fairlead.BudgetStatus{ObservedGeneration: 2, CurrentHealthy: healthy}
	switch {
	case b.Spec.MaxUnavailable != nil:
		s.ExpectedPods, s.DesiredHealthy = scaled, max(0, scaled-part(b.Spec.MaxUnavailable))
	case b.Spec.MinAvailable == nil:
	case b.Spec.MinAvailable.Text != "":
		s.ExpectedPods, s.DesiredHealthy = scaled, part(b.Spec.MinAvailable)
	default:
		s.ExpectedPods, s.DesiredHealthy = total, b.Spec.MinAvailable.Int
	}
	if s.ExpectedPods > 0 {
		s.DisruptionsAllowed = max(0, healthy-s.DesiredHealthy)
	}
	return s
}

// TestEvaluateEviction lists the answers of the eviction API.
func TestEvaluateEviction(t *testing.T) {
	ready := func(p *fairlead.Pod) {
		p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
	}
	b := func(change func(*fairlead.PodDisruptionBudget)) *fairlead.PodDisruptionBudget {
		b := &fairlead.PodDisruptionBudget{Status: fairlead.BudgetStatus{DesiredHealthy: 2, CurrentHealthy: 2, ExpectedPods: 3}}
		if change != nil {
			change(b)
		}
		return b
	}
	allow := func(b *fairlead.PodDisruptionBudget) { b.Status.DisruptionsAllowed = 1 }
	tests := []struct {
		name    string
		pod     func(*fairlead.Pod)
		budgets []*fairlead.PodDisruptionBudget
		want    object.EvictionVerdict
	}{
		{"no budget", ready, nil, object.EvictionUnguarded},
		{"one is allowed", ready, []*fairlead.PodDisruptionBudget{b(allow)}, object.EvictionAllowed},
		{"none is allowed", ready, []*fairlead.PodDisruptionBudget{b(nil)}, object.EvictionRefused},
		{"two budgets", ready, []*fairlead.PodDisruptionBudget{b(allow), b(allow)}, object.EvictionUnsupported},
		{"two budgets, not ready", nil, []*fairlead.PodDisruptionBudget{b(allow), b(allow)}, object.EvictionUnsupported},
		{"two budgets, finished", func(p *fairlead.Pod) { p.Status.Phase = fairlead.PodFailed }, []*fairlead.PodDisruptionBudget{b(nil), b(nil)}, object.EvictionUnguarded},
		{"pending", func(p *fairlead.Pod) { p.Status.Phase = fairlead.PodPending }, []*fairlead.PodDisruptionBudget{b(nil)}, object.EvictionUnguarded},
		{"being deleted", func(p *fairlead.Pod) { ready(p); p.DeletionTimestamp = &noon }, []*fairlead.PodDisruptionBudget{b(nil)}, object.EvictionUnguarded},
		{"not ready, healthy budget", nil, []*fairlead.PodDisruptionBudget{b(nil)}, object.EvictionUnguarded},
		{"not ready, unhealthy budget", nil, []*fairlead.PodDisruptionBudget{b(func(b *fairlead.PodDisruptionBudget) { b.Status.CurrentHealthy = 1 })}, object.EvictionRefused},
		{"not ready, nothing desired", nil, []*fairlead.PodDisruptionBudget{b(func(b *fairlead.PodDisruptionBudget) { b.Status.DesiredHealthy = 0 })}, object.EvictionRefused},
		{"not ready, always allowed", nil, []*fairlead.PodDisruptionBudget{b(func(b *fairlead.PodDisruptionBudget) {
			b.Status.CurrentHealthy, b.Spec.UnhealthyPodEvictionPolicy = 0, fairlead.AlwaysAllow
		})}, object.EvictionUnguarded},
		{"numbers of an older generation", ready, []*fairlead.PodDisruptionBudget{b(func(b *fairlead.PodDisruptionBudget) { allow(b); b.Generation = 1 })}, object.EvictionUnobserved},
		{"negative", ready, []*fairlead.PodDisruptionBudget{b(func(b *fairlead.PodDisruptionBudget) { b.Status.DisruptionsAllowed = -1 })}, object.EvictionForbidden},
		{"too many evicted", ready, []*fairlead.PodDisruptionBudget{b(func(b *fairlead.PodDisruptionBudget) {
			allow(b)
			b.Status.DisruptedPods = map[string]time.Time{}
			for i := range object.MaxDisruptedPods + 1 {
				b.Status.DisruptedPods[fmt.Sprint(i)] = noon
			}
		})}, object.EvictionForbidden},
	}
	for _, test := range tests {
		p := &fairlead.Pod{Status: fairlead.PodStatus{Phase: fairlead.PodRunning}}
		if test.pod != nil {
			test.pod(p)
		}
		if got := object.EvaluateEviction(p, test.budgets...); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		if got := object.EvaluateEviction(p, test.budgets...); got.Allows() != (got == object.EvictionAllowed || got == object.EvictionUnguarded) {
			t.Errorf("%s: allows %v", test.name, got.Allows())
		}
	}
}
