package graph

import (
	"slices"
	"strings"
)

// cycles returns a finding for each cycle of updates, at most one for each
// group of releases that can all reach each other (Tarjan 1972).
func (g *Graph) cycles(file string) Diagnostics {
	var found Diagnostics
	for _, members := range g.components() {
		names := make([]string, 0, 5)
		for _, i := range members {
			if len(names) == cap(names)-1 && len(members) > cap(names) {
				names = append(names, "…")
				break
			}
			names = append(names, g.releases[i].Version)
		}
		found = append(found, &Diagnostic{
			Pos: Position{File: file}, Code: CodeCycle,
			Message: "updates form a cycle through " + strings.Join(names, ", "),
			Hint:    "paths pass no release twice, so it has no other effect",
		})
	}
	return found
}

// components returns the groups of two and more releases that can all reach
// each other, each in the order of the source.
func (g *Graph) components() [][]int32 {
	t := tarjan{g: g, index: make([]int32, len(g.releases)), low: make([]int32, len(g.releases)), on: make([]bool, len(g.releases))}
	for i := range g.releases {
		if t.index[i] == 0 {
			t.visit(int32(i))
		}
	}
	return t.found
}

// tarjan is the search for strongly connected components, with an explicit
// stack, because graphs may be deep.
type tarjan struct {
	g          *Graph
	index, low []int32 // from 1
	on         []bool
	stack      []int32
	count      int32
	found      [][]int32
}

type frame struct {
	node int32
	next int // the edge to follow next
}

func (t *tarjan) visit(root int32) {
	frames := []frame{t.enter(root)}
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		if f.next < len(t.g.out[f.node]) {
			to := t.g.out[f.node][f.next].to
			f.next++
			if t.index[to] == 0 {
				frames = append(frames, t.enter(to))
			} else if t.on[to] {
				t.low[f.node] = min(t.low[f.node], t.index[to])
			}
			continue
		}
		node := f.node
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			parent := frames[len(frames)-1].node
			t.low[parent] = min(t.low[parent], t.low[node])
		}
		if t.low[node] == t.index[node] {
			t.leave(node)
		}
	}
}

func (t *tarjan) enter(node int32) frame {
	t.count++
	t.index[node], t.low[node], t.on[node] = t.count, t.count, true
	t.stack = append(t.stack, node)
	return frame{node: node}
}

// leave pops the component of its first node off the stack.
func (t *tarjan) leave(node int32) {
	at := len(t.stack) - 1
	for ; ; at-- {
		t.on[t.stack[at]] = false
		if t.stack[at] == node {
			break
		}
	}
	if len(t.stack)-at > 1 {
		members := append([]int32(nil), t.stack[at:]...)
		slices.Sort(members)
		t.found = append(t.found, members)
	}
	t.stack = t.stack[:at]
}
