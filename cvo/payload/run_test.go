package payload_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/payload"
)

// graphOf makes a graph of nodes written as "TASKS < NODES BEFORE".
func graphOf(nodes ...string) *payload.Graph {
	g := &payload.Graph{Nodes: make([]payload.Node, len(nodes))}
	for i, text := range nodes {
		tasks, before, _ := strings.Cut(text, "<")
		n := &g.Nodes[i]
		n.First, n.Count = len(g.Tasks), len(strings.Fields(tasks))
		for _, name := range strings.Fields(tasks) {
			g.Tasks = append(g.Tasks, &payload.Manifest{ID: payload.ID{Kind: "ConfigMap", Namespace: "default", Name: name}})
		}
		for _, b := range strings.Fields(before) {
			from := int(b[0] - '0')
			n.In = append(n.In, from)
			g.Nodes[from].Out = append(g.Nodes[from].Out, i)
		}
	}
	return g
}

// TestRunRows is TestRunGraph, row by row: who carries tasks out ends them in
// the order in which they began, and asks for no more once it is cancelled.
func TestRunRows(t *testing.T) {
	for _, c := range []struct {
		row     string
		nodes   []string
		workers int
		fail    string // tasks that fail
		cancel  string // in this task
		broken  bool   // which fails then
		want    string // what is done, in this order
		pending string // what is not
	}{
		{"tasks executed in order in a single node", []string{"b a"}, 0, "", "", false, "b a", ""},
		{"nodes executed after dependencies when processed in parallel", []string{"c < 3", "d e < 3", "f < 3", "a b", "g < 2"}, 2, "", "", false, "a b c d f e g", ""},
		{"task error interrupts node processing", []string{"c < 2", "d < 2", "a b", "e < 1"}, 2, "d", "", false, "a b c", "d e"},
		{"mid-task cancellation error interrupts node processing", []string{"c < 2", "d < 2", "a b", "e < 1"}, 2, "", "d", true, "a b c", "d e"},
		{"mid-task cancellation with work in queue does not deadlock", []string{"a1 a2 a3", "b"}, 1, "", "a2", false, "a1 a2", "a3 b"},
		{
			"task errors in parallel nodes both reported", []string{"a", "b < 0", "c1 < 1", "c2 < 2", "d1 < 1", "d2 < 4", "d3 < 5", "e < 3 6", "f < 1"},
			2, "c1 f", "", false, "a b d1 d2 d3", "c1 c2 e f",
		},
		{"cancellation without task errors is reported", []string{"a", "b < 0"}, 1, "", "a", false, "a", "b"},
	} {
		g := graphOf(c.nodes...)
		r := g.Start(&payload.RunOptions{Workers: c.workers})
		var done, begun []string
		var under []int
		for cancelled := false; ; {
			for t, ok := r.Next(); ok && !cancelled; t, ok = r.Next() {
				under = append(under, t)
				begun = append(begun, g.Tasks[t].ID.Name)
			}
			if len(under) == 0 {
				break
			}
			task := under[0]
			name := g.Tasks[task].ID.Name
			under = under[1:]
			cancelled = cancelled || name == c.cancel
			if slices.Contains(strings.Fields(c.fail), name) || c.broken && name == c.cancel {
				r.Fail(task)
				continue
			}
			r.Done(task)
			done = append(done, name)
		}
		var pending []string
		for _, i := range r.Pending() {
			pending = append(pending, g.Tasks[i].ID.Name)
		}
		slices.Sort(pending)
		if strings.Join(done, " ") != c.want || strings.Join(pending, " ") != c.pending || r.Left() != len(pending) {
			t.Errorf("%s: done %v, pending %v, begun %v", c.row, done, pending, begun)
		}
		if c.row == "cancellation without task errors is reported" {
			if n := r.Incomplete(); len(n) != 1 || g.Label(g.Nodes[n[0]].First) != `configmap "default/b" (2 of 2)` {
				t.Errorf("%s: incomplete nodes %v", c.row, n)
			}
		}
	}
}
