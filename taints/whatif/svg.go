package whatif

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

// What the picture shows at most; it says how many more there are.
const (
	mostWorkloads = 60
	mostNodes     = 20 // sets of nodes with the same taints
)

// Tones of bars.
const (
	toneNode  = 6
	toneReady = 1
	toneFewer = 0
)

// WriteSVG draws the prediction as a timeline: a row for each workload that loses pods, those in trouble
// first, with how many of its pods are ready and how many its budget requires; then a row for each node that
// evicts pods, alike ones together; lines for the events. The error is that of w.
func (p *Prediction) WriteSVG(w io.Writer) error { return p.chart().WriteSVG(w) }

// chart is the timeline, a little longer than the story.
func (p *Prediction) chart() *diagram.Gantt {
	g := &diagram.Gantt{Title: p.title(), Alarm: p.alarm(), Start: p.Start, Keys: []diagram.Key{
		{Tone: toneReady, Label: "all pods ready"}, {Tone: toneFewer, Label: "fewer, as many as the budget requires"}, {Marked: true, Label: "fewer than that, or pods that nothing replaces"}, {Tone: toneNode, Label: "node evicts pods"},
	}}
	all := p.End.Sub(p.Start)
	end := all + max(all/10, time.Minute)
	workloads := slices.Clone(p.Workloads)
	slices.SortStableFunc(workloads, func(a, b Workload) int { return cmp.Compare(a.rank(), b.rank()) })
	for i := range workloads[:min(len(workloads), mostWorkloads)] {
		g.Rows = append(g.Rows, workloads[i].row(p.Start, end))
	}
	if more := len(workloads) - mostWorkloads; more > 0 {
		g.Rows = append(g.Rows, diagram.Row{Label: "and " + words.Count(more, "more workload", "more workloads")})
	}
	g.Rows = append(g.Rows, p.nodes(end)...)
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == EntryEvent {
			g.Marks = append(g.Marks, diagram.Mark{At: e.At.Sub(p.Start), Label: e.Text})
		}
	}
	return g
}

// title says what is evicted.
func (p *Prediction) title() string {
	text := words.Count(p.Evicted, "pod is", "pods are") + " evicted"
	if p.Evicted > 0 {
		text += ", the last after " + p.Last.Sub(p.Start).String()
	}
	if p.Open {
		text += "; more would happen after " + p.End.Sub(p.Start).String()
	}
	return text
}

// alarm says what goes wrong; empty if nothing does.
func (p *Prediction) alarm() string {
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, words.Count(n, one, many))
		}
	}
	add(len(p.Stranded), "pod has nowhere to go", "pods have nowhere to go")
	add(len(p.Held), "pod is held by its node", "pods are held by their nodes")
	add(len(p.Lost), "pod is not made again", "pods are not made again")
	add(p.Violations, "eviction violates a budget", "evictions violate a budget")
	return strings.Join(parts, ", ")
}

// trouble reports whether a level is worse than its budget allows, or pods are not replaced.
func (l *Level) trouble() bool { return l.Short || l.Gone > 0 }

// rank puts what ends in trouble first, then what is in trouble for some time.
func (w *Workload) rank() int {
	switch {
	case w.Levels[len(w.Levels)-1].trouble():
		return 0
	case slices.ContainsFunc(w.Levels, func(l Level) bool { return l.trouble() }):
		return 1
	}
	return 2
}

// row draws a workload until the end.
func (w *Workload) row(start time.Time, end time.Duration) diagram.Row {
	r := diagram.Row{Label: w.Namespace + "/" + w.Name}
	for i := range w.Levels {
		l := &w.Levels[i]
		b := diagram.Bar{Start: l.At.Sub(start), End: end, Tone: toneFewer, Marked: l.trouble(), Text: fmt.Sprintf("%d of %d", l.Ready, w.Pods)}
		if l.Ready >= w.Pods {
			b.Tone = toneReady
		}
		if w.Budget != "" {
			b.Text += fmt.Sprintf(", %d needed", w.Required)
		}
		b.Label = fmt.Sprintf("%s %s/%s: %d of %s ready", w.Kind, w.Namespace, w.Name, l.Ready, words.Count(w.Pods, "pod", "pods"))
		if w.Budget != "" {
			b.Label += fmt.Sprintf(", budget %s requires %d", w.Budget, w.Required)
		}
		if l.Coming > 0 {
			b.Label += fmt.Sprintf(", %d start elsewhere", l.Coming)
		}
		if l.Gone > 0 {
			b.Label += fmt.Sprintf(", %d that nothing replaces", l.Gone)
		}
		if i+1 < len(w.Levels) {
			b.End = w.Levels[i+1].At.Sub(start)
		} else {
			b.Open = l.Ready < w.Pods
		}
		if k := len(r.Bars) - 1; k >= 0 && r.Bars[k].Text == b.Text && r.Bars[k].Marked == b.Marked {
			b.Start = r.Bars[k].Start // what is seen is the same
			r.Bars = r.Bars[:k]
		}
		if b.End > b.Start {
			r.Bars = append(r.Bars, b)
		}
	}
	return r
}

// nodes draws when nodes evict pods: those with the same taints in one row, from the first to the last.
func (p *Prediction) nodes(end time.Duration) (rows []diagram.Row) {
	type taint struct{ node, key string }
	bars, open := map[string][]diagram.Bar{}, map[taint]int{}
	var names []string
	for i := range p.Entries {
		e := &p.Entries[i]
		if e.Taint == nil || e.Taint.Effect != fairlead.NoExecute {
			continue
		}
		t := taint{e.Node, e.Taint.Key}
		at, is := open[t]
		switch {
		case e.Kind == EntryTaint && !is:
			if bars[e.Node] == nil {
				names = append(names, e.Node)
			}
			open[t] = len(bars[e.Node])
			bars[e.Node] = append(bars[e.Node], diagram.Bar{Start: e.At.Sub(p.Start), End: end, Tone: toneNode, Open: true, Label: e.Taint.Key, Text: e.Taint.Key})
		case e.Kind == EntryUntaint && is:
			delete(open, t)
			b := &bars[e.Node][at]
			b.End, b.Open = e.At.Sub(p.Start), false
		}
	}
	at := map[string]int{} // by the taints in their order
	count := map[int]int{}
	for _, name := range names {
		key := ""
		for _, b := range bars[name] {
			key += b.Text + "\n"
		}
		k, is := at[key]
		if !is {
			k = len(rows)
			at[key] = k
			rows = append(rows, diagram.Row{Label: "node " + name, Bars: bars[name]})
		}
		for i, b := range bars[name] {
			all := &rows[k].Bars[i]
			all.Start, all.End, all.Open = min(all.Start, b.Start), max(all.End, b.End), all.Open || b.Open
		}
		count[k]++
	}
	for k := range rows {
		if n := count[k] - 1; n > 0 {
			rows[k].Label += fmt.Sprintf(" and %d more", n)
		}
	}
	if more := len(rows) - mostNodes; more > 0 {
		rows = append(rows[:mostNodes], diagram.Row{Label: fmt.Sprintf("and nodes with %d other sets of taints", more)})
	}
	return rows
}
