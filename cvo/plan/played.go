package plan

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/diagram"
	"github.com/fairlead/fairlead/internal/words"
)

// Played is the result of simulating a plan; see Play.
type Played struct {
	Began   time.Time     `json:"began"`             // when the first step might have begun
	Ended   time.Time     `json:"ended"`             // when nothing was left to do, or it was abandoned
	Planned time.Duration `json:"planned"`           // from Began until the end, as planned
	Done    bool          `json:"done"`              // whether the goal was reached
	Stuck   string        `json:"stuck,omitempty"`   // why not
	Replans int           `json:"replans,omitempty"` // how often another plan was made
	Faults  int           `json:"faults,omitempty"`  // calls that failed, were lost or returned stale data
	// Estimated lists operators and members of etcd that no engine acted on, and why; their
	// steps took as long as the policy estimates.
	Estimated []string `json:"estimated,omitempty"`
	// NoQuorum is how long etcd had none.
	NoQuorum time.Duration `json:"noQuorum,omitempty"`
	// Waits are what machines being deleted and etcd still wait for at the end.
	Waits []fairlead.Block `json:"waits,omitempty"`
	// Steps are in the order in which they ended; planned steps that were never taken come
	// last.
	Steps []PlayedStep `json:"steps"`
	// Restarts are of nodes, by when they began.
	Restarts []PlayedRestart `json:"restarts,omitempty"`
	// Disruptions are of workloads that had fewer ready pods than before, by namespace and
	// name; nil if that was not observed.
	Disruptions []Disruption `json:"disruptions,omitempty"`
}

// PlayedStep is one step as planned, and as it happened. Times are zero for steps that were
// not planned, or not taken.
type PlayedStep struct {
	Step         PlanStep  `json:"step"`                  // as it was planned
	PlannedBegin time.Time `json:"plannedBegin,omitzero"` // as planned
	PlannedEnd   time.Time `json:"plannedEnd,omitzero"`   // likewise
	Began        time.Time `json:"began,omitzero"`        // when it was the next one
	Ended        time.Time `json:"ended,omitzero"`        // when it was observed to be done
}

// PlayedRestart is a node that was taken out of service and came back.
type PlayedRestart struct {
	Node  string    `json:"node"`           // its name
	From  time.Time `json:"from"`           // when it was cordoned
	Until time.Time `json:"until,omitzero"` // when it took pods again; zero if it did not
}

// Disruption is how the pods of a workload were disrupted.
type Disruption struct {
	Namespace string        `json:"namespace,omitempty"` // of the workload
	Workload  string        `json:"workload"`            // its kind and name
	Wanted    int           `json:"wanted"`              // pods that were ready at first
	Least     int           `json:"least"`               // the fewest that were ready at a time
	Short     time.Duration `json:"short"`               // how long there were fewer than wanted
	Longest   time.Duration `json:"longest"`             // the longest such time
	None      time.Duration `json:"none,omitempty"`      // how long none was ready
	Times     int           `json:"times"`               // how often
}

// NewPlayed returns what was planned, with nothing done yet. Steps without a start time begin
// by their offset.
func NewPlayed(steps []PlanStep, began time.Time) *Played {
	p := &Played{Began: began}
	for _, s := range steps {
		at := s.Begins
		if at.IsZero() {
			at = began.Add(s.Offset)
		}
		end := at.Add(s.Takes)
		p.Steps = append(p.Steps, PlayedStep{Step: s, PlannedBegin: at, PlannedEnd: end})
		p.Planned = max(p.Planned, end.Sub(began))
	}
	return p
}

// Follow records the rest of the plan, by State.Steps: steps that are no longer in it are
// over, the next one has begun, and is added if it was not planned. Call it whenever
// something may have changed.
func (p *Played) Follow(left []PlanStep, now time.Time) {
	open := func(key string) int {
		return slices.IndexFunc(p.Steps, func(s PlayedStep) bool { return s.Ended.IsZero() && s.Step.String() == key })
	}
	stays := map[string]bool{}
	for _, s := range left {
		stays[s.String()] = true
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Ended.IsZero() && !stays[s.Step.String()] {
			s.Ended = now
			if s.Began.IsZero() { // it was done before it became the next one
				s.Began = now
			}
		}
	}
	for k, s := range left {
		if k > 0 && (left[0].Kind != Roll || s.Kind != Roll || s.To != left[0].To) {
			break // only pools restart in parallel
		}
		if i := open(s.String()); i < 0 {
			p.Steps = append(p.Steps, PlayedStep{Step: s, Began: now})
		} else if p.Steps[i].Began.IsZero() {
			p.Steps[i].Began = now
		}
	}
	slices.SortStableFunc(p.Steps, func(a, b PlayedStep) int {
		if a.Ended.IsZero() != b.Ended.IsZero() {
			if a.Ended.IsZero() {
				return 1
			}
			return -1
		}
		return cmp.Or(a.Ended.Compare(b.Ended), a.PlannedBegin.Compare(b.PlannedBegin))
	})
}

// Took is how long it took.
func (p *Played) Took() time.Duration { return p.Ended.Sub(p.Began) }

// String says what happened, next to what was planned.
func (p *Played) String() string {
	var b strings.Builder
	switch {
	case p.Done:
		fmt.Fprintf(&b, "finished: planned %s, took %s", words.Span(p.Planned), words.Span(p.Took()))
	case p.Stuck == "":
		fmt.Fprintf(&b, "under way: planned %s", words.Span(p.Planned))
	default:
		fmt.Fprintf(&b, "played for %s and did not finish: %s", words.Span(p.Took()), p.Stuck)
	}
	if p.Faults > 0 {
		fmt.Fprintf(&b, "; %s, planned again %s", words.Count(p.Faults, "fault", "faults"), words.Count(p.Replans, "time", "times"))
	}
	b.WriteString("\n   planned     actual\n")
	span := func(from, until time.Time) string {
		if from.IsZero() || until.IsZero() {
			return "-          "
		}
		return fmt.Sprintf("%s %s", clock(from.Sub(p.Began)), clock(until.Sub(p.Began)))
	}
	for _, s := range p.Steps {
		words.Fprintf(&b, "   %-11s %-11s  %s\n", span(s.PlannedBegin, s.PlannedEnd), span(s.Began, s.Ended), s.Step)
	}
	for _, text := range p.Estimated {
		words.Fprintf(&b, "only estimated, and not carried out: %s\n", text)
	}
	if p.NoQuorum > 0 {
		words.Fprintf(&b, "etcd had no quorum for %s\n", p.NoQuorum)
	}
	for _, w := range p.Waits {
		words.Fprintf(&b, "still waiting: %s: %s; to unblock: %s\n", w.Subject, w.Message, w.Unblock)
	}
	if p.Disruptions != nil && len(p.Disruptions) == 0 {
		b.WriteString("no workload had fewer pods ready than before\n")
	}
	for _, d := range p.Disruptions {
		fmt.Fprintf(&b, "%s/%s: at worst %d of %s ready; too few for %s in total (%s, at most %s at a time)", d.Namespace, d.Workload, d.Least, words.Count(d.Wanted, "pod", "pods"),
			d.Short, words.Count(d.Times, "time", "times"), d.Longest)
		if d.None > 0 {
			fmt.Fprintf(&b, "; none ready for %s", d.None)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// clock writes hours and minutes.
func clock(d time.Duration) string {
	d = d.Round(time.Minute)
	return fmt.Sprintf("%02d:%02d", int(d/time.Hour), int(d%time.Hour/time.Minute))
}

// WriteMermaid writes a Mermaid Gantt chart: each step as it was planned and as it
// happened, and the nodes that restarted.
func (p *Played) WriteMermaid(w io.Writer) error {
	g := &diagram.Gantt{Title: "planned and actual"}
	bar := func(from, until time.Time, label string, marked bool) diagram.Bar {
		if until.IsZero() {
			until = p.Ended
		}
		return diagram.Bar{Start: from.Sub(p.Began), End: until.Sub(p.Began), Label: label, Text: label, Marked: marked}
	}
	for _, s := range p.Steps {
		row := diagram.Row{Label: s.Step.String()}
		if !s.PlannedBegin.IsZero() {
			row.Bars = append(row.Bars, bar(s.PlannedBegin, s.PlannedEnd, "planned", false))
		}
		if !s.Began.IsZero() {
			row.Bars = append(row.Bars, bar(s.Began, s.Ended, "actual", true))
		}
		g.Rows = append(g.Rows, row)
	}
	nodes := map[string]int{}
	for _, r := range p.Restarts {
		i, there := nodes[r.Node]
		if !there {
			i = len(g.Rows)
			nodes[r.Node] = i
			g.Rows = append(g.Rows, diagram.Row{Label: "node " + r.Node})
		}
		g.Rows[i].Bars = append(g.Rows[i].Bars, bar(r.From, r.Until, "out of service", true))
	}
	return g.WriteMermaid(w, p.Began)
}
