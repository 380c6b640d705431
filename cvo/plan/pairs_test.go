package plan_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
	"github.com/fairlead/fairlead/internal/semverx"
)

// answer is what an update service answers, as far as the oracle reads it.
type answer struct {
	Nodes []struct {
		Version string `json:"version"`
	} `json:"nodes"`
	Edges       [][2]int `json:"edges"`
	Conditional []struct {
		Edges []struct{ From, To string } `json:"edges"`
		Risks []struct {
			Rules []struct {
				Type string `json:"type"`
			} `json:"matchingRules"`
		} `json:"risks"`
	} `json:"conditionalEdges"`
}

// way is an update with the number of its risks.
type way struct {
	from, to string
	risks    int
}

// ways returns the updates of an answer, without package graph: those that no risk prevents
// that always applies.
func (a *answer) ways() (all []way) {
	for _, e := range a.Edges {
		all = append(all, way{a.Nodes[e[0]].Version, a.Nodes[e[1]].Version, 0})
	}
	for _, c := range a.Conditional {
		always := false
		for _, r := range c.Risks {
			for _, rule := range r.Rules {
				always = always || rule.Type == "Always"
			}
		}
		for _, e := range c.Edges {
			all = slices.DeleteFunc(all, func(w way) bool { return w.from == e.From && w.to == e.To })
			if !always {
				all = append(all, way{e.From, e.To, len(c.Risks)})
			}
		}
	}
	return all
}

// cheapest is the cost of the best way of an oracle: risks that are unknown, then updates. It
// relaxes every update again and again until nothing changes. No way goes back, skips a minor
// version, or passes the target.
func cheapest(ways []way, from, to string) (best [2]int, ok bool) {
	minor := func(v string) int { x := semverx.Tolerant(v); return int(x.Major())*1000 + int(x.Minor()) }
	ways = slices.DeleteFunc(slices.Clone(ways), func(w way) bool {
		a, b := semverx.Tolerant(w.from), semverx.Tolerant(w.to)
		return b.Compare(a) <= 0 || minor(w.to) > minor(w.from)+1 || b.Compare(semverx.Tolerant(to)) > 0
	})
	cost := map[string][2]int{from: {}}
	for changed := true; changed; {
		changed = false
		for _, e := range ways {
			at, there := cost[e.from]
			if !there {
				continue
			}
			next := [2]int{at[0] + e.risks, at[1] + 1}
			if old, known := cost[e.to]; !known || cmp.Or(cmp.Compare(next[0], old[0]), cmp.Compare(next[1], old[1])) < 0 {
				cost[e.to], changed = next, true
			}
		}
	}
	best, ok = cost[to]
	return best, ok
}

// compare plans an update in a real graph, and compares its cost, or that there is none, with the
// oracle's.
func compare(t *testing.T, g *graph.Graph, ways []way, channel, from, to string) (found bool) {
	t.Helper()
	cv := &cvo.ClusterVersion{}
	cv.Status.Desired.Version, cv.Spec.Channel = from, channel
	s := &plan.Situation{Cluster: cv}
	var err error
	if s.Moves, s.Risks, err = plan.FromGraph(g, from, nil, graph.Evaluations{}); err != nil {
		t.Fatal(err)
	}
	want, ok := cheapest(ways, from, to)
	p, err := plan.Make(t.Context(), s, &plan.Goal{Release: to}, nil)
	var no *plan.NoPlanError
	switch {
	case err != nil && !errors.As(err, &no):
		t.Fatalf("%s to %s: %v", from, to, err)
	case ok != (err == nil):
		t.Fatalf("%s to %s in %s: the oracle finds a way: %v; %v", from, to, channel, ok, err)
	case !ok:
		return false
	}
	if got := [2]int{p.Cost.Unknown, p.Cost.Steps}; got != want {
		t.Fatalf("%s to %s in %s: costs %v, the oracle's %v\n%v", from, to, channel, got, want, p)
	}
	if err := plan.CheckCommands(s, p); err != nil {
		t.Fatalf("%s to %s: %v", from, to, err)
	}
	return true
}

// pair draws two releases, the older first; ok is false if they are the same.
func pair(r *rand.Rand, versions []string) (from, to string, ok bool) {
	from, to = versions[r.IntN(len(versions))], versions[r.IntN(len(versions))]
	if semverx.Tolerant(from).Compare(semverx.Tolerant(to)) > 0 {
		from, to = to, from
	}
	return from, to, from != to
}

// Between pairs of versions of graphs that the production service answered, there is a plan that
// costs as little as the way of an oracle which reads the answer by itself, or none.
func TestAnsweredPairs(t *testing.T) {
	dir := samples.Data(t, "graph", "answers")
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	r := rand.New(rand.NewPCG(5, 44))
	pairs, found := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var a answer
		if err := json.Unmarshal(text, &a); err != nil {
			t.Fatal(err)
		}
		g, problems := graph.Parse(text, nil)
		if g == nil {
			t.Fatalf("%s: %v", file, problems)
		}
		var versions []string
		for _, n := range a.Nodes {
			versions = append(versions, n.Version)
		}
		for range long.N(6, 150) {
			from, to, ok := pair(r, versions)
			if !ok {
				continue
			}
			pairs++
			if compare(t, g, a.ways(), "stable", from, to) {
				found++
			}
		}
	}
	t.Logf("%d pairs of %d graphs: %d paths, %d times none", pairs, len(files), found, pairs-found)
	if found == 0 {
		t.Errorf("no pair of %d has a path", pairs)
	}
}

// waysOf returns the updates of an assembled graph, as ways does.
func waysOf(g *graph.Graph) (all []way) {
	for _, r := range g.Releases() {
		u, err := g.Updates(r.Version)
		if err != nil {
			continue
		}
		for _, x := range slices.Concat(u.Available, u.Conditional) {
			always := slices.ContainsFunc(x.Risks, func(r graph.Risk) bool {
				return slices.ContainsFunc(r.MatchingRules, func(r graph.Rule) bool { return r.Type == graph.RuleAlways })
			})
			if !always {
				all = append(all, way{r.Version, x.Version, len(x.Risks)})
			}
		}
	}
	return all
}

// Between pairs of versions of graphs that are assembled from real data likewise.
func TestRealPairs(t *testing.T) {
	dir := samples.Data(t, "graph", "cincinnati-fixtures", "20211124.083150")
	text, err := os.ReadFile(filepath.Join(dir, "graph-gb-raw.json"))
	if err != nil {
		t.Skip(err)
	}
	raw, _ := graph.Parse(text, nil)
	data, _ := graph.ReadData(os.DirFS(filepath.Join(dir, "cincinnati-graph-data")))
	r := rand.New(rand.NewPCG(3, 44))
	found, pairs := 0, 0
	for _, channel := range []string{"stable-4.8", "fast-4.9", "candidate-4.7"} {
		g := data.Assemble(raw, &graph.AssembleOptions{Architecture: "amd64", Channel: channel})
		var versions []string
		for _, x := range g.Releases() {
			versions = append(versions, x.Version)
		}
		ways := waysOf(g)
		for range long.N(10, 100) {
			from, to, ok := pair(r, versions)
			if !ok {
				continue
			}
			pairs++
			if compare(t, g, ways, channel, from, to) {
				found++
			}
		}
	}
	t.Logf("%d paths, %d times none", found, pairs-found)
	if found < 10 {
		t.Errorf("%d paths of %d pairs", found, pairs)
	}
}
