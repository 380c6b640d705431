package payload_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/samples"
)

// collected is the release image that the answers beside the real data are for.
const collected = "quay.io/example/release@sha256:0000"

// rows returns the fields of the lines of a table.
func rows(t testing.TB, file string) [][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			all = append(all, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	return all
}

func loadData(t testing.TB, elem ...string) *payload.Payload {
	t.Helper()
	p, err := payload.Load(os.DirFS(samples.Data(t, append([]string{"payload"}, elem...)...)), &payload.Options{ReleaseImage: collected})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// filters are the four clusters that the answers are for.
func filters() map[string]*payload.Filter {
	all := map[string]*payload.Filter{}
	for _, name := range []string{"default", "techpreview", "hypershift", "major5"} {
		f := payload.NewFilter()
		id, major := "exclude-test", uint64(4)
		f.Exclude, f.Major = &id, &major
		all[name] = f
	}
	*all["techpreview"].FeatureSet = "TechPreviewNoUpgrade"
	all["techpreview"].Gates = []string{"ClusterAPIInstall", "ClusterAPIMachineManagement", "NewOLM"}
	*all["hypershift"].Profile = "ibm-cloud-managed"
	*all["major5"].Major = 5
	return all
}

// TestRealInclusion compares what is left out of 1,154 real documents, and why,
// with what the reference says, for four clusters.
func TestRealInclusion(t *testing.T) {
	p := loadData(t)
	table := rows(t, filepath.Join(samples.Data(t, "payload", "expected"), "collected-include.tsv"))
	head, table := table[0], table[1:]
	if len(table) != len(p.Manifests) {
		t.Fatalf("%d manifests, want %d", len(p.Manifests), len(table))
	}
	for column := 3; column < len(head); column++ {
		f, in := filters()[head[column]], 0
		for i, m := range p.Manifests {
			want := table[i]
			if path.Base(m.File) != want[0] || fmt.Sprint(m.Document) != want[1] || m.ID.String() != want[2] {
				t.Fatalf("manifest %d is %s %d %s, want %v", i, m.File, m.Document, m.ID, want)
			}
			got := f.Evaluate(m).Reason
			if got == "" {
				got = "-"
				in++
			}
			if got != want[column] {
				t.Errorf("%s: %s: %s: %q, want %q", head[column], m.File, m.ID, got, want[column])
			}
		}
		if want := map[string]int{"default": 910, "techpreview": 993, "hypershift": 635, "major5": 910}[head[column]]; in != want {
			t.Errorf("%s: %d are included, want %d", head[column], in, want)
		}
	}
}

// TestRealGraphs compares the order of the real payload with that of the
// reference: each task's node, each node's edges, to the index; and the hash of
// all.
func TestRealGraphs(t *testing.T) {
	tasks := loadData(t).Select(filters()["default"]).Tasks
	file := filepath.Join(samples.Data(t, "payload", "expected"), "collected-graphs.tsv")
	table := rows(t, file)
	text, _ := os.ReadFile(file)
	if head, _, _ := strings.Cut(string(text), "\n"); !strings.HasSuffix(head, " hash "+payload.Hash(tasks)) {
		t.Errorf("hash %s, want that of %q", payload.Hash(tasks), head)
	}
	for column, kind := range []string{"by", "flat"} {
		g := payload.NewGraph(tasks, &payload.GraphOptions{Flatten: kind == "flat"})
		node := make([]int, len(tasks))
		var got, want []string
		for i, n := range g.Nodes {
			got = append(got, fmt.Sprintf("%d in=%v out=%v tasks=%d", i, n.In, n.Out, n.Count))
			for k := range n.Count {
				node[n.First+k] = i
			}
		}
		for _, r := range table {
			switch {
			case r[0] == "N" && r[1] == kind:
				want = append(want, strings.Join(r[2:], " "))
			case r[0] == "T":
				m := tasks[atoi(t, r[1])-1]
				if path.Base(m.File) != r[6] || m.ID.String() != r[7] || fmt.Sprint(node[atoi(t, r[1])-1]) != r[2+column] {
					t.Errorf("%s: task %s is %s of %s in node %d, want %v", kind, r[1], m.ID, m.File, node[atoi(t, r[1])-1], r)
				}
			}
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: nodes\n%s\nwant\n%s", kind, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func atoi(t testing.TB, s string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
