package payload_test

import (
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/cvo/payload"
)

// grammar is the grammar of file names as a regular expression.
var grammar = regexp.MustCompile(`^0000_([0-9]+)_([a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*)_`)

// FuzzFileName compares the reader of file names with the grammar.
func FuzzFileName(f *testing.F) {
	for _, name := range []string{"0000_03_config-operator_01_proxy.crd.yaml", "0000_1_a-b-c_", "0000__a_", "0000_1_a--b_", "0000_1_a-_x", "x", ""} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		n, err := payload.ParseFileName(name)
		m := grammar.FindStringSubmatch(name)
		var wrong *payload.NameError
		switch {
		case m == nil && !errors.As(err, &wrong):
			t.Errorf("%q: %v, %v; it is outside of the grammar", name, n, err)
		case m != nil && (err != nil || n != payload.FileName{Runlevel: m[1], Component: m[2]}):
			t.Errorf("%q: %v, %v; want %q", name, n, err, m[1:])
		case err != nil && !n.IsZero():
			t.Errorf("%q: %v beside %v", name, n, err)
		}
	})
}

// FuzzManifests reads any text as a file of a payload, and does with what comes
// out all that one does with manifests.
func FuzzManifests(f *testing.F) {
	for _, text := range []string{
		"kind: A\nmetadata:\n  name: a\n  annotations: {x: y}\n---\nkind: B\nmetadata: {name: b}\n",
		`{"kind": "A", "metadata": {"name": "a", "name": "b"}}` + "\n{}",
		"kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nmetadata: {name: c}\nspec: {group: g, names: {kind: K}, versions: [{name: v1, served: true}]}\n",
		"kind: Job\napiVersion: batch/v1\nmetadata:\n  name: j\n  annotations:\n    release.openshift.io/major-version: 4,-5\n    capability.openshift.io/name: a+b\n",
		"a: &x [1, 2.5e3, 0x1f, ~]\nb: *x\n", "null\n---\n# nothing\n", "{{ .ReleaseImage }}{{index .Images \"a\"}}{{/* */}}{{\"x\"}}", "kind: {{",
	} {
		f.Add(text, "0000_10_a_x.yaml")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		name = strings.Map(func(r rune) rune {
			if r < ' ' || r == '/' || r == '\\' || r > '~' {
				return '_'
			}
			return r
		}, name)
		all, err := payload.ReadManifests("release-manifests/"+name, []byte(text), nil)
		var found payload.Diagnostics
		if err != nil && (!errors.As(err, &found) || len(found) == 0) {
			t.Fatalf("%v is not a list of findings", err)
		}
		for _, d := range found {
			if d.Message == "" || d.Code == "" || d.Pos.File == "" {
				t.Errorf("a finding says too little: %+v", d)
			}
		}
		for _, m := range all {
			if m.ID.Kind == "" || m.ID.Name == "" || !json.Valid(m.JSON) {
				t.Errorf("%+v", m)
			}
			payload.NewFilter().Evaluate(m)
		}
		payload.Hash(all)
		use(t, all)
		fsys := fstest.MapFS{payload.DirOwn + "/" + name + ".yaml": {Data: []byte(text)}}
		for file, content := range release() {
			if path.Ext(file) == "" {
				fsys[file] = content
			}
		}
		if p, err := payload.Load(fsys, nil); err == nil {
			use(t, p.Manifests)
		}
	})
}

// use does with manifests what one does with them.
func use(t *testing.T, all []*payload.Manifest) {
	t.Helper()
	p := &payload.Payload{Manifests: all}
	s := &payload.Selection{Payload: p, Tasks: all}
	plan := payload.NewPlan(all, nil)
	s.Lint(plan.Graph)
	if d := payload.Diff(s, s); len(d.Changes) != 0 || len(d.Capabilities) != 0 {
		t.Errorf("a release differs from itself: %+v", d)
	}
	var out strings.Builder
	for _, draw := range []error{plan.WriteDOT(&out), plan.WriteMermaid(&out), plan.WriteSVG(&out)} {
		if draw != nil {
			t.Error(draw)
		}
	}
}
