package bundle_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/bundle"
)

// exercise does everything with a directory that can be done, and checks what
// holds for all of them.
func exercise(t *testing.T, fsys fs.FS) {
	b, err := bundle.Read(context.Background(), fsys, nil)
	if err != nil {
		var d *catalog.Diagnostic
		if b != nil || !asDiagnostic(err, &d) {
			t.Fatalf("Read: %v with %v", err, b)
		}
		return
	}
	opts := &bundle.ValidateOptions{V1: true, KubeVersion: "1.31"}
	faults := b.Validate(opts)
	if looked, all := b.Stopping(); looked != all {
		t.Errorf("%d findings keep it from being rendered, and %d of them are looked for", all, looked)
	}
	for _, d := range append(faults, b.Lint(opts)...) {
		if d.Code == "" || d.Message == "" || d.Hint == "" && d.Code != catalog.CodeSyntax || strings.ContainsAny(d.Pos.File, "\n") || d.Pos.File == "" {
			t.Errorf("a finding that says too little: %+v", d)
		}
		if d.Pos.Line > 0 && d.Pos.Column < 1 {
			t.Errorf("a position without column: %+v", d.Pos)
		}
	}
	d, err := b.Render(&bundle.RenderOptions{Image: "a/{{.Package}}:{{.Version}}"})
	if err != nil {
		if ds, ok := err.(catalog.Diagnostics); !ok || len(ds) == 0 || len(faults) < len(ds) {
			t.Errorf("Render: %v, which Validate does not tell: %v", err, faults)
		}
		return
	}
	if d.Package == "" || d.Schema != "olm.bundle" || len(d.Properties) < 2 {
		t.Errorf("a document that lacks something: %+v", d)
	}
	if again, err := b.Render(&bundle.RenderOptions{Image: "a/{{.Package}}:{{.Version}}"}); err != nil || jsonOf(t, again) != jsonOf(t, d) {
		t.Errorf("rendering a second time gives another document (%v)", err)
	}
	_, _ = b.Render(&bundle.RenderOptions{Image: "a", CSVMetadata: true})
	if b.CSV != nil {
		b.CSV.Features()
		b.CSV.TokenAuth()
	}
}

func asDiagnostic(err error, d **catalog.Diagnostic) bool {
	var ok bool
	*d, ok = err.(*catalog.Diagnostic)
	return ok
}

func jsonOf(t *testing.T, d *bundle.Document) string {
	var out strings.Builder
	if err := d.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// FuzzBundle reads a small bundle of which one file is replaced.
func FuzzBundle(f *testing.F) {
	names := []string{"manifests/csv.yaml", "manifests/crd.yaml", "metadata/annotations.yaml", "metadata/dependencies.yaml", "metadata/properties.yaml"}
	files := pond(f)
	for i, name := range names {
		if files[name] != nil {
			f.Add(uint8(i), string(files[name].Data))
		}
	}
	f.Add(uint8(3), "dependencies:\n- type: olm.constraint\n  value: {any: {constraints: [{cel: {rule: a}}, {gvk: {}}]}}\n")
	f.Add(uint8(4), "properties:\n- type: olm.maxOpenShiftVersion\n  value: 4.10\n- type: olm.gvk\n  value: 1\n")
	f.Add(uint8(0), "kind: ClusterServiceVersion\nspec: {install: {spec: {deployments: [{spec: {template: {spec: {containers: [{image: a}]}}}}]}}}\n")
	f.Add(uint8(1), "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1beta1\nspec: {version: v1, validation: {openAPIV3Schema: {items: [{not: 1}]}}}\n")
	f.Add(uint8(0), "&a [*a]")
	f.Add(uint8(2), "{\"annotations\": {\"a\": 1e999}}")
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		files := pond(t)
		files[names[int(which)%len(names)]] = &fstest.MapFile{Data: []byte(text)}
		exercise(t, files)
	})
}

// TestHostile reads directories made to break a reader.
func TestHostile(t *testing.T) {
	deep := strings.Repeat("[", 20_000)
	laughs := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		p := string(c - 1)
		laughs += string(c) + ": &" + string(c) + " [*" + strings.Join(strings.Split(strings.Repeat(p, 9), ""), ",*") + "]\n"
	}
	hostile := map[string]string{
		"deep flow":       "kind: " + deep,
		"deep JSON":       `{"kind": ` + deep,
		"laughs":          "kind: ConfigMap\n" + laughs,
		"not UTF-8":       "kind: \xff\xfe",
		"UTF-16":          "\xff\xfek\x00",
		"a control":       "kind: \x01",
		"cut short":       `{"kind": "ClusterServiceVersion", "spec": {"version": "1.`,
		"many keys":       "kind: ConfigMap\n" + strings.Repeat("a: 1\n", 2_000),
		"long line":       "kind: ConfigMap\na: " + strings.Repeat("x", 1<<20),
		"many documents":  strings.Repeat("kind: ConfigMap\n---\n", 2_000),
		"markers":         strings.Repeat("---\n", 20_000),
		"escape the root": "kind: ConfigMap\nmetadata: {name: ../../etc/passwd}\n",
		"odd types":       "kind: ClusterServiceVersion\napiVersion: []\nmetadata: []\nspec: 1\n",
		"nulls":           "kind: ClusterServiceVersion\nmetadata: {name: ~, annotations: ~}\nspec: {install: ~, installModes: [~], relatedImages: [~], customresourcedefinitions: {owned: [~]}}\n",
		"deep schema":     "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nspec: {versions: [{name: v1, schema: {openAPIV3Schema: " + strings.Repeat("{properties: {a: ", 400) + "{}" + strings.Repeat("}}", 400) + "}}]}\n",
	}
	for name, text := range hostile {
		for _, file := range []string{"manifests/csv.yaml", "manifests/crd.yaml", "manifests/z.yaml", "metadata/annotations.yaml", "metadata/dependencies.yaml"} {
			t.Run(name+" in "+filepath.Base(file), func(t *testing.T) {
				files := pond(t)
				files[file] = &fstest.MapFile{Data: []byte(text)}
				exercise(t, files)
			})
		}
	}
}

// TestCorpus: the corpus of broken files is findings, too, one file a
// directory.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fsys := pond(t)
		change(t, fsys, string(text))
		b, err := bundle.Read(context.Background(), fsys, nil)
		if err == nil && len(b.Validate(nil)) == 0 {
			t.Errorf("%s: nothing is found wrong", name)
		}
		exercise(t, fsys)
	}
}

func BenchmarkReal(b *testing.B) {
	bundles := realBundles(b)
	size := int64(0)
	for _, real := range bundles {
		for _, f := range real.fsys.(fstest.MapFS) {
			size += int64(len(f.Data))
		}
	}
	read := func(b *testing.B) []*bundle.Bundle {
		all := make([]*bundle.Bundle, len(bundles))
		for i, real := range bundles {
			var err error
			if all[i], err = bundle.Read(context.Background(), real.fsys, nil); err != nil {
				b.Fatal(err)
			}
		}
		return all
	}
	all := read(b)
	b.Run("read", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			read(b)
		}
	})
	b.Run("render", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			for _, each := range all {
				if _, err := each.Render(&bundle.RenderOptions{Image: realImage}); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("validate", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			for _, each := range all {
				each.Validate(nil)
			}
		}
	})
}
