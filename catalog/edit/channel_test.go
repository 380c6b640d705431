package edit_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
	"github.com/fairlead/fairlead/catalog/edit"
)

const oven = `# Bakes bread.
schema: olm.package
name: oven
defaultChannel: stable # for everybody
---
schema: olm.channel
package: oven
name: stable # the name
entries:
# the first
- name: oven.v1.0.0
# the second
- name: oven.v1.1.0 # released in May
  # the way up
  replaces: oven.v1.0.0
  skips:
  # broken
  - oven.v1.0.5
  - oven.v1.0.6 # broken, too
  # wide
  skipRange: "<1.1.0"
# the third
- {name: oven.v1.2.0, replaces: oven.v1.1.0, skips: [oven.v1.1.5], # here, too
   skipRange: <1.2.0}
# done
---
schema: olm.bundle
package: oven
name: oven.v1.0.0
image: registry.example/oven:1.0.0
properties:
- {type: olm.package, value: {packageName: oven, version: 1.0.0}}
---
schema: olm.bundle
package: oven
name: oven.v1.1.0
image: registry.example/oven:1.1.0
properties:
- {type: olm.package, value: {packageName: oven, version: 1.1.0}}
---
schema: olm.bundle
package: oven
name: oven.v1.2.0
image: registry.example/oven:1.2.0
properties:
- {type: olm.package, value: {packageName: oven, version: 1.2.0}}
---
schema: olm.deprecations
package: oven
entries:
# old
- reference: {schema: olm.channel, name: stable}
  message: old # very
`

// patched makes an edit of the oven and returns what the file becomes, and the
// catalog.
func patched(t *testing.T, text string, do func(*edit.Editor) (*edit.Patch, error)) (string, *catalog.Catalog) {
	t.Helper()
	files := fstest.MapFS{"oven.yaml": {Data: []byte(text)}}
	e, err := edit.Open(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	p, err := do(e)
	if err != nil {
		t.Fatal(err)
	}
	after, err := p.Patched(files)
	if err != nil {
		t.Fatal(err)
	}
	now, err := fs.ReadFile(after, "oven.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, report, err := check.Open(t.Context(), after, nil)
	if err != nil || !report.Valid() {
		t.Fatal(err, report.Err())
	}
	return string(now), c
}

// TestCommentsStay: an edit changes the lines that it has to, and comments
// inside of what it changes stay.
func TestCommentsStay(t *testing.T) {
	ctx := t.Context()
	entry := func(name, replaces, span string, skips ...string) catalog.Entry {
		return catalog.Entry{Name: name, Replaces: replaces, SkipRange: span, Skips: skips}
	}
	for _, c := range []struct {
		name     string
		do       func(*edit.Editor) (*edit.Patch, error)
		old, now string // what changes of the text
	}{
		{"scalar", func(e *edit.Editor) (*edit.Patch, error) {
			return e.SetEntry(ctx, "oven", "stable", entry("oven.v1.1.0", "oven.v1.0.0", "<1.1.0-rc1", "oven.v1.0.5", "oven.v1.0.6"))
		}, `skipRange: "<1.1.0"`, `skipRange: "<1.1.0-rc1"`},
		{"member added", func(e *edit.Editor) (*edit.Patch, error) {
			return e.SetEntry(ctx, "oven", "stable", entry("oven.v1.0.0", "oven.v0.9.0", ""))
		}, "- name: oven.v1.0.0\n", "- name: oven.v1.0.0\n  replaces: oven.v0.9.0\n"},
		{"member removed", func(e *edit.Editor) (*edit.Patch, error) {
			return e.SetEntry(ctx, "oven", "stable", entry("oven.v1.1.0", "oven.v1.0.0", "", "oven.v1.0.5", "oven.v1.0.6"))
		}, "  skipRange: \"<1.1.0\"\n", ""},
		{"skip added", func(e *edit.Editor) (*edit.Patch, error) {
			return e.SetEntry(ctx, "oven", "stable", entry("oven.v1.1.0", "oven.v1.0.0", "<1.1.0", "oven.v1.0.5", "oven.v1.0.6", "oven.v1.0.7"))
		}, "  - oven.v1.0.6 # broken, too\n", "  - oven.v1.0.6 # broken, too\n  - oven.v1.0.7\n"},
		{"skip removed", func(e *edit.Editor) (*edit.Patch, error) {
			return e.SetEntry(ctx, "oven", "stable", entry("oven.v1.1.0", "oven.v1.0.0", "<1.1.0", "oven.v1.0.5"))
		}, "  - oven.v1.0.6 # broken, too\n", ""},
		{"in braces", func(e *edit.Editor) (*edit.Patch, error) {
			return e.SetEntry(ctx, "oven", "stable", entry("oven.v1.2.0", "oven.v1.1.0", "<1.2.0", "oven.v1.1.5", "oven.v1.1.6"))
		}, "[oven.v1.1.5]", "[oven.v1.1.5, oven.v1.1.6]"},
		{"entry added", func(e *edit.Editor) (*edit.Patch, error) {
			return e.RenameChannel(ctx, "oven", "stable", "v1")
		}, "", ""},
		{"message", func(e *edit.Editor) (*edit.Patch, error) {
			return e.Deprecate(ctx, "oven", catalog.Reference{Schema: catalog.SchemaChannel, Name: "stable"}, "use: v2")
		}, "message: old #", "message: \"use: v2\" #"},
		{"bundle removed", func(e *edit.Editor) (*edit.Patch, error) {
			return e.RemoveBundle(ctx, "oven", "oven.v1.0.0")
		}, "", ""},
	} {
		now, _ := patched(t, oven, c.do)
		switch {
		case c.name == "entry added":
			want := strings.NewReplacer("defaultChannel: stable", "defaultChannel: v1", "name: stable", "name: v1").Replace(oven)
			if now != want {
				t.Errorf("rename: got\n%s", now)
			}
		case c.old == "":
			for line := range strings.Lines(oven) {
				if strings.HasPrefix(strings.TrimSpace(line), "#") && !strings.Contains(now, line) {
					t.Errorf("%s: the comment %q is lost", c.name, line)
				}
			}
		case now != strings.Replace(oven, c.old, c.now, 1):
			t.Errorf("%s: got\n%s", c.name, now)
		}
	}
}

// TestMoveHead: the head goes down, and up again.
func TestMoveHead(t *testing.T) {
	ctx := t.Context()
	_, err := func() (*edit.Patch, error) {
		e, err := edit.Open(ctx, fstest.MapFS{"oven.yaml": {Data: []byte(oven)}})
		if err != nil {
			t.Fatal(err)
		}
		return e.MoveHead(ctx, "oven", "stable", "oven.v1.1.0")
	}()
	if err == nil || !strings.Contains(err.Error(), "no channel of the package has it") {
		t.Errorf("the bundle is left without a channel: %v", err)
	}
	forked, c := patched(t, oven, func(e *edit.Editor) (*edit.Patch, error) { return e.ForkChannel(ctx, "oven", "stable", "slow") })
	if p, _ := c.Package("oven"); p == nil || !strings.Contains(forked, "name: slow # the name\n") || strings.Count(forked, "# the third") != 2 {
		t.Fatalf("forked:\n%s", forked)
	}
	back, c := patched(t, forked, func(e *edit.Editor) (*edit.Patch, error) { return e.MoveHead(ctx, "oven", "slow", "oven.v1.1.0") })
	head := func(c *catalog.Catalog) string {
		p, _ := c.Package("oven")
		ch, _ := p.Channel("slow")
		return fmt.Sprint(ch.Heads(), len(ch.Entries()))
	}
	if got := head(c); got != "[oven.v1.1.0] 2" {
		t.Errorf("the head is %s\n%s", got, back)
	}
	again, c := patched(t, back, func(e *edit.Editor) (*edit.Patch, error) { return e.MoveHead(ctx, "oven", "slow", "oven.v1.2.0") })
	if got := head(c); got != "[oven.v1.2.0] 3" {
		t.Errorf("the head is %s\n%s", got, again)
	}
	_, c = patched(t, again, func(e *edit.Editor) (*edit.Patch, error) { return e.SetDefaultChannel(ctx, "oven", "slow") })
	if p, _ := c.Package("oven"); p.DefaultChannel() != "slow" {
		t.Error("the default channel is", p.DefaultChannel())
	}
	_, c = patched(t, oven, func(e *edit.Editor) (*edit.Patch, error) {
		return e.AddChannel(ctx, "oven", "old", catalog.Entry{Name: "oven.v1.0.0"})
	})
	if p, _ := c.Package("oven"); p != nil {
		if ch, ok := p.Channel("old"); !ok || len(ch.Entries()) != 1 {
			t.Error("there is no new channel")
		}
	}
}

func ExampleEditor_ForkChannel() {
	files := fstest.MapFS{"kiln.yaml": {Data: []byte(strings.TrimPrefix(kiln, "\n"))}}
	e, err := edit.Open(context.Background(), files)
	if err != nil {
		fmt.Println(err)
		return
	}
	fork, err := e.ForkChannel(context.Background(), "kiln", "stable", "stable-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range fork.Changes {
		fmt.Print(c.New)
	}
	// Output:
	// ---
	// schema: olm.channel
	// package: kiln
	// name: stable-1
	// entries:
	// - name: kiln.v1.0.0
	// - name: kiln.v1.1.0
	//   replaces: kiln.v1.0.0
}
