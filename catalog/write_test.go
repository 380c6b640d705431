package catalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/samples"
)

// mustOpen opens a catalog of one file.
func openText(t testing.TB, text string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(context.Background(), fstest.MapFS{"c": {Data: []byte(text)}}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return c
}

func inFormat(t testing.TB, c *catalog.Catalog, format catalog.Format) string {
	t.Helper()
	var b strings.Builder
	if err := c.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var formats = []catalog.Format{catalog.FormatJSON, catalog.FormatYAML, catalog.FormatLines}

const mixed = `# a comment
schema: olm.package
name: b
defaultChannel: stable # the default
zzz: {big: 9007199254740993, huge: 12345678901234567890123, f: 1.0, e: 1e2}
---
{"schema":"custom.example.com/x", "package":"b", "name" : "thing", "n": [1.0, 1e2, 10000000000000000001, 1.10],
 "z":1,"a":{"b":null}}
{"schema":"olm.bundle","name":"b.v1","package":"b","image":"r/b:1","properties":[{"type":"olm.package","value":{"packageName":"b","version":"1.0.0"}}],"unknown":{"k":[true,false,null,"\ud83d\ude00\u0000\u2028"]}}
{"schema":"olm.channel","name":"stable","package":"b","entries":[{"name":"b.v1"}]}
---
schema: olm.package
name: a
description: |
  many

  lines
---
schema: nobody
note: 'yes'
---
schema: olm.deprecations
package: b
entries: []
`

func TestWriteKeepsBytes(t *testing.T) {
	c := openText(t, mixed)
	if got, want := inFormat(t, c, catalog.FormatYAML), `---
schema: olm.package
name: a
description: |
  many

  lines
---
# a comment
schema: olm.package
name: b
defaultChannel: stable # the default
zzz: {big: 9007199254740993, huge: 12345678901234567890123, f: 1.0, e: 1e2}
---
schema: olm.channel
name: stable
package: b
entries:
- name: b.v1
---
schema: olm.bundle
name: b.v1
package: b
image: r/b:1
properties:
- type: olm.package
  value:
    packageName: b
    version: 1.0.0
unknown:
  k:
  - true
  - false
  - null
  - "😀\x00\u2028"
---
schema: custom.example.com/x
package: b
name: thing
"n":
- 1.0
- 1e2
- 10000000000000000001
- 1.10
z: 1
a:
  b: null
---
schema: olm.deprecations
package: b
entries: []
---
schema: nobody
note: 'yes'
`; got != want {
		t.Errorf("got\n%s", got)
	}
	got := inFormat(t, c, catalog.FormatJSON)
	for _, want := range []string{
		"{\"schema\":\"custom.example.com/x\", \"package\":\"b\", \"name\" : \"thing\", \"n\": [1.0, 1e2, 10000000000000000001, 1.10],\n \"z\":1,\"a\":{\"b\":null}}\n",
		`"big": 9007199254740993,`, `"huge": 12345678901234567890123,`, `"f": 1.0,`, `"note": "yes"`, `"description": "many\n\nlines\n"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if lines := strings.Split(strings.TrimSpace(inFormat(t, c, catalog.FormatLines)), "\n"); len(lines) != 7 || lines[4] != `{"schema":"custom.example.com/x","package":"b","name":"thing","n":[1.0,1e2,10000000000000000001,1.10],"z":1,"a":{"b":null}}` {
		t.Errorf("%q", lines)
	}
}

// TestWriteAgain: what is written and read again is written the same, from any
// format to any other and back.
func TestWriteAgain(t *testing.T) {
	inputs := []string{mixed}
	r := rand.New(rand.NewPCG(1, 2))
	for range long.N(120, 20_000) {
		inputs = append(inputs, randomDocuments(r))
	}
	for _, input := range inputs {
		c := openText(t, input)
		want := canonical(t, inFormat(t, c, catalog.FormatLines))
		for _, first := range formats {
			text := inFormat(t, c, first)
			again := openText(t, text)
			if got := inFormat(t, again, first); got != text {
				t.Fatalf("%s of\n%s\nis\n%s\nthen\n%s", first, input, text, got)
			}
			for _, second := range formats {
				if got := canonical(t, inFormat(t, openText(t, inFormat(t, again, second)), catalog.FormatLines)); got != want {
					t.Fatalf("%s by %s and %s:\n%s\nwant\n%s", input, first, second, got, want)
				}
			}
		}
	}
}

// canonical decodes JSON documents and encodes them again, numbers as they
// are: what is left is what they say.
func canonical(t testing.TB, text string) string {
	t.Helper()
	var b strings.Builder
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		d.UseNumber()
		var value any
		if err := d.Decode(&value); err == io.EOF {
			return b.String()
		} else if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
}

// randomDocuments makes JSON documents with values of all kinds.
func randomDocuments(r *rand.Rand) string {
	texts := []string{"", "a", "yes", "no", "on", "NULL", "~", "1", "1.0", "1.2.3", "0x1F", "017", "1_000", "1:30", "2001-01-01", ".5", "-1", "- a", "a: b", "a #b", "#a", "@a", "`a", "%a", "!a", "&a", "*a", "[a", "{a", "a,b", "'a", "\"a", " a", "a ", "a\tb", "a\nb", "a\nb\n", "a\nb\n\n", "\na", "a\n\n\nb\n", " a\nb", "a \nb", "a\r\nb", "\u0085", "\u00a0", "\ufeff", "\u2028x\ny", "é", "😀", "\x00", "\x7f", "?", "? a", "---", "--- a", "...", ":", "a:", "::", "<<", "=", "quay.io/a/b@sha256:00", "a\n---\nb", "a\n  b\n c", "a\n\tb", "|", ">", "y", "Y", "N", "null", "inf", ".inf", "nan", strings.Repeat("long ", 60), "x-y", "end:", "a b: c", "a b #", "http://x y"}
	numbers := []string{"0", "-0", "1", "1.0", "1.10", "1e2", "1E+2", "-1.5e-10", "12345678901234567890", "0.1", "1e300", "1e5", "-0.0"}
	var value func(depth int) string
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	value = func(depth int) string {
		switch k := r.IntN(12); {
		case k < 2 && depth < 4:
			var parts []string
			for i := range r.IntN(4) {
				parts = append(parts, quote(fmt.Sprint(texts[r.IntN(len(texts))], i))+":"+value(depth+1))
			}
			return "{" + strings.Join(parts, ", ") + "}"
		case k < 4 && depth < 4:
			var parts []string
			for range r.IntN(4) {
				parts = append(parts, value(depth+1))
			}
			return "[" + strings.Join(parts, ",\n") + "]"
		case k < 6:
			return numbers[r.IntN(len(numbers))]
		case k < 7:
			return []string{"true", "false", "null"}[r.IntN(3)]
		}
		return quote(texts[r.IntN(len(texts))])
	}
	var b strings.Builder
	for i := range 1 + r.IntN(3) {
		fmt.Fprintf(&b, "{\"schema\": \"s%d\", %s: %s, \"list\": %s}\n", i, quote(texts[r.IntN(len(texts))]+"_"), value(0), value(0))
	}
	return b.String()
}

// tree collects the files of WriteTree.
type tree map[string]*bytes.Buffer

func (t tree) create(path string) (io.WriteCloser, error) {
	t[path] = &bytes.Buffer{}
	return closer{t[path]}, nil
}

type closer struct{ io.Writer }

func (closer) Close() error { return nil }

func TestWriteTree(t *testing.T) {
	c := openText(t, mixed)
	for _, format := range formats {
		files := tree{}
		if err := c.WriteTree(format, files.create); err != nil {
			t.Fatal(err)
		}
		fsys := fstest.MapFS{}
		for path, text := range files {
			fsys[path] = &fstest.MapFile{Data: text.Bytes()}
		}
		ext := "." + format.String()
		for _, name := range []string{"a/catalog" + ext, "b/catalog" + ext, "catalog" + ext} {
			if fsys[name] == nil {
				t.Errorf("no file %s", name)
			}
		}
		again, err := catalog.Open(context.Background(), fsys, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := canonical(t, inFormat(t, again, catalog.FormatLines)), canonical(t, inFormat(t, c, catalog.FormatLines)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", format, got, want)
		}
	}
	for _, name := range []string{"..", ".", "a/b", `a\\b`} {
		c := openText(t, `{"schema":"olm.package","name":"`+name+`"}`)
		if err := c.WriteTree(catalog.FormatJSON, tree{}.create); err == nil || !strings.Contains(err.Error(), "cannot be a directory name") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// failing fails after some bytes.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestWriteFails(t *testing.T) {
	c := openText(t, mixed)
	for _, format := range formats {
		if err := c.Write(&failing{100}, format); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%s: %v", format, err)
		}
	}
	err := c.WriteTree(catalog.FormatYAML, func(path string) (io.WriteCloser, error) { return closer{&failing{10}}, nil })
	if err == nil || err.Error() != "catalog: writing a/catalog.yaml: disk full" {
		t.Errorf("%v", err)
	}
}

// TestWriteRealCatalogs writes real catalogs and reads them again.
func TestWriteRealCatalogs(t *testing.T) {
	published := unpack(t, samples.Data(t, "catalog", "published.tar.gz"), "v4.17/a", "v4.17/c", "v4.17/k")
	c, err := catalog.Open(context.Background(), os.DirFS(published), nil)
	if err != nil {
		t.Fatal(err)
	}
	packages := slices.Collect(c.Packages())
	if len(packages) < 2 {
		t.Fatalf("%d packages", len(packages))
	}
	lines := inFormat(t, c, catalog.FormatLines)
	if got := inFormat(t, openText(t, lines), catalog.FormatLines); got != lines || lines == "" {
		t.Error("lines differ after reading")
	}
	few := openText(t, strings.Join(strings.SplitAfter(lines, "\n")[:20], ""))
	if got := inFormat(t, openText(t, inFormat(t, few, catalog.FormatYAML)), catalog.FormatLines); canonical(t, got) != canonical(t, inFormat(t, few, catalog.FormatLines)) {
		t.Error("YAML differs after reading")
	}
}
