package graph_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/internal/golden"
)

// handler runs the scripts: "parse" reads a graph and prints its findings,
// "file" a file of graph data, "assemble" makes a graph of both, and the others
// ask the last graph.
func handler(t *testing.T, w *golden.Words) golden.Handler {
	var g, raw *graph.Graph
	files := fstest.MapFS{}
	return func(c *golden.Command) string {
		switch c.Name {
		case "parse":
			var found graph.Diagnostics
			g, found = graph.Parse([]byte(c.Input), &graph.Options{File: "graph.json"})
			raw = g
			return told(w, found, g != nil)
		case "file":
			files[c.Value("name")] = &fstest.MapFile{Data: []byte(c.Input)}
			_, found := graph.ReadData(fstest.MapFS{c.Value("name"): files[c.Value("name")]})
			return told(w, found, true)
		case "assemble":
			data, _ := graph.ReadData(files)
			opts := &graph.AssembleOptions{Channel: c.Value("channel"), Architecture: c.Value("arch")}
			if err := opts.Check(); err != nil {
				return failure(w, "assemble", err)
			}
			g = data.Assemble(raw, opts)
			text, err := g.MarshalJSON()
			if err != nil {
				return err.Error()
			}
			return strings.NewReplacer(`},{`, "},\n{", `,"edges"`, ",\n\"edges\"", `,"conditionalEdges"`, ",\n\"conditionalEdges\"").Replace(string(text))
		case "json":
			text, err := g.MarshalJSON()
			if err != nil {
				return err.Error()
			}
			again(t, g)
			return string(text)
		case "fetch":
			return fetch(w, c)
		case "updates":
			return updates(w, g, c.Value("from"))
		case "why":
			why, err := g.WhyNot(t.Context(), c.Value("from"), c.Value("to"), &graph.WhyNotOptions{PathOptions: *pathOptions(c)})
			if err != nil {
				return failure(w, "why", err)
			}
			return because(w, why)
		case "paths":
			return paths(t, w, g, c)
		case "dot", "mermaid":
			d, err := g.Diagram(c.Value("from"))
			if err != nil {
				return failure(w, "diagram", err)
			}
			var out strings.Builder
			write := d.WriteDOT
			if c.Name == "mermaid" {
				write = d.WriteMermaid
			}
			if err := write(&out); err != nil {
				return err.Error()
			}
			return out.String()
		}
		t.Fatalf("%s: unknown command %s", c.Pos, c.Name)
		return ""
	}
}

func told(w *golden.Words, found graph.Diagnostics, usable bool) string {
	var out strings.Builder
	for _, d := range found {
		out.WriteString(diagnostic(w, d) + "\n")
	}
	if !usable {
		out.WriteString("no graph\n")
	} else if len(found) == 0 {
		out.WriteString("ok\n")
	}
	return out.String()
}

// diagnostic writes the code, the position and the data of a finding.
func diagnostic(w *golden.Words, d *graph.Diagnostic) string {
	text := string(d.Code)
	if at := d.Pos.String(); at != "" {
		text += " " + at
	}
	if d.Subject != "" {
		text += " (" + d.Subject + ")"
	}
	return text + w.Data(string(d.Code), d.Message)
}

// because writes why there is no update, without words.
func because(w *golden.Words, why *graph.WhyNot) string {
	w.Data("why "+string(why.Obstacle), why.String())
	out := []string{string(why.Obstacle)}
	for _, r := range why.Risks {
		out = append(out, "risk="+r.Risk+":"+string(r.Applies))
	}
	for _, b := range why.Blocks {
		out = append(out, "removed="+b.Pos.String()+":"+b.From)
	}
	for _, x := range []struct {
		key  string
		list []string
	}{{"via", why.Via}, {"via-risks", why.ViaRisks}, {"channels", why.Channels}, {"nearest", []string{why.Nearest}}} {
		if text := strings.Join(x.list, ","); text != "" {
			out = append(out, x.key+"="+text)
		}
	}
	return strings.Join(out, " ")
}

// failure writes the data of an error.
func failure(w *golden.Words, of string, err error) string {
	return "error" + w.Data(of+" error", err.Error())
}

func updates(w *golden.Words, g *graph.Graph, from string) string {
	u, err := g.Updates(from)
	if err != nil {
		return failure(w, "updates", err)
	}
	return "available " + strings.Join(versions(u.Available), " ") + "\nconditional " + strings.Join(withRisks(u.Conditional), " ")
}

func paths(t *testing.T, w *golden.Words, g *graph.Graph, c *golden.Command) string {
	opts := pathOptions(c)
	list, err := g.Paths(t.Context(), c.Value("from"), c.Value("to"), opts)
	var out strings.Builder
	for _, p := range list {
		out.WriteString(p.From.Version)
		for _, u := range p.Updates {
			out.WriteString(" " + u.Version)
			for _, r := range u.Risks {
				out.WriteString("!" + r.Name)
			}
		}
		out.WriteByte('\n')
	}
	if err != nil {
		out.WriteString(failure(w, "paths", err))
	} else if len(list) == 0 {
		out.WriteString("none")
	}
	return out.String()
}

// pathOptions reads avoid, prefer, steps, learnt and accept.
func pathOptions(c *golden.Command) *graph.PathOptions {
	opts := &graph.PathOptions{Max: 5, Evaluations: learnt(c.Value("learnt"))}
	for _, a := range c.Args {
		switch a.Key {
		case "avoid":
			opts.Avoid = a.Values
		case "prefer":
			opts.Prefer = map[string]graph.Preference{"risks": graph.FewestRisks, "minors": graph.FewestMinors}[a.Values[0]]
		case "steps":
			opts.Steps = 2
		case "accepted":
			opts.Accepted = a.Values
		}
	}
	return opts
}

func TestScripts(t *testing.T) {
	w := golden.NewWords(t, "testdata/words/graph.txt")
	golden.Run(t, "testdata/*.txt", func(t *testing.T) golden.Handler { return handler(t, w) })
}

// What is no graph at all is told, with the place, and never panics.
func TestUnusable(t *testing.T) {
	for _, text := range []string{"", " ", "[]", "null", "{", `{"nodes":[`, "\xff", `{"nodes":[]}{`, strings.Repeat("[", 100_000), "a: b: c"} {
		if _, found := graph.Parse([]byte(text), nil); len(found) == 0 {
			t.Errorf("%.20q: nothing is wrong", text)
		}
	}
	var limit *graph.LimitError
	if _, found := graph.Parse([]byte(`{"nodes":[]}`), &graph.Options{Size: 5}); !errors.As(found.Err(), &limit) {
		t.Errorf("too large: %v", found)
	}
}

// A rule that is not known is passed on as it came, without the space between its words:
// two that differ only in that are the same.
func TestUnknownRules(t *testing.T) {
	const rule = `{"type":"Astrology","sign":"Leo in ascent"}`
	for _, written := range []string{rule, "{ \"type\": \"Astrology\",\n\t\"sign\": \"Leo in ascent\" }"} {
		g, found := graph.Parse([]byte(`{"nodes":[{"version":"1.0.0"},{"version":"1.0.1"}],"conditionalEdges":[{"edges":[{"from":"1.0.0","to":"1.0.1"}],"risks":[{"name":"A","matchingRules":[`+written+`]}]}]}`), nil)
		text, err := json.Marshal(g)
		if err != nil || len(found) != 1 || !strings.Contains(string(text), rule) {
			t.Errorf("%v, %v: %s", err, found, text)
		}
		u, err := g.Updates("1.0.0")
		if err != nil || u.Conditional[0].Risks[0].MatchingRules[0] != (graph.Rule{Type: "Astrology", Other: rule}) {
			t.Errorf("%s: %+v, %v", written, u, err)
		}
	}
}

// The path from a release to itself has no updates; it is drawn as the release alone.
func TestDrawNoUpdate(t *testing.T) {
	g, _ := graph.Parse([]byte(`{"nodes":[{"version":"1.0.0"}]}`), nil)
	paths, err := g.Paths(t.Context(), "1.0.0", "1.0.0", nil)
	if err != nil || len(paths) != 1 || len(paths[0].Updates) != 0 {
		t.Fatalf("%v, %v", paths, err)
	}
	for name, paths := range map[string][]*graph.Path{"From 1.0.0 to 1.0.0": paths, "": nil} {
		var out strings.Builder
		if err := graph.PathDiagram(paths).WriteDOT(&out); err != nil || strings.Contains(out.String(), "->") || strings.Contains(out.String(), "1.0.0") != (name != "") || !strings.Contains(out.String(), name) {
			t.Errorf("%d paths: %v\n%s", len(paths), err, out.String())
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"nodes":[{"version":"4.1.0"},{"version":"4.1.1"}],"edges":[[0,1]],"conditionalEdges":[{"edges":[{"from":"4.1.0","to":"4.1.1"}],"risks":[{"name":"A","matchingRules":[{"type":"PromQL","promql":{"promql":"x"}}]}]}]}`))
	f.Add([]byte(`{"nodes":[{"version":"4.1.0"},{}],"edges":[[0,9],[1,0],[0],3]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		g, found := graph.Parse(text, &graph.Options{Size: 1 << 16})
		if g == nil {
			if len(found) == 0 {
				t.Fatal("no graph and nothing told")
			}
			return
		}
		again(t, g)
		list := g.Releases()
		for _, r := range list {
			if _, err := g.Updates(r.Version); err != nil {
				t.Fatal(err)
			}
			if _, err := g.WhyNot(t.Context(), list[0].Version, r.Version, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzBlockedEdge(f *testing.F) {
	f.Add([]byte("to: 4.2.0\nfrom: 4[.]1[.].*\nname: A\nmatchingRules:\n- type: Always\n"))
	f.Add([]byte("to: 4.2\nfrom: (\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		data, found := graph.ReadData(fstest.MapFS{"blocked-edges/a.yaml": {Data: text}, "channels/a.yaml": {Data: text}, "raw/metadata.json": {Data: text}})
		if data == nil || len(found) == 0 && len(data.Blocked)+len(data.Channels) == 0 {
			t.Fatalf("nothing was read, and nothing is wrong: %q", text)
		}
	})
}
