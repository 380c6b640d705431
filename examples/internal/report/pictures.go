package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/internal/diagram"
	"github.com/fairlead/fairlead/internal/words"
)

// mostWorst is how many rows the tables have that are there without script, and on paper.
const mostWorst = 40

// Worst is a row of a table of what needs attention.
type Worst struct {
	Key   string   // of the mark
	Cells []string // the texts, from left to right
}

// look is how the nodes of a state are drawn.
type look struct {
	state string
	tone  int
	hot   bool
	sign  string
	means string
}

// looks are the states of nodes, the worst first.
var looks = []look{
	{"down", 7, false, "✕", "not ready"},
	{"degraded", 0, true, "!", "degraded"},
	{"unknown", 2, false, "?", "state unknown"},
	{"draining", 0, false, "↓", "being drained"},
	{"updating", 0, false, "↻", "being updated"},
	{"cordoned", 4, false, "⊘", "cordoned"},
	{"paused", 6, false, "Ⅱ", "not updated: its pool is paused"},
	{"pending", 6, false, "·", "not updated yet"},
	{"ready", 1, false, "✓", "ready"},
	{"updated", 1, false, "✓", "updated"},
}

// lookOf returns how a node is drawn, and how bad that is: 0 is the worst.
func lookOf(state string) (look, int) {
	i := slices.IndexFunc(looks, func(l look) bool { return l.state == state })
	if i < 0 {
		return lookOf("unknown")
	}
	return looks[i], i
}

// fine reports whether a state needs no attention.
func fine(state string) bool {
	return slices.Contains([]string{"ready", "updated", "pending", "paused"}, state)
}

// has reports whether a sorted list has a number.
func has(sorted []int, i int) bool {
	_, is := slices.BinarySearch(sorted, i)
	return is
}

// says describes a node in a few words.
func (n *Nodes) says(i int) string {
	parts := []string{n.States[n.State[i]]}
	if has(n.Cordoned, i) && parts[0] != "cordoned" {
		parts = append(parts, "cordoned")
	}
	if has(n.Blocked, i) {
		parts = append(parts, "its drain is blocked")
	}
	return strings.Join(parts, ", ")
}

// stuck says why node i, which must be drained, cannot be; empty for another one.
func (n *Nodes) stuck(i int) string {
	if !has(n.Blocked, i) {
		return ""
	}
	return n.Stucks[n.Stuck[i]] // only where the pods are known is a drain blocked
}

// worstFirst returns the nodes of a pool, the worst first.
func (n *Nodes) worstFirst(pool int) []int {
	var list []int
	for i, p := range n.Pool {
		if p == pool {
			list = append(list, i)
		}
	}
	rank := func(i int) int {
		_, k := lookOf(n.States[n.State[i]])
		k *= 4
		if has(n.Blocked, i) {
			k -= 2
		}
		if has(n.Cordoned, i) {
			k--
		}
		return k
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// most nodes that are drawn one by one: of a pool, and of those of a pool that are alike.
const (
	mostCells = 40
	mostAlike = 60
)

// drawNodes draws a strip for each pool.
func (r *Report) drawNodes(b *bytes.Buffer) error {
	n := r.Nodes
	if n == nil || len(n.Name) == 0 {
		return nil
	}
	g := &diagram.Strips{}
	used := map[string]bool{}
	for p := range r.Pools {
		list := n.worstFirst(p)
		if len(list) == 0 {
			continue
		}
		s := diagram.Strip{Label: r.Pools[p].says()}
		for from := 0; from < len(list); {
			to := from + 1
			for to < len(list) && n.says(list[to]) == n.says(list[from]) {
				to++
			}
			state := n.States[n.State[list[from]]]
			if run := to - from; run > 1 && (len(list) > mostCells && fine(state) || run > mostAlike) {
				c := n.cell(list[from])
				c.ID, c.Label, c.Count = "state:"+state, n.says(list[from]), run
				c.Title = fmt.Sprintf("%s nodes: %s", number(run), c.Label)
				s.Cells = append(s.Cells, c)
			} else {
				for _, i := range list[from:to] {
					s.Cells = append(s.Cells, n.cell(i))
				}
			}
			used[state] = true
			from = to
		}
		g.Strips = append(g.Strips, s)
	}
	for _, l := range looks {
		if used[l.state] {
			g.Keys = append(g.Keys, diagram.Sign{Cell: diagram.Cell{Tone: l.tone, Marked: l.hot, Sign: l.sign}, Means: l.means})
		}
	}
	if len(n.Cordoned) > 0 {
		g.Keys = append(g.Keys, diagram.Sign{Cell: diagram.Cell{Tone: 6, Corner: true}, Means: "takes no new pods (cordoned)"})
	}
	if len(n.Blocked) > 0 {
		g.Keys = append(g.Keys, diagram.Sign{Cell: diagram.Cell{Tone: 6, Framed: true}, Means: "must be drained, and its drain is blocked"})
	}
	return g.WriteInline(b)
}

// cell is how node i is drawn.
func (n *Nodes) cell(i int) diagram.Cell {
	state := n.States[n.State[i]]
	l, _ := lookOf(state)
	title := n.Name[i] + ": " + n.says(i)
	if m := n.Messages[n.Message[i]]; m != "" {
		title += "\n" + m
	}
	if why := n.stuck(i); why != "" {
		title += "\n" + why
	}
	return diagram.Cell{
		ID: fmt.Sprintf("node:%d", i), Label: n.Name[i], Title: title, Tone: l.tone, Marked: l.hot, Sign: l.sign,
		Corner: has(n.Cordoned, i), Framed: has(n.Blocked, i),
	}
}

// says describes a pool in a line.
func (p *Pool) says() string {
	name := p.Name
	if name == "" {
		name = "in no pool"
	}
	parts := []string{name + ": " + words.Count(p.Nodes, "node", "nodes")}
	for _, l := range looks {
		if n := p.States[l.state]; n > 0 {
			parts = append(parts, number(n)+" "+l.state)
		}
	}
	if p.Stuck > 0 {
		parts = append(parts, words.Count(p.Stuck, "blocked drain", "blocked drains"))
	}
	if p.Most != "" {
		parts = append(parts, "at most "+p.Most+" down at once")
	}
	if p.Paused {
		parts = append(parts, "paused")
	}
	return strings.Join(parts, " · ")
}

// drawBudgets draws the budgets that hinder drains most.
func (r *Report) drawBudgets(b *bytes.Buffer) error {
	if r.Budgets == nil {
		return nil
	}
	g := &diagram.Strips{}
	for i := range r.Budgets.Name {
		if i == mostWorst {
			break
		}
		x := r.Budgets
		text := fmt.Sprintf("%d of %d healthy, %d required", x.Healthy[i], x.Expected[i], x.Desired[i])
		if says := x.Texts[x.Says[i]]; says != "" {
			text += ": " + says
		}
		name := x.Namespace[i] + "/" + x.Name[i]
		g.Strips = append(g.Strips, diagram.Strip{Label: name, Gauge: &diagram.Gauge{Value: x.Healthy[i], Least: x.Desired[i], Most: x.Expected[i], Text: text, ID: fmt.Sprintf("budget:%d", i), Title: name + ": " + text}})
	}
	return g.WriteInline(b)
}

// drawWaits draws what waits for what.
func (r *Report) drawWaits(b *bytes.Buffer) error {
	if r.Diagnosis == nil || r.Diagnosis.Waits == nil || len(r.Diagnosis.Waits.Nodes) == 0 {
		return nil
	}
	g := diagnosing.Drawing(r.Diagnosis.Waits)
	g.Name = ""
	return g.WriteInline(b)
}

// WorstNodes are the nodes that need attention, the worst first.
func (r *Report) WorstNodes() (rows []Worst) {
	n := r.Nodes
	if n == nil {
		return nil
	}
	var all []int
	for p := range r.Pools {
		for _, i := range n.worstFirst(p) {
			if !fine(n.States[n.State[i]]) || has(n.Blocked, i) {
				all = append(all, i)
			}
		}
	}
	for _, i := range all[:min(mostWorst, len(all))] {
		why := cmp.Or(n.stuck(i), n.Messages[n.Message[i]])
		rows = append(rows, Worst{Key: fmt.Sprintf("node:%d", i), Cells: []string{n.Name[i], cmp.Or(r.Pools[n.Pool[i]].Name, "in no pool"), n.says(i), why}})
	}
	return rows
}

// WorstWorkloads are the workloads of which pods are not ready, the worst first.
func (r *Report) WorstWorkloads() (rows []Worst) {
	w := r.Workloads
	if w == nil {
		return nil
	}
	var all []int
	for i := range w.Name {
		if w.Ready[i] < w.Pods[i] && w.Kinds[w.Kind[i]] != "Job" {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { // the smallest ready part first
		return cmp.Or(cmp.Compare(w.Ready[a]*w.Pods[b], w.Ready[b]*w.Pods[a]), cmp.Compare(w.Pods[b]-w.Ready[b], w.Pods[a]-w.Ready[a]))
	})
	for _, i := range all[:min(mostWorst, len(all))] {
		ready := fmt.Sprintf("%d of %d ready", w.Ready[i], w.Pods[i])
		if i < len(w.Waiting) && w.Waiting[i] > 0 {
			ready += fmt.Sprintf(", %d without a node", w.Waiting[i])
		}
		name := w.Name[i]
		if ns := w.Namespaces[w.Namespace[i]]; ns != "" {
			name = ns + "/" + name
		}
		rows = append(rows, Worst{Key: fmt.Sprintf("work:%d", i), Cells: []string{name, w.Kinds[w.Kind[i]], ready}})
	}
	return rows
}
