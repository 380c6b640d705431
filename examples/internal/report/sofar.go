package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/diagram"
	"github.com/fairlead/fairlead/internal/words"
)

// The tones of the timeline of an update.
const (
	toneUpdate, toneDone, toneWorks = 6, 1, 0
)

// soFar is when what happened in an update that is under way, from the times of transitions alone.
func (r *Report) soFar(s *plan.Situation, status *cvo.Report, d *diagnosis.Diagnosis) {
	begun := status.Since
	if begun.IsZero() || !status.Updating || !r.At.After(begun) {
		return
	}
	g := &diagram.Gantt{Start: begun, Keys: []diagram.Key{{Tone: toneWorks, Label: "is being updated"}, {Tone: toneDone, Label: "updated"}}}
	now := r.At.Sub(begun)
	bar := func(since time.Time, tone int, marked bool, text string) diagram.Bar {
		return diagram.Bar{Start: max(since.Sub(begun), 0), End: now, Tone: tone, Marked: marked, Open: true, Label: text, Text: text}
	}
	update := diagram.Row{Label: "update to " + status.Target, Bars: []diagram.Bar{bar(begun, toneUpdate, false, "under way")}}
	if d != nil && d.Expected > 0 {
		if d.Expected > now {
			update.Bars = append(update.Bars, diagram.Bar{Start: now, End: d.Expected, Forecast: true, Label: "expected"})
		} else {
			update.Bars = append(update.Bars, diagram.Bar{Start: d.Expected, End: now, Marked: true, Open: true, Label: "longer than expected", Text: "longer than expected"})
		}
		g.Marks = append(g.Marks, diagram.Mark{At: d.Expected, Label: "expected end"})
	}
	g.Marks = append(g.Marks, diagram.Mark{At: now, Label: "now"})
	g.Rows = append(g.Rows, update)
	g.Rows = append(g.Rows, operatorRows(s, status, begun, bar)...)
	g.Rows = append(g.Rows, poolRows(s, status, begun, bar)...)
	if d != nil && d.Health == diagnosis.Blocked {
		g.Alarm = "does not go on by itself"
		if d.Still > 10*time.Minute {
			g.Alarm += ": nothing moved for " + words.Span(d.Still)
		}
	}
	r.history = g
}

// mostRows is how many operators or nodes have a row of their own.
const mostRows = 8

// operatorRows has a row for the operators that are updated, and one for each other.
func operatorRows(s *plan.Situation, status *cvo.Report, begun time.Time, bar func(time.Time, int, bool, string) diagram.Bar) (rows []diagram.Row) {
	var last time.Time
	done, left := 0, []*cvo.OperatorReport{}
	for i := range status.Operators {
		o := &status.Operators[i]
		if o.State != "updated" || o.Health != "healthy" {
			left = append(left, o)
			continue
		}
		done++
		if k := slices.IndexFunc(s.ClusterOperators, func(c cvo.ClusterOperator) bool { return c.Name == o.Name }); k >= 0 {
			if c := fairlead.FindCondition(s.ClusterOperators[k].Status.Conditions, "Progressing"); c != nil && c.LastTransitionTime.After(last) {
				last = c.LastTransitionTime
			}
		}
	}
	if done > 0 && last.After(begun) {
		text := words.Count(done, "operator", "operators")
		rows = append(rows, diagram.Row{Label: text + " updated", Bars: []diagram.Bar{{End: last.Sub(begun), Tone: toneDone, Label: text + " updated", Text: "updated"}}})
	}
	slices.SortStableFunc(left, func(a, b *cvo.OperatorReport) int { return cmp.Compare(bad(b), bad(a)) })
	for i, o := range left {
		if i == mostRows && len(left) > mostRows+1 {
			rows = append(rows, diagram.Row{Label: fmt.Sprintf("and %d more operators", len(left)-i)})
			break
		}
		text := o.State
		if o.Health != "healthy" {
			text = o.Health
		}
		row := diagram.Row{Label: "operator " + o.Name}
		if !o.Since.IsZero() && o.State != "waiting" || o.Health != "healthy" {
			row.Bars = []diagram.Bar{bar(o.Since, toneWorks, o.Health != "healthy", text)}
		}
		rows = append(rows, row)
	}
	return rows
}

// bad is how bad an operator is.
func bad(o *cvo.OperatorReport) int {
	return slices.Index([]string{"healthy", "degraded", "unavailable"}, o.Health)
}

// poolRows has a row for each pool, and one for each node that is down, draining or degraded.
func poolRows(s *plan.Situation, status *cvo.Report, begun time.Time, bar func(time.Time, int, bool, string) diagram.Bar) (rows []diagram.Row) {
	for i := range status.Pools {
		p := &status.Pools[i]
		row := diagram.Row{Label: fmt.Sprintf("pool %s, %d of %d nodes", p.Name, max(p.Updated, 0), max(p.Total, 0))}
		if p.Total < 0 {
			row.Label = "pool " + p.Name + ", nodes unknown"
		}
		k := slices.IndexFunc(s.Pools, func(q cvo.Pool) bool { return q.Name == p.Name })
		if k >= 0 {
			if c := fairlead.FindCondition(s.Pools[k].Status.Conditions, "Updated"); c != nil && p.State == "updated" && c.LastTransitionTime.After(begun) {
				row.Bars = []diagram.Bar{{End: c.LastTransitionTime.Sub(begun), Tone: toneDone, Label: "updated", Text: "updated"}}
			}
			if c := fairlead.FindCondition(s.Pools[k].Status.Conditions, "Updating"); c != nil && p.State != "updated" && c.Status == fairlead.ConditionTrue {
				row.Bars = []diagram.Bar{bar(c.LastTransitionTime, toneWorks, p.State == "degraded", p.State)}
			}
		}
		rows = append(rows, row)
	}
	n := 0
	for i := range status.Nodes {
		x := &status.Nodes[i]
		if !x.Down || x.Since.IsZero() {
			continue
		}
		if n++; n > mostRows {
			continue
		}
		rows = append(rows, diagram.Row{Label: "node " + x.Name, Bars: []diagram.Bar{bar(x.Since, 7, true, "not ready")}})
	}
	if n > mostRows {
		rows = append(rows, diagram.Row{Label: fmt.Sprintf("and %d more nodes that are not ready", n-mostRows)})
	}
	return rows
}

// drawSoFar draws the update so far.
func (r *Report) drawSoFar(b *bytes.Buffer) error {
	if r.history == nil {
		return nil
	}
	return r.history.WriteInline(b)
}
