package payload_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/samples"
)

// names returns what manifests are called, in their order.
func names(all []*payload.Manifest) (names []string) {
	for _, m := range all {
		names = append(names, m.ID.Name)
	}
	return names
}

func fixture(t *testing.T, name string) *payload.Payload {
	t.Helper()
	return loadData(t, "cvo-testdata", filepath.FromSlash(name))
}

// TestFixtures reads the reference's own small payloads (TestLoadUpdate,
// TestLoadUpdateSkipsUnknownTemplateFields, TestLoadUpdateArchitecture,
// TestRenderDirWithMajorVersionFiltering, TestCVO_FeatureGateManifestInclusion).
func TestFixtures(t *testing.T) {
	id := "exclude-test"
	f := payload.NewFilter()
	f.Exclude = &id

	p := fixture(t, "pkg_cvo_testdata/payloadtest")
	want := payload.Release{
		Version: "1.0.0-abc", Previous: []string{"1.1.1", "1.2.2"}, URL: "https://example.com/v1.0.0-abc",
		Channels: []string{"channel-a", "channel-b", "channel-c"},
	}
	if got := fmt.Sprint(p.Release); got != fmt.Sprint(want) {
		t.Errorf("the release is %v, want %v", got, want)
	}
	tasks := p.Select(f).Tasks
	if got := strings.Join(names(tasks), " "); got != "file-json file-yaml file-yml" || payload.Hash(tasks) != "DL-FFQ2Uem8=" {
		t.Errorf("payloadtest: %s, hash %s", got, payload.Hash(tasks))
	}
	if got := payload.Hash(fixture(t, "pkg_cvo_testdata/paralleltest").Select(f).Tasks); got != "Gyh2W6qcDO4=" {
		t.Errorf("paralleltest: hash %s", got)
	}
	if p := fixture(t, "pkg_cvo_testdata/payloadtestarch"); p.Release.Architecture != "Multi" || payload.Hash(p.Select(f).Tasks) != "fvnVhLw92pE=" {
		t.Errorf("payloadtestarch: architecture %q, hash %s", p.Release.Architecture, payload.Hash(p.Select(f).Tasks))
	}

	p = fixture(t, "pkg_payload_testdata/payload-unknown-template")
	if got := strings.Join(names(p.Manifests), " "); got != "valid-manifest" || len(p.Warnings) != 2 || p.Warnings[1].Code != payload.LintTemplate {
		t.Errorf("a template that asks for something unknown: %s, %v", got, p.Warnings)
	}
	if !strings.Contains(string(p.Manifests[0].JSON), collected) {
		t.Errorf("the release image is not filled in: %s", p.Manifests[0].JSON)
	}

	p = fixture(t, "pkg_cvo_testdata/featuregatetest")
	for _, c := range []struct{ gates, want string }{
		{"", "always-included legacy-excluded"}, {"ExperimentalFeature", "always-included experimental-feature legacy-excluded"}, {"LegacyFeature", "always-included"},
	} {
		f := payload.NewFilter()
		f.Gates = []string{c.gates}
		if got := strings.Join(names(p.Select(f).Tasks), " "); got != c.want {
			t.Errorf("gate %q: %s, want %s", c.gates, got, c.want)
		}
	}
	p = fixture(t, "pkg_cvo_testdata/majorversiontest-v5")
	for _, c := range []struct {
		major uint64
		want  string
	}{
		{3, "noversion"}, {4, "noversion version4only version4or5 excludeversion3"}, {5, "noversion version5only version4or5 excludeversion3"},
	} {
		f := payload.NewFilter()
		f.Major = &c.major
		if got := strings.Join(names(p.Select(f).Tasks), " "); got != c.want {
			t.Errorf("major version %d: %s, want %s", c.major, got, c.want)
		}
	}
}

// TestLoadLimits: what exceeds a limit is told, with the limit.
func TestLoadLimits(t *testing.T) {
	var limit *payload.LimitError
	if _, err := payload.Load(release(), &payload.Options{MaxManifests: 4}); !errors.As(err, &limit) || limit.What != payload.LimitManifests || limit.Max != 4 {
		t.Errorf("five manifests of four: %v", err)
	}
	if _, err := payload.Load(release(), &payload.Options{MaxManifests: 5}); err != nil {
		t.Errorf("five manifests of five: %v", err)
	}
	if _, err := payload.Load(release(), &payload.Options{MaxDocument: 50}); !errors.As(err, &limit) {
		t.Errorf("a large document: %v", err)
	}
}

// TestOtherFiles: only manifests count, and only in the two directories.
func TestOtherFiles(t *testing.T) {
	fsys := release()
	for _, name := range []string{"0000_10_a_x.crd.yaml-patch", "README", "0000_10_a_x.YAML", "sub/0000_10_a_x.yaml", "x.txt", "dir.yaml/x"} {
		fsys["release-manifests/"+name] = &fstest.MapFile{Data: []byte("no: manifest\n")}
	}
	fsys["0000_10_a_x.yaml"] = &fstest.MapFile{Data: []byte("no: manifest\n")}
	p, err := payload.Load(fsys, nil)
	if err != nil || len(p.Manifests) != 5 {
		t.Fatalf("%v, %v", p, err)
	}
	if w := p.Warnings; len(w) != 1 || w[0].Code != payload.LintFileName || !strings.HasPrefix(w[0].Error(), "release-manifests/0000_10_a_x.YAML: the file is left out: its name ends in .YAML") {
		t.Errorf("an extension in capitals: %v", w)
	}
}

// TestRealShapes compares the critical path of published releases with what was
// measured of them: their drawings hold nodes and edges.
func TestRealShapes(t *testing.T) {
	for name, want := range map[string]struct{ tasks, nodes, path int }{
		"4.1-tasks-by-number-and-component.tsv":    {344, 45, 113},
		"4.15.0-tasks-by-number-and-component.tsv": {862, 77, 323},
	} {
		g := shape(t, filepath.Join(samples.Data(t, "payload", "task-graphs"), name))
		tasks, _ := g.CriticalPath(seconds(len(g.Tasks)))
		if len(g.Tasks) != want.tasks || len(g.Nodes) != want.nodes || len(tasks) != want.path {
			t.Errorf("%s: %d tasks, %d nodes, %d on the critical path, want %v", name, len(g.Tasks), len(g.Nodes), len(tasks), want)
		}
		for _, workers := range []int{2, 4, 16, 0} {
			if err := checkSchedule(g, seconds(len(g.Tasks)), g.Schedule(seconds(len(g.Tasks)), workers)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// seconds returns that n tasks take a second each.
func seconds(n int) []time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = time.Second
	}
	return all
}

// shape reads a graph from its drawing: T rows are tasks with their nodes, E
// rows edges.
func shape(t *testing.T, file string) *payload.Graph {
	t.Helper()
	g := new(payload.Graph)
	byNode := map[int]int{}
	for _, r := range rows(t, file) {
		switch r[0] {
		case "T":
			byNode[atoi(t, r[2])]++
		case "E":
			from, to := atoi(t, r[1]), atoi(t, r[2])
			for len(g.Nodes) <= max(from, to) {
				g.Nodes = append(g.Nodes, payload.Node{})
			}
			g.Nodes[from].Out, g.Nodes[to].In = append(g.Nodes[from].Out, to), append(g.Nodes[to].In, from)
		}
	}
	for i := range g.Nodes {
		g.Nodes[i].First, g.Nodes[i].Count = len(g.Tasks), byNode[i]
		g.Tasks = append(g.Tasks, tasksOf(make([]string, byNode[i]))...)
	}
	return g
}

// What oc adm release extract writes is read like release-manifests; that the operator's own
// manifests are missing is told.
func TestLoadExtracted(t *testing.T) {
	files := fstest.MapFS{
		"release-metadata":              {Data: []byte(`{"kind":"cincinnati-metadata-v0","version":"4.18.1"}`)},
		"image-references":              {Data: []byte(`{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"4.18.1"}}`)},
		"0000_10_etcd_00_operator.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n")},
	}
	p, err := payload.Load(files, nil)
	if err != nil || p.Release.Version != "4.18.1" || len(p.Manifests) != 1 || p.Manifests[0].File != "release-manifests/0000_10_etcd_00_operator.yaml" || len(p.Warnings) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	delete(files, "release-metadata")
	if _, err := payload.Load(files, nil); err == nil {
		t.Error("a directory without the identity of a release was read")
	}
}
