package bundle_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
)

// TestRealCSVMetadata compares olm.csv.metadata properties with those of a
// published catalog, which has a bundle for every real directory.
func TestRealCSVMetadata(t *testing.T) {
	bundles := realBundles(t)
	bundles = bundles[:long.N(12, len(bundles))]
	packages := map[string]bool{}
	for _, real := range bundles {
		packages[path.Dir(real.name)] = true
	}
	archive, err := samples.Unpack(samples.Data(t, "catalog", "slim.tar.gz"), func(name string) bool { return packages[path.Base(path.Dir(name))] })
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range archive {
		for dec := json.NewDecoder(bytes.NewReader(f.Data)); ; {
			var d bundle.Document
			if dec.Decode(&d) != nil {
				break
			}
			for _, p := range d.Properties {
				if p.Type == catalog.PropertyCSVMetadata {
					want[d.Package+"/"+d.Name] = canonical(t, p.Value)
				}
			}
		}
	}
	// Two directories may hold CSVs of one name, of which the catalog has one.
	equal, first := map[string]bool{}, map[string]string{}
	for _, real := range bundles {
		d, err := real.read(t).Render(&bundle.RenderOptions{Image: realImage, CSVMetadata: true})
		if err != nil {
			t.Errorf("%s: %v", real.name, err)
			continue
		}
		name := d.Package + "/" + d.Name
		if got := canonical(t, d.Properties[len(d.Properties)-1].Value); got != want[name] {
			first[name] = firstDifference(got, want[name])
		} else {
			equal[name] = true
		}
	}
	for name, difference := range first {
		if !equal[name] {
			t.Errorf("%s: another olm.csv.metadata:\n%s", name, difference)
		}
	}
}

// TestRealFindings holds the findings about the real bundles, which are
// published and in use, to what is known to be wrong with them.
func TestRealFindings(t *testing.T) {
	known := map[string]string{
		"community-trivy-operator/2.1.1": "bundle-more-documents manifests/trivy-operator.service.yaml:16:1",
		"community-trivy-operator/2.4.0": "bundle-more-documents manifests/trivy-operator.service.yaml:16:1",
		"dynatrace-operator/0.10.2":      "csv-skip-range manifests/dynatrace-operator.clusterserviceversion.yaml:30:20",
	}
	for _, real := range realBundles(t) {
		var got []string
		for _, d := range real.read(t).Validate(&bundle.ValidateOptions{V1: true}) {
			got = append(got, fmt.Sprintf("%s %s", d.Code, d.Pos))
		}
		if strings.Join(got, ", ") != known[real.name] {
			t.Errorf("%s: %s, want %s", real.name, strings.Join(got, ", "), known[real.name])
		}
	}
}

func TestReadFails(t *testing.T) {
	files := pond(t)
	for _, c := range []struct {
		name string
		fsys fs.FS
		opts bundle.Options
		want string
	}{
		{"too many files", files, bundle.Options{MaxFiles: 1}, "manifests: limit exceeded: number of files is more than 1"},
		{"too large", files, bundle.Options{MaxBytes: 600}, "manifests/csv.yaml: limit exceeded: size of the bundle directory in bytes is more than 600"},
		{"a file for a directory", fstest.MapFS{"manifests": {Data: []byte("a")}}, bundle.Options{}, "manifests: the directory cannot be listed"},
	} {
		_, err := bundle.Read(context.Background(), c.fsys, &c.opts)
		var d *catalog.Diagnostic
		if !errors.As(err, &d) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		var limit *catalog.LimitError
		if strings.Contains(c.want, "limit") != errors.As(err, &limit) {
			t.Errorf("%s: %v should tell of a limit by its type", c.name, err)
		}
	}
}

// TestUnreadableFile: a file that cannot be read is a finding, not an error.
func TestUnreadableFile(t *testing.T) {
	fsys := broken{pond(t), "manifests/crd.yaml"}
	b, err := bundle.Read(context.Background(), fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	ds := b.Validate(nil)
	if len(ds) != 2 || ds[0].Code != catalog.CodeRead || ds[0].Pos.File != fsys.bad || !errors.Is(ds[0], fs.ErrPermission) {
		t.Errorf("%v", list(nil, ds))
	}
	if !strings.Contains(ds[1].Hint, fsys.bad) {
		t.Errorf("the missing CRD does not point at the file: %v", ds[1])
	}
}

type broken struct {
	fstest.MapFS
	bad string
}

func (b broken) Open(name string) (fs.File, error) {
	if name == b.bad {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return b.MapFS.Open(name)
}

// TestSize: files are counted compressed and in base64.
func TestSize(t *testing.T) {
	noise := func(n int) string {
		out, x := make([]byte, n), uint64(1)
		for i := range out {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			out[i] = byte('a' + x%26)
		}
		return string(out)
	}
	with := func(text string) *bundle.Bundle {
		files := pond(t)
		files["manifests/cm.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: big\ndata:\n  text: " + text + "\n")}
		b, err := bundle.Read(context.Background(), files, nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	isSize := func(d *catalog.Diagnostic) bool { return d.Code == bundle.CodeTooLarge }
	for _, c := range []struct {
		text        string
		fault, lint bool
	}{
		{strings.Repeat("a", 3<<20), false, false},
		{noise(1_180_000), false, true},
		{noise(1_500_000), true, false},
	} {
		b := with(c.text)
		if got := slices.ContainsFunc(b.Validate(nil), isSize); got != c.fault {
			t.Errorf("%d bytes: fault %t, want %t", len(c.text), got, c.fault)
		}
		if got := slices.ContainsFunc(b.Lint(nil), isSize); got != c.lint {
			t.Errorf("%d bytes: lint %t, want %t", len(c.text), got, c.lint)
		}
	}
}

// TestCompileRule: rules of constraints go to the function that is given.
func TestCompileRule(t *testing.T) {
	files := pond(t)
	files["metadata/dependencies.yaml"] = &fstest.MapFile{Data: []byte(`dependencies:
- type: olm.constraint
  value: {all: {constraints: [{cel: {rule: "good"}}, {cel: {rule: "bad"}}]}}
`)}
	b, err := bundle.Read(context.Background(), files, nil)
	if err != nil {
		t.Fatal(err)
	}
	bad := errors.New("no such function")
	var seen []string
	ds := b.Validate(&bundle.ValidateOptions{CompileRule: func(rule string) error {
		seen = append(seen, rule)
		if rule == "bad" {
			return bad
		}
		return nil
	}})
	if len(ds) != 1 || !errors.Is(ds[0], bad) || ds[0].Pos.String() != "metadata/dependencies.yaml:3:67" || strings.Join(seen, " ") != "good bad" {
		t.Errorf("%v after %v", ds, seen)
	}
}

// TestDeterminism: the same directory gives the same bytes, findings and all.
func TestDeterminism(t *testing.T) {
	text, err := fs.ReadFile(fstest.MapFS(pond(t)), "manifests/csv.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files := pond(t)
	files["manifests/csv.yaml"] = &fstest.MapFile{Data: bytes.ReplaceAll(text, []byte("annotations:"),
		[]byte("annotations:\n    olm.Skiprange: a\n    olm.operatorgroup: b\n    olm.properties: '[{\"type\":\"a\",\"value\":1},{\"type\":\"b\",\"value\":1}]'"))}
	first := ""
	for range 20 {
		b, err := bundle.Read(context.Background(), files, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, err := b.Render(nil)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := d.WriteJSON(&out); err != nil {
			t.Fatal(err)
		}
		got := out.String() + list(nil, b.Validate(nil)) + list(nil, b.Lint(nil))
		if first == "" {
			first = got
		}
		if got != first {
			t.Fatalf("another result:\n%s", firstDifference(got, first))
		}
	}
}

// TestCanonicalNumbers compares the numbers of manifests with a plain model of
// what Kubernetes' generic object makes of them.
func TestCanonicalNumbers(t *testing.T) {
	for _, text := range []string{
		"0", "-0", "1", "-17", "1.0", "1.10", "-0.0", "1e2", "1E-7", "1e21", "123456789.125", "9007199254740993", "-9223372036854775808",
		"9223372036854775807", "9223372036854775808", "18446744073709551616", "1e300", "0.1e1", "5e-324",
	} {
		files := pond(t)
		files["manifests/cm.json"] = &fstest.MapFile{Data: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"},"x":` + text + `}`)}
		b, err := bundle.Read(context.Background(), files, nil)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if i, err := json.Number(text).Int64(); err == nil {
			v = i
		} else if f, err := json.Number(text).Float64(); err == nil && !math.IsInf(f, 0) {
			v = f
		}
		want, _ := json.Marshal(v)
		got := string(b.Manifests[0].JSON)
		if !strings.HasSuffix(got, `"x":`+string(want)+"}") {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}
