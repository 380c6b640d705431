package payload_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/samples"
)

// TestImplicitRows is TestGetImplicitlyEnabledCapabilities with its fixtures,
// row by row.
func TestImplicitRows(t *testing.T) {
	const known = "cap1 cap2 cap3 cap4 cap5 cap6 cap7 cap8 cap9 cap10 cap11 cap12 cap13 cap14 cap15 cap16 cap17 cap18 cap19 cap20 cap21 cap22 cap23 cap24"
	for _, c := range []struct{ row, dir, known, enabled, prior, want string }{
		{"basic", "test1", "cap1 cap2", "cap1", "", "cap2"},
		{"basic with unknown cap", "test1", "cap1", "cap1", "", "cap2"},
		{"different manifest", "test2", "", "", "", ""},
		{"current manifest not enabled", "test3", "cap2", "cap2", "", ""},
		{"new cap already enabled", "test4", "cap1 cap2", "cap1 cap2", "", ""},
		{"already implicitly enabled", "test5", "cap1 cap2", "cap1", "cap2", "cap2"},
		{"only add cap once", "test6", "cap1 cap2", "cap1", "", "cap2"},
		{
			"complex", "test7", known + " cap111 cap112 cap113 cap114 cap115 cap116 cap117 cap118 cap119 cap1110 cap1111 cap1112 cap1113 cap1114 cap1115 cap1116", known,
			"cap000 cap111 cap112 cap113 cap114", "cap000 cap111 cap1110 cap1111 cap1112 cap1113 cap1114 cap1115 cap1116 cap112 cap113 cap114 cap115 cap116 cap117 cap118 cap119",
		},
		{"no update manifests", "test8", "cap1", "cap1", "cap1", "cap1"},
		{"no current manifests", "test9", "cap1", "cap1", "cap1", "cap1"},
		{"duplicate manifests", "test10", "cap1 cap2", "cap1", "", "cap2"},
	} {
		dir := samples.Data(t, "payload", "cvo-testdata", "pkg_cvo_testdata", "payloadcapabilitytest", c.dir)
		update, current := &payload.Payload{Manifests: read(t, dir, "update")}, &payload.Payload{Manifests: read(t, dir, "current")}
		if c.row == "duplicate manifests" {
			update.Manifests = append(update.Manifests, update.Manifests[0])
		}
		f := &payload.Filter{Gates: []string{}, Capabilities: &payload.Capabilities{Known: strings.Fields(c.known), Enabled: strings.Fields(c.enabled)}}
		if got := payload.ImplicitlyEnabled(update, current, f, strings.Fields(c.prior)); strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.row, got, c.want)
		}
	}
}

// read reads all files of a directory, or none where there is no directory.
func read(t *testing.T, dir, sub string) (all []*payload.Manifest) {
	t.Helper()
	fsys := os.DirFS(dir)
	files, _ := fs.Glob(fsys, sub+"/*")
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		m, err := payload.ReadManifests(file, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m...)
	}
	return all
}

// TestImplicitlyEnabled: what counts as a resource of the cluster, and what of
// the update.
func TestImplicitlyEnabled(t *testing.T) {
	with := func(name, caps string, more ...string) *payload.Manifest {
		m := &payload.Manifest{ID: payload.ID{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: name}, Annotations: marks{ha: "true"}}
		if caps != "" {
			m.Annotations[needs] = caps
		}
		for i := 0; i < len(more); i += 2 {
			m.Annotations[more[i]] = more[i+1]
		}
		return m
	}
	list := func(m ...*payload.Manifest) []*payload.Manifest { return m }
	bare := with("a", "")
	bare.Annotations = nil
	for _, c := range []struct {
		name            string
		update, current []*payload.Manifest
		enabled, prior  string
		want            string
	}{
		{"another capability", list(with("a", "cap2")), list(with("a", "cap1")), "cap1", "", "cap2"},
		{"none before", list(with("a", "cap2")), list(with("a", "")), "", "", "cap2"},
		{"another manifest", list(with("b", "cap2")), list(with("a", "cap1")), "cap1", "", ""},
		{"current one is disabled", list(with("a", "cap2")), list(with("a", "cap1")), "", "", ""},
		{"enabled already", list(with("a", "cap2")), list(with("a", "cap1")), "cap1 cap2", "", ""},
		{"implicit already", list(with("a", "cap2")), list(with("a", "cap1")), "cap1", "cap2 cap0", "cap0 cap2"},
		{"only once", list(with("a", "cap1+cap2"), with("b", "cap2")), list(with("a", "cap1"), with("b", "")), "cap1", "", "cap2"},
		{"no update", nil, list(with("a", "cap1")), "cap1", "cap3", "cap3"},
		{"several of one name, one of them enabled", list(with("a", "cap2"), with("a", "cap2")), list(with("a", "cap9"), with("a", "cap1")), "cap1", "", "cap2"},
		{"several of one name, of all that are enabled", list(with("a", "cap1+cap2")), list(with("a", "cap2"), with("a", "cap1")), "cap1 cap2 cap3", "", ""},
		{"each of several counts", list(with("a", "x")), list(with("a", ""), with("a", "cap1")), "cap1", "", "x"},
		{"several at once", list(with("a", "z+b+a")), list(with("a", "")), "b", "", "a z"},
		{"an empty capability is none", list(with("a", "cap2")), list(with("a", "", needs, "")), "", "", "cap2"},
		{"of another profile now", list(with("a", "cap2")), list(with("a", "", ha, "false")), "", "", ""},
		{"without annotations now", list(with("a", "cap2")), list(bare), "", "", ""},
		{"behind a gate now", list(with("a", "cap2")), list(with("a", "", gate, "Off")), "", "", ""},
		{"for another major version now", list(with("a", "cap2")), list(with("a", "", major, "5")), "", "", ""},
		{"of another profile then", list(with("a", "cap2", ha, "false")), list(with("a", "")), "", "", ""},
		{"behind a gate then", list(with("a", "cap2", gate, "Off"), with("a", "cap3", gate, "-Off")), list(with("a", "")), "", "", "cap3"},
		{"for the next major version then", list(with("a", "cap2", major, "5"), with("a", "cap3", major, "4")), list(with("a", "")), "", "", "cap2"},
		{"overridden", list(with("kept", "cap2")), list(with("kept", "")), "", "", "cap2"},
	} {
		f := payload.NewFilter()
		f.Capabilities = &payload.Capabilities{Enabled: strings.Fields(c.enabled)}
		f.Overrides = []payload.Override{{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "kept", Unmanaged: true}}
		current := &payload.Payload{Release: payload.Release{Version: "4.22.0"}, Manifests: c.current}
		update := &payload.Payload{Release: payload.Release{Version: "5.0.0"}, Manifests: c.update}
		got := payload.ImplicitlyEnabled(update, current, f, strings.Fields(c.prior))
		if strings.Join(got, " ") != c.want || !slices.IsSorted(got) {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
		if f.Capabilities.AllowUnknown || f.Major != nil || f.Overrides == nil {
			t.Fatalf("%s: the filter was changed: %+v", c.name, f)
		}
		f.Capabilities = nil
		if got := payload.ImplicitlyEnabled(update, current, f, strings.Fields(c.prior)); len(got) != len(strings.Fields(c.prior)) {
			t.Errorf("%s: %v although all are enabled", c.name, got)
		}
	}
}

// TestSelectMajor: the major version is that of the release unless the filter
// has another.
func TestSelectMajor(t *testing.T) {
	m := &payload.Manifest{ID: payload.ID{Group: "config.openshift.io", Kind: "FeatureGate", Name: "x"}, Annotations: marks{ha: "true", major: "5"}}
	for version, want := range map[string]int{"4.22.0": 0, "5.0.0-ec.1": 1, "": 1} {
		p := &payload.Payload{Release: payload.Release{Version: version}, Manifests: []*payload.Manifest{m}}
		if got := len(p.Select(nil).Tasks); got != want {
			t.Errorf("of a release %q: %d, want %d", version, got, want)
		}
		f := payload.NewFilter()
		f.Major = pointer(uint64(5))
		if len(p.Select(f).Tasks) != 1 {
			t.Errorf("of a release %q in a cluster of 5: left out", version)
		}
	}
}
