package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/long"
)

// randomChannel makes a channel with all kinds of edges, cycles included, and
// returns its entries and the versions of its bundles (as minor numbers).
func randomChannel(r *rand.Rand) ([]catalog.Entry, map[string]int) {
	n := 2 + r.IntN(6)
	versions := map[string]int{}
	name := func() string { return fmt.Sprintf("b%d", r.IntN(n+2)) }
	var entries []catalog.Entry
	for i := range n {
		e := catalog.Entry{Name: fmt.Sprintf("b%d", i)}
		if r.IntN(5) > 0 {
			versions[e.Name] = r.IntN(n)
		}
		if r.IntN(2) == 0 {
			e.Replaces = name()
		}
		for range r.IntN(3) {
			e.Skips = append(e.Skips, name())
		}
		if r.IntN(4) == 0 {
			e.SkipRange = fmt.Sprintf(">=1.%d.0 <1.%d.0", r.IntN(n), r.IntN(n+1))
			switch r.IntN(4) {
			case 0:
				e.SkipRange += fmt.Sprintf(" !=1.%d.0", r.IntN(n))
			case 1:
				e.SkipRange += fmt.Sprintf(" || =1.%d.0 || >1.%d.0", r.IntN(n), r.IntN(n))
			case 2:
				e.SkipRange = fmt.Sprintf("<=1.%d.0", r.IntN(n))
			}
		}
		entries = append(entries, e)
	}
	return entries, versions
}

func channelOf(t testing.TB, entries []catalog.Entry, versions map[string]int) *catalog.Channel {
	t.Helper()
	var out strings.Builder
	out.WriteString("{\"schema\":\"olm.package\",\"name\":\"p\"}\n---\nschema: olm.channel\npackage: p\nname: c\nentries:\n")
	for _, e := range entries {
		fmt.Fprintf(&out, "- {name: %s, replaces: %q, skips: [%s], skipRange: %q}\n", e.Name, e.Replaces, strings.Join(e.Skips, ","), e.SkipRange)
	}
	out.WriteString("---\n")
	for i := range 20 {
		if v, ok := versions[fmt.Sprintf("b%d", i)]; ok {
			fmt.Fprintf(&out, `{"schema":"olm.bundle","package":"p","name":"b%d","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.%d.0"}}]}`, i, v)
		}
	}
	c := mustOpen(t, fstest.MapFS{"c": {Data: []byte(out.String())}}, nil)
	p, _ := c.Package("p")
	ch, _ := p.Channel("c")
	return ch
}

// dumbTargets is what rules install of a channel, by their definitions.
func dumbTargets(entries []catalog.Entry, versions map[string]int, rules catalog.Rules) map[string]bool {
	targets, covered, skipped := map[string]bool{}, map[string]bool{}, map[string]bool{}
	byName := map[string]catalog.Entry{}
	for _, e := range entries {
		if _, there := versions[e.Name]; there || rules == catalog.AsWritten {
			byName[e.Name] = e
			targets[e.Name] = true
			covered[e.Replaces] = true
			for _, s := range e.Skips {
				covered[s], skipped[s] = true, true
			}
		}
	}
	if rules != catalog.OLMv0 {
		return targets
	}
	heads := 0
	chain := map[string]bool{}
	for name := range byName {
		if covered[name] {
			continue
		}
		heads++
		walked := map[string]bool{}
		for e, ok := byName[name]; ok; e, ok = byName[e.Replaces] {
			if walked[e.Name] {
				return nil
			}
			walked[e.Name] = true
			if !skipped[e.Name] {
				chain[e.Name] = true
			}
		}
	}
	if heads != 1 {
		return nil
	}
	return chain
}

// dumbRange reports whether the version 1.v.0 is in a range.
func dumbRange(text string, v int) bool {
	for alternative := range strings.SplitSeq(text, "||") {
		holds := strings.TrimSpace(alternative) != ""
		for c := range strings.FieldsSeq(alternative) {
			var n int
			op := c[:strings.Index(c, "1.")]
			fmt.Sscanf(c[len(op):], "1.%d.0", &n)
			holds = holds && map[string]bool{"=": v == n, "!=": v != n, "<": v < n, "<=": v <= n, ">": v > n, ">=": v >= n}[op]
		}
		if holds {
			return true
		}
	}
	return false
}

// dumbEdges is the definition of an edge, word for word.
func dumbEdges(entries []catalog.Entry, versions map[string]int, rules catalog.Rules) map[[2]string]bool {
	edges := map[[2]string]bool{}
	all := map[string]bool{}
	targets := dumbTargets(entries, versions, rules)
	for name := range versions {
		all[name] = true
	}
	for _, e := range entries {
		all[e.Name], all[e.Replaces] = true, true
		for _, s := range e.Skips {
			all[s] = true
		}
	}
	for _, e := range entries {
		for from := range all {
			v, known := versions[from]
			if targets[e.Name] && from != "" && from != e.Name && (from == e.Replaces || slices.Contains(e.Skips, from) || known && dumbRange(e.SkipRange, v)) {
				edges[[2]string{from, e.Name}] = true
			}
		}
	}
	return edges
}

// The graph agrees with all-pairs shortest paths over the definition.
func TestGraphAgainstAllPairs(t *testing.T) {
	const far = 1000
	for seed := range long.N(300, 50_000) {
		entries, versions := randomChannel(rand.New(rand.NewPCG(7, uint64(seed))))
		ch := channelOf(t, entries, versions)
		rules := []catalog.Rules{catalog.AsWritten, catalog.OLMv0, catalog.OLMv1}[seed%3]
		g := ch.Graph(rules)
		edges := dumbEdges(entries, versions, rules)
		nodes := slices.Collect(g.Nodes())
		dist := map[[2]string]int{}
		for _, a := range nodes {
			for _, b := range nodes {
				dist[[2]string{a, b}] = far
				if edges[[2]string{a, b}] {
					dist[[2]string{a, b}] = 1
				}
			}
			dist[[2]string{a, a}] = 0
		}
		for _, k := range nodes {
			for _, a := range nodes {
				for _, b := range nodes {
					dist[[2]string{a, b}] = min(dist[[2]string{a, b}], dist[[2]string{a, k}]+dist[[2]string{k, b}])
				}
			}
		}
		targets := dumbTargets(entries, versions, rules)
		for _, e := range entries {
			want := 0
			for from, v := range versions {
				if from != e.Name && targets[e.Name] && dumbRange(e.SkipRange, v) && slices.Contains(nodes, from) {
					want++
				}
			}
			if n, lowest, highest := g.Ranged(e.Name); n != want || (n > 0) != (lowest != "" && highest != "" && lowest != e.Name && highest != e.Name) {
				t.Fatalf("seed %d: %s accepts %d by range (%s to %s), want %d", seed, e.Name, n, lowest, highest, want)
			}
		}
		cycle := false
		for _, a := range nodes {
			for _, b := range nodes {
				cycle = cycle || a != b && dist[[2]string{a, b}] < far && dist[[2]string{b, a}] < far
			}
		}
		if g.Cyclic() != cycle {
			t.Fatalf("seed %d: cyclic: %v", seed, g.Cyclic())
		}
		for _, a := range nodes {
			reachable := slices.Collect(g.Reachable(a))
			out := 0
			for e := range g.Successors(a) {
				out++
				if !edges[[2]string{e.From, e.To}] || e.From != a {
					t.Fatalf("seed %d: edge %v of %s", seed, e, a)
				}
			}
			for _, b := range nodes {
				d := dist[[2]string{a, b}]
				if edges[[2]string{a, b}] {
					out--
				}
				path, ok := g.Path(a, b)
				if ok != (d < far) || ok && len(path) != d {
					t.Fatalf("seed %d: from %s to %s: %v, want %d steps", seed, a, b, path, d)
				}
				checkPath(t, a, b, path, ok, edges)
				if a != b && slices.Contains(reachable, b) != ok || a != b && slices.Contains(slices.Collect(g.Reaching(b)), a) != ok {
					t.Fatalf("seed %d: reachability of %s from %s", seed, b, a)
				}
				if why := g.WhyNot(a, b); (why == nil) != (ok && g.Has(b)) {
					t.Fatalf("seed %d: from %s to %s: %v, but path %v", seed, a, b, why, ok)
				}
				checkPaths(t, g, a, b, edges)
			}
			if out != 0 {
				t.Fatalf("seed %d: %s has %d edges too many", seed, a, out)
			}
		}
	}
}

func checkPath(t *testing.T, from, to string, path []catalog.Edge, ok bool, edges map[[2]string]bool) {
	t.Helper()
	at := from
	for _, e := range path {
		if e.From != at || !edges[[2]string{e.From, e.To}] {
			t.Fatalf("from %s to %s: %v", from, to, path)
		}
		at = e.To
	}
	if ok && at != to {
		t.Fatalf("from %s to %s: %v", from, to, path)
	}
}

// checkPaths compares all simple paths with those that a plain search finds.
func checkPaths(t *testing.T, g *catalog.Graph, from, to string, edges map[[2]string]bool) {
	t.Helper()
	want := 0
	var search func(at string, seen []string)
	search = func(at string, seen []string) {
		if at == to {
			want++
			return
		}
		for e := range edges {
			if e[0] == at && !slices.Contains(seen, e[1]) {
				search(e[1], append(slices.Clone(seen), e[1]))
			}
		}
	}
	search(from, []string{from})
	got := map[string]bool{}
	for path := range g.Paths(from, to) {
		checkPath(t, from, to, path, true, edges)
		got[fmt.Sprint(path)] = true
	}
	if len(got) != want {
		t.Fatalf("from %s to %s: %d paths, want %d", from, to, len(got), want)
	}
	for range g.Paths(from, to) {
		break // stopping early is allowed
	}
}

// Where there are more ways than anyone can count, each is found soon.
func TestPathsOfLadder(t *testing.T) {
	var entries []catalog.Entry
	for i := range 60 {
		e := catalog.Entry{Name: fmt.Sprintf("b%d", i)}
		for j := max(0, i-3); j < i; j++ {
			e.Skips = append(e.Skips, fmt.Sprintf("b%d", j))
		}
		entries = append(entries, e)
	}
	g := channelOf(t, entries, nil).Graph(catalog.AsWritten)
	n := 0
	for range g.Paths("b0", "b59") {
		if n++; n == 1000 {
			return
		}
	}
	t.Errorf("%d paths", n)
}
