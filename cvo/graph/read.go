package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/semverx"
)

// Options say how a graph is read. Nil means the defaults.
type Options struct {
	// File is the file name in positions.
	File string
	// Size is the largest document in bytes; default 64 MiB. A larger one is a
	// *LimitError.
	Size int
}

func (o *Options) size() int {
	if o.Size <= 0 {
		return 64 << 20
	}
	return o.Size
}

// Parse reads a graph as an update service sends it: one JSON document of
// version 1, or without a version.
//
// The findings are everything that is wrong with it. What is invalid is left out and
// the rest is kept: a release without a version, an update of a release that does
// not exist, a part of its metadata. Unknown rules are kept, because they must not
// be taken for harmless. The graph is nil if the document as a whole cannot be used.
//
// The cost is linear in the size of data.
func Parse(data []byte, opts *Options) (*Graph, Diagnostics) {
	if opts == nil {
		opts = &Options{}
	}
	in := doc.NewReader(bytes.NewReader(data), opts.File, doc.Limits{Size: opts.size()})
	d, err := in.Next()
	if err == io.EOF {
		return nil, Diagnostics{{Pos: Position{File: opts.File}, Code: CodeField, Message: "the file contains no graph", Hint: `a graph is a JSON object with "nodes" and "edges"`}}
	}
	if err != nil {
		return nil, Diagnostics{doc.Diagnose(err)}
	}
	p := &parser{src: d.Clone()}
	g := p.graph(doc.Tree(p.src.JSON))
	if next, err := in.Next(); err == nil {
		p.found = append(p.found, &Diagnostic{Pos: next.Start, Code: CodeField, Message: "a graph is a single document, and this is a second one", Hint: "put it into a file of its own"})
	} else if err != io.EOF {
		p.found = append(p.found, doc.Diagnose(err))
	}
	if g != nil {
		p.found = append(p.found, g.cycles(opts.File)...)
	}
	return g, p.found.Sorted()
}

// wireGraph is the document.
type wireGraph struct {
	Version     *int64       `json:"version"`
	Nodes       []wireNode   `json:"nodes"`
	Edges       []*doc.Value `json:"edges"`
	Conditional []wireGroup  `json:"conditionalEdges"`
}

type wireNode struct {
	Version  string            `json:"version"`
	Payload  string            `json:"payload"`
	Metadata map[string]string `json:"metadata"`
}

type wireGroup struct {
	Edges []wireEdge `json:"edges"`
	Risks []wireRisk `json:"risks"`
}

type wireEdge struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type wireRisk struct {
	URL     string       `json:"url"`
	Name    string       `json:"name"`
	Message string       `json:"message"`
	Rules   []*doc.Value `json:"matchingRules"`
}

// parser reads one document.
type parser struct {
	src   *doc.Document
	found Diagnostics
	index []int32 // by node of the document; none if it was left out
}

func (p *parser) report(at *doc.Value, code Code, subject, message, hint string) {
	p.found = append(p.found, &Diagnostic{Pos: p.src.Position(at.Offset), Code: code, Subject: subject, Message: message, Hint: hint})
}

func (p *parser) graph(tree *doc.Value) *Graph {
	var w wireGraph
	for _, m := range doc.Decode(tree, &w, 0) {
		p.report(m.Value, CodeField, "", m.Error(), m.Hint())
	}
	if w.Version != nil && *w.Version != 1 {
		p.report(tree.At("version"), CodeFormat, "", fmt.Sprintf("this is version %d of the format, and only version 1 is known", *w.Version), "")
		return nil
	}
	if v := tree.Get("nodes"); v == nil || v.Kind != '[' {
		if v == nil {
			p.report(tree, CodeField, "", `there is no list "nodes"`, `a graph is a JSON object with "nodes" and "edges"`)
		}
		return nil
	}
	b := p.nodes(tree, w.Nodes)
	for k, v := range w.Edges {
		if from, to, ok := p.edge(v, k); ok {
			b.update(from, to)
		}
	}
	for k, group := range w.Conditional {
		p.group(b, tree.At("conditionalEdges", k), group)
	}
	return b.done()
}

func (p *parser) nodes(tree *doc.Value, nodes []wireNode) *builder {
	p.index = make([]int32, len(nodes))
	var releases []Release
	var versions []semverx.Version
	seen := make(map[string]bool, len(nodes))
	for k, n := range nodes {
		p.index[k] = none
		at := tree.At("nodes", k)
		v, err := semverx.Parse(n.Version)
		switch {
		case n.Version == "":
			p.report(at, CodeVersion, "release "+strconv.Itoa(k), "it has no version, and is left out", "")
		case err != nil:
			p.report(at.At("version"), CodeVersion, "release "+strconv.Itoa(k), err.Error()+"; it is left out", "")
		case seen[n.Version]:
			p.report(at.At("version"), CodeVersion, "release "+n.Version, "it already exists; this one is left out, and its updates count for the first", "")
			for i := range releases {
				if releases[i].Version == n.Version {
					p.index[k] = int32(i)
				}
			}
		default:
			seen[n.Version] = true
			p.index[k] = int32(len(releases))
			releases = append(releases, Release{Version: n.Version, Payload: n.Payload, Metadata: p.metadata(at.At("metadata"), n)})
			versions = append(versions, v)
		}
	}
	return newBuilder(releases, versions)
}

// metadata returns the metadata of a node without what cannot be read.
func (p *parser) metadata(at *doc.Value, n wireNode) map[string]string {
	if _, err := url.Parse(strings.TrimSpace(n.Metadata[metaURL])); err != nil {
		p.report(at.At(metaURL), CodeMetadata, "release "+n.Version, "its url cannot be read and is left out: "+err.Error(), "")
		delete(n.Metadata, metaURL)
	}
	return n.Metadata
}

// edge reads a pair of indices.
func (p *parser) edge(v *doc.Value, k int) (from, to int32, ok bool) {
	subject := "edge " + strconv.Itoa(k)
	if v.Kind != '[' || len(v.Members) != 2 {
		p.report(v, CodeEdge, subject, "an edge is a list of two indices of nodes, and this is not; it is left out", "")
		return 0, 0, false
	}
	var ends [2]int32
	for i := range ends {
		m := &v.Members[i]
		n, err := strconv.Atoi(string(m.Raw))
		if m.Kind != '0' || err != nil || n < 0 || n >= len(p.index) {
			p.report(m, CodeEdge, subject, fmt.Sprintf("%s is not an index of a node: there are %d; the edge is left out", m.Raw, len(p.index)), "")
			return 0, 0, false
		}
		if p.index[n] == none {
			return 0, 0, false // reported when the node was left out
		}
		ends[i] = p.index[n]
	}
	if ends[0] == ends[1] {
		p.report(v, CodeEdge, subject, "it leads from a release to itself, and is left out", "")
		return 0, 0, false
	}
	return ends[0], ends[1], true
}

func (p *parser) group(b *builder, at *doc.Value, w wireGroup) {
	risks := make([]Risk, 0, len(w.Risks))
	for k, r := range w.Risks {
		risks = append(risks, p.risk(at.At("risks", k), r))
	}
	if len(risks) == 0 {
		p.report(at, CodeRisk, "", "these conditional edges have no risks, and are treated as blocked", "name the risks, or list the edges under \"edges\"")
		risks = []Risk{{Name: "Unknown", Message: "The graph says that this update has risks, but not which."}}
	}
	for k, e := range w.Edges {
		from, okFrom := b.g.exact(e.From)
		to, okTo := b.g.exact(e.To)
		switch {
		case !okFrom:
			p.report(at.At("edges", k, "from"), CodeEdge, "conditional edge", fmt.Sprintf("there is no release %q; the edge is left out", e.From), "")
		case !okTo:
			p.report(at.At("edges", k, "to"), CodeEdge, "conditional edge", fmt.Sprintf("there is no release %q; the edge is left out", e.To), "")
		case from == to:
			p.report(at.At("edges", k), CodeEdge, "conditional edge", "it leads from a release to itself, and is left out", "")
		default:
			b.conditional(from, to, risks)
		}
	}
}

// exact returns the index of a version, or of the first that differs from it
// in build metadata only.
func (g *Graph) exact(version string) (int32, bool) {
	i, err := g.find(version)
	return i, err == nil
}

func (p *parser) risk(at *doc.Value, w wireRisk) Risk {
	r := Risk{Name: w.Name, URL: w.URL, Message: w.Message}
	if r.Name == "" {
		r.Name = "Unnamed"
		p.report(at, CodeRisk, "", "a risk has no name, and is called Unnamed", "give it a name, one word in CamelCase")
	}
	for k, v := range w.Rules {
		rule, problem := readRule(v)
		if problem != "" {
			p.report(at.At("matchingRules", k), CodeRisk, "risk "+r.Name, problem+"; it cannot show whether a cluster is exposed", "")
		}
		r.MatchingRules = append(r.MatchingRules, rule)
	}
	if len(w.Rules) == 0 {
		p.report(at, CodeRisk, "risk "+r.Name, "it has no matchingRules, so it is unknown whether a cluster is exposed", "a risk of every cluster has the rule {\"type\": \"Always\"}")
	}
	return r
}

// wireRule is a rule; each type has a body of the same name.
type wireRule struct {
	Type   string     `json:"type"`
	PromQL *doc.Value `json:"promql"`
	CEL    *doc.Value `json:"cel"`
}

// readRule reads a rule, and says what is wrong with it.
func readRule(v *doc.Value) (Rule, string) {
	var w wireRule
	bad := doc.Decode(v, &w, 0)
	r := Rule{Type: w.Type}
	problem := ""
	switch body := bodyOf(&w); {
	case len(bad) > 0:
		problem = bad[0].Error()
	case w.Type == RuleAlways && (w.PromQL != nil || w.CEL != nil):
		problem = "a rule of type Always takes no query"
	case w.Type == RuleAlways:
	case w.Type != RulePromQL && w.Type != RuleCEL:
		problem = "rules of type " + strconv.Quote(w.Type) + " are not known"
	case body == "":
		problem = "a rule of type " + w.Type + " needs its query"
	default:
		r.Query = body
	}
	if problem != "" {
		r.Other = compact(v.Raw)
	}
	return r, problem
}

// bodyOf returns the query of a rule: promql.promql or cel.rule.
func bodyOf(w *wireRule) string {
	var v *doc.Value
	switch w.Type {
	case RulePromQL:
		v = w.PromQL.Get("promql")
	case RuleCEL:
		v = w.CEL.Get("rule")
	}
	text, _ := v.Text()
	return text
}

func compact(raw []byte) string {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return string(raw)
	}
	return out.String()
}
