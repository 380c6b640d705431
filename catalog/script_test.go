package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/golden"
)

func TestScripts(t *testing.T) {
	said := golden.NewWords(t, "testdata/words/catalog.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler {
		return (&script{files: fstest.MapFS{}, said: said}).run
	})
}

// script is the state of one script: files, and the catalog opened last.
type script struct {
	files fstest.MapFS
	c     *catalog.Catalog
	out   strings.Builder
	said  *golden.Words
}

func (s *script) printf(format string, args ...any) { fmt.Fprintf(&s.out, format, args...) }

// run executes one command.
func (s *script) run(c *golden.Command) string {
	s.out.Reset()
	words := c.Words()
	switch c.Name {
	case "file": // file NAME [crlf] [bom] [escaped]: adds a file; escaped takes Go's escapes
		s.files[words[0]] = &fstest.MapFile{Data: []byte(written(c))}
		return ""
	case "remove": // remove NAME...
		for _, name := range words {
			delete(s.files, name)
		}
		return ""
	case "open": // open [workers=N] [size=N] [depth=N] [nodes=N] [documents=N] [files=N]
		var err error
		s.c, err = catalog.Open(context.Background(), s.files, options(c))
		s.summary(err)
	case "documents":
		for d := range s.c.Documents() {
			s.printf("%s %s package=%q name=%q", d.Pos(), d.Schema(), d.Package(), d.Name())
			if d.IsYAML() {
				s.printf(" yaml")
			}
			s.printf("\n")
		}
	case "list":
		s.list()
	case "raw", "json": // raw|json INDEX: a document's text
		s.text(c.Name, words[0])
	case "decode": // decode [crlf] [bom] [escaped] [size=N]: a stream of documents
		for d, err := range catalog.Decode(strings.NewReader(written(c)), options(c)) {
			if err != nil {
				s.printf("%s\n", s.failed(err))
				continue
			}
			text, err := d.JSON()
			s.printf("%s %s %s\n", d.Pos(), text, s.failed(err))
		}
	case "explain": // explain PATH...
		for _, name := range words {
			if r, ok := s.c.Explain(name); ok {
				s.printf("%s: %s: %s include=%v\n", name, r.Pos, r.Pattern, r.Include)
			} else {
				s.printf("%s: no rule\n", name)
			}
		}
	case "properties": // properties PACKAGE BUNDLE
		s.properties(words[0], words[1])
	case "providers": // providers GROUP/VERSION/KIND
		part := strings.Split(words[0], "/")
		for b := range s.c.Providers(catalog.GVK{Group: part[0], Version: part[1], Kind: part[2]}) {
			s.printf("%s %s\n", b.Package().Name(), b.Name())
		}
	case "details": // details PACKAGE
		s.details(words[0])
	case "locate": // locate INDEX STEP...
		s.locate(words[0], words[1:])
	default:
		return s.graph(c)
	}
	return s.out.String()
}

// written returns a command's input as the bytes of a file.
func written(c *golden.Command) string {
	text := c.Input
	if c.Has("escaped") {
		var err error
		text, err = strconv.Unquote(`"` + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), `"`, `\"`) + `"`)
		if err != nil {
			panic(c.Pos + ": " + err.Error())
		}
	}
	if c.Has("crlf") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if c.Has("bom") {
		text = "\ufeff" + text
	}
	return text
}

func options(c *golden.Command) *catalog.Options {
	number := func(key string) int {
		n, _ := strconv.Atoi(c.Value(key))
		return n
	}
	return &catalog.Options{
		Workers: number("workers"), MaxDocumentSize: number("size"), MaxDepth: number("depth"),
		MaxYAMLNodes: number("nodes"), MaxDocuments: number("documents"), MaxFiles: number("files"),
	}
}

func (s *script) failed(err error) string {
	if err == nil {
		return ""
	}
	var d *catalog.Diagnostic
	if errors.As(err, &d) {
		return "error: " + s.said.Finding(d)
	}
	return "error: " + s.said.Say(err.Error())
}

func (s *script) summary(err error) {
	var all catalog.Diagnostics
	if errors.As(err, &all) {
		for _, d := range all {
			s.printf("%s\n", s.said.Finding(d))
		}
	} else if err != nil {
		s.printf("%s\n", s.failed(err))
	}
	if s.c == nil {
		return
	}
	for _, d := range s.c.Warnings() {
		s.printf("warning: %s\n", s.said.Finding(d))
	}
	packages, channels, bundles := 0, 0, 0
	for p := range s.c.Packages() {
		packages++
		for range p.Channels() {
			channels++
		}
		for range p.Bundles() {
			bundles++
		}
	}
	s.printf("%d packages, %d channels, %d bundles, %d documents\n", packages, channels, bundles, count(s.c))
}

func count(c *catalog.Catalog) (n int) {
	for range c.Documents() {
		n++
	}
	return n
}

func (s *script) list() {
	for p := range s.c.Packages() {
		s.printf("%s, default %q\n", p.Name(), p.DefaultChannel())
		for ch := range p.Channels() {
			s.printf("  %s, heads %q\n", ch.Name(), ch.Heads())
			for _, e := range ch.Entries() {
				s.printf("    %s replaces=%q skips=%q skipRange=%q\n", e.Name, e.Replaces, e.Skips, e.SkipRange)
			}
		}
		for b := range p.Bundles() {
			s.printf("  %s %s %s\n", b.Name(), b.Version(), b.Image())
		}
	}
}

func (s *script) document(index string) *catalog.Document {
	i, _ := strconv.Atoi(index)
	for d := range s.c.Documents() {
		if i--; i < 0 {
			return d
		}
	}
	return nil
}

func (s *script) text(what, index string) {
	d := s.document(index)
	text, err := d.Raw()
	if what == "json" {
		text, err = d.JSON()
	}
	s.printf("%s%s\n", text, s.failed(err))
}

func (s *script) locate(index string, steps []string) {
	var path []any
	for _, step := range steps {
		if n, err := strconv.Atoi(step); err == nil {
			path = append(path, n)
		} else {
			path = append(path, step)
		}
	}
	pos, err := s.document(index).Locate(path...)
	s.printf("%s%s\n", pos, s.failed(err))
}

func (s *script) properties(pkg, bundle string) {
	p, _ := s.c.Package(pkg)
	b, _ := p.Bundle(bundle)
	facts, err := b.Facts()
	for _, f := range facts {
		s.printf("fact %s %s\n", f.Type, string(f.Value))
	}
	s.printf("%s", s.failed(err))
	all, err := b.Properties()
	for _, f := range all {
		s.printf("%s %s\n", f.Type, string(f.Value))
	}
	s.printf("%s", s.failed(err))
	for gvk := range b.Provides() {
		s.printf("provides %s\n", gvk)
	}
	images, err := b.RelatedImages()
	for _, i := range images {
		s.printf("related %q %s\n", i.Name, i.Image)
	}
	s.printf("%s", s.failed(err))
}

func (s *script) details(pkg string) {
	p, _ := s.c.Package(pkg)
	info, err := p.Info()
	icon, bad := info.Icon.Bytes()
	s.printf("description %q, icon %q %s%s%s\n", info.Description, icon, info.Icon.MediaType, s.failed(bad), s.failed(err))
	list, err := p.Deprecations()
	for _, d := range list {
		s.printf("deprecated %s %q: %s\n", d.Reference.Schema, d.Reference.Name, d.Message)
	}
	s.printf("%s", s.failed(err))
	for d := range s.c.Others() {
		s.printf("other %s %q\n", d.Schema(), d.Name())
	}
}

// graph executes the commands on the graph of the channel that "channel=" and
// "package=" name; without them it is the first there is.
func (s *script) graph(c *golden.Command) string {
	var rules catalog.Rules
	if name := c.Value("rules"); name != "" {
		if err := rules.UnmarshalText([]byte(name)); err != nil {
			return s.failed(err)
		}
	}
	g := s.channel(c.Value("package"), c.Value("channel")).Graph(rules)
	words := c.Words()
	edge := func(e catalog.Edge) string { return e.From + " -> " + e.To + " " + e.Kind.String() }
	route := func(path []catalog.Edge) string {
		steps := []string{}
		for _, e := range path {
			steps = append(steps, edge(e))
		}
		return strings.Join(steps, ", ")
	}
	switch c.Name {
	case "edges":
		for n := range g.Nodes() {
			s.printf("%s has=%v skipped=%v\n", n, g.Has(n), g.Skipped(n))
			for e := range g.Successors(n) {
				s.printf("  %s\n", edge(e))
			}
			for e := range g.Predecessors(n) {
				s.printf("  <- %s\n", e.From)
			}
		}
	case "path": // path FROM TO
		path, ok := g.Path(words[0], words[1])
		s.printf("%v %s\n", ok, route(path))
	case "paths": // paths FROM TO
		for path := range g.Paths(words[0], words[1]) {
			s.printf("%s\n", route(path))
		}
	case "reach": // reach NAME
		s.printf("to %q\n", slices.Collect(g.Reachable(words[0])))
		s.printf("from %q\n", slices.Collect(g.Reaching(words[0])))
	case "why": // why FROM TO
		if w := g.WhyNot(words[0], words[1]); w != nil {
			s.printf("%s\n", s.said.Say(w.String()))
		} else {
			s.printf("it does\n")
		}
	case "find": // find NAME-OR-VERSION...
		for _, w := range words {
			name, ok := g.Find(w)
			s.printf("%s: %q %v\n", w, name, ok)
		}
	default:
		panic(c.Pos + ": unknown command " + c.Name)
	}
	return s.out.String()
}

func (s *script) channel(pkg, channel string) *catalog.Channel {
	for p := range s.c.Packages() {
		for ch := range p.Channels() {
			if (pkg == "" || p.Name() == pkg) && (channel == "" || ch.Name() == channel) {
				return ch
			}
		}
	}
	panic("no channel " + pkg + "/" + channel)
}
