package payload_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/cvo/payload"
)

// resource writes a manifest in YAML, of "GROUP/VERSION KIND NAMESPACE NAME"
// with - for an empty word, and one annotation.
func resource(words string) string {
	w := strings.Fields(words)
	for i := range w {
		w[i] = strings.TrimPrefix(w[i], "-")
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  namespace: %s\n  annotations: {%s: \"true\"}\n", w[0], w[1], w[3], w[2], ha)
}

// identities returns group, kind, namespace and name of each manifest.
func identities(all []*payload.Manifest) (ids []string) {
	for _, m := range all {
		ids = append(ids, fmt.Sprintf("%s|%s|%s|%s", m.ID.Group, m.ID.Kind, m.ID.Namespace, m.ID.Name))
	}
	return ids
}

// TestParseRows is TestParseManifests: identities, and the text that counts for
// the hash.
func TestParseRows(t *testing.T) {
	const (
		ingress     = "apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata:\n  name: test-ingress\n  namespace: test-namespace\nspec:\n  rules:\n  - http:\n      paths:\n      - path: /testpath\n        backend:\n          serviceName: test\n          servicePort: 80\n"
		config      = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a-config\n  namespace: default\ndata:\n  color: \"red\"\n  multi-line: |\n    hello world\n    how are you?\n"
		ingressID   = "extensions|Ingress|test-namespace|test-ingress"
		configID    = "|ConfigMap|default|a-config"
		ingressJSON = `{"apiVersion":"extensions/v1beta1","kind":"Ingress","metadata":{"name":"test-ingress","namespace":"test-namespace"},"spec":{"rules":[{"http":{"paths":[{"backend":{"serviceName":"test","servicePort":80},"path":"/testpath"}]}}]}}`
		configJSON  = `{"apiVersion":"v1","data":{"color":"red","multi-line":"hello world\nhow are you?\n"},"kind":"ConfigMap","metadata":{"name":"a-config","namespace":"default"}}`
	)
	for _, c := range []struct {
		row, text string
		ids       []string
		json      string
	}{
		{"ingress", "\n" + ingress, []string{ingressID}, ingressJSON},
		{"configmap", "\n" + config, []string{configID}, configJSON},
		{"two-resources", "\n" + ingress + "---\n" + config, []string{ingressID, configID}, ingressJSON + configJSON},
		{"two-resources-with-empty", "\n---\n" + ingress + "---\n---\n" + config + "---\n", []string{ingressID, configID}, ingressJSON + configJSON},
	} {
		all, err := payload.ReadManifests("f", []byte(c.text), nil)
		h := fnv.New64()
		h.Write([]byte(c.json))
		if err != nil || !slices.Equal(identities(all), c.ids) || payload.Hash(all) != base64.URLEncoding.EncodeToString(h.Sum(nil)) {
			t.Errorf("%s: %v, %v", c.row, identities(all), err)
		}
	}
}

// TestParseDuplicateRows is TestParseManifestsDuplicates.
func TestParseDuplicateRows(t *testing.T) {
	for _, c := range []struct {
		row, text string
		code      payload.Code
		want      string
	}{
		{"no-duplicate", resource("extensions/v1 ConfigMap default a-config") + "---\n" + resource("extensions/v1 ConfigMap default b-config"), "", ""},
		{"resource-id-error", resource("extensions/v1 Kind default -"), payload.CodeMissing, "f:1:1: the manifest lacks metadata.name; "},
		{"no kind", "apiVersion: v1\nmetadata: {name: a}\n", payload.CodeMissing, "f:1:1: the manifest lacks kind; "},
		{"neither", "apiVersion: v1\nmetadata: {namespace: a}\n", payload.CodeMissing, "f:1:1: the manifest lacks kind and metadata.name; "},
		{"duplicate", resource("extensions/v1 ConfigMap default a-config") + "---\n" + resource("extensions/v2 ConfigMap default a-config"), payload.CodeDuplicate, `f:8:1: configmap "default/a-config": the file already contains this resource, at line 1`},
		{"an apiVersion with two slashes", resource("a/b/c Kind default x"), payload.CodeVersion, `f:1:1: apiVersion is "a/b/c", with more than one slash`},
	} {
		_, err := payload.ReadManifests("f", []byte(c.text), nil)
		var found payload.Diagnostics
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.row, err)
		case c.want != "" && (!errors.As(err, &found) || len(found) != 1 || found[0].Code != c.code || !strings.HasPrefix(found[0].Error(), c.want)):
			t.Errorf("%s: %v, want %s", c.row, err, c.want)
		}
	}
}

// TestFileRows is TestManifestsFromFiles and TestManifestsFromFilesDuplicates:
// files in order, and all that is in several of them.
func TestFileRows(t *testing.T) {
	const join = "---\n"
	ingress, config := resource("extensions/v1beta1 Ingress test-namespace test-ingress"), resource("v1 ConfigMap default a-config")
	cm := func(name string) string { return resource("v1beta1 ConfigMap test1 " + name) }
	for _, c := range []struct {
		row   string
		files []string
		ids   string
		twice string // the subjects of warnings
	}{
		{"no-files", nil, "", ""},
		{"all-files", []string{ingress, config}, "extensions|Ingress|test-namespace|test-ingress |ConfigMap|default|a-config", ""},
		{"files-with-multiple-manifests", []string{ingress + join + config, resource("v1 ConfigMap default b-config")}, "extensions|Ingress|test-namespace|test-ingress |ConfigMap|default|a-config |ConfigMap|default|b-config", ""},
		{"no-duplicates", []string{ingress, resource("v1 Ingress default test-ingress")}, "extensions|Ingress|test-namespace|test-ingress |Ingress|default|test-ingress", ""},
		{"duplicate", []string{ingress, resource("extensions/v1 Ingress test-namespace test-ingress")}, "extensions|Ingress|test-namespace|test-ingress extensions|Ingress|test-namespace|test-ingress", "f1:1 ingress \"test-namespace/test-ingress\""},
		{
			"many-duplicates", []string{cm("cm1"), resource("extensions/v1 Ingress test-namespace test-ingress") + join + cm("cm1") + join + cm("cm2") + join + cm("cm3") + join + cm("cm4"), resource("extensions/v1 Ingress test-namespace test-ingress") + join + cm("cm4"), cm("cm2") + join + cm("cm4")},
			"|ConfigMap|test1|cm1 extensions|Ingress|test-namespace|test-ingress |ConfigMap|test1|cm1 |ConfigMap|test1|cm2 |ConfigMap|test1|cm3 |ConfigMap|test1|cm4 extensions|Ingress|test-namespace|test-ingress |ConfigMap|test1|cm4 |ConfigMap|test1|cm2 |ConfigMap|test1|cm4",
			`f1:8 configmap "test1/cm1", f2:1 ingress "test-namespace/test-ingress", f2:8 configmap "test1/cm4", f3:1 configmap "test1/cm2", f3:8 configmap "test1/cm4"`,
		},
	} {
		p, err := payload.Load(payloadOf(c.files...), nil)
		if err != nil {
			t.Errorf("%s: %v", c.row, err)
			continue
		}
		var twice []string
		for _, d := range p.Select(nil).Warnings {
			file := strings.TrimSuffix(strings.TrimPrefix(d.Pos.File, "release-manifests/"), ".yaml")
			twice = append(twice, fmt.Sprintf("%s:%d %s", file, d.Pos.Line, d.Subject))
		}
		if got := strings.Join(identities(p.Manifests), " "); got != c.ids || strings.Join(twice, ", ") != c.twice {
			t.Errorf("%s: %s, twice %v", c.row, got, twice)
		}
	}
	// A file with a resource twice is refused, which the reference counts among
	// many-duplicates.
	p, err := payload.Load(payloadOf(cm("cm1")+join+cm("cm1")), nil)
	if err == nil || !strings.Contains(err.Error(), "f0.yaml:8:1: configmap \"test1/cm1\": the file already contains this resource") {
		t.Error(err)
	}
	if len(p.Manifests) > 0 || p.Release.Version != "" || len(p.Warnings) != 1 || p.Warnings[0].Code != payload.LintFileName {
		t.Errorf("beside the error: %+v", p)
	}
}

// payloadOf is a release whose manifests are in files f0.yaml, f1.yaml and so
// on.
func payloadOf(files ...string) fstest.MapFS {
	fsys := fstest.MapFS{"manifests/README": {}}
	for _, file := range []string{"release-manifests/release-metadata", "release-manifests/image-references"} {
		fsys[file] = release()[file]
	}
	for i, text := range files {
		fsys[fmt.Sprintf("release-manifests/f%d.yaml", i)] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// TestSameResourceRows is TestSameResourceID: what makes two resources one.
func TestSameResourceRows(t *testing.T) {
	id := payload.ID{Group: "extensions", Kind: "Ingress", Namespace: "test-namespace", Name: "test-ingress"}
	for _, c := range []struct {
		row   string
		other payload.ID
		same  bool
	}{
		{"same id", payload.ID{Group: "extensions", Kind: "Ingress", Namespace: "test-namespace", Name: "test-ingress"}, true},
		{"default id", payload.ID{}, false},
		{"different Group", payload.ID{Group: "extensionsA", Kind: "Ingress", Namespace: "test-namespace", Name: "test-ingress"}, false},
		{"different Kind", payload.ID{Group: "extensions", Kind: "IngressA", Namespace: "test-namespace", Name: "test-ingress"}, false},
		{"different Name", payload.ID{Group: "extensions", Kind: "Ingress", Namespace: "test-namespace", Name: "test-ingressA"}, false},
		{"different Namespace", payload.ID{Group: "extensions", Kind: "Ingress", Namespace: "test-namespaceA", Name: "test-ingress"}, false},
	} {
		s := (&payload.Payload{Manifests: []*payload.Manifest{{ID: id, Annotations: marks{}}, {ID: c.other, Annotations: marks{}}}}).Select(new(payload.Filter))
		if same := len(s.Warnings) > 0; len(s.Tasks) != 2 || same != c.same {
			t.Errorf("%s: %v", c.row, same)
		}
	}
}
