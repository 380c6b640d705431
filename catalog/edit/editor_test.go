package edit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/internal/archive"
	"github.com/fairlead/fairlead/internal/long"
)

// packages calls visit with directories of real packages, in YAML and JSON.
func packages(t *testing.T, visit func(name string, fsys fs.FS)) {
	t.Helper()
	data := os.Getenv("FAIRLEAD_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "..", "shared", "data")
	}
	for _, name := range []string{"published", "full-sample"} {
		f, err := os.Open(filepath.Join(data, "catalog", name+".tar.gz"))
		if err != nil {
			t.Skipf("no real catalogs here: %v", err)
		}
		files, err := archive.Read(context.Background(), f, nil)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		pattern := "*"
		if name == "published" {
			pattern = "*/*"
		}
		dirs, err := fs.Glob(files, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			sub, err := fs.Sub(files, dir)
			if err != nil {
				t.Fatal(err)
			}
			visit(name+"/"+dir, sub)
		}
	}
}

// randomEdit makes an edit of a package.
func randomEdit(r *rand.Rand, e *edit.Editor) (what string, p *edit.Patch, err error) {
	var pkg *catalog.Package
	for pkg = range e.Catalog().Packages() {
		break
	}
	var channels []*catalog.Channel
	for ch := range pkg.Channels() {
		channels = append(channels, ch)
	}
	var bundles []*catalog.Bundle
	for b := range pkg.Bundles() {
		bundles = append(bundles, b)
	}
	ch, b := channels[r.IntN(len(channels))], bundles[r.IntN(len(bundles))]
	entries := ch.Entries()
	x := entries[r.IntN(len(entries))]
	ctx := context.Background()
	switch r.IntN(6) {
	case 0:
		x.Skips = append(append([]string{}, x.Skips...), "gone.v0.0.1")
		p, err = e.SetEntry(ctx, pkg.Name(), ch.Name(), x)
		return "skip in " + ch.Name() + " " + x.Name, p, err
	case 1:
		x.SkipRange = "<0.0.1 || >=0.0.0-a <0.0.0-b"
		p, err = e.SetEntry(ctx, pkg.Name(), ch.Name(), x)
		return "range in " + ch.Name() + " " + x.Name, p, err
	case 2:
		p, err = e.Deprecate(ctx, pkg.Name(), catalog.Reference{Schema: catalog.SchemaBundle, Name: b.Name()}, "old: use # another\nplease")
		return "deprecate " + b.Name(), p, err
	case 3:
		p, err = e.RemoveBundle(ctx, pkg.Name(), b.Name())
		return "remove " + b.Name(), p, err
	case 4:
		list, bad := pkg.Deprecations()
		if bad != nil || len(list) == 0 {
			p, err = e.Deprecate(ctx, pkg.Name(), catalog.Reference{Schema: catalog.SchemaPackage}, "gone")
			return "deprecate all", p, err
		}
		p, err = e.Undeprecate(ctx, pkg.Name(), list[r.IntN(len(list))].Reference)
		return "undeprecate", p, err
	}
	name := pkg.Name() + ".v99.0.0"
	text, _ := json.Marshal(map[string]any{
		"schema": "olm.bundle", "package": pkg.Name(), "name": name, "image": "r.io/x@sha256:" + strings.Repeat("0", 64),
		"properties": []any{map[string]any{"type": "olm.package", "value": map[string]any{"packageName": pkg.Name(), "version": "99.0.0"}}},
	})
	p, err = e.AddBundle(ctx, text, edit.Placement{Channel: ch.Name(), Entry: catalog.Entry{Replaces: ch.Heads()[0]}})
	return "add to " + ch.Name(), p, err
}

// TestRandomEdits: edits of real packages are valid and lossless, which the
// editor checks itself, and their inverse undoes them to the byte.
func TestRandomEdits(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	made, refused := 0, map[string]int{}
	turn, every := 0, 12
	if long.Enabled() {
		every = 1
	}
	packages(t, func(where string, fsys fs.FS) {
		if turn++; turn%every != 0 {
			return
		}
		e, err := edit.Open(context.Background(), fsys)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		for range long.N(6, 40) {
			what, p, err := randomEdit(r, e)
			if err != nil {
				why := err.Error()
				if i := strings.Index(why, "invalid"); i >= 0 {
					why = "it would be invalid"
				}
				refused[why]++
				if !strings.Contains(err.Error(), "invalid") {
					t.Errorf("%s: %s: %v", where, what, err)
				}
				continue
			}
			made++
			after, err := p.Patched(fsys)
			if err != nil {
				t.Fatalf("%s: %s: %v", where, what, err)
			}
			back, err := p.Inverse().Apply(after)
			if err != nil {
				t.Fatalf("%s: %s: inverse: %v", where, what, err)
			}
			for path, text := range back {
				if was, err := fs.ReadFile(fsys, path); err != nil || !bytes.Equal(was, text) {
					t.Fatalf("%s: %s: %s is not undone (%v)", where, what, path, err)
				}
			}
		}
	})
	t.Logf("%d edits made, refused: %v", made, refused)
	if made == 0 {
		t.Error("no edit was made")
	}
}

func ExampleEditor_AddBundle() {
	files := fstest.MapFS{"kiln.yaml": {Data: []byte(`# Fires clay.
schema: olm.package
name: kiln
defaultChannel: stable
---
schema: olm.channel
package: kiln
name: stable
entries:
- name: kiln.v1.0.0 # the first
---
schema: olm.bundle
package: kiln
name: kiln.v1.0.0
image: registry.example/kiln:1.0.0
properties:
- {type: olm.package, value: {packageName: kiln, version: 1.0.0}}
`)}}
	e, err := edit.Open(context.Background(), files)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := e.AddBundle(context.Background(), []byte(`{"schema": "olm.bundle", "package": "kiln", "name": "kiln.v1.1.0",
		"image": "registry.example/kiln:1.1.0", "properties": [{"type": "olm.package", "value": {"packageName": "kiln", "version": "1.1.0"}}]}`),
		edit.Placement{Channel: "stable", Entry: catalog.Entry{Replaces: "kiln.v1.0.0"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range p.Changes {
		fmt.Printf("%s at %d:\n%s", c.Path, c.Offset, c.New)
	}
	// Output:
	// kiln.yaml at 160:
	// - name: kiln.v1.1.0
	//   replaces: kiln.v1.0.0
	// kiln.yaml at 328:
	// ---
	// schema: olm.bundle
	// package: kiln
	// name: kiln.v1.1.0
	// image: registry.example/kiln:1.1.0
	// properties:
	// - type: olm.package
	//   value:
	//     packageName: kiln
	//     version: 1.1.0
}
