package diagnose

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/examples/internal/situation"
	"github.com/fairlead/fairlead/internal/words"
)

// start is the answer to the question whether an update may be started.
type start struct {
	May       string               `json:"may"`               // yes, no, first (something must be done before), requested (it is under way), done or unknown
	To        string               `json:"to"`                // the release that is asked for
	Plan      *plan.Plan           `json:"plan,omitempty"`    // how to get there
	Why       *plan.NoPlanError    `json:"why,omitempty"`     // why there is no plan
	Before    []plan.PlanStep      `json:"before,omitempty"`  // the steps before the first update
	Diagnosis *diagnosis.Diagnosis `json:"diagnosis"`         // what the cluster waits for now
	Unknown   []string             `json:"unknown,omitempty"` // what the answer rests on
}

// mayStart answers whether the update to a release may be started: the plan says what must be done
// before it, and the diagnosis what is wrong now.
func mayStart(c *args.Call, s *snapshot.Snapshot, to, form string) error {
	of, err := situation.Of(s, nil)
	if err != nil {
		return err
	}
	c.Doing("planning")
	a := &start{To: to, Diagnosis: diagnosing.Of(s)}
	goal := &plan.Goal{Release: to}
	if strings.Count(to, ".") == 1 {
		goal = &plan.Goal{Minor: to}
	}
	if a.May = standing(of.Cluster, to); a.May == "" {
		a.May = "yes"
		a.Plan, err = plan.Make(c.Context, &of.Situation, goal, nil)
	}
	switch {
	case a.May != "yes":
	case errors.As(err, &a.Why):
		a.May = "no"
	case err != nil:
		return err
	default:
		a.judge()
	}
	if form == "json" {
		err = c.JSON(a)
	} else {
		b := page.NewBuffer(c.Stdout)
		a.write(b)
		_, err = c.Painted(args.Leading(tones)).Write(b.Bytes())
	}
	if err == nil && a.May != "yes" && a.May != "done" {
		return args.ErrFindings
	}
	return err
}

// standing says that a release was requested before, or is there already; "" for neither.
func standing(v *cvo.ClusterVersion, to string) string {
	if v == nil || v.Status.Desired.Version != to || len(v.Status.History) == 0 || v.Status.History[0].Version != to {
		return ""
	}
	if v.Status.History[0].State == cvo.Completed {
		return "done"
	}
	return "requested"
}

// judge decides what a plan and the diagnosis say together.
func (a *start) judge() {
	for _, s := range a.Plan.Steps {
		if s.Kind == plan.MoveCluster {
			for _, u := range s.Unseen {
				a.Unknown = append(a.Unknown, u.What+": "+u.Command)
			}
			break
		}
		a.Before = append(a.Before, s)
	}
	switch {
	case len(a.Before) > 0 || len(a.Diagnosis.Causes) > 0:
		a.May = "first"
	case a.Plan.Guesses() || !a.Diagnosis.Well():
		a.May = "unknown"
	}
}

// write writes the answer: yes or no, why, what to do before, and what is wrong in the cluster.
func (a *start) write(w io.Writer) {
	word := map[string]string{"yes": "YES: start it", "no": "NO: it cannot be started", "first": "NOT YET: something must be done first", "done": "DONE: the cluster has it", "unknown": "NOT KNOWN: nothing that speaks against it was found, and not all is known"}[a.May]
	from := a.Diagnosis.To
	if a.May == "requested" {
		from = a.Diagnosis.From
		word = fmt.Sprintf("UNDER WAY (%s): it was requested before", strings.ToUpper(a.Diagnosis.Word))
	}
	fmt.Fprintf(w, "%s   %s -> %s\n", word, from, a.To)
	if a.Why != nil {
		for _, f := range a.Why.Facts {
			page.Fold(w, "Because ", f)
		}
		for i := range a.Why.Fixes {
			page.Fold(w, "What would help: ", words.List(a.Why.Fixes[i].Do, "and", 6))
		}
	}
	for i := range a.Before {
		s := &a.Before[i]
		page.Fold(w, fmt.Sprintf("DO %d  ", i+1), strings.TrimSuffix(s.Why, "."))
		if s.Command != "" {
			fmt.Fprintf(w, "      %s\n", s.Command)
		}
	}
	if len(a.Diagnosis.Causes) > 0 {
		diagnosing.Causes(w, a.Diagnosis, 3)
	}
	diagnosing.Steps(w, a.Diagnosis, lines-4)
	if a.Plan != nil {
		for _, s := range a.Plan.Steps {
			if s.Kind == plan.MoveCluster && a.May != "no" {
				fmt.Fprintf(w, "THEN   %s\n", s.Command)
				break
			}
		}
	}
	for _, u := range a.Unknown {
		fmt.Fprintf(w, "NOT KNOWN  %s\n", u) // with its command, which is never cut
	}
	unknown(w, a.Diagnosis, 2)
}
