package graph_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/internal/samples"
)

func parseFile(tb testing.TB, path string) *graph.Graph {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	g, found := graph.Parse(text, &graph.Options{File: filepath.Base(path)})
	if err := found.Err(); err != nil {
		tb.Fatal(err)
	}
	return g
}

// For each version of the recorded answers, the updates are those that the
// reference computes, in its order.
func TestRecordedUpdates(t *testing.T) {
	dir := filepath.Join(samples.Data(t, "graph"), "answers")
	file, err := os.Open(filepath.Join(dir, "getupdates.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	graphs := map[string]*graph.Graph{}
	n, conditional := 0, 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		col := append(strings.Split(lines.Text(), "\t"), "", "", "")
		g := graphs[col[0]]
		if g == nil {
			files, _ := filepath.Glob(filepath.Join(dir, "*_"+col[0]+"_v1.json"))
			g = parseFile(t, files[0])
			graphs[col[0]] = g
			again(t, g)
		}
		u, err := g.Updates(col[1])
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(versions(u.Available), ","); got != col[2] {
			t.Errorf("%s %s: available %s, not %s", col[0], col[1], got, col[2])
		}
		if got, want := withRisks(u.Conditional), sorted(col[3]); !slices.Equal(got, want) {
			t.Errorf("%s %s: conditional %s, not %s", col[0], col[1], got, want)
		}
		n++
		conditional += len(u.Conditional)
	}
	if n < 200 || conditional == 0 {
		t.Errorf("only %d versions and %d conditional updates", n, conditional)
	}
}

// again checks that a graph is written as it was read. A risk without rules is
// reported each time: nothing can be written in their place.
func again(t *testing.T, g *graph.Graph) {
	t.Helper()
	text, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	h, found := graph.Parse(text, nil)
	for _, d := range found {
		if d.Code != graph.CodeRisk {
			t.Fatal(d)
		}
	}
	if twice, _ := json.Marshal(h); !bytes.Equal(twice, text) {
		t.Error("a graph that was written and read is not the same")
	}
}

func versions(list []graph.Update) []string {
	var out []string
	for _, u := range list {
		out = append(out, u.Version)
	}
	return out
}

// withRisks writes updates as version[risk+risk], risks and updates sorted.
func withRisks(list []graph.Update) []string {
	var out []string
	for _, u := range list {
		var names []string
		for _, r := range u.Risks {
			names = append(names, r.Name)
		}
		slices.Sort(names)
		out = append(out, u.Version+"["+strings.Join(names, "+")+"]")
	}
	slices.Sort(out)
	return out
}

func sorted(list string) []string {
	var out []string
	for c := range strings.SplitSeq(list, ",") {
		version, risks, ok := strings.Cut(strings.TrimSuffix(c, "]"), "[")
		if !ok {
			continue
		}
		names := strings.Split(risks, "+")
		slices.Sort(names)
		out = append(out, version+"["+strings.Join(names, "+")+"]")
	}
	slices.Sort(out)
	return out
}

// The metadata that graph data give to raw graphs is that of the recorded
// results.
func TestRecordedMetadata(t *testing.T) {
	for _, c := range []struct {
		name string
		skip []string // what the result has from elsewhere
	}{
		{"20211124.083150", nil},
		// Here the result says what to remove in another way: see
		// TestRecordedRemovals.
		{"20200319.204124", []string{"io.openshift.upgrades.graph.previous.remove", "io.openshift.upgrades.graph.previous.remove_regex"}},
	} {
		dir := filepath.Join(samples.Data(t, "graph"), "cincinnati-fixtures", c.name)
		raw := parseFile(t, filepath.Join(dir, "graph-gb-raw.json"))
		want := parseFile(t, filepath.Join(dir, "graph-gb-with-quay-metadata.json"))
		data, found := graph.ReadData(os.DirFS(filepath.Join(dir, "cincinnati-graph-data")))
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		got := data.Annotate(raw)
		for _, r := range want.Releases() {
			g, _ := got.Release(r.Version)
			for _, m := range []map[string]string{r.Metadata, g.Metadata} {
				maps.DeleteFunc(m, func(k, _ string) bool { return slices.Contains(c.skip, k) })
			}
			if !maps.Equal(r.Metadata, g.Metadata) {
				t.Errorf("%s %s: %v, not %v", c.name, r.Version, g.Metadata, r.Metadata)
			}
		}
	}
}

// Blocked edges remove the same updates as the older way to tell them, by lists
// in the metadata of releases, did.
func TestRecordedRemovals(t *testing.T) {
	dir := filepath.Join(samples.Data(t, "graph"), "cincinnati-fixtures", "20200319.204124")
	data, _ := graph.ReadData(os.DirFS(filepath.Join(dir, "cincinnati-graph-data")))
	got := data.Assemble(parseFile(t, filepath.Join(dir, "graph-gb-raw.json")), nil)
	old := &graph.Data{}
	want := old.Assemble(parseFile(t, filepath.Join(dir, "graph-gb-with-quay-metadata.json")), nil)
	for _, r := range want.Releases() {
		a, _ := got.Updates(r.Version)
		b, _ := want.Updates(r.Version)
		x, y := versions(a.Available), versions(b.Available)
		slices.Sort(x)
		slices.Sort(y)
		if !slices.Equal(x, y) {
			t.Errorf("%s: %v, not %v", r.Version, x, y)
		}
	}
}

// naive answers what can be updated to from a raw graph and graph data, written
// from the description alone: for each pair of releases it asks each rule.
type naive struct {
	nodes   []string
	edges   map[[2]string]bool
	blocked map[string][]blocked // by target
	raw     map[string]map[string]string
}

type blocked struct {
	name string
	from *regexp.Regexp
}

func readNaive(t *testing.T, dir string) *naive {
	t.Helper()
	var w struct {
		Nodes []struct{ Version, Payload string }
		Edges [][2]int
	}
	text, err := os.ReadFile(filepath.Join(dir, "graph-gb-raw.json"))
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	if err != nil {
		t.Fatal(err)
	}
	n := &naive{edges: map[[2]string]bool{}, blocked: map[string][]blocked{}}
	for _, node := range w.Nodes {
		if node.Payload != "" {
			n.nodes = append(n.nodes, node.Version)
		}
	}
	for _, e := range w.Edges {
		n.edges[[2]string{w.Nodes[e[0]].Version, w.Nodes[e[1]].Version}] = true
	}
	field := func(text, name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `: *(.*?) *$`).FindStringSubmatch(text)
		if m == nil {
			return ""
		}
		return m[1]
	}
	files, _ := filepath.Glob(filepath.Join(dir, "cincinnati-graph-data", "blocked-edges", "*.yaml"))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		to := field(string(text), "to")
		n.blocked[to] = append(n.blocked[to], blocked{field(string(text), "name"), regexp.MustCompile(field(string(text), "from"))})
	}
	text, _ = os.ReadFile(filepath.Join(dir, "cincinnati-graph-data", "raw", "metadata.json"))
	if err := json.Unmarshal(text, &n.raw); err != nil {
		t.Fatal(err)
	}
	return n
}

// updates returns the versions that can be updated to, with the names of risks.
func (n *naive) updates(from string) []string {
	var out []string
	for _, node := range n.nodes {
		base, arch, _ := strings.Cut(node, "+")
		there := n.edges[[2]string{from, node}]
		for _, add := range strings.Split(n.raw[base]["io.openshift.upgrades.graph.previous.add"], ",") {
			there = there || add != "" && from == add+"+"+arch
		}
		var risks []string
		for _, b := range slices.Concat(n.blocked[node], n.blocked[base]) {
			if !b.from.MatchString(from) {
				continue
			}
			if b.name == "" {
				there = false
			}
			risks = append(risks, b.name)
		}
		if there {
			slices.Sort(risks)
			out = append(out, node+"["+strings.Join(risks, "+")+"]")
		}
	}
	slices.Sort(out)
	return out
}

// With each version of the recorded raw graphs as the current one, what is
// offered is what the naive reading of the data says.
func TestAssembleAgainstOracle(t *testing.T) {
	for _, name := range []string{"20200319.204124", "20211124.083150"} {
		dir := filepath.Join(samples.Data(t, "graph"), "cincinnati-fixtures", name)
		oracle := readNaive(t, dir)
		data, found := graph.ReadData(os.DirFS(filepath.Join(dir, "cincinnati-graph-data")))
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		g := data.Assemble(parseFile(t, filepath.Join(dir, "graph-gb-raw.json")), nil)
		total := 0
		for _, node := range oracle.nodes {
			u, err := g.Updates(node)
			if err != nil {
				t.Fatal(err)
			}
			got := append(withRisks(u.Available), withRisks(u.Conditional)...)
			slices.Sort(got)
			if want := oracle.updates(node); !slices.Equal(got, want) {
				t.Errorf("%s %s:\n%s, not\n%s", name, node, got, want)
			}
			total += len(got)
		}
		t.Logf("%s: %d releases, %d updates", name, len(oracle.nodes), total)
	}
}

// The data of the newest minors loads whole, and the broken one tells what is
// broken.
func TestRecordedData(t *testing.T) {
	dir := samples.Data(t, "graph")
	data, found := graph.ReadData(os.DirFS(filepath.Join(dir, "graph-data")))
	if err := found.Err(); err != nil {
		t.Error(err)
	}
	if len(data.Channels) != 22 || len(data.Blocked) != 518 {
		t.Errorf("%d channels and %d blocked edges", len(data.Channels), len(data.Blocked))
	}
	_, found = graph.ReadData(os.DirFS(filepath.Join(dir, "cincinnati-fixtures", "invalid0", "cincinnati-graph-data")))
	files := map[string]bool{}
	for _, d := range found {
		files[d.Pos.File] = true
	}
	if !maps.Equal(files, map[string]bool{"blocked-edges/invalid.extension": true, "blocked-edges/invalid_format.yaml": true, "blocked-edges/missing_extension": true}) {
		t.Errorf("findings: %v", []*graph.Diagnostic(found))
	}
}
