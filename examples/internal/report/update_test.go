package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/internal/sample"
)

// pageOf writes the page of a report.
func pageOf(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// One release is the goal of the plan; those before it are on its path. The same holds for
// operators.
func TestGoal(t *testing.T) {
	r, err := Make(t.Context(), &Input{Situation: sample.Cluster(sample.Size{Nodes: 20, Pods: 200, Operators: 3}), Goal: &plan.Goal{Minor: "4.20"}})
	if err != nil {
		t.Fatal(err)
	}
	path := r.path()
	if len(path) < 2 || path[len(path)-1] != r.Plan.To {
		t.Fatalf("the path %q to %s has no release on the way", path, r.Plan.To)
	}
	for i, v := range path {
		state, want := "plan", v+": on the path of the plan"
		if i == len(path)-1 {
			state, want = "goal", v+": the goal of the plan"
		}
		if got := r.Update.State[slices.Index(r.Update.Releases, v)]; got != state {
			t.Errorf("%s has state %q, want %q", v, got, state)
		}
		if !strings.Contains(r.releases, "<title>"+want) {
			t.Errorf("the graph has no title %q; titles of %s: %q", want, v, regexp.MustCompile("<title>"+regexp.QuoteMeta(v)+":[^<]*").FindAllString(r.releases, -1))
		}
	}
	if n := strings.Count(r.releases, ": the goal of the plan"); n != 1 {
		t.Errorf("%d releases are the goal of the plan", n)
	}
}

// Without a plan, the pictures and their legends mention none.
func TestPicturesWithoutPlan(t *testing.T) {
	for name, goal := range map[string]*plan.Goal{"no plan": {Release: "4.20.1"}, "nothing planned": nil} {
		t.Run(name, func(t *testing.T) {
			r, err := Make(t.Context(), &Input{Situation: sample.Cluster(sample.Size{Nodes: 20, Pods: 200, Operators: 3}), Goal: goal})
			if err != nil {
				t.Fatal(err)
			}
			for _, picture := range []string{r.releases, r.operators} {
				if found := regexp.MustCompile("[^<>]*plan[^<>]*").FindAllString(picture, -1); picture == "" || found != nil {
					t.Errorf("a picture of %d bytes mentions a plan: %q", len(picture), found)
				}
			}
			_, operators, _ := strings.Cut(pageOf(t, r), `id="operators"`)
			if operators, _, _ = strings.Cut(operators, "</p>"); strings.Contains(operators, "plan") {
				t.Errorf("the operators mention a plan: %s", operators)
			}
		})
	}
}

// A goal that is not a release is reached at the same release.
func TestPlanAtOneRelease(t *testing.T) {
	none := &plan.NoPlanError{From: "4.18.20", To: "4.18.20", Facts: []string{"the pods of node a do not fit on other nodes"}}
	for name, test := range map[string]struct {
		plan           Plan
		headline, page string
	}{
		"none":  {Plan{From: "4.18.20", To: "4.18.20", None: none}, "There is no plan at 4.18.20: 1 fact rules it out", "These facts rule out every plan at 4.18.20:"},
		"steps": {Plan{From: "4.18.20", To: "4.18.20", Takes: "about 5m", Steps: []plan.PlanStep{{Kind: plan.OutOfService, Subject: "a"}}}, "1 step at 4.18.20, about 5m", "At 4.18.20: 1 step, about 5m, 0 node restarts."},
		"ready": {Plan{From: "4.18.20", To: "4.18.20", Takes: "under 1m"}, "Nothing needs to be done at 4.18.20", "Nothing needs to be done."},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Report{Plan: &test.plan}
			r.headline(&plan.Situation{}, &cvo.Report{})
			if r.Headline != test.headline {
				t.Errorf("headline %q, want %q", r.Headline, test.headline)
			}
			_, section, _ := strings.Cut(pageOf(t, r), `id="plan"`)
			section, _, _ = strings.Cut(section, "</section>")
			if !strings.Contains(section, test.page) || strings.Contains(section, "to 4.18.20") {
				t.Errorf("the page does not say %q:\n%s", test.page, section)
			}
		})
	}
}
