package bundle_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/bundle"
	"github.com/fairlead/fairlead/internal/golden"
)

// pond returns the files of a small bundle without a fault.
func pond(t testing.TB) fstest.MapFS {
	t.Helper()
	text, err := os.ReadFile("testdata/pond.files")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	change(t, files, string(text))
	return files
}

// change applies a text to files. "-- path --" begins a file, "-- delete path
// --" deletes one (a directory with all in it), "-- edit path --" changes one:
// a line of "- text" deletes the first line of that text, indentation aside,
// and lines of "+ text" behind it stand in its place, at its indentation.
func change(t testing.TB, files fstest.MapFS, text string) {
	t.Helper()
	var name, body string
	flush := func() {
		verb, rest, _ := strings.Cut(name, " ")
		switch {
		case name == "":
		case verb == "delete":
			maps.DeleteFunc(files, func(path string, _ *fstest.MapFile) bool { return path == rest || strings.HasPrefix(path, rest+"/") })
		case verb == "edit":
			if files[rest] == nil {
				t.Fatalf("there is no file %s to edit", rest)
			}
			files[rest] = &fstest.MapFile{Data: []byte(edit(t, string(files[rest].Data), body))}
		case strings.HasSuffix(name, "/"):
			files[strings.TrimSuffix(name, "/")] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
		default:
			files[name] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(strings.ReplaceAll(body, "<blank>\n", "\n"), "<tab>", "\t"))}
		}
		name, body = "", ""
	}
	for line := range strings.Lines(text) {
		if head, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok && strings.HasSuffix(head, " --") {
			flush()
			name = strings.TrimSuffix(head, " --")
			continue
		}
		body += line
	}
	flush()
}

func edit(t testing.TB, text, script string) string {
	t.Helper()
	lines := strings.Split(text, "\n")
	at, indent := len(lines), ""
	for step := range strings.Lines(script) {
		step = strings.TrimSuffix(step, "\n")
		if want, ok := strings.CutPrefix(step, "- "); ok {
			at = slices.IndexFunc(lines, func(l string) bool { return strings.TrimSpace(l) == strings.TrimSpace(want) })
			if at < 0 {
				t.Fatalf("no line reads %q", want)
			}
			indent = lines[at][:len(lines[at])-len(strings.TrimLeft(lines[at], " "))]
			lines = slices.Delete(lines, at, at+1)
		} else {
			lines = slices.Insert(lines, at, indent+strings.TrimPrefix(step, "+ "))
			at++
		}
	}
	return strings.Join(lines, "\n")
}

func TestScripts(t *testing.T) {
	words := golden.NewWords(t, "testdata/words/bundle.txt")
	list := func(ds catalog.Diagnostics) string { return list(words, ds) }
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			files := pond(t)
			change(t, files, c.Input)
			var fsys fs.FS = files
			if c.Has("nil") {
				fsys = nil
			}
			b, err := bundle.Read(context.Background(), fsys, &bundle.Options{EveryDocument: c.Has("every-document")})
			if err != nil {
				return words.Say(err.Error())
			}
			opts := &bundle.ValidateOptions{V1: c.Has("v1"), KubeVersion: c.Value("kube")}
			switch c.Name {
			case "validate":
				return list(b.Validate(opts))
			case "lint":
				return list(b.Lint(opts))
			case "suite":
				faults, warnings := b.Suite(bundle.Suite(c.Value("name")), suiteOptions(c))
				return "faults:\n" + strings.TrimSuffix(list(faults), "\n") + "\nwarnings:\n" + list(warnings)
			case "render":
				return rendering(words, b, c)
			case "facts":
				return facts(b)
			}
			t.Fatalf("%s: there is no command %s", c.Pos, c.Name)
			return ""
		}
	})
}

// suiteOptions are the label of an image, and the platforms of every image; one
// called nowhere cannot be inspected.
func suiteOptions(c *golden.Command) *bundle.SuiteOptions {
	opts := &bundle.SuiteOptions{}
	if c.Has("label") {
		opts.Dockerfile = []byte("FROM scratch\nLABEL " + c.Value("label") + "\n")
	}
	if c.Has("runs") {
		opts.Platforms = func(image string) (list []bundle.Platform, err error) {
			if strings.Contains(image, "nowhere") {
				return nil, errors.New("it is not there")
			}
			for name := range strings.SplitSeq(c.Value("runs"), ",") {
				os, arch, _ := strings.Cut(name, "/")
				list = append(list, bundle.Platform{OS: os, Architecture: arch})
			}
			return list, nil
		}
	}
	return opts
}

func list(words *golden.Words, ds catalog.Diagnostics) string {
	if len(ds) == 0 {
		return "nothing"
	}
	var out strings.Builder
	for _, d := range ds {
		fmt.Fprintln(&out, words.Finding(d))
	}
	return out.String()
}

// rendering prints a document tersely, a property or image a line.
func rendering(words *golden.Words, b *bundle.Bundle, c *golden.Command) string {
	d, err := b.Render(&bundle.RenderOptions{Image: c.Value("image"), CSVMetadata: c.Has("csv-metadata")})
	if err != nil {
		if ds, ok := err.(catalog.Diagnostics); ok {
			return list(words, ds)
		}
		return err.Error()
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s name=%s package=%s image=%s\n", d.Schema, d.Name, d.Package, d.Image)
	for _, p := range d.Properties {
		value := string(p.Value)
		if p.Type == catalog.PropertyBundleObject && !c.Has("objects") {
			continue
		}
		if p.Type == catalog.PropertyBundleObject {
			value = object(p.Value)
		}
		fmt.Fprintf(&out, "%s %s\n", p.Type, value)
	}
	for _, r := range d.RelatedImages {
		fmt.Fprintf(&out, "related %q %s\n", r.Name, r.Image)
	}
	return out.String()
}

// facts prints what authors ask of a bundle.
func facts(b *bundle.Bundle) string {
	var out strings.Builder
	fmt.Fprintf(&out, "name=%s package=%s version=%s release=%s channels=%q default=%s\n",
		b.Name(), b.Package(), b.Version(), b.Release(), b.Channels(), b.DefaultChannel())
	for _, m := range b.Manifests {
		fmt.Fprintf(&out, "%s %s %q at %s\n", m.APIVersion, m.Kind, m.Name, m.Position)
	}
	if b.CSV == nil {
		return out.String()
	}
	for _, f := range b.CSV.Features() {
		fmt.Fprintf(&out, "feature %s=%s supported=%t known=%t\n", f.Name, f.Value, f.Supported, f.Known)
	}
	for _, a := range b.CSV.TokenAuth() {
		if a.Claimed || len(a.Missing) == 0 {
			fmt.Fprintf(&out, "token %s claimed=%t ready=%t since=%s inputs=%q missing=%q mount=%t\n", a.Cloud, a.Claimed, a.Ready, a.Since, a.Inputs, a.Missing, a.TokenMount)
		}
	}
	return out.String()
}
