package graph

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/internal/semverx"
)

// Channel is the file of one channel of graph data.
type Channel struct {
	Name       string   // such as stable-4.20
	Feeder     Feeder   // where releases come from; zero if people add them
	Tombstones []string // releases that stay in the channel and are not promoted further
	Versions   []string // the releases, as the file lists them
}

// Feeder is the channel that another one takes its releases from.
type Feeder struct {
	Name   string // of the channel
	Delay  string // how long a release must have been there, as an ISO 8601 duration
	Errata string // "public" if publishing its errata is enough
	Filter string // an expression that the version must match
}

// Blocked is a file of blocked edges: the updates to a release that are removed
// from the graph, or are offered with a risk.
type Blocked struct {
	Pos   Position // of the document
	To    string   // the release; without build metadata it stands for every architecture
	From  string   // an expression; it may match any part of the origin's version, build metadata included
	Risk  *Risk    // nil if the updates are removed for all
	Fixed string   // the release that fixes the risk, or ""

	match *regexp.Regexp
	v     semverx.Version
}

// Data is a directory of graph data.
type Data struct {
	// Channels are sorted by what follows the first dash of their name, then by
	// the name.
	Channels []Channel
	// Blocked are in the order of the names of their files.
	Blocked []Blocked
	// Metadata is what is added to the metadata of releases, by version.
	Metadata map[string]map[string]string
}

// The names in a directory of graph data.
const (
	dirChannels = "channels"
	dirBlocked  = "blocked-edges"
	fileRaw     = "raw/metadata.json"
)

// ReadData reads a directory of graph data: channels/, blocked-edges/ and
// raw/metadata.json, any of which may be absent. Files whose names end in neither
// .yaml nor .yml are reported and left out. Hidden files, files that begin with
// an underscore, OWNERS and README are ignored.
//
// The findings are everything that is wrong; what is invalid is left out. Data is
// nil only if the directory cannot be read; a file of blocked edges that cannot
// be read is a finding, because then its updates are not blocked.
func ReadData(fsys fs.FS) (*Data, Diagnostics) {
	r := &dataReader{fsys: fsys, data: &Data{}}
	if _, err := fs.ReadDir(fsys, "."); err != nil {
		return nil, Diagnostics{doc.Diagnose(err)}
	}
	r.each(dirChannels, r.channel)
	r.each(dirBlocked, r.blocked)
	r.metadata()
	slices.SortStableFunc(r.data.Channels, func(a, b Channel) int { return compareChannels(a.Name, b.Name) })
	return r.data, r.found.Sorted()
}

// compareChannels orders channels by their version, then by name.
func compareChannels(a, b string) int {
	suffix := func(s string) string {
		_, rest, _ := strings.Cut(s, "-")
		return rest
	}
	if c := strings.Compare(suffix(a), suffix(b)); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

type dataReader struct {
	fsys  fs.FS
	data  *Data
	found Diagnostics
}

// file is one document of the directory.
type file struct {
	r    *dataReader
	src  *doc.Document
	tree *doc.Value
	name string // without directory and extension
}

func (f *file) report(at *doc.Value, code Code, subject, message, hint string) {
	f.r.found = append(f.r.found, &Diagnostic{Pos: f.src.Position(at.Offset), Code: code, Subject: subject, Message: message, Hint: hint})
}

// decode fills into and reports what does not fit. Unknown fields are errors.
func (f *file) decode(into any, code Code) bool {
	bad := doc.Decode(f.tree, into, doc.Strict|doc.Loose)
	for _, m := range bad {
		f.report(m.Value, code, "", m.Error(), m.Hint())
	}
	return len(bad) == 0
}

// each passes the documents of a directory to read, in the order of names.
func (r *dataReader) each(dir string, read func(*file)) {
	entries, err := fs.ReadDir(r.fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		r.found = append(r.found, doc.Diagnose(err))
	}
	for _, e := range entries {
		if e.IsDir() || aside(e.Name()) {
			continue
		}
		ext := path.Ext(e.Name())
		if ext != ".yaml" && ext != ".yml" {
			r.found = append(r.found, &Diagnostic{
				Pos: Position{File: path.Join(dir, e.Name())}, Code: CodeFile,
				Message: "its name does not end in .yaml, and it is left out", Hint: "rename it, or move it elsewhere",
			})
			continue
		}
		if f := r.open(path.Join(dir, e.Name())); f != nil {
			f.name = strings.TrimSuffix(e.Name(), ext)
			read(f)
		}
	}
}

// aside reports whether a file is not part of the graph by its name: hidden
// files, owners and readmes.
func aside(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "OWNERS" || strings.HasPrefix(name, "README")
}

// open reads the one document of a file.
func (r *dataReader) open(name string) *file {
	text, err := fs.ReadFile(r.fsys, name)
	if err != nil {
		r.found = append(r.found, &Diagnostic{Pos: Position{File: name}, Code: doc.CodeRead, Message: err.Error(), Err: err})
		return nil
	}
	in := doc.NewReader(bytes.NewReader(text), name, doc.Limits{})
	d, err := in.Next()
	if err == io.EOF {
		r.found = append(r.found, &Diagnostic{Pos: Position{File: name}, Code: CodeField, Message: "the file is empty"})
		return nil
	}
	if err != nil {
		r.found = append(r.found, doc.Diagnose(err))
		return nil
	}
	f := &file{r: r, src: d.Clone()}
	f.tree = doc.Tree(f.src.JSON)
	return f
}

func (r *dataReader) channel(f *file) {
	var w struct {
		Name   string `json:"name"`
		Feeder struct {
			Name   string `json:"name"`
			Delay  string `json:"delay"`
			Errata string `json:"errata"`
			Filter string `json:"filter"`
		} `json:"feeder"`
		Tombstones []string `json:"tombstones"`
		Versions   []string `json:"versions"`
	}
	f.decode(&w, CodeChannel)
	if w.Name == "" {
		f.report(f.tree, CodeChannel, "", "a channel needs a name", "write name: "+f.name)
		return
	}
	if w.Name != f.name {
		f.report(f.tree.At("name"), CodeChannel, "channel "+w.Name, "its file is called "+f.name, "give both the same name")
	}
	c := Channel{Name: w.Name, Feeder: Feeder(w.Feeder), Tombstones: w.Tombstones}
	seen := map[string]bool{}
	for k, v := range w.Versions {
		at := f.tree.At("versions", k)
		if _, err := semverx.Parse(v); err != nil {
			f.report(at, CodeVersion, "channel "+w.Name, err.Error()+"; it is left out", "")
			continue
		}
		if seen[v] {
			f.report(at, CodeChannel, "channel "+w.Name, v+" is listed twice", "")
			continue
		}
		seen[v] = true
		c.Versions = append(c.Versions, v)
	}
	r.data.Channels = append(r.data.Channels, c)
}

func (r *dataReader) blocked(f *file) {
	var w struct {
		To         string       `json:"to"`
		From       string       `json:"from"`
		URL        string       `json:"url"`
		Name       string       `json:"name"`
		Message    string       `json:"message"`
		Rules      []*doc.Value `json:"matchingRules"`
		FixedIn    string       `json:"fixedIn"`
		AutoExtend *doc.Value   `json:"autoExtend"`
	}
	f.decode(&w, CodeBlockedEdge)
	b := Blocked{Pos: f.src.Position(f.tree.Offset), To: w.To, From: w.From, Fixed: w.FixedIn}
	var err error
	if b.v, err = semverx.Parse(w.To); err != nil {
		f.report(f.tree.At("to"), CodeBlockedEdge, "", err.Error()+"; nothing is blocked by this file", `write to: and the version of a release`)
		return
	}
	if b.match, err = regexp.Compile(w.From); err != nil || w.From == "" {
		message := "from is missing"
		if err != nil {
			message = "from: " + err.Error()
		}
		f.report(f.tree.At("from"), CodeBlockedEdge, "", message+"; every update to "+w.To+" is blocked", `write an expression; from: .* blocks every update to `+w.To)
		b.match = everything // an unreadable expression blocks everything
	}
	if w.Name != "" || w.URL != "" || w.Message != "" || len(w.Rules) > 0 {
		p := &parser{src: f.src}
		risk := p.risk(f.tree, wireRisk{URL: w.URL, Name: w.Name, Message: w.Message, Rules: w.Rules})
		b.Risk = &risk
		r.found = append(r.found, p.found...)
	}
	r.data.Blocked = append(r.data.Blocked, b)
}

// metadata reads the file of metadata.
func (r *dataReader) metadata() {
	if _, err := fs.Stat(r.fsys, fileRaw); errors.Is(err, fs.ErrNotExist) {
		return
	}
	f := r.open(fileRaw)
	if f == nil {
		return
	}
	r.data.Metadata = map[string]map[string]string{}
	for _, m := range f.tree.Members {
		var fields map[string]string
		for _, bad := range doc.Decode(&m, &fields, 0) {
			f.report(bad.Value, CodeMetadata, "release "+m.Key, bad.Error(), bad.Hint())
		}
		if _, err := semverx.Parse(m.Key); err != nil {
			f.report(&m, CodeMetadata, "release "+m.Key, err.Error()+"; it is left out", "")
			continue
		}
		r.data.Metadata[m.Key] = fields
	}
}

// Annotate returns the releases of raw with the data added to their metadata: the
// channels, the updates to add, and expressions of the origins whose updates are
// to be removed. The updates stay as they are, and so do releases without an
// image, which are only known from references.
func (d *Data) Annotate(raw *Graph) *Graph {
	releases := raw.Releases()
	for i := range releases {
		if releases[i].Payload != "" {
			releases[i].Metadata = d.annotated(releases[i], raw.versions[i])
		}
	}
	b := newBuilder(releases, raw.versions)
	for _, e := range raw.order {
		if list := raw.risksOf(e); list != none {
			b.conditional(e.from, e.to, raw.risks[list])
		} else {
			b.update(e.from, e.to)
		}
	}
	return b.done()
}

func (d *Data) annotated(r Release, v semverx.Version) map[string]string {
	m := maps.Clone(r.Metadata)
	if m == nil {
		m = map[string]string{}
	}
	for _, key := range []string{r.Version, plain(v)} {
		maps.Copy(m, d.Metadata[key])
	}
	if channels := d.channelsOf(r.Version, v); len(channels) > 0 {
		m[metaChannels] = strings.Join(channels, ",")
	}
	var exprs []string
	for _, b := range d.Blocked {
		if b.blocks(v) {
			exprs = append(exprs, b.From)
		}
	}
	if len(exprs) > 0 {
		m[metaPreviousExpr] = strings.Join(exprs, "|")
	}
	return m
}

// channelsOf returns the channels that a release is in, in the order of data.
func (d *Data) channelsOf(version string, v semverx.Version) []string {
	var names []string
	for _, c := range d.Channels {
		if slices.Contains(c.Versions, version) || slices.Contains(c.Versions, plain(v)) {
			names = append(names, c.Name)
		}
	}
	return names
}

// blocks reports whether updates to a version are blocked.
func (b *Blocked) blocks(v semverx.Version) bool {
	return b.v.Compare(v) == 0 && (b.v.Build() == "" || b.v.Build() == v.Build())
}

// String returns what is blocked in one line.
func (b Blocked) String() string {
	if b.Risk != nil {
		return fmt.Sprintf("updates to %s from %s have the risk %s", b.To, b.From, b.Risk.Name)
	}
	return fmt.Sprintf("updates to %s from %s are blocked", b.To, b.From)
}
