package graph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/internal/long"
)

// randomGraph writes a graph of few releases, with circles at times.
func randomGraph(r *rand.Rand) string {
	n := 2 + r.IntN(7)
	var nodes, edges []string
	groups := map[string][]string{}
	version := func(i int) string { return fmt.Sprintf("4.%d.%d", 10+i/3, i%3) }
	for _, i := range r.Perm(n) {
		nodes = append(nodes, fmt.Sprintf(`{"version":%q}`, version(i)))
	}
	index := func(v string) int { return slices.Index(nodes, fmt.Sprintf(`{"version":%q}`, v)) }
	for i := range n {
		for j := range n {
			if i == j || i > j && r.IntN(8) > 0 || r.IntN(5) > 2 {
				continue
			}
			if r.IntN(3) > 0 {
				edges = append(edges, fmt.Sprintf("[%d,%d]", index(version(i)), index(version(j))))
				continue
			}
			var risks []string
			for _, name := range []string{"A", "B", "C"} {
				if r.IntN(2) == 0 {
					risks = append(risks, fmt.Sprintf(`{"name":%q,"matchingRules":[{"type":"PromQL","promql":{"promql":%q}}]}`, name, name))
				}
			}
			if len(risks) == 0 {
				risks = append(risks, `{"name":"D","matchingRules":[{"type":"Always"}]}`)
			}
			key := strings.Join(risks, ",")
			groups[key] = append(groups[key], fmt.Sprintf(`{"from":%q,"to":%q}`, version(i), version(j)))
		}
	}
	var conditional []string
	for risks, list := range groups {
		conditional = append(conditional, `{"edges":[`+strings.Join(list, ",")+`],"risks":[`+risks+`]}`)
	}
	slices.Sort(conditional)
	return fmt.Sprintf(`{"nodes":[%s],"edges":[%s],"conditionalEdges":[%s]}`, strings.Join(nodes, ","), strings.Join(edges, ","), strings.Join(conditional, ","))
}

// route is a path as the oracle sees it.
type route struct {
	versions                       []string
	hops, applies, unknown, minors int
}

// routes returns every path that passes no release twice, by walking them all.
func routes(t *testing.T, g *graph.Graph, from, to string, o *graph.PathOptions) []route {
	var all []route
	var walk func(at route)
	walk = func(at route) {
		last := at.versions[len(at.versions)-1]
		if last == to {
			at.versions = slices.Clone(at.versions)
			all = append(all, at)
			return
		}
		u, err := g.Updates(last)
		if err != nil {
			t.Fatal(err)
		}
		for _, next := range slices.Concat(u.Available, u.Conditional) {
			if slices.Contains(at.versions, next.Version) || slices.ContainsFunc(next.Risks, func(r graph.Risk) bool { return slices.Contains(o.Avoid, r.Name) || slices.Contains(o.Avoid, "*") }) {
				continue
			}
			w := route{append(slices.Clip(at.versions), next.Version), at.hops + 1, at.applies, at.unknown, at.minors}
			for _, x := range o.Evaluations.Recommend(next, o.Accepted).Exposures {
				if !x.Accepted && x.Applies == "True" {
					w.applies++
				} else if !x.Accepted && x.Applies == "Unknown" {
					w.unknown++
				}
			}
			if last[:4] != next.Version[:4] {
				w.minors++
			}
			walk(w)
		}
	}
	walk(route{versions: []string{from}})
	return all
}

func (r route) less(s route, p graph.Preference) int {
	applies, hops, unknown, minors := [2]int{r.applies, s.applies}, [2]int{r.hops, s.hops}, [2]int{r.unknown, s.unknown}, [2]int{r.minors, s.minors}
	order := [4][2]int{applies, hops, unknown, minors}
	switch p {
	case graph.FewestRisks:
		order = [4][2]int{applies, unknown, hops, minors}
	case graph.FewestMinors:
		order = [4][2]int{applies, minors, hops, unknown}
	}
	for _, o := range order {
		if o[0] != o[1] {
			return o[0] - o[1]
		}
	}
	return 0
}

// The paths are those that walking every path finds, in the order of their
// costs, whatever is preferred and avoided.
func TestPathsAgainstOracle(t *testing.T) {
	several, unreachable := 0, 0
	for seed := range long.N(1500, 300_000) {
		r := rand.New(rand.NewPCG(7, uint64(seed)))
		text := randomGraph(r)
		g, found := graph.Parse([]byte(text), nil)
		for _, f := range found {
			if f.Code != graph.CodeCycle {
				t.Fatalf("seed %d: %v", seed, f)
			}
		}
		list := g.Releases()
		from, to := list[r.IntN(len(list))].Version, list[r.IntN(len(list))].Version
		if from > to && r.IntN(4) > 0 {
			from, to = to, from
		}
		opts := &graph.PathOptions{Prefer: graph.Preference(r.IntN(3)), Max: 1 + r.IntN(40)}
		switch r.IntN(6) {
		case 0, 1:
			opts.Avoid = []string{"A"}
		case 2:
			opts.Avoid = []string{"*"}
		}
		for _, name := range []string{"A", "B", "C"} {
			if r.IntN(2) == 0 {
				opts.Evaluations = opts.Evaluations.With(promql(name), r.IntN(2) == 0, nil, noon)
			}
			if r.IntN(6) == 0 {
				opts.Accepted = append(opts.Accepted, name)
			}
		}
		want := routes(t, g, from, to, opts)
		slices.SortStableFunc(want, func(a, b route) int { return a.less(b, opts.Prefer) })
		got, err := g.Paths(t.Context(), from, to, opts)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(got) != min(len(want), opts.Max) {
			t.Fatalf("seed %d: %d paths, not %d of %d\n%s", seed, len(got), opts.Max, len(want), text)
		}
		seen := map[string]bool{}
		for k, p := range got {
			names := append([]string{from}, versions(p.Updates)...)
			i := slices.IndexFunc(want, func(r route) bool { return slices.Equal(r.versions, names) })
			if i < 0 || want[i].less(want[k], opts.Prefer) != 0 || seen[strings.Join(names, " ")] {
				t.Fatalf("seed %d: path %d is %s\nof %v\n%s", seed, k, names, want, text)
			}
			seen[strings.Join(names, " ")] = true
		}
		if len(got) > 2 {
			several++
		}
		if len(got) == 0 {
			unreachable++
		}
		single := *opts
		single.Max = 1
		one, err := g.Paths(t.Context(), from, to, &single)
		if err != nil || len(one) != min(len(got), 1) || len(one) == 1 && !slices.Equal(versions(one[0].Updates), versions(got[0].Updates)) {
			t.Fatalf("seed %d: the best path differs: %v, %v", seed, one, got)
		}
		checkWhyNot(t, g, from, to, opts, got)
		checkCycle(t, g, found)
	}
	if several < 120 || unreachable < 100 {
		t.Errorf("the graphs are too simple: %d with several paths, %d without", several, unreachable)
	}
}

// checkWhyNot checks that an explanation agrees with what can be reached, and that
// the path it advises is the first of those that are printed beside it.
func checkWhyNot(t *testing.T, g *graph.Graph, from, to string, o *graph.PathOptions, paths []*graph.Path) {
	t.Helper()
	w, err := g.WhyNot(t.Context(), from, to, &graph.WhyNotOptions{PathOptions: *o})
	if err != nil {
		t.Fatal(err)
	}
	u, _ := g.Updates(from)
	direct, refused := slices.Contains(versions(u.Available), to), false
	for _, c := range u.Conditional {
		if c.Version == to {
			refused = o.Evaluations.Recommend(c, o.Accepted).Status != "True"
			direct = direct || !refused
		}
	}
	switch {
	case direct != (w.Obstacle == graph.Offered), refused != (w.Obstacle == graph.NotRecommended), (from == to) != (w.Obstacle == graph.SameRelease),
		w.Obstacle == graph.NoEdge && len(paths) > 0 != (len(w.Via) > 1),
		w.Via != nil && !slices.Equal(w.Via, versions(paths[0].Updates)),
		refused && w.Via == nil && len(paths) > 0 && len(paths[0].Updates) > 1:
		t.Fatalf("%s to %s: %+v", from, to, w)
	}
}

// checkCycle checks that circles are told if and only if a release reaches
// itself.
func checkCycle(t *testing.T, g *graph.Graph, found graph.Diagnostics) {
	t.Helper()
	circle := false
	for _, r := range g.Releases() {
		u, _ := g.Updates(r.Version)
		for _, next := range slices.Concat(u.Available, u.Conditional) {
			back, _ := g.Paths(t.Context(), next.Version, r.Version, nil)
			circle = circle || len(back) > 0
		}
	}
	if circle != (len(found) > 0) {
		t.Fatalf("circle: %v, told: %v", circle, found)
	}
}
