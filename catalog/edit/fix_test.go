package edit_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog/edit"
	"github.com/fairlead/fairlead/internal/long"
)

// TestFix: one fault of each kind is fixed by what its hint says, and nothing
// else changes.
func TestFix(t *testing.T) {
	for _, c := range []struct{ name, good, bad, now string }{
		{"default channel", "defaultChannel: stable #", "defaultChannel: stabel #", ""},
		{"no default channel", "defaultChannel: stable # for everybody\n", "", "defaultChannel: stable\n"},
		{"entry", "- name: oven.v1.1.0 #", "- name: oven.v1.1.O #", ""},
		{"package of a bundle", "package: oven\nname: oven.v1.2.0", "package: ovenn\nname: oven.v1.2.0", ""},
		{"package property", "{packageName: oven, version: 1.2.0}", "{packageName: even, version: 1.2.0}", ""},
		{"version", "{packageName: oven, version: 1.2.0}", "{packageName: oven, version: v1.2}", ""},
		{"number", "{packageName: oven, version: 1.2.0}", "{packageName: oven, version: 1.20}", ""},
		{"name that is a number", "name: stable #", "name: 4.10 #", `name: "4.10" #`},
		{"deprecation", "reference: {schema: olm.channel, name: stable}", "reference: {schema: olm.channel, name: stabl}", ""},
		{"skip", "[oven.v1.1.5]", `[oven.v1.1.5, ""]`, "[oven.v1.1.5]"},
		{"two faults", "- name: oven.v1.1.0 #", "- name: oven.v1.1.O #", ""},
	} {
		if strings.Count(oven, c.good) != 1 {
			t.Fatalf("%s: %q is there %d times", c.name, c.good, strings.Count(oven, c.good))
		}
		bad := strings.Replace(oven, c.good, c.bad, 1)
		want := strings.Replace(oven, c.good, cmpOr(c.now, c.good), 1)
		switch c.name {
		case "number": // the type is fixed; that 1.20 is not a whole version is the next finding
			want = strings.Replace(oven, c.good, "{packageName: oven, version: 1.20.0}", 1)
		case "name that is a number":
			bad = strings.Replace(strings.Replace(bad, "defaultChannel: stable", `defaultChannel: "4.10"`, 1), "name: stable}", `name: "4.10"}`, 1)
			want = strings.Replace(bad, c.bad, c.now, 1)
		case "two faults":
			bad = strings.Replace(bad, "defaultChannel: stable", "defaultChannel: stabel", 1)
		}
		files := fstest.MapFS{"oven.yaml": {Data: []byte(bad)}}
		done, err := edit.Fix(t.Context(), files)
		if err != nil {
			t.Fatal(err)
		}
		after, err := done.Patch.Patched(files)
		if err != nil {
			t.Fatal(err)
		}
		now, err := fs.ReadFile(after, "oven.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if len(done.Left) > 0 || len(done.Applied) == 0 || sorted(string(now)) != sorted(want) {
			t.Errorf("%s: applied %v, left %v, got\n%s", c.name, done.Applied, done.Left, now)
		}
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// sorted returns the lines of a text in an order of their own: where a member
// is added is not the matter here.
func sorted(text string) string {
	lines := slices.Sorted(strings.Lines(text))
	return strings.Join(lines, "")
}

// TestThen: two patches in one do what both do one after the other, and the
// inverse undoes both.
func TestThen(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	word := func() string { return strings.Repeat(string(rune('a'+r.IntN(4))), r.IntN(4)) }
	draw := func(text string) *edit.Patch {
		p := &edit.Patch{}
		for at := 0; at < len(text); {
			at += r.IntN(8)
			if at > len(text) {
				break
			}
			end := min(at+r.IntN(5), len(text))
			p.Changes = append(p.Changes, edit.Replacement{Path: "f", Offset: at, Old: text[at:end], New: word()})
			at = end + 1
		}
		return p
	}
	apply := func(text string, p *edit.Patch) string {
		files, err := p.Apply(fstest.MapFS{"f": {Data: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		if now, ok := files["f"]; ok {
			return string(now)
		}
		return text
	}
	for range long.N(3000, 200_000) {
		var b bytes.Buffer
		for range r.IntN(20) {
			b.WriteByte(byte('0' + r.IntN(10)))
		}
		text := b.String()
		first := draw(text)
		between := apply(text, first)
		second := draw(between)
		want := apply(between, second)
		both := first.Then(second)
		if got := apply(text, both); got != want {
			t.Fatalf("%q by %v and %v: %q, not %q", text, first, second, got, want)
		}
		if got := apply(want, both.Inverse()); got != text {
			t.Fatalf("%q is not undone: %q", text, got)
		}
	}
}

func ExampleFix() {
	files := fstest.MapFS{"kiln.yaml": {Data: []byte(strings.Replace(strings.TrimPrefix(kiln, "\n"), "defaultChannel: stable", "defaultChannel: stabel", 1))}}
	done, err := edit.Fix(context.Background(), files)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(done.Applied[0].Message)
	if err := done.Patch.WriteUnified(os.Stdout, files); err != nil {
		fmt.Println(err)
	}
	// Output:
	// its default channel "stabel" is not one of its channels
	// --- a/kiln.yaml
	// +++ b/kiln.yaml
	// @@ -1,6 +1,6 @@
	//  schema: olm.package
	//  name: kiln
	// -defaultChannel: stabel
	// +defaultChannel: stable
	//  ---
	//  schema: olm.channel
	//  package: kiln
}
