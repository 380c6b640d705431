package graph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/internal/words"
)

// Graph is releases and the updates between them.
type Graph struct {
	releases []Release
	versions []semverx.Version
	minors   []minor
	byName   map[string]int32
	bySemver map[string]int32 // without build metadata; the first counts
	out, in  [][]edge
	order    []plainEdge // the unconditional updates, as the source lists them
	risks    [][]Risk    // the lists of risks, each once
	blocks   map[[2]int32][]Block
}

// edge is an update as seen from one end. risks is an index into Graph.risks,
// or none.
type edge struct {
	to    int32
	risks int32
}

// minor is a major and a minor version.
type minor [2]uint64

type plainEdge struct{ from, to int32 }

const none = -1

// Block says what removed an update from the graph.
type Block struct {
	Pos  Position // where the graph data blocks it
	From string   // the expression that the origin's version matches
}

// Releases returns the releases in the order of the source. The caller owns the
// slice.
func (g *Graph) Releases() []Release { return slices.Clone(g.releases) }

// Release returns the release of a version. Build metadata is ignored, unless two releases
// differ only in it.
func (g *Graph) Release(version string) (Release, bool) {
	i, err := g.find(version)
	if err != nil {
		return Release{}, false
	}
	return g.releases[i], true
}

// VersionError says that a graph has no release of a version.
type VersionError struct {
	Version string // the requested version
	Near    string // a version that may be meant, or the nearest one; may be empty
	Err     error  // why it is not a version; nil if it is one
}

// Error returns the message on one line.
func (e *VersionError) Error() string {
	text := "the graph has no release " + e.Version
	if e.Err != nil {
		text = e.Err.Error()
	}
	if e.Near != "" {
		text += "; the nearest is " + e.Near
	}
	return text
}

// Unwrap returns why the version cannot be read, or nil.
func (e *VersionError) Unwrap() error { return e.Err }

// find returns the index of a version.
func (g *Graph) find(version string) (int32, error) {
	if i, ok := g.byName[version]; ok {
		return i, nil
	}
	v, err := semverx.Parse(version)
	if err != nil {
		names := make([]string, len(g.releases))
		for i, r := range g.releases {
			names[i] = r.Version
		}
		return 0, &VersionError{Version: version, Near: words.Nearest(version, names), Err: err}
	}
	if i, ok := g.bySemver[plain(v)]; ok {
		return i, nil
	}
	return 0, &VersionError{Version: version, Near: g.closest(v)}
}

// findBeside returns the index of a version that an update from a release may lead to. If the
// version has no build metadata, such as an architecture, that of the release is preferred.
func (g *Graph) findBeside(version string, from int32) (int32, error) {
	if build := g.versions[from].Build(); build != "" && !strings.Contains(version, "+") {
		if i, ok := g.byName[version+"+"+build]; ok {
			return i, nil
		}
	}
	return g.find(version)
}

// closest returns the greatest version below v, or the least above it.
func (g *Graph) closest(v semverx.Version) string {
	below, above := none, none
	for i, w := range g.versions {
		switch c := w.Compare(v); {
		case c < 0 && (below == none || w.Compare(g.versions[below]) > 0):
			below = i
		case c > 0 && (above == none || w.Compare(g.versions[above]) < 0):
			above = i
		}
	}
	if below != none {
		return g.releases[below].Version
	}
	if above != none {
		return g.releases[above].Version
	}
	return ""
}

// plain returns a version without its build metadata.
func plain(v semverx.Version) string {
	s := v.String()
	if b := v.Build(); b != "" {
		s = s[:len(s)-len(b)-1]
	}
	return s
}

// builder collects the parts of a graph.
type builder struct {
	g     *Graph
	lists map[string]int32 // the known lists of risks
	known map[plainEdge]int32
}

func newBuilder(releases []Release, versions []semverx.Version) *builder {
	g := &Graph{
		releases: releases, versions: versions,
		byName: make(map[string]int32, len(releases)), bySemver: make(map[string]int32, len(releases)),
		out: make([][]edge, len(releases)), in: make([][]edge, len(releases)),
	}
	for i, r := range releases {
		g.minors = append(g.minors, minor{versions[i].Major(), versions[i].Minor()})
		g.byName[r.Version] = int32(i)
		if _, taken := g.bySemver[plain(versions[i])]; !taken {
			g.bySemver[plain(versions[i])] = int32(i)
		}
	}
	return &builder{g: g, lists: map[string]int32{}, known: map[plainEdge]int32{}}
}

// update adds an unconditional update, unless it exists.
func (b *builder) update(from, to int32) {
	e := plainEdge{from, to}
	if _, there := b.known[e]; there {
		return
	}
	b.known[e] = none
	b.g.order = append(b.g.order, e)
}

// conditional adds risks to an update.
func (b *builder) conditional(from, to int32, risks []Risk) {
	e := plainEdge{from, to}
	list, there := b.known[e]
	if !there {
		b.g.order = append(b.g.order, e)
	}
	if there && list != none {
		risks = union(b.g.risks[list], risks)
	}
	b.known[e] = b.list(risks)
}

// list returns the index of a list of risks.
func (b *builder) list(risks []Risk) int32 {
	key := riskKey(risks)
	if i, ok := b.lists[key]; ok {
		return i
	}
	i := int32(len(b.g.risks))
	b.g.risks = append(b.g.risks, risks)
	b.lists[key] = i
	return i
}

// block notes why there is no update.
func (b *builder) block(from, to int32, why []Block) {
	if b.g.blocks == nil {
		b.g.blocks = map[[2]int32][]Block{}
	}
	b.g.blocks[[2]int32{from, to}] = why
}

// union returns the risks of a, and those of b that a lacks.
func union(a, b []Risk) []Risk {
	out := slices.Clone(a)
	for _, r := range b {
		if !slices.ContainsFunc(out, func(x Risk) bool { return sameRisk(x, r) }) {
			out = append(out, r)
		}
	}
	return out
}

func sameRisk(a, b Risk) bool {
	return a.Name == b.Name && a.URL == b.URL && a.Message == b.Message && slices.Equal(a.MatchingRules, b.MatchingRules)
}

// done returns the graph. The updates from a release keep the order of the
// source: plain ones first.
func (b *builder) done() *Graph {
	g := b.g
	add := func(e plainEdge, risks int32) {
		g.out[e.from] = append(g.out[e.from], edge{e.to, risks})
		g.in[e.to] = append(g.in[e.to], edge{e.from, risks})
	}
	for _, e := range g.order {
		add(e, b.known[e])
	}
	return g
}

// newest orders releases from the greatest version down; equal ones by their index.
func (g *Graph) newest(a, b int32) int {
	return cmp.Or(g.versions[b].Compare(g.versions[a]), cmp.Compare(a, b))
}
