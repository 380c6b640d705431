package graph

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/semverx"
)

// AssembleOptions say which part of a graph is served. Nil means all of it.
type AssembleOptions struct {
	// Channel keeps the releases of one channel.
	Channel string
	// Architecture keeps the releases of one architecture, and removes it from
	// their versions if they have it as build metadata.
	Architecture string
}

// The form of names of channels and architectures.
var (
	channelName = regexp.MustCompile(`^[0-9a-z.-]+$`)
	archName    = regexp.MustCompile(`^[0-9a-z]+$`)
)

// OptionError says that an option of AssembleOptions is malformed.
type OptionError struct {
	Option string // Channel or Architecture
	Value  string // its value
	Form   string // the expression that it must match
}

// Error names the option, its value and the form that it should have.
func (e *OptionError) Error() string {
	return fmt.Sprintf("%s %q: it does not match %s, as every such name does", strings.ToLower(e.Option), e.Value, e.Form)
}

// Check reports whether channel and architecture have valid names, as a service
// does before it answers. The error is an *OptionError.
func (o *AssembleOptions) Check() error {
	if o == nil {
		return nil
	}
	if o.Channel != "" && !channelName.MatchString(o.Channel) {
		return &OptionError{"Channel", o.Channel, channelName.String()}
	}
	if o.Architecture != "" && !archName.MatchString(o.Architecture) {
		return &OptionError{"Architecture", o.Architecture, archName.String()}
	}
	return nil
}

// Assemble turns a raw graph into the graph that an update service serves:
//
//  1. releases get the channels and the metadata of the data;
//  2. updates are added and removed as the metadata says
//     (previous.add, next.add, previous.remove, previous.remove_regex,
//     next.remove below io.openshift.upgrades.graph.), where "*" removes all;
//  3. blocked edges without a risk are removed, and those with risks become
//     conditional; only existing updates can be either;
//  4. releases without an image, those whose metadata says release.remove below
//     io.openshift.upgrades.graph., and those outside the channel and the
//     architecture are left out.
//
// The graph remembers what removed an update: WhyNot names it.
func (d *Data) Assemble(raw *Graph, opts *AssembleOptions) *Graph {
	if opts == nil {
		opts = &AssembleOptions{}
	}
	a := &assembly{d: d, g: d.Annotate(raw), edges: map[plainEdge]bool{}, blocks: map[[2]int32][]Block{}}
	for _, e := range raw.order {
		a.edges[e] = true
	}
	a.order = slices.Clone(raw.order)
	for i := range a.g.releases {
		a.add(int32(i))
	}
	a.remove()
	a.at = make([][]int32, len(a.g.releases))
	for i, v := range a.g.versions {
		for k := range d.Blocked {
			if d.Blocked[k].blocks(v) {
				a.at[i] = append(a.at[i], int32(k))
			}
		}
	}
	risks := map[plainEdge][]Risk{}
	for _, e := range a.order {
		if !a.edges[e] {
			continue
		}
		var list []Risk
		if i := raw.risksOf(e); i != none {
			list = raw.risks[i]
		}
		if list = union(list, a.block(e)); len(list) > 0 && a.edges[e] {
			risks[e] = list
		}
	}
	return a.filter(opts, risks)
}

// assembly is a graph that is being built.
type assembly struct {
	d      *Data
	g      *Graph
	order  []plainEdge
	edges  map[plainEdge]bool // false if it was removed
	blocks map[[2]int32][]Block
	at     [][]int32 // by release: the blocked edges of the data that lead there
}

// named returns the releases that a list of versions names, from the view of a
// release: those of its own architecture if versions have one.
func (a *assembly) named(list string, of int32) []int32 {
	var found []int32
	for _, name := range fields(list) {
		if i, ok := a.g.byName[name]; ok {
			found = append(found, i)
			continue
		}
		v, err := semverx.Parse(name)
		if err != nil {
			continue
		}
		for i, w := range a.g.versions {
			if w.Compare(v) == 0 && w.Build() == a.g.versions[of].Build() {
				found = append(found, int32(i))
			}
		}
	}
	return found
}

func (a *assembly) add(i int32) {
	m := a.g.releases[i].Metadata
	put := func(e plainEdge) {
		if there := a.edges[e]; !there && e.from != e.to {
			a.edges[e] = true
			a.order = append(a.order, e)
		}
	}
	for _, from := range a.named(m[metaPreviousAdd], i) {
		put(plainEdge{from, i})
	}
	for _, to := range a.named(m[metaNextAdd], i) {
		put(plainEdge{i, to})
	}
}

// removal is what a release's metadata says about updates to remove.
type removal struct {
	previous, next       []int32
	allPrevious, allNext bool
	expr                 *regexp.Regexp // of origins
	text                 string         // of expr
}

// remove removes updates as the metadata says. The blocked edges of the data are
// left to block, which knows the risks.
func (a *assembly) remove() {
	all := make([]removal, len(a.g.releases))
	for i, r := range a.g.releases {
		all[i] = removal{
			previous: a.named(r.Metadata[metaPrevious], int32(i)), allPrevious: strings.TrimSpace(r.Metadata[metaPrevious]) == "*",
			next: a.named(r.Metadata[metaNextRemove], int32(i)), allNext: strings.TrimSpace(r.Metadata[metaNextRemove]) == "*",
		}
		all[i].expr, all[i].text = a.ownExpr(int32(i))
	}
	for _, e := range a.order {
		to, from := &all[e.to], &all[e.from]
		reason := ""
		switch {
		case to.allPrevious:
			reason = "*"
		case slices.Contains(to.previous, e.from), slices.Contains(from.next, e.to), from.allNext:
			reason = a.g.releases[e.from].Version
		case to.expr != nil && to.expr.MatchString(a.g.releases[e.from].Version):
			reason = to.text
		default:
			continue
		}
		a.drop(e, Block{From: reason})
	}
}

func (a *assembly) drop(e plainEdge, why Block) {
	a.edges[e] = false
	key := [2]int32{e.from, e.to}
	a.blocks[key] = append(a.blocks[key], why)
}

// ownExpr returns the expression of origins to remove that came with the
// release, unless the data added it.
func (a *assembly) ownExpr(i int32) (*regexp.Regexp, string) {
	text := a.g.releases[i].Metadata[metaPreviousExpr]
	if text == "" || slices.ContainsFunc(a.d.Blocked, func(b Blocked) bool { return b.blocks(a.g.versions[i]) }) {
		return nil, ""
	}
	expr, err := regexp.Compile(text)
	if err != nil {
		return everything, text // an unreadable expression blocks everything
	}
	return expr, text
}

// everything matches every version.
var everything = regexp.MustCompile("")

// block removes an update that the data blocks, or returns its risks.
func (a *assembly) block(e plainEdge) []Risk {
	var risks []Risk
	for _, i := range a.at[e.to] {
		b := &a.d.Blocked[i]
		if !b.match.MatchString(a.g.releases[e.from].Version) {
			continue
		}
		if b.Risk != nil {
			risks = union(risks, []Risk{*b.Risk})
		} else {
			a.drop(e, Block{Pos: b.Pos, From: b.From})
		}
	}
	return risks
}

// filter builds the graph that is served.
func (a *assembly) filter(opts *AssembleOptions, risks map[plainEdge][]Risk) *Graph {
	index := make([]int32, len(a.g.releases))
	var releases []Release
	var versions []semverx.Version
	for i, r := range a.g.releases {
		index[i] = none
		v := a.g.versions[i]
		if r.Payload == "" || r.Metadata[metaRemove] == "true" || opts.Channel != "" && !slices.Contains(r.Channels(), opts.Channel) {
			continue
		}
		if arch := opts.Architecture; arch != "" {
			if v.Build() != arch && r.Architecture() != arch {
				continue
			}
			if _, ok := r.Metadata[metaReleaseArch]; ok {
				r.Metadata = maps.Clone(r.Metadata)
				delete(r.Metadata, metaReleaseArch)
			}
			if v.Build() == arch {
				r.Version = strings.TrimSuffix(r.Version, "+"+arch)
				if w, err := semverx.Parse(r.Version); err == nil {
					v = w
				}
			}
		}
		index[i] = int32(len(releases))
		releases, versions = append(releases, r), append(versions, v)
	}
	b := newBuilder(releases, versions)
	for _, e := range a.order {
		from, to := index[e.from], index[e.to]
		if from == none || to == none {
			continue
		}
		if why := a.blocks[[2]int32{e.from, e.to}]; !a.edges[e] {
			b.block(from, to, why)
		} else if list := risks[e]; list != nil {
			b.conditional(from, to, list)
		} else {
			b.update(from, to)
		}
	}
	return b.done()
}
