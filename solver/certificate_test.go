package solver_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver"
)

// TestJudge shows the judge certificates that are wrong in one respect each.
func TestJudge(t *testing.T) {
	// x(1) y(2) x2(3) x1(4) y2(5) y1(6)
	const choices = `require x
require y
x needs x2 x1
y needs y2 y1
exclude x2 y2
`
	const good = `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":2},{"demand":2,"pick":3},` +
		`{"demand":3,"pick":6,"refused":[{"var":5,"core":[4],"given":[2]}]}]}`
	for _, test := range []struct{ problem, cert, want string }{
		{choices, good, ""},
		// The selection must meet every kind of constraint.
		{"require a\nrequire b", `{"steps":[{"demand":0,"pick":1}]}`, "breaks constraint 1"},
		{"require a\nforbid a", `{"steps":[{"demand":0,"pick":1}]}`, "breaks constraint 1"},
		{"require a\na needs b c", `{"steps":[{"demand":0,"pick":1}]}`, "breaks constraint 1"},
		{"require a\na needs", `{"steps":[{"demand":0,"pick":1}]}`, "breaks constraint 1"},
		{"require a\nrequire b\nexclude a b", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":2}]}`, "breaks constraint 2"},
		{"require a\nrequire b\nlimit 1 a b c", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":2}]}`, "breaks constraint 2"},
		{"require a\nrequire b\nany !a !b", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":2}]}`, "breaks constraint 2"},
		{"require a\nany", `{"steps":[{"demand":0,"pick":1}]}`, "breaks constraint 1"},
		// The choices must be those that come up, in order.
		{"require a\nrequire b", `{"steps":[{"demand":1,"pick":2},{"demand":0,"pick":1}]}`, "step 0: the next choice is that of constraint 0"},
		{"require a\na needs b", `{"steps":[{"demand":0,"pick":1},{"demand":0,"pick":2}]}`, "step 1: the next choice is that of constraint 1"},
		{"require a\nb needs c", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":3}]}`, "step 1: there is no choice left"},
		{"require a\nvar b", `{"steps":[{"demand":0,"pick":1},{"demand":0,"pick":2}]}`, "step 1: there is no choice left"},
		{"require a\nrequire b", `{"steps":[{"demand":0,"pick":2},{"demand":1,"pick":1}]}`, "step 0: b is no candidate"},
		// Every better candidate must be refused.
		{"require a\na needs b c", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":3}]}`, "step 1: 1 better candidates, 0 refusals"},
		{"require a\na needs b c", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":2,"refused":[{"var":3}]}]}`, "step 1: 0 better candidates, 1 refusals"},
		{"require a\na needs b c\nforbid b", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":3,"refused":[{"var":3,"core":[2]}]}]}`, "refusal 0 is not of candidate b"},
		// For a reason that holds.
		{"require a\na needs b c\nforbid b", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":3,"refused":[{"var":2}]}]}`, "step 1: b is possible"},
		{"require a\na needs b c\nforbid b", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":3,"refused":[{"var":2,"core":[0,1]}]}]}`, "step 1: b is possible"},
		{"require a\na needs b c\nlimit 2 a b c", `{"steps":[{"demand":0,"pick":1},{"demand":1,"pick":3,"refused":[{"var":2,"core":[0,2]}]}]}`, "step 1: b is possible"},
		{choices, strings.Replace(good, `"given":[2]`, `"given":[3]`, 1), "rests on a step that is not before it"},
		{choices, strings.Replace(good, `"given":[2]`, `"given":[-1]`, 1), "rests on a step that is not before it"},
		// And all of it must speak of the problem.
		{choices, strings.Replace(good, `"core":[4]`, `"core":[5]`, 1), "there is no constraint 5"},
		{choices, strings.Replace(good, `"core":[4]`, `"core":[-1]`, 1), "there is no constraint -1"},
		{choices, strings.Replace(good, `"pick":6`, `"pick":7`, 1), "step 3: it names what is not in the problem"},
		{choices, strings.Replace(good, `"demand":3`, `"demand":5`, 1), "step 3: it names what is not in the problem"},
		{choices, strings.Replace(good, `"demand":3`, `"demand":-1`, 1), "step 3: it names what is not in the problem"},
	} {
		cert := &solver.Certificate{}
		if err := json.Unmarshal([]byte(test.cert), cert); err != nil {
			t.Fatal(err)
		}
		err := solver.Check(context.Background(), parse(t, test.problem), cert, nil)
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", test.cert, err)
			}
			continue
		}
		var wrong *solver.CertificateError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\n%s\ngot %v, want %s", test.problem, test.cert, err, test.want)
		}
	}
}

// TestUndecided has the judge stop in time: past its bound it says neither yes
// nor no.
func TestUndecided(t *testing.T) {
	p := pigeons(6, 5)
	ids := make([]int, p.NumConstraints())
	for i := range ids {
		ids[i] = i
	}
	for _, bound := range []int{1, 100, 1000} {
		err := solver.CheckCore(context.Background(), p, ids, &solver.CheckOptions{MaxSteps: bound})
		var undecided *solver.UndecidedError
		if !errors.As(err, &undecided) || undecided.MaxSteps != bound {
			t.Errorf("within %d steps: got %v", bound, err)
		}
	}
	if err := solver.CheckCore(context.Background(), p, ids, nil); err != nil {
		t.Error(err)
	}
	var wrong *solver.CertificateError
	if err := solver.CheckCore(context.Background(), p, ids[1:], &solver.CheckOptions{MaxSteps: -1}); !errors.As(err, &wrong) {
		t.Errorf("got %v", err)
	}
}
