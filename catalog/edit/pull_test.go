package edit_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/diff"
	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
)

// TestPull: what two teams changed of one base is merged to the same catalog
// whoever pulls, or the merge says where they are in each other's way.
func TestPull(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	merged, conflicts, invalid, turn, every := 0, 0, 0, 0, 50
	if long.Enabled() {
		every = 2
	}
	ctx := t.Context()
	open := func(fsys fs.FS) *catalog.Catalog { return samples.Open(t, fsys) }
	for where, fsys := range samples.Packages(t, "published") {
		if turn++; turn%every != 0 {
			continue
		}
		e, err := edit.Open(ctx, fsys)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			seed := r.Uint64()
			_, ours, err1 := randomEdit(r, e)
			what, theirs, err2 := randomEdit(rand.New(rand.NewPCG(seed, 1)), e)
			if err1 != nil || err2 != nil {
				continue
			}
			oursFS, err := ours.Patched(fsys)
			if err != nil {
				t.Fatal(err)
			}
			theirsFS, err := theirs.Patched(fsys)
			if err != nil {
				t.Fatal(err)
			}
			mine, err := edit.Open(ctx, oursFS)
			if err != nil {
				t.Fatal(err)
			}
			p, _, err := mine.Pull(ctx, open(fsys), open(theirsFS), nil)
			var disagree *edit.ConflictError
			if errors.As(err, &disagree) {
				conflicts++
				continue
			} else if err != nil {
				invalid++
				continue
			}
			gotFS, err := p.Patched(oursFS)
			if err != nil {
				t.Fatal(err)
			}
			// Both ways give the same.
			other, err := edit.Open(ctx, theirsFS)
			if err != nil {
				t.Fatal(err)
			}
			q, _, err := other.Pull(ctx, open(fsys), open(oursFS), nil)
			if err != nil {
				t.Fatalf("%s: %s: one way it merges, the other not: %v", where, what, err)
			}
			backFS, err := q.Patched(theirsFS)
			if err != nil {
				t.Fatal(err)
			}
			if d, err := diff.Compare(ctx, open(gotFS), open(backFS), nil); err != nil || !d.Empty() {
				t.Fatalf("%s: %s: it matters who pulls: %v", where, what, d)
			}
			merged++
		}
	}
	t.Logf("%d merged, %d in conflict, %d would be invalid", merged, conflicts, invalid)
	if merged == 0 {
		t.Error("nothing was merged")
	}
}

// TestPullConflicts: each kind of change is taken, or told.
func TestPullConflicts(t *testing.T) {
	swap := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(oven) }
	for _, c := range []struct{ name, ours, theirs, want string }{
		{"apart", swap("old # very", "older # very"), swap("skips: [oven.v1.1.5]", "skips: [oven.v1.1.5, oven.v1.1.6]"), ""},
		{"same", swap("<1.2.0}", "<1.2.1}"), swap("<1.2.0}", "<1.2.1}"), ""},
		{"skips of both", swap("[oven.v1.1.5]", "[oven.v1.1.5, a]"), swap("[oven.v1.1.5]", "[b]"), ""},
		{"one field twice", swap("<1.2.0}", "<1.2.1}"), swap("<1.2.0}", "<1.2.2}"), `channel "stable" differs`},
		{"message", swap("message: old", "message: a"), swap("message: old", "message: b"), "deprecations differs"},
		{"image", swap("oven:1.1.0", "oven:a"), swap("oven:1.1.0", "oven:b"), `bundle "oven.v1.1.0" differs`},
	} {
		e, err := edit.Open(t.Context(), fstest.MapFS{"oven.yaml": {Data: []byte(c.ours)}})
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := e.Pull(t.Context(), open(oven), open(c.theirs), nil)
		if c.want == "" && (err != nil || p == nil) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.want == "" {
			continue
		}
		_, conflicts, err := e.Pull(t.Context(), open(oven), open(c.theirs), &edit.MergeOptions{Prefer: edit.PreferFirst})
		if err != nil || len(conflicts) != 1 {
			t.Errorf("%s: %v, %v", c.name, conflicts, err)
		}
		p, _, err = e.Pull(t.Context(), open(oven), open(c.theirs), &edit.MergeOptions{Prefer: edit.PreferLast})
		if err != nil || len(p.Changes) == 0 {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func ExampleEditor_Pull() {
	base := strings.TrimPrefix(kiln, "\n")
	ours := strings.Replace(base, "schema: olm.package\n", "schema: olm.package # fires clay\n", 1)
	theirs := strings.Replace(base, "kiln:1.1.0", "kiln@sha256:"+strings.Repeat("1", 64), 1)
	files := fstest.MapFS{"kiln.yaml": {Data: []byte(ours)}}
	e, err := edit.Open(context.Background(), files)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, _, err := e.Pull(context.Background(), open(base), open(theirs), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := p.WriteUnified(os.Stdout, files); err != nil {
		fmt.Println(err)
	}
	// Output:
	// --- a/kiln.yaml
	// +++ b/kiln.yaml
	// @@ -20,6 +20,6 @@
	//  schema: olm.bundle
	//  package: kiln
	//  name: kiln.v1.1.0
	// -image: registry.example/kiln:1.1.0
	// +image: registry.example/kiln@sha256:1111111111111111111111111111111111111111111111111111111111111111
	//  properties:
	//  - {type: olm.package, value: {packageName: kiln, version: 1.1.0}}
}
