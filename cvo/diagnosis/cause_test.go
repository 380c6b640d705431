package diagnosis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
)

// randomGraph returns a small graph.
func randomGraph(r *rand.Rand) *Graph {
	g := &Graph{}
	n := 1 + r.IntN(7)
	for i := range n {
		g.Nodes = append(g.Nodes, Node{
			ID: fmt.Sprintf("k/%d", i), Kind: string(rune('A' + r.IntN(2))), Reason: string(rune('R' + r.IntN(2))), State: []State{Faulty, Faulty, Going, Waiting}[r.IntN(4)],
			Danger: r.IntN(8) == 0, Since: time.Unix(int64(r.IntN(3)), 0),
		})
	}
	for range r.IntN(2 * n) {
		g.Edges = append(g.Edges, Edge{From: fmt.Sprintf("k/%d", r.IntN(n)), To: fmt.Sprintf("k/%d", r.IntN(n)), Rule: "W"})
	}
	g.Normal()
	return g
}

// oracle computes causes from the definition, by reachability of all pairs.
type oracle struct {
	g     *Graph
	reach map[[2]string]bool
}

func newOracle(g *Graph) *oracle {
	o := &oracle{g, map[[2]string]bool{}}
	for i := range g.Nodes {
		o.reach[[2]string{g.Nodes[i].ID, g.Nodes[i].ID}] = true
	}
	for range g.Nodes {
		for _, e := range g.Edges {
			for i := range g.Nodes {
				if o.reach[[2]string{e.To, g.Nodes[i].ID}] {
					o.reach[[2]string{e.From, g.Nodes[i].ID}] = true
				}
			}
		}
	}
	return o
}

// circle returns the nodes that wait for a node and that it waits for, with itself.
func (o *oracle) circle(id string) (ids []string) {
	for i := range o.g.Nodes {
		if other := o.g.Nodes[i].ID; o.reach[[2]string{id, other}] && o.reach[[2]string{other, id}] {
			ids = append(ids, other)
		}
	}
	return ids
}

// ends reports whether a node waits for nothing outside its circle, and is not Going alone.
func (o *oracle) ends(id string) bool {
	circle := o.circle(id)
	all := true
	for i := range o.g.Nodes {
		n := &o.g.Nodes[i]
		if o.reach[[2]string{id, n.ID}] && !slices.Contains(circle, n.ID) {
			return false
		}
		if slices.Contains(circle, n.ID) && n.State != Going {
			all = false
		}
	}
	return !all
}

// stuck reports whether a node waits for a cause other than those that are repaired.
func (o *oracle) stuck(id string, repaired []string) bool {
	for i := range o.g.Nodes {
		end := o.g.Nodes[i].ID
		if o.reach[[2]string{id, end}] && o.ends(end) && !slices.Contains(repaired, end) {
			return true
		}
	}
	return false
}

// TestCausesAgainstOracle compares causes, what they free, and what they affect with the
// definitions, on small graphs.
func TestCausesAgainstOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range long.N(20_000, 1_000_000) {
		g := randomGraph(r)
		o := newOracle(g)
		causes := g.Causes()
		var all []string
		for i := range causes {
			c := &causes[i]
			all = append(all, c.Nodes...)
			members := slices.Sorted(slices.Values(c.Nodes))
			var frees, affects []string
			for k := range g.Nodes {
				id := g.Nodes[k].ID
				if slices.Contains(members, id) {
					if !o.ends(id) {
						t.Fatalf("%v: %s is no cause", g, id)
					}
					continue
				}
				if slices.ContainsFunc(members, func(m string) bool { return o.reach[[2]string{id, m}] }) {
					affects = append(affects, id)
					if !o.stuck(id, members) {
						frees = append(frees, id)
					}
				}
			}
			if d := cmp.Diff([][]string{frees, affects}, [][]string{c.Frees, c.Affects}); d != "" {
				t.Fatalf("%v: cause %v (-want +got):\n%s", g, c.Nodes, d)
			}
			if c.Circle && !slices.Equal(members, o.circle(members[0])) {
				t.Fatalf("%v: circle %v", g, members)
			}
			if i > 0 {
				o.inOrder(t, &causes[i-1], c)
			}
		}
		slices.Sort(all)
		var want []string
		for k := range g.Nodes {
			if o.ends(g.Nodes[k].ID) {
				want = append(want, g.Nodes[k].ID)
			}
		}
		if !slices.Equal(all, want) {
			t.Fatalf("%v: causes %v, want %v", g, all, want)
		}
		testAlike(t, g, causes)
		testWays(t, g, o, causes)
	}
}

// inOrder: what endangers data comes first, then what is known, then what frees more, as repairing each
// alone shows.
func (o *oracle) inOrder(t *testing.T, a, b *Cause) {
	t.Helper()
	frees := func(c *Cause) (n int) {
		for i := range o.g.Nodes {
			if id := o.g.Nodes[i].ID; !slices.Contains(c.Nodes, id) && o.stuck(id, nil) && !o.stuck(id, c.Nodes) {
				n++
			}
		}
		return n
	}
	danger := func(c *Cause) bool {
		return slices.ContainsFunc(c.Nodes, func(id string) bool { return o.g.Node(id).Danger })
	}
	open := func(c *Cause) bool { return len(o.circle(c.Nodes[0])) == 1 && o.g.Node(c.Nodes[0]).State == Waiting }
	switch {
	case danger(a) != danger(b):
		if danger(b) {
			t.Fatalf("%v: %v endangers data, and comes after %v", o.g, b.Nodes, a.Nodes)
		}
	case open(a) != open(b):
		if open(a) {
			t.Fatalf("%v: %v is open, and comes before %v", o.g, a.Nodes, b.Nodes)
		}
	case frees(a) < frees(b):
		t.Fatalf("%v: %v frees less than %v", o.g, a.Nodes, b.Nodes)
	}
}

// testAlike: no two causes are alike, and the nodes of one are.
func testAlike(t *testing.T, g *Graph, causes []Cause) {
	keys := map[string]bool{}
	for _, c := range causes {
		if c.Circle {
			continue
		}
		n := g.Node(c.Nodes[0])
		key := n.Kind + n.Reason + string(n.State)
		if keys[key] {
			t.Fatalf("%v: two causes %s", g, key)
		}
		keys[key] = true
		for _, id := range c.Nodes {
			if m := g.Node(id); m.Kind+m.Reason+string(m.State) != key {
				t.Fatalf("%v: %s and %s are one cause", g, id, n.ID)
			}
		}
	}
}

// testWays: each node that is stuck has a way to a cause, and no other has.
func testWays(t *testing.T, g *Graph, o *oracle, causes []Cause) {
	stuck := Stuck(causes)
	for i := range g.Nodes {
		id := g.Nodes[i].ID
		if got := slices.Contains(stuck, id); got != o.stuck(id, nil) {
			t.Fatalf("%v: %s is stuck: %v", g, id, got)
		}
		way := g.Way(id, causes)
		if (len(way) > 0) != (o.stuck(id, nil) && !o.ends(id)) {
			t.Fatalf("%v: the way from %s: %v", g, id, way)
		}
		at := id
		for _, e := range way {
			if e.From != at {
				t.Fatalf("%v: the way from %s is broken: %v", g, id, way)
			}
			at = e.To
		}
		if len(way) > 0 && !o.ends(at) {
			t.Fatalf("%v: the way from %s ends at %s", g, id, at)
		}
	}
}

// TestCausesInAnyOrder: the order in which a graph is built does not matter.
func TestCausesInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range long.N(500, 20_000) {
		g := randomGraph(r)
		h := &Graph{slices.Clone(g.Nodes), slices.Clone(g.Edges)}
		r.Shuffle(len(h.Nodes), func(i, j int) { h.Nodes[i], h.Nodes[j] = h.Nodes[j], h.Nodes[i] })
		r.Shuffle(len(h.Edges), func(i, j int) { h.Edges[i], h.Edges[j] = h.Edges[j], h.Edges[i] })
		h.Normal()
		if d := cmp.Diff(g.Causes(), h.Causes()); d != "" {
			t.Fatalf("%v:\n%s", g, d)
		}
	}
}

// String makes failures readable.
func (g *Graph) String() string {
	var b strings.Builder
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "%s %s %s %s; ", n.ID, n.Kind, n.Reason, n.State)
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "%s>%s ", e.From, e.To)
	}
	return b.String()
}

// Pods of a dump from which UIDs were removed are told apart by their names.
func TestWithoutUIDs(t *testing.T) {
	pods := []fairlead.Pod{{}, {}, {}}
	for i := range pods {
		pods[i].Namespace, pods[i].Name = "a", fmt.Sprint("x-", i)
	}
	pods[2].UID = "u"
	w := &world{pods: pods}
	w.identify()
	if w.pods[0].UID == "" || w.pods[0].UID == w.pods[1].UID || w.pods[2].UID != "u" || pods[0].UID != "" {
		t.Errorf("%q %q %q, of the caller: %q", w.pods[0].UID, w.pods[1].UID, w.pods[2].UID, pods[0].UID)
	}
}
