package bundle_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/internal/samples"
)

// realImage is the template of the image references that the expected
// documents were rendered with.
const realImage = "quay.io/community-operator-pipeline-prod/{{.Package}}:{{.Version}}"

// realFiles returns the content of the archive of real bundle directories.
var realFiles = sync.OnceValues(func() (fstest.MapFS, error) {
	return samples.Unpack(filepath.Join(samples.Root(), "bundles", "bundles.tar.gz"), nil)
})

// realBundle is one directory of the real data.
type realBundle struct {
	name     string // operator/version
	fsys     fs.FS
	expected []byte
}

// realRead reads all real bundles once, for all tests.
var realRead = sync.OnceValues(func() (map[string]*bundle.Bundle, error) {
	all := map[string]*bundle.Bundle{}
	files, err := realFiles()
	for _, real := range partReal(files) {
		if all[real.name], err = bundle.Read(context.Background(), real.fsys, nil); err != nil {
			return nil, err
		}
	}
	return all, err
})

// read returns the bundle of a real directory.
func (r realBundle) read(t testing.TB) *bundle.Bundle {
	t.Helper()
	all, err := realRead()
	if err != nil {
		t.Fatal(err)
	}
	return all[r.name]
}

// realBundles returns all directories of the real data in the order of their
// names, or skips the test.
func realBundles(t testing.TB) []realBundle {
	t.Helper()
	files, err := realFiles()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no real bundles: %v (FAIRLEAD_DATA names the directory of the real data)", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return partReal(files)
}

// partReal parts the real data into its bundle directories.
func partReal(files fstest.MapFS) []realBundle {
	var all []realBundle
	for name, f := range files {
		base, ok := strings.CutSuffix(path.Base(name), ".json")
		if !ok || path.Dir(name) != "expected" {
			continue
		}
		i := strings.LastIndexByte(base, '_')
		dir := path.Join("bundles", base[:i], base[i+1:])
		sub := fstest.MapFS{}
		for name, f := range files {
			if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
				sub[rest] = f
			}
		}
		all = append(all, realBundle{base[:i] + "/" + base[i+1:], sub, f.Data})
	}
	slices.SortFunc(all, func(a, b realBundle) int { return cmp.Compare(a.name, b.name) })
	return all
}

// canonical returns a document in a form that can be compared as text. The
// order of related images with one image is open in the reference's output.
func canonical(t testing.TB, text []byte) string {
	t.Helper()
	var d map[string]any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&d); err != nil {
		t.Fatal(err)
	}
	if images, ok := d["relatedImages"].([]any); ok {
		text := func(v any, key string) string { s, _ := v.(map[string]any)[key].(string); return s }
		slices.SortStableFunc(images, func(a, b any) int {
			return cmp.Or(cmp.Compare(text(a, "image"), text(b, "image")), cmp.Compare(text(a, "name"), text(b, "name")))
		})
	}
	out, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestRealBundles renders every real bundle directory and compares with what
// the reference makes of it.
func TestRealBundles(t *testing.T) {
	for _, real := range realBundles(t) {
		d, err := real.read(t).Render(&bundle.RenderOptions{Image: realImage})
		if err != nil {
			t.Errorf("%s: %v", real.name, err)
			continue
		}
		var out bytes.Buffer
		if err := d.WriteJSON(&out); err != nil {
			t.Fatal(err)
		}
		if got, want := canonical(t, out.Bytes()), canonical(t, real.expected); got != want {
			t.Errorf("%s: another document than expected:\n%s", real.name, firstDifference(got, want))
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return " got " + g[i] + "\nwant " + w[i]
		}
	}
	return "one is longer than the other"
}

// object returns the manifest in an olm.bundle.object property.
func object(value json.RawMessage) string {
	var v struct {
		Data []byte `json:"data"`
	}
	if err := json.Unmarshal(value, &v); err != nil {
		return err.Error()
	}
	return string(v.Data)
}
