package edit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
)

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
	switch r.IntN(11) {
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
	case 5:
		p, err = e.ForkChannel(ctx, pkg.Name(), ch.Name(), ch.Name()+"-fork")
		return "fork " + ch.Name(), p, err
	case 6:
		p, err = e.RenameChannel(ctx, pkg.Name(), ch.Name(), []string{"4.10", "yes", "new: name", "Ä#"}[r.IntN(4)])
		return "rename " + ch.Name(), p, err
	case 7:
		p, err = e.MoveHead(ctx, pkg.Name(), ch.Name(), b.Name())
		return "move the head of " + ch.Name() + " to " + b.Name(), p, err
	case 8:
		p, err = e.AddChannel(ctx, pkg.Name(), "new", catalog.Entry{Name: b.Name(), SkipRange: "<" + b.Version()})
		return "add a channel", p, err
	case 9: // several fields at once
		x.Replaces, x.SkipRange = "gone.v0.0.1", ""
		if len(x.Skips) > 0 {
			x.Skips = append([]string{"gone.v0.0.2"}, x.Skips[1:]...)
		}
		p, err = e.SetEntry(ctx, pkg.Name(), ch.Name(), x)
		return "all of " + ch.Name() + " " + x.Name, p, err
	}
	name := pkg.Name() + ".v99.0.0"
	text, _ := json.Marshal(map[string]any{
		"schema": "olm.bundle", "package": pkg.Name(), "name": name, "image": "r.io/x@sha256:" + strings.Repeat("0", 64),
		"properties": []any{map[string]any{"type": "olm.package", "value": map[string]any{"packageName": pkg.Name(), "version": "99.0.0"}}},
	})
	p, err = e.AddBundle(ctx, text, edit.Placement{Channel: ch.Name(), Entry: catalog.Entry{Replaces: ch.Heads()[0]}})
	return "add to " + ch.Name(), p, err
}

// expected are the reasons for which an edit may be refused.
var expected = []string{"would make the catalog invalid", "changes nothing", "heads, and only a single one can be moved"}

// TestRandomEdits: edits of real packages are valid, leave every other document
// and every comment as it was, and their inverse undoes them to the byte.
func TestRandomEdits(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	made, turn, every := 0, 0, 30
	refused := map[string]int{}
	archives := []string{"published", "full-sample"}
	if long.Enabled() {
		archives, every = append(archives, "slim"), 1
	}
	for where, fsys := range samples.Packages(t, archives...) {
		if turn++; turn%every != 0 {
			continue
		}
		e, err := edit.Open(context.Background(), fsys)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		was := asOpened(t, fsys)
		for range edits(t, fsys) {
			what, p, err := randomEdit(r, e)
			if err != nil {
				i := slices.IndexFunc(expected, func(why string) bool { return strings.Contains(err.Error(), why) })
				if i < 0 {
					t.Errorf("%s: %s: %v", where, what, err)
					continue
				}
				refused[expected[i]]++
				continue
			}
			made++
			was.check(t, where+": "+what, p)
		}
	}
	t.Logf("%d edits made, refused: %v", made, refused)
	if made < long.N(20, 10_000) {
		t.Error("too few edits were made")
	}
}

// edits returns how many edits are made of a package: an edit of a large one
// takes long.
func edits(t *testing.T, fsys fs.FS) int {
	t.Helper()
	if !long.Enabled() {
		return 6
	}
	size := int64(1)
	err := fs.WalkDir(fsys, ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return int(min(80, max(2, 4_000_000/size)))
}

// opened is a catalog before it is edited.
type opened struct {
	fsys     fs.FS
	findings int
	texts    []string // of the documents
}

func asOpened(t *testing.T, fsys fs.FS) *opened {
	t.Helper()
	c, report, err := check.Open(t.Context(), fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &opened{fsys, len(report.Findings()), texts(t, c)}
}

// texts returns the documents of a catalog as they are written.
func texts(t *testing.T, c *catalog.Catalog) (list []string) {
	t.Helper()
	for d := range c.Documents() {
		raw, err := d.Raw()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(bytes.TrimSpace(raw)))
	}
	return list
}

// check holds a patch against the files, without the help of the editor.
func (o *opened) check(t *testing.T, what string, p *edit.Patch) {
	t.Helper()
	after, err := p.Patched(o.fsys)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	back, err := p.Inverse().Apply(after)
	if err != nil {
		t.Fatalf("%s: inverse: %v", what, err)
	}
	removes := strings.Contains(what, ": remove") || strings.Contains(what, ": undeprecate") || strings.Contains(what, ": move")
	for path, text := range back {
		was, err := fs.ReadFile(o.fsys, path)
		if err != nil || !bytes.Equal(was, text) {
			t.Fatalf("%s: %s is not undone (%v)", what, path, err)
		}
		now, err := fs.ReadFile(after, path)
		if err != nil {
			t.Fatal(err)
		}
		if comments(now) < comments(was) && !removes {
			t.Fatalf("%s: comments of %s are lost", what, path)
		}
	}
	c, report, err := check.Open(t.Context(), after, nil)
	if err != nil || len(report.Findings()) > o.findings {
		t.Fatalf("%s: %v, %v", what, err, report.Findings())
	}
	now := map[string]int{}
	for _, text := range texts(t, c) {
		now[text]++
	}
	changed := 0
	for _, text := range o.texts {
		if now[text]--; now[text] < 0 {
			changed++
		}
	}
	most := 1
	switch {
	case strings.Contains(what, ": rename"):
		most = 3
	case strings.Contains(what, ": remove"):
		most = len(o.texts) // the channels, the bundle, the deprecations
	}
	if changed > most {
		t.Fatalf("%s: %d documents changed", what, changed)
	}
}

func comments(text []byte) (n int) {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) {
			n++
		}
	}
	return n
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
