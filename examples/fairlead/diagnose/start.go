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

	from string // the release that the cluster runs
}

// mayStart answers whether the update to a release may be started: the plan says what must be done
// before it, and the diagnosis what is wrong now.
func mayStart(c *args.Call, s *snapshot.Snapshot, to, form string) error {
	c.Doing("planning")
	d := diagnosing.About(s, s.Clock.At, diagnosis.Options{To: to})
	a := &start{To: to, Diagnosis: d}
	if v := s.Version(); v != nil {
		a.from = v.Runs()
		if h := v.Entry(to); h != nil && h.State == cvo.Completed {
			a.May = "done"
		} else if h != nil {
			a.May = "requested"
		}
	}
	if a.May == "" {
		if err := a.judge(); err != nil {
			return err
		}
	}
	var err error
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

// judge decides what a plan and the diagnosis say together. The error says why there could be no plan.
func (a *start) judge() error {
	p := a.Diagnosis.Prospect
	switch {
	case p == nil:
		return errors.New("there is no ClusterVersion, so no update can be planned; print one with: " + situation.DumpCommand)
	case p.Error != "":
		return errors.New(p.Error)
	}
	a.Plan, a.Why, a.Before = p.Plan, p.Why, p.Before
	if a.Why != nil {
		a.May = "no"
		return nil
	}
	for _, s := range a.Plan.Steps {
		if s.Kind == plan.MoveCluster {
			for _, u := range s.Unseen {
				a.Unknown = append(a.Unknown, u.What+": "+u.Command)
			}
			break
		}
	}
	switch a.May = "yes"; {
	case len(a.Before) > 0 || len(a.Diagnosis.Causes) > 0:
		a.May = "first"
	case a.Plan.Guesses() || !a.Diagnosis.Well():
		a.May = "unknown"
	}
	return nil
}

// write writes the answer: yes or no, why, what to do before, and what is wrong in the cluster.
func (a *start) write(w io.Writer) {
	word := map[string]string{"yes": "YES: start it", "no": "NO: it cannot be started", "first": "NOT YET: something must be done first", "done": "DONE: the cluster has it", "unknown": "NOT KNOWN: nothing that speaks against it was found, and not all is known"}[a.May]
	if a.May == "requested" {
		word = fmt.Sprintf("UNDER WAY (%s): it was requested before", strings.ToUpper(a.Diagnosis.Word))
	}
	fmt.Fprintf(w, "%s   %s -> %s\n", word, a.from, a.To)
	if len(a.Diagnosis.Causes) > 0 {
		diagnosing.Causes(w, a.Diagnosis, 3)
	}
	shown := *a.Diagnosis
	shown.Rest = shown.Rest && (a.May == "requested" || a.May == "done") // else somebody has to start it
	diagnosing.Steps(w, &shown, lines-4)
	if a.Plan != nil && a.May != "no" {
		for _, s := range a.Plan.Steps {
			if s.Kind != plan.MoveCluster {
				continue
			}
			if fmt.Fprintf(w, "THEN   %s\n", s.Command); !s.Going {
				break
			}
		}
	}
	for _, u := range a.Unknown {
		fmt.Fprintf(w, "NOT KNOWN  %s\n", u) // with its command, which is never cut
	}
	unknown(w, a.Diagnosis, 2)
}
