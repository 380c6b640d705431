package draw

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/diagram"
	"github.com/fairlead/fairlead/internal/semverx"
)

// Options say which of a package's updates to draw. The zero value, and nil,
// draw everything.
type Options struct {
	Channels []string // those to draw; none means all
}

// packageView is a package as it is drawn: a lane for each channel, a column
// for each bundle of any of them.
type packageView struct {
	name       string
	deprecated bool
	columns    []string // labels, by version
	lanes      []laneView
}

type laneView struct {
	name, note, describe string
	isDefault            bool
	nodes                []nodeView // by column
	edges                []edgeView
}

type nodeView struct {
	name, label, describe     string
	column                    int
	head, skipped, deprecated bool
}

// edgeView holds all updates to one node by one field: from one node by
// replaces, from several by skips and skipRange. A replaces edge from a bundle
// outside the channel has no from.
type edgeView struct {
	kind     catalog.EdgeKind
	from     []int // indexes of nodes
	to       int
	all      int // if not 0: how many bundles from stands for
	describe string
}

// view makes the view of a package. It reads the deprecations.
func view(ctx context.Context, p *catalog.Package, opts *Options) (*packageView, error) {
	var channels []*catalog.Channel
	for ch := range p.Channels() {
		if opts == nil || len(opts.Channels) == 0 || slices.Contains(opts.Channels, ch.Name()) {
			channels = append(channels, ch)
		}
	}
	if opts != nil {
		for _, name := range opts.Channels {
			if _, ok := p.Channel(name); !ok {
				return nil, fmt.Errorf("catalog: package %q has no channel %q to draw", p.Name(), name)
			}
		}
	}
	slices.SortStableFunc(channels, func(a, b *catalog.Channel) int { return byVersion(a.Name(), b.Name()) })
	deprecations, err := p.Deprecations()
	if err != nil {
		return nil, err
	}
	messages := map[catalog.Reference]string{}
	for _, d := range deprecations {
		messages[d.Reference] = d.Message
	}
	v := &packageView{name: p.Name()}
	_, v.deprecated = messages[catalog.Reference{Schema: catalog.SchemaPackage}]
	columns := v.columnsOf(channels)
	for _, ch := range channels {
		lane, err := laneOf(ctx, ch, columns, messages)
		if err != nil {
			return nil, err
		}
		v.lanes = append(v.lanes, lane)
	}
	return v, nil
}

// columnsOf gives each entry of the channels a column, by version.
func (v *packageView) columnsOf(channels []*catalog.Channel) map[string]int {
	versions := map[string]semverx.Version{}
	labels := map[string]string{}
	var names []string
	for _, ch := range channels {
		for _, e := range ch.Entries() {
			if _, ok := versions[e.Name]; ok {
				continue
			}
			names = append(names, e.Name)
			versions[e.Name] = semverx.Tolerant(ch.Package().Version(e.Name))
			labels[e.Name] = e.Name
			if b, ok := ch.Package().Bundle(e.Name); ok && b.Version() != "" {
				labels[e.Name] = b.Version()
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(versions[a].Compare(versions[b]), cmp.Compare(a, b))
	})
	columns := map[string]int{}
	for i, name := range names {
		columns[name] = i
		v.columns = append(v.columns, labels[name])
	}
	return columns
}

func laneOf(ctx context.Context, ch *catalog.Channel, columns map[string]int, deprecated map[catalog.Reference]string) (laneView, error) {
	lane := laneView{name: ch.Name(), describe: "channel " + ch.Name(), isDefault: ch.Name() == ch.Package().DefaultChannel()}
	var notes []string
	if lane.isDefault {
		notes = append(notes, "default")
	}
	if message, ok := deprecated[catalog.Reference{Schema: catalog.SchemaChannel, Name: ch.Name()}]; ok {
		notes = append(notes, "deprecated")
		lane.describe += ", deprecated: " + message
	}
	lane.note = strings.Join(notes, ", ")
	g, heads := ch.Graph(catalog.AsWritten), ch.Heads()
	entries := map[string]*catalog.Entry{}
	for i := range ch.Entries() {
		e := &ch.Entries()[i]
		if entries[e.Name] == nil {
			entries[e.Name] = e
		}
	}
	for name := range entries {
		n := nodeView{name: name, describe: name, column: columns[name], head: slices.Contains(heads, name), skipped: g.Skipped(name)}
		n.label = name
		if b, ok := ch.Package().Bundle(name); ok && b.Version() != "" {
			n.label = b.Version()
		}
		var message string
		if message, n.deprecated = deprecated[catalog.Reference{Schema: catalog.SchemaBundle, Name: name}]; n.deprecated {
			n.describe += ", deprecated: " + message
		}
		lane.nodes = append(lane.nodes, n)
	}
	slices.SortFunc(lane.nodes, func(a, b nodeView) int { return cmp.Compare(a.column, b.column) })
	return lane, lane.connect(ctx, g, entries)
}

// connect adds the edges of the lane, in the order of their target nodes. The error is that of
// ctx.
func (lane *laneView) connect(ctx context.Context, g *catalog.Graph, entries map[string]*catalog.Entry) error {
	index := map[string]int{}
	for i, n := range lane.nodes {
		index[n.name] = i
	}
	for to, n := range lane.nodes {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e := entries[n.name]
		from := map[catalog.EdgeKind][]int{}
		count, lowest, highest := g.Ranged(n.name)
		if count > mostRanged { // its ends stand for all
			for name := range stated(e) {
				if i, ok := index[name]; ok && i != to {
					kind := catalog.EdgeSkips
					if name == e.Replaces {
						kind = catalog.EdgeReplaces
					}
					from[kind] = append(from[kind], i)
				}
			}
			for _, name := range []string{lowest, highest} {
				if i, ok := index[name]; ok && !slices.Contains(from[catalog.EdgeReplaces], i) && !slices.Contains(from[catalog.EdgeSkips], i) {
					from[catalog.EdgeSkipRange] = append(from[catalog.EdgeSkipRange], i)
				}
			}
		} else {
			for edge := range g.Predecessors(n.name) {
				if i, ok := index[edge.From]; ok {
					from[edge.Kind] = append(from[edge.Kind], i)
				}
			}
		}
		for _, kind := range []catalog.EdgeKind{catalog.EdgeReplaces, catalog.EdgeSkips, catalog.EdgeSkipRange} {
			slices.Sort(from[kind])
			edge := edgeView{kind: kind, from: from[kind], to: to}
			switch kind {
			case catalog.EdgeReplaces:
				edge.describe = e.Name + " replaces " + e.Replaces
			case catalog.EdgeSkips:
				edge.describe = e.Name + " skips " + strings.Join(e.Skips, ", ")
			case catalog.EdgeSkipRange:
				edge.describe = e.Name + " skips the range " + e.SkipRange
				if count > mostRanged {
					edge.all = count
					edge.describe += fmt.Sprintf(": %d versions, of which the lowest and the highest are drawn", count)
				}
			}
			absent := kind == catalog.EdgeReplaces && e.Replaces != "" && !g.Has(e.Replaces)
			if absent {
				edge.describe += ", which is not in the channel"
			}
			if len(edge.from) > 0 || absent {
				lane.edges = append(lane.edges, edge)
			}
		}
	}
	return nil
}

// mostRanged is how many bundles that a skipRange accepts are drawn one by one.
const mostRanged = 32

// stated returns the names that an entry replaces and skips.
func stated(e *catalog.Entry) map[string]bool {
	names := map[string]bool{}
	for _, name := range append([]string{e.Replaces}, e.Skips...) {
		if name != "" {
			names[name] = true
		}
	}
	return names
}

// classes returns the marks of a node, in the order in which they are written.
func (n *nodeView) classes() []string {
	var list []string
	for _, c := range []struct {
		name string
		on   bool
	}{{"head", n.head}, {"skipped", n.skipped}, {"deprecated", n.deprecated}} {
		if c.on {
			list = append(list, c.name)
		}
	}
	return list
}

// SVG draws the package's updates as an SVG image: a lane for each channel, the
// default one marked, and a column for each version, so that a bundle is at the
// same place in every lane. Heads have a bold border, skipped bundles a dashed
// one, deprecated ones are orange. Solid arrows are replaces; dashed ones are
// skips, dotted ones skipRange, with a stem from every bundle that they cover.
// Lanes are ordered by the versions in their names. Labels that are too long
// are cut in the middle; full names, ranges and deprecation messages are shown
// as tooltips.
//
// The image is at most 2,000 pixels wide: if a package has more versions,
// consecutive ones become one box ("1.4.0–1.6.2", or "12 versions" where that is
// too long) that lists their names.
//
// Equal catalogs give equal images. Deprecations are read from the files. The error is that of ctx,
// of reading, or of w.
func SVG(ctx context.Context, w io.Writer, p *catalog.Package, opts *Options) error {
	v, err := view(ctx, p, opts)
	if err != nil {
		return err
	}
	return writeSVG(ctx, w, v)
}

// Mermaid writes the package's updates as a Mermaid flowchart for Markdown
// pages: a box for each channel, an arrow for each update, those by skips and
// skipRange dashed. Of a package with more updates than viewers draw, 500,
// consecutive versions become one box, as in [SVG]. Equal catalogs give equal
// texts. Deprecations are read from the files.
func Mermaid(ctx context.Context, w io.Writer, p *catalog.Package, opts *Options) error {
	v, err := view(ctx, p, opts)
	if err != nil {
		return err
	}
	if v, err = v.fewer(ctx, mostEdges); err != nil {
		return err
	}
	return v.diagram().WriteMermaid(w)
}

// mostEdges is how many edges Mermaid draws unless it is told otherwise (maxEdges).
const mostEdges = 500

// fewer returns the view with so many columns joined that it has at most so many edges, as
// far as that is possible. The error is that of ctx.
func (v *packageView) fewer(ctx context.Context, most int) (*packageView, error) {
	edges := func(v *packageView) (n int) {
		for _, lane := range v.lanes {
			for _, e := range lane.edges {
				n += len(e.from)
			}
		}
		return n
	}
	small := v
	runs := v.runs()
	for columns := len(runs.columns); edges(small) > most && columns > 1; columns = columns * 3 / 4 {
		runs.join(min(columns, most))
		var err error
		if small, err = v.grouped(ctx, runs.columns); err != nil {
			return nil, err
		}
	}
	return small, nil
}

// DOT writes the package's updates in the DOT language of Graphviz, with the
// same parts as [Mermaid].
func DOT(ctx context.Context, w io.Writer, p *catalog.Package, opts *Options) error {
	v, err := view(ctx, p, opts)
	if err != nil {
		return err
	}
	if v, err = v.fewer(ctx, mostEdges); err != nil {
		return err
	}
	return v.diagram().WriteDOT(w)
}

// diagram returns the view as a graph for other tools to lay out.
func (v *packageView) diagram() *diagram.Graph {
	g := &diagram.Graph{Name: v.name, Rightward: true}
	for _, lane := range v.lanes {
		title := lane.name
		if lane.note != "" {
			title += " (" + lane.note + ")"
		}
		id := func(n *nodeView) string { return lane.name + "/" + n.name }
		for i := range lane.nodes {
			n := &lane.nodes[i]
			shape := diagram.Box
			switch {
			case n.head:
				shape = diagram.Hexagon
			case n.skipped:
				shape = diagram.Dashed
			}
			g.Nodes = append(g.Nodes, diagram.Node{ID: id(n), Label: n.name, Shape: shape, Group: title, Marked: n.deprecated})
		}
		for _, e := range lane.edges {
			for _, from := range e.from {
				edge := diagram.Edge{From: id(&lane.nodes[from]), To: id(&lane.nodes[e.to]), Dashed: e.kind != catalog.EdgeReplaces}
				if edge.Dashed {
					edge.Label = e.kind.String()
					if e.all > 0 {
						edge.Label = fmt.Sprintf("%s, %d versions", e.kind, e.all)
					}
				}
				g.Edges = append(g.Edges, edge)
			}
		}
	}
	return g
}
