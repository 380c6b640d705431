package plan_test

import (
	"cmp"
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

// least is the cost of the best way of an oracle: risks that are unknown, then updates. It
// relaxes every update again and again until nothing changes.
func least(g *graph.Graph, from, to string) (best [2]int, ok bool) {
	minor := func(v string) int { x := semverx.Tolerant(v); return int(x.Major())*1000 + int(x.Minor()) }
	type edge struct {
		from, to string
		risks    int
	}
	var edges []edge
	for _, r := range g.Releases() {
		u, err := g.Updates(r.Version)
		if err != nil {
			continue
		}
		for _, x := range slices.Concat(u.Available, u.Conditional) {
			a, b := semverx.Tolerant(r.Version), semverx.Tolerant(x.Version)
			if b.Compare(a) <= 0 || minor(x.Version) > minor(r.Version)+1 || b.Compare(semverx.Tolerant(to)) > 0 {
				continue
			}
			n, always := 0, false
			for _, risk := range x.Risks {
				is := slices.ContainsFunc(risk.MatchingRules, func(r graph.Rule) bool { return r.Type == graph.RuleAlways })
				always = always || is
				n++
			}
			if !always {
				edges = append(edges, edge{r.Version, x.Version, n})
			}
		}
	}
	cost := map[string][2]int{from: {}}
	for changed := true; changed; {
		changed = false
		for _, e := range edges {
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

// Between pairs of versions of real graphs there is a plan that costs as little as the way of
// the oracle, or none.
func TestRealPairs(t *testing.T) {
	dir := samples.Data(t, "graph", "cincinnati-fixtures", "20211124.083150")
	text, err := os.ReadFile(filepath.Join(dir, "graph-gb-raw.json"))
	if err != nil {
		t.Skip(err)
	}
	raw, _ := graph.Parse(text, nil)
	data, _ := graph.ReadData(os.DirFS(filepath.Join(dir, "cincinnati-graph-data")))
	r := rand.New(rand.NewPCG(3, 44))
	found, none := 0, 0
	for _, channel := range []string{"stable-4.8", "fast-4.9", "candidate-4.7"} {
		g := data.Assemble(raw, &graph.AssembleOptions{Architecture: "amd64", Channel: channel})
		var versions []string
		for _, x := range g.Releases() {
			versions = append(versions, x.Version)
		}
		for range long.N(10, 100) {
			from, to := versions[r.IntN(len(versions))], versions[r.IntN(len(versions))]
			if semverx.Tolerant(from).Compare(semverx.Tolerant(to)) >= 0 {
				from, to = to, from
			}
			if from == to {
				continue
			}
			cv := &cvo.ClusterVersion{}
			cv.Status.Desired.Version, cv.Spec.Channel = from, channel
			s := &plan.Situation{Cluster: cv}
			if s.Moves, s.Risks, err = plan.FromGraph(g, from, nil, graph.Evaluations{}); err != nil {
				t.Fatal(err)
			}
			want, ok := least(g, from, to)
			p, err := plan.Make(t.Context(), s, &plan.Goal{Release: to}, nil)
			var no *plan.NoPlanError
			switch {
			case err != nil && !errors.As(err, &no):
				t.Fatalf("%s to %s: %v", from, to, err)
			case ok != (err == nil):
				t.Fatalf("%s to %s in %s: the oracle finds a way: %v; %v", from, to, channel, ok, err)
			case !ok:
				none++
				continue
			}
			found++
			if got := [2]int{p.Cost.Unknown, p.Cost.Steps}; got != want {
				t.Fatalf("%s to %s in %s: costs %v, the oracle's %v\n%v", from, to, channel, got, want, p)
			}
			if err := plan.CheckCommands(s, p); err != nil {
				t.Fatalf("%s to %s: %v", from, to, err)
			}
		}
	}
	t.Logf("%d paths, %d times none", found, none)
	if found < 10 {
		t.Errorf("%d paths, %d times none", found, none)
	}
}
