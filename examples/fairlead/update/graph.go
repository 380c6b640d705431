package update

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/internal/words"
)

func graphCommand() *args.Command {
	return &args.Command{
		Name: "graph",
		Usage: "FILE|DIR -from V [-to V] [-channel C] [-arch A] [-prefer shortest|risks|minors] [-avoid RISK]... [-max N] " +
			"[-exposed RISK]... [-not-exposed RISK]... [-accept RISK]... [-facts FILE] [-o text|json|mermaid|dot]",
		About: "show the updates in a graph, the paths to a release, or why there is none",
		Help: `FILE is an update graph in JSON; DIR holds a raw graph and graph data.
  -from V            the release that the cluster runs
  -to V              show the paths to this release, or why there is none; it is a finding if none is recommended
  -channel C         only releases in this channel; -arch A: for this architecture
  -prefer P          which paths come first: shortest, fewest risks, or fewest minor versions
  -avoid RISK        leave out updates with this risk
  -max N             show at most N paths (3)
  -exposed RISK      the cluster is exposed to this risk; -not-exposed RISK: it is not
  -accept RISK       accept this risk
  -facts FILE        a JSON object on which CEL rules are evaluated`,
		Run: showGraph,
	}
}

// question is the question of the command line.
type question struct {
	from, to string
	cluster  graph.WhyNotOptions
}

func showGraph(c *args.Call) error {
	form := c.Choice("o", "text", "json", "mermaid", "dot")
	prefer := c.Choice("prefer", "shortest", "risks", "minors")
	var q question
	var part graph.AssembleOptions
	c.Flags.StringVar(&q.from, "from", "", "")
	c.Flags.StringVar(&q.to, "to", "", "")
	c.Flags.StringVar(&part.Channel, "channel", "", "")
	c.Flags.StringVar(&part.Architecture, "arch", "", "")
	c.Flags.IntVar(&q.cluster.Max, "max", 3, "")
	avoid, accept := c.Words("avoid"), c.Words("accept")
	exposed, free := c.Words("exposed"), c.Words("not-exposed")
	about := c.Flags.String("facts", "", "")
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	if q.from == "" {
		return &args.UsageError{Text: "name the current version: -from V"}
	}
	q.cluster.Avoid, q.cluster.Accepted, q.cluster.Channel = *avoid, *accept, part.Channel
	q.cluster.Prefer = map[string]graph.Preference{"shortest": graph.Shortest, "risks": graph.FewestRisks, "minors": graph.FewestMinors}[*prefer]
	g, all, err := openGraph(c, &part)
	if err != nil {
		return err
	}
	q.cluster.All = all
	if *about != "" {
		known, err := readFacts(*about)
		if err != nil {
			return err
		}
		q.cluster.Evaluations = known.learn(c.Context, g, q.cluster.Evaluations)
	}
	q.cluster.Evaluations = learn(g, q.cluster.Evaluations, *exposed, *free)
	a, err := q.ask(c.Context, g)
	if err != nil {
		return err
	}
	switch *form {
	case "json":
		err = a.writeJSON(c.Stdout)
	case "mermaid":
		err = a.drawing.WriteMermaid(c.Stdout)
	case "dot":
		err = a.drawing.WriteDOT(c.Stdout)
	default:
		a.print(c.Stdout)
	}
	if err == nil && q.to != "" && q.to != q.from && !slices.ContainsFunc(a.paths, a.clear) {
		return args.ErrFindings
	}
	return err
}

// clear reports whether every update of a path is recommended.
func (a *answers) clear(p *graph.Path) bool {
	return !slices.ContainsFunc(p.Updates, func(u graph.Update) bool {
		return a.cluster.Evaluations.Recommend(u, a.cluster.Accepted).Status != cvo.True
	})
}

// openGraph reads a graph, or builds it from a directory that contains a raw
// graph in a file and graph data below. all is the graph of all channels.
func openGraph(c *args.Call, part *graph.AssembleOptions) (g, all *graph.Graph, err error) {
	g, data, err := readGraphData(c)
	if err != nil {
		return nil, nil, err
	}
	if err := part.Check(); err != nil {
		return nil, nil, err
	}
	if data == nil && *part == (graph.AssembleOptions{}) {
		return g, nil, nil
	}
	if data == nil {
		data = &graph.Data{}
	}
	if channels := channelsOf(g, data); part.Channel != "" && !slices.Contains(channels, part.Channel) {
		return nil, nil, fmt.Errorf("-channel %s: no release is in that channel; the channels are %s", part.Channel, listed(channels))
	}
	return data.Assemble(g, part), data.Assemble(g, &graph.AssembleOptions{Architecture: part.Architecture}), nil
}

// readGraphData reads a graph, and graph data if a directory is named.
func readGraphData(c *args.Call) (g *graph.Graph, data *graph.Data, err error) {
	name, dir := c.Args[0], ""
	if info, err := os.Stat(name); err != nil {
		return nil, nil, unread(err, name, "name the JSON of an update graph, or a directory with a raw graph and graph data")
	} else if info.IsDir() {
		if name, dir, err = makings(name); err != nil {
			return nil, nil, err
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	g, found := graph.Parse(text, &graph.Options{File: name})
	if dir != "" && g != nil {
		var more graph.Diagnostics
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, nil, err
		}
		defer root.Close()
		data, more = graph.ReadData(root.FS())
		found = append(found, more...)
	}
	if g == nil {
		return nil, nil, found
	}
	for _, d := range found {
		c.Warn("%v", d)
	}
	return g, data, nil
}

// channelsOf returns the channels that releases or graph data name, sorted.
func channelsOf(g *graph.Graph, data *graph.Data) (names []string) {
	for _, r := range g.Releases() {
		names = append(names, r.Channels()...)
	}
	for _, c := range data.Channels {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// makings finds the raw graph and the graph data in a directory: the only JSON
// file whose name contains "raw", or the only JSON file, and the directory with
// blocked-edges or channels, which may be dir itself.
func makings(dir string) (raw, data string, err error) {
	var files []string
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "blocked-edges" || d.Name() == "channels"):
			data = filepath.Dir(path)
		case d.Type().IsRegular() && filepath.Dir(path) == filepath.Clean(dir) && filepath.Ext(path) == ".json":
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return "", "", err
	}
	for _, f := range files {
		if len(files) == 1 || strings.Contains(filepath.Base(f), "raw") {
			raw = f
		}
	}
	if len(files) == 0 {
		return "", "", fmt.Errorf("%s: it contains no JSON file with an update graph: name the file instead", dir)
	}
	if raw == "" {
		return "", "", fmt.Errorf("%s: the name of none of its %d JSON files contains \"raw\", so which one is the update graph is unknown: name the file instead", dir, len(files))
	}
	if data == "" {
		return "", "", fmt.Errorf("%s: it contains no directory channels or blocked-edges with graph data: name the file of the update graph instead", dir)
	}
	return raw, data, nil
}

// learn adds the results of queries that the user states.
func learn(g *graph.Graph, e graph.Evaluations, exposed, free []string) graph.Evaluations {
	eachRule(g, func(risk string, r graph.Rule) {
		e = answer(e, r, risk, exposed, true)
		e = answer(e, r, risk, free, false)
	})
	return e
}

// eachRule calls f for each rule of each risk.
func eachRule(g *graph.Graph, f func(risk string, r graph.Rule)) {
	for _, r := range g.Releases() {
		u, err := g.Updates(r.Version)
		if err != nil {
			continue
		}
		for _, to := range u.Conditional {
			for _, risk := range to.Risks {
				for _, rule := range risk.MatchingRules {
					f(risk.Name, rule)
				}
			}
		}
	}
}

func answer(e graph.Evaluations, rule graph.Rule, name string, named []string, match bool) graph.Evaluations {
	for _, n := range named {
		if n == name {
			return e.With(rule, match, nil, time.Unix(0, 0).UTC())
		}
	}
	return e
}

// ask finds the answers.
func (q *question) ask(ctx context.Context, g *graph.Graph) (*answers, error) {
	u, err := g.Updates(q.from)
	if err != nil {
		return nil, err
	}
	a := &answers{updates: u, cluster: &q.cluster, channels: u.Current.Channels()}
	if q.to == "" {
		a.drawing, err = g.Diagram(q.from)
		return a, err
	}
	if a.why, err = g.WhyNot(ctx, q.from, q.to, &q.cluster); err != nil {
		return nil, err
	}
	var unknown *graph.VersionError
	if a.paths, err = g.Paths(ctx, q.from, q.to, &q.cluster.PathOptions); err != nil && !errors.As(err, &unknown) {
		return nil, err
	}
	a.drawing = graph.PathDiagram(a.paths)
	return a, nil
}

// answers is the output of the command.
type answers struct {
	updates  *graph.Updates
	channels []string
	cluster  *graph.WhyNotOptions
	why      *graph.WhyNot
	paths    []*graph.Path
	drawing  *graph.Diagram
}

func (a *answers) writeJSON(w io.Writer) error {
	type update struct {
		Version     string                `json:"version"`
		Risks       []string              `json:"risks,omitempty"`
		Recommended *graph.Recommendation `json:"recommended,omitempty"`
	}
	out := struct {
		Current     string        `json:"current"`
		Channels    []string      `json:"channels"`
		Available   []string      `json:"available"`
		Conditional []update      `json:"conditional"`
		Why         *graph.WhyNot `json:"why,omitempty"`
		Paths       [][]update    `json:"paths,omitempty"`
	}{a.updates.Current.Version, append([]string{}, a.channels...), []string{}, []update{}, a.why, nil}
	for _, u := range a.updates.Available {
		out.Available = append(out.Available, u.Version)
	}
	for _, u := range a.updates.Conditional {
		r := a.cluster.Evaluations.Recommend(u, a.cluster.Accepted)
		out.Conditional = append(out.Conditional, update{u.Version, names(u.Risks), &r})
	}
	for _, p := range a.paths {
		var list []update
		for _, u := range p.Updates {
			list = append(list, update{Version: u.Version, Risks: names(u.Risks)})
		}
		out.Paths = append(out.Paths, list)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func names(risks []graph.Risk) []string {
	var list []string
	for _, r := range risks {
		list = append(list, r.Name)
	}
	return list
}

// risks describes what is known about each risk of an update.
func (a *answers) risks(u graph.Update) []string {
	var list []string
	for _, x := range a.cluster.Evaluations.Recommend(u, a.cluster.Accepted).Exposures {
		switch {
		case x.Accepted:
			list = append(list, x.Risk+": accepted")
		case x.Applies == cvo.True:
			list = append(list, x.Risk+": applies")
		case x.Applies == cvo.False:
			list = append(list, x.Risk+": does not apply")
		default:
			list = append(list, x.Risk+": not known")
		}
	}
	return list
}

func (a *answers) print(w io.Writer) {
	if a.why != nil {
		words.Fprintf(w, "%s\n", words.Text(a.why.String()))
		for _, x := range a.why.Risks {
			words.Fprintf(w, "  %s applies: %s\n", x.Risk, x.Applies)
			if x.Message != "" && x.Applies == "Unknown" {
				page.Quote(w, "    ", x.Message)
			}
		}
		for k, p := range a.paths {
			words.Fprintf(w, "path %d: %s", k+1, p.From.Version)
			for _, u := range p.Updates {
				words.Fprintf(w, " -> %s", u.Version)
				if risks := a.risks(u); len(risks) > 0 {
					words.Fprintf(w, " [%s]", strings.Join(risks, ", "))
				}
			}
			fmt.Fprintln(w)
		}
		return
	}
	a.updates.Sort()
	words.Fprintf(w, "%s", a.updates.Current.Version)
	if len(a.channels) > 0 {
		words.Fprintf(w, " (in %s)", strings.Join(a.channels, ", "))
	}
	words.Fprintf(w, "\n%s available:\n", words.Count(len(a.updates.Available), "update", "updates"))
	for _, u := range a.updates.Available {
		words.Fprintf(w, "%v\n", strings.TrimRight("  "+u.Version+" "+u.URL(), " "))
	}
	if len(a.updates.Conditional) == 0 {
		return
	}
	words.Fprintf(w, "%s conditional:\n", words.Count(len(a.updates.Conditional), "update", "updates"))
	for _, u := range a.updates.Conditional {
		r := a.cluster.Evaluations.Recommend(u, a.cluster.Accepted)
		words.Fprintf(w, "%v\n", strings.TrimRight("  "+u.Version+" "+u.URL(), " "))
		words.Fprintf(w, "    recommended: %s (%s)\n    risks: %s\n", r.Status, r.Reason, strings.Join(names(u.Risks), ", "))
	}
}
